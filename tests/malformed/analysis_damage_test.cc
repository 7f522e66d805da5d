// Damaged merged traces through EARL and EXPERT: never a crash, and never a clean result from a
// trace that is cut.
#include <gtest/gtest.h>

#include <cmath>

#include "earl/trace.h"
#include "epilog/format/codec.h"
#include "expert/analysis.h"
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
    whole_ = name == "merged"
                 ? test::native_merged_trace()
                 : test::read_bytes(std::string(KOJAK_REFERENCE_DIR) + "/" + name + ".elg");
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

INSTANTIATE_TEST_SUITE_P(Traces, AnalysisDamage, testing::Values("gats", "fence", "merged"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace kojak
