// The counters that ELG_METRICS names, for each thread: those of the processor and of the kernel by
// PAPI (PAPI_TOT_INS, perf::PAGE-FAULTS), and what getrusage tells of a thread (ru_minflt).
//
// A thread has them as Recorder::metrics, or null: then nothing is read, and what asks costs one
// comparison. Values count from where the thread's trace begins. They stand in ATTR_METRICS before
// the records that enter and leave regions; where none stands they were not read. prepare_metrics()
// finds out what there is, and complains of the rest; nothing fails later. PAPI's library is opened
// when it is needed (papi.h), so kojak runs without it.
#pragma once

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

struct Metrics {
  // ATTR_METRICS of a whole call holds twice as many.
  static constexpr std::uint32_t kMost = 15;
  static_assert(2 * kMost * sizeof(std::uint64_t) <= kMaxBody);

  // At the enter and the exit of the call in hand. Exits follow enters, so that both are one array.
  std::uint64_t values[2 * kMost];
  std::uint64_t start[kMost];  // what they stood at when the trace began
  std::uint32_t count;
  int sets[4];                // PAPI's, of this thread
  long long read[4 * kMost];  // from these
};

// Before recording begins, in every process: which of the counters wanted can be read here.
void prepare_metrics();
// The calling thread's, from where its trace begins; r.metrics is null where there are none.
void start_metrics(Recorder& r);
// LOCAL_METRIC for each; in the first thread also why others are missing.
void define_metrics(Recorder& r);
// Called by the thread itself.
void end_metrics(Recorder& r);

[[gnu::cold, gnu::noinline]] void read_metrics(Metrics& m, std::uint64_t* to);
[[gnu::cold, gnu::noinline]] std::byte* put_values(const Recorder& r, const std::uint64_t* values,
                                                   std::uint32_t count, std::byte* to);

KOJAK_INLINED inline void read_at_enter(Recorder& r) {
  if (r.metrics != nullptr) [[unlikely]]
    read_metrics(*r.metrics, r.metrics->values);
}
KOJAK_INLINED inline void read_at_exit(Recorder& r) {
  if (r.metrics != nullptr) [[unlikely]]
    read_metrics(*r.metrics, r.metrics->values + r.metrics->count);
}
// What stands before the record that enters the call in hand, leaves it, or does both.
KOJAK_INLINED inline std::byte* put_at_enter(const Recorder& r, std::byte* to) {
  if (r.metrics != nullptr) [[unlikely]]
    return put_values(r, r.metrics->values, r.metrics->count, to);
  return to;
}
KOJAK_INLINED inline std::byte* put_at_exit(const Recorder& r, std::byte* to) {
  if (r.metrics != nullptr) [[unlikely]]
    return put_values(r, r.metrics->values + r.metrics->count, r.metrics->count, to);
  return to;
}
KOJAK_INLINED inline std::byte* put_at_both(const Recorder& r, std::byte* to) {
  if (r.metrics != nullptr) [[unlikely]]
    return put_values(r, r.metrics->values, 2 * r.metrics->count, to);
  return to;
}
// Writes what the counters stand at now, in a moment outside of calls. Leaves those of the call in
// hand as they are.
[[gnu::cold, gnu::noinline]] std::byte* put_now(const Recorder& r, std::byte* to);

}  // namespace kojak::measure
