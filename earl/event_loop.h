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
    TraceReader& reader = trace.reader_;
    const std::uint32_t metrics = reader.dialect().metrics;
    Attributes attributes;
    bool any_attribute = false;
    std::uint64_t pos = trace.pos_;
    RawRecord raw;
    const auto one = [&]<class R>(std::uint64_t at) {
      if constexpr (R::kKind == RecordKind::kEvent) {
        if constexpr (R::kDialect == RecordDialect::kLocal) {
          trace.findings_.add(Finding::kLocalRecord, at);
        } else if constexpr (Handler::template wants<R>()) {
          R record;
          if (!detail::decode_event<kNative, kSwap>(raw, metrics, record)) [[unlikely]] {
            trace.findings_.add(Finding::kShortRecord, at);
          } else {
            handler.handle(record, attributes, at);
          }
        }
      }
    };
    bool first = trace.first_event_.has_value();
    if (first) raw = *trace.first_event_;
    trace.first_event_.reset();
    while (true) {
      if (!first) [[likely]] {
        if (const auto next = reader.next(raw); next != TraceReader::Next::kRecord) [[unlikely]] {
          trace.pos_ = pos;
          trace.finish(next == TraceReader::Next::kDamaged);
          return;
        }
      }
      first = false;
      if (!is_event(raw.type)) [[unlikely]] {
        any_attribute |= trace.other_record(raw, attributes, pos);
        continue;
      }
      const std::uint64_t at = pos++;
      if (!dispatch_event(raw.type, [&]<class R>() { one.template operator()<R>(at); }))
          [[unlikely]] {
        trace.findings_.add(Finding::kUnknownRecord, at);
      }
      if (any_attribute) [[unlikely]] {
        attributes = {};
        any_attribute = false;
      }
      if constexpr (requires { handler.go_on(); }) {
        if (!handler.go_on()) {
          trace.pos_ = pos;
          return;
        }
      }
    }
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
