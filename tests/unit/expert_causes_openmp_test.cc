// Root causes of OpenMP's waits, in hand-made runs. Times are those of the scripts; the sums are in
// the comments.
#include <utility>

#include "tests/unit/expert_causes_script.h"

namespace kojak::expert {
namespace {

constexpr double kOmpNear = 1e-9;

// Processes 0 .. n-1 with two threads each: location p is the master of process p, location n + p
// its worker.
class TeamScript : public CauseScript {
 public:
  explicit TeamScript(int processes) : CauseScript(processes), n_(processes) {
    for (int l = 0; l < 2 * n_; ++l) {
      define("LOCATION lid=" + std::to_string(l) + " mid=0 nid=0 pid=" + std::to_string(l % n_) +
             " tid=" + std::to_string(l / n_));
    }
    define("REGION rid=0 rnid=\"parallel\" rtype=11");
    define("REGION rid=1 rnid=\"ibarrier\" rtype=21");
    define("REGION rid=2 rnid=\"critical\" rtype=18");
    define("REGION rid=3 rnid=\"block\" rtype=23");
  }
  int worker(int process) const { return n_ + process; }
  // A parallel region of a process. Both leave the barrier at the end when the later one has come.
  struct Times {
    double fork, master_enters, master_done, worker_enters, worker_done;
  };
  void parallel(int process, const Times& t) {
    ++team_;
    const int w = worker(process);
    const double end = std::max(t.master_done, t.worker_done);
    add(process, t.fork, "OMP_FORK");
    if (!std::exchange(begun_[process], true)) add(w, t.worker_enters, "ENTER", "region=thread");
    enter(process, t.master_enters, 0);
    enter(w, t.worker_enters, 1);
    for (const auto& [location, done] : {std::pair(process, t.master_done), {w, t.worker_done}}) {
      add(location, done, "ENTER", "region=ibarrier");
      add(location, end, "OMP_COLLEXIT");
      add(location, end, "EXIT");
    }
    add(process, end, "OMP_JOIN");
  }
  // A critical section of lock 7: asked for, entered, left.
  void critical(int location, double asks, double enters, double leaves) {
    add(location, asks, "ENTER", "region=critical");
    add(location, enters, "OMP_ALOCK", "lkid=7");
    add(location, enters, "ENTER", "region=block");
    add(location, leaves, "EXIT");
    add(location, leaves, "OMP_RLOCK", "lkid=7");
    add(location, leaves, "EXIT");
  }
  Found finish(double last) {
    for (const auto& [process, begun] : begun_) add(worker(process), last, "EXIT");
    return analyse_until(last);
  }

 private:
  void enter(int location, double time, int index) {
    add(location, time, "ENTER", "region=parallel");
    add(location, time, "OMP_TEAM",
        "team=" + std::to_string(team_) + " index=" + std::to_string(index) + " size=2");
  }
  int n_, team_ = 0;
  std::map<int, bool> begun_;
};

// The team is made at 4. The worker, whose first event this is, enters at 5; both compute 2 s. The
// master waits [6, 7], for nothing but the late start; what the two did before 4 is no cause. The
// run ends 3 s after the region, at 10, without it at 9. The path: the master until 4, the worker's
// start and computing until 7, the master.
TEST(RootCausesOpenMp, AWorkerThatStartsLate) {
  TeamScript s(1);
  s.parallel(0, {4, 4, 6, 5, 7});
  const CauseScript::Found found = s.finish(10);
  EXPECT_NEAR(found.causes.waits, 1, kOmpNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_EQ(found.causes.causes[0].location, 1u);
  EXPECT_NEAR(found.of(1, Stretch::Kind::kStarting), 1, kOmpNear);
  EXPECT_NEAR(found.causes.causes[0].longer, 1, kOmpNear);
  EXPECT_NEAR(found.gain(1), 1, kOmpNear);
  EXPECT_EQ(found.words[0], "rank 0, thread 1 starts 1.000 s later in parallel");
  EXPECT_NEAR(found.causes.unexplained, 0, kOmpNear);
  double master = 0, worker = 0, starting = 0;
  for (const PathShare& share : found.causes.critical_path) {
    (share.location == 0 ? master : worker) += share.seconds;
    if (share.stretch.kind == Stretch::Kind::kStarting) starting += share.seconds;
  }
  EXPECT_NEAR(master, 4 + 3, kOmpNear);
  EXPECT_NEAR(worker, 1 + 2, kOmpNear);
  EXPECT_NEAR(starting, 1, kOmpNear);
}

// Both enter when the team is made; the worker computes 3 s, the master 2 s, in the same region,
// though that stands in other functions for each. The master waits 1 s, of which nothing is for the
// 4 s that the worker had no work.
TEST(RootCausesOpenMp, AThreadThatComputesLonger) {
  TeamScript s(1);
  s.parallel(0, {4, 4, 6, 4, 7});
  const CauseScript::Found found = s.finish(10);
  EXPECT_NEAR(found.causes.waits, 1, kOmpNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_NEAR(found.computing(1), 1, kOmpNear);
  EXPECT_NEAR(found.causes.causes[0].longer, 1, kOmpNear);
  EXPECT_NEAR(found.gain(1), 1, kOmpNear);
}

// The same between regions: the second team is made at 20, 10 s after the first one's end. The
// worker starts at 20.5 and computes 2 s, the master 1.5 s from 20.25 on: it waits [21.75, 22.5],
// 0.75 s. Since 20 the worker started 0.5 s and computed 2 s; the master was 0.25 s in main and
// computed 1.5 s. So the worker's start is 0.5 s longer, its computing 0.5 s: of 0.75 s half to
// each.
TEST(RootCausesOpenMp, BetweenRegionsAWorkerHasNoWork) {
  TeamScript s(1);
  s.parallel(0, {5, 5, 10, 5, 10});
  s.parallel(0, {20, 20.25, 21.75, 20.5, 22.5});
  const CauseScript::Found found = s.finish(24);
  EXPECT_NEAR(found.causes.waits, 0.75, kOmpNear);
  EXPECT_NEAR(found.of(1, Stretch::Kind::kStarting), 0.375, kOmpNear);
  EXPECT_NEAR(found.computing(1), 0.375, kOmpNear);
  EXPECT_NEAR(found.causes.unexplained, 0, kOmpNear);
}

// Boundary: both come at once, nobody waits. Negative: the late one is the master, who enters 1 s
// after its team was made; the worker waits [6, 7] for what the master did then, in main.
TEST(RootCausesOpenMp, NobodyOrTheMasterIsLate) {
  TeamScript none(1);
  none.parallel(0, {4, 4, 6, 4, 6});
  EXPECT_TRUE(none.finish(10).causes.causes.empty());
  TeamScript s(1);
  s.parallel(0, {4, 5, 7, 4, 6});
  const CauseScript::Found found = s.finish(10);
  EXPECT_NEAR(found.causes.waits, 1, kOmpNear);
  EXPECT_NEAR(found.computing(0), 1, kOmpNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_NEAR(found.causes.causes[0].longer, 1, kOmpNear);
}

// Where a region came before, the master is late between two barriers in parallel regions, which it
// left in between: what it did then stays main's, and of those 3 s, [2, 5], the regions get none.
TEST(RootCausesOpenMp, TheMasterIsLateBetweenTwoRegions) {
  TeamScript s(1);
  s.parallel(0, {1, 1, 2, 1, 2});
  s.parallel(0, {4, 5, 7, 4, 6});
  const CauseScript::Found found = s.finish(10);
  EXPECT_NEAR(found.computing(0), 1, kOmpNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  const auto node = found.nodes.find("between ibarrier and ibarrier");
  ASSERT_NE(node, found.nodes.end());
  EXPECT_EQ(node->second.parent, "main");
  EXPECT_NEAR(node->second.time[0], 3, kOmpNear);
}

// Both processes make their teams at 4 and both threads compute 2 s, but the worker of process 1
// starts at 7: its master waits [6, 9]. The masters then meet in a fence, entered at 6 and 9:
// process 0 waits 3 s for the master of process 1, which did nothing longer but wait. All 6 s are
// for the late start, 3 s directly and 3 s behind that.
TEST(RootCausesOpenMp, ALateWorkerMakesItsMasterLateInMpi) {
  TeamScript s(2);
  s.fence({1, 1}, 1);
  s.parallel(0, {4, 4, 6, 4, 6});
  s.parallel(1, {4, 4, 6, 7, 9});
  s.fence({6, 9}, 9);
  const CauseScript::Found found = s.finish(12);
  EXPECT_NEAR(found.causes.waits, 3 + 3, kOmpNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_EQ(found.causes.causes[0].location, 3u);
  EXPECT_NEAR(found.of(3, Stretch::Kind::kStarting), 6, kOmpNear);
  EXPECT_NEAR(found.long_term(3), 3, kOmpNear);
  EXPECT_NEAR(found.gain(3), 3, kOmpNear);
  EXPECT_NEAR(found.causes.unexplained, 0, kOmpNear);
}

// The same with a worker that computes 5 s in place of 2 s.
TEST(RootCausesOpenMp, ASlowWorkerMakesItsMasterLateInMpi) {
  TeamScript s(2);
  s.fence({1, 1}, 1);
  s.parallel(0, {4, 4, 6, 4, 6});
  s.parallel(1, {4, 4, 6, 4, 9});
  s.fence({6, 9}, 9);
  const CauseScript::Found found = s.finish(12);
  EXPECT_NEAR(found.causes.waits, 3 + 3, kOmpNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_NEAR(found.computing(3), 6, kOmpNear);
  EXPECT_NEAR(found.causes.causes[0].longer, 3, kOmpNear);
  EXPECT_NEAR(found.gain(3), 3, kOmpNear);
}

// Both threads have one critical section, the worker first: [4.5, 6.5], for which the master waits
// [5, 6.5] until it is in it, to 8.5. It computed [4, 5], the worker [4, 4.5]; after its section
// the worker computes until 8.5, too: nobody waits in the barrier.
// The 1.5 s are for what the worker did in its section.
TEST(RootCausesOpenMp, WhoHoldsACriticalSection) {
  TeamScript s(1);
  s.critical(1, 4.5, 4.5, 6.5);
  s.critical(0, 5, 6.5, 8.5);
  s.parallel(0, {4, 4, 8.5, 4, 8.5});
  const CauseScript::Found found = s.finish(10);
  EXPECT_NEAR(found.causes.waits, 1.5, kOmpNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_EQ(found.causes.causes[0].location, 1u);
  EXPECT_NEAR(found.causes.causes[0].seconds, 1.5, kOmpNear);
}

}  // namespace
}  // namespace kojak::expert
