// Damaged local traces through the merge: it refuses them and writes nothing, or writes a merged
// trace that keeps the rules of the format as far as what it was given allows, and says what it
// found.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "epilog/format/check/verify.h"
#include "epilog/format/record/codec.h"
#include "epilog/format/text/text_reader.h"
#include "merge/merge.h"
#include "tests/malformed/damage.h"
#include "tests/support/limit_memory.h"
#include "tests/support/temp_dir.h"

namespace kojak {
namespace {

// The partner of native_local_trace(): rank 1 of the same run.
std::vector<std::byte> partner() {
  const auto trace = text_to_trace(
      "LOCAL_RUN size=2 pid=1\n"
      "OFFSET ltime=0 offset=0.5\n"
      "ENTER lid=1 time=0 region=main\n"
      "ENTER lid=1 time=1 region=MPI_Send\n"
      "MPI_GROUP gid=9 mode=0 count=2 ranks=[1,0]\n"
      "MPI_COMM_REF cid=9 gid=9\n"
      "MPI_SEND lid=1 time=1 dlid=0 cid=9 sent=4\n"
      "EXIT lid=1 time=2\n"
      "EXIT lid=1 time=9\n");
  EXPECT_TRUE(trace.ok()) << trace.error().message();
  return *trace;
}

class MergeDamage : public testing::Test {
 protected:
  static void SetUpTestSuite() { test::limit_memory(); }
  void SetUp() override {
    whole_ = test::native_local_trace();
    test::write_file(dir_.file("run/1.0.elg"), partner());
  }

  // Nothing if the trace is refused as a whole.
  static std::optional<Verification> verified(const std::vector<std::byte>& trace) {
    auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "trace");
    if (!reader) return std::nullopt;
    auto verification = verify_trace(*reader);
    if (!verification) return std::nullopt;
    return *verification;
  }

  // Merges with these bytes as rank 0; whether that was refused or a warning given.
  bool noticed(const std::vector<std::byte>& bytes, const std::string& what) {
    test::write_file(dir_.file("run/0.0.elg"), bytes);
    merge::MergeOptions options;
    options.inputs = {dir_.file("run")};
    options.output = dir_.file("a.elg");
    std::filesystem::remove(options.output);
    const auto summary = merge::merge_traces(options);
    if (!summary) {
      EXPECT_FALSE(std::filesystem::exists(options.output)) << what;
      EXPECT_FALSE(summary.error().reason.empty()) << what;
      return true;
    }
    const auto given = verified(bytes);
    const bool bad_input = !given || given->worst() == Level::kError;
    const auto made = verified(test::read_bytes(options.output));
    EXPECT_TRUE(made.has_value()) << what;
    if (!made) return false;
    for (const Finding& finding : made->findings) {
      // What names nothing becomes absent or stays so, and an exit stays without its enter, where
      // the input is like that. Nothing else may be wrong with the output.
      const bool kept =
          (summary->suspect() || bad_input) &&
          (finding.what == "is absent" || finding.what == "leaves a region where none is open" ||
           finding.what == "a byte count stands in an ATTR_UI8 that is not there");
      EXPECT_TRUE(kept || finding.level != Level::kError) << what << ": " << finding.message();
    }
    return summary->suspect();
  }

  class Run : public test::TempDir {
   public:
    Run() { std::filesystem::create_directory(path() / "run"); }
  };
  Run dir_;
  std::vector<std::byte> whole_;
};

TEST_F(MergeDamage, WholeTracesAreFine) {
  EXPECT_FALSE(noticed(whole_, "whole"));
}

// A local trace may end anywhere between records, but then with open regions: something is said.
TEST_F(MergeDamage, EveryPrefixIsNoticed) {
  for (std::size_t size = 0; size < whole_.size(); ++size) {
    ASSERT_TRUE(noticed({whole_.begin(), whole_.begin() + static_cast<std::ptrdiff_t>(size)},
                        "cut at " + std::to_string(size)));
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(MergeDamage, EveryChangedByteGivesAGoodTraceOrNone) {
  std::vector<std::byte> bytes = whole_;
  std::size_t seen = 0;
  for (std::size_t at = 0; at < whole_.size(); ++at) {
    for (const unsigned change : {0x01u, 0x80u, 0xFFu}) {
      bytes[at] = whole_[at] ^ static_cast<std::byte>(change);
      seen += noticed(bytes, "byte " + std::to_string(at) + " ^ " + std::to_string(change));
      ASSERT_FALSE(HasFailure());
    }
    bytes[at] = whole_[at];
  }
  EXPECT_GT(seen, 0u);
}

TEST_F(MergeDamage, HostileNumbersAreSurvived) {
  std::vector<std::byte> bytes = whole_;
  for (std::size_t at = kHeaderSize; at + 4 <= whole_.size(); at += 2) {
    for (const std::uint32_t value : {0xFFFFFFFEu, 0x01000000u}) {
      std::memcpy(bytes.data() + at, &value, 4);
      noticed(bytes, "number at " + std::to_string(at));
      ASSERT_FALSE(HasFailure());
    }
    std::memcpy(bytes.data() + at, whole_.data() + at, 4);
  }
}

}  // namespace
}  // namespace kojak
