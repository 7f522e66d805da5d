// A merge in a thread of its own, whose trace is read while it is made, without a file in between.
//
//   MergedStream stream(options);
//   auto trace = earl::Trace::from(stream.source(), "run1");
//   ...                                   // reads it once, to its end
//   Result<Summary> merged = stream.finish();
// What was read is the merged trace only if finish() gives a summary. The stream says of the number
// of events that it is not known (that is found out while they are written). `options.output` is
// written as well, the same as without a reader; empty: nothing is. The thread ends with this
// object, at once if the reader has left. Use it from one thread, which need not be the reader's.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <thread>

#include "epilog/format/io/reader.h"
#include "merge/merge.h"

namespace kojak {
class BlockPipe;
}

namespace kojak::merge {

class MergedStream {
 public:
  // `before_first` is called in the merge's thread when it no longer calls options.progress, before
  // the reader gets its first bytes, or the end.
  explicit MergedStream(MergeOptions options, std::function<void()> before_first = {});
  // What the caller writes into the pipe.
  explicit MergedStream(std::function<Result<Summary>(BlockPipe&)> write);
  ~MergedStream();
  MergedStream(const MergedStream&) = delete;
  MergedStream& operator=(const MergedStream&) = delete;

  // Once. It may outlive the stream.
  std::unique_ptr<ByteSource> source();
  // An estimate; 0 before the reader has got its first bytes.
  std::uint64_t expected_events() const;
  // Waits for the merge, which ends early if not all was read. What it threw is thrown again.
  Result<Summary> finish();
  // Whether finish() fails only because the reader left.
  bool abandoned() const;

 private:
  void run(std::function<Result<Summary>(BlockPipe&)> write);
  std::shared_ptr<BlockPipe> pipe_;
  std::optional<Result<Summary>> result_;
  std::exception_ptr thrown_;
  std::thread thread_;  // last: it uses all of these
};

}  // namespace kojak::merge
