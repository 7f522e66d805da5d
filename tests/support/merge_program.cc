#include "tests/support/merge_program.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <tuple>

#include "epilog/format/codec.h"
#include "epilog/format/continuation.h"

namespace kojak::support {
namespace {

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
constexpr const char* kNames[kRegions] = {"main",
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

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : random_(seed) {}

  RandomProgram run() {
    set_up();
    const int steps = number(3, 18);
    for (Process& p : processes_) {
      if (chance(30)) {
        p.pause_from = number(0, steps - 1);
        p.pause_to = number(p.pause_from, steps);
        feature("pause");
      }
    }
    for (int step = 0; step < steps; ++step) {
      for (Process& p : processes_) pauses(p, step);
      phase(static_cast<std::uint32_t>(number(0, static_cast<int>(windows_.size()) - 1)));
      for (Process& p : processes_) some_operations(p);
    }
    finish();
    return result();
  }

 private:
  // ---- chance
  // ------------------------------------------------------------------------------------
  int number(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  bool chance(int percent) { return number(1, 100) <= percent; }
  void feature(const char* name) { features_.insert(name); }
  template <class T>
  const T& any(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(number(0, static_cast<int>(values.size()) - 1))];
  }

  void set_up() {
    const int n = number(1, 5);
    const int windows = number(1, 3);
    for (int w = 0; w < windows; ++w) {
      std::vector<std::uint32_t> members;
      for (int r = 0; r < n; ++r) {
        if (chance(85)) members.push_back(static_cast<std::uint32_t>(r));
      }
      if (members.empty()) members.push_back(0);
      windows_.push_back(members);
      fences_.push_back(std::make_shared<FenceEpoch>());
    }
    const bool clocks = chance(40);
    corrected_ = clocks && chance(50);
    if (clocks) feature(corrected_ ? "corrected clocks" : "clock errors");
    for (int r = 0; r < n; ++r) {
      Process p;
      p.rank = static_cast<std::uint32_t>(r);
      p.now = 100 + number(0, 8);
      p.windows.resize(windows_.size());
      if (clocks) p.shift = number(-40, 40) / 4.0;
      p.locations.push_back(static_cast<std::uint32_t>(r));
      processes_.push_back(p);
      Location l;
      l.rank = l.lid = p.rank;
      locations_.push_back(l);
    }
    for (Process& p : processes_) {
      if (!chance(20)) continue;
      feature("threads");
      Location l;
      l.rank = p.rank;
      l.thread = 1;
      l.lid = static_cast<std::uint32_t>(locations_.size());
      p.locations.push_back(l.lid);
      locations_.push_back(l);
    }
    for (Location& l : locations_) {
      l.id_shift = static_cast<std::uint32_t>(number(0, 5));
      Process& p = processes_[l.rank];
      simple(p, l, Enter{LocationId{l.rank}, at(p), RegionId{kMain}, {}}, false, 1);
    }
  }

  // ---- records
  // -----------------------------------------------------------------------------------
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
  Location& some_thread(Process& p) { return locations_[any(p.locations)]; }
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
        groups_.try_emplace(group, static_cast<std::uint32_t>(groups_.size()) + 10);
    return CommId{it->second + l.id_shift};
  }

  // ---- recording off and on
  // ----------------------------------------------------------------------
  void pauses(Process& p, int step) {
    if (step == p.pause_from && p.recording) {
      pass(p);
      for (const std::uint32_t lid : p.locations) {
        Location& l = locations_[lid];
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
    for (Operation& op : operations_) {
      if (op.origin != p.rank || !op.passive || op.settled || !op.at_origin) continue;
      op.settled = true;
      const WindowState& s = p.windows[op.window];
      op.ambiguous = !op.at_origin->recorded && (s.lock_all || s.locks.contains(op.target));
    }
    p.recording = true;
    const bool state_first = chance(50);
    pass(p);
    if (state_first) state(p, locations_[p.locations[0]]);
    for (const std::uint32_t lid : p.locations) {
      Location& l = locations_[lid];
      simple(p, l, LogOn{LocationId{l.rank}, at(p), {}}, false, -1);
      pass(p);
    }
    if (!state_first) state(p, locations_[p.locations[0]]);
  }
  void state(Process& p, Location& l) {
    for (std::uint32_t w = 0; w < windows_.size(); ++w) {
      const WindowState& s = p.windows[w];
      const std::uint8_t all = s.lock_all ? 4 | 32 : 0;
      simple(p, l,
             WinState{LocationId{l.rank}, at(p), window_id(l, w), Count64{s.fences},
                      Flags{static_cast<std::uint8_t>((s.fence_open ? 1 : 0) | all)}},
             false, 0);
      for (const std::uint32_t peer : windows_[w]) {
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
        const std::uint64_t operations = count(s.operations);
        if (count(s.access) == 0 && count(s.exposure) == 0 && operations == 0 &&
            (open & ~all) == 0) {
          continue;
        }
        simple(p, l,
               EpochState{LocationId{l.rank}, at(p), window_id(l, w), PeerId{peer},
                          Count64{count(s.access)}, Count64{count(s.exposure)}, Count64{operations},
                          Flags{open}},
               false, 0);
      }
    }
  }

  // ---- operations
  // --------------------------------------------------------------------------------
  void some_operations(Process& p) {
    if (quiet_) return;
    const int n = chance(30) ? 0 : number(0, 4);
    for (int i = 0; i < n; ++i) {
      const auto w = static_cast<std::uint32_t>(number(0, static_cast<int>(windows_.size()) - 1));
      if (std::count(windows_[w].begin(), windows_[w].end(), p.rank) == 0) continue;
      operation(p, w);
      if (chance(20)) passive_step(p, w);
    }
    if (!p.requests.empty() && chance(40)) wait_for_requests(p);
    if (chance(10)) {
      Location& l = some_thread(p);
      enter(p, l, kWork);
      pass(p);
      exit(p, l);
    }
  }
  void operation(Process& p, std::uint32_t w) {
    WindowState& s = p.windows[w];
    std::vector<std::uint32_t> targets;
    bool passive = false;
    if (s.lock_all) {
      targets = windows_[w];
      passive = true;
    } else if (!s.locks.empty()) {
      for (const auto& lock : s.locks) targets.push_back(lock.first);
      passive = true;
    } else if (s.access_epoch) {
      targets = s.access_epoch->group;
    } else if (s.fence_usable) {
      targets = windows_[w];
    }
    if (targets.empty()) return;
    const std::uint32_t target = any(targets);
    ++s.operations[target];
    // 1 put, 2 get, 3 both
    const int kind = number(1, 3);
    const bool request = passive && chance(40);
    const Region region = kind == 3   ? (request ? kRgetAccumulate : kFetchAndOp)
                          : kind == 2 ? (request ? kRget : kGet)
                                      : (request ? kRput : kPut);
    Operation op;
    op.origin = p.rank;
    op.target = target;
    op.window = w;
    op.passive = passive;
    op.atomic = kind == 3;
    if (!passive && s.access_epoch) {
      op.at_origin = s.access_epoch->call;
      op.at_target = exposures_[{w, p.rank, target}].back();
    } else if (!passive) {
      FenceEpoch& epoch = *fences_[w];
      epoch.used = true;
      const auto closing = [&](std::uint32_t rank) {
        CallRef& call = epoch.closing[rank];
        if (!call) call = std::make_shared<Call>();
        return call;
      };
      op.at_origin = closing(p.rank);
      op.at_target = closing(target);
    }
    Location& l = some_thread(p);
    const std::uint32_t first = p.rmaid;
    p.rmaid += kind == 3 ? 2 : 1;
    const std::uint64_t bytes = chance(3) ? 5'000'000'000u : 8;
    pass(p);
    const double begin = p.now;
    pass(p);
    std::vector<std::size_t> made_operations;
    if (p.recording) {
      made_operations = record_operation(p, l, op, kind, region, w, first, bytes, begin);
      if (passive) {
        for (const std::size_t i : made_operations) s.pending[target].push_back(i);
      }
      if (request)
        p.requests.insert(p.requests.end(), made_operations.begin(), made_operations.end());
    }
  }
  std::vector<std::size_t> record_operation(Process& p, Location& l, Operation op, int kind,
                                            Region region, std::uint32_t w, std::uint32_t first,
                                            std::uint64_t bytes, double begin) {
    std::vector<std::size_t> made_operations;
    const double end = p.now;
    const LocationId lid{l.rank};
    const Seconds from{begin + p.shift}, to{end + p.shift};
    const PeerId target{op.target};
    const WindowId wid = window_id(l, w);
    const RmaId get_id{first}, put_id{kind == 3 ? first + 1 : first};
    op.location = l.lid;
    const auto atom = [&](double time, bool exit_event, std::size_t record) {
      l.atoms.push_back({time, exit_event, record});
      return l.atoms.size() - 1;
    };
    const auto add = [&](bool put, std::size_t start, std::size_t end_record) {
      op.put = put;
      op.rmaid = raw(put ? put_id : get_id);
      op.start = start;
      op.end_record = end_record;
      operations_.push_back(op);
      made_operations.push_back(operations_.size() - 1);
    };
    const auto leave = [&](std::size_t exit_atom) {
      for (const std::size_t i : made_operations) operations_[i].exit = exit_atom;
      return made_operations;
    };
    if (chance(60)) {  // one record for the call
      l.records.push_back({encoded(MpiRmaCall{lid, from, to, RegionId{region}, target, wid, get_id,
                                              Bytes64{bytes}, Bytes64{kind == 3 ? bytes : 0},
                                              Byte{static_cast<std::uint8_t>(kind)}}),
                           end, 0});
      const std::size_t record = l.records.size() - 1;
      atom(begin, false, record);
      if ((kind & 2) != 0) {
        add(false, atom(begin, false, record), record);
        atom(begin, false, record);
      }
      if ((kind & 1) != 0) add(true, atom(begin, false, record), record);
      return leave(atom(end, true, record));
    }
    const auto write = [&](const auto& record, double time, int depth) {
      l.records.push_back({encoded(record), time, depth});
      return l.records.size() - 1;
    };
    const Bytes field =
        bytes < kAbsent ? Bytes{static_cast<std::uint32_t>(bytes)} : absent<Bytes>();
    const auto large = [&](std::uint8_t which, double time) {
      if (bytes >= kAbsent) write(AttrUi8{Byte{which}, Count64{bytes}}, time, 0);
    };
    atom(begin, false, write(Enter{lid, from, RegionId{region}, {}}, begin, 1));
    std::size_t get_start = 0, put_start = 0;
    if ((kind & 2) != 0) {
      large(5, begin);
      const std::size_t r = write(MpiGet1tsRemote{lid, from, target, wid, get_id, field}, begin, 0);
      get_start = atom(begin, false, r);
      atom(begin, false, r);
    }
    if ((kind & 1) != 0) {
      large(5, begin);
      put_start =
          atom(begin, false, write(MpiPut1ts{lid, from, target, wid, put_id, field}, begin, 0));
    }
    if ((kind & 2) != 0) {
      large(6, end);
      add(false, get_start, write(MpiGet1te{lid, to, target, wid, get_id, field}, end, 0));
    }
    if ((kind & 1) != 0) {
      large(6, end);
      add(true, put_start, write(MpiPut1teRemote{lid, to, target, wid, put_id, field}, end, 0));
    }
    return leave(atom(end, true, write(Exit{lid, to, {}}, end, -1)));
  }
  // A call of this process has completed passive operations towards a target.
  void complete_passive(Process& p, std::uint32_t w, std::uint32_t target, bool gets_only,
                        const CallRef& call) {
    std::vector<std::size_t>& pending = p.windows[w].pending[target];
    std::erase_if(pending, [&](std::size_t i) {
      Operation& op = operations_[i];
      if (gets_only && op.put) return false;
      if (!op.at_origin) op.at_origin = call;
      return true;
    });
  }
  void wait_for_requests(Process& p) {
    Location& l = some_thread(p);
    enter(p, l, kWaitall);
    pass(p);
    std::vector<std::size_t> rest;
    for (const std::size_t i : p.requests) {
      Operation& op = operations_[i];
      if (chance(30)) {
        rest.push_back(i);
        continue;
      }
      if (op.put && op.atomic) continue;  // only the get of an atomic operation is named
      const auto place = simple(
          p, l, MpiRmaComplete{LocationId{l.rank}, at(p), window_id(l, op.window), RmaId{op.rmaid}},
          false, 0);
      if (!op.put && !op.at_origin) {
        op.at_origin = std::make_shared<Call>();
        made(op.at_origin, place);
        std::erase(p.windows[op.window].pending[op.target], i);
      }
    }
    p.requests = rest;
    exit(p, l);
  }

  // ---- passive target
  // ----------------------------------------------------------------------------
  void passive_step(Process& p, std::uint32_t w) {
    WindowState& s = p.windows[w];
    if (s.access_epoch) return;
    if (s.lock_all) {
      if (chance(30)) {
        unlock_all(p, w);
      } else {
        flush(p, w, chance(50) ? kAbsent : any(windows_[w]), chance(40));
      }
    } else if (!s.locks.empty() && chance(60)) {
      std::vector<std::uint32_t> held;
      for (const auto& lock : s.locks) held.push_back(lock.first);
      if (chance(50)) {
        unlock(p, w, any(held));
      } else {
        flush(p, w, chance(30) ? kAbsent : any(held), chance(40));
      }
    } else if (!fences_[w]->used || !s.fence_usable) {
      if (s.locks.empty() && chance(30)) {
        lock_all(p, w);
      } else {
        const std::uint32_t target = any(windows_[w]);
        if (!s.locks.contains(target)) lock(p, w, target);
      }
    }
  }
  void lock(Process& p, std::uint32_t w, std::uint32_t target) {
    feature("lock");
    WindowState& s = p.windows[w];
    Location& l = some_thread(p);
    const bool exclusive = chance(50);
    s.fence_usable = false;
    s.locks[target] = exclusive;
    s.operations[target] = 0;
    enter(p, l, kLock);
    pass(p);
    assertion(p, l, w, chance(20) ? kAssertNoCheck : 0);
    simple(p, l,
           MpiWinLock{LocationId{l.rank}, at(p), PeerId{target}, window_id(l, w),
                      Byte{static_cast<std::uint8_t>(exclusive ? 1 : 0)}},
           false, 0);
    exit(p, l);
  }
  void lock_all(Process& p, std::uint32_t w) {
    feature("lock_all");
    WindowState& s = p.windows[w];
    Location& l = some_thread(p);
    s.fence_usable = false;
    s.lock_all = true;
    s.operations.clear();
    enter(p, l, kLockAll);
    pass(p);
    assertion(p, l, w, chance(20) ? kAssertNoCheck : 0);
    simple(p, l, MpiWinLockAll{LocationId{l.rank}, at(p), window_id(l, w)}, false, 0);
    exit(p, l);
  }
  void unlock(Process& p, std::uint32_t w, std::uint32_t target) {
    Location& l = some_thread(p);
    const auto call = std::make_shared<Call>();
    enter(p, l, kUnlock);
    pass(p);
    made(call,
         simple(p, l, MpiWinUnlock{LocationId{l.rank}, at(p), PeerId{target}, window_id(l, w)},
                false, 0));
    complete_passive(p, w, target, false, call);
    exit(p, l);
    p.windows[w].locks.erase(target);
  }
  void unlock_all(Process& p, std::uint32_t w) {
    Location& l = some_thread(p);
    const auto call = std::make_shared<Call>();
    enter(p, l, kUnlockAll);
    pass(p);
    made(call, simple(p, l, MpiWinUnlockAll{LocationId{l.rank}, at(p), window_id(l, w)}, false, 0));
    for (const std::uint32_t target : windows_[w]) {
      complete_passive(p, w, target, false, call);
    }
    exit(p, l);
    p.windows[w].lock_all = false;
  }
  void flush(Process& p, std::uint32_t w, std::uint32_t target, bool local) {
    feature(local ? "flush_local" : "flush");
    Location& l = some_thread(p);
    const auto call = std::make_shared<Call>();
    enter(p, l, local ? kFlushLocal : kFlush);
    pass(p);
    made(call, simple(p, l,
                      MpiWinFlush{LocationId{l.rank}, at(p), PeerId{target}, window_id(l, w),
                                  Byte{static_cast<std::uint8_t>(local ? 1 : 0)}},
                      false, 0));
    for (const std::uint32_t t : windows_[w]) {
      if (target != kAbsent && t != target) continue;
      complete_passive(p, w, t, local, call);
    }
    exit(p, l);
  }
  void unlock_everything(Process& p, std::uint32_t w) {
    while (!p.windows[w].locks.empty()) {
      std::vector<std::uint32_t> held;
      for (const auto& held_lock : p.windows[w].locks) held.push_back(held_lock.first);
      unlock(p, w, any(held));
    }
    if (p.windows[w].lock_all) unlock_all(p, w);
  }

  // ---- phases
  // ------------------------------------------------------------------------------------
  void phase(std::uint32_t w) {
    for (const std::uint32_t rank : windows_[w]) {
      unlock_everything(processes_[rank], w);
    }
    const int kind = number(1, 100);
    if (kind <= 45) {
      fence(w);
    } else if (kind <= 80 && !fences_[w]->used) {
      general_active_target(w);
    } else if (!fences_[w]->used) {
      for (const std::uint32_t rank : windows_[w]) {
        const int n = number(0, 4);
        for (int i = 0; i < n; ++i) {
          passive_step(processes_[rank], w);
          operation(processes_[rank], w);
          if (chance(30)) operation(processes_[rank], w);
        }
      }
    } else {
      fence(w);
    }
  }
  void fence(std::uint32_t w) {
    feature("fence");
    const std::shared_ptr<FenceEpoch> closed = fences_[w];
    fences_[w] = std::make_shared<FenceEpoch>();
    // Without operations to complete, a fence need not wait for anybody.
    const bool alone = !closed->used && chance(50);
    const std::uint32_t bits = (alone ? kAssertNoPrecede : 0) | (chance(25) ? kAssertNoSucceed : 0);
    double all_there = 0;
    std::vector<std::uint32_t> threads;
    for (const std::uint32_t rank : windows_[w]) {
      Process& p = processes_[rank];
      Location& l = some_thread(p);
      threads.push_back(l.lid);
      pass(p, 8);
      enter(p, l, kFence);
      all_there = std::max(all_there, p.now);
    }
    for (std::size_t i = 0; i < windows_[w].size(); ++i) {
      Process& p = processes_[windows_[w][i]];
      Location& l = locations_[threads[i]];
      wait_until(p, alone ? 0 : all_there);
      if (chance(15)) p.now += number(0, 40) * 0.25;  // a slow one
      assertion(p, l, w, bits);
      const auto place =
          simple(p, l, MpiWinCollExit{LocationId{l.rank}, at(p), {}, window_id(l, w)}, true, -1);
      WindowState& s = p.windows[w];
      CallRef& call = closed->closing[p.rank];
      if (!call) call = std::make_shared<Call>();
      made(call, place);
      ++s.fences;
      s.fence_open = s.fence_usable = (bits & kAssertNoSucceed) == 0;
      s.operations.clear();
      if (chance(40)) some_operations(p);
    }
  }
  void general_active_target(std::uint32_t w) {
    feature("general active target");
    std::map<std::uint32_t, std::vector<std::uint32_t>> posts, starts;
    for (const std::uint32_t target : windows_[w]) {
      for (const std::uint32_t origin : windows_[w]) {
        if (!chance(45)) continue;
        posts[target].push_back(origin);
        starts[origin].push_back(target);
      }
    }
    for (const std::uint32_t rank : windows_[w]) {  // empty groups count for nobody
      if (!posts.contains(rank) && chance(10)) posts[rank] = {};
      if (!starts.contains(rank) && chance(10)) starts[rank] = {};
    }
    for (auto& [rank, group] : posts) std::shuffle(group.begin(), group.end(), random_);
    for (auto& [rank, group] : starts) std::shuffle(group.begin(), group.end(), random_);
    std::map<std::uint32_t, double> completed;
    for (auto& [rank, group] : posts) {
      Process& p = processes_[rank];
      WindowState& s = p.windows[w];
      s.fence_usable = false;
      s.exposure_epoch = std::make_shared<Epoch>();
      s.exposure_epoch->group = group;
      for (const std::uint32_t origin : group) {
        ++s.exposure[origin];
        exposures_[{w, origin, rank}].push_back(s.exposure_epoch->call);
      }
      epoch_call(p, w, kPost, group, 0, chance(20) ? kAssertNoCheck : 0);
    }
    for (auto& [rank, group] : starts) {
      Process& p = processes_[rank];
      WindowState& s = p.windows[w];
      s.fence_usable = false;
      s.access_epoch = std::make_shared<Epoch>();
      s.access_epoch->group = group;
      s.operations.clear();
      for (const std::uint32_t target : group) ++s.access[target];
      epoch_call(p, w, kStart, group, 0, chance(20) ? kAssertNoCheck : 0);
      const int n = number(0, 4);
      for (int i = 0; i < n; ++i) operation(p, w);
      some_operations(p);
      made(s.access_epoch->call, epoch_call(p, w, kComplete, group, 1, 0));
      completed[rank] = p.now;
      s.access_epoch.reset();
      if (chance(30)) some_operations(p);
    }
    for (auto& [rank, group] : posts) {
      Process& p = processes_[rank];
      double last = 0;
      for (const std::uint32_t origin : group) last = std::max(last, completed[origin]);
      std::shared_ptr<Epoch> epoch = p.windows[w].exposure_epoch;
      const bool test = chance(30);
      if (test) {
        feature("Win_test");
        for (int i = number(0, 2); i > 0; --i) {
          Location& l = some_thread(p);
          enter(p, l, kTest);
          pass(p);
          exit(p, l);
        }
      }
      p.windows[w].exposure_epoch.reset();
      made(epoch->call, epoch_call(p, w, test ? kTest : kWait, group, 1, 0, last));
    }
  }
  std::optional<EventPlace> epoch_call(Process& p, std::uint32_t w, Region region,
                                       const std::vector<std::uint32_t>& group, std::uint8_t synex,
                                       std::uint32_t bits, double not_before = 0) {
    Location& l = some_thread(p);
    enter(p, l, region);
    wait_until(p, not_before);
    assertion(p, l, w, bits);
    return simple(
        p, l,
        MpiWinExit{LocationId{l.rank}, at(p), {}, window_id(l, w), group_id(l, group), Byte{synex}},
        true, -1);
  }

  // ---- the end
  // -----------------------------------------------------------------------------------
  void finish() {
    quiet_ = true;
    for (std::uint32_t w = 0; w < windows_.size(); ++w) {
      for (const std::uint32_t rank : windows_[w]) unlock_everything(processes_[rank], w);
      if (fences_[w]->used) fence(w);
    }
    for (Process& p : processes_) {
      if (!p.recording) resume(p);
      pass(p);
      for (const std::uint32_t lid : p.locations) exit(p, locations_[lid]);
    }
    damage();
  }
  void damage() {
    for (Process& p : processes_) {
      if (processes_.size() > 1 && chance(4)) {
        p.missing = true;
        feature("missing");
      } else if (chance(12)) {
        feature("cut");
        p.cut = 100 + number(0, std::max(1, static_cast<int>(4 * (p.now - 100)))) * 0.25;
      }
    }
    for (Location& l : locations_) {
      const Process& p = processes_[l.rank];
      l.kept_records = 0;
      int depth = 0;
      if (!p.missing) {
        while (l.kept_records < l.records.size() &&
               (p.cut < 0 || l.records[l.kept_records].time < p.cut)) {
          depth += l.records[l.kept_records++].depth;
        }
      }
      while (l.kept < l.atoms.size() && l.atoms[l.kept].record < l.kept_records) ++l.kept;
      l.open = static_cast<std::uint32_t>(depth);
    }
  }

  // ---- the truth
  // ---------------------------------------------------------------------------------
  bool there(const CallRef& call) const {
    return call && call->recorded && call->place.index < locations_[call->place.location].kept;
  }
  double merged_time(std::uint32_t lid, std::size_t atom) const {
    const Process& p = processes_[locations_[lid].rank];
    return locations_[lid].atoms[atom].time + (corrected_ ? 0 : p.shift);
  }
  // Whether one event comes before another in the merged trace.
  bool before(EventPlace a, EventPlace b) const {
    return std::tuple(merged_time(a.location, a.index), a.location, a.index) <
           std::tuple(merged_time(b.location, b.index), b.location, b.index);
  }
  // The last exit of a location, regions that the merge closes included.
  std::optional<EventPlace> last_exit(std::uint32_t lid) const {
    const Location& l = locations_[lid];
    if (l.open > 0) return EventPlace{lid, static_cast<std::uint32_t>(l.kept) + l.open - 1};
    for (std::size_t i = l.kept; i-- > 0;) {
      if (l.atoms[i].exit) return EventPlace{lid, static_cast<std::uint32_t>(i)};
    }
    return std::nullopt;
  }
  ExpectedEnd expected(const Operation& op) const {
    ExpectedEnd e;
    e.origin = op.origin;
    e.rmaid = op.rmaid;
    e.put = op.put;
    e.location = op.put ? op.target : op.location;
    e.ambiguous = op.ambiguous;
    const EventPlace start{op.location, static_cast<std::uint32_t>(op.start)};
    std::uint8_t mark = 0;
    if (op.put && !op.passive) {
      if (there(op.at_target)) {
        if (before(start, op.at_target->place)) {
          e.before = op.at_target->place;
          e.location = op.at_target->place.location;
          return e;
        }
        // Read too late: before the next exit of the target.
        const Location& l = locations_[op.at_target->place.location];
        for (std::size_t i = op.at_target->place.index; i < l.kept; ++i) {
          const EventPlace place{l.lid, static_cast<std::uint32_t>(i)};
          if (l.atoms[i].exit && before(start, place)) {
            e.before = place;
            e.location = l.lid;
            e.mark = 3;
            e.ambiguous = processes_[l.rank].locations.size() > 1;  // which thread's exit
            return e;
          }
        }
        e.ambiguous = true;  // the target's trace has ended, or only open regions are left to close
        mark = 3;
      } else {
        mark = 1;
      }
    }
    if (there(op.at_origin)) {
      e.before = op.at_origin->place;
      e.mark = mark;
      if (!op.put) e.location = op.at_origin->place.location;
      return e;
    }
    e.mark = 2;
    // Completed while recording was off: it stays. Ended inside the epoch: before the last exit.
    const Process& p = processes_[op.origin];
    const bool silent = op.at_origin && op.at_origin->made && !op.at_origin->recorded;
    const bool paused = std::any_of(p.log_offs.begin(), p.log_offs.end(), [&](EventPlace place) {
      return place.index < locations_[place.location].kept;
    });
    if (silent && paused) {
      e.before = EventPlace{op.location, static_cast<std::uint32_t>(op.exit)};
    } else {
      e.before = last_exit(op.location);
      if (paused) e.ambiguous = true;  // the cut hides what came of it after the pause
    }
    return e;
  }

  // ---- result
  // ------------------------------------------------------------------------------------
  RandomProgram result() {
    RandomProgram program;
    program.processes = static_cast<std::uint32_t>(processes_.size());
    program.corrected = corrected_;
    for (const Location& l : locations_) {
      const Process& p = processes_[l.rank];
      if (p.missing) continue;
      ProgramTrace trace;
      trace.rank = l.rank;
      trace.thread = l.thread;
      trace.bytes = definitions(l);
      for (std::size_t i = 0; i < l.kept_records; ++i) {
        trace.bytes.insert(trace.bytes.end(), l.records[i].bytes.begin(), l.records[i].bytes.end());
      }
      if (l.kept_records < l.records.size()) {  // and a part of the next
        const std::vector<std::byte>& next = l.records[l.kept_records].bytes;
        trace.bytes.insert(trace.bytes.end(), next.begin(),
                           next.begin() + static_cast<std::ptrdiff_t>(next.size() / 2));
      }
      trace.closed = l.open;
      program.traces.push_back(std::move(trace));
      program.shifts.push_back(p.shift);
    }
    // Threads of a missing process have no location in the merged trace.
    std::vector<std::uint32_t> merged(locations_.size());
    std::uint32_t next = 0;
    for (const Location& l : locations_) {
      merged[l.lid] = next;
      if (l.thread == 0 || !processes_[l.rank].missing) ++next;
    }
    for (const Operation& op : operations_) {
      if (op.end_record >= locations_[op.location].kept_records || processes_[op.origin].missing) {
        continue;
      }
      ExpectedEnd end = expected(op);
      end.location = merged[end.location];
      if (end.before) end.before->location = merged[end.before->location];
      program.ends.push_back(end);
    }
    for (const std::string& name : features_) {
      program.features += (program.features.empty() ? "" : ", ") + name;
    }
    return program;
  }
  std::vector<std::byte> definitions(const Location& l) {
    std::vector<std::byte> bytes(kHeaderSize);
    encode_header(Dialect{}, bytes.data());
    const auto write = [&](const auto& record) {
      const std::vector<std::byte> more = encoded(record);
      bytes.insert(bytes.end(), more.begin(), more.end());
    };
    write(LocalRun{Hash64{11}, Hash64{12}, Count{static_cast<std::uint32_t>(processes_.size())},
                   ProcessId{l.rank}, ThreadId{l.thread}});
    if (corrected_) write(Offset{{0}, {-processes_[l.rank].shift}});
    for (std::uint32_t i = 0; i < kRegions; ++i) {
      emit_string(StringId{i}, kNames[i], write);
      write(kojak::Region{RegionId{i}, StringId{i}, absent<FileId>(), absent<Line>(),
                          absent<Line>(), absent<StringId>(), Byte{1}});
    }
    std::uint32_t group = 0;
    const auto comm = [&](CommId id, const std::vector<std::uint32_t>& ranks,
                          std::uint64_t identity, std::uint8_t flags) {
      emit_group(GroupId{group}, 0, ranks.data(), ranks.size(), write);
      write(MpiCommRef{id, GroupId{group++}});
      write(CommIdentity{id, Hash64{identity}, Hash64{identity}, Flags{flags}});
    };
    for (std::uint32_t w = 0; w < windows_.size(); ++w) {
      comm(CommId{w}, windows_[w], 100 + w, 0);
      write(MpiWin{window_id(l, w), CommId{w}});
      write(WinIdentity{window_id(l, w), Hash64{200 + w}, Hash64{1}, Flags{0}, Byte{1}, Byte{2}});
    }
    for (const auto& [ranks, id] : groups_) comm(group_id(l, ranks), ranks, 0, 8);
    return bytes;
  }

  std::mt19937_64 random_;
  std::vector<std::vector<std::uint32_t>> windows_;  // members
  std::vector<std::shared_ptr<FenceEpoch>> fences_;  // the open fence epoch of each window
  std::vector<Process> processes_;
  std::vector<Location> locations_;
  std::vector<Operation> operations_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::vector<CallRef>>
      exposures_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> groups_;
  std::set<std::string> features_;
  bool corrected_ = false;
  bool quiet_ = false;  // nothing new begins
};

}  // namespace

std::string ExpectedEnd::words() const {
  std::string text = std::string(put ? "put " : "get ") + std::to_string(origin) + "#" +
                     std::to_string(rmaid) + " at " + std::to_string(location);
  text += before ? " before event " + std::to_string(before->index) + " of " +
                       std::to_string(before->location)
                 : std::string(" in place");
  if (mark != 0) text += " mark " + std::to_string(mark);
  return text;
}

RandomProgram random_program(std::uint64_t seed) {
  return Simulation(seed).run();
}

}  // namespace kojak::support
