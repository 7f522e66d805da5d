// Reads from a trace what a page shows of it, in memory that has a limit.
//
// There is one forward pass, that of the analysis, of which a TimelineReader is a consumer:
//   TimelineReader reader(limits);
//   auto trace = earl::Trace::open(path);
//   const Report report = analyse(*trace, {.page = &reader});
//   TraceContent content = reader.finish();
// What exceeds a limit is made fewer as it comes: short calls and waits merge, the shortest epochs
// and every second arrow are left out; thin.h says so. Errors are those of opening a trace; a
// damaged trace is shown up to its damage. Single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "earl/replay.h"
#include "earl/trace.h"
#include "expert/page/trace_content.h"
#include "expert/waits/wait.h"

namespace kojak::html {

struct TraceLimits {
  std::size_t boxes = 1'500'000;
  std::size_t waits = 800'000;
  std::size_t arrows = 300'000;  // messages, and as many transfers
  std::size_t bands = 300'000;
  std::size_t stripes = 200'000;  // times without a processor
  std::size_t cells = 4'000'000;  // of the density
  std::size_t pairs = 200'000;    // of processes, in the byte matrix
  std::size_t fence_members = 300'000;
};
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
  void open(earl::Trace& trace);
  void on_begin(Seconds first);
  void on_end(Seconds last);
  void on_enter(const earl::OpenCall& event);
  void on_call(const earl::Call& event);
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
  void on_passive_epoch(const earl::PassiveEpoch& event);
  void on_processor(const earl::OpenCall& in, Seconds time, const earl::ProcessorTimes& times);
  TraceContent finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kojak::html
