// One analysis by several processes of this machine, each of a slice of the run (slices.h): the
// same report as by one, or why one has to do it.
//
// This process cuts the run, starts the others, analyses the last slice, and adds up what all have
// found. Each holds what an analysis holds; this one a part of another one at a time. Errors: of
// reading, and of processes that fail or die (children.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "expert/analysis.h"
#include "expert/parallel/slices.h"

namespace kojak::parallel {

class Parts {
 public:
  struct Options {
    std::string file;           // a merged trace
    std::size_t processes = 1;  // slices of about equal length
    std::string at;             // not empty: slices that end at these meetings (Slices::cut_at)
    std::function<void(const std::string&)> note;  // says a line
  };
  // Nothing: alone() says why one process has to do it. This object must outlive the report.
  Result<std::optional<expert::Report>> analyse(const Options& options,
                                                const expert::AnalysisOptions& wanted);
  const std::string& alone() const { return alone_; }
  // Of the run, where there is a report.
  std::uint64_t events() const { return slices_->events(); }

 private:
  Result<std::unique_ptr<expert::PartAnalysis>> part(std::size_t number, const std::string& file,
                                                     const expert::AnalysisOptions& wanted);
  std::string alone_;
  std::optional<Slices> slices_;
  expert::Gate gate_;
  std::optional<earl::Trace> trace_;  // of the last part
  std::unique_ptr<expert::PartAnalysis> analysis_;
};

}  // namespace kojak::parallel
