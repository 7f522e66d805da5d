// The metric tree, the class of every MPI function, and the pages made from the patterns.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "expert/output/docs.h"
#include "expert/output/timeline_drawing.h"
#include "expert/patterns/catalogue.h"
#include "expert/sums/time_profile.h"

namespace kojak::expert {
namespace {

// Unique names with their depth, as users' scripts know them.
constexpr std::string_view kTree = R"(
time
 execution
  mpi
   mpi_communication
    mpi_point2point
     mpi_latesender
      mpi_latesender_wo
     mpi_latereceiver
      mpi_latereceiver_wo
    mpi_collective
     mpi_reduce_wait
      mpi_earlyreduce
     mpi_earlyscan
     mpi_latebroadcast
     mpi_wait_nxn
     mpi_nxn_completion
     mpi_wait_neighbours
    mpi_rma_communication
     mpi_rma_earlytransfer
     mpi_rma_comm_lock_contention
     mpi_rma_late_notification
     mpi_rma_comm_wait_for_progress
   mpi_synchronization
    mpi_sync_collective
     mpi_barrier_wait
     mpi_barrier_completion
    mpi_rma_synchronization
     mpi_rma_window_management
      mpi_rma_wait_window_create
      mpi_rma_wait_window_free
     mpi_rma_fence
      mpi_rma_fence_wait
      mpi_rma_fence_completion
     mpi_rma_gat_synchronization
      mpi_rma_latepost
       mpi_rma_latepost_first
      mpi_rma_earlywait
       mpi_rma_latecomplete
        mpi_rma_latecomplete_pair
       mpi_rma_indirectwait
      mpi_rma_gat_wait_for_progress
     mpi_rma_lock_synchronization
      mpi_rma_sync_lock_contention
      mpi_rma_sync_wait_for_progress
   mpi_io
    mpi_io_wait
   mpi_init_exit
    mpi_finalize_wait
   mpi_management
    mpi_comm_create_wait
  shmem
   shmem_communication
    shmem_collective
     shmem_latebroadcast
     shmem_wait_nxn
    shmem_rma_communication
     shmem_rma_wait_for_progress
   shmem_synchronization
    shmem_sync_collective
     shmem_barrier_wait
    shmem_point2point_synchronization
     shmem_quiet_wait_for_progress
     shmem_lock_completion
      shmem_lock_contention
      shmem_lock_wait_for_progress
     shmem_wait_until
      shmem_late_notification
    shmem_init_exit
     shmem_finalize_wait
    shmem_memory_management
     shmem_memory_wait
    shmem_team_management
     shmem_team_wait
  armci
   armci_communication
    armci_collective
     armci_latebroadcast
     armci_wait_nxn
    armci_rma_communication
     armci_rma_wait_for_progress
   armci_synchronization
    armci_sync_collective
     armci_barrier_wait
    armci_point2point_synchronization
     armci_quiet_wait_for_progress
     armci_lock_completion
      armci_lock_contention
      armci_lock_wait_for_progress
     armci_wait_until
      armci_late_notification
    armci_init_exit
     armci_finalize_wait
    armci_memory_management
     armci_memory_wait
    armci_team_management
     armci_team_wait
  upc
   upc_communication
    upc_collective
     upc_latebroadcast
     upc_reduce_wait
      upc_earlyreduce
     upc_earlyscan
     upc_wait_nxn
     upc_collective_wait
    upc_rma_communication
     upc_late_notification
     upc_rma_wait_for_progress
   upc_synchronization
    upc_sync_collective
     upc_barrier_wait
     upc_splitphase_wait
    upc_point2point_synchronization
     upc_quiet_wait_for_progress
     upc_lock_completion
      upc_lock_contention
      upc_lock_wait_for_progress
    upc_init_exit
     upc_exit_wait
    upc_memory_management
     upc_memory_wait
  omp
   omp_fork
   omp_flush
   omp_synchronization
    omp_barrier
     omp_explicit_barrier
      omp_ebarrier_wait
     omp_implicit_barrier
      omp_ibarrier_wait
    omp_lock_competition
     omp_lock_api
      omp_lock_api_wait
     omp_lock_critical
      omp_lock_critical_wait
    omp_ordered
    omp_taskwait
     omp_taskwait_wait
 service
 overhead
 omp_between_regions
 omp_idle_threads
mpi_unexplained
mpi_polling
 mpi_polling_idle
visits
bytes
 bytes_p2p
  bytes_sent_p2p
  bytes_rcvd_p2p
 bytes_coll
  bytes_sent_coll
  bytes_rcvd_coll
 bytes_rma
  bytes_put
  bytes_get
upc_hot_thread
upc_hot_pair
upc_fine_grained
upc_master_late
upc_master_idle
mpi_rma_pairsync_count
 mpi_rma_pairsync_unneeded_count
)";

TEST(Catalogue, IsTheTreeThatScriptsKnow) {
  std::string tree = "\n";
  std::vector<std::string_view> path;
  for (const Metric& metric : all_metrics()) {
    while (!path.empty() && path.back() != metric.parent) path.pop_back();
    tree += std::string(path.size(), ' ') + std::string(metric.name) + "\n";
    path.push_back(metric.name);
  }
  EXPECT_EQ(tree, kTree);
}

TEST(Catalogue, EveryPatternSaysWhatItMeansAndWhatToDo) {
  for (const Metric& metric : all_metrics()) {
    if (metric.kind != Metric::Kind::kPattern) continue;
    EXPECT_FALSE(metric.meaning.empty()) << metric.name;
    EXPECT_FALSE(metric.advice.empty()) << metric.name;
    EXPECT_FALSE(metric.formula.empty() && metric.unit == Unit::kSeconds) << metric.name;
  }
}

// The remarks come from what is known of one-sided communication: OpenMP's locks have the same
// title and another rule.
TEST(Catalogue, RemarksOnSurenessStandAtPatternsOfOneSidedCommunication) {
  std::string remarked;
  for (const Metric& metric : all_metrics()) {
    if (metric.sureness == Metric::Sureness::kPlain) continue;
    EXPECT_TRUE(is_wait(metric)) << metric.name;
    EXPECT_NE(metric.needs, Needs::kOpenMp) << metric.name;
    remarked += std::string(metric.name) + '\n';
  }
  EXPECT_EQ(remarked,
            "mpi_rma_comm_lock_contention\nmpi_rma_comm_wait_for_progress\n"
            "mpi_rma_gat_wait_for_progress\nmpi_rma_sync_lock_contention\n"
            "mpi_rma_sync_wait_for_progress\nshmem_rma_wait_for_progress\n"
            "shmem_quiet_wait_for_progress\nshmem_lock_contention\n"
            "shmem_lock_wait_for_progress\n"
            "armci_rma_wait_for_progress\narmci_quiet_wait_for_progress\n"
            "armci_lock_contention\narmci_lock_wait_for_progress\n"
            "upc_rma_wait_for_progress\nupc_quiet_wait_for_progress\n"
            "upc_lock_contention\nupc_lock_wait_for_progress\n");
}

// The leaf class of a function, through its class in the table.
std::string_view leaf_of(std::string_view region) {
  const MpiFunction* function = find_mpi_function(region);
  if (function == nullptr) return "none";
  return all_metrics()[metric_of(time_class(function->cls))].name;
}

TEST(Classes, ByTheTableNeverByPartsOfTheName) {
  EXPECT_EQ(leaf_of("MPI_Alloc_mem"), "mpi_management");  // holds "_all"
  EXPECT_EQ(leaf_of("MPI_File_open"), "mpi_io");          // holds "_op"
  EXPECT_EQ(leaf_of("MPI_Accumulate"), "mpi_rma_communication");
  EXPECT_EQ(leaf_of("mpi_accumulate_"), "mpi_rma_communication");
  EXPECT_EQ(leaf_of("MPI_Put"), "mpi_rma_communication");
  EXPECT_EQ(leaf_of("MPI_Win_fence"), "mpi_rma_fence");
  EXPECT_EQ(leaf_of("MPI_Win_allocate_shared"), "mpi_rma_window_management");
  EXPECT_EQ(leaf_of("MPI_Win_test"), "mpi_rma_gat_synchronization");
  EXPECT_EQ(leaf_of("MPI_Win_flush_local_all"), "mpi_rma_lock_synchronization");
  EXPECT_EQ(leaf_of("MPI_Barrier"), "mpi_sync_collective");
  EXPECT_EQ(leaf_of("MPI_Reduce_scatter_block"), "mpi_collective");
  EXPECT_EQ(leaf_of("MPI_Finalize"), "mpi_init_exit");
  EXPECT_EQ(leaf_of("MPI_Waitall"), "mpi_point2point");
  EXPECT_EQ(leaf_of("MPI_Comm_split"), "mpi_management");
  EXPECT_EQ(leaf_of("my_MPI_Put"), "none");
}

TEST(Classes, AWaitIsWhatItCompleted) {
  using earl::kCompletedCollective;
  using earl::kCompletedGeneralized;
  using earl::kCompletedIo;
  using earl::kCompletedMessage;
  using earl::kCompletedRma;
  EXPECT_EQ(class_of_completed(kCompletedRma), TimeClass::kRmaCommunication);
  EXPECT_EQ(class_of_completed(kCompletedCollective), TimeClass::kCollective);
  EXPECT_EQ(class_of_completed(kCompletedIo), TimeClass::kIo);
  EXPECT_EQ(class_of_completed(kCompletedMessage), TimeClass::kPointToPoint);
  EXPECT_EQ(class_of_completed(kCompletedGeneralized), TimeClass::kPointToPoint);
  EXPECT_EQ(class_of_completed(0), TimeClass::kPointToPoint);
  EXPECT_EQ(class_of_completed(kCompletedRma | kCompletedIo), TimeClass::kPointToPoint);
}

TEST(Classes, OnlyWaitAndTestCallsDependOnWhatTheyCompleted) {
  int found = 0;
  for (const MpiFunction& function : mpi_functions()) {
    const bool wait_or_test =
        function.name.starts_with("MPI_Wait") ||
        (function.name.starts_with("MPI_Test") && function.name != "MPI_Test_cancelled");
    EXPECT_EQ(completes_requests(function.role), wait_or_test) << function.name;
    found += wait_or_test ? 1 : 0;
  }
  EXPECT_EQ(found, 8);
}

TEST(Docs, HaveAnAnchorAndAPageForEveryMetric) {
  const std::string html = patterns_html();
  for (const Metric& metric : all_metrics()) {
    const std::string name(metric.name);
    EXPECT_NE(html.find("<h2 id=\"" + name + "\">"), std::string::npos) << name;
    const std::string page = pattern_page(metric);
    EXPECT_TRUE(page.starts_with("# " + std::string(metric.title) + "\n")) << name;
    EXPECT_NE(pattern_index().find("(" + name + ".md)"), std::string::npos) << name;
    EXPECT_NE(pattern_list(80).find("(" + name + ")"), std::string::npos) << name;
  }
  EXPECT_EQ(html.find("& "), std::string::npos);  // everything is escaped
}

TEST(Docs, TheListFitsATerminal) {
  const std::string list = pattern_list(80);
  std::size_t begin = 0;
  while (begin < list.size()) {
    const std::size_t end = list.find('\n', begin);
    EXPECT_LE(end - begin, 80u) << list.substr(begin, end - begin);
    begin = end + 1;
  }
}

// ---- drawings

TEST(Timeline, EveryPatternOfTimeHasOneThatCountsSomething) {
  for (const Metric& metric : all_metrics()) {
    if (metric.kind != Metric::Kind::kPattern || metric.unit != Unit::kSeconds) continue;
    bool counts = false;
    const std::vector<TimelineRow> rows = parse_timeline(metric.timeline);
    EXPECT_GE(rows.size(), 2u) << metric.name;
    for (const TimelineRow& row : rows) {
      EXPECT_FALSE(row.calls.empty()) << metric.name << ", " << row.who;
      for (const TimelineCall& call : row.calls) {
        EXPECT_FALSE(call.name.empty()) << metric.name;
        EXPECT_EQ(call.name.find_first_of("~:;"), std::string::npos) << metric.name;
        EXPECT_LT(call.begin, call.end) << metric.name;
        if (!(call.wait_begin < call.wait_end)) continue;
        counts = true;  // a severity lies within its call
        EXPECT_GE(call.wait_begin, call.begin) << metric.name;
        EXPECT_LE(call.wait_end, call.end) << metric.name;
      }
    }
    EXPECT_TRUE(counts) << metric.name;
    // Two lines for each row.
    const std::string drawing = draw_timeline(metric.timeline);
    EXPECT_EQ(std::count(drawing.begin(), drawing.end(), '\n'),
              static_cast<std::ptrdiff_t>(2 * rows.size()));
  }
}
TEST(Timeline, IsDrawnToScale) {
  // Six columns for a unit: the call from 1 to 3, of which 1 to 2 counts.
  EXPECT_EQ(draw_timeline("a: MPI_Recv 1-3 ~1-2; bc: send 2-3"),
            "          MPI_Recv\n"
            "a   ------[~~~~~=====]---\n"
            "                send\n"
            "bc  ------------[====]---\n");
}

}  // namespace
}  // namespace kojak::expert
