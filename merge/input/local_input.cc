#include "merge/input/local_input.h"

#include <algorithm>
#include <cstring>

namespace kojak::merge {

void LocalInput::seek(std::uint64_t offset) {
  p_ = end_ = buffer_.get();
  base_ = offset;
}

const std::byte* LocalInput::fill(const std::byte* keep) {
  if (!buffer_) {
    buffer_ = std::make_unique_for_overwrite<std::byte[]>(capacity_);
    keep = p_ = end_ = buffer_.get();
  }
  const auto kept = static_cast<std::size_t>(end_ - keep);
  const auto ahead = static_cast<std::size_t>(p_ - keep);
  base_ += static_cast<std::uint64_t>(keep - buffer_.get());
  if (kept * 2 > capacity_) {  // what must be kept grows: rare, for many attributes before an event
    auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity_ * 2);
    std::memcpy(larger.get(), keep, kept);
    buffer_ = std::move(larger);
    capacity_ *= 2;
  } else if (kept != 0) {
    std::memmove(buffer_.get(), keep, kept);
  }
  p_ = buffer_.get() + ahead;
  std::size_t filled = kept;
  std::uint64_t begin = 0;  // of the part, in the trace
  for (const LocalTrace::Part& part : trace_->parts) {
    const std::uint64_t at = base_ + filled;
    if (filled < capacity_ && at >= begin && at < begin + part.length && !failed()) {
      const auto n = static_cast<std::size_t>(
          std::min<std::uint64_t>(capacity_ - filled, begin + part.length - at));
      Status status =
          files_->read(part.file, part.offset + (at - begin), buffer_.get() + filled, n);
      if (!status) {
        error_ = std::make_unique<Error>(std::move(status.error()));
        break;
      }
      filled += n;
    }
    begin += part.length;
  }
  end_ = buffer_.get() + filled;
  return buffer_.get();
}

}  // namespace kojak::merge
