// Damaged traces through the whole analysis and into a report: cut anywhere, any byte changed.
// Never a crash, always finite severities that are no longer than the time there is, never exit
// code 0 for a trace that was cut.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "earl/trace.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/cube/writer.h"
#include "expert/findings/trace_findings.h"
#include "tests/malformed/damage.h"
#include "tests/support/cube_reader.h"
#include "tests/support/limit_memory.h"
#include "tests/support/report_checks.h"
#include "tests/support/temp_dir.h"

namespace kojak::expert {
namespace {

std::vector<std::byte> trace_named(const std::string& name) {
  if (name == "merged") return test::native_merged_trace();
  return test::read_bytes(std::string(KOJAK_REFERENCE_DIR) + "/" + name + ".elg");
}

struct Outcome {
  bool refused = false;
  bool suspect = false;
  std::vector<std::string> wrong;
};

Outcome analyse_bytes(const std::vector<std::byte>& bytes,
                      const std::string* report_path = nullptr) {
  Outcome outcome;
  auto trace = earl::Trace::from(memory_source(bytes.data(), bytes.size()), "damaged");
  if (!trace.ok()) {
    outcome.refused = true;
    if (trace.error().message().find("damaged") == std::string::npos) {
      outcome.wrong.push_back("the error does not name the file: " + trace.error().message());
    }
    return outcome;
  }
  const Report report = analyse(*trace);
  outcome.suspect = any_suspect(report.findings());
  std::vector<double> row(report.threads());
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      if (!report.row(m, c, row)) continue;
      for (const double value : row) {
        if (!std::isfinite(value) || value < 0) {
          outcome.wrong.push_back(std::string(report.metrics()[m].metric.name) + " is " +
                                  std::to_string(value));
        }
      }
    }
  }
  if (report_path != nullptr) {
    if (!write_cube(report, *report_path, {}).ok()) outcome.wrong.push_back("no report");
    for (std::string& line : support::check_report(support::read_cube(*report_path))) {
      outcome.wrong.push_back(std::move(line));
    }
  }
  return outcome;
}

class ExpertDamage : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { test::limit_memory(); }
};

TEST_P(ExpertDamage, EveryPrefixIsAnalysedOrRefused) {
  const std::vector<std::byte> whole = trace_named(GetParam());
  // The merged trace is made up: it holds records of all kinds, not a run that happened.
  ASSERT_EQ(analyse_bytes(whole).suspect, std::string(GetParam()) == "merged");
  const test::TempDir folder;
  const std::string path = folder.file("a.cube");
  int analysed = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> prefix(whole.begin(),
                                        whole.begin() + static_cast<std::ptrdiff_t>(size));
    // A report of every eleventh, the numbers of all.
    const Outcome outcome = analyse_bytes(prefix, size % 11 == 0 ? &path : nullptr);
    ASSERT_EQ(outcome.wrong, std::vector<std::string>{}) << "cut at " << size;
    ASSERT_TRUE(outcome.refused || outcome.suspect) << "cut at " << size;
    analysed += outcome.refused ? 0 : 1;
  }
  EXPECT_GT(analysed, 100);
}

TEST_P(ExpertDamage, AChangedByteGivesAReportOrAnError) {
  const std::vector<std::byte> whole = trace_named(GetParam());
  std::vector<std::byte> bytes = whole;
  int analysed = 0;
  // Every byte of a small trace, every third of a large one, over all kinds of records.
  for (std::size_t at = 0; at<whole.size(); at += whole.size()> 5000 ? 3 : 1) {
    const auto old = static_cast<unsigned>(whole[at]);
    // Another value each time, among them those that turn counts and lengths around.
    const unsigned values[] = {old ^ 1u, old ^ 0x80u, old ^ 0xFFu, 0u, 0xFFu};
    bytes[at] = static_cast<std::byte>(values[at % 5]);
    const Outcome outcome = analyse_bytes(bytes);
    ASSERT_EQ(outcome.wrong, std::vector<std::string>{}) << "changed at " << at;
    analysed += outcome.refused ? 0 : 1;
    bytes[at] = whole[at];
  }
  EXPECT_GT(analysed, 100);
}

// Found by fuzzing: the time between -1e308 and 1e308 is no number.
TEST_P(ExpertDamage, TimesThatNoClockShowsGiveFiniteSeverities) {
  const std::vector<std::byte> whole = trace_named(GetParam());
  auto reader = TraceReader::from(memory_source(whole.data(), whole.size()), "whole");
  ASSERT_TRUE(reader.ok());
  std::vector<std::uint64_t> times;  // where those of events stand
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (is_event(record.type) && record.length >= 12) times.push_back(record.offset + 6);
  }
  ASSERT_GT(times.size(), 20u);
  const double values[] = {HUGE_VAL, -1e308, std::nan(""), 1e308, -HUGE_VAL};
  int suspect = 0;
  for (std::size_t i = 0; i + 1 < times.size(); i += 3) {
    std::vector<std::byte> bytes = whole;
    for (std::size_t k = 0; k < 2; ++k) {  // two, so that they have a difference
      const double value = values[(i + 3 * k) % std::size(values)];
      std::memcpy(bytes.data() + times[i + k], &value, sizeof value);
    }
    const Outcome outcome = analyse_bytes(bytes);
    ASSERT_EQ(outcome.wrong, std::vector<std::string>{})
        << "times of events " << i << " and " << i + 1;
    suspect += outcome.suspect ? 1 : 0;
  }
  EXPECT_GT(suspect, 3);
}

INSTANTIATE_TEST_SUITE_P(Traces, ExpertDamage, testing::Values("merged", "fence", "gats"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace kojak::expert
