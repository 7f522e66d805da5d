// A finished analysis in the order in which reports show it: metric tree, call tree, system tree,
// and severities inclusive along the metrics, exclusive along the call paths.
//
// Owns the trees and the severities; the definitions belong to the caller and must outlive it. Rows
// are computed when they are asked for, so that a report of many locations needs no second copy.
// Source: docs/report.md.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "epilog/format/definitions.h"
#include "expert/causes/root_causes.h"
#include "expert/ends/failed_calls.h"
#include "expert/ends/last_calls.h"
#include "expert/metrics/selection.h"
#include "expert/patterns/openmp/tasks.h"
#include "expert/sums/instances.h"
#include "expert/sums/processor_use.h"
#include "expert/sums/samples.h"
#include "expert/sums/severity.h"

namespace kojak::expert {

// What is to be known of the trace, and of what became of it.
struct Finding {
  enum class Severity : std::uint8_t { kNote, kSuspect } severity = Severity::kNote;
  std::uint64_t count = 0;
  std::string what;    // "messages received without a send in the trace"
  std::string advice;  // what it means for the report, and what can be done
};

struct MetricNode {
  Metric metric;
  std::string remark;  // a sentence on what the trace lacks for it; empty if nothing
  // What it has of its own in the severity store: itself, and its summands that are not shown.
  std::vector<MetricIndex> own;
  std::size_t parent = kNone;
  unsigned depth = 0;
};

// A call path (sums/severity.h) in the report's order: a parent before its children, siblings by
// first appearance. A function that was not recorded, but that call sites name as the caller, has
// an entry of its own, without severities, where it can only be right:
// - `main` encloses all that its process's first thread does: it stands above it.
// - Any other stands between its calls and what was recorded around them, but not below a region
//   that the user begins and ends by hand: it may as well be the function that does so, and enclose
//   the region. There its calls stand directly in the region. What a function does itself within
//   an OpenMP construct that it begins stands directly in the construct, too.
// What OpenMP's other threads do in a parallel region stands at the region that their master
// entered, if the master comes to it by one path: then one node is call paths of several threads.
// No two siblings are the same to CUBE, or are one function (unite_twins.h).
struct CallPathNode {
  RegionId region{};
  CallSiteId site = absent<CallSiteId>();
  CallPathIndex index = 0;  // in the severity store; kOnlyNamed: no row there
  std::size_t parent = kNone;
  unsigned depth = 0;
  bool named = false;               // call sites name it as the caller
  std::vector<CallPathIndex> also;  // further ones in the store that stand here

  bool has(CallPathIndex in_store) const {
    return index == in_store || std::find(also.begin(), also.end(), in_store) != also.end();
  }
};

inline constexpr CallPathIndex kOnlyNamed = ~CallPathIndex{0};

struct ThreadNode {
  std::string name;
  std::uint32_t number = 0;
  LocationIndex location = 0;
};
struct ProcessNode {
  std::string name;
  std::uint32_t rank = 0;
  std::vector<ThreadNode> threads;
};
struct HostNode {
  std::string name;
  std::vector<ProcessNode> processes;
  bool known = true;  // else it stands for processes without a trace, which may be anywhere
};
struct MachineNode {
  std::string name;
  std::vector<HostNode> nodes;
};

class Report {
 public:
  // `metrics`: a parent before its children. `locations` are the trace's locations in the order of
  // the severity store's columns.
  Report(const Definitions& definitions, std::vector<LocationId> locations,
         const std::vector<ReportMetric>& metrics, const std::vector<CallPath>& call_paths,
         SeverityStore severities, std::vector<Finding> findings, WaitResults waits = {},
         LastCalls last_calls = {}, std::optional<RootCauses> root_causes = {},
         std::map<RegionId, std::string> stretches = {}, ProcessorUse processors = {},
         std::vector<CreatedTasks> tasks = {}, std::vector<FailedCalls> failed_calls = {});

  const Definitions& definitions() const { return *definitions_; }
  const std::vector<MetricNode>& metrics() const { return metrics_; }
  const std::vector<CallPathNode>& call_paths() const { return call_paths_; }
  const std::vector<MachineNode>& machines() const { return machines_; }
  std::size_t processes() const {
    std::size_t count = 0;
    for (const MachineNode& machine : machines_) {
      for (const HostNode& node : machine.nodes) count += node.processes.size();
    }
    return count;
  }
  const std::vector<Finding>& findings() const { return findings_; }
  // The most severe instances, and for whom calls waited. Call paths, locations and metrics have
  // the analysis' numbers, here and in what follows: path_at(), thread_at(), metric_at().
  const WaitResults& waits() const { return waits_; }
  // Where processes stood that were ended from outside.
  const LastCalls& last_calls() const { return last_calls_; }
  // Who made the others wait, if the analysis was asked for it.
  const std::optional<RootCauses>& root_causes() const { return root_causes_; }
  // Whether the threads had a processor, if the trace tells.
  const ProcessorUse& processors() const { return processors_; }
  // Tasks of OpenMP, by where they come from.
  const std::vector<CreatedTasks>& tasks() const { return tasks_; }
  // Calls that returned an error.
  const std::vector<FailedCalls>& failed_calls() const { return failed_calls_; }
  // Where the analysis' numbers stand in the report's lists; kNone: it does not show them.
  std::size_t path_at(CallPathIndex index) const { return in(paths_at_, index); }
  std::size_t thread_at(LocationIndex index) const { return in(threads_at_, index); }
  std::size_t metric_at(MetricIndex index) const { return in(metrics_at_, index); }
  std::size_t numbered_paths() const { return paths_at_.size(); }
  // Threads in the order of the report; each one's location, and the way back.
  std::size_t threads() const { return thread_locations_.size(); }
  LocationId thread_location(std::size_t thread) const {
    return locations_[thread_locations_[thread]];
  }
  LocationIndex thread_column(std::size_t thread) const { return thread_locations_[thread]; }
  std::size_t thread_of(LocationId location) const;  // kNone if the trace has no such location
  // What a process is called: a rank, or a thread (of UPC).
  const std::string& process_word() const { return process_word_; }
  // "rank 3", or "rank 3, thread 1" in a run with threads.
  std::string thread_name(std::size_t thread) const;

  // Severities of one metric and call path over the threads. False if all are 0.
  bool row(std::size_t metric, std::size_t call_path, std::span<double> out) const;
  // Sums over call paths, by thread.
  std::vector<double> by_thread(std::size_t metric) const;
  // Whether a metric is waiting of its own: a pattern in seconds that is no part of another.
  bool is_wait(std::size_t metric) const;
  // Sum over call paths and threads.
  double total(std::size_t metric) const { return totals_[metric]; }

  std::size_t find_metric(std::string_view name) const;  // kNone if there is none
  std::string region_name(RegionId region) const;
  // Whether a Python script is in the run: it calls a function main as any other, from its
  // <module>.
  bool has_script() const { return has_script_; }
  // Whether the entry is no function, but the computing of a function between two of its calls.
  bool is_stretch(RegionId region) const { return stretches_.contains(region); }
  // "halo / exchange_halo halo.c:118 / MPI_Put", outermost first.
  std::string call_path_name(std::size_t call_path) const;
  // Where the call path's region was called from, if known: "halo.c:118".
  std::string call_site(std::size_t call_path) const;
  // The function by which the program called a communication library, out of which the call path
  // comes; kNone if there is none.
  std::size_t library_call(std::size_t call_path) const;
  bool is_library_function(std::size_t call_path) const;
  // The call path's own call site, or that where the program called the library that it comes from.
  CallSiteId program_site(std::size_t call_path) const;

 private:
  static std::size_t in(const std::vector<std::size_t>& places, std::uint32_t index) {
    return index < places.size() ? places[index] : kNone;
  }
  void note_places();
  void add_row(std::size_t metric, CallPathIndex call_path) const;
  void sum_row(std::size_t metric, std::size_t call_path) const;
  void add_metrics(const std::vector<ReportMetric>& metrics);
  void order_call_paths(std::vector<CallPath> call_paths, const std::vector<ReportMetric>& metrics);
  RegionId caller_of(const CallPath& path) const;
  // Which locations are first threads of their processes.
  std::vector<bool> first_threads() const;
  std::vector<std::size_t> unite_teams(std::vector<CallPath>& call_paths,
                                       const std::vector<ReportMetric>& metrics) const;
  bool in_construct_of(const std::vector<CallPath>& call_paths, std::size_t path,
                       RegionId caller) const;
  std::vector<RegionId> main_above(const std::vector<CallPath>& call_paths,
                                   const std::vector<ReportMetric>& metrics) const;
  void order_system();

  const Definitions* definitions_;
  std::vector<LocationId> locations_;
  std::vector<MetricNode> metrics_;
  std::vector<std::vector<std::size_t>> summands_;  // of each metric: children that add up to it
  std::vector<CallPathNode> call_paths_;
  bool has_script_ = false;
  std::vector<MachineNode> machines_;
  std::vector<LocationIndex> thread_locations_;  // column of each thread in the severity store
  std::map<LocationId, std::size_t> threads_by_location_;
  std::vector<std::size_t> paths_at_, threads_at_, metrics_at_;
  std::string process_word_ = "rank";
  std::vector<std::string> thread_names_;
  SeverityStore severities_;
  mutable std::vector<Amount> sums_;  // kept for its memory only: a row by location
  std::vector<double> totals_;
  std::vector<Finding> findings_;
  WaitResults waits_;
  LastCalls last_calls_;
  std::optional<RootCauses> root_causes_;
  std::map<RegionId, std::string> stretches_;
  ProcessorUse processors_;
  std::vector<CreatedTasks> tasks_;
  std::vector<FailedCalls> failed_calls_;
};

// "relax (halo.c:44)": the function that a place is in, and its line if it has one.
std::string function_at(const Report& report, CallSiteId site);

}  // namespace kojak::expert
