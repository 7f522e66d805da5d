// Has the full buffers of a TraceWriter packed and written by a helper, while the next one is
// filled.
//
// One buffer is on its way at a time; exchange() waits for the one before. The output and the
// helpers must outlive it; nobody else may write to the output before drain(). The first error is
// kept, and told by drain(). All calls from one thread.
#pragma once

#include <memory>

#include "epilog/format/io/writer.h"
#include "merge/input/helpers.h"

namespace kojak::merge {

class BackgroundWriter : public BufferSink, private Helpers::Job {
 public:
  BackgroundWriter(RecordOutput& output, Helpers& helpers);
  ~BackgroundWriter() override;
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;
  std::unique_ptr<std::byte[]> exchange(std::unique_ptr<std::byte[]> full,
                                        std::size_t used) override;
  Status drain() override;

 private:
  void run() override;
  RecordOutput& output_;
  Helpers& helpers_;
  std::unique_ptr<std::byte[]> buffer_;  // to be written, or written already
  std::size_t used_ = 0;                 // bytes to be written
  Error error_;                          // of who writes, from post() to finish()
};

}  // namespace kojak::merge
