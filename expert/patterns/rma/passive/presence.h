// When each process was outside MPI, that is, in no call that can make progress for others.
//
// A process is inside while any of its threads is in such a call, while its recording is off, and
// before its first and after its last event: of those times nothing is known. What is kept are the
// times outside that are over, as far back as somebody may ask (`horizon`), at most kMost for a
// process; and of those that ended with such a call, as far back as a lock is open, the ones that
// tell when the process first came back after somebody asked for a lock.
// Source: passive-target paper 2012, section 4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "expert/waits/intervals.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

class Presence {
 public:
  explicit Presence(std::uint32_t processes) : processes_(processes) {}

  // When a process can have granted a lock that somebody asked for.
  struct Service {
    Seconds left = kNever;   // until then it had been in MPI; it has been outside since
    Seconds from = kNotYet;  // and again from then on; minus infinity: it was never outside
  };
  static constexpr Seconds kNever{std::numeric_limits<double>::infinity()};
  static constexpr Seconds kNotYet{-std::numeric_limits<double>::infinity()};

  // A time outside, and the call with which the process came back, if it ended so: where recording
  // went off, or nothing ran any more, nobody knows whether it did. No two have the same number.
  struct Absence {
    Interval when;
    EndedBy ended_by;
    std::uint64_t number = 0;
    bool came_back() const { return ended_by.known(); }
  };

  // Fetches what enter() and leave() need, in steps.
  template <int kStep>
  KOJAK_INLINED void fetch(ProcessId process) const {
    const Process& p = processes_[raw(process)];
    if constexpr (kStep == 0) {
      __builtin_prefetch(&p, 1);
      __builtin_prefetch(&p.served, 1);
    }
    if constexpr (kStep == 1) {
      __builtin_prefetch(p.past.data() + p.past.size(), 1);
      __builtin_prefetch(p.served.data() + p.served.size(), 1);
    }
  }

  // `pausing`: an instance of PAUSING. `progresses`: a call that can make progress for others.
  // `horizon`: nobody will ask about earlier times.
  void enter(const earl::OpenCall& call, bool pausing, bool progresses, Seconds horizon) {
    Process& p = processes_[raw(call.process)];
    const bool was = p.outside();
    ++p.running;
    p.paused += pausing;
    p.inside += progresses;
    if (was && !p.outside() && p.since < call.enter) {
      const Interval when{p.since, call.enter};
      keep(p, when, progresses ? enter_of(call) : EndedBy{}, horizon);
      if (progresses) keep_served(p, when);
    }
    if (!was && p.outside()) p.since = call.enter;
  }
  void leave(const Call& call, bool pausing, bool progresses, Seconds horizon) {
    Process& p = processes_[raw(call.process)];
    const bool was = p.outside();
    --p.running;
    p.paused -= pausing;
    p.inside -= progresses;
    if (!was && p.outside()) p.since = call.exit;
    if (was && !p.outside() && p.since < call.exit) keep(p, {p.since, call.exit}, {}, horizon);
  }

  // Somebody enters or leaves a call that asks for a lock; `horizon`: no lock that was asked for
  // before is open.
  void lock_call(Seconds time, Seconds horizon) {
    last_lock_call_ = time;
    asked_since_ = horizon;
  }
  // When `process` can have granted a lock that was asked for in the call `lock` and that the end
  // of the call `proof` proves. It came back in the lock call: that waited for it, up
  // to the last return. Else it granted when it first came back, if that was before the proving
  // call. Else that one waited for it.
  Service service(ProcessId asks, ProcessId process, Interval lock, Interval proof) const;

  // A process that makes progress by itself counts as inside all the time.
  void progresses_alone(ProcessId process) {
    Process& p = processes_[raw(process)];
    p.alone = true;
  }

  // Whether the process may have been outside at some time after `time`.
  bool maybe_outside_after(ProcessId process, Seconds time) const {
    const Process& p = processes_[raw(process)];
    return p.outside() || (!p.past.empty() && time < p.past.back().when.end);
  }
  // Whether it may have been outside at any time that somebody may still ask about.
  bool maybe_outside(ProcessId process) const {
    if (raw(process) >= processes_.size()) return false;
    const Process& p = processes_[raw(process)];
    return p.outside() || !p.past.empty();
  }
  // Appends Outside within [call.begin, M], M the last enter with which the process came back at or
  // before `last` from an absence that began before the call ended. Returns the absence that M
  // ended; null if there is none.
  const Absence* outside(ProcessId process, Interval call, Seconds last, Intervals& out) const;
  // Whether the process was outside from `begin` to `end` and has been seen to be; now >= end.
  bool throughout(ProcessId process, Seconds begin, Seconds end) const;

  // Whether the process was outside from `issued` on, and before the call ended, and came back
  // between its begin and `last`.
  bool came_back(ProcessId process, Seconds issued, Interval call, Seconds last) const;

  // Times that were given up because too many had to be kept.
  std::uint64_t forgotten() const { return forgotten_; }
  // How many of a process's returns were kept for those who ask when it can have granted a lock, of
  // the one that has the most.
  std::uint64_t most_served() const {
    std::uint64_t most = 0;
    for (const Process& p : processes_) most = std::max(most, p.served_so_far);
    return most;
  }

 private:
  static constexpr std::size_t kFew = 64, kMost = 1 << 16;
  struct Process {
    std::uint32_t running = 0, inside = 0, paused = 0;
    bool alone = false;
    Seconds since;               // if outside
    Seconds returned = kNotYet;  // from outside, last
    std::vector<Absence> past;   // times outside that are over
    std::size_t prune_at = kFew;
    // Of them the first after each lock call's beginning, the last before its end, and the latest.
    Intervals served;
    std::size_t prune_served_at = kFew;
    bool first = false;  // the latest is the first after a lock call
    std::uint64_t served_so_far = 0;
    bool outside() const { return running != 0 && inside == 0 && paused == 0 && !alone; }
  };
  void keep(Process& p, const Interval& when, const EndedBy& by, Seconds horizon) {
    if (p.past.size() >= p.prune_at) [[unlikely]]
      prune(p.past, p.prune_at, horizon);
    p.past.push_back({when, by, ++absences_});
  }
  void keep_served(Process& p, const Interval& when) {
    const bool locked = !(last_lock_call_ < p.returned);
    if (p.served.empty() || locked || p.first) {
      if (p.served.size() >= p.prune_served_at) [[unlikely]]
        prune(p.served, p.prune_served_at, asked_since_);
      p.served.push_back(when);
      ++p.served_so_far;
    } else {
      p.served.back() = when;
    }
    p.first = locked;
    p.returned = when.end;
  }
  static Seconds end_of(const Interval& i) { return i.end; }
  static Seconds end_of(const Absence& a) { return a.when.end; }
  template <class Times>
  void prune(Times& times, std::size_t& prune_at, Seconds horizon);

  std::vector<Process> processes_;
  Seconds last_lock_call_ = kNotYet, asked_since_ = kNotYet;
  std::uint64_t forgotten_ = 0, absences_ = 0;
};

}  // namespace kojak::expert
