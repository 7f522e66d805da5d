// Who is told of what an analysis sees and finds, in the order of the trace.
//
// A consumer is a class with handlers for what it wants to know; those that it leaves out cost
// nothing. Handlers are those of earl::Sink, and these:
//   on_wait(const Wait&)                  a wait that counts
//   on_sum(metric, call path, location, TimeSum)
//                                         the sum of several, some or all of which come on their
//                                         own, as Wait::Known::kInSum
//   on_stage()                            waits that follow are of other instances than those
//   before,
//                                         also where they are of the same operation
//   on_time(metric, call path, location, seconds or TimeSum), on_count(..., whole number)
//                                         what is no waiting
//   on_amount(metric, call path, location, amount)
//                                         the same, which need not be whole
//   on_arrival(const Call&, const EndedBy&)
//                                         a call that would have waited if the other one had come
//                                         later than it did
//   on_moved(path, location, from, to)    at the end: what was told of the metric `from` there is
//                                         of `to` in truth, or (nothing) does not count
//   on_meeting(operation, arrivals)       all have come to an operation in which each waits for all
//   on_passed(arrivals)                   all have entered upc_notify, before which nobody's
//   upc_wait
//                                         returns
//   on_begin(first), on_end(last)         before and after everything: the trace's times
// The list of an analysis (expert/pass.h) names all consumers: C is always there, std::optional<C>
// if the analysis makes one, C* if it is handed one.
#pragma once

#include <concepts>
#include <optional>

#include "epilog/format/io/log_memory.h"
#include "expert/waits/wait.h"

namespace kojak::expert {
using earl::Call;

template <class C>
struct OneConsumer {
  static constexpr bool kAlways = true;
  template <class Setting>
  requires std::constructible_from<C, const Setting&>
  explicit OneConsumer(const Setting& setting) : consumer(setting) {}
  template <class Setting>
  explicit OneConsumer(const Setting&) : consumer() {}
  C* wanted() { return &consumer; }
  C consumer;
};
template <class C>
struct OneConsumer<std::optional<C>> {
  static constexpr bool kAlways = false;
  template <class Setting>
  explicit OneConsumer(const Setting&) {}
  C* wanted() { return consumer ? &*consumer : nullptr; }
  std::optional<C> consumer;
};
template <class C>
struct OneConsumer<C*> {
  static constexpr bool kAlways = false;
  template <class Setting>
  explicit OneConsumer(const Setting&) {}
  C* wanted() { return consumer; }
  C* consumer = nullptr;
};

template <class... Cs>
class Consumers : OneConsumer<Cs>... {
 public:
  // Of what those are made that are always there; some are made of nothing.
  template <class Setting>
  explicit Consumers(const Setting& setting) : OneConsumer<Cs>(setting)... {}

  // Named as in the list.
  template <class C>
  C& get() {
    return static_cast<OneConsumer<C>&>(*this).consumer;
  }
  // f(consumer) for all that are there; for those that always are; for the others.
  template <class F>
  KOJAK_INLINED void each(F&& f) {
    (visit(static_cast<OneConsumer<Cs>&>(*this), f), ...);
  }
  template <class F>
  KOJAK_INLINED void each_always(F&& f) {
    (visit_if<true>(static_cast<OneConsumer<Cs>&>(*this), f), ...);
  }
  template <class F>
  KOJAK_INLINED void each_extra(F&& f) {
    (visit_if<false>(static_cast<OneConsumer<Cs>&>(*this), f), ...);
  }
  bool any_extra() {
    bool any = false;
    each_extra([&](auto&) { any = true; });
    return any;
  }

 private:
  template <class One, class F>
  KOJAK_INLINED static void visit(One& one, F& f) {
    if (auto* const consumer = one.wanted()) f(*consumer);
  }
  template <bool kAlways, class One, class F>
  KOJAK_INLINED static void visit_if(One& one, F& f) {
    if constexpr (One::kAlways == kAlways) visit(one, f);
  }
};

// listener.handler(...) for those of a list that have such a handler. `each` is the list's function
// that goes over them.
#define KOJAK_TELL_EACH(list, each, handler, ...)                \
  (list).each([&](auto& listener) {                              \
    if constexpr (requires { listener.handler(__VA_ARGS__); }) { \
      listener.handler(__VA_ARGS__);                             \
    }                                                            \
  })
#define KOJAK_TELL(list, handler, ...) KOJAK_TELL_EACH(list, each, handler, __VA_ARGS__)

// The way to the consumers for who finds waits and is compiled by itself.
class WaitStream {
 public:
  virtual ~WaitStream() = default;
  virtual void wait(const Wait& wait) = 0;
  virtual void sum(MetricIndex metric, CallPathIndex path, LocationIndex location,
                   TimeSum time) = 0;
  // See on_stage.
  virtual void begin_stage() {}
  // Whether anybody is told of waits of that call.
  virtual bool own(const Call& /*call*/) const { return true; }
  // Where waits lie of which the end of the trace tells whether they count; null: it is enough to
  // tell their sums.
  virtual LogMemory* memory() = 0;
};

}  // namespace kojak::expert
