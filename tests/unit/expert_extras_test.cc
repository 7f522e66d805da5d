// Parts of the tree, worst instances, messages by send mode, names of SHMEM, traces with nothing in
// them.

#include <gtest/gtest.h>

#include "earl/trace.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/findings/trace_findings.h"
#include "expert/metrics/time_class.h"
#include "expert/output/terminal.h"
#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

struct Analysed {
  std::vector<std::byte> bytes;
  std::optional<earl::Trace> trace;
  std::optional<Report> report;

  explicit Analysed(const std::string& text, AnalysisOptions options = {}) {
    auto made = text_to_trace(text, "text");
    if (!made) throw std::runtime_error(made.error().message());
    bytes = std::move(*made);
    auto opened = earl::Trace::from(memory_source(bytes.data(), bytes.size()), "text");
    trace.emplace(std::move(*opened));
    report.emplace(analyse(*trace, options));
  }
  double total(const char* metric) const { return report->total(report->find_metric(metric)); }
};

const char* const kBarrier =
    "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
    "ENTER lid=0 time=1 region=MPI_Barrier\nENTER lid=1 time=3 region=MPI_Barrier\n"
    "MPI_COLLEXIT lid=0 time=4\nMPI_COLLEXIT lid=1 time=4\n"
    "EXIT lid=0 time=10\nEXIT lid=1 time=10\n";

// ---- parts of the tree

std::vector<std::string> names(const Report& report) {
  std::vector<std::string> all;
  for (const MetricNode& node : report.metrics()) all.emplace_back(node.metric.name);
  return all;
}

TEST(Selection, ShowsAPartAndTheWayToIt) {
  const Analysed a(kBarrier, {.selection = {{"mpi_sync_collective"}, {}}});
  EXPECT_EQ(names(*a.report),
            (std::vector<std::string>{"time", "execution", "mpi", "mpi_synchronization",
                                      "mpi_sync_collective", "mpi_barrier_wait",
                                      "mpi_barrier_completion"}));
  EXPECT_DOUBLE_EQ(a.total("time"), 20);  // whatever is shown
  EXPECT_DOUBLE_EQ(a.total("mpi_barrier_wait"), 2);
}
TEST(Selection, WhatIsNotShownCountsInWhatItIsAPartOf) {
  const Analysed a(kBarrier, {.selection = {{}, {"mpi_synchronization", "visits"}}});
  EXPECT_EQ(a.report->find_metric("mpi_barrier_wait"), kNone);
  EXPECT_EQ(a.report->find_metric("visits"), kNone);
  EXPECT_DOUBLE_EQ(a.total("mpi"), 4);  // the barriers: 3 + 1
  EXPECT_DOUBLE_EQ(a.total("time"), 20);
}
TEST(Selection, NamesWhatNoMetricIsCalled) {
  const Selection selection{{"time"}, {"tim"}};
  EXPECT_EQ(selection.unknown(metrics_where([](Needs) { return true; })), "tim");
  EXPECT_EQ((Selection{{"time"}, {"visits"}}.unknown(metrics_where([](Needs) { return true; }))),
            "");
}
TEST(Tree, HasBranchesOnlyWhereTheTraceHasSuchRegions) {
  const Analysed plain(kBarrier);
  EXPECT_EQ(plain.report->find_metric("shmem"), kNone);
  EXPECT_EQ(plain.report->find_metric("omp_idle_threads"), kNone);
  const Analysed shmem("ENTER lid=0 time=0 region=shmem_quiet\nEXIT lid=0 time=1\n");
  EXPECT_NE(shmem.report->find_metric("shmem_latebroadcast"), kNone);
  EXPECT_EQ(shmem.report->find_metric("omp"), kNone);
}

// ---- nothing to find

TEST(Nothing, AnEmptyTraceIsReportedAsSuch) {
  const Analysed a("LOCATION lid=0 mid=0 nid=0 pid=0 tid=0\n");
  EXPECT_EQ(a.total("time"), 0);
  EXPECT_TRUE(a.report->call_paths().empty());
  EXPECT_FALSE(any_suspect(a.report->findings()));
  std::ostringstream out;
  print_summary(out, *a.report, {});
  EXPECT_NE(out.str().find("The trace has no events"), std::string::npos);
}
TEST(Nothing, AProgramWithoutOneSidedCallsWaitsNowhereThere) {
  const Analysed a(kBarrier);
  EXPECT_EQ(a.total("mpi_rma_synchronization"), 0);
  EXPECT_EQ(a.total("mpi_rma_sync_lock_contention"), 0);
}

// ---- SHMEM's names

TEST(ShmemNames, AreKnownByTheirWords) {
  EXPECT_EQ(shmem_class("shmem_putmem"), TimeClass::kShmemRma);
  EXPECT_EQ(shmem_class("shmem_put64_nbi"), TimeClass::kShmemRma);
  EXPECT_EQ(shmem_class("shmem_longlong_p"), TimeClass::kShmemRma);
  EXPECT_EQ(shmem_class("shmem_int_atomic_fetch_add"), TimeClass::kShmemRma);
  EXPECT_EQ(shmem_class("shmem_double_max_to_all"), TimeClass::kShmemCollective);
  EXPECT_EQ(shmem_class("shmem_fcollect32"), TimeClass::kShmemCollective);
  EXPECT_EQ(shmem_class("SHMEM_BARRIER_ALL_"), TimeClass::kShmemBarrier);
  EXPECT_EQ(shmem_class("shmem_short_wait_until"), TimeClass::kShmemWait);
  EXPECT_EQ(shmem_class("shmem_wait_until_all"), TimeClass::kShmemWait);
  EXPECT_EQ(shmem_class("shmem_test_all_vector"), TimeClass::kShmemWait);
  EXPECT_EQ(shmem_class("shmem_sync_all"), TimeClass::kShmemBarrier);
  EXPECT_EQ(shmem_class("shmem_test_lock"), TimeClass::kShmemLock);
  EXPECT_EQ(shmem_class("shmem_team_get_config"), TimeClass::kShmem);
  EXPECT_EQ(shmem_class("shmem_ctx_get_team"), TimeClass::kShmem);
  EXPECT_EQ(shmem_class("shmem_team_split_2d"), TimeClass::kShmemTeam);
  EXPECT_EQ(shmem_class("shmem_team_destroy"), TimeClass::kShmemTeam);
  EXPECT_EQ(shmem_class("shmemx_team_split_colour"), TimeClass::kShmemTeam);
  EXPECT_EQ(shmem_class("shmem_info_get_version"), TimeClass::kShmem);
  // Experiments of Open MPI; a name of Fortran, and one that no table has.
  EXPECT_EQ(shmem_class("shmemx_int16_g"), TimeClass::kShmemRma);
  EXPECT_EQ(shmem_class("shmemx_malloc_with_hint"), TimeClass::kShmemMemory);
  EXPECT_EQ(shmem_class("shmem_real8_put_"), TimeClass::kShmemRma);
  EXPECT_EQ(shmem_class("shmemx_int128_get_nbi"), TimeClass::kShmemRma);
  EXPECT_EQ(shmem_class("shmem_ctx_destroy"), TimeClass::kShmem);
  EXPECT_EQ(shmem_class("start_pes"), TimeClass::kShmemInitExit);
  EXPECT_EQ(shmem_class("shmem_n_pes"), TimeClass::kShmem);
  EXPECT_EQ(shmem_class("shmemory"), std::nullopt);
  EXPECT_EQ(shmem_class("input"), std::nullopt);
}

// ---- messages by send mode

class ByMode : public ::testing::Test {
 protected:
  void look(const std::string& text, const SendModeOptions& options = {}) {
    auto made = text_to_trace(text, "text");
    if (!made) throw std::runtime_error(made.error().message());
    bytes_ = std::move(*made);
    auto opened = earl::Trace::from(memory_source(bytes_.data(), bytes_.size()), "text");
    trace_.emplace(std::move(*opened));
    modes_.emplace(*trace_, options);
    AnalysisOptions analysis;
    analysis.send_modes = &*modes_;
    analyse(*trace_, analysis);
    findings_ = modes_->findings();
  }
  const SendModeFinding* find(SendModeKind kind) const {
    for (const SendModeFinding& f : findings_) {
      if (f.kind == kind) return &f;
    }
    return nullptr;
  }
  static std::string message(const char* send, double s0, double s1, double r0, double r1,
                             int tag) {
    std::ostringstream t;
    t << "ENTER lid=0 time=" << s0 << " region=" << send << "\nMPI_SEND lid=0 time=" << s0
      << " dlid=1 tag=" << tag << " sent=8\nEXIT lid=0 time=" << s1 << "\n";
    std::ostringstream r;
    r << "ENTER lid=1 time=" << r0 << " region=MPI_Recv\n";
    std::ostringstream e;
    e << "MPI_RECV lid=1 time=" << r1 << " slid=0 tag=" << tag << " recvd=8\nEXIT lid=1 time=" << r1
      << "\n";
    // In the order of time, where the send ends before the receive does.
    if (r0 < s0) return r.str() + t.str() + e.str();
    const std::size_t exit = t.str().rfind("EXIT");
    return r0 < s1 ? t.str().substr(0, exit) + r.str() + t.str().substr(exit) + e.str()
                   : t.str() + r.str() + e.str();
  }
  std::vector<std::byte> bytes_;
  std::optional<earl::Trace> trace_;
  std::optional<SendModes> modes_;
  std::vector<SendModeFinding> findings_;
};

const char* const kMains = "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n";
const char* const kEnds = "EXIT lid=0 time=50\nEXIT lid=1 time=50\n";

TEST_F(ByMode, NamesWhoWaitedAndHowItWasSent) {
  look(kMains + message("MPI_Send", 3, 4, 1, 5, 0)          // late: the receiver waits [1, 3]
       + message("MPI_Ssend", 10, 14, 13, 15, 0)            // early: the sender waits [10, 13]
       + message("MPI_Send", 20, 21, 22, 23, 0)             // returned before the receive: no wait
       + message("MPI_Bsend", 30, 31, 34, 35, 0) + kEnds);  // early and buffered: costs nothing
  const SendModeFinding* late = find(SendModeKind::kLateStandard);
  ASSERT_NE(late, nullptr);
  EXPECT_DOUBLE_EQ(late->total, 2);
  EXPECT_EQ(late->locations, std::vector<LocationIndex>{1});
  EXPECT_DOUBLE_EQ(late->worst.enter.value, 1);
  const SendModeFinding* early = find(SendModeKind::kEarlySynchronous);
  ASSERT_NE(early, nullptr);
  EXPECT_DOUBLE_EQ(early->total, 3);
  EXPECT_EQ(find(SendModeKind::kEarlyStandard), nullptr);
  const SendModeFinding* buffered = find(SendModeKind::kEarlyBuffered);
  ASSERT_NE(buffered, nullptr);
  EXPECT_EQ(buffered->count, 1u);
  EXPECT_EQ(buffered->total, 0);
}
TEST_F(ByMode, EpsilonLeavesShortWaitsOut) {
  const std::string text = kMains + message("MPI_Send", 3, 4, 1, 5, 0) + kEnds;  // waits 2
  look(text, {.epsilon = 2});
  EXPECT_NE(find(SendModeKind::kLateStandard), nullptr);
  look(text, {.epsilon = 2.01});
  EXPECT_EQ(find(SendModeKind::kLateStandard), nullptr);
}
TEST_F(ByMode, SeesMessagesInOppositeOrder) {
  // A [2, 3] is sent before B [6, 7]; B is received first, from 4 on, while A lies ready.
  look(std::string(kMains) +
       "ENTER lid=0 time=2 region=MPI_Send\nMPI_SEND lid=0 time=2 dlid=1 tag=1 sent=8\n"
       "EXIT lid=0 time=3\nENTER lid=1 time=4 region=MPI_Recv\n"
       "ENTER lid=0 time=6 region=MPI_Send\nMPI_SEND lid=0 time=6 dlid=1 tag=2 sent=8\n"
       "EXIT lid=0 time=7\nMPI_RECV lid=1 time=8 slid=0 tag=2 recvd=8\nEXIT lid=1 time=8\n"
       "ENTER lid=1 time=9 region=MPI_Recv\nMPI_RECV lid=1 time=10 slid=0 tag=1 recvd=8\n"
       "EXIT lid=1 time=10\n" +
       kEnds);
  const SendModeFinding* f = find(SendModeKind::kMisarranged);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->count, 1u);
  EXPECT_DOUBLE_EQ(f->total, 2);  // 6 - 4
}
TEST_F(ByMode, NonblockingSendsAreNotMisarranged) {
  // As above, but A is sent by an Isend: its data may still be on the way.
  look(std::string(kMains) +
       "ENTER lid=0 time=2 region=MPI_Isend\nATTR_UI4 kind=2 value=7\n"
       "MPI_SEND lid=0 time=2 dlid=1 tag=1 sent=8\n"
       "EXIT lid=0 time=3\nENTER lid=1 time=4 region=MPI_Recv\n"
       "ENTER lid=0 time=6 region=MPI_Send\nMPI_SEND lid=0 time=6 dlid=1 tag=2 sent=8\n"
       "EXIT lid=0 time=7\nMPI_RECV lid=1 time=8 slid=0 tag=2 recvd=8\nEXIT lid=1 time=8\n"
       "ENTER lid=1 time=9 region=MPI_Recv\nMPI_RECV lid=1 time=10 slid=0 tag=1 recvd=8\n"
       "EXIT lid=1 time=10\nENTER lid=0 time=11 region=MPI_Wait\n"
       "MPI_SEND_COMPLETE lid=0 time=12 reqid=7\nEXIT lid=0 time=12\n" +
       kEnds);
  EXPECT_EQ(find(SendModeKind::kMisarranged), nullptr);
  ASSERT_NE(find(SendModeKind::kLateStandard), nullptr);
  EXPECT_DOUBLE_EQ(find(SendModeKind::kLateStandard)->total, 2);  // 6 - 4
}
TEST_F(ByMode, TellsHowEarlyARequestShouldHaveBeenIssued) {
  // Isend [1, 1.5], Irecv at 3 (2 later), Wait [4, 9]. O = (3 - 1) + 0.5 + (0.25 + 8 x 0.125).
  look(
      std::string(kMains) +
          "ENTER lid=0 time=1 region=MPI_Isend\n"
          "ATTR_UI4 kind=2 value=7\nMPI_SEND lid=0 time=1 dlid=1 tag=1 sent=8\n"
          "EXIT lid=0 time=1.5\nENTER lid=1 time=3 region=MPI_Irecv\n"
          "MPI_RECV_REQUEST lid=1 time=3 reqid=1 slid=0 cid=0 tag=1\nEXIT lid=1 time=3.25\n"
          "ENTER lid=0 time=4 region=MPI_Wait\nENTER lid=1 time=5 region=MPI_Wait\n"
          "ATTR_UI4 kind=2 value=1\nMPI_RECV lid=1 time=8 slid=0 tag=1 recvd=8\nEXIT lid=1 time=8\n"
          "MPI_SEND_COMPLETE lid=0 time=9 reqid=7\nEXIT lid=0 time=9\n" +
          kEnds,
      {.latency = 0.25, .bandwidth = 8});
  const SendModeFinding* f = find(SendModeKind::kSenderWait);
  ASSERT_NE(f, nullptr);
  EXPECT_DOUBLE_EQ(f->total, 5);
  EXPECT_DOUBLE_EQ(f->worst.distance, 2 + 0.5 + 0.25 + 1);
  const SendModeFinding* r = find(SendModeKind::kReceiverWait);
  ASSERT_NE(r, nullptr);
  EXPECT_DOUBLE_EQ(r->total, 3);
  EXPECT_DOUBLE_EQ(r->worst.distance, 0.25 + 0.25 + 1);  // the send came before: no lead
}
TEST_F(ByMode, SeesSendsNextToReceives) {
  const std::string text =
      std::string(kMains) +
      "ENTER lid=0 time=1 region=MPI_Send\nMPI_SEND lid=0 time=1 dlid=1 tag=1 sent=8\n"
      "EXIT lid=0 time=2\nENTER lid=1 time=2 region=MPI_Recv\n"
      "MPI_RECV lid=1 time=3 slid=0 tag=1 recvd=8\nEXIT lid=1 time=3\n"
      "ENTER lid=1 time=3.25 region=MPI_Send\nMPI_SEND lid=1 time=3.25 dlid=0 tag=1 sent=8\n"
      "EXIT lid=1 time=4\nENTER lid=0 time=5 region=MPI_Recv\n"
      "MPI_RECV lid=0 time=6 slid=1 tag=1 recvd=8\nEXIT lid=0 time=6\n" +
      kEnds;
  look(text, {.sendrecv_gap = 0.5});  // at 1: 3.25 - 3; at 0: 5 - 2 is too far
  ASSERT_NE(find(SendModeKind::kCloseSendReceive), nullptr);
  EXPECT_EQ(find(SendModeKind::kCloseSendReceive)->locations, std::vector<LocationIndex>{1});
  look(text, {.sendrecv_gap = 0.25});  // not below
  EXPECT_EQ(find(SendModeKind::kCloseSendReceive), nullptr);
}
TEST(SendCost, IsFittedToALine) {
  SendCost cost;
  for (const double bytes : {0.0, 100.0, 200.0, 400.0}) cost.add(true, bytes, 3 + 0.5 * bytes);
  EXPECT_NEAR(cost.fit(true).latency, 3, 1e-9);
  EXPECT_NEAR(cost.fit(true).per_byte, 0.5, 1e-9);
  EXPECT_EQ(cost.fit(false).messages, 0u);
  cost.add(false, 64, 2);  // of one size nothing can be said about bytes
  cost.add(false, 64, 4);
  EXPECT_DOUBLE_EQ(cost.fit(false).latency, 3);
  EXPECT_EQ(cost.fit(false).per_byte, 0);
}

}  // namespace
}  // namespace kojak::expert
