// The state of a simulated program, and the records that its processes write. Internal to
// merge_program.cc, whose parts work on the same one; see merge_program.h.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "epilog/format/record/codec.h"
#include "tests/support/merge_program.h"

namespace kojak::support::program {

// A call that completes operations: where its record stands, once it has been made.
struct Call {
  bool made = false;
  bool recorded = false;
  EventPlace place;
};
using CallRef = std::shared_ptr<Call>;

enum Region : std::uint32_t {
  kMain,
  kPut,
  kGet,
  kRput,
  kRget,
  kRgetAccumulate,
  kFetchAndOp,
  kFence,
  kPost,
  kStart,
  kComplete,
  kWait,
  kTest,
  kLock,
  kUnlock,
  kLockAll,
  kUnlockAll,
  kFlush,
  kFlushLocal,
  kWaitall,
  kWork,
  kRegions
};
inline constexpr const char* kNames[kRegions] = {"main",
                                                 "MPI_Put",
                                                 "MPI_Get",
                                                 "MPI_Rput",
                                                 "MPI_Rget",
                                                 "MPI_Rget_accumulate",
                                                 "MPI_Fetch_and_op",
                                                 "MPI_Win_fence",
                                                 "MPI_Win_post",
                                                 "MPI_Win_start",
                                                 "MPI_Win_complete",
                                                 "MPI_Win_wait",
                                                 "MPI_Win_test",
                                                 "MPI_Win_lock",
                                                 "MPI_Win_unlock",
                                                 "MPI_Win_lock_all",
                                                 "MPI_Win_unlock_all",
                                                 "MPI_Win_flush",
                                                 "MPI_Win_flush_local",
                                                 "MPI_Waitall",
                                                 "work"};

// One record of a location, not yet cut.
struct Written {
  std::vector<std::byte> bytes;
  double time = 0;  // by which a cut drops it
  int depth = 0;    // regions that it opens or closes
};
// One event as the merged trace will have it, ends apart.
struct Atom {
  double time = 0;
  bool exit = false;
  std::size_t record = 0;
};

struct Location {
  std::uint32_t rank = 0, thread = 0, lid = 0, id_shift = 0;
  std::vector<Written> records;
  std::vector<Atom> atoms;
  std::size_t kept = 0;  // atoms that a cut leaves
  std::size_t kept_records = 0;
  std::uint32_t open = 0;  // regions at the end
};

struct Operation {
  std::uint32_t origin = 0, target = 0, rmaid = 0, location = 0;
  std::uint32_t window = 0;
  bool put = false, passive = false, atomic = false;
  std::size_t start = 0, exit = 0;  // atoms
  std::size_t end_record = 0;       // record that holds its own end
  CallRef at_target, at_origin;
  bool settled = false;  // what a pause did to it is known
  bool ambiguous = false;
};

struct Epoch {  // one access or exposure epoch of a process
  std::vector<std::uint32_t> group;
  CallRef call = std::make_shared<Call>();  // what ends it
};

struct FenceEpoch {
  std::map<std::uint32_t, CallRef> closing;  // by member
  bool used = false;
};

struct WindowState {  // of one process on one window
  std::uint64_t fences = 0;
  bool fence_open = false;    // the last fence did not say that nothing follows
  bool fence_usable = false;  // and neither start nor lock came since
  std::map<std::uint32_t, std::uint64_t> access, exposure, operations;
  std::shared_ptr<Epoch> access_epoch, exposure_epoch;
  std::map<std::uint32_t, bool> locks;  // target: exclusive
  bool lock_all = false;
  std::map<std::uint32_t, std::vector<std::size_t>> pending;  // passive operations by target
};

struct Process {
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> locations;
  double now = 0;
  double shift = 0;
  bool recording = true;
  std::vector<EventPlace> log_offs;
  int pause_from = -1, pause_to = -1;  // steps
  std::uint32_t rmaid = 0;
  std::vector<WindowState> windows;
  std::vector<std::size_t> requests;
  double cut = -1;
  bool missing = false;
};

struct SimulatedRun {
  explicit SimulatedRun(std::uint64_t seed) : random(seed) {}

  int number(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); }
  bool chance(int percent) { return number(1, 100) <= percent; }
  void feature(const char* name) { features.insert(name); }
  template <class T>
  const T& any(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(number(0, static_cast<int>(values.size()) - 1))];
  }

  void set_up() {
    const int n = number(1, 5);
    const int count = number(1, 3);
    for (int w = 0; w < count; ++w) {
      std::vector<std::uint32_t> members;
      for (int r = 0; r < n; ++r) {
        if (chance(85)) members.push_back(static_cast<std::uint32_t>(r));
      }
      if (members.empty()) members.push_back(0);
      windows.push_back(members);
      fences.push_back(std::make_shared<FenceEpoch>());
    }
    const bool clocks = chance(40);
    corrected = clocks && chance(50);
    if (clocks) feature(corrected ? "corrected clocks" : "clock errors");
    for (int r = 0; r < n; ++r) {
      Process p;
      p.rank = static_cast<std::uint32_t>(r);
      p.now = 100 + number(0, 8);
      p.windows.resize(windows.size());
      if (clocks) p.shift = number(-40, 40) / 4.0;
      p.locations.push_back(static_cast<std::uint32_t>(r));
      processes.push_back(p);
      Location l;
      l.rank = l.lid = p.rank;
      locations.push_back(l);
    }
    for (Process& p : processes) {
      if (!chance(20)) continue;
      feature("threads");
      Location l;
      l.rank = p.rank;
      l.thread = 1;
      l.lid = static_cast<std::uint32_t>(locations.size());
      p.locations.push_back(l.lid);
      locations.push_back(l);
    }
    for (Location& l : locations) {
      l.id_shift = static_cast<std::uint32_t>(number(0, 5));
      Process& p = processes[l.rank];
      simple(p, l, Enter{LocationId{l.rank}, at(p), RegionId{kMain}, {}}, false, 1);
    }
  }

  Seconds at(const Process& p) const { return {p.now + p.shift}; }
  // Time passes. Threads of one process never act at the same time: their order must be certain.
  void pass(Process& p, int most = 3) {
    p.now += number(p.locations.size() > 1 ? 1 : 0, most) * 0.25;
  }
  void wait_until(Process& p, double time) {
    if (p.now < time) p.now = time;
    pass(p, 8);
  }
  WindowId window_id(const Location& l, std::uint32_t w) const { return WindowId{w + l.id_shift}; }
  template <class R>
  std::vector<std::byte> encoded(const R& record) const {
    std::byte buffer[kMaxRecord];
    const std::size_t n = encode(record, Dialect{}, buffer);
    return {buffer, buffer + n};
  }
  // A record that is one event. Gives where it stands, if it is recorded.
  template <class R>
  std::optional<EventPlace> simple(Process& p, Location& l, const R& record, bool exit, int depth) {
    if (!p.recording) return std::nullopt;
    l.records.push_back({encoded(record), p.now, depth});
    l.atoms.push_back({p.now, exit, l.records.size() - 1});
    return EventPlace{l.lid, static_cast<std::uint32_t>(l.atoms.size() - 1)};
  }
  template <class R>
  void attribute(Process& p, Location& l, const R& record) {
    if (p.recording) l.records.push_back({encoded(record), p.now, 0});
  }
  Location& some_thread(Process& p) { return locations[any(p.locations)]; }
  void enter(Process& p, Location& l, Region region) {
    pass(p);
    simple(p, l, Enter{LocationId{l.rank}, at(p), RegionId{region}, {}}, false, 1);
  }
  void exit(Process& p, Location& l) {
    simple(p, l, Exit{LocationId{l.rank}, at(p), {}}, true, -1);
  }
  void made(const CallRef& call, std::optional<EventPlace> place) {
    call->made = true;
    call->recorded = place.has_value();
    if (place) call->place = *place;
  }
  void assertion(Process& p, Location& l, std::uint32_t w, std::uint32_t bits) {
    if (bits != 0) {
      simple(p, l, MpiAssert{LocationId{l.rank}, at(p), window_id(l, w), Assertion{bits}}, false,
             0);
    }
  }
  // The object of a group has a number of its own in every trace.
  CommId group_id(const Location& l, const std::vector<std::uint32_t>& group) {
    const auto [it, fresh] =
        groups.try_emplace(group, static_cast<std::uint32_t>(groups.size()) + 10);
    return CommId{it->second + l.id_shift};
  }

  void pauses(Process& p, int step) {
    if (step == p.pause_from && p.recording) {
      pass(p);
      for (const std::uint32_t lid : p.locations) {
        Location& l = locations[lid];
        p.log_offs.push_back(*simple(p, l, LogOff{LocationId{l.rank}, at(p), {}}, false, 1));
        pass(p);
      }
      p.recording = false;
    }
    if (step == p.pause_to && !p.recording) resume(p);
    if (p.recording && chance(5)) {  // a flush tells the state, too
      Location& l = some_thread(p);
      pass(p);
      simple(p, l, EnterTracing{LocationId{l.rank}, at(p), {}}, false, 1);
      state(p, l);
      simple(p, l, ExitTracing{LocationId{l.rank}, at(p), {}}, false, -1);
    }
  }
  void resume(Process& p) {
    // Operations that were completed meanwhile: if the same lock is held, or held again, the traces
    // do not tell them from those that were not.
    for (Operation& op : operations) {
      if (op.origin != p.rank || !op.passive || op.settled || !op.at_origin) continue;
      op.settled = true;
      const WindowState& s = p.windows[op.window];
      op.ambiguous = !op.at_origin->recorded && (s.lock_all || s.locks.contains(op.target));
    }
    p.recording = true;
    const bool state_first = chance(50);
    pass(p);
    if (state_first) state(p, locations[p.locations[0]]);
    for (const std::uint32_t lid : p.locations) {
      Location& l = locations[lid];
      simple(p, l, LogOn{LocationId{l.rank}, at(p), {}}, false, -1);
      pass(p);
    }
    if (!state_first) state(p, locations[p.locations[0]]);
  }
  void state(Process& p, Location& l) {
    for (std::uint32_t w = 0; w < windows.size(); ++w) {
      const WindowState& s = p.windows[w];
      const std::uint8_t all = s.lock_all ? 4 | 32 : 0;
      simple(p, l,
             WinState{LocationId{l.rank}, at(p), window_id(l, w), Count64{s.fences},
                      Flags{static_cast<std::uint8_t>((s.fence_open ? 1 : 0) | all)}},
             false, 0);
      for (const std::uint32_t peer : windows[w]) {
        const auto count = [&](const std::map<std::uint32_t, std::uint64_t>& m) {
          const auto it = m.find(peer);
          return it == m.end() ? std::uint64_t{0} : it->second;
        };
        const auto in = [&](const std::shared_ptr<Epoch>& e) {
          return e && std::count(e->group.begin(), e->group.end(), peer) != 0;
        };
        std::uint8_t open = all;
        if (in(s.access_epoch)) open |= 1;
        if (in(s.exposure_epoch)) open |= 2;
        if (const auto lock = s.locks.find(peer); lock != s.locks.end()) {
          open |= lock->second ? 8 : 4;
        }
        const std::uint64_t issued = count(s.operations);
        if (count(s.access) == 0 && count(s.exposure) == 0 && issued == 0 && (open & ~all) == 0) {
          continue;
        }
        simple(p, l,
               EpochState{LocationId{l.rank}, at(p), window_id(l, w), PeerId{peer},
                          Count64{count(s.access)}, Count64{count(s.exposure)}, Count64{issued},
                          Flags{open}},
               false, 0);
      }
    }
  }

  std::mt19937_64 random;
  std::vector<std::vector<std::uint32_t>> windows;  // members
  std::vector<std::shared_ptr<FenceEpoch>> fences;  // the open fence epoch of each window
  std::vector<Process> processes;
  std::vector<Location> locations;
  std::vector<Operation> operations;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::vector<CallRef>> exposures;
  std::map<std::vector<std::uint32_t>, std::uint32_t> groups;
  std::set<std::string> features;
  bool corrected = false;
  bool quiet = false;  // nothing new begins
};

}  // namespace kojak::support::program
