// Reads events out of records in memory, from any one on, each as a flat value.
//
// step() goes to the next event record, whether it can be decoded or not: every one has a number.
// No ownership: trace and records must outlive it. Not thread-safe; cursors of their own are.
// Damage (a record that they do not hold whole) ends it. Internal to earl/access.
#pragma once

#include <optional>

#include "earl/access/record_blocks.h"
#include "earl/trace.h"

namespace kojak::earl {

class EventCursor {
 public:
  enum class Step : std::uint8_t { kEvent, kUndecoded, kEnd, kDamaged };

  // `offset` is that of the first record after event `pos` - 1.
  EventCursor(const Trace& trace, const RecordBlocks& records, std::uint64_t offset,
              std::uint64_t pos)
      : trace_(trace),
        records_(records),
        window_(records.at(offset)),
        p_(window_.begin),
        end_(window_.end),
        pos_(pos),
        fast_(trace.native() && !trace.dialect().swapped()) {}

  std::uint64_t offset() const { return offset_of(p_); }
  std::uint64_t pos() const { return pos_; }  // of the next event
  // Offset of the first definition among the events that step() passed.
  const std::optional<std::uint64_t>& late_definition() const { return late_definition_; }

  // kUndecoded: only pos and type of the event are filled in.
  Step step(Event& event);
  // The type of the next event; 0 if there is none.
  EventType peek() {
    while (more()) {
      const auto type = static_cast<std::uint8_t>(p_[1]);
      if (is_event(type)) return static_cast<EventType>(type);
      const std::size_t size = 2 + static_cast<std::size_t>(p_[0]);
      if (static_cast<std::size_t>(end_ - p_) < size) break;
      p_ += size;
    }
    return EventType{};
  }
  // The record of the next event, for as long as the cursor stays; without a body if there is none.
  RawRecord peek_record() {
    if (peek() == EventType{}) return {};
    const auto length = static_cast<std::uint8_t>(p_[0]);
    if (static_cast<std::size_t>(end_ - p_) < 2u + length || length < 12) return {};
    return {static_cast<std::uint8_t>(p_[1]), length, p_ + 2, offset()};
  }
  // Goes past `n` events.
  bool skip(std::uint64_t n) {
    while (n > 0) {
      if (!more()) return false;
      const std::size_t size = 2 + static_cast<std::size_t>(p_[0]);
      if (static_cast<std::size_t>(end_ - p_) < size) return false;
      if (is_event(static_cast<std::uint8_t>(p_[1]))) {
        --n;
        ++pos_;
      }
      p_ += size;
    }
    return true;
  }

 private:
  // Whether the head of a record is there.
  bool more() {
    while (p_ == end_) {
      window_ = records_.next(window_);
      p_ = window_.begin;
      end_ = window_.end;
      if (p_ == end_) return false;
    }
    return end_ - p_ >= 2;
  }
  std::uint64_t offset_of(const std::byte* p) const {
    return window_.offset + static_cast<std::uint64_t>(p - window_.begin);
  }
  template <bool kFast>
  bool decode(std::uint8_t type, const std::byte* body, std::size_t length,
              const Attributes& attributes, Event& event);
  void attribute(std::uint8_t type, const std::byte* body, std::size_t length,
                 Attributes& attributes) const;

  const Trace& trace_;
  const RecordBlocks& records_;
  RecordBlocks::Window window_;
  const std::byte* p_;
  const std::byte* end_;
  std::uint64_t pos_;
  bool fast_;  // native and of this machine's byte order
  std::optional<std::uint64_t> late_definition_;
};

}  // namespace kojak::earl
