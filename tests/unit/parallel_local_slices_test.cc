// Random programs, their local traces merged and analysed whole, and cut at all meetings at rest
// and each slice merged and analysed by itself: reports and pages are equal, to the last byte. So
// are those of the merged trace, whole and in slices.
//
// Also hand-made runs whose sums are known: what is open around a meeting. KOJAK_SLICED_PROGRAMS
// sets how many random programs of each kind, KOJAK_PROPERTY_SEED the first.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include "expert/findings/trace_findings.h"
#include "expert/patterns/catalogue.h"
#include "tests/support/clock_program.h"
#include "tests/support/merge_program.h"
#include "tests/support/merge_runs.h"
#include "tests/support/passive_program.h"
#include "tests/unit/parallel_in_parts.h"

namespace kojak::test {
namespace {

// The first lines that differ.
std::string difference(const std::string& one, const std::string& other) {
  std::istringstream a(one), b(other);
  std::string of_a, of_b;
  for (;;) {
    const bool more_a = static_cast<bool>(std::getline(a, of_a));
    const bool more_b = static_cast<bool>(std::getline(b, of_b));
    if (!more_a && !more_b) return "";
    if (more_a != more_b || of_a != of_b) return of_a + "\n" + of_b;
  }
}

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class LocalSlicesOf : public ::testing::Test {
 protected:
  template <class F>
  void for_each_seed(std::uint64_t programs, F&& f) {
    const std::uint64_t first = setting("KOJAK_PROPERTY_SEED", 1);
    programs = setting("KOJAK_SLICED_PROGRAMS", programs);
    for (std::uint64_t seed = first; seed < first + programs; ++seed) f(seed);
  }
  void compare(const LocalRun& run, const merge::MergeOptions& options, std::uint64_t seed) {
    const std::string file = run.dir.file("report.cube");
    const auto words = [&](const InParts& parts) {
      if (!parts.why().empty()) {
        ++why_[parts.why()];
        return std::string();
      }
      ++cut_;
      cuts_ += parts.parts() - 1;
      held_ += parts.held();
      return parts.words(file);
    };
    for (const std::string at : {"all", "/2", "/3"}) {
      const auto local = slices_of(options);
      const html::TraceLimits limits = at == "/2" ? html::TraceLimits() : kFew;
      const std::string in_parts = words(InParts(*local, at, limits));
      if (in_parts.empty()) continue;
      EXPECT_EQ(difference(in_parts, analysed_whole(options, file, limits)), "")
          << "seed " << seed << ", at " << at;
    }
    const auto merged = merged_slices_of(options);
    const std::string in_parts = words(InParts(*merged, "all"));
    auto trace = earl::Trace::open(options.output);
    if (!trace) throw std::runtime_error(trace.error().message());
    if (in_parts.empty()) return;
    EXPECT_EQ(difference(in_parts, analysed_whole(std::move(*trace), file, {})), "")
        << "seed " << seed;
  }
  void at_least(std::size_t cut) {
    for (const auto& [why, count] : why_) std::cout << count << " not cut: " << why << '\n';
    std::cout << cut_ << " cut, at " << cuts_ << " meetings\n";
    EXPECT_GE(cut_, cut);
  }
  std::map<std::string, std::size_t> why_;
  std::size_t cut_ = 0, cuts_ = 0;
  std::size_t held_ = 0;  // of these cuts with a lock of all
};

TEST_F(LocalSlicesOf, OneSidedPrograms) {
  const auto compare_program = [&](std::uint64_t seed) {
    const support::RandomProgram program = support::random_program(seed);
    if (program.traces.empty()) return;
    LocalRun run(program.processes);
    for (const support::ProgramTrace& trace : program.traces) {
      run.add_bytes(std::to_string(trace.rank) + "." + std::to_string(trace.thread) + ".elg",
                    trace.bytes);
    }
    compare(run, run.options(), seed);
  };
  for_each_seed(150, compare_program);
  // Process 1 gets from process 0, which is still in the fence that both of them meet at.
  compare_program(5685);
  at_least(1);
}

// The trace with regions of the program put in, one in the other: some calls of MPI lie in up to
// four. They begin and end when the next event comes.
std::string with_regions(const std::string& text, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  const auto field = [](const std::string& line, const std::string& name) {
    const std::size_t begin = line.find(' ' + name + '=');
    return begin == std::string::npos ? std::string()
                                      : line.substr(begin, line.find(' ', begin + 1) - begin);
  };
  std::istringstream lines(text);
  std::string all, attributes;
  std::vector<bool> open;  // whether it is a call of MPI
  std::size_t added = 0;   // of these, the innermost ones
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find(' '));
    const std::string at = field(line, "lid") + field(line, "time");
    if (name.starts_with("ATTR_")) {
      attributes += line + '\n';
      continue;
    }
    const bool leaves = name == "EXIT" || name == "MPI_COLLEXIT" || name == "MPI_WINEXIT" ||
                        name == "MPI_WINCOLLEXIT";
    if (!field(line, "time").empty() && !open.empty() && !open.back()) {
      while (added != 0 && (leaves || dice() % 4 == 0)) {
        all += "EXIT" + at + '\n';
        open.pop_back();
        --added;
      }
      while (!leaves && added < 3 && dice() % 3 == 0) {
        all += "ENTER" + at + " region=step" + std::to_string(++added) + '\n';
        open.push_back(false);
      }
    }
    if (name == "ENTER")  // (of C or Fortran)
      open.push_back(line.find("region=MPI_") != std::string::npos ||
                     line.find("region=mpi_") != std::string::npos);
    if (leaves && !open.empty()) open.pop_back();
    all += attributes + line + '\n';
    attributes.clear();
  }
  return all;
}

TEST_F(LocalSlicesOf, RegionsAroundMeetings) {
  for_each_seed(100, [&](std::uint64_t seed) {
    const support::ClockProgram program = support::clock_program(seed);
    if (program.pauses) return;  // which are not cut
    LocalRun run(static_cast<std::uint32_t>(program.traces.size()));
    for (std::uint32_t p = 0; p < program.traces.size(); ++p)
      run.add(p, with_regions(program.traces[p], seed * 8 + p));
    compare(run, run.options(), seed);
  });
  at_least(20);
}

TEST_F(LocalSlicesOf, MessagesAndCollectives) {
  for_each_seed(100, [&](std::uint64_t seed) {
    const support::ClockProgram program = support::clock_program(seed);
    LocalRun run(static_cast<std::uint32_t>(program.traces.size()));
    for (std::uint32_t p = 0; p < program.traces.size(); ++p) run.add(p, program.traces[p]);
    compare(run, run.options(), seed);
  });
  at_least(20);
}

TEST_F(LocalSlicesOf, PassiveTargetPrograms) {
  for_each_seed(80, [&](std::uint64_t seed) {
    const std::vector<std::string> traces = support::passive_program(seed);
    LocalRun run(static_cast<std::uint32_t>(traces.size()));
    for (std::uint32_t p = 0; p < traces.size(); ++p) run.add(p, traces[p]);
    compare(run, run.options(), seed);
  });
  at_least(100);
  EXPECT_GE(held_, 50u);
}

// ---- by hand --------------------------------------------------------------------------------

// The local trace of a process of two, of a list of lines without their location.
std::string process(std::uint32_t rank, const std::vector<std::string>& lines) {
  std::string text =
      "MPI_GROUP gid=0 mode=1 count=2 ranks=[]\nMPI_COMM_REF cid=0 gid=0\n"
      "COMM_IDENTITY cid=0 hi=1 lo=7 flags=0\nMPI_WIN wid=0 cid=0\n"
      "WIN_IDENTITY wid=0 hi=9 lo=4 flags=0 flavour=1 model=2\n";
  for (const std::string& line : lines) {
    const std::size_t end = line.find(' ');
    text += line.substr(0, end) + " lid=" + std::to_string(rank) + line.substr(end) + '\n';
  }
  return text;
}
std::string barrier(double exit) {
  return "MPI_COLLEXIT time=" + std::to_string(exit) + " rlid=absent cid=0 sent=0 recvd=0";
}

// A region's own time at a rank.
double own_time(const expert::Report& report, const char* region, std::uint32_t rank) {
  std::vector<double> row(report.threads());
  double sum = 0;
  for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
    if (report.region_name(report.call_paths()[c].region) != region) continue;
    if (report.row(report.find_metric("execution"), c, row))
      sum += row[report.thread_of(LocationId{rank})];
  }
  return sum;
}

// main 0 to 100 (before 2 to 5, outer 10 to 90 (early 12 to 14, work 20 to 80 (a 22 to 23, barrier
// 50 to 52, b 53 to 57, barrier 60 to 61, c 62 to 70), late 82 to 86)).
void add_nested(LocalRun& run) {
  const std::vector<std::string> lines = {"ENTER time=0 region=main",
                                          "ENTER time=2 region=before",
                                          "EXIT time=5",
                                          "ENTER time=10 region=outer",
                                          "ENTER time=12 region=early",
                                          "EXIT time=14",
                                          "ENTER time=20 region=work",
                                          "ENTER time=22 region=a",
                                          "EXIT time=23",
                                          "ENTER time=50 region=MPI_Barrier",
                                          barrier(52),
                                          "ENTER time=53 region=b",
                                          "EXIT time=57",
                                          "ENTER time=60 region=MPI_Barrier",
                                          barrier(61),
                                          "ENTER time=62 region=c",
                                          "EXIT time=70",
                                          "EXIT time=80",
                                          "ENTER time=82 region=late",
                                          "EXIT time=86",
                                          "EXIT time=90",
                                          "EXIT time=100"};
  for (std::uint32_t rank : {0u, 1u}) run.add(rank, process(rank, lines));
}

void expect_nested_times(const expert::Report& report) {
  for (const std::uint32_t rank : {0u, 1u}) {
    EXPECT_EQ(own_time(report, "main", rank), 100 - 3 - 80);
    EXPECT_EQ(own_time(report, "outer", rank), 80 - 2 - 60 - 4);
    EXPECT_EQ(own_time(report, "work", rank), 60 - 1 - 2 - 4 - 1 - 8);
    EXPECT_EQ(own_time(report, "a", rank), 1);
    EXPECT_EQ(own_time(report, "MPI_Barrier", rank), 3);
    EXPECT_EQ(own_time(report, "c", rank), 8);
  }
}

// What is open in a region where a slice ends has not ended in it.
TEST(LocalSlices, EachRegionAroundAMeetingHasItsOwnTime) {
  LocalRun run(2);
  add_nested(run);
  for (const char* at : {"0", "1", "all"}) {
    const auto local = slices_of(run.options());
    const InParts parts(*local, at);
    ASSERT_EQ(parts.why(), "");
    EXPECT_EQ(parts.parts(), at == std::string("all") ? 3u : 2u);
    expect_nested_times(parts.report());
    const auto merged = merged_slices_of(run.options());
    const InParts of_merged(*merged, at);
    ASSERT_EQ(of_merged.why(), "");
    expect_nested_times(of_merged.report());
  }
}

// A page has each region and each time between two readings of the kernel's counts once.
TEST(LocalSlices, APageHasOnceWhatGoesOnAcrossAMeeting) {
  LocalRun run(2);
  for (const std::uint32_t rank : {0u, 1u}) {
    run.add(rank, process(rank, {"ENTER time=0 region=main", "ENTER time=1 region=step",
                                 "PROCESSOR time=2 ran=1000000000 wanted=0 preempted=0",
                                 "ENTER time=3 region=MPI_Barrier", barrier(4),
                                 "PROCESSOR time=5 ran=2500000000 wanted=500000000 preempted=1",
                                 "EXIT time=6", "ENTER time=7 region=MPI_Barrier", barrier(8),
                                 "EXIT time=9"}));
  }
  constexpr html::Nanoseconds kSecond = 1'000'000'000;
  const auto local = slices_of(run.options());
  const auto merged = merged_slices_of(run.options());
  for (parallel::Slices* const slices :
       std::initializer_list<parallel::Slices*>{&*local, &*merged}) {
    const InParts parts(*slices, "all");
    ASSERT_EQ(parts.why(), "");
    EXPECT_EQ(parts.parts(), 3u);
    const html::TraceContent content = parts.content();
    EXPECT_EQ(content.end, 9);
    for (const std::size_t row : {0u, 1u}) {
      std::vector<std::pair<html::Nanoseconds, html::Nanoseconds>> times;
      for (const html::Box& box : content.boxes[row]) {
        times.emplace_back(box.begin / kSecond, box.end / kSecond);
      }
      EXPECT_EQ(times, (decltype(times){{0, 9}, {1, 6}, {3, 4}, {7, 8}}));
      ASSERT_EQ(content.stripes[row].size(), 1u);
      EXPECT_EQ(content.stripes[row][0].begin, 2 * kSecond);
      EXPECT_EQ(content.stripes[row][0].end, 5 * kSecond);
      EXPECT_EQ(content.stripes[row][0].without, kSecond / 2);
    }
  }
}

// Where a slice begins with a fence, that one is not among those before it.
TEST(LocalSlices, FencesBeforeASlice) {
  LocalRun run(2);
  std::vector<std::string> lines = {"ENTER time=0 region=main"};
  for (const char* time : {"1", "2", "3"}) {
    lines.push_back(std::string("ENTER time=") + time + " region=MPI_Win_fence");
    lines.push_back(std::string("MPI_WINCOLLEXIT time=") + time + ".5 wid=0");
  }
  lines.emplace_back("EXIT time=4");
  for (std::uint32_t rank : {0u, 1u}) run.add(rank, process(rank, lines));
  const auto local = slices_of(run.options());
  const auto merged = merged_slices_of(run.options());
  for (parallel::Slices* const slices :
       std::initializer_list<parallel::Slices*>{&*local, &*merged}) {
    ASSERT_EQ(slices->cut_at("all"), "");
    ASSERT_EQ(slices->size(), 4u);
    EXPECT_EQ(slices->standing(0), nullptr);
    for (std::size_t k = 1; k < 4; ++k) {
      const earl::Standing& standing = *slices->standing(k);
      ASSERT_EQ(standing.locations.size(), 2u);
      for (const earl::Standing::Location& location : standing.locations) {
        const std::uint64_t before = location.fenced.empty() ? 0 : location.fenced[0].fences;
        EXPECT_EQ(before, k - 1);
      }
    }
  }
}

// What adds up own times takes none for less than 0, and cannot of a slice alone.
TEST(LocalSlices, MergedTracesThatAreNotCut) {
  LocalRun run(2);
  add_nested(run);
  run.merge();
  const auto printed = trace_to_text(run.merged);
  ASSERT_TRUE(printed);
  std::string text = *printed;
  const std::size_t at = text.find("EXIT lid=1 time=80");
  ASSERT_NE(at, std::string::npos);
  const auto slices = [&] {
    auto bytes = text_to_trace(text, "merged");
    if (!bytes) throw std::runtime_error(bytes.error().message());
    write_file(run.dir.file("b.elg"), *bytes);
    auto found = slices_of_trace(run.dir.file("b.elg"));
    if (!found) throw std::runtime_error(found.error().message());
    return std::move(*found);
  };
  EXPECT_EQ(slices()->alone(), "");
  text.replace(at, 18, "EXIT lid=1 time=69");
  EXPECT_EQ(slices()->alone(), "the clock of rank 1 goes backwards");
  text.replace(at, 18, "MPI_COLLEXIT lid=1 time=80 rlid=absent cid=0 sent=0 recvd=100");
  EXPECT_EQ(slices()->alone(), "a collective operation ends outside of MPI (rank 1)");
}

// What EARL opens a region of its own for, around all that follows; an exit of nothing it leaves
// out.
TEST(LocalSlices, EventsOutsideOfRegions) {
  const auto why = [](const char* line) {
    LocalRun run(2);
    std::vector<std::string> lines = {"ENTER time=1 region=MPI_Barrier", barrier(2),
                                      "ENTER time=3 region=main", "EXIT time=4"};
    run.add(0, process(0, lines));
    lines.insert(lines.begin(), line);
    run.add(1, process(1, lines));
    return slices_of(run.options())->alone();
  };
  EXPECT_EQ(why("PROCESSOR time=0.5 ran=7 wanted=7 preempted=0 blocked_kind=0"),
            "an event lies outside of any region (rank 1)");
  EXPECT_EQ(why("MPI_COLLEXIT time=0.5 rlid=absent cid=0 sent=0 recvd=0"),
            "an event lies outside of any region (rank 1)");
  EXPECT_EQ(why("EXIT time=0.5"), "");
  EXPECT_EQ(why("ENTER time=0.5 region=main"), "");
}

// Rank 0 leaves at a time, and enters `X` then; rank 1 enters at 5.
TEST(LocalSlices, AMeetingIsLeftBehindTheLastEnter) {
  const auto cut = [](const char* time) {
    LocalRun run(2);
    const std::string at = std::string(" time=") + time;
    run.add(0, process(0, {"ENTER time=1 region=main", "ENTER time=2 region=MPI_Barrier",
                           barrier(std::stod(time)), "ENTER" + at + " region=X", "EXIT time=6",
                           "EXIT time=10"}));
    run.add(1, process(1, {"ENTER time=1 region=main", "ENTER time=5 region=MPI_Barrier",
                           barrier(5.5), "EXIT time=10"}));
    const auto slices = slices_of(run.options());
    return slices->alone().empty() ? slices->cut_at("all") : slices->alone();
  };
  EXPECT_EQ(cut("5"), "no meeting is at rest");
  EXPECT_EQ(cut("4.5"), "no meeting is at rest");
  EXPECT_EQ(cut("5.0625"), "");
}

// 8388608 s are 2^23: 97 days. main lasts `seconds`, 1 s of it before a barrier of 1 s, and 1 s of
// it in `part`.
TEST(LocalSlices, LongRuns) {
  const auto report_of = [](double seconds, std::string& why) {
    LocalRun run(2);
    const std::string end = std::to_string(seconds);
    for (const std::uint32_t rank : {0u, 1u}) {
      run.add(rank, process(rank, {"ENTER time=0 region=main", "ENTER time=1 region=MPI_Barrier",
                                   barrier(2), "ENTER time=3 region=part", "EXIT time=4",
                                   "EXIT time=" + end}));
    }
    run.merge();
    const auto slices = slices_of(run.options());
    const InParts parts(*slices, "all");
    why = parts.why();
    if (why.empty()) return std::pair(own_time(parts.report(), "main", 1), false);
    auto trace = earl::Trace::open(run.options().output);
    if (!trace) throw std::runtime_error(trace.error().message());
    const expert::Report report = expert::analyse(*trace, wanted());
    return std::pair(own_time(report, "main", 1), expert::any_suspect(report.findings()));
  };
  std::string why;
  EXPECT_EQ(report_of(100, why), std::pair(98.0, false));
  EXPECT_EQ(why, "");
  EXPECT_EQ(report_of(6'000'000, why), std::pair(5'999'998.0, false));
  EXPECT_EQ(why, "");
  EXPECT_EQ(report_of(8'388'607, why), std::pair(8'388'605.0, false));
  EXPECT_EQ(why, "");
  EXPECT_EQ(report_of(8'388'608, why), std::pair(8'388'608.0, true));
  EXPECT_EQ(why, "a sum is beyond what a cell holds");
}

// Two parts, each of 50 days, of one region.
TEST(LocalSlices, SumsBeyondTheLimit) {
  LocalRun run(2);
  for (const std::uint32_t rank : {0u, 1u}) {
    run.add(rank, process(rank, {"ENTER time=0 region=a", "EXIT time=4500000",
                                 "ENTER time=4500001 region=MPI_Barrier", barrier(4'500'002),
                                 "ENTER time=4500003 region=a", "EXIT time=9000003"}));
  }
  const auto slices = slices_of(run.options());
  EXPECT_EQ(InParts(*slices, "all").why(), "a sum is beyond what a cell holds");
}

// A local trace that can be read no more when its slice is.
TEST(LocalSlices, WhyASliceCannotBeRead) {
  LocalRun run(2);
  add_nested(run);
  merge::MergeOptions options = run.options();
  options.output.clear();
  options.format = merge::Format::kCompact;
  parallel::Parts parts;
  const auto cut = parts.cut({.merge = &options, .at = "all"});
  ASSERT_TRUE(cut && *cut);
  std::filesystem::remove(run.paths[1]);
  const auto report = parts.analyse(wanted());
  ASSERT_FALSE(report) << parts.alone();
  EXPECT_NE(report.error().message().find(run.paths[1]), std::string::npos)
      << report.error().message();
}

}  // namespace
}  // namespace kojak::test
