// One location of the cut: which regions are open in the whole trace and which in the cut.
//
// Output counts events and writes them, if it has a writer. A Timeline follows the location through
// the whole trace; what it is told to show goes to the output, balanced: regions that are open when
// something is selected are entered there, what is open at the end is left. Between selected parts
// of a native trace stands an instance of PAUSING, as if recording had been switched off; a classic
// trace has no state records to go on with, so there the time counts to the regions around.
// Hardware counters of records that the cut adds are the last ones seen, or 0 where each value
// counts an interval of its own. The output and the kinds of counters must outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include "epilog/format/definitions.h"
#include "epilog/format/io/writer.h"

namespace kojak::filter {

class Output {
 public:
  explicit Output(TraceWriter* writer) : writer_(writer) {}
  template <class R>
  void put(const R& record) {
    if (R::kKind == RecordKind::kEvent) ++added_;
    replace(record);
  }
  // In place of an event of the whole trace.
  template <class R>
  void replace(const R& record) {
    if (R::kKind == RecordKind::kEvent) ++events_;
    if (writer_ != nullptr) writer_->write(record);
  }
  void put_raw(std::uint8_t type, const std::byte* body, std::size_t length) {
    if (is_event(type)) ++events_;
    if (writer_ != nullptr) writer_->write_raw(type, body, length);
  }
  std::uint64_t events() const { return events_; }
  std::uint64_t added() const { return added_; }  // of them, that the whole trace does not have
  TraceWriter* writer() const { return writer_; }

 private:
  TraceWriter* writer_;
  std::uint64_t events_ = 0, added_ = 0;
};

// An open region instance.
struct Frame {
  enum class Kind : std::uint8_t { kEnter, kEnterCs, kTracing, kLogOff };
  Kind kind = Kind::kEnter;
  bool selected = false;  // lies in a named region, or none were named
  RegionId region = absent<RegionId>();
  CallSiteId site = absent<CallSiteId>();
  const MpiFunction* function = nullptr;
  std::uint64_t pos = 0;        // of its ENTER
  std::uint32_t assertion = 0;  // of the call, as far as read
  MpiRole role() const { return function == nullptr ? MpiRole::kOther : function->role; }
};

// For each hardware counter whether its values add up: each counts an interval between two events.
using IntervalCounters = std::vector<bool>;

class Timeline {
 public:
  Timeline(LocationId lid, ProcessId process, const IntervalCounters& counters, bool pauses)
      : lid_(lid), process_(process), counters_(&counters), pauses_(pauses) {}

  LocationId lid() const { return lid_; }
  ProcessId process() const { return process_; }
  bool on() const { return on_; }  // events are shown
  bool idle() const { return open_.empty(); }
  Frame& top() { return open_.back(); }
  std::size_t depth() const { return open_.size(); }
  // From the outermost inwards.
  const Frame& open(std::size_t at) const { return open_[at]; }

  void saw(const MetricValues& values);  // of a record that has them

  // The whole trace enters and leaves regions; nothing is written.
  void push(const Frame& frame) { open_.push_back(frame); }
  void pop() { open_.pop_back(); }
  // The record of the innermost region's beginning or end has been written.
  void shown_enter() { shown_.push_back(open_.back()); }
  void shown_exit() { shown_.pop_back(); }

  // What is selected begins: the outermost `depth` regions become those that are open.
  void turn_on(std::size_t depth, Seconds time, Output& out);
  // It ends for now.
  void turn_off(Seconds time, Output& out);
  // First event of a location that begins outside of what is selected.
  bool unseen() const { return !on_ && !paused_ && shown_.empty(); }
  void begin_off(Seconds time, Output& out);
  // Leaves everything.
  void close(Seconds time, Output& out);

 private:
  void follow(std::size_t depth, Seconds time, Output& out);
  MetricValues metrics() const { return MetricValues::of(values_); }
  void enter(const Frame& frame, Seconds time, Output& out);
  void exit(const Frame& frame, Seconds time, Output& out);
  void resume(Seconds time, Output& out);

  LocationId lid_;
  ProcessId process_;
  const IntervalCounters* counters_;
  bool pauses_;
  bool on_ = false;
  bool paused_ = false;  // a LOG_OFF of ours is open
  std::vector<Frame> open_, shown_;
  std::vector<std::uint64_t> values_;
};

}  // namespace kojak::filter
