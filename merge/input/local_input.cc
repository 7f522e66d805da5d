#include "merge/input/local_input.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "epilog/format/compact/find_place.h"
#include "epilog/format/io/reader.h"

namespace kojak::merge {

Status read_trace(FileCache& files, const LocalTrace& trace, std::uint64_t at, std::byte* to,
                  std::size_t n, std::size_t& got) {
  got = 0;
  std::uint64_t begin = 0;  // of the part, in the trace
  for (const LocalTrace::Part& part : trace.parts) {
    const std::uint64_t from = at + got;
    if (got < n && from >= begin && from < begin + part.length) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(n - got, begin + part.length - from));
      if (Status status = files.read(part.file, part.offset + (from - begin), to + got, size);
          !status) {
        return status;
      }
      got += size;
    }
    begin += part.length;
  }
  return {};
}

std::uint64_t place_in_trace(FileCache& files, const LocalTrace& trace, std::uint64_t offset) {
  if (!trace.dialect.compact()) return offset;
  const auto read_at = [&](std::uint64_t at, std::byte* to, std::size_t n) {
    std::size_t got = 0;
    return read_trace(files, trace, at, to, n, got) ? got : 0;
  };
  return compact::find_place({kHeaderSize, kHeaderSize}, offset, trace.dialect.swapped(), read_at);
}

LocalInput::LocalInput(FileCache& files, const LocalTrace& trace, const InputBuffers& buffers,
                       const InputPart& part)
    : base_(part.block.records),
      files_(&files),
      trace_(&trace),
      capacity_(std::max(buffers.bytes, kLeast)),
      end_of_part_(part.end) {
  if (!trace.dialect.compact()) return;
  packed_ = std::make_unique<Packed>(files, trace, capacity_, part.block);
  if (buffers.helpers == nullptr || !buffers.helpers->any()) return;
  packed_->ahead.emplace(packed_->unpacker, *buffers.helpers);
  post_next(nullptr, 0);
}

const std::byte* LocalInput::fill(const std::byte* keep) {
  if (packed_ != nullptr && packed_->ahead) return take_block(keep);
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
  std::byte* const from = buffer_.get() + kept;
  if (packed_ != nullptr) {
    packed_->so_far = packed_->unpacker.next(from, buffer_.get() + capacity_);
    take_error();
    end_ = from + packed_->so_far.size;
    end_with_part();
    return buffer_.get();
  }
  std::size_t got = 0;
  if (Status status = read_trace(*files_, *trace_, base_ + kept, from, capacity_ - kept, got);
      !status) {
    error_ = std::make_unique<Error>(std::move(status.error()));
  }
  end_ = from + got;
  end_with_part();
  return buffer_.get();
}

void LocalInput::end_with_part() {
  if (offset(end_) < end_of_part_) [[likely]]
    return;
  end_ -= offset(end_) - end_of_part_;
  if (packed_ != nullptr) packed_->so_far.ended = true;
}

void LocalInput::skip_to(std::uint64_t offset) {
  while (this->offset() < offset) {
    if (available() < kMaxRecord && !exhausted()) fill();
    if (available() < 2) return;
    const std::size_t size = std::size_t{2} + static_cast<std::uint8_t>(*p_);
    if (available() < size) return;
    p_ += size;
  }
}

// The next block, behind what is kept; the one after it is begun, into the buffer of the last.
const std::byte* LocalInput::take_block(const std::byte* keep) {
  Packed& packed = *packed_;
  const auto kept = static_cast<std::size_t>(end_ - keep);
  const auto before = static_cast<std::size_t>(p_ - keep);
  const std::uint64_t begin = buffer_ ? offset(keep) : base_;
  if (!packed.ahead->posted()) post_next(nullptr, 0);
  std::size_t room = kRoom;
  std::size_t size = packed.ahead->buffer_size();
  std::unique_ptr<std::byte[]> next = packed.ahead->take(packed.so_far);
  take_error();
  if (kept > room) {  // for many attributes before an event; blocks grow with them
    capacity_ = std::max(capacity_, 2 * kept);
    size = kept + packed.so_far.size;
    auto larger = std::make_unique_for_overwrite<std::byte[]>(size);
    std::memcpy(larger.get() + kept, next.get() + room, packed.so_far.size);
    next = std::move(larger);
    room = kept;
  }
  std::byte* const from = next.get() + (room - kept);
  if (kept != 0) std::memcpy(from, keep, kept);
  std::swap(buffer_, next);
  std::swap(size_, size);
  p_ = from + before;
  end_ = from + kept + packed.so_far.size;
  // (Modulo 2^64, like all of these sums: what is kept may begin before the trace's own offsets.)
  base_ = begin - static_cast<std::uint64_t>(from - buffer_.get());
  end_with_part();
  if (!packed.so_far.ended) post_next(std::move(next), size);
  return from;
}

void LocalInput::post_next(std::unique_ptr<std::byte[]> buffer, std::size_t size) {
  if (size < kRoom + capacity_) {
    size = kRoom + capacity_;
    buffer = std::make_unique_for_overwrite<std::byte[]>(size);
  }
  packed_->ahead->post(std::move(buffer), size, kRoom, capacity_);
}

void LocalInput::take_error() {
  if (packed_->so_far.error != nullptr) error_ = std::move(packed_->so_far.error);
}

void LocalInput::release() {
  packed_.reset();
  buffer_.reset();
  p_ = end_ = nullptr;
  base_ = trace_->size;
  end_of_part_ = 0;
}

const char* LocalInput::damage() const {
  if (packed_ != nullptr) return packed_->so_far.damage;
  return offset() < trace_->size ? kEndsInsideRecord : nullptr;
}

std::uint64_t LocalInput::place(std::uint64_t offset) const {
  if (packed_ == nullptr) return offset;
  if (packed_->so_far.damage != nullptr && offset >= this->offset(end_)) return progress();
  return place_in_trace(*files_, *trace_, offset);
}

}  // namespace kojak::merge
