// Hands a merged trace to a reader in another thread: a bounded queue of a TraceWriter's buffers.
//
// One thread writes (exchange, close), one reads (read, abandon). The writer waits while as many
// buffers are full as there may be, the reader while none is. Neither waits for one that has ended:
// after close() the reader gets what is left, then the end or, if the trace is not complete, an
// error; after abandon() what is written is dropped, and status() says so, for the writer to stop.
// Memory: kBlocks buffers and the one that each side has.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "epilog/format/io/reader.h"
#include "epilog/format/io/writer.h"

namespace kojak {

class BlockPipe : public BufferSink {
 public:
  static constexpr std::size_t kBlocks = 4;

  // ---- writer's thread
  std::unique_ptr<std::byte[]> exchange(std::unique_ptr<std::byte[]> full,
                                        std::size_t used) override;
  Status drain() override { return status(); }
  // An error once the reader has left.
  Status status() const;
  // How many events there will be, as far as that is known before; told before any block.
  void expect(std::uint64_t events) { expected_ = events; }
  // Called in the writer's thread, once, before the reader gets anything, be it the end.
  void before_first(std::function<void()> call) { before_first_ = std::move(call); }
  void close(bool complete);

  // ---- reader's thread
  // As ByteSource::read.
  std::ptrdiff_t read(std::byte* to, std::size_t n);
  std::uint64_t expected() const { return expected_; }
  // The reader needs no more. Nothing happens if the writer has ended.
  void abandon();
  // Whether the reader left before the writer had ended.
  bool abandoned() const;

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };
  void tell_first();

  mutable std::mutex mutex_;
  std::condition_variable not_full_, not_empty_;
  std::deque<Block> full_;
  std::vector<std::unique_ptr<std::byte[]>> free_;
  bool closed_ = false, complete_ = false, abandoned_ = false;

  std::atomic<std::uint64_t> expected_ = 0;
  std::function<void()> before_first_;  // the writer's

  Block current_;  // the reader's
  std::size_t position_ = 0;
};

// The reader's end of it; it has left when this goes.
std::unique_ptr<ByteSource> pipe_source(std::shared_ptr<BlockPipe> pipe);

}  // namespace kojak
