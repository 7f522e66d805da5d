// Reads the events of a trace one after the other and gives each, decoded, to a handler.
//
// handler.handle(record, attributes, pos) is called for the record types that
// `Handler::wants<Record>()` says, directly, without a step in between; others are counted, and
// looked at only for whether they are whole.
// Internal to earl: streaming (Replay) and Trace::next are made from it. The handler may stop the
// loop by returning false from go_on(). Faults of the file are counted in the trace's findings.
#pragma once

#include "earl/detail/decode.h"
#include "earl/trace.h"

namespace kojak::earl {

class EventLoop {
 public:
  // Until the end, damage, or handler.go_on() == false after an event.
  template <class Handler>
  static void run(Trace& trace, Handler& handler) {
    const Dialect& dialect = trace.reader_.dialect();
    if (dialect.native() && !dialect.swapped()) {
      loop<true>(trace, handler);
    } else {
      loop<false>(trace, handler);
    }
  }

 private:
  // kFast: native files of this machine's byte order, decoded without asking for either.
  template <bool kFast, class Handler>
  static void loop(Trace& trace, Handler& handler) {
    TraceReader& reader = trace.reader_;
    const Dialect& dialect = reader.dialect();
    const std::uint32_t metrics = dialect.metrics;
    Attributes attributes;
    bool any_attribute = false;
    std::uint64_t pos = trace.pos_;

    const std::byte* p = reader.cursor();
    const std::byte* end = reader.whole_until();
    while (true) {
      // Within the reader's buffer, as far as records lie in it whole.
      while (p < end) {
        const auto length = static_cast<std::size_t>(p[0]);
        const auto type = static_cast<std::uint8_t>(p[1]);
        const std::byte* const body = p + 2;
        if (!is_event(type)) [[unlikely]] {
          if (type != static_cast<std::uint8_t>(RecordType::kAttrUi4) || length < 5) break;
          attribute_ui4(body, dialect.swapped(), attributes, handler);
          any_attribute = true;
          p = body + length;
          continue;
        }
        const std::uint64_t at = pos++;
        const bool known = detail::dispatch_event(type, [&]<class R>() KOJAK_INLINED {
          constexpr bool kLocal = R::kDialect == RecordDialect::kLocal;
          R record;
          bool good;
          if constexpr (!kFast) {
            const RawRecord raw{type, static_cast<std::uint8_t>(length), body, 0};
            good = decode(raw, dialect, record) == nullptr;
          } else if constexpr (!kLocal && Handler::template wants<R>()) {
            good = detail::decode_native(body, length, metrics, record);
          } else {
            good = detail::fits_native<R>(length, metrics);
          }
          if (!good) [[unlikely]] {
            trace.findings_.add(Finding::kShortRecord, at);
          } else if constexpr (kLocal) {
            trace.findings_.add(Finding::kLocalRecord, at);
          } else if constexpr (Handler::template wants<R>()) {
            detail::keep_within_bounds(record.time);
            handler.handle(record, static_cast<const Attributes&>(attributes), at);
          }
        });
        if (!known) [[unlikely]]
          trace.findings_.add(Finding::kUnknownRecord, at);
        if (any_attribute) [[unlikely]] {
          attributes = {};
          any_attribute = false;
        }
        p = body + length;
        if constexpr (requires { handler.go_on(); }) {
          if (!handler.go_on()) {
            reader.skip_to(p, pos, any_attribute);
            trace.pos_ = pos;
            return;
          }
        }
      }
      reader.skip_to(p, pos, any_attribute);
      RawRecord raw;
      if (const auto next = reader.next(raw); next != TraceReader::Next::kRecord) {
        trace.pos_ = pos;
        trace.finish(next == TraceReader::Next::kDamaged);
        return;
      }
      end = reader.whole_until();
      const bool request =
          raw.type == static_cast<std::uint8_t>(RecordType::kAttrUi4) && raw.length >= 5;
      if (is_event(raw.type) || request) {
        p = raw.body - 2;  // again, with a fuller buffer
        if (end <= p) end = p + 1;
      } else {
        any_attribute |= trace.other_record(raw, attributes, pos);
        p = reader.cursor();
      }
    }
  }

  template <class Handler>
  KOJAK_INLINED static void attribute_ui4(const std::byte* body, bool swap, Attributes& attributes,
                                          Handler& handler) {
    constexpr auto kRequest = static_cast<std::byte>(raw(kAttrRequest));
    constexpr auto kCreatedBy = static_cast<std::byte>(raw(kAttrCreatedBy));
    std::uint32_t value;
    std::memcpy(&value, body + 1, sizeof value);
    if (swap) value = byte_swapped(value);
    if (body[0] == kRequest) attributes.request = static_cast<RequestId>(value);
    if constexpr (requires { handler.created_by(ThreadId{}); }) {
      if (body[0] == kCreatedBy) [[unlikely]]
        handler.created_by(static_cast<ThreadId>(value));
    }
  }
};

}  // namespace kojak::earl
