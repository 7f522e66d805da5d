// Reads the events of a trace one after the other and gives each, decoded, to a handler.
//
// handler.handle(record, attributes, pos) is called for the record types that
// `Handler::wants<Record>()` says, directly, without a step in between; others are counted, and
// looked at only for whether they are whole.
// A handler may have fetch<kStep>(type, location), by which it is told of events that come soon, in
// several steps: in a run of thousands of processes each event is of another one, whose state lies
// somewhere else in memory.
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
    [[maybe_unused]] LookAhead ahead;
    while (true) {
      // Within the reader's buffer, as far as records lie in it whole.
      while (p < end) {
        if constexpr (kFast && looks_ahead<Handler>()) {
          if (handler.looks_ahead()) ahead.go_on(p, end, handler);
        }
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
  static constexpr bool looks_ahead() {
    return requires(const Handler& h) {
      h.looks_ahead();
    };
  }
  // The records that come next, walked over before they are read.
  class LookAhead {
   public:
    template <class Handler>
    KOJAK_INLINED void go_on(const std::byte* p, const std::byte* end, const Handler& handler) {
      // (After the buffer was filled again it may stand anywhere.)
      if (at_ < p || at_ > p + 2 * kBytes) [[unlikely]]
        at_ = p;
      while (at_ < end && at_ < p + kBytes) {
        Next& next = next_[count_ % kKept];
        next.type = static_cast<std::uint8_t>(at_[1]);
        std::memcpy(&next.location, at_ + 2, sizeof next.location);
        handler.template fetch<0>(next.type, next.location);
        const Next& nearer = next_[(count_ - kSteps) % kKept];
        handler.template fetch<1>(nearer.type, nearer.location);
        const Next& nearest = next_[(count_ - 2 * kSteps) % kKept];
        handler.template fetch<2>(nearest.type, nearest.location);
        ++count_;
        at_ += 2 + std::to_integer<std::size_t>(at_[0]);
      }
    }

   private:
    static constexpr std::size_t kBytes = 768;              // some 20 records
    static constexpr std::uint32_t kKept = 16, kSteps = 6;  // records from one step to the next
    struct Next {
      std::uint32_t location = kAbsent;
      std::uint8_t type = 0;
    };
    const std::byte* at_ = nullptr;
    std::uint32_t count_ = 0;
    Next next_[kKept];
  };

  template <class Handler>
  KOJAK_INLINED static void attribute_ui4(const std::byte* body, bool swap, Attributes& attributes,
                                          Handler& handler) {
    constexpr auto kRequest = static_cast<std::byte>(raw(kAttrRequest));
    constexpr auto kCreatedBy = static_cast<std::byte>(raw(kAttrCreatedBy));
    constexpr auto kAllocation = static_cast<std::byte>(raw(kAttrAllocation));
    std::uint32_t value;
    std::memcpy(&value, body + 1, sizeof value);
    if (swap) value = byte_swapped(value);
    if (body[0] == kRequest) attributes.request = static_cast<RequestId>(value);
    if (body[0] == kAllocation) attributes.allocation = value;
    if constexpr (requires { handler.created_by(ThreadId{}); }) {
      if (body[0] == kCreatedBy) [[unlikely]]
        handler.created_by(static_cast<ThreadId>(value));
    }
  }
};

}  // namespace kojak::earl
