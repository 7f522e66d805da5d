// Has the full buffers of a TraceWriter packed and written by helpers, while the next one is
// filled.
//
// Buffers are packed in any order and written in theirs, by whoever has packed the next one. As
// many are on their way at a time as there are helpers, up to kMost, and one more; exchange() waits
// for the oldest. The output and the helpers must outlive it; nobody else may write to the output
// before drain(). After the first error, which drain() tells, nothing is written. All calls from
// one thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>

#include "epilog/format/io/writer.h"
#include "merge/input/helpers.h"

namespace kojak::merge {

class BackgroundWriter : public BufferSink {
 public:
  static constexpr std::size_t kMost = 7;

  BackgroundWriter(RecordOutput& output, Helpers& helpers);
  ~BackgroundWriter() override;
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;
  std::unique_ptr<std::byte[]> exchange(std::unique_ptr<std::byte[]> full,
                                        std::size_t used) override;
  Status drain() override;
  // The error of what has been written so far.
  Status status();

 private:
  struct Buffer : Helpers::Job {
    explicit Buffer(BackgroundWriter& of) : writer(of) {}
    void run() override;
    BackgroundWriter& writer;
    std::unique_ptr<std::byte[]> bytes;
    std::size_t used = 0;
    bool first = false;  // of the output
    RecordOutput::Packed packed;
    bool ready = false;  // packed, and not written yet
  };
  void wait_for(Buffer& buffer);
  void write_ready(Buffer& packed);

  RecordOutput& output_;
  Helpers& helpers_;
  std::deque<Buffer> buffers_;  // a ring
  std::size_t next_ = 0;        // to be filled: the oldest
  bool first_;                  // nothing has been given before

  std::mutex mutex_;  // for what follows, and whether buffers are ready
  std::condition_variable written_;
  std::size_t to_write_ = 0;  // the oldest that is not written
  bool writing_ = false;      // somebody does; nobody else may
  Status status_;
  std::exception_ptr thrown_;
};

}  // namespace kojak::merge
