// One analysis by several processes, each of a slice of the run (slices.h): the same report as by
// one, or why one has to do it.
//
// The first process cuts the run, starts the others, or asks those that a launcher has started,
// and analyses the last slice. When all have read theirs, each tells what it shows of what the
// whole run decides, and is told what all show; then the first one adds up what all have found.
// Where it looks for root causes it asks all, in several rounds (causes/rounds.h).
// What the others answer may be kept in a folder: then it is taken from there the next time.
// Each holds what an analysis holds, and this one what one of the others tells. Errors: of reading,
// and of processes that fail or die (children.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "expert/analysis.h"
#include "expert/causes/rounds.h"
#include "expert/parallel/local_slices.h"
#include "expert/parallel/team.h"

namespace kojak::parallel {

class Parts {
 public:
  struct Options {
    std::string file;                            // what they are called together
    const merge::MergeOptions* merge = nullptr;  // of the run's local traces
    std::size_t processes = 1;                   // slices of about equal length
    std::string at;        // not empty: slices that end at these meetings (Slices::cut_at)
    Team* team = nullptr;  // of that many; null: processes of our own
    KeptFiles kept;        // where what the others answer lies for the next time, if it is to
    std::function<void(const std::string&)> note;  // says a line
  };
  // Cuts the run. False: alone() says why one process has to do it.
  Result<bool> cut(const Options& options);
  const std::string& alone() const { return alone_; }
  // If it was cut: a trace of it without events, about how many events it has, and what the merge
  // found.
  earl::Trace& definitions() { return slices_->definitions(); }
  std::uint64_t expected_events() const { return slices_->expected_events(); }
  const merge::Summary& found() const { return slices_->found(); }

  // Once, if it was cut. Nothing: see alone(). This object must outlive the report.
  Result<std::optional<expert::Report>> analyse(const expert::AnalysisOptions& wanted);
  // Another one's of a team: does what the leader asks for.
  void serve(const expert::AnalysisOptions& wanted);
  // When all is written.
  void forget_kept() const { kept_.clear(); }
  // Of the run, where there is a report.
  std::uint64_t events() const { return events_; }

 private:
  class Others;
  class CauseParts;
  struct Request;
  Result<std::unique_ptr<expert::PartAnalysis>> part(std::size_t number,
                                                     const expert::AnalysisOptions& wanted);
  // Another one's, of a part: the answer to what it is asked, also from what is kept. Of these:
  // what it gives back when it has read its part; and when the run's evidence is known. (Where the
  // first was kept, and the second was not, it has not read it.)
  Bytes answer(const std::vector<std::byte>& asked, std::size_t number,
               const expert::AnalysisOptions& wanted);
  Status read_part(std::size_t number, const expert::AnalysisOptions& wanted);
  Bytes told_part(std::size_t number, const expert::AnalysisOptions& wanted);
  Bytes told_sums(std::size_t number, const expert::AnalysisOptions& wanted,
                  const expert::PassiveEvidence& of_run);
  Bytes told_causes(std::size_t number, const expert::AnalysisOptions& wanted,
                    const expert::CauseRequest& request);
  void say_what_is_there() const;
  Result<std::optional<expert::Report>> add_up(const expert::AnalysisOptions& wanted);
  std::string alone_, file_;
  Team* team_ = nullptr;
  KeptFiles kept_;
  std::function<void(const std::string&)> note_;
  std::unique_ptr<LocalSlices> slices_;
  std::uint64_t events_ = 0;
  expert::Gate gate_;
  std::optional<earl::Trace> trace_;                // of the last part
  std::unique_ptr<expert::PartAnalysis> analysis_;  // of a part, by what refers to the others
  bool summed_ = false;                             // its sums were taken
  expert::PassiveEvidence of_run_;                  // when they were asked for
};

// What nobody can add up (yet), by the options that ask for it, or by sums that are; empty if there
// is nothing.
std::string too_much(const expert::AnalysisOptions& wanted);
std::string too_much(const expert::PartSums& sums);

}  // namespace kojak::parallel
