// Damaged merged traces through EARL and EXPERT: never a crash, and never a clean result from a
// trace that is cut.
#include <gtest/gtest.h>

#include <cmath>

#include "earl/trace.h"
#include "epilog/format/compact/pack.h"
#include "epilog/format/record/codec.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/findings/trace_findings.h"
#include "tests/malformed/damage.h"
#include "tests/support/limit_memory.h"
#include "tests/support/temp_dir.h"

namespace kojak {
namespace {

struct Outcome {
  bool refused = false;
  bool suspicious = false;
  std::string explanation;
};

Outcome analysed(const std::vector<std::byte>& bytes) {
  Outcome outcome;
  auto trace = earl::Trace::from(memory_source(bytes.data(), bytes.size()), "damaged");
  if (!trace) {
    outcome.refused = true;
    outcome.explanation = trace.error().message();
    EXPECT_FALSE(trace.error().reason.empty());
    return outcome;
  }
  const expert::Report report = expert::analyse(*trace);
  outcome.suspicious = expert::any_suspect(report.findings());
  for (const expert::Finding& finding : report.findings()) {
    EXPECT_GT(finding.count, 0u) << finding.what;
    outcome.explanation += finding.what + "\n";
  }
  return outcome;
}

class AnalysisDamage : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { test::limit_memory(); }
  void SetUp() override {
    const std::string name = GetParam();
    if (name == "merged") {
      whole_ = test::native_merged_trace();
    } else if (name == "compact") {
      whole_ = compact::pack(test::native_merged_trace(), compact::Blocks::kPlain);
    } else if (name == "checked") {
      whole_ = compact::pack(test::native_merged_trace());
    } else {
      whole_ = test::read_bytes(std::string(KOJAK_REFERENCE_DIR) + "/" + name + ".elg");
    }
    // Every byte of the small trace, samples of the large one.
    stride_ = whole_.size() > 5000 ? 11 : 1;
  }
  std::vector<std::byte> whole_;
  std::size_t stride_ = 1;
};

TEST_P(AnalysisDamage, PrefixesAreFoundOut) {
  for (std::size_t size = 0; size < whole_.size(); size += stride_) {
    const Outcome outcome =
        analysed({whole_.begin(), whole_.begin() + static_cast<std::ptrdiff_t>(size)});
    ASSERT_TRUE(outcome.refused || outcome.suspicious) << "cut at " << size << "\n"
                                                       << outcome.explanation;
  }
}

TEST_P(AnalysisDamage, ChangedBytesAreSurvived) {
  std::vector<std::byte> bytes = whole_;
  std::size_t noticed = 0;
  for (std::size_t at = 0; at < whole_.size(); at += stride_) {
    for (const unsigned change : {0x01u, 0x80u, 0xFFu}) {
      bytes[at] = whole_[at] ^ static_cast<std::byte>(change);
      const Outcome outcome = analysed(bytes);
      noticed += outcome.refused || outcome.suspicious;
    }
    bytes[at] = whole_[at];
  }
  EXPECT_GT(noticed, 0u);
}

TEST_P(AnalysisDamage, HostileNumbersAreSurvived) {
  std::vector<std::byte> bytes = whole_;
  for (std::size_t at = kHeaderSize; at + 4 <= whole_.size(); at += stride_) {
    for (const std::uint32_t value : {0xFFFFFFFEu, 0x01000000u}) {
      std::memcpy(bytes.data() + at, &value, 4);
      analysed(bytes);
    }
    std::memcpy(bytes.data() + at, whole_.data() + at, 4);
  }
  SUCCEED() << "within the limit of memory";
}

INSTANTIATE_TEST_SUITE_P(Traces, AnalysisDamage,
                         testing::Values("gats", "fence", "merged", "compact", "checked"),
                         [](const auto& test) { return std::string(test.param); });

// Found by fuzz_trace: no MPI call issues operations of an access epoch and of a lock epoch. Times
// of this trace are consistent, and both targets compute all the time.
TEST(AnalysisContradictions, OneCallInTwoKindsOfEpochs) {
  const auto trace = text_to_trace(
      "ENTER lid=0 time=0 region=main\n"
      "ENTER lid=1 time=0 region=main\n"
      "ENTER lid=2 time=0 region=main\n"
      "ENTER lid=0 time=1 region=MPI_Win_start\n"
      "MPI_WINEXIT lid=0 time=1.5 wid=0 group=[1] synex=0\n"
      "ENTER lid=0 time=2 region=MPI_Win_lock\n"
      "MPI_WIN_LOCK lid=0 time=2.5 llid=2 wid=1 ltype=1\n"
      "EXIT lid=0 time=2.5\n"
      "ENTER lid=0 time=3 region=MPI_Put\n"
      "MPI_PUT_1TS lid=0 time=3 dlid=1 wid=0 rmaid=0 sent=8\n"
      "MPI_PUT_1TS lid=0 time=3 dlid=2 wid=1 rmaid=1 sent=8\n"
      "EXIT lid=0 time=4\n"
      "ENTER lid=0 time=5 region=MPI_Win_unlock\n"
      "MPI_PUT_1TE lid=2 time=6 slid=0 wid=1 rmaid=1 recvd=8\n"
      "MPI_WIN_UNLOCK lid=0 time=6 llid=2 wid=1\n"
      "EXIT lid=0 time=6\n"
      "EXIT lid=0 time=9\nEXIT lid=1 time=9\nEXIT lid=2 time=9\n");
  ASSERT_TRUE(trace.ok());
  EXPECT_FALSE(analysed(*trace).refused);
}

}  // namespace
}  // namespace kojak
