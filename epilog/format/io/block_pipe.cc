#include "epilog/format/io/block_pipe.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kojak {

void BlockPipe::tell_first() {
  if (before_first_) std::exchange(before_first_, nullptr)();
}

std::unique_ptr<std::byte[]> BlockPipe::exchange(std::unique_ptr<std::byte[]> full,
                                                 std::size_t used) {
  tell_first();
  std::unique_ptr<std::byte[]> empty;
  {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [this] { return full_.size() < kBlocks || abandoned_; });
    if (abandoned_) return full;
    full_.push_back({std::move(full), used});
    if (!free_.empty()) {
      empty = std::move(free_.back());
      free_.pop_back();
    }
  }
  not_empty_.notify_one();
  return empty ? std::move(empty)
               : std::make_unique_for_overwrite<std::byte[]>(TraceWriter::kBuffer);
}

Status BlockPipe::status() const {
  if (!abandoned()) return {};
  Error error;
  error.code = ExitCode::kOutputFailed;
  error.reason = "the merged trace has lost its reader";
  return error;
}

void BlockPipe::close(bool complete) {
  tell_first();
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    complete_ = complete;
  }
  not_empty_.notify_one();
}

std::ptrdiff_t BlockPipe::read(std::byte* to, std::size_t n) {
  if (position_ == current_.size) {
    std::unique_lock lock(mutex_);
    if (current_.bytes) free_.push_back(std::move(current_.bytes));
    current_ = {};
    position_ = 0;
    not_empty_.wait(lock, [this] { return !full_.empty() || closed_; });
    if (full_.empty()) return complete_ ? 0 : -1;
    current_ = std::move(full_.front());
    full_.pop_front();
    lock.unlock();
    not_full_.notify_one();
  }
  n = std::min(n, current_.size - position_);
  std::memcpy(to, current_.bytes.get() + position_, n);
  position_ += n;
  return static_cast<std::ptrdiff_t>(n);
}

void BlockPipe::abandon() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    abandoned_ = true;
  }
  not_full_.notify_one();
}

bool BlockPipe::abandoned() const {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

namespace {

class PipeSource final : public ByteSource {
 public:
  explicit PipeSource(std::shared_ptr<BlockPipe> pipe) : pipe_(std::move(pipe)) {}
  ~PipeSource() override { pipe_->abandon(); }
  PipeSource(const PipeSource&) = delete;
  PipeSource& operator=(const PipeSource&) = delete;
  std::ptrdiff_t read(std::byte* to, std::size_t n) override { return pipe_->read(to, n); }
  bool seekable() const override { return false; }
  bool seek(std::uint64_t) override { return false; }
  std::string error() const override { return "the merge ended before its trace was complete"; }

 private:
  std::shared_ptr<BlockPipe> pipe_;
};

}  // namespace

std::unique_ptr<ByteSource> pipe_source(std::shared_ptr<BlockPipe> pipe) {
  return std::make_unique<PipeSource>(std::move(pipe));
}

}  // namespace kojak
