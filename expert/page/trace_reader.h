// Reads from a trace what a page shows of it, in memory that has a limit.
//
// There is one forward pass, that of the analysis, of which a TimelineReader is a consumer:
//   TimelineReader reader(limits);
//   auto trace = earl::Trace::open(path);
//   const Report report = analyse(*trace, {.page = &reader});
//   TraceContent content = reader.finish();
// What exceeds a limit is made fewer as it comes, by rules that do not ask what came before
// (kept/scale.h): short calls, waits and epochs become one, of arrows some are left out; thin.h
// says so. Parts of a run are read each by a reader of its own, and what they have kept is added
// up: TraceSums::add. Errors are those of opening a trace; a damaged trace is shown up to its
// damage. Single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "earl/replay.h"
#include "earl/trace.h"
#include "expert/page/kept/trace_sums.h"
#include "expert/page/trace_content.h"
#include "expert/waits/gate.h"
#include "expert/waits/wait.h"

namespace kojak::html {

// What may fill a page of that size, each part alone: together they are made to fit at the end.
TraceLimits limits_for(std::size_t max_bytes);
// For a page that is made beside a report, at the cost of little time and memory: some 300,000
// calls.
TraceLimits quick_limits();

class TimelineReader {
 public:
  explicit TimelineReader(const TraceLimits& limits);
  ~TimelineReader();
  TimelineReader(const TimelineReader&) = delete;
  TimelineReader& operator=(const TimelineReader&) = delete;

  // Before everything; the trace must stay where it is until finish().
  // Of a part of a run: where its locations stand at its begin (null: the run begins there), and
  // which calls are its own; both as well.
  void open(earl::Trace& trace, const earl::Standing* standing = nullptr,
            const expert::Gate* gate = nullptr);
  void on_begin(Seconds first);
  void on_end(Seconds last);
  void on_enter(const earl::OpenCall& event);
  void on_call(const earl::Call& event);
  void on_enter_before(const earl::OpenCall& event) { on_enter(event); }
  void on_call_before(const earl::Call& event);  // part
  void on_polled(const earl::OpenCall& call, const earl::PolledSeries& series);
  void on_wait(const expert::Wait& event);
  void on_moved(expert::CallPathIndex path, expert::LocationIndex location,
                expert::MetricIndex from, std::optional<expert::MetricIndex> to);
  void on_send(const earl::SendEvent& event);
  void on_message_call(const earl::MessageCall& event);
  void on_transfer(const earl::Transfer& event);
  void on_transfer_end(const earl::TransferEnd& event);
  void on_fence_epoch(const earl::FenceEpoch& event);
  void on_window_collective(const earl::WindowInstance& event);
  void on_access_epoch(const earl::AccessEpoch& event);
  void on_access_transaction(const earl::AccessEpoch& event);
  void on_exposure_transaction(const earl::ExposureEpoch& event);
  void on_passive_step(const earl::PassiveStep& event);
  void on_passive_epoch(const earl::PassiveEpoch& event);
  void on_processor(const earl::OpenCall& in, Seconds time, const earl::ProcessorTimes& times);
  // The latest before those that count.
  void on_processor_before(std::uint32_t row, Seconds time, const earl::ProcessorTimes& times);

  // Of a part: what it has kept, which may be taken, and be set to that of all; nothing, to be
  // read.
  TraceSums& sums();
  TraceSums no_sums() const;
  // `events`: of all parts.
  TraceContent finish(std::optional<std::uint64_t> events = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kojak::html
