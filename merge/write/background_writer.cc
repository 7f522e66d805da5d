#include "merge/write/background_writer.h"

namespace kojak::merge {

BackgroundWriter::BackgroundWriter(RecordOutput& output)
    : output_(output), buffer_(std::make_unique_for_overwrite<std::byte[]>(TraceWriter::kBuffer)) {
  thread_ = std::thread([this] { run(); });
}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::unique_ptr<std::byte[]> BackgroundWriter::exchange(std::unique_ptr<std::byte[]> full,
                                                        std::size_t used) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return used_ == 0; });
  std::swap(buffer_, full);
  used_ = used;
  lock.unlock();
  changed_.notify_all();
  return full;
}

Status BackgroundWriter::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return used_ == 0; });
  return error_.reason.empty() ? Status() : Status(error_);
}

void BackgroundWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return used_ != 0 || stop_; });
    if (used_ == 0) return;
    const bool failed = !error_.reason.empty();
    lock.unlock();
    Status status;
    if (!failed) status = output_.write(buffer_.get(), used_);
    lock.lock();
    if (!status) error_ = status.error();
    used_ = 0;
    changed_.notify_all();
  }
}

}  // namespace kojak::merge
