#include "earl/access/event_cursor.h"

#include "earl/detail/decode.h"
#include "earl/detail/flat_event.h"

namespace kojak::earl {

EventCursor::Step EventCursor::step(Event& event) {
  Attributes attributes;
  while (true) {
    if (!more()) [[unlikely]]
      return p_ == end_ ? Step::kEnd : Step::kDamaged;
    const auto length = static_cast<std::size_t>(p_[0]);
    const auto type = static_cast<std::uint8_t>(p_[1]);
    if (static_cast<std::size_t>(end_ - p_) < 2 + length) return Step::kDamaged;
    const std::byte* const body = p_ + 2;
    p_ = body + length;
    if (is_event(type)) [[likely]] {
      const bool whole = fast_ ? decode<true>(type, body, length, attributes, event)
                               : decode<false>(type, body, length, attributes, event);
      return whole ? Step::kEvent : Step::kUndecoded;
    }
    if (is_attribute(type)) {
      attribute(type, body, length, attributes);
    } else if (!late_definition_) {
      late_definition_ = offset_of(body - 2);
    }
  }
}

template <bool kFast>
inline bool EventCursor::decode(std::uint8_t type, const std::byte* body, std::size_t length,
                                const Attributes& attributes, Event& event) {
  detail::FlatEvent one{event, trace_.native()};
  const std::uint64_t pos = pos_++;
  detail::dispatch_event(type, [&]<class R>() KOJAK_INLINED {
    if constexpr (R::kDialect != RecordDialect::kLocal) {
      R record;
      bool whole;
      if constexpr (kFast) {
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

void EventCursor::attribute(std::uint8_t type, const std::byte* body, std::size_t length,
                            Attributes& attributes) const {
  const RawRecord raw{type, static_cast<std::uint8_t>(length), body, 0};
  if (type == static_cast<std::uint8_t>(RecordType::kAttrUi4)) {
    AttrUi4 a;
    if (kojak::decode(raw, trace_.dialect(), a) == nullptr && a.kind == kAttrRequest) {
      attributes.request = static_cast<RequestId>(kojak::raw(a.value));
    }
  } else if (type == static_cast<std::uint8_t>(RecordType::kAttrUi8)) {
    AttrUi8 a;
    if (kojak::decode(raw, trace_.dialect(), a) != nullptr) return;
    const auto value = static_cast<Bytes64>(kojak::raw(a.value));
    if (a.kind == kAttrBytesSent) attributes.sent = value;
    if (a.kind == kAttrBytesReceived) attributes.recvd = value;
  }
}

}  // namespace kojak::earl
