// Writes the full buffers of a TraceWriter in a thread of its own, while the next one is filled.
//
// One buffer is on its way at a time; exchange() waits for the one before. Owns its thread, which
// ends with it. The output must outlive it; nobody else may write to it before drain(). The
// first error is kept, and told by drain(). All calls from one thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "epilog/format/io/writer.h"

namespace kojak::merge {

class BackgroundWriter : public BufferSink {
 public:
  explicit BackgroundWriter(RecordOutput& output);
  ~BackgroundWriter() override;
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;
  std::unique_ptr<std::byte[]> exchange(std::unique_ptr<std::byte[]> full,
                                        std::size_t used) override;
  Status drain() override;

 private:
  void run();
  RecordOutput& output_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<std::byte[]> buffer_;  // to be written, or written already
  std::size_t used_ = 0;                 // bytes to be written; 0: none
  bool stop_ = false;
  Error error_;
  std::thread thread_;  // last: it uses all of these
};

}  // namespace kojak::merge
