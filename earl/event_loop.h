// Reads the events of a trace one after the other and gives each, decoded, to a handler.
//
// handler.handle(record, attributes, pos) is called for the record types that
// `Handler::wants<Record>()` says, directly, without a step in between; others are only counted.
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
    if (dialect.native()) {
      dialect.swapped() ? loop<true, true>(trace, handler) : loop<true, false>(trace, handler);
    } else {
      dialect.swapped() ? loop<false, true>(trace, handler) : loop<false, false>(trace, handler);
    }
  }

 private:
  template <bool kNative, bool kSwap, class Handler>
  static void loop(Trace& trace, Handler& handler) {
    constexpr bool kStops = requires {
      handler.go_on();
    };
    TraceReader& reader = trace.reader_;
    const std::uint32_t metrics = reader.dialect().metrics;
    Attributes attributes;
    bool any_attribute = false;
    std::uint64_t pos = trace.pos_;

    const auto event = [&](std::uint8_t type, std::size_t length, const std::byte* body)
        __attribute__((always_inline)) {
      const std::uint64_t at = pos++;
      const bool known = dispatch_event(
          type, [&]<class R>() __attribute__((always_inline)) {
            if constexpr (R::kDialect == RecordDialect::kLocal) {
              trace.findings_.add(Finding::kLocalRecord, at);
            } else if constexpr (Handler::template wants<R>()) {
              R record;
              if (detail::decode_event<kNative, kSwap>(body, length, metrics, record)) [[likely]] {
                handler.handle(record, static_cast<const Attributes&>(attributes), at);
              } else {
                trace.findings_.add(Finding::kShortRecord, at);
              }
            }
          });
      if (!known) [[unlikely]]
        trace.findings_.add(Finding::kUnknownRecord, at);
      if (any_attribute) [[unlikely]] {
        attributes = {};
        any_attribute = false;
      }
    };

    while (true) {
      // Within the reader's buffer, as far as records lie in it whole.
      const std::byte* p = reader.cursor();
      const std::byte* const end = reader.whole_until();
      bool stop = false;
      while (p < end) {
        const auto length = static_cast<std::size_t>(p[0]);
        const auto type = static_cast<std::uint8_t>(p[1]);
        if (!is_event(type)) [[unlikely]]
          break;
        event(type, length, p + 2);
        p += 2 + length;
        if constexpr (kStops) {
          stop = !handler.go_on();
          if (stop) break;
        }
      }
      reader.skip_to(p);
      if (stop) break;
      RawRecord raw;
      if (const auto next = reader.next(raw); next != TraceReader::Next::kRecord) {
        trace.finish(next == TraceReader::Next::kDamaged, pos);
        break;
      }
      if (!is_event(raw.type)) {
        any_attribute |= trace.other_record(raw, attributes, pos);
        continue;
      }
      event(raw.type, raw.length, raw.body);
      if constexpr (kStops) {
        if (!handler.go_on()) break;
      }
    }
    trace.pos_ = pos;
  }

  // dispatch_record for events, inlined into the loop.
  template <class F>
  [[gnu::always_inline]] static bool dispatch_event(std::uint8_t type, F&& f) {
    switch (type) {
#define KOJAK_RECORD(type_, Struct, NAME, kind)             \
  case type_:                                               \
    if constexpr (RecordKind::kind == RecordKind::kEvent) { \
      f.template operator()<Struct>();                      \
      return true;                                          \
    }                                                       \
    return false;
#define KOJAK_FIELD(Type, name, doc)
#define KOJAK_FIELD_SINCE(since, Type, name, doc)
#define KOJAK_FIELD_NATIVE(Type, name, doc)
#define KOJAK_ARRAY(Type, count, name, doc)
#define KOJAK_ARRAY_SINCE(since, Type, count, name, doc)
#define KOJAK_REST(Type, name, doc)
#define KOJAK_TEXT(name, doc)
#define KOJAK_METRICS(name)
#define KOJAK_RECORD_END(dialect, doc)
#include "epilog/format/records.def"
#include "epilog/format/records_undef.h"
      default:
        return false;
    }
  }
};

}  // namespace kojak::earl
