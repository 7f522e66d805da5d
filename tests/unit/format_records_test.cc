// Every record, in every dialect and both byte orders, survives encoding and decoding; and the
// bytes of a few are what the format says, written out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "epilog/format/record/codec.h"

namespace kojak {
namespace {

// Fills fields with values that use every byte; arrays are as long as their count says.
class Randomize {
 public:
  explicit Randomize(unsigned seed) : random_(seed) {}
  std::uint32_t small() { return static_cast<std::uint32_t>(random_() % 5); }

  template <class T>
  void field(const FieldInfo& info, T& value) {
    const std::string_view name = info.name;
    if constexpr (kIsTime<T>) {
      value.value = static_cast<double>(random_()) / 3.0;
    } else if (name == "ndims") {
      value = static_cast<T>(small());
    } else {
      value = static_cast<T>(random_());
    }
  }
  template <class U>
  void array(const FieldInfo&, PackedArray<U>& view, std::uint32_t count) {
    auto& bytes = storage_.emplace_back(count * sizeof(U));
    for (auto& byte : bytes) byte = static_cast<std::byte>(random_());
    view = PackedArray<U>(bytes.data(), count, false);
  }
  template <class U>
  void rest(const FieldInfo& info, PackedArray<U>& view) {
    array(info, view, small());
  }
  void text(const FieldInfo&, Text& text) {
    text = texts_.emplace_back(small() * 7, static_cast<char>('a' + small()));
  }
  void metrics(const FieldInfo& info, MetricValues& view) { array(info, view, metric_count); }

  std::uint32_t metric_count = 0;

 private:
  std::mt19937_64 random_;
  std::deque<std::vector<std::byte>> storage_;
  std::deque<std::string> texts_;
};

// What a record holds, field by field.
struct Contents {
  std::vector<std::string> fields;
  template <class T>
  void field(const FieldInfo& info, const T& value) {
    if constexpr (kIsTime<T>) {
      add(info, std::to_string(std::bit_cast<std::uint64_t>(value.value)));
    } else {
      add(info, std::to_string(raw(value)));
    }
  }
  template <class U>
  void rest(const FieldInfo& info, const PackedArray<U>& view) {
    std::string text;
    for (std::uint32_t i = 0; i < view.size(); ++i) text += std::to_string(view[i]) + ",";
    add(info, text);
  }
  template <class U>
  void array(const FieldInfo& info, const PackedArray<U>& view, std::uint32_t) {
    rest(info, view);
  }
  void text(const FieldInfo& info, const Text& text) { add(info, std::string(text)); }
  void metrics(const FieldInfo& info, const MetricValues& view) { rest(info, view); }
  void add(const FieldInfo& info, const std::string& value) {
    fields.push_back(std::string(info.name) + "=" + value);
  }
};

template <class R>
Contents contents(R& record, const Dialect& dialect) {
  Contents result;
  visit_fields(record, dialect, result);
  return result;
}

struct Version {
  std::uint8_t major, minor;
};

class EveryRecord : public testing::TestWithParam<std::tuple<Version, bool, std::uint32_t>> {};

TEST_P(EveryRecord, SurvivesEncodingAndDecoding) {
  const Version version = std::get<0>(GetParam());
  const std::uint32_t metrics = std::get<2>(GetParam());
  Dialect dialect;
  dialect.major = version.major;
  dialect.minor = version.minor;
  dialect.big_endian = std::get<1>(GetParam());
  dialect.metrics = metrics;
  unsigned records = 0;
  for (int type = 0; type < 256; ++type) {
    dispatch_record(static_cast<std::uint8_t>(type), [&]<class R>() {
      SCOPED_TRACE(R::kName);
      ++records;
      for (unsigned seed = 0; seed < 20; ++seed) {
        Randomize randomize(seed);
        randomize.metric_count = metrics;
        R record;
        visit_fields(record, dialect, randomize);
        std::byte buffer[kMaxRecord];
        const std::size_t size = encode(record, dialect, buffer);
        ASSERT_GE(size, 2u);
        ASSERT_EQ(size, 2u + static_cast<std::size_t>(buffer[0]));
        ASSERT_EQ(static_cast<int>(buffer[1]), type);
        const RawRecord body{static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(buffer[0]),
                             buffer + 2, 10};
        R decoded;
        ASSERT_EQ(decode(body, dialect, decoded), nullptr);
        ASSERT_EQ(contents(decoded, dialect).fields, contents(record, dialect).fields);
        // A body that lacks its last byte names a field, unless that byte belongs to something that
        // takes whatever there is.
        if (size == 2) continue;
        RawRecord shorter = body;
        --shorter.length;
        R cut;
        const char* failed = decode(shorter, dialect, cut);
        const std::vector<std::string> whole = contents(record, dialect).fields;
        // (What kind of blocking it was came later, and is 0 where it is not there.)
        const bool came_later = std::is_same_v<R, Processor> && buffer[size - 1] == std::byte{0};
        if (failed == nullptr && came_later) {
          ASSERT_EQ(contents(cut, dialect).fields, whole);
        } else if (failed == nullptr) {
          ASSERT_NE(contents(cut, dialect).fields, whole);
        } else {
          ASSERT_NE(std::string(failed), "");
        }
      }
    });
  }
  EXPECT_GT(records, 60u);
}

INSTANTIATE_TEST_SUITE_P(Dialects, EveryRecord,
                         testing::Combine(testing::Values(Version{2, 0}, Version{1, 0},
                                                          Version{1, 3}, Version{1, 9}),
                                          testing::Bool(), testing::Values(0u, 2u)),
                         [](const auto& test) {
                           const Version version = std::get<0>(test.param);
                           return "v" + std::to_string(version.major) +
                                  std::to_string(version.minor) +
                                  (std::get<1>(test.param) ? "big" : "little") +
                                  std::to_string(std::get<2>(test.param)) + "metrics";
                         });

std::string bytes_of(const std::byte* data, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    const char* digits = "0123456789abcdef";
    text += digits[static_cast<int>(data[i]) >> 4];
    text += digits[static_cast<int>(data[i]) & 15];
    text += ' ';
  }
  if (!text.empty()) text.pop_back();
  return text;
}

template <class R>
std::string encoded(const R& record, std::uint8_t major, std::uint8_t minor, bool big,
                    std::uint32_t metrics = 0) {
  Dialect dialect;
  dialect.major = major;
  dialect.minor = minor;
  dialect.big_endian = big;
  dialect.metrics = metrics;
  std::byte buffer[kMaxRecord];
  return bytes_of(buffer, encode(record, dialect, buffer));
}

// 1.5 is 3ff8000000000000 as an IEEE double.
TEST(RecordBytes, Enter) {
  const Enter enter{LocationId{1}, Seconds{1.5}, RegionId{0x01020304}, {}};
  EXPECT_EQ(encoded(enter, 2, 0, false), "10 65 01 00 00 00 00 00 00 00 00 00 f8 3f 04 03 02 01");
  EXPECT_EQ(encoded(enter, 1, 9, true), "10 65 00 00 00 01 3f f8 00 00 00 00 00 00 01 02 03 04");
}

// topid, cid, ndims, dimv and periodv take 4 + 4 + 1 + 5 n bytes: 254 of 255 for 49 dimensions, so
// that what follows the arrays does not fit, not even its first field.
TEST(RecordBytes, NothingIsWrittenBehindTheLongestRecord) {
  for (std::uint32_t n = 20; n <= 60; ++n) {
    const std::vector<std::uint32_t> sizes(n, 1), names(n, 7);
    const std::vector<std::uint8_t> periods(n, 0);
    const CartTopology topology{
        TopologyId{0},          CommId{0},   static_cast<Byte>(n), U4Array::of(sizes),
        ByteArray::of(periods), StringId{0}, U4Array::of(names)};
    std::vector<std::byte> buffer(kMaxRecord + 600, std::byte{0x5a});
    const std::size_t size = encode(topology, Dialect{}, buffer.data());
    const std::size_t body = 4 + 4 + 1 + 4 * n + n + 4 + 4 * n;
    EXPECT_EQ(size, body <= 255 ? 2 + body : 0) << n;
    for (std::size_t i = kMaxRecord; i < buffer.size(); ++i) {
      ASSERT_EQ(buffer[i], std::byte{0x5a}) << n << " dimensions, byte " << i;
    }
  }
}

TEST(RecordBytes, TransferEndsHaveTheirLengthInNativeFilesOnly) {
  const MpiPut1te end{LocationId{1}, Seconds{1.5}, PeerId{2}, WindowId{3}, RmaId{4}, Bytes{5}};
  EXPECT_EQ(encoded(end, 1, 9, true),
            "18 71 00 00 00 01 3f f8 00 00 00 00 00 00 00 00 00 02 00 00 00 03 00 00 00 04");
  EXPECT_EQ(encoded(end, 2, 0, true),
            "1c 71 00 00 00 01 3f f8 00 00 00 00 00 00 00 00 00 02 00 00 00 03 00 00 00 04 00 00 "
            "00 05");
  const MpiGet1to issued{LocationId{1}, Seconds{1.5}, RmaId{4}, WindowId{3}};
  EXPECT_EQ(encoded(issued, 1, 9, true), "10 74 00 00 00 01 3f f8 00 00 00 00 00 00 00 00 00 04");
  EXPECT_EQ(encoded(issued, 2, 0, true),
            "14 74 00 00 00 01 3f f8 00 00 00 00 00 00 00 00 00 04 00 00 00 03");
}

TEST(RecordBytes, MetricValuesStandBeforeTheFieldsOfAWindowExit) {
  const std::vector<std::uint64_t> values{0x11};
  const MpiWinExit exit{LocationId{1}, Seconds{1.5}, MetricValues::of(values),
                        WindowId{2},   CommId{3},    Byte{1}};
  EXPECT_EQ(encoded(exit, 1, 9, true, 1),
            "1d 75 00 00 00 01 3f f8 00 00 00 00 00 00 00 00 00 00 00 00 00 11 00 00 00 02 00 00 "
            "00 03 01");
}

TEST(RecordBytes, OlderFilesLackLaterFields) {
  const Node node{NodeId{1}, MachineId{0}, Count{2}, StringId{3}, Seconds{1.5}};
  EXPECT_EQ(encoded(node, 1, 0, true), "10 04 00 00 00 01 00 00 00 00 00 00 00 02 00 00 00 03");
  EXPECT_EQ(encoded(node, 1, 1, true),
            "18 04 00 00 00 01 00 00 00 00 00 00 00 02 00 00 00 03 3f f8 00 00 00 00 00 00");
  const std::vector<std::uint8_t> bits{0x05};  // ranks 0 and 2
  MpiComm comm{CommId{1}, Byte{1}, Count{1}, {}};
  comm.grpv = ByteArray::of(bits);
  EXPECT_EQ(encoded(comm, 1, 2, true), "09 0b 00 00 00 01 00 00 00 01 05");
  EXPECT_EQ(encoded(comm, 1, 3, true), "0a 0b 00 00 00 01 01 00 00 00 01 05");
}

TEST(RecordBytes, ARecordThatDoesNotFitIsRefused) {
  const std::vector<std::uint32_t> ranks(62);
  MpiGroup group{GroupId{0}, Flags{0}, Count{62}, U4Array::of(ranks)};
  EXPECT_EQ(encoded(group, 2, 0, false), "");  // 9 + 62 * 4 = 257
  CartCoords coords{TopologyId{0}, LocationId{0}, Byte{3}, U4Array::of(ranks)};
  EXPECT_EQ(encoded(coords, 2, 0, false), "") << "62 coordinates are not 3";
}

// By the thesis (appendix) and docs/format.md: what is entered is left by an exit record of any
// kind.
TEST(RegionEffects, OfEachRecord) {
  const auto of = [](RegionEffect effect) {
    std::vector<int> types;
    for (int type = 0; type < 256; ++type) {
      if (region_effect(static_cast<std::uint8_t>(type)) == effect) types.push_back(type);
    }
    return types;
  };
  const auto has = [](const std::vector<int>& types, int type) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  const std::vector<int> enters = of(RegionEffect::kEnters), leaves = of(RegionEffect::kLeaves),
                         whole = of(RegionEffect::kEntersAndLeaves);
  for (const int type : {101, 111, 201, 203}) EXPECT_TRUE(has(enters, type)) << type;
  for (const int type : {102, 105, 110, 117, 118, 129, 202, 204}) {
    EXPECT_TRUE(has(leaves, type)) << type;
  }
  for (const int type : {160, 161, 162}) EXPECT_TRUE(has(whole, type)) << type;
  // Messages, transfers, locks, teams and states move nothing; nor do attributes and definitions.
  for (const int type : {103, 104, 106, 107, 112, 119, 132, 140, 144, 150}) {
    EXPECT_EQ(region_effect(static_cast<std::uint8_t>(type)), RegionEffect::kNone) << type;
  }
  for (const auto* list : {&enters, &leaves, &whole}) {
    for (const int type : *list) EXPECT_GE(type, 100);
  }
  // What leaves a region by its record alone is what enters one without a region of the program.
  EXPECT_TRUE(kEnters<LogOff> && kOfMeasurement<LogOff>);
  EXPECT_TRUE(kLeaves<ExitTracing> && kOfMeasurement<ExitTracing>);
  EXPECT_FALSE(kOfMeasurement<Exit>);
}

TEST(RecordNames, AreFoundBothWays) {
  EXPECT_EQ(record_name(112), "MPI_PUT_1TS");
  EXPECT_EQ(record_type("MPI_PUT_1TS"), 112);
  EXPECT_EQ(record_name(250), "");
  EXPECT_EQ(record_type("MPI_NO_SUCH"), 0);
  EXPECT_EQ(record_type(""), 0);
}

}  // namespace
}  // namespace kojak
