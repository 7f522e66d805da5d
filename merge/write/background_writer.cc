#include "merge/write/background_writer.h"

#include <algorithm>
#include <utility>

namespace kojak::merge {

BackgroundWriter::BackgroundWriter(RecordOutput& output, Helpers& helpers)
    : output_(output), helpers_(helpers), first_(output.empty()) {
  const std::size_t count = std::min(helpers.count(), kMost) + 1;
  while (buffers_.size() < count) buffers_.emplace_back(*this);
}

BackgroundWriter::~BackgroundWriter() {
  for (Buffer& buffer : buffers_) helpers_.drop(buffer);
}

std::unique_ptr<std::byte[]> BackgroundWriter::exchange(std::unique_ptr<std::byte[]> full,
                                                        std::size_t used) {
  Buffer& buffer = buffers_[next_];
  wait_for(buffer);
  if (!buffer.bytes) {
    buffer.bytes = std::make_unique_for_overwrite<std::byte[]>(TraceWriter::kBuffer);
  }
  std::swap(buffer.bytes, full);
  buffer.used = used;
  buffer.first = first_;
  first_ = false;
  next_ = (next_ + 1) % buffers_.size();
  helpers_.post(buffer);
  return full;
}

Status BackgroundWriter::drain() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    wait_for(buffers_[(next_ + i) % buffers_.size()]);
  }
  return status();
}

Status BackgroundWriter::status() {
  const std::lock_guard lock(mutex_);
  return status_;
}

// Until it is written, as are all before it. (Who has packed it may have left it to another one who
// is writing.)
void BackgroundWriter::wait_for(Buffer& buffer) {
  helpers_.finish(buffer);
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&buffer] { return !buffer.ready; });
  if (thrown_) std::rethrow_exception(thrown_);
}

void BackgroundWriter::Buffer::run() {
  writer.output_.pack(bytes.get(), used, first, packed);
  writer.write_ready(*this);
}

void BackgroundWriter::write_ready(Buffer& packed) {
  std::unique_lock lock(mutex_);
  packed.ready = true;
  if (writing_) return;
  writing_ = true;
  while (buffers_[to_write_].ready) {
    Buffer& buffer = buffers_[to_write_];
    if (status_ && !thrown_) {
      lock.unlock();
      Status status;
      std::exception_ptr thrown;
      try {
        status = output_.put(buffer.packed);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      status_ = std::move(status);
      thrown_ = thrown;
    }
    buffer.ready = false;
    to_write_ = (to_write_ + 1) % buffers_.size();
    written_.notify_all();
  }
  writing_ = false;
}

}  // namespace kojak::merge
