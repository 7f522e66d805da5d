// When each process was outside MPI, that is, in no call that can make progress for others.
//
// A process is inside while any of its threads is in such a call, while its recording is off, and
// before its first and after its last event: of those times nothing is known. What is kept are the
// times outside that ended with the process's next such call, as far back as somebody may ask
// (`horizon`), at most kMost for a process. Not thread-safe; nothing fails.
// Source: the pattern spec, "Wait for Progress".
#pragma once

#include <cstdint>
#include <vector>

#include "expert/rma/intervals.h"

namespace kojak::expert {

class Presence {
 public:
  explicit Presence(std::uint32_t processes) : processes_(processes) {}

  // `pausing`: an instance of PAUSING. `horizon`: nobody will ask about earlier times.
  void enter(const earl::OpenCall& call, bool pausing, Seconds horizon) {
    Process& p = processes_[raw(call.process)];
    const bool was = p.outside();
    ++p.running;
    const bool progresses = call.function != nullptr && call.function->can_progress;
    p.paused += pausing;
    p.inside += progresses;
    if (was && progresses && p.since < call.enter) keep(p, {p.since, call.enter}, horizon);
    if (!was && p.outside()) p.since = call.enter;
  }
  void leave(const Call& call, bool pausing) {
    Process& p = processes_[raw(call.process)];
    const bool was = p.outside();
    --p.running;
    p.paused -= pausing;
    p.inside -= call.function != nullptr && call.function->can_progress;
    if (!was && p.outside()) p.since = call.exit;
  }

  // Whether the process may have been outside at some time after `time`.
  bool maybe_outside_after(ProcessId process, Seconds time) const {
    const Process& p = processes_[raw(process)];
    return p.outside() || (!p.past.empty() && time < p.past.back().end);
  }
  // Appends Outside within [enter, M], M the last enter of the process into MPI at or before
  // `last`.
  void outside(ProcessId process, Seconds enter, Seconds last, Intervals& out) const;
  // Whether the process was outside from `begin` to `end` and has been seen to be; now >= end.
  bool throughout(ProcessId process, Seconds begin, Seconds end) const;

  // Times that were given up because too many had to be kept.
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  static constexpr std::size_t kFew = 64, kMost = 1 << 16;
  struct Process {
    std::uint32_t running = 0, inside = 0, paused = 0;
    Seconds since;   // if outside
    Intervals past;  // times outside, each up to an enter into MPI
    std::size_t prune_at = kFew;
    bool outside() const { return running != 0 && inside == 0 && paused == 0; }
  };
  void keep(Process& p, Interval interval, Seconds horizon) {
    if (p.past.size() >= p.prune_at) [[unlikely]]
      prune(p, horizon);
    p.past.push_back(interval);
  }
  void prune(Process& p, Seconds horizon);

  std::vector<Process> processes_;
  std::uint64_t forgotten_ = 0;
};

}  // namespace kojak::expert
