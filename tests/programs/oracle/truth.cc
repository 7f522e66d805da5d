#include "tests/programs/oracle/truth.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace kojak::oracle {
namespace {

const std::vector<std::string> kWaitMetrics = {
    "mpi_latesender",
    "mpi_latesender_wo",
    "mpi_latereceiver",
    "mpi_latereceiver_wo",
    "mpi_reduce_wait",
    "mpi_earlyreduce",
    "mpi_earlyscan",
    "mpi_latebroadcast",
    "mpi_wait_nxn",
    "mpi_nxn_completion",
    "mpi_wait_neighbours",
    "mpi_barrier_wait",
    "mpi_barrier_completion",
    "mpi_rma_earlytransfer",
    "mpi_rma_wait_window_create",
    "mpi_rma_wait_window_free",
    "mpi_rma_fence_wait",
    "mpi_rma_fence_completion",
    "mpi_rma_latepost",
    "mpi_rma_latepost_first",
    "mpi_rma_earlywait",
    "mpi_rma_indirectwait",
    "mpi_rma_latecomplete",
    "mpi_rma_latecomplete_pair",
    "mpi_rma_comm_lock_contention",
    "mpi_rma_sync_lock_contention",
    "mpi_rma_comm_wait_for_progress",
    "mpi_rma_gat_wait_for_progress",
    "mpi_rma_sync_wait_for_progress",
};

// Each only of programs that note all such calls.
const std::vector<std::string> kGroupMetrics = {"mpi_comm_create_wait", "mpi_io_wait",
                                                "mpi_finalize_wait"};

const std::vector<std::string> kByteMetrics = {
    "bytes_sent_p2p",  "bytes_rcvd_p2p", "bytes_sent_coll",
    "bytes_rcvd_coll", "bytes_put",      "bytes_get",
};

struct MpiClass {
  std::vector<std::string> path;
  std::vector<std::string> functions;
};

// Of the functions that the programs call.
const std::vector<MpiClass> kClasses = {
    {{"mpi", "mpi_communication", "mpi_point2point"},
     {"MPI_Send",     "MPI_Bsend",  "MPI_Ssend",   "MPI_Rsend",   "MPI_Isend",    "MPI_Ibsend",
      "MPI_Issend",   "MPI_Irsend", "MPI_Recv",    "MPI_Irecv",   "MPI_Sendrecv", "MPI_Start",
      "MPI_Startall", "MPI_Wait",   "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Test",
      "MPI_Iprobe",   "MPI_Probe",  "MPI_Mprobe",  "MPI_Mrecv"}},
    {{"mpi", "mpi_communication", "mpi_collective"},
     {"MPI_Allreduce", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Allgather", "MPI_Allgatherv",
      "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Bcast", "MPI_Scatter", "MPI_Scatterv",
      "MPI_Reduce", "MPI_Gather", "MPI_Gatherv", "MPI_Scan", "MPI_Exscan", "MPI_Neighbor_allgather",
      "MPI_Neighbor_alltoall"}},
    {{"mpi", "mpi_communication", "mpi_rma_communication"},
     {"MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Rput", "MPI_Rget", "MPI_Raccumulate",
      "MPI_Rget_accumulate"}},
    {{"mpi", "mpi_synchronization", "mpi_sync_collective"}, {"MPI_Barrier"}},
    {{"mpi", "mpi_synchronization", "mpi_rma_synchronization", "mpi_rma_window_management"},
     {"MPI_Win_create", "MPI_Win_free"}},
    {{"mpi", "mpi_synchronization", "mpi_rma_synchronization", "mpi_rma_fence"}, {"MPI_Win_fence"}},
    {{"mpi", "mpi_synchronization", "mpi_rma_synchronization", "mpi_rma_gat_synchronization"},
     {"MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait", "MPI_Win_test"}},
    {{"mpi", "mpi_synchronization", "mpi_rma_synchronization", "mpi_rma_lock_synchronization"},
     {"MPI_Win_lock", "MPI_Win_unlock", "MPI_Win_lock_all", "MPI_Win_unlock_all", "MPI_Win_flush",
      "MPI_Win_flush_all", "MPI_Win_flush_local", "MPI_Win_flush_local_all"}},
};

}  // namespace

std::vector<std::string> classes_of(const std::string& function) {
  for (const MpiClass& entry : kClasses)
    if (std::ranges::find(entry.functions, function) != entry.functions.end()) return entry.path;
  return {};
}

std::vector<std::string> classes_of(const Call& call) {
  const bool only_rma =
      call.has("rma") && !call.has("to") && !call.has("recv") && !call.has("finish");
  if (call.has("ends")) {  // collectives only
    const bool barrier = call.text("class") == "barrier";
    return classes_of(barrier ? "MPI_Barrier" : "MPI_Allreduce");
  }
  return classes_of(only_rma ? "MPI_Put" : call.function);
}

double Truth::overlap(const Call& call, double from, double to) {
  return std::max(0.0, std::min(to, call.exit) - std::max(from, call.enter));
}

double Truth::blocked(const Call& call, const std::vector<double>& causes) {
  double latest = call.enter;
  for (const double cause : causes)
    if (cause <= call.exit) latest = std::max(latest, cause);
  return overlap(call, call.enter, latest);
}

void Truth::add(const std::string& metric, const Call& call, double value) {
  values_.at({metric, call.function, call.rank}) += value;
  values_.at({metric, "*", call.rank}) += value;
  if (call.has("site")) values_.at({metric, call.at_site(), call.rank}) += value;
}

double Truth::value(const std::string& metric, const std::string& function, int rank) const {
  const auto found = values_.find({metric, function, rank});
  return found == values_.end() ? 0.0 : found->second;
}

namespace {
// A call's time without that of calls within it, which the program made in functions that MPI
// called back; they are noted before it.
double own_time(const std::vector<Call>& calls, std::size_t at) {
  const Call& call = calls[at];
  double time = call.exit - call.enter;
  double before = call.exit;  // a call that ends later lies within one that is counted
  while (at-- > 0 && calls[at].enter >= call.enter) {
    if (calls[at].exit > before) continue;
    time -= calls[at].exit - calls[at].enter;
    before = calls[at].enter;
  }
  return time;
}
}  // namespace

void Truth::add_counts_and_times(const Notes& run) {
  // A metric that is not claimed by any call must be zero: every waiting time at every function of
  // the program and in all, every class at functions of other classes.
  // The same at each place that calls them.
  std::set<std::string> functions, sites;
  for (const auto& calls : run.calls) {
    for (const Call& call : calls) {
      functions.insert(call.function);
      if (call.has("site")) sites.insert(call.at_site());
    }
  }
  std::vector<std::string> waits = kWaitMetrics;
  for (const std::string& metric : kGroupMetrics) {
    const auto has = [&](const Call& c) { return c.text("wait") == metric; };
    if (std::ranges::any_of(run.calls,
                            [&](const auto& calls) { return std::ranges::any_of(calls, has); }))
      waits.push_back(metric);
  }
  for (int rank = 0; rank < run.ranks(); ++rank) {
    for (const std::string& metric : waits) values_[{metric, "*", rank}] = 0;
    for (const std::string& site : sites) {
      values_[{"visits", site, rank}] = 0;
      for (const std::string& metric : waits) values_[{metric, site, rank}] = 0;
    }
    for (const std::string& function : functions) {
      values_[{"visits", function, rank}] = 0;
      for (const std::string& metric : kByteMetrics) values_[{metric, function, rank}] = 0;
      for (const std::string& metric : waits) values_[{metric, function, rank}] = 0;
      if (classes_of(function).empty()) continue;
      values_[{"time", function, rank}] = 0;
      for (const MpiClass& entry : kClasses)
        for (const std::string& metric : entry.path) values_[{metric, function, rank}] = 0;
    }
  }
  for (const auto& calls : run.calls) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const Call& call = calls[i];
      const double visits = call.has("polls") ? call.number("polls") : 1;
      values_[{"visits", call.function, call.rank}] += visits;
      if (call.has("site")) values_[{"visits", call.at_site(), call.rank}] += visits;
      for (const std::string& metric : kByteMetrics)
        values_[{metric, call.function, call.rank}] += call.number(metric);
      const std::vector<std::string> classes = classes_of(call);
      if (classes.empty()) continue;
      const double time = own_time(calls, i);
      values_[{"time", call.function, call.rank}] += time;
      for (const std::string& metric : classes) values_[{metric, call.function, call.rank}] += time;
    }
  }
}

Truth::Truth(const Notes& run) {
  add_counts_and_times(run);
  add_collectives(run);
  add_begun(run);
  add_group_calls(run);
  add_windows(run);
  add_epochs(run);
  add_passive(run, posts_);
  add_messages(run);
}

std::vector<std::string> broken_guards(const Notes& run, const Truth& truth) {
  std::vector<std::string> broken;
  for (const Guard& guard : run.guards) {
    double sum = 0;
    std::istringstream metrics(guard.metrics);
    for (std::string metric; std::getline(metrics, metric, '+');) {
      if (!truth.values().contains({metric, guard.function, guard.rank}))
        broken.push_back("no such value: " + metric + " " + guard.function + " rank " +
                         std::to_string(guard.rank));
      sum += truth.value(metric, guard.function, guard.rank);
    }
    using Kind = Guard::Kind;
    const bool holds = guard.kind == Kind::kZero     ? sum == 0
                       : guard.kind == Kind::kAtMost ? sum <= guard.seconds
                                                     : sum >= guard.seconds;
    if (!holds) {
      std::ostringstream line;
      line << guard.metrics << " at " << guard.function << " of rank " << guard.rank << " is "
           << sum << ", should be "
           << (guard.kind == Kind::kZero     ? "exactly 0"
               : guard.kind == Kind::kAtMost ? "at most "
                                             : "at least ");
      if (guard.kind != Kind::kZero) line << guard.seconds;
      broken.push_back(line.str());
    }
  }
  return broken;
}

}  // namespace kojak::oracle
