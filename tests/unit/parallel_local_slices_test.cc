// Random programs, their local traces merged and analysed whole, and cut at all meetings at rest
// and each slice merged and analysed by itself: the reports are equal, to the last byte.
//
// Also one hand-made run whose sums are known, and pieces of local traces read from a block on.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "expert/analysis.h"
#include "expert/cube/writer.h"
#include "expert/output/terminal.h"
#include "expert/parallel/local_slices.h"
#include "expert/patterns/catalogue.h"
#include "tests/support/clock_program.h"
#include "tests/support/merge_program.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

expert::AnalysisOptions wanted() {
  return {};  // no root causes
}

// All that a report holds, as it is written and printed.
std::string words_of(const expert::Report& report, const std::string& file) {
  if (!expert::write_cube(report, file, {.doc_url = "pages"})) throw std::runtime_error(file);
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  expert::print_summary(out, report, {});
  expert::print_instances(out, report, {});
  return out.str();
}

std::string analysed_whole(merge::MergeOptions options, const std::string& file) {
  options.output.clear();
  merge::MergedStream stream(options);
  auto trace = earl::Trace::from(stream.source(), "run");
  if (!trace) throw std::runtime_error(trace.error().message());
  const expert::Report report = expert::analyse(*trace, wanted());
  if (!stream.finish()) throw std::runtime_error("not merged");
  return words_of(report, file);
}

struct InParts {
  std::string words, why;  // why it was not cut
  std::size_t parts = 1;
};
InParts analysed_in_parts(merge::MergeOptions options, const std::string& at,
                          const std::string& file) {
  options.output.clear();
  options.format = merge::Format::kCompact;
  auto slices = parallel::LocalSlices::of(options);
  if (!slices) throw std::runtime_error(slices.error().message());
  parallel::LocalSlices& s = **slices;
  if (!s.alone().empty()) return {"", s.alone()};
  if (const std::string why = s.cut_at(at); !why.empty()) return {"", why};
  std::optional<expert::PartSums> all;
  for (std::size_t k = 0; k < s.size(); ++k) {
    expert::Gate gate;
    auto records = s.records(k, gate);
    if (!records) throw std::runtime_error(records.error().message());
    auto trace = earl::Trace::from(std::move(*records), "run");
    if (!trace) throw std::runtime_error(trace.error().message());
    const bool last = k + 1 == s.size();
    const expert::AnalysisOptions asked = wanted();
    expert::PartAnalysis part({&*trace, s.standing(k), &gate}, asked, last);
    const auto merged = s.finish();
    if (!merged) throw std::runtime_error(merged.error().message());
    if (!part.why().empty()) return {"", part.why()};
    if (!merged->empty()) return {"", *merged};
    expert::PartSums sums = part.take_sums();
    if (all) {
      all->add(sums);
    } else {
      all.emplace(std::move(sums));
    }
    if (all->late) return {"", "late"};
    if (last) return {words_of(part.report(std::move(*all)), file), "", s.size()};
  }
  return {};
}

class LocalSlicesOf : public ::testing::Test {
 protected:
  void compare(const LocalRun& run, const merge::MergeOptions& options, std::uint64_t seed) {
    const std::string file = run.dir.file("report.cube");
    const InParts parts = analysed_in_parts(options, "all", file);
    if (!parts.why.empty()) {
      ++why_[parts.why];
      return;
    }
    ++cut_;
    cuts_ += parts.parts - 1;
    EXPECT_EQ(parts.words == analysed_whole(options, file), true) << "seed " << seed;
  }
  void at_least(std::size_t cut) {
    for (const auto& [why, count] : why_) std::cout << count << " not cut: " << why << '\n';
    std::cout << cut_ << " cut, at " << cuts_ << " meetings\n";
    EXPECT_GE(cut_, cut);
  }
  std::map<std::string, std::size_t> why_;
  std::size_t cut_ = 0, cuts_ = 0;
};

TEST_F(LocalSlicesOf, OneSidedPrograms) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const support::RandomProgram program = support::random_program(seed);
    if (program.traces.empty()) continue;
    LocalRun run(program.processes);
    for (const support::ProgramTrace& trace : program.traces) {
      run.add_bytes(std::to_string(trace.rank) + "." + std::to_string(trace.thread) + ".elg",
                    trace.bytes);
    }
    compare(run, run.options(), seed);
  }
  at_least(1);
}

TEST_F(LocalSlicesOf, MessagesAndCollectives) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const support::ClockProgram program = support::clock_program(seed);
    LocalRun run(static_cast<std::uint32_t>(program.traces.size()));
    for (std::uint32_t p = 0; p < program.traces.size(); ++p) run.add(p, program.traces[p]);
    compare(run, run.options(), seed);
  }
  at_least(1);
}

}  // namespace
}  // namespace kojak::test
