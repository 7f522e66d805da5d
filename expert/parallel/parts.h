// One analysis by several processes, each of a slice of the run (slices.h): the same report as by
// one, or why one has to do it.
//
// The first process cuts the run, starts the others, or asks those that a launcher has started,
// and analyses the last slice. When all have read theirs, each tells what it shows of what the
// whole run decides, and is told what all show; then the first one adds up what all have found.
// Each holds what an analysis holds; this one a part of another one at a time. Errors: of reading,
// and of processes that fail or die (children.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "expert/analysis.h"
#include "expert/parallel/local_slices.h"
#include "expert/parallel/team.h"

namespace kojak::parallel {

class Parts {
 public:
  struct Options {
    std::string file;                            // a merged trace, or what
    const merge::MergeOptions* merge = nullptr;  // a run's local traces are called together
    std::size_t processes = 1;                   // slices of about equal length
    std::string at;        // not empty: slices that end at these meetings (Slices::cut_at)
    Team* team = nullptr;  // of that many; null: processes of our own
    std::function<void(const std::string&)> note;  // says a line
  };
  // Cuts the run. False: alone() says why one process has to do it.
  Result<bool> cut(const Options& options);
  const std::string& alone() const { return alone_; }
  // Of a run's local traces: a trace of them without events, about how many events it has, and what
  // the merge found; else null, or nothing.
  earl::Trace* definitions() { return local_ == nullptr ? nullptr : &local_->definitions(); }
  std::uint64_t expected_events() const { return local_->expected_events(); }
  const merge::Summary& found() const { return local_->found(); }

  // Once, if it was cut. Nothing: see alone(). This object must outlive the report.
  Result<std::optional<expert::Report>> analyse(const expert::AnalysisOptions& wanted);
  // Another one's of a team: does what the leader asks for.
  void serve(const expert::AnalysisOptions& wanted);
  // Of the run, where there is a report.
  std::uint64_t events() const { return events_; }

 private:
  Result<std::unique_ptr<expert::PartAnalysis>> part(std::size_t number,
                                                     const expert::AnalysisOptions& wanted);
  // What another one gives back when it has read its part; and when the run's evidence is known.
  Bytes told_part(std::size_t number, const expert::AnalysisOptions& wanted);
  Bytes told_sums(const expert::PassiveEvidence& of_run);
  Result<std::optional<expert::Report>> add_up(const expert::AnalysisOptions& wanted);
  std::string alone_, file_;
  Team* team_ = nullptr;
  std::unique_ptr<Slices> slices_;
  LocalSlices* local_ = nullptr;  // `slices_`, of local traces
  std::uint64_t events_ = 0;
  expert::Gate gate_;
  std::optional<earl::Trace> trace_;                // of the last part
  std::unique_ptr<expert::PartAnalysis> analysis_;  // of a part, by what refers to the others
};

// What nobody can add up (yet), by the options that ask for it, or by sums that are; empty if there
// is nothing.
std::string too_much(const expert::AnalysisOptions& wanted);
std::string too_much(const expert::PartSums& sums);

}  // namespace kojak::parallel
