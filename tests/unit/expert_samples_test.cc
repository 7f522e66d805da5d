// Samples in a report and beside the causes, of a hand-made run.
//
// main calls relax (halo.c:10) and smooth (halo.c:11); relax computes at halo.c:44 and calls exp at
// halo.c:45, a function without lines. All three processes leave a barrier at 1 and come to the
// next one at 5, 5 and 8: two wait 3 s each for rank 2.
#include <gtest/gtest.h>

#include <optional>
#include <sstream>

#include "expert/findings/cause_words.h"
#include "expert/sums/samples.h"
#include "tests/unit/expert_script.h"

namespace kojak::expert {
namespace {

constexpr const char* kDefinitions =
    "STRING strid=0 cntc=0 str=\"prog\"\n"
    "STRING strid=1 cntc=0 str=\"relax\"\n"
    "STRING strid=2 cntc=0 str=\"smooth\"\n"
    "STRING strid=3 cntc=0 str=\"COMPUTING\"\n"
    "STRING strid=4 cntc=0 str=\"halo.c\"\n"
    "STRING strid=5 cntc=0 str=\"MPI_Barrier\"\n"
    "STRING strid=6 cntc=0 str=\"exp\"\n"
    "STRING strid=7 cntc=0 str=\"main\"\n"
    "FILE fid=0 fnid=4\n"
    "REGION rid=0 rnid=0 fid=absent begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=1 rnid=1 fid=0 begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=2 rnid=2 fid=0 begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=3 rnid=3 fid=absent begln=absent endln=absent rdid=absent rtype=0\n"
    "REGION rid=5 rnid=5 fid=absent begln=absent endln=absent rdid=absent rtype=4\n"
    "REGION rid=6 rnid=6 fid=absent begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=7 rnid=7 fid=0 begln=absent endln=absent rdid=absent rtype=1\n"
    "CALL_SITE csid=0 fid=0 lno=10 erid=1 lrid=7\n"
    "CALL_SITE csid=1 fid=0 lno=44 erid=3 lrid=1\n"
    "CALL_SITE_CALLER csid=1 caller=0\n"
    "CALL_SITE csid=2 fid=0 lno=11 erid=2 lrid=7\n"
    "CALL_SITE csid=3 fid=0 lno=60 erid=3 lrid=2\n"
    "CALL_SITE_CALLER csid=3 caller=2\n"
    "CALL_SITE csid=4 fid=0 lno=45 erid=6 lrid=1\n"
    "CALL_SITE_CALLER csid=4 caller=0\n"
    "CALL_SITE csid=5 fid=absent lno=absent erid=3 lrid=6\n"
    "CALL_SITE_CALLER csid=5 caller=4\n"
    "CALL_SITE csid=6 fid=absent lno=absent erid=3 lrid=6\n";
constexpr std::uint32_t kRelax = 1, kSmooth = 3, kExp = 5, kUnknown = 6;

struct Event {
  double time;
  int location;
  std::uint32_t site, count;
};

class SampledRun {
 public:
  explicit SampledRun(const std::vector<Event>& samples) {
    ScriptLines lines;
    const auto add = [&](int location, double time, const std::string& event,
                         const std::string& rest) {
      std::ostringstream line;
      line << event << " lid=" << location << " time=" << time << ' ' << rest << '\n';
      lines.emplace_back(time, line.str());
    };
    const double enters[] = {5, 5, 8};
    for (int p = 0; p < 3; ++p) {
      add(p, 0, "ENTER", "rid=0");
      add(p, 1, "ENTER", "rid=5");
      add(p, 1, "MPI_COLLEXIT", "");
      for (const Event& s : samples) {
        if (s.location != p) continue;
        const std::string site = s.site == kAbsent ? std::string("absent") : std::to_string(s.site);
        add(p, s.time, "SAMPLE", "csid=" + site + " count=" + std::to_string(s.count));
      }
      add(p, enters[p], "ENTER", "rid=5");
      add(p, 8, "MPI_COLLEXIT", "");
      add(p, 9, "EXIT", "");
    }
    AnalysisOptions options;
    options.root_causes = true;
    report_.emplace(
        analyse_script(kDefinitions + in_order_of_time(std::move(lines)), trace_, options));
  }
  const Report& report() const { return *report_; }
  const RootCause& cause() const { return report_->root_causes()->causes.at(0); }
  std::string function(const SampledPlace& place) const {
    return report_->region_name(report_->definitions().call_sites.find(place.site)->left);
  }
  std::string words() const { return cause_words(*report_, cause()); }
  // By thread, of the call path of that name.
  std::vector<double> samples(const std::string& region) const {
    std::vector<double> sum(report_->threads()), row(report_->threads());
    for (std::size_t p = 0; p < report_->call_paths().size(); ++p) {
      if (report_->region_name(report_->call_paths()[p].region) != region) continue;
      report_->row(report_->find_metric("samples"), p, row);
      for (std::size_t i = 0; i < row.size(); ++i) sum[i] += row[i];
    }
    return sum;
  }

 private:
  std::optional<earl::Trace> trace_;
  std::optional<Report> report_;
};

// Rank 2 has 4 samples in relax, 3 of them in exp, the others 1 each; all have 2 in smooth.
TEST(Samples, NameTheFunctionThatTookLonger) {
  const SampledRun run({{2, 0, kRelax, 1},
                        {4, 0, kSmooth, 2},
                        {2, 1, kRelax, 1},
                        {4, 1, kSmooth, 2},
                        {2, 2, kRelax, 1},
                        {3, 2, kExp, 3},
                        {7, 2, kSmooth, 2}});
  const RootCause& cause = run.cause();
  EXPECT_EQ(cause.location, 2u);
  ASSERT_EQ(cause.sampled.size(), 1u);  // in smooth it computed no longer
  EXPECT_EQ(run.function(cause.sampled[0]), "relax");
  EXPECT_EQ(cause.sampled[0].samples, 4);
  EXPECT_EQ(cause.sampled[0].others, 1);
  // At the line with the most samples, where it calls exp.
  EXPECT_EQ(run.words(),
            "rank 2 computes 3.000 s longer in relax (halo.c:45), between MPI_Barrier and "
            "MPI_Barrier");
}

// The report counts them where they lie: in all 4 + 1 + 1 in relax and 3 x 2 in smooth.
TEST(Samples, AreAMetric) {
  const SampledRun run({{2, 0, kRelax, 1},
                        {4, 0, kSmooth, 2},
                        {2, 1, kRelax, 1},
                        {4, 1, kSmooth, 2},
                        {2, 2, kRelax, 1},
                        {3, 2, kExp, 3},
                        {7, 2, kSmooth, 2}});
  EXPECT_EQ(run.samples("relax"), (std::vector<double>{1, 1, 4}));
  EXPECT_EQ(run.samples("smooth"), (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(run.report().total(run.report().find_metric("samples")), 12);
}

// One outside of the stretch between the barriers is not for the cause: rank 2's sample before the
// first one is in smooth.
TEST(Samples, OfOtherStretchesDoNotCount) {
  const SampledRun run({{0.5, 2, kSmooth, 50}, {6, 2, kRelax, 1}});
  ASSERT_EQ(run.cause().sampled.size(), 1u);
  EXPECT_EQ(run.function(run.cause().sampled[0]), "relax");
  EXPECT_EQ(run.cause().sampled[0].samples, 1);
}

// Where the late one has no more samples than the others, none are named; nor of no place at all:
// these count for what the trace has open. (main, which calls smooth, encloses all that the
// process's first thread does.)
TEST(Samples, ThatTellNothingNameNothing) {
  const SampledRun run(
      {{2, 0, kSmooth, 2}, {2, 1, kSmooth, 2}, {2, 2, kSmooth, 2}, {4, 2, kAbsent, 1}});
  EXPECT_TRUE(run.cause().sampled.empty());
  EXPECT_EQ(run.words(),
            "rank 2 is outside of MPI 3.000 s longer in main, between MPI_Barrier and MPI_Barrier");
  EXPECT_EQ(run.samples("prog"), (std::vector<double>{0, 0, 1}));
}

// A function without lines, which nothing is known to have called, has its name.
TEST(Samples, OfAFunctionWithoutLines) {
  const SampledRun run({{3, 2, kUnknown, 4}});
  EXPECT_EQ(run.words(),
            "rank 2 computes 3.000 s longer in exp, between MPI_Barrier and MPI_Barrier");
}

TEST(Samples, WithoutThemThereIsNoMetric) {
  const SampledRun run({});
  EXPECT_EQ(run.report().find_metric("samples"), kNone);
  EXPECT_TRUE(run.cause().sampled.empty());
}

}  // namespace
}  // namespace kojak::expert
