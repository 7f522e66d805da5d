// Long because every way to damage or cut a compact file is held against the records that went in.
// Compact records (version 3.0): what comes out is what went in, whatever it was; what is cut off
// or damaged is found, and what stands before it is right; and the bytes of a few are written out
// by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "epilog/format/compact/checked.h"
#include "epilog/format/compact/decode.h"
#include "epilog/format/compact/encode_quickly.h"
#include "epilog/format/compact/pack.h"
#include "epilog/format/field_values.h"
#include "epilog/format/io/local_buffer.h"
#include "epilog/format/io/reader.h"
#include "epilog/format/text/text_reader.h"
#include "tests/support/temp_dir.h"

// A name of its own: some tests are compiled together.
namespace kojak::compact_test {
namespace {

using FileBytes = std::vector<std::byte>;

// Values as they come one after the other in a program: mostly equal, or a step further, at times
// anything.
class Drift {
 public:
  explicit Drift(unsigned seed, std::uint32_t metrics) : random_(seed), metrics_(metrics) {}
  std::uint64_t next() { return random_(); }

  template <class T>
  void field(const FieldInfo&, T& value) {
    if constexpr (std::is_same_v<T, Seconds>) {
      time_ = random_() % 16 == 0 ? std::bit_cast<double>(random_())
                                  : time_ + static_cast<double>(random_() % 1000) * 1e-9;
      value.value = time_;
    } else if constexpr (std::is_same_v<T, Duration>) {
      if (random_() % 4 != 0) value.value = static_cast<double>(random_() % 1000) * 1e-7;
    } else {
      using U = std::underlying_type_t<T>;
      switch (random_() % 8) {
        case 0:
          value = static_cast<T>(random_());
          break;
        case 1:
          value = static_cast<T>(~U{0});  // absent
          break;
        case 2:
        case 3:
          value = static_cast<T>(++step_);
          break;
        default:
          value = static_cast<T>(random_() % 3);
      }
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
    array(info, view, random_() % 4);
  }
  void text(const FieldInfo&, Text& text) { text = "text"; }
  void metrics(const FieldInfo& info, MetricValues& view) { array(info, view, metrics_); }

 private:
  std::mt19937_64 random_;
  std::uint32_t metrics_;
  double time_ = 0;
  std::uint32_t step_ = 0;
  std::deque<FileBytes> storage_;
};

void append(FileBytes& to, const std::byte* begin, const std::byte* end) {
  to.insert(to.end(), begin, end);
}

FileBytes header(std::uint8_t major, bool big_endian) {
  FileBytes bytes(kHeaderSize);
  encode_header({major, 0, big_endian}, bytes.data());
  return bytes;
}
constexpr bool kBig = std::endian::native == std::endian::big;

// A file of version 2.0 with records of all types in any order, among them some that are longer or
// shorter than their type, and types that nobody knows.
FileBytes random_records(unsigned seed, std::size_t count, std::uint32_t metrics, bool big_endian) {
  FileBytes trace = header(2, big_endian);
  Dialect dialect{2, 0, big_endian, metrics};
  Drift drift(seed, metrics);
  std::vector<std::uint8_t> usual(6);  // a program repeats itself
  for (auto& type : usual) type = static_cast<std::uint8_t>(drift.next());
  while (count-- != 0) {
    const auto type = drift.next() % 3 == 0 ? static_cast<std::uint8_t>(drift.next())
                                            : usual[drift.next() % usual.size()];
    // What tells readers how a file ends would have to be true.
    if (type == 13 || type == 14 || type == 44) continue;
    std::byte buffer[kMaxRecord] = {};
    std::size_t size = 0;
    dispatch_record(type, [&]<class R>() {
      R record{};
      if constexpr (requires { record.ndims; }) {
        size = 0;  // as many as a field says: kept away from below
      } else {
        visit_fields(record, dialect, drift);
        size = encode(record, dialect, buffer);
      }
    });
    if (size == 0 || drift.next() % 32 == 0) {
      size = 2 + drift.next() % 64;
      buffer[1] = static_cast<std::byte>(type);
    }
    buffer[0] = static_cast<std::byte>(size - 2);
    append(trace, buffer, buffer + size);
  }
  return trace;
}

// Records as a reader delivers them, behind a header of version 2.0.
struct Read {
  FileBytes records;
  TraceReader::Next end = TraceReader::Next::kEnd;
  Error error;
  std::vector<std::uint64_t> offsets, places;
};
Read read(const FileBytes& file, bool places = false, std::size_t buffer = 0) {
  Read result;
  auto reader = TraceReader::from(memory_source(file.data(), file.size()), "file", buffer);
  if (!reader) {
    result.end = TraceReader::Next::kDamaged;
    result.error = reader.error();
    return result;
  }
  result.records = header(2, reader->dialect().big_endian);
  RawRecord record;
  while ((result.end = reader->next(record)) == TraceReader::Next::kRecord) {
    EXPECT_EQ(record.offset, result.records.size());
    result.offsets.push_back(record.offset);
    if (places) result.places.push_back(reader->place(record.offset));
    append(result.records, record.body - 2, record.body + record.length);
  }
  if (result.end == TraceReader::Next::kDamaged) result.error = reader->error();
  return result;
}

constexpr const char* kInsideBlock = "the file ends inside a block of records";
constexpr compact::Blocks kPlain = compact::Blocks::kPlain;
constexpr compact::Blocks kChecked = compact::Blocks::kChecked;

TEST(Compact, AnyRecordsComeOutAsTheyWentIn) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const bool big_endian = seed % 4 == 1 ? !kBig : kBig;
    const FileBytes trace = random_records(seed, 400, seed % 5, big_endian);
    const FileBytes packed = compact::pack(trace, seed % 3 == 0 ? kPlain : kChecked);
    for (const std::size_t buffer : {std::size_t{0}, std::size_t{1031}, std::size_t{1} << 20}) {
      const Read got = read(packed, false, buffer);
      ASSERT_EQ(got.end, TraceReader::Next::kEnd) << seed << ": " << got.error.message();
      ASSERT_TRUE(got.records == trace) << seed << " " << buffer;
    }
  }
}

// What a run looks like: processes take turns, transfers have numbers that ascend.
FileBytes usual_trace(std::size_t rounds) {
  FileBytes trace = header(2, kBig);
  const auto add = [&](const auto& record) {
    std::byte buffer[kMaxRecord];
    append(trace, buffer, buffer + encode(record, Dialect{}, buffer));
  };
  double time = 0;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      const LocationId lid{rank};
      const PeerId peer{(rank + 1) % 4};
      time += 3.1e-7;
      add(Enter{lid, Seconds{time}, RegionId{7}, {}});
      add(MpiPut1ts{lid, Seconds{time}, peer, WindowId{0}, RmaId{i}, static_cast<kojak::Bytes>(8)});
      add(Exit{lid, Seconds{time + 1e-7}, {}});
    }
  }
  return trace;
}

TEST(Compact, WhatTheFirstBytesOfABlockAre) {
  compact::State state;
  std::byte bytes[compact::kMaxItem];
  std::byte* p = compact::begin_block(state, {1000, 1e-9, 0}, bytes);
  ASSERT_EQ(p - bytes, 26);  // 0xFF, 1, and three times 8 bytes
  EXPECT_EQ(bytes[0], std::byte{0xFF});
  EXPECT_EQ(bytes[1], std::byte{1});
  const auto hex = [&](const std::byte* from, const std::byte* to) {
    std::string text;
    for (; from != to; ++from) {
      constexpr char kDigits[] = "0123456789abcdef";
      text += kDigits[std::to_integer<int>(*from) >> 4];
      text += kDigits[std::to_integer<int>(*from) & 15];
    }
    return text;
  };
  const auto put = [&](std::uint64_t enter, std::uint64_t exit, std::uint32_t rmaid) {
    const MpiRmaCall call{LocationId{0}, compact::stamp(enter), compact::stamp(exit), RegionId{3},
                          PeerId{1},     WindowId{0},           RmaId{rmaid},         Bytes64{8},
                          Bytes64{0},    static_cast<Byte>(1)};
    return hex(bytes, compact::encode(state, call, bytes));
  };
  // Type 160 is code 60 = 3c. Fields: lid, time (bit 1), exit (2), rid (3), dlid (4), wid, rmaid,
  // bytes (7), got, kind (9): 2 + 4 + 8 + 16 + 128 + 512 = 670, which is 9e 05 in LEB128. Ticks
  // 1000: zigzag 2000 = d0 0f. Exit 100 later: zigzag 200 = c8 01. rid 3: 06, dlid 1: 02, bytes 8:
  // 10, kind 1: 01.
  EXPECT_EQ(put(1000, 1100, 0),
            "3c"
            "9e05"
            "d00f"
            "c801"
            "06"
            "02"
            "10"
            "01");
  // The next put is the first that differs in rmaid: by 1. Fields time, exit, rmaid (bit 6): 70
  // = 46.
  EXPECT_EQ(put(1150, 1260, 1),
            "3c"
            "46"
            "64"
            "dc01"
            "02");
  // From now on rmaid goes on as expected. Fields time, exit: 6.
  EXPECT_EQ(put(1300, 1400, 2),
            "3c"
            "06"
            "50"
            "c801");
  // And the fields are those of the last one: the top bit of the code. A put takes 4 bytes.
  EXPECT_EQ(put(1450, 1550, 3),
            "bc"
            "64"
            "c801");
}

TEST(Compact, TicksBecomeTheSecondsThatTheMeasurementHas) {
  const compact::TickClock clock{123'456'789'012, 1 / 2.9e9, 1e-3};
  FileBytes file = header(3, kBig);
  compact::State state;
  std::byte bytes[compact::kMaxItem];
  std::mt19937_64 random(7);
  std::vector<double> expected;
  std::uint64_t ticks = clock.base - 500;  // what was before the base is negative
  for (int i = 0; i < 20'000; ++i) {
    if (i % 5'000 == 0) append(file, bytes, compact::begin_block(state, clock, bytes));
    ticks += random() % (i % 100 == 0 ? 1'000'000'000'000 : 1'000);
    expected.push_back(clock.seconds(ticks).value);
    append(file, bytes,
           compact::encode(state, Enter{LocationId{0}, compact::stamp(ticks), RegionId{1}, {}},
                           bytes));
  }
  auto reader = TraceReader::from(memory_source(file.data(), file.size()), "file");
  RawRecord record;
  std::size_t i = 0;
  for (; reader->next(record) == TraceReader::Next::kRecord; ++i) {
    ASSERT_LT(i, expected.size());
    ASSERT_EQ(event_time(record, false).value, expected[i]) << i;
  }
  EXPECT_EQ(i, expected.size());
}

TEST(Compact, LengthsInTicksDoNotCountFromTheClocksBase) {
  // 250 ns a hundred ticks; the clock stood at a million ticks when it said 7 s.
  constexpr compact::TickClock clock{1'000'000, 2.5e-9, 7};
  FileBytes file = header(3, kBig);
  compact::State state;
  std::byte bytes[compact::kMaxItem];
  append(file, bytes, compact::begin_block(state, clock, bytes));
  MpiPollCall call{};
  call.time = compact::stamp(1'000'400);
  call.exit = compact::stamp(1'004'400);
  call.count = Count64{12};
  call.called = compact::stamp_length(1'000);
  call.rest = compact::stamp_length(3'000);
  call.least = compact::stamp_length(200);
  call.last_enter = compact::stamp(1'004'000);
  call.ran = call.disp = kUnknown64;
  call.found = absent<RegionId>();
  for (int i = 0; i < 2; ++i) {
    append(file, bytes, compact::encode_quickly(state, call, bytes));
    // The second one differs in all its fields' bits, from the highest on: the set has 31.
    call.other = Count64{~std::uint64_t{0} - 1};
    call.called = compact::stamp_length(1'040);
  }
  auto reader = TraceReader::from(memory_source(file.data(), file.size()), "file");
  RawRecord record;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(reader->next(record), TraceReader::Next::kRecord);
    MpiPollCall got;
    ASSERT_EQ(decode(record, reader->dialect(), got), nullptr);
    EXPECT_DOUBLE_EQ(got.time.value, 7 + 1e-6);
    EXPECT_DOUBLE_EQ(got.exit.value, 7 + 11e-6);
    EXPECT_DOUBLE_EQ(got.last_enter.value, 7 + 10e-6);
    EXPECT_DOUBLE_EQ(got.called.value, i == 0 ? 2.5e-6 : 2.6e-6);
    EXPECT_DOUBLE_EQ(got.rest.value, 7.5e-6);
    EXPECT_DOUBLE_EQ(got.least.value, 5e-7);
    EXPECT_EQ(got.paused.value, 0);
    EXPECT_EQ(got.ran, kUnknown64);
    EXPECT_EQ(raw(got.other), i == 0 ? 0 : ~std::uint64_t{0} - 1);
    EXPECT_TRUE(is_absent(got.found));
  }
  EXPECT_EQ(reader->next(record), TraceReader::Next::kEnd);
}

TEST(Compact, EveryPrefixGivesTheRecordsBeforeItsEnd) {
  for (const bool usual : {false, true}) {
    const FileBytes trace = usual ? usual_trace(40) : random_records(3, 120, 2, kBig);
    const FileBytes packed = compact::pack(trace, usual ? kPlain : kChecked);
    const Read whole = read(packed, true);
    ASSERT_TRUE(whole.records == trace);
    for (std::size_t n = kHeaderSize; n < packed.size(); ++n) {
      const FileBytes cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(n));
      const Read got = read(cut);
      // Records end where the next one begins; a block's head is nobody's.
      std::size_t records = 0;
      while (records + 1 < whole.places.size() && whole.places[records + 1] <= n) ++records;
      const std::size_t least = whole.offsets[records];
      ASSERT_TRUE(got.records.size() == least || (records + 1 < whole.offsets.size() &&
                                                  got.records.size() == whole.offsets[records + 1]))
          << n;
      ASSERT_TRUE(std::equal(got.records.begin(), got.records.end(), trace.begin())) << n;
      const bool at_record =
          std::find(whole.places.begin(), whole.places.end(), n) != whole.places.end();
      if (at_record && usual) {
        ASSERT_EQ(got.end, TraceReader::Next::kEnd) << n;
      }
      if (got.end == TraceReader::Next::kDamaged && got.error.reason == kInsideBlock) {
        ASSERT_TRUE(!usual) << n;
        ASSERT_EQ(got.error.offset, n);
      } else if (got.end == TraceReader::Next::kDamaged) {
        ASSERT_EQ(got.error.reason, kEndsInsideRecord) << n;
        // What stands before the damage is a whole file.
        const auto whole_until = static_cast<std::ptrdiff_t>(got.error.offset.value_or(0));
        ASSERT_LT(static_cast<std::size_t>(whole_until), n);
        const Read before = read({packed.begin(), packed.begin() + whole_until});
        ASSERT_TRUE(before.end == TraceReader::Next::kEnd || before.error.reason == kInsideBlock)
            << n;
        ASSERT_TRUE(before.records == got.records) << n;
      }
    }
  }
}

// What lies in memory behind the end is not read: here it would look like a block that begins again
// and again.
TEST(Compact, AFileThatEndsInsideABlocksHeadIsDamaged) {
  const std::byte memory[2] = {std::byte{compact::kBlock}, std::byte{compact::kCheckedBlock}};
  std::byte records[kMaxRecord];
  compact::Decoder decoder(false);
  const auto piece = decoder.decode(memory, memory + 1, true, records, records + kMaxRecord);
  EXPECT_EQ(piece.stop, compact::Decoder::Stop::kDamaged);
  EXPECT_EQ(piece.in, memory);
  EXPECT_EQ(piece.out, records);
  EXPECT_STREQ(decoder.reason(), kEndsInsideRecord);
}

TEST(Compact, AChangedByteLeavesWhatStandsBeforeItAsItWas) {
  const FileBytes trace = usual_trace(30);
  const FileBytes packed = compact::pack(trace, kPlain);
  const Read whole = read(packed, true);
  for (std::size_t n = kHeaderSize; n < packed.size(); ++n) {
    for (const unsigned value : {0x00u, 0x7Fu, 0x80u, 0xFFu, 0x55u}) {
      FileBytes changed = packed;
      changed[n] ^= static_cast<std::byte>(value);
      const Read got = read(changed);
      std::size_t before = 0;  // bytes of records that end before the change
      for (std::size_t i = 0; i < whole.places.size() && whole.places[i] <= n; ++i) {
        before = whole.offsets[i];
      }
      ASSERT_GE(got.records.size(), before) << n;
      ASSERT_TRUE(std::equal(trace.begin(), trace.begin() + static_cast<std::ptrdiff_t>(before),
                             got.records.begin()))
          << n;
      if (got.end == TraceReader::Next::kDamaged) {
        ASSERT_FALSE(got.error.reason.empty());
        ASSERT_GE(got.error.offset.value_or(0), before == 0 ? 0 : whole.places.front());
        ASSERT_LE(got.error.offset.value_or(0), changed.size());
      }
    }
  }
}

// Places of the blocks, from their heads: 0xFF, 0x5A, the length (u4), the checksum (u4).
std::vector<std::size_t> blocks_of(const FileBytes& packed) {
  std::vector<std::size_t> places;
  for (std::size_t at = kHeaderSize; at < packed.size();) {
    places.push_back(at);
    std::uint32_t length = 0;
    std::memcpy(&length, &packed[at + 2], 4);
    at += 10 + length;
  }
  return places;
}

TEST(Compact, NothingComesOutOfABlockWithAWrongBit) {
  const FileBytes trace = usual_trace(55);  // 220 times 62 bytes: 3.3 blocks of 4 KiB
  const FileBytes packed = compact::pack(trace);
  const std::vector<std::size_t> blocks = blocks_of(packed);
  ASSERT_EQ(blocks.size(), 4u);
  const Read whole = read(packed, true);
  for (std::size_t n = kHeaderSize + 2; n < packed.size(); ++n) {
    const std::size_t block = *std::prev(std::upper_bound(blocks.begin(), blocks.end(), n));
    if (n >= block + 10 && n % 5 != 0) continue;  // heads, and what stands in some places
    // Records in the blocks before it.
    const auto place = std::lower_bound(whole.places.begin(), whole.places.end(), block);
    const std::uint64_t before =
        whole.offsets[static_cast<std::size_t>(place - whole.places.begin())];
    for (unsigned bit = 0; bit < 8; ++bit) {
      FileBytes changed = packed;
      changed[n] ^= static_cast<std::byte>(1u << bit);
      const Read got = read(changed);
      ASSERT_TRUE(std::equal(got.records.begin(), got.records.end(), trace.begin())) << n;
      if (n < block + 6 && n >= block + 2) {
        // A length: one that reaches beyond the file's end is that of a file that was cut off.
        ASSERT_GE(got.records.size(), before) << n;
        ASSERT_EQ(got.end, TraceReader::Next::kDamaged) << n;
        continue;
      }
      ASSERT_EQ(got.end, TraceReader::Next::kDamaged) << n << " " << bit;
      ASSERT_EQ(got.records.size(), before) << n;
      ASSERT_EQ(got.error.offset, block);
      if (n >= block + 6) {
        ASSERT_EQ(got.error.reason, kWrongChecksum);
        ASSERT_EQ(got.error.remedy, kCutOffRemedy);
      }
    }
  }
}

TEST(Compact, ARecordThatIsReplacedLaterHasABlockOfItsOwn) {
  FileBytes trace = header(2, kBig);
  const auto add = [&](const auto& record) {
    std::byte buffer[kMaxRecord];
    append(trace, buffer, buffer + encode(record, Dialect{}, buffer));
  };
  add(Machine{MachineId{0}, Count{1}, StringId{0}});
  add(NumEvents{Count{1}});
  add(LastDef{});
  add(Exit{LocationId{0}, Seconds{1}, {}});
  const FileBytes packed = compact::pack(trace);
  const std::vector<std::size_t> blocks = blocks_of(packed);
  ASSERT_EQ(blocks.size(), 3u);
  // Its head, then 7f for a whole record, length 4, type 14, the number.
  EXPECT_EQ(blocks[2] - blocks[1], 10u + 1 + 2 + 4);
  EXPECT_EQ(packed[blocks[1] + 12], std::byte{14});
}

TEST(Compact, SeeksToEveryRecord) {
  const FileBytes trace =
      usual_trace(20'000);  // of several blocks, and more than one is remembered
  const FileBytes packed = compact::pack(trace);
  ASSERT_GT(trace.size(), 4u << 20);
  auto reader = TraceReader::from(memory_source(packed.data(), packed.size()), "file", 4096);
  std::vector<std::uint64_t> offsets;
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) offsets.push_back(record.offset);
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t offset = offsets[random() % offsets.size()];
    ASSERT_TRUE(reader->seek(offset).ok());
    for (std::uint64_t at = offset; at < std::min(offset + 5'000, offsets.back());) {
      ASSERT_EQ(reader->next(record), TraceReader::Next::kRecord);
      ASSERT_EQ(record.offset, at);
      ASSERT_TRUE(std::equal(record.body - 2, record.body + record.length,
                             trace.begin() + static_cast<std::ptrdiff_t>(at)));
      at += 2u + record.length;
    }
  }
}

TEST(Compact, TheUsualEventTakesFewBytes) {
  const FileBytes packed = compact::pack(usual_trace(10'000));
  // ENTER: code, location, and a time 2.1e-7 s later: at times up to 4 ms, whose unit is 4.3e-19 s
  // or more, that are up to 2^39 units and a sign: 6 bytes. MPI_PUT_1TS: code, and at times the
  // process that is as far away as 1 is from 0, and the number. EXIT: code and 5 bytes. Together 19
  // of 66.
  EXPECT_LT(packed.size(), 10'000u * 4 * 21);
}

TEST(Compact, ALaterVersionAndUnknownItemsAreRefused) {
  FileBytes file = header(3, kBig);
  file[8] = std::byte{1};
  EXPECT_NE(read(file).error.reason.find("unknown format version 3.1"), std::string::npos);
  const auto damage = [](std::initializer_list<int> bytes) {
    FileBytes f = header(3, kBig);
    for (const int byte : bytes) f.push_back(static_cast<std::byte>(byte));
    f.resize(f.size() + 600);
    const Read got = read(f);
    EXPECT_EQ(got.end, TraceReader::Next::kDamaged);
    return got.error.message();
  };
  EXPECT_NE(damage({0x81}).find("offset 10: a compact record outside of a block"),
            std::string::npos);
  EXPECT_NE(damage({0xFF, 2}).find("offset 10: a block of unknown kind"), std::string::npos);
  // Type 216 is nobody's: code 116 = 74.
  EXPECT_NE(damage({0xFF, 0, 0x74, 0}).find("offset 12: a compact record of unknown type"),
            std::string::npos);
  // ENTER has four fields.
  EXPECT_NE(damage({0xFF, 0, 0x01, 0x10}).find("offset 12: a compact record with a field"),
            std::string::npos);
  // A location of 33 bits.
  EXPECT_NE(damage({0xFF, 0, 0x01, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F})
                .find("offset 12: a number of a compact record is out of range"),
            std::string::npos);
}

// A loop's records: times pass, what counts goes on, all else stays; now and then something does
// not.
class Loop {
 public:
  explicit Loop(unsigned seed) : random_(seed) {}
  template <class T>
  void field(const FieldInfo&, T& value) {
    const bool as_ever = random_() % 40 != 0;
    if constexpr (std::is_same_v<T, Seconds>) {
      value.value += random_() % 4 == 0 ? 0.0 : 1e-6 * static_cast<double>(random_() % 8);
    } else if constexpr (std::is_same_v<T, Duration>) {
      if (!as_ever) value.value += 1e-6;
    } else if (!as_ever) {
      value = static_cast<T>(random_() % 4 == 0 ? random_() : random_() % 4);
    } else if constexpr (compact::kCounts<T>) {
      value = static_cast<T>(raw(value) + 2);
    }
  }
  template <class T>
  void array(const FieldInfo&, T&, std::uint32_t) {}
  template <class T>
  void rest(const FieldInfo&, T&) {}
  void text(const FieldInfo&, Text&) {}
  void metrics(const FieldInfo&, MetricValues&) {}

 private:
  std::mt19937_64 random_;
};

TEST(Compact, WrittenQuicklyARecordIsTheSame) {
  std::size_t types = 0, short_ones = 0;
  for (unsigned type = 0; type < 256; ++type) {
    dispatch_record(static_cast<std::uint8_t>(type), [&]<class R>() {
      if constexpr (compact::kHasCode<R>) {
        ++types;
        Loop loop(type);
        R record{};
        compact::State one{}, other{};
        for (int i = 0; i < 400; ++i) {
          visit_fields(record, Dialect{}, loop);
          std::byte slowly[compact::kMaxItem], quickly[compact::kMaxItem];
          const std::byte* const end = compact::encode(one, record, slowly);
          const auto size = compact::encode_quickly(other, record, quickly) - quickly;
          ASSERT_EQ(size, end - slowly) << record_name(static_cast<std::uint8_t>(type));
          ASSERT_TRUE(std::equal(quickly, quickly + size, slowly));
          ASSERT_TRUE(one.time == other.time && one.location == other.location &&
                      one.fields == other.fields && one.values == other.values);
          if (size < 12 && (std::to_integer<int>(quickly[0]) & compact::kSameFields) != 0)
            ++short_ones;
        }
      }
    });
  }
  EXPECT_GT(types, 50u);
  EXPECT_GT(short_ones, 100 * types);  // the loop is one
}

// A joint item in a file, and the records that it must be read as.
class JointTrace {
 public:
  explicit JointTrace(bool big_endian) : dialect_{2, 0, big_endian} {
    file = header(3, big_endian);
    records = header(2, big_endian);
    append(file, bytes_, compact::begin_block(state_, bytes_));
  }
  template <class J>
  void add(const J& item, std::size_t stands_for) {
    places.insert(places.end(), stands_for, file.size());
    // Written quickly or not, it is the same.
    compact::State state = state_;
    append(file, bytes_, compact::encode(state_, item, bytes_));
    const std::size_t size = file.size() - places.back();
    std::byte again[compact::kMaxItem];
    ASSERT_EQ(compact::encode_quickly(state, item, again) - again,
              static_cast<std::ptrdiff_t>(size));
    ASSERT_TRUE(std::equal(again, again + size, bytes_));
    ASSERT_TRUE(state.time == state_.time && state.location == state_.location &&
                state.fields == state_.fields && state.values == state_.values);
  }
  template <class R>
  void expect(const R& record) {
    append(records, bytes_, bytes_ + encode(record, dialect_, bytes_));
  }
  FileBytes file, records;
  std::vector<std::uint64_t> places;

 private:
  Dialect dialect_;
  compact::State state_;
  std::byte bytes_[compact::kMaxItem];
};

TEST(Compact, AJointItemIsTheRecordsThatItStandsFor) {
  for (const bool big_endian : {kBig, !kBig}) {
    JointTrace trace(big_endian);
    for (std::uint32_t i = 0; i < 50; ++i) {
      // At first all is as it was the last time.
      const LocationId lid{i < 20 ? 0 : i % 3};
      const double t = 0.5 * i;
      const Seconds a{t}, b{t + 0.125}, c{t + 0.25}, d{t + 0.375};
      const LockId lock{i % 2 == 0 || i < 20 ? 0xFFFFFFF0u : i};
      trace.add(compact::TeamOfOne{lid, a, RegionId{7}, Count64{i + 1}}, 3);
      trace.expect(OmpFork{lid, a});
      trace.expect(Enter{lid, a, RegionId{7}, {}});
      trace.expect(OmpTeam{lid, a, Count64{i + 1}, Count{0}, Count{1}});
      trace.add(Enter{lid, b, RegionId{8}, {}}, 1);
      trace.expect(Enter{lid, b, RegionId{8}, {}});
      trace.add(compact::LockTaken{lid, c, lock, RegionId{i < 20 ? 9 : 9 + i % 2}}, 2);
      trace.expect(OmpALock{lid, c, lock});
      trace.expect(Enter{lid, c, RegionId{i < 20 ? 9 : 9 + i % 2}, {}});
      trace.add(compact::LockLeft{lid, c, lock}, 3);
      trace.expect(Exit{lid, c, {}});
      trace.expect(OmpRLock{lid, c, lock});
      trace.expect(Exit{lid, c, {}});
      trace.add(compact::LockEntered{lid, c, lock, RegionId{8}, RegionId{i < 20 ? 9 : 9 + i % 2}},
                3);
      trace.expect(Enter{lid, c, RegionId{8}, {}});
      trace.expect(OmpALock{lid, c, lock});
      trace.expect(Enter{lid, c, RegionId{i < 20 ? 9 : 9 + i % 2}, {}});
      trace.add(compact::LockLeft{lid, d, lock}, 3);
      trace.expect(Exit{lid, d, {}});
      trace.expect(OmpRLock{lid, d, lock});
      trace.expect(Exit{lid, d, {}});
      trace.add(compact::LockSet{lid, d, Seconds{t + 0.4}, RegionId{12}, lock}, 3);
      trace.expect(Enter{lid, d, RegionId{12}, {}});
      trace.expect(OmpALock{lid, Seconds{t + 0.4}, lock});
      trace.expect(Exit{lid, Seconds{t + 0.4}, {}});
      trace.add(compact::TeamLeft{lid, Seconds{t + 0.45}}, 2);
      trace.expect(Exit{lid, Seconds{t + 0.45}, {}});
      trace.expect(OmpJoin{lid, Seconds{t + 0.45}});
    }
    const Read got = read(trace.file, true);
    ASSERT_EQ(got.end, TraceReader::Next::kEnd) << got.error.message();
    ASSERT_TRUE(got.records == trace.records) << big_endian;
    // Each of them stands where its item does, the first one where its block begins.
    trace.places.front() = kHeaderSize;
    ASSERT_EQ(got.places, trace.places);
    // A file that is cut off has the records of the items before that.
    for (std::size_t n = trace.places[100]; n < trace.places[130]; ++n) {
      const Read cut =
          read({trace.file.begin(), trace.file.begin() + static_cast<std::ptrdiff_t>(n)});
      std::size_t whole = 100;
      while (trace.places[whole + 1] <= n) ++whole;
      while (trace.places[whole - 1] == trace.places[whole]) --whole;
      ASSERT_EQ(cut.records.size(), got.offsets[whole]) << n;
    }
    auto reader =
        TraceReader::from(memory_source(trace.file.data(), trace.file.size()), "file", 4096);
    RawRecord record;
    for (std::size_t i = 0; i < got.offsets.size(); i += 7) {
      ASSERT_TRUE(reader->seek(got.offsets[i]).ok());
      ASSERT_EQ(reader->next(record), TraceReader::Next::kRecord);
      ASSERT_EQ(record.offset, got.offsets[i]);
    }
  }
}

TEST(Compact, PeersAreAsFarAwayAsTheyWere) {
  for (const std::uint32_t location : {0u, 1u, 5u, 8190u, 8191u, 8192u, 100'000u}) {
    for (const std::uint32_t peer : {0u, 1u, 4u, 6u, 8191u, 91'809u, kAbsent, location + 1,
                                     location - 1, location - 8191u, kAbsent - 1}) {
      ASSERT_EQ(compact::peer_at(compact::distance_of(peer, location), location), peer)
          << location << " " << peer;
    }
    EXPECT_EQ(compact::distance_of(kAbsent, location), compact::kNone);
  }
}

TEST(Compact, TextBecomesAFileOfTheVersionThatItSays) {
  const std::string text =
      "EPILOG 3.0 little\n"
      "ENTER lid=0 time=1 region=main\n"
      "EXIT lid=0 time=2.5\n";
  const auto file = text_to_trace(text);
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ((*file)[7], std::byte{3});
  const auto again = trace_to_text(*file);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->substr(0, 18), "EPILOG 3.0 little\n");
  EXPECT_NE(again->find("EXIT lid=0 time=2.5"), std::string::npos);
  const auto twice = text_to_trace(*again);
  ASSERT_TRUE(twice.ok());
  EXPECT_TRUE(*twice == *file);
}

}  // namespace
}  // namespace kojak::compact_test
