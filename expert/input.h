// The input of expert: a run's folder, a trace, a part of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "earl/filter/part.h"
#include "earl/trace.h"
#include "epilog/format/io/temporary_files.h"
#include "merge/stream.h"
#include "tools/cli/cli.h"

namespace kojak::expert {

// What is analysed: a merged trace, or what the merge of a run's directory gives, which runs in a
// thread of its own beside each reading. Once the merge has written a file, that is read; and of a
// part in time what is cut out of it on the way.
class Input {
 public:
  explicit Input(std::string name) : name_(std::move(name)), file_(name_) { merge_.output.clear(); }

  // What is wrong with the options --keep, --zstd, --gzip, --clock, --model, --from, --to; empty if
  // nothing is. `outputs`: other files that will be written.
  std::string complete(const boost::program_options::variables_map& options,
                       std::vector<std::string> outputs);

  // Where its source was: beside what, and how old that may be.
  std::string beside() const;
  const std::string& kept() const { return merge_.output; }
  // The merged trace; empty where it is read while it is made.
  const std::string& file() const { return file_; }
  // Something that a warning was for was found by the merge.
  bool suspect() const { return merged_ && merged_->suspect(); }
  // Only a part of the time is read.
  bool in_part() const { return cut_.has_value(); }

  // How a run is merged, where that is to be done by the caller; null: it is no run, or not as a
  // whole.
  const merge::MergeOptions* merge() const { return file_.empty() && !cut_ ? &merge_ : nullptr; }
  // What the caller's merge found.
  void tell(const merge::Summary& summary);

  // The next reading, from the beginning.
  Result<earl::Trace> open();
  // About how many events a trace that was opened has.
  std::uint64_t events(const earl::Trace& trace) const {
    return stream_ ? stream_->expected_events() : trace.declared_events().value_or(0);
  }
  // When a reading is over: how the merge ended.
  Status finish();

 private:
  Result<earl::Trace> open_part();
  std::function<void(std::uint64_t, std::uint64_t)> progress();

  // A trace that can be read more than once: the merge writes one, which goes with this object
  // unless it is kept.
  Status write_file();

  std::string name_;
  std::string file_;                // empty: none yet
  std::optional<filter::Cut> cut_;  // of the time
  merge::MergeOptions merge_;
  std::optional<merge::Summary> merged_;
  std::optional<TemporaryFolder> folder_;
  std::optional<cli::Progress> bar_;  // the merge's thread has it until there is something to read
  std::optional<filter::PartStream> part_;
  std::optional<merge::MergedStream> stream_;  // last: its thread uses the rest
};

// Its report: the trace's name with .cube. "run/a.elg.zst" gives "run/a.cube", as the directory
// "run" does.
std::string report_name(const std::string& trace);

}  // namespace kojak::expert
