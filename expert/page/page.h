// The report page: one self-contained HTML file that works offline in any current browser.
//
// The page is a shell of a few lines, the front end (built from expert/page/web, embedded at build
// time), and the report as JSON and compressed columns, which the front end shows. No text of the
// report becomes markup: names reach the page as JSON in which `<` is escaped, and the front end
// writes them as text; a content security policy lets no other script run and nothing be loaded.
// A file appears complete or not at all (exit code 4).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epilog/format/check/trace_gaps.h"
#include "epilog/format/error.h"
#include "expert/cube/difference.h"
#include "expert/metrics/metric.h"
#include "expert/page/source_lines.h"
#include "expert/page/verdict/verdict_part.h"
#include "expert/profile/model.h"

namespace kojak::html {

// What a trace adds to a page: made by trace_view.h.
struct PackedTrace {
  std::string json;                  // what stands in data, and small things as they are
  std::string data;                  // compressed columns
  std::vector<std::string> omitted;  // sentences; they stand in the JSON, too
};

// One that waits, or at the end what the one awaited does.
struct Step {
  std::size_t row = 0;        // location of the trace
  double begin = 0, end = 0;  // in seconds since the trace's first event
  std::size_t call_node = cube::kNone;
  std::string words;  // "Late Sender, for rank 3", "relax, between ..."
  // "rank 3 waits 0.21 s" and "in MPI_Win_free() at halo.c:110, until rank 0 comes": of the chain
  // that stands on the first screen.
  std::string lead = {}, rest = {};
  bool cause = false;  // it waits for nobody: what the one awaited does
};
// From a wait to its cause.
struct ChainSteps {
  std::vector<Step> steps;
  std::size_t left_out = 0;  // before the first one
};

// One of the most severe instances of a pattern, to be looked at on the timeline.
struct Instance {
  std::string metric;  // unique name
  std::string object;  // "window 0"; may be empty
  double seconds = 0;
  double begin = 0;  // time window, in seconds since the trace's first event
  double end = 0;
  std::vector<std::size_t> rows;  // locations of the trace that wait, the longest wait first
  std::size_t further_rows = 0;   // that wait too and are not listed
  std::size_t call_node = cube::kNone;
  // The call that ended most of the waiting, where one did: its location in the trace, its function
  // and place in the code, whether it did so by its exit, and how many others did.
  std::size_t cause_row = cube::kNone;
  std::string cause_call;
  bool cause_at_exit = false;
  std::size_t further_causes = 0;
  bool beside = false;  // not among the worst of its pattern: the worst of its call path
  ChainSteps chain;     // of its longest wait, if root causes were asked for
};

// For whom the calls of one pattern at one call path waited, over the whole run.
struct WaitedFor {
  std::string metric;
  std::size_t call_node = 0;
  std::size_t row = 0;  // location of the trace
  std::string call;     // "MPI_Win_post at halo.c:39"
  bool at_exit = false;
  double seconds = 0;
};

// Processes that stood at the same call for the same reason when their run was ended: the sentence
// in its parts (expert/findings/last_call_words.h), and where to find them.
struct LastCall {
  std::string who, does, call, times, awaits;
  std::size_t call_node = cube::kNone;
};

// Calls of one function at one place that returned the same class of error: the sentence of
// expert/findings/failed_call_words.h.
struct FailedCallLine {
  std::string words;
  std::size_t call_node = cube::kNone;
  std::vector<std::pair<std::size_t, double>> firsts;  // row of the timeline, seconds
};

// A time in which the critical path runs along one location.
struct PathPart {
  std::size_t row = 0;
  double begin = 0, end = 0;  // in seconds since the trace's first event
};

// What an analysis of the report's trace adds to the page: made by trace_part.h.
struct TracePart {
  PackedTrace packed;
  std::vector<Instance> instances;
  std::vector<WaitedFor> partners;  // the most waited for of a place first
  // Of each call path of the report the function that its last call stands in, where the trace
  // knows it: CUBE holds file and line only. May be empty.
  std::vector<std::string> callers;
  // Of a run that was ended from outside, at the top of the page: where the processes stood, and
  // the circles of those that wait for each other, in words.
  std::vector<LastCall> last_calls;
  std::vector<std::string> deadlocks;
  std::vector<FailedCallLine> failed_calls;  // the most frequent first
  VerdictPart verdict;
  std::vector<ChainSteps> chains;  // of each group's largest cause
  double waits = 0;                // seconds of all waits, if root causes were asked for
  std::vector<PathPart> path;      // in order of time
  // Where the compiler ran, if the trace tells: looked in for lines of source before other folders.
  std::vector<std::filesystem::path> compiled_in;
  std::optional<Error> damage;  // of the trace: shown is what stands before it
  std::vector<TraceGap> gaps;   // what else is wrong with it
};

struct PageOptions {
  std::string title;    // empty: the report's file name
  std::string version;  // of kojak
  // Explains metrics, by unique name; see bottlenecks.h.
  std::span<const expert::Metric> catalogue;
  std::size_t max_bytes = 20'000'000;  // of the page; kept by rounding and leaving out, and said
  const TracePart* trace = nullptr;    // must outlive the options
  std::vector<std::string> notes;      // shown with the report's own warnings
  std::optional<SourceSearch> source;  // absent: no lines of source are shown
};

// `path` "-" writes to standard output.
Status write_page(const cube::Report& report, const PageOptions& options, const std::string& path);
// Improvements and regressions: values are `after` minus `before`.
Status write_difference_page(const cube::Difference& difference, const PageOptions& options,
                             const std::string& path);

}  // namespace kojak::html
