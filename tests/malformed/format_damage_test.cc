// Damaged files of every kind through reader, verifier, printer and profile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "epilog/format/compact/pack.h"
#include "epilog/format/definitions.h"
#include "epilog/format/record/codec.h"
#include "epilog/format/text/text_reader.h"
#include "tests/malformed/damage.h"
#include "tests/support/limit_memory.h"
#include "tests/support/temp_dir.h"

namespace kojak {
namespace {

using test::Outcome;
using test::read_all;

std::vector<std::byte> trace_named(const std::string& name) {
  if (name == "merged") return test::native_merged_trace();
  if (name == "local") return test::native_local_trace();
  return test::read_bytes(std::string(KOJAK_REFERENCE_DIR) + "/" + name + ".elg");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

class Damage : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { test::limit_memory(); }
};

TEST_P(Damage, TheWholeTraceIsFine) {
  const Outcome outcome = read_all(trace_named(GetParam()));
  EXPECT_FALSE(outcome.refused) << outcome.explanation;
  EXPECT_FALSE(outcome.suspicious) << outcome.explanation;
}

// A merged trace that is cut anywhere says so. A local one may end after any record (the process
// was killed); cut inside a record it says so.
TEST_P(Damage, EveryPrefixIsFoundOut) {
  const std::vector<std::byte> whole = trace_named(GetParam());
  const std::string text = read_all(whole).text;
  const bool local = std::string(GetParam()) == "local";
  std::vector<bool> boundary(whole.size() + 1);
  for (std::size_t at = kHeaderSize; at < whole.size();) {
    boundary[at] = true;
    at += 2 + static_cast<std::size_t>(whole[at]);
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> prefix(whole.begin(),
                                        whole.begin() + static_cast<std::ptrdiff_t>(size));
    const Outcome outcome = read_all(prefix);
    ASSERT_EQ(outcome.refused, size < kHeaderSize) << size;
    if (!outcome.refused) {
      ASSERT_TRUE(outcome.suspicious || (local && boundary[size])) << "cut at " << size;
      ASSERT_EQ(text.compare(0, outcome.text.size(), outcome.text), 0)
          << "whole records are kept, cut at " << size;
    }
  }
}

// A changed byte is an error, a finding, or changes the text of one record only: lengths, types and
// identifiers never pass unnoticed.
TEST_P(Damage, EveryChangedByteIsFoundOutOrLocal) {
  const std::vector<std::byte> whole = trace_named(GetParam());
  const std::vector<std::string> before = lines_of(read_all(whole).text);
  std::vector<std::byte> bytes = whole;
  const bool large = whole.size() > 5000;  // two values of six for each byte there
  std::size_t unnoticed = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    const auto old = static_cast<unsigned>(whole[at]);
    const unsigned values[] = {old ^ 1u, old ^ 0x80u, old ^ 0xFFu, 0u, 0xFFu, 0x7Fu};
    for (std::size_t v = 0; v < 6; ++v) {
      const unsigned value = values[v];
      if (value == old || (large && (at + v) % 3 != 0)) continue;
      bytes[at] = static_cast<std::byte>(value);
      const Outcome outcome = read_all(bytes);
      if (outcome.refused || outcome.suspicious || at < kHeaderSize) continue;
      const std::vector<std::string> after = lines_of(outcome.text);
      ASSERT_EQ(after.size(), before.size()) << "byte " << at << " = " << value;
      std::size_t different = 0;
      for (std::size_t i = 0; i < after.size(); ++i) different += after[i] != before[i];
      ASSERT_LE(different, 1u) << "byte " << at << " = " << value;
      unnoticed += different == 0;
    }
    bytes[at] = whole[at];
  }
  // Only what the text does not show: NULs at the end of strings, unused bits.
  EXPECT_LT(unnoticed, whole.size() / 10);
}

// The length byte of every record becomes each possible value.
TEST_P(Damage, EveryLengthIsSurvived) {
  const std::vector<std::byte> whole = trace_named(GetParam());
  std::vector<std::byte> bytes = whole;
  for (std::size_t at = kHeaderSize; at < whole.size();) {
    for (unsigned length = 0; length < 256; length += at < 2000 ? 1 : 127) {
      bytes[at] = static_cast<std::byte>(length);
      const Outcome outcome = read_all(bytes);
      if (bytes[at] != whole[at] && static_cast<RecordType>(whole[at + 1]) != RecordType::kString) {
        ASSERT_TRUE(outcome.refused || outcome.suspicious)
            << "record at " << at << ", length " << length;
      }
    }
    bytes[at] = whole[at];
    at += 2 + static_cast<std::size_t>(whole[at]);
  }
}

// The merged trace in compact form, whose bytes are in no record alone.
class CompactDamage : public testing::TestWithParam<compact::Blocks> {
 protected:
  static void SetUpTestSuite() { test::limit_memory(); }
  const std::vector<std::byte> whole_ = compact::pack(test::native_merged_trace(), GetParam());
};

TEST_P(CompactDamage, EveryPrefixIsFoundOut) {
  const Outcome all = read_all(whole_);
  ASSERT_FALSE(all.refused || all.suspicious) << all.explanation;
  for (std::size_t size = 0; size < whole_.size(); ++size) {
    const Outcome outcome =
        read_all({whole_.begin(), whole_.begin() + static_cast<std::ptrdiff_t>(size)});
    ASSERT_EQ(outcome.refused, size < kHeaderSize) << size;
    if (outcome.refused) continue;
    ASSERT_TRUE(outcome.suspicious) << "cut at " << size;
    ASSERT_EQ(all.text.compare(0, outcome.text.size(), outcome.text), 0)
        << "whole records are kept, cut at " << size;
  }
}

TEST_P(CompactDamage, ChangedBytesAreFoundOutIfThereIsAChecksum) {
  std::vector<std::byte> bytes = whole_;
  std::size_t found = 0;
  for (std::size_t at = 0; at < whole_.size(); ++at) {
    const auto old = static_cast<unsigned>(whole_[at]);
    for (const unsigned value : {old ^ 1u, old ^ 0x80u, old ^ 0xFFu, 0u, 0xFFu, 0x7Fu}) {
      if (value == old) continue;
      bytes[at] = static_cast<std::byte>(value);
      const Outcome outcome = read_all(bytes);
      found += outcome.refused || outcome.suspicious;
      // The version's last digit and what a block is (0: without a checksum) are told by nothing.
      if (GetParam() == compact::Blocks::kChecked && at >= kHeaderSize + 2) {
        ASSERT_TRUE(outcome.suspicious) << "byte " << at << " = " << value;
      }
    }
    bytes[at] = whole_[at];
  }
  EXPECT_GT(found, whole_.size());
}

INSTANTIATE_TEST_SUITE_P(Forms, CompactDamage,
                         testing::Values(compact::Blocks::kPlain, compact::Blocks::kChecked),
                         [](const auto& test) {
                           return test.param == compact::Blocks::kPlain ? "plain" : "checked";
                         });

INSTANTIATE_TEST_SUITE_P(Traces, Damage, testing::Values("gats", "merged", "local"),
                         [](const auto& test) { return std::string(test.param); });

// Every 4-byte group of every definition becomes a huge number: no allocation follows it (the limit
// of memory is low), and the text of what follows is still there.
TEST(HostileCounts, NeverBecomeAllocations) {
  test::limit_memory();
  for (const char* name : {"gats", "merged", "local"}) {
    const std::vector<std::byte> whole = trace_named(name);
    std::vector<std::byte> bytes = whole;
    for (std::size_t at = kHeaderSize; at < whole.size();) {
      const std::size_t end = at + 2 + static_cast<std::size_t>(whole[at]);
      const bool definition = is_definition(static_cast<std::uint8_t>(whole[at + 1]));
      for (std::size_t field = at + 2; definition && field + 4 <= end;
           field += whole.size() > 5000 ? 4 : 1) {
        for (const std::uint32_t value : {0xFFFFFFFEu, 0x01000000u}) {
          std::memcpy(bytes.data() + field, &value, 4);
          const Outcome outcome = read_all(bytes);
          ASSERT_FALSE(outcome.refused) << outcome.explanation;
        }
        std::copy(whole.begin() + static_cast<std::ptrdiff_t>(field),
                  whole.begin() + static_cast<std::ptrdiff_t>(field + 4),
                  bytes.begin() + static_cast<std::ptrdiff_t>(field));
      }
      at = end;
    }
  }
}

// A file of nothing but far identifiers: memory stays in proportion to the file.
TEST(HostileCounts, FarIdentifiersCostNoMoreThanTheyAre) {
  test::limit_memory();
  std::string text;
  for (std::uint32_t i = 0; i < 20000; ++i) {
    const std::string id = std::to_string(i * 4000u);
    text += "REGION rid=" + id + "\nMPI_WIN wid=" + id + " cid=0\nLOCATION lid=" + id + " pid=0\n";
  }
  const auto trace = text_to_trace(text + "LAST_DEF\n");
  ASSERT_TRUE(trace.ok());
  const Outcome outcome = read_all(*trace);
  EXPECT_FALSE(outcome.refused);
  EXPECT_TRUE(outcome.suspicious);
}

// Random bytes behind a good header, and random records.
TEST(Garbage, IsSurvived) {
  std::uint64_t state = 42;
  const auto random = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 33);
  };
  for (int round = 0; round < 2000; ++round) {
    Dialect dialect;
    dialect.major = static_cast<std::uint8_t>(1 + random() % 2);
    dialect.minor = static_cast<std::uint8_t>(random() % 10);
    dialect.big_endian = random() % 2 == 0;
    std::vector<std::byte> bytes(kHeaderSize);
    encode_header(dialect, bytes.data());
    const std::uint32_t records = random() % 200;
    for (std::uint32_t i = 0; i < records; ++i) {
      const std::uint32_t length = random() % (round % 2 == 0 ? 256 : 40);
      bytes.push_back(static_cast<std::byte>(length));
      bytes.push_back(static_cast<std::byte>(random() % (round % 3 == 0 ? 256 : 60)));
      for (std::uint32_t b = 0; b < length; ++b) {
        bytes.push_back(static_cast<std::byte>(random() % 4 == 0 ? random() : random() % 3));
      }
    }
    const Outcome outcome = read_all(bytes);
    const bool local = outcome.text.rfind("LOCAL_RUN ", 0) == 0;  // may be short and correct
    ASSERT_TRUE(outcome.refused || outcome.suspicious || local) << outcome.text;
  }
}

}  // namespace
}  // namespace kojak
