// Reads events out of bytes in memory, from any record on, each as a flat value.
//
// step() goes to the next event record, whether it can be decoded or not: every one has a number.
// No ownership: trace and bytes must outlive it. Not thread-safe; cursors of their own are. Damage
// (a record that the bytes do not hold whole) ends it. Internal to earl/access.
#pragma once

#include <span>

#include "earl/detail/decode.h"
#include "earl/detail/flat_event.h"

namespace kojak::earl {

class EventCursor {
 public:
  enum class Step : std::uint8_t { kEvent, kUndecoded, kEnd, kDamaged };

  // `offset` is that of the first record after event `pos` - 1.
  EventCursor(const Trace& trace, std::span<const std::byte> bytes, std::uint64_t offset,
              std::uint64_t pos)
      : trace_(trace),
        begin_(bytes.data()),
        p_(bytes.data() + offset),
        end_(bytes.data() + bytes.size()),
        pos_(pos),
        fast_(trace.native() && !trace.dialect().swapped()) {}

  std::uint64_t offset() const { return static_cast<std::uint64_t>(p_ - begin_); }
  std::uint64_t pos() const { return pos_; }  // of the next event

  // kUndecoded: only pos and type of the event are filled in.
  Step step(Event& event) {
    Attributes attributes;
    while (true) {
      if (end_ - p_ < 2) return p_ == end_ ? Step::kEnd : Step::kDamaged;
      const auto length = static_cast<std::size_t>(p_[0]);
      const auto type = static_cast<std::uint8_t>(p_[1]);
      if (static_cast<std::size_t>(end_ - p_) < 2 + length) return Step::kDamaged;
      const std::byte* const body = p_ + 2;
      p_ = body + length;
      if (is_event(type)) [[likely]] {
        return decode(type, body, length, attributes, event) ? Step::kEvent : Step::kUndecoded;
      }
      if (is_attribute(type)) attribute(type, body, length, attributes);
    }
  }
  // The type of the next event; 0 if there is none.
  EventType peek() const {
    for (const std::byte* p = p_; end_ - p >= 2; p += 2 + static_cast<std::size_t>(p[0])) {
      const auto type = static_cast<std::uint8_t>(p[1]);
      if (is_event(type)) return static_cast<EventType>(type);
    }
    return EventType{};
  }
  // Goes past `n` events.
  bool skip(std::uint64_t n) {
    while (n > 0) {
      if (end_ - p_ < 2) return false;
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
  bool decode(std::uint8_t type, const std::byte* body, std::size_t length,
              const Attributes& attributes, Event& event) {
    detail::FlatEvent one{event, trace_.native()};
    const std::uint64_t pos = pos_++;
    dispatch_record(
        type, [&]<class R>() __attribute__((always_inline)) {
          if constexpr (requires(R r) {
                          r.lid;
                          r.time;
                        } &&
                        R::kDialect != RecordDialect::kLocal) {
            R record;
            bool whole;
            if (fast_) {
              whole = detail::decode_native(body, length, trace_.dialect().metrics, record);
            } else {
              const RawRecord raw{type, static_cast<std::uint8_t>(length), body, 0};
              whole = kojak::decode(raw, trace_.dialect(), record) == nullptr;
            }
            if (whole) one.handle(record, attributes, pos);
          }
        });
    if (one.have) [[likely]] {
      detail::resolve_region(trace_, event);
    } else {
      event = Event{};
      event.pos = pos;
      event.type = static_cast<EventType>(type);
    }
    return one.have;
  }
  void attribute(std::uint8_t type, const std::byte* body, std::size_t length,
                 Attributes& attributes) const {
    const RawRecord raw{type, static_cast<std::uint8_t>(length), body, 0};
    if (type == static_cast<std::uint8_t>(RecordType::kAttrUi4)) {
      AttrUi4 a;
      if (kojak::decode(raw, trace_.dialect(), a) == nullptr && kojak::raw(a.kind) == 2) {
        attributes.request = static_cast<RequestId>(kojak::raw(a.value));
      }
    } else if (type == static_cast<std::uint8_t>(RecordType::kAttrUi8)) {
      AttrUi8 a;
      if (kojak::decode(raw, trace_.dialect(), a) != nullptr) return;
      const auto value = static_cast<Bytes64>(kojak::raw(a.value));
      if (kojak::raw(a.kind) == 5) attributes.sent = value;
      if (kojak::raw(a.kind) == 6) attributes.recvd = value;
    }
  }

  const Trace& trace_;
  const std::byte* begin_;
  const std::byte* p_;
  const std::byte* end_;
  std::uint64_t pos_;
  bool fast_;
};

}  // namespace kojak::earl
