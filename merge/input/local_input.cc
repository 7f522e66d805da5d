#include "merge/input/local_input.h"

#include <algorithm>
#include <cstring>

#include "epilog/format/compact/find_place.h"
#include "epilog/format/io/reader.h"

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
  std::byte* const from = buffer_.get() + kept;
  if (packed_ != nullptr) {
    end_ = from + unpack(from, buffer_.get() + capacity_);
    return buffer_.get();
  }
  std::size_t got = 0;
  fail_by(read(base_ + kept, from, capacity_ - kept, got));
  end_ = from + got;
  return buffer_.get();
}

void LocalInput::fail_by(Status status) {
  if (!status) error_ = std::make_unique<Error>(std::move(status.error()));
}

// Reads as much of [at, at + n) as there is.
Status LocalInput::read(std::uint64_t at, std::byte* to, std::size_t n, std::size_t& got) const {
  got = 0;
  std::uint64_t begin = 0;  // of the part, in the trace
  for (const LocalTrace::Part& part : trace_->parts) {
    const std::uint64_t from = at + got;
    if (got < n && from >= begin && from < begin + part.length) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(n - got, begin + part.length - from));
      if (Status status = files_->read(part.file, part.offset + (from - begin), to + got, size);
          !status) {
        return status;
      }
      got += size;
    }
    begin += part.length;
  }
  return {};
}

// More behind what is left of the packed bytes.
Status LocalInput::fill(Packed& packed) const {
  const std::size_t left = packed.end - packed.in;
  if (!packed.input || packed.capacity < packed.needs) {
    packed.capacity = std::max(packed.capacity, packed.needs);
    auto input = std::make_unique_for_overwrite<std::byte[]>(packed.capacity);
    if (left != 0) std::memcpy(input.get(), packed.input.get() + packed.in, left);
    packed.input = std::move(input);
  } else {
    std::memmove(packed.input.get(), packed.input.get() + packed.in, left);
  }
  packed.at += packed.in;
  packed.in = 0;
  std::size_t got = 0;
  Status status = read(packed.at + left, packed.input.get() + left, packed.capacity - left, got);
  packed.end = left + got;
  return status;
}

std::size_t LocalInput::unpack(std::byte* to, std::byte* end) {
  Packed& p = *packed_;
  std::byte* out = to;
  bool all = p.damage != nullptr;  // has been read
  while (!all) {
    const bool last = p.at + p.end >= trace_->size || failed();
    if (p.end - p.in < p.needs && !last) {
      fail_by(fill(p));
      continue;
    }
    const auto piece =
        p.decoder.decode(p.input.get() + p.in, p.input.get() + p.end, last, out, end);
    p.in = static_cast<std::size_t>(piece.in - p.input.get());
    p.needs = piece.needs;
    out = piece.out;
    if (piece.stop == compact::Decoder::Stop::kOutput) break;
    if (piece.stop == compact::Decoder::Stop::kDamaged) p.damage = p.decoder.reason();
    all = last || p.damage != nullptr;
  }
  p.ended = all;
  return static_cast<std::size_t>(out - to);
}

const char* LocalInput::damage() const {
  if (packed_ != nullptr) return packed_->damage;
  return offset() < trace_->size ? kEndsInsideRecord : nullptr;
}

std::uint64_t LocalInput::place(std::uint64_t offset) const {
  if (packed_ == nullptr) return offset;
  if (packed_->damage != nullptr && offset >= this->offset(end_)) return progress();
  const auto read_at = [this](std::uint64_t at, std::byte* to, std::size_t n) {
    std::size_t got = 0;
    return read(at, to, n, got) ? got : 0;
  };
  return compact::find_place({kHeaderSize, kHeaderSize}, offset, packed_->decoder.swap(), read_at);
}

}  // namespace kojak::merge
