// The merge as its two passes, for who wants to know more of the first one, or writes parts of the
// run in the second (write/slice.h). merge_traces() is one after the other.
//
// Several may read the traces of pass 1, each some of them: open() finds the traces, survey() reads
// some and gives what it finds, and finish() of all that takes the place of reading them.
//
// Owns what lies between them. Between the passes there is no thread of it. Errors as
// merge_traces().
#pragma once

#include <memory>
#include <optional>

#include "merge/clock/times.h"
#include "merge/complete/trace_survey.h"
#include "merge/merge.h"
#include "merge/write/slice.h"

namespace kojak::merge {

class TwoPasses {
 public:
  // Pass 1.
  static Result<std::unique_ptr<TwoPasses>> begin(const MergeOptions& options,
                                                  const Watches& watches = {});
  // Pass 1 in steps: which traces there are; what is found in some of them, given in their order,
  // and nothing kept; the rest, of all traces. `surveyed`: none is read, but where one contradicts
  // itself.
  static Result<std::unique_ptr<TwoPasses>> open(const MergeOptions& options);
  void survey(TraceRange range, const Watches& watches,
              const std::function<void(FoundInTrace&)>& take);
  Status finish(const Watches& watches, Surveyed* surveyed = nullptr);
  TwoPasses(const TwoPasses&) = delete;
  TwoPasses& operator=(const TwoPasses&) = delete;

  const std::vector<LocalTrace>& traces() const { return traces_; }
  const Survey& survey() const { return *survey_; }
  const std::vector<LinearClock>& clocks() const { return times_->clocks; }
  // What pass 1 found.
  const Summary& found() const { return summary_; }
  std::uint64_t expected_events() const { return expected_; }
  // Whether a local trace lies in a temporary file, since it cannot be read from its midst.
  bool copied() const;
  // The definitions as a merged trace without events.
  Result<std::vector<std::byte>> definitions() const;

  // Pass 2, to where the options say. `slice`: only this part, to the reader, and of what is found
  // only what pass 2 finds; null: all.
  Result<Summary> write(const MergeOptions& options, const Slice* slice = nullptr);

 private:
  explicit TwoPasses(const MergeOptions& options)
      : options_(options), files_(options.open_files, options.other_files) {}
  Status find_traces();
  std::function<void(std::uint64_t)> progress() const;

  MergeOptions options_;
  Summary summary_;
  FileCache files_;
  std::vector<LocalTrace> traces_;
  std::optional<Survey> survey_;
  std::optional<Times> times_;
  MergedRun run_;
  std::uint64_t bytes_ = 0, expected_ = 0, work_ = 0, done_ = 0;
  bool twice_ = false;
};

}  // namespace kojak::merge
