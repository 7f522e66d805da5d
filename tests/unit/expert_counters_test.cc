// Counters beside root causes: what a late process counted in the stretch in which it computes, and
// what the others count there.
//
// All three processes leave a barrier at 1 and come to the next one at 5, 5 and 8: two wait 3 s
// each for rank 2. CountsOfRanks are given at the leave of the first barrier and the enter of the
// second; in between a region begins and ends, half way.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <sstream>

#include "expert/findings/cause_words.h"
#include "tests/unit/expert_script.h"

namespace kojak::expert {
namespace {

using CountsOfRanks = std::vector<std::array<std::uint64_t, 3>>;  // of a counter: one for each rank

class CountedRun {
 public:
  CountedRun(const std::vector<std::string>& names, const CountsOfRanks& counted,
             bool nested = false) {
    std::ostringstream text;
    for (std::size_t i = 0; i < names.size(); ++i) {
      text << "METRIC metid=" << i << " metnid=\"" << names[i] << "\"\n";
    }
    constexpr int kEnters[] = {5, 5, 8};
    ScriptLines lines;
    for (int p = 0; p < 3; ++p) {
      // 7 are counted before each barrier is left, and 100 behind the second one's begin.
      const auto add = [&](double time, const std::string& event, double part, int extra) {
        std::ostringstream line;
        line << event.substr(0, event.find(' ')) << " lid=" << p << " time=" << time;
        if (event.find(' ') != std::string::npos) line << event.substr(event.find(' '));
        line << " metv=[";
        for (std::size_t i = 0; i < names.size(); ++i) {
          const auto all = static_cast<double>(counted[i][static_cast<std::size_t>(p)]);
          line << (i != 0 ? "," : "")
               << static_cast<std::uint64_t>(all * part) + static_cast<std::uint64_t>(extra);
        }
        line << "]\n";
        lines.emplace_back(time, line.str());
      };
      const int enter = kEnters[p];
      add(0, "ENTER region=main", 0, 0);
      add(1, "ENTER region=MPI_Barrier", 0, 0);
      add(1, "MPI_COLLEXIT", 0, 7);
      if (nested) {
        add(2, "ENTER region=phase", 0, 7);
        add(enter - 0.5, "EXIT", 0.5, 7);
      }
      add(enter, "ENTER region=MPI_Barrier", 1, 7);
      add(8, "MPI_COLLEXIT", 1, 107);
      add(9, "EXIT", 1, 107);
    }
    text << in_order_of_time(std::move(lines));
    AnalysisOptions options;
    options.root_causes = true;
    report_.emplace(analyse_script(text.str(), trace_, options));
  }
  const RootCause& cause() const { return report_->root_causes()->causes.front(); }
  std::string effect() const { return effect_words(*report_, StorePlaces(*report_), cause()); }
  // Behind what every cause says.
  std::string counters() const {
    const std::string words = effect();
    const std::size_t at = words.find("s less");
    return at == std::string::npos ? words : words.substr(at + 6);
  }

 private:
  std::optional<earl::Trace> trace_;
  std::optional<Report> report_;
};

TEST(CountersOfCauses, AreThoseOfTheStretchAlone) {
  const CountedRun run({"PAPI_TOT_INS", "MISSES"}, {{1000, 3000, 8400}, {5, 7, 6}});
  const std::vector<CountedThere>& counted = run.cause().counted;
  ASSERT_EQ(counted.size(), 2u);
  EXPECT_EQ(counted[0].own, 8400);
  EXPECT_EQ(counted[0].others, 2000);  // (1000 + 3000) / 2
  EXPECT_EQ(counted[1].own, 6);
  EXPECT_EQ(counted[1].others, 6);
  // 8400 / 2000; 6 misses are no more than those of the others.
  EXPECT_EQ(run.counters(),
            "; it executes 4.2 times the instructions that the others execute there");
}

TEST(CountersOfCauses, TellMoreWorkFromSlowerWork) {
  // As many instructions, to 5 %; 2 and 1 instructions per cycle.
  const CountedRun slower({"PAPI_TOT_CYC", "PAPI_TOT_INS"},
                          {{1000, 1000, 2100}, {2000, 2000, 2100}});
  EXPECT_EQ(
      slower.counters(),
      "; it executes as many instructions as the others there, 1.00 instructions per cycle, the "
      "others 2.00");
  const CountedRun less({"PAPI_TOT_INS"}, {{2000, 2000, 1000}});
  EXPECT_EQ(less.counters(),
            "; it executes 0.50 times the instructions that the others execute there");
}

TEST(CountersOfCauses, OfOtherKindsAreNamedWhereTheyAreMore) {
  const CountedRun run({"A", "B", "C", "D"}, {{10, 10, 30}, {0, 0, 5}, {10, 10, 50}, {10, 10, 10}});
  // The others count no B at all; of C there is more than of A; no third one is named.
  EXPECT_EQ(run.counters(), "; B 5 (the others 0), C 50 (the others 10)");
}

TEST(CountersOfCauses, SayNothingWhereNothingIsKnown) {
  EXPECT_EQ(CountedRun({}, {}).counters(), "");
  EXPECT_EQ(CountedRun({"PAPI_TOT_INS"}, {{0, 0, 0}}).counters(), "");
}

// Half of what is counted falls into a region of its own, which is a stretch of its own, and is the
// cause: it takes 5.5 s of the 7 there, and 2.5 of 4 at the others.
TEST(CountersOfCauses, AreKeptApartByRegions) {
  const CountedRun run({"PAPI_TOT_INS"}, {{1000, 1000, 4000}}, true);
  const std::vector<CountedThere>& counted = run.cause().counted;
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].own, 2000);
  EXPECT_EQ(counted[0].others, 500);
}

}  // namespace
}  // namespace kojak::expert
