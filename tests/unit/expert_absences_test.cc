// For whom calls waited whose claims stand or fall at the end of the trace: targets that were
// outside MPI, and holders of locks whose grant needs the target. Times and sums are in the
// comments.
#include <gtest/gtest.h>

#include "earl/trace.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/findings/wait_words.h"
#include "expert/patterns/catalogue.h"
#include "expert/patterns/rma/passive/wait_claims.h"
#include "expert/sums/instances.h"

namespace kojak::expert {
namespace {

struct AbsencesFound {
  std::vector<std::byte> bytes;
  std::optional<earl::Trace> trace;
  std::optional<Report> report;

  explicit AbsencesFound(const std::string& text) {
    auto made = text_to_trace(text, "text");
    if (!made) throw std::runtime_error(made.error().message());
    bytes = std::move(*made);
    trace.emplace(std::move(*earl::Trace::from(memory_source(bytes.data(), bytes.size()), "text")));
    report.emplace(analyse(*trace));
  }
  std::vector<const Instance*> of(MetricIndex metric) const {
    std::vector<const Instance*> found;
    for (const Instance& i : report->waits().worst) {
      if (i.metric == metric) found.push_back(&i);
    }
    return found;
  }
  std::string until(const Partner& p) const {
    return ending(*report, p.location, p.call_path, p.at_exit);
  }
};

// Puts to 1 and 2 are outstanding in the flush_all [3, 9] of 0. 2 is in MPI [4, 6], and comes back
// at 8; 1 comes back at
// 5. Who came back last is named for what it was outside: 2 [3, 4] and [6, 8], 1 [4, 5]: 3 and 1
// of 4.
constexpr const char* kTwoTargets =
    "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\nENTER lid=2 time=0 "
    "region=main\n"
    "ENTER lid=0 time=1 region=MPI_Win_lock_all\nMPI_WIN_LOCK_ALL lid=0 time=1.25 wid=0\n"
    "EXIT lid=0 time=1.25\nENTER lid=0 time=2 region=MPI_Put\n"
    "MPI_PUT_1TS lid=0 time=2 dlid=1 wid=0 rmaid=0 sent=8\nEXIT lid=0 time=2.25\n"
    "ENTER lid=0 time=2.5 region=MPI_Put\nMPI_PUT_1TS lid=0 time=2.5 dlid=2 wid=0 rmaid=1 sent=8\n"
    "EXIT lid=0 time=2.75\nENTER lid=0 time=3 region=MPI_Win_flush_all\n"
    "ENTER lid=2 time=4 region=MPI_Iprobe\nENTER lid=1 time=5 region=MPI_Test\n"
    "EXIT lid=1 time=5.25\nEXIT lid=2 time=6\nENTER lid=2 time=8 region=MPI_Testall\n"
    "MPI_PUT_1TE lid=1 time=9 slid=0 wid=0 rmaid=0 recvd=8\n"
    "MPI_PUT_1TE lid=2 time=9 slid=0 wid=0 rmaid=1 recvd=8\n"
    "MPI_WIN_FLUSH lid=0 time=9 tlid=absent wid=0 local=0\nEXIT lid=0 time=9\n"
    "EXIT lid=2 time=9.5\n"
    "ENTER lid=0 time=10 region=MPI_Win_unlock_all\nMPI_WIN_UNLOCK_ALL lid=0 time=10.25 wid=0\n"
    "EXIT lid=0 time=10.25\nEXIT lid=0 time=11\nEXIT lid=1 time=11\nEXIT lid=2 time=11\n";

TEST(Absences, NameTheTargetAndTheCallWithWhichItCameBack) {
  const AbsencesFound found(kTwoTargets);
  const auto waits = found.of(metric_index<SyncWaitForProgress>());
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0]->waiting.seconds(), 3);
  EXPECT_EQ(waits[0]->begin.value, 3);
  EXPECT_EQ(waits[0]->end.value, 8);
  EXPECT_EQ(object_name(waits[0]->operation), "window 0 of rank 2");
  ASSERT_EQ(waits[0]->waiters.size(), 1u);  // both parts are one wait
  EXPECT_EQ(waits[0]->waiters[0].ended_by.time.value, 8);
  EXPECT_EQ(found.until(partners_of(*waits[0])[0]), "rank 2 enters MPI_Testall");
  EXPECT_EQ(waits[1]->waiting.seconds(), 1);
  EXPECT_EQ(object_name(waits[1]->operation), "window 0 of rank 1");
  EXPECT_EQ(found.until(partners_of(*waits[1])[0]), "rank 1 enters MPI_Test");
  const auto& partners = partners_of(*found.report, metric_index<SyncWaitForProgress>(),
                                     waits[0]->waiters[0].call_path);
  ASSERT_EQ(partners.size(), 2u);  // over the whole run: the 4 s of the metric
  EXPECT_EQ(partners[0].waited.seconds(), 3);
  EXPECT_EQ(partners[1].waited.seconds(), 1);
  EXPECT_EQ(found.report->total(found.report->find_metric("mpi_rma_sync_wait_for_progress")), 4);
}

// A put to 1 is outstanding in the flush [3, 9] of 0; 1 records nothing in [4, 5], and comes back
// at `back`.
std::string with_pause(double back) {
  return "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
         "ENTER lid=0 time=1 region=MPI_Win_lock\n"
         "MPI_WIN_LOCK lid=0 time=1.25 llid=1 wid=0 ltype=0\nEXIT lid=0 time=1.25\n"
         "ENTER lid=0 time=2 region=MPI_Put\n"
         "MPI_PUT_1TS lid=0 time=2 dlid=1 wid=0 rmaid=0 sent=8\nEXIT lid=0 time=2.25\n"
         "ENTER lid=0 time=3 region=MPI_Win_flush\n"
         "LOG_OFF lid=1 time=4\nLOG_ON lid=1 time=5\n" +
         (back < 9 ? "ENTER lid=1 time=" + std::to_string(back) + " region=MPI_Iprobe\n" : "") +
         "MPI_PUT_1TE lid=1 time=9 slid=0 wid=0 rmaid=0 recvd=8\n"
         "MPI_WIN_FLUSH lid=0 time=9 tlid=1 wid=0 local=0\nEXIT lid=0 time=9\n" +
         (back < 9 ? "" : "ENTER lid=1 time=" + std::to_string(back) + " region=MPI_Iprobe\n") +
         "EXIT lid=1 time=10\nENTER lid=0 time=10 region=MPI_Win_unlock\n"
         "MPI_WIN_UNLOCK lid=0 time=10.25 llid=1 wid=0\nEXIT lid=0 time=10.25\n"
         "EXIT lid=0 time=11\nEXIT lid=1 time=11\n";
}

// It was outside in [3, 4] and [5, 8], and then came back. If it comes back at 9.5 only, the flush
// did not wait for that.
TEST(Absences, CountBeforeAPauseIfTheTargetCameBackAfterIt) {
  const AbsencesFound found(with_pause(8));
  const auto waits = found.of(metric_index<SyncWaitForProgress>());
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0]->waiting.seconds(), 4);
  EXPECT_EQ(found.until(partners_of(*waits[0])[0]), "rank 1 enters MPI_Iprobe");
  EXPECT_TRUE(AbsencesFound(with_pause(9.5)).of(metric_index<SyncWaitForProgress>()).empty());
}

// 0 and 1 have puts to 2 outstanding, 0 in its flush [3, 7], 1 in its unlock [4, 8]; 2 comes back
// at 6: one absence, for which 0 waits 3 and 1 waits 2, though the claims of flushes and unlocks
// stand on evidence of their own.
TEST(Absences, OneOfThemIsOneInstanceHoweverItWasWaitedFor) {
  const AbsencesFound found(
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\nENTER lid=2 time=0 "
      "region=main\n"
      "ENTER lid=0 time=1 region=MPI_Win_lock\nMPI_WIN_LOCK lid=0 time=1.25 llid=2 wid=0 ltype=0\n"
      "EXIT lid=0 time=1.25\n"
      "ENTER lid=1 time=1 region=MPI_Win_lock\nMPI_WIN_LOCK lid=1 time=1.25 llid=2 wid=0 ltype=0\n"
      "EXIT lid=1 time=1.25\n"
      "ENTER lid=0 time=2 region=MPI_Put\nMPI_PUT_1TS lid=0 time=2 dlid=2 wid=0 rmaid=0 sent=8\n"
      "EXIT lid=0 time=2.25\n"
      "ENTER lid=1 time=2 region=MPI_Put\nMPI_PUT_1TS lid=1 time=2 dlid=2 wid=0 rmaid=1 sent=8\n"
      "EXIT lid=1 time=2.25\n"
      "ENTER lid=0 time=3 region=MPI_Win_flush\nENTER lid=1 time=4 region=MPI_Win_unlock\n"
      "ENTER lid=2 time=6 region=MPI_Iprobe\nEXIT lid=2 time=8.5\n"
      "MPI_PUT_1TE lid=2 time=7 slid=0 wid=0 rmaid=0 recvd=8\n"
      "MPI_WIN_FLUSH lid=0 time=7 tlid=2 wid=0 local=0\nEXIT lid=0 time=7\n"
      "MPI_PUT_1TE lid=2 time=8 slid=1 wid=0 rmaid=1 recvd=8\n"
      "MPI_WIN_UNLOCK lid=1 time=8 llid=2 wid=0\nEXIT lid=1 time=8\n"
      "ENTER lid=0 time=8.25 region=MPI_Win_unlock\nMPI_WIN_UNLOCK lid=0 time=8.375 llid=2 wid=0\n"
      "EXIT lid=0 time=8.375\nEXIT lid=0 time=9\nEXIT lid=1 time=9\nEXIT lid=2 time=9\n");
  const auto waits = found.of(metric_index<SyncWaitForProgress>());
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0]->waiting.seconds(), 5);  // 3 + 2
  ASSERT_EQ(waits[0]->waiters.size(), 2u);
  EXPECT_EQ(waits[0]->waiters[0].location, 0u);
  EXPECT_EQ(waits[0]->waiters[1].location, 1u);
  const std::vector<Partner> partners = partners_of(*waits[0]);
  ASSERT_EQ(partners.size(), 1u);
  EXPECT_EQ(partners[0].waited.seconds(), 5);
  EXPECT_EQ(found.until(partners[0]), "rank 2 enters MPI_Iprobe");
}

// As above, but another flush ends while its target is outside: progress is asynchronous, and
// nobody waited.
TEST(Absences, OfVoidClaimsNobodyIsNamed) {
  const AbsencesFound found(
      std::string(kTwoTargets) +
      "ENTER lid=0 time=20 region=main\nENTER lid=1 time=20 region=main\n"
      "ENTER lid=0 time=21 region=MPI_Win_lock\nMPI_WIN_LOCK lid=0 time=21.25 llid=1 wid=0 "
      "ltype=0\n"
      "EXIT lid=0 time=21.25\nENTER lid=0 time=22 region=MPI_Put\n"
      "MPI_PUT_1TS lid=0 time=22 dlid=1 wid=0 rmaid=2 sent=8\nEXIT lid=0 time=22.25\n"
      "ENTER lid=0 time=23 region=MPI_Win_flush\n"
      "MPI_PUT_1TE lid=1 time=24 slid=0 wid=0 rmaid=2 recvd=8\n"
      "MPI_WIN_FLUSH lid=0 time=24 tlid=1 wid=0 local=0\nEXIT lid=0 time=24\n"
      "ENTER lid=0 time=25 region=MPI_Win_unlock\nMPI_WIN_UNLOCK lid=0 time=25.25 llid=1 wid=0\n"
      "EXIT lid=0 time=25.25\nENTER lid=1 time=26 region=MPI_Iprobe\nEXIT lid=1 time=26.5\n"
      "EXIT lid=0 time=27\nEXIT lid=1 time=27\n");
  EXPECT_TRUE(found.of(metric_index<SyncWaitForProgress>()).empty());
  EXPECT_TRUE(found.report->waits().partners.empty());
}

// Origin 0 holds the lock of 3 with a put outstanding, in its unlock [26, 31]; the target was
// outside when 0 asked, so whether 0 could hold it depends on the guard. 1 waits for 0's turn in
// its own unlock [27, 32]: 4 s, up to 31.
TEST(Absences, LocksWhoseGrantNeedsTheTargetNameTheirHolder) {
  const AbsencesFound found(
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\nENTER lid=2 time=0 "
      "region=main\n"
      "ENTER lid=2 time=5 region=MPI_Iprobe\nEXIT lid=2 time=20\n"
      "ENTER lid=0 time=20.5 region=MPI_Win_lock\n"
      "MPI_WIN_LOCK lid=0 time=20.75 llid=2 wid=0 ltype=1\nEXIT lid=0 time=20.75\n"
      "ENTER lid=1 time=21 region=MPI_Win_lock\n"
      "MPI_WIN_LOCK lid=1 time=21.25 llid=2 wid=0 ltype=1\nEXIT lid=1 time=21.25\n"
      "ENTER lid=2 time=22 region=MPI_Iprobe\nEXIT lid=2 time=22.25\n"
      "ENTER lid=0 time=25 region=MPI_Put\nMPI_PUT_1TS lid=0 time=25 dlid=2 wid=0 rmaid=5 sent=8\n"
      "EXIT lid=0 time=25.25\nENTER lid=0 time=26 region=MPI_Win_unlock\n"
      "ENTER lid=1 time=27 region=MPI_Win_unlock\nENTER lid=2 time=30 region=MPI_Iprobe\n"
      "MPI_PUT_1TE lid=2 time=31 slid=0 wid=0 rmaid=5 recvd=8\n"
      "MPI_WIN_UNLOCK lid=0 time=31 llid=2 wid=0\nEXIT lid=0 time=31\n"
      "MPI_WIN_UNLOCK lid=1 time=32 llid=2 wid=0\nEXIT lid=1 time=32\n"
      "EXIT lid=0 time=33\nEXIT lid=1 time=33\nEXIT lid=2 time=40\nEXIT lid=2 time=41\n");
  // 0 itself waits for the target: outside [22.25, 30], from 26 on.
  const auto progress = found.of(metric_index<SyncWaitForProgress>());
  ASSERT_EQ(progress.size(), 1u);
  EXPECT_EQ(progress[0]->waiting.seconds(), 4);
  const auto locks = found.of(metric_index<SyncLockContention>());
  ASSERT_EQ(locks.size(), 1u);
  EXPECT_EQ(locks[0]->waiting.seconds(), 4);
  EXPECT_EQ(object_name(locks[0]->operation), "window 0 of rank 2");
  EXPECT_EQ(found.until(partners_of(*locks[0])[0]), "rank 0 leaves MPI_Win_unlock");
}

// What is told of waits: their sums, and the worst instances of those that are told one by one.
struct Told : WaitStream {
  void wait(const Wait& wait) override {
    instances.on_wait(wait);
    if (wait.known == Wait::Known::kAtOnce) at_once += wait.waiting.value;
    if (wait.known != Wait::Known::kInSum) all += wait.waiting.value;
    if (wait.ended_by.known()) by_one += wait.waiting.value;
  }
  void sum(MetricIndex, CallPathIndex, LocationIndex, TimeSum time) override {
    all += time.seconds();
  }
  LogMemory* memory() override { return &logs; }

  LogMemory logs;
  Instances instances{10, 2};
  double all = 0, at_once = 0;
  double by_one = 0;  // of these for one who is known
};

// That progress, and grants, need nobody.
struct Evidence {
  bool same_node, others;
  int before;  // so many of the calls ended before it was there
};
void add_twice(WaitClaims& claims, WaitingCall& call, const Evidence& evidence) {
  for (int calls = 0; calls <= 2; ++calls) {
    if (calls == evidence.before) {
      if (evidence.same_node) claims.asynchronous(call.window, ProgressKind::kFlush, true);
      if (evidence.others) claims.asynchronous(call.window, ProgressKind::kFlush, false);
    }
    if (calls != 2) claims.add(call);
  }
}

// Two calls [0, 10], each with a target on its node outside [1, 5] and one on another node outside
// [3, 9]. Evidence against the one side leaves the other, whenever it comes: both 8 = [1, 9] a
// call, of which the later one [3, 9] has 6 and the other [1, 3] has 2.
class AbsentSides : public ::testing::TestWithParam<Evidence> {};

TEST_P(AbsentSides, CountWhereTheEvidenceLeavesThem) {
  const Evidence evidence = GetParam();
  std::vector<std::pair<std::uint32_t, double>> named;  // process, seconds
  Told told;
  WaitClaims claims(true, told);
  WaitingCall w;
  w.call.function = find_mpi_function("MPI_Win_flush_all");
  w.call.exit = {10};
  w.kind = ProgressKind::kFlush;
  w.outside.same = {{{1}, {5}}};
  w.outside.other = {{{3}, {9}}};
  const WaitingCall::Absent here{{{1}, {5}}, w.window, w.kind, true, ProcessId{7}, {7, 0, {5}}, 1};
  const WaitingCall::Absent there{{{3}, {9}},   w.window,    w.kind, false,
                                  ProcessId{8}, {8, 0, {9}}, 2};
  w.outside.absent = {here, there};
  add_twice(claims, w, evidence);
  claims.finish();
  EXPECT_EQ(claims.voided(), evidence.same_node || evidence.others ? 1u : 0u);
  const double sum = told.all;
  for (const Instance& i : told.instances.finish().worst) {
    named.emplace_back(i.operation.process, i.waiting.seconds());
    EXPECT_EQ(i.waiters[0].ended_by.location, i.operation.process);
  }
  using Named = std::vector<std::pair<std::uint32_t, double>>;
  if (evidence.same_node && evidence.others) {
    EXPECT_EQ(sum, 0);
    EXPECT_EQ(named, Named());
  } else if (evidence.others) {
    EXPECT_EQ(sum, 2 * 4);
    EXPECT_EQ(named, (Named{{7, 2 * 4}}));
  } else if (evidence.same_node) {
    EXPECT_EQ(sum, 2 * 6);
    EXPECT_EQ(named, (Named{{8, 2 * 6}}));
  } else {
    EXPECT_EQ(sum, 2 * 8);
    EXPECT_EQ(named, (Named{{8, 2 * 6}, {7, 2 * 2}}));
  }
}
INSTANTIATE_TEST_SUITE_P(All, AbsentSides,
                         ::testing::Values(Evidence{false, false, 2}, Evidence{false, true, 0},
                                           Evidence{false, true, 1}, Evidence{false, true, 2},
                                           Evidence{true, false, 0}, Evidence{true, false, 1},
                                           Evidence{true, false, 2}, Evidence{true, true, 0},
                                           Evidence{true, true, 1}, Evidence{true, true, 2}));

// Two calls [0, 10] wait for a lock that rank 3 held [2, 8], and the target was outside [4, 6]. If
// grants need the target, 2 + 2 s of each call were for rank 3, else 6: the evidence tells that
// they need none, whenever it comes. All of it depends on what the end tells, whenever it is known.
class HeldLocks : public ::testing::TestWithParam<Evidence> {};

TEST_P(HeldLocks, CountAsTheEvidenceTells) {
  const Evidence evidence = GetParam();
  Told told;
  WaitClaims claims(true, told);
  WaitingCall w;
  w.call.function = find_mpi_function("MPI_Win_unlock");
  w.call.exit = {10};
  w.kind = ProgressKind::kUnlock;
  w.contended = true;
  WaitingCall::Held held;
  held.when = {{2}, {8}};
  held.service.left = {4};
  held.service.from = {6};
  held.same_node = true;
  held.location = 3;
  held.release = {8};
  held.turn = 1;
  w.held = {held};
  add_twice(claims, w, evidence);
  claims.finish();
  const double expected = evidence.same_node ? 2 * 6 : 2 * (2 + 2);
  EXPECT_EQ(told.all, expected);
  EXPECT_EQ(told.by_one, expected);
  EXPECT_EQ(told.at_once, 0);
  for (const Instance& i : told.instances.finish().worst) {
    for (const Waiter& waiter : i.waiters) EXPECT_EQ(waiter.ended_by.location, 3u);
  }
}
INSTANTIATE_TEST_SUITE_P(All, HeldLocks,
                         ::testing::Values(Evidence{false, false, 2}, Evidence{false, true, 0},
                                           Evidence{true, false, 0}, Evidence{true, false, 1},
                                           Evidence{true, false, 2}, Evidence{true, true, 1}));

// Waits of one operation that are told in two stages of an analysis are two instances: which of
// them were still open is chance. Two waits of 3 and 4 s, of one operation, then one of 5 s.
TEST(Absences, StagesHaveInstancesOfTheirOwn) {
  Instances instances(10, 2);
  Wait wait;
  wait.metric = metric_index<RmaLockContention>();
  wait.operation = {.object = Operation::Object::kWindow, .scattered = true, .number = 7};
  for (const double seconds : {3.0, 4.0, 5.0}) {
    if (seconds == 5) instances.on_stage();
    wait.enter = wait.begin = {10 * seconds};
    wait.exit = wait.end = wait.enter + Seconds{seconds};
    wait.waiting = {seconds};
    instances.on_wait(wait);
  }
  const WaitResults found = instances.finish();
  ASSERT_EQ(found.worst.size(), 2u);
  EXPECT_EQ(found.worst[0].waiting.seconds(), 3 + 4);
  EXPECT_EQ(found.worst[1].waiting.seconds(), 5);
}

// One analysis keeps 65536 calls at most, and leaves others out: parts do not, so that they must
// not come near. What is held at the end of parts goes on in the run; else two neighbours have
// calls.
TEST(Absences, PartsKnowWhenTheWholeRunLeavesOut) {
  constexpr std::uint64_t kMost = 65'536;
  const auto crowded = [](const PassiveEvidence& one, const PassiveEvidence& other) {
    PassiveEvidence of_run = one;
    of_run.add(other);
    return of_run.crowded();
  };
  PassiveEvidence none, part;
  EXPECT_FALSE(crowded(none, none));
  part.most_live = kMost / 2 - 1;
  EXPECT_FALSE(crowded(part, part));
  part.most_live = kMost / 2;
  EXPECT_TRUE(crowded(none, part));
  part = {.held = kMost / 2 - 1};
  EXPECT_FALSE(crowded(part, part));
  part.held = kMost / 2;
  EXPECT_TRUE(crowded(part, part));
  EXPECT_FALSE(crowded(part, none));
  part = {.kept = kMost / 2};
  EXPECT_FALSE(crowded(part, part));
  ++part.kept;
  EXPECT_TRUE(crowded(part, part));
  part = {.served = kMost};
  EXPECT_FALSE(crowded(part, none));
  none.standing = true;
  EXPECT_TRUE(crowded(part, none));
  EXPECT_TRUE(crowded({}, {.left_out = true}));
}

// What parts of a run show is added, and decides in all of them. A call [0, 10] of one part waits
// for a target outside [2, 6]; in the other part a flush ended without such a target.
TEST(Absences, EvidenceOfOnePartDecidesInAll) {
  for (const bool asynchronous : {true, false}) {
    Told told;
    WaitClaims here(true, told), there(true, told);
    WaitingCall w;
    w.call.function = find_mpi_function("MPI_Win_flush");
    w.call.exit = {10};
    w.kind = ProgressKind::kFlush;
    w.outside = {w.window, w.kind, {{{2}, {6}}}, {}, {}};
    here.add(w);
    if (asynchronous)
      there.asynchronous(w.window, ProgressKind::kFlush, true);
    else
      there.confirmed(w.window, ProgressKind::kFlush, true);
    PassiveEvidence of_run = here.evidence();
    of_run.add(there.evidence());
    here.finish(&of_run);
    there.finish(&of_run);
    EXPECT_EQ(told.all, asynchronous ? 0 : 4);
    for (const WaitClaims* part : {&here, &there}) {
      EXPECT_EQ(part->voided(), asynchronous ? 1u : 0u);
      EXPECT_EQ(part->sureness().confirmed, asynchronous ? 0u : 1u);
    }
    EXPECT_EQ(here.sureness().sure.seconds(), asynchronous ? 0 : 4);
    EXPECT_EQ(there.sureness().sure.seconds(), 0);
  }
}

// The same with a holder whose target was in MPI all the time, and where nobody knows who was in
// MPI: nothing can change what the calls waited.
TEST(Absences, LocksAreCountedAtOnceWhereNoEvidenceMatters) {
  for (const bool known : {true, false}) {
    Told told;
    WaitClaims claims(known, told);
    WaitingCall w;
    w.call.function = find_mpi_function("MPI_Win_unlock");
    w.call.exit = {10};
    w.kind = ProgressKind::kUnlock;
    w.contended = true;
    WaitingCall::Held held;
    held.when = {{2}, {8}};
    if (!known) {
      held.service.left = {4};
      held.service.from = {6};
    }
    held.release = {8};
    w.held = {held};
    claims.add(w);
    claims.finish();
    EXPECT_EQ(told.at_once, 6);
    EXPECT_EQ(told.all, 6);
  }
}

}  // namespace
}  // namespace kojak::expert
