// What simulated processes do by themselves: operations, locks, flushes, waiting for requests.
// Internal to merge_program.cc; see merge_program.h.
#pragma once

#include "tests/support/simulated_run.h"

namespace kojak::support::program {

class Operations {
 public:
  // The run must outlive it.
  explicit Operations(SimulatedRun& run) : run_(run) {}

  void some_operations(Process& p) {
    if (run_.quiet) return;
    const int n = run_.chance(30) ? 0 : run_.number(0, 4);
    for (int i = 0; i < n; ++i) {
      const auto w =
          static_cast<std::uint32_t>(run_.number(0, static_cast<int>(run_.windows.size()) - 1));
      if (std::count(run_.windows[w].begin(), run_.windows[w].end(), p.rank) == 0) continue;
      operation(p, w);
      if (run_.chance(20)) passive_step(p, w);
    }
    if (!p.requests.empty() && run_.chance(40)) wait_for_requests(p);
    if (run_.chance(10)) {
      Location& l = run_.some_thread(p);
      run_.enter(p, l, kWork);
      run_.pass(p);
      run_.exit(p, l);
    }
  }
  void operation(Process& p, std::uint32_t w) {
    WindowState& s = p.windows[w];
    std::vector<std::uint32_t> targets;
    bool passive = false;
    if (s.lock_all) {
      targets = run_.windows[w];
      passive = true;
    } else if (!s.locks.empty()) {
      for (const auto& lock : s.locks) targets.push_back(lock.first);
      passive = true;
    } else if (s.access_epoch) {
      targets = s.access_epoch->group;
    } else if (s.fence_usable) {
      targets = run_.windows[w];
    }
    if (targets.empty()) return;
    const std::uint32_t target = run_.any(targets);
    ++s.operations[target];
    // 1 put, 2 get, 3 both
    const int kind = run_.number(1, 3);
    const bool request = passive && run_.chance(40);
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
      op.at_target = run_.exposures[{w, p.rank, target}].back();
    } else if (!passive) {
      FenceEpoch& epoch = *run_.fences[w];
      epoch.used = true;
      const auto closing = [&](std::uint32_t rank) {
        CallRef& call = epoch.closing[rank];
        if (!call) call = std::make_shared<Call>();
        return call;
      };
      op.at_origin = closing(p.rank);
      op.at_target = closing(target);
    }
    Location& l = run_.some_thread(p);
    const std::uint32_t first = p.rmaid;
    p.rmaid += kind == 3 ? 2 : 1;
    const std::uint64_t bytes = run_.chance(3) ? 5'000'000'000u : 8;
    run_.pass(p);
    const double begin = p.now;
    run_.pass(p);
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
  void passive_step(Process& p, std::uint32_t w) {
    WindowState& s = p.windows[w];
    if (s.access_epoch) return;
    if (s.lock_all) {
      if (run_.chance(30)) {
        unlock_all(p, w);
      } else {
        flush(p, w, run_.chance(50) ? kAbsent : run_.any(run_.windows[w]), run_.chance(40));
      }
    } else if (!s.locks.empty() && run_.chance(60)) {
      std::vector<std::uint32_t> held;
      for (const auto& lock : s.locks) held.push_back(lock.first);
      if (run_.chance(50)) {
        unlock(p, w, run_.any(held));
      } else {
        flush(p, w, run_.chance(30) ? kAbsent : run_.any(held), run_.chance(40));
      }
    } else if (!run_.fences[w]->used || !s.fence_usable) {
      if (s.locks.empty() && run_.chance(30)) {
        lock_all(p, w);
      } else {
        const std::uint32_t target = run_.any(run_.windows[w]);
        if (!s.locks.contains(target)) lock(p, w, target);
      }
    }
  }
  void unlock_everything(Process& p, std::uint32_t w) {
    while (!p.windows[w].locks.empty()) {
      std::vector<std::uint32_t> held;
      for (const auto& held_lock : p.windows[w].locks) held.push_back(held_lock.first);
      unlock(p, w, run_.any(held));
    }
    if (p.windows[w].lock_all) unlock_all(p, w);
  }

 private:
  std::vector<std::size_t> record_operation(Process& p, Location& l, Operation op, int kind,
                                            Region region, std::uint32_t w, std::uint32_t first,
                                            std::uint64_t bytes, double begin) {
    std::vector<std::size_t> made_operations;
    const double end = p.now;
    const LocationId lid{l.rank};
    const Seconds from{begin + p.shift}, to{end + p.shift};
    const PeerId target{op.target};
    const WindowId wid = run_.window_id(l, w);
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
      run_.operations.push_back(op);
      made_operations.push_back(run_.operations.size() - 1);
    };
    const auto leave = [&](std::size_t exit_atom) {
      for (const std::size_t i : made_operations) run_.operations[i].exit = exit_atom;
      return made_operations;
    };
    if (run_.chance(60)) {  // one record for the call
      l.records.push_back(
          {run_.encoded(MpiRmaCall{lid, from, to, RegionId{region}, target, wid, get_id,
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
      l.records.push_back({run_.encoded(record), time, depth});
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
      Operation& op = run_.operations[i];
      if (gets_only && op.put) return false;
      if (!op.at_origin) op.at_origin = call;
      return true;
    });
  }
  void wait_for_requests(Process& p) {
    Location& l = run_.some_thread(p);
    run_.enter(p, l, kWaitall);
    run_.pass(p);
    std::vector<std::size_t> rest;
    for (const std::size_t i : p.requests) {
      Operation& op = run_.operations[i];
      if (run_.chance(30)) {
        rest.push_back(i);
        continue;
      }
      if (op.put && op.atomic) continue;  // only the get of an atomic operation is named
      const auto place = run_.simple(p, l,
                                     MpiRmaComplete{LocationId{l.rank}, run_.at(p),
                                                    run_.window_id(l, op.window), RmaId{op.rmaid}},
                                     false, 0);
      if (!op.put && !op.at_origin) {
        op.at_origin = std::make_shared<Call>();
        run_.made(op.at_origin, place);
        std::erase(p.windows[op.window].pending[op.target], i);
      }
    }
    p.requests = rest;
    run_.exit(p, l);
  }
  void lock(Process& p, std::uint32_t w, std::uint32_t target) {
    run_.feature("lock");
    WindowState& s = p.windows[w];
    Location& l = run_.some_thread(p);
    const bool exclusive = run_.chance(50);
    s.fence_usable = false;
    s.locks[target] = exclusive;
    s.operations[target] = 0;
    run_.enter(p, l, kLock);
    run_.pass(p);
    run_.assertion(p, l, w, run_.chance(20) ? kAssertNoCheck : 0);
    run_.simple(p, l,
                MpiWinLock{LocationId{l.rank}, run_.at(p), PeerId{target}, run_.window_id(l, w),
                           Byte{static_cast<std::uint8_t>(exclusive ? 1 : 0)}},
                false, 0);
    run_.exit(p, l);
  }
  void lock_all(Process& p, std::uint32_t w) {
    run_.feature("lock_all");
    WindowState& s = p.windows[w];
    Location& l = run_.some_thread(p);
    s.fence_usable = false;
    s.lock_all = true;
    s.operations.clear();
    run_.enter(p, l, kLockAll);
    run_.pass(p);
    run_.assertion(p, l, w, run_.chance(20) ? kAssertNoCheck : 0);
    run_.simple(p, l, MpiWinLockAll{LocationId{l.rank}, run_.at(p), run_.window_id(l, w)}, false,
                0);
    run_.exit(p, l);
  }
  void unlock(Process& p, std::uint32_t w, std::uint32_t target) {
    Location& l = run_.some_thread(p);
    const auto call = std::make_shared<Call>();
    run_.enter(p, l, kUnlock);
    run_.pass(p);
    run_.made(call, run_.simple(p, l,
                                MpiWinUnlock{LocationId{l.rank}, run_.at(p), PeerId{target},
                                             run_.window_id(l, w)},
                                false, 0));
    complete_passive(p, w, target, false, call);
    run_.exit(p, l);
    p.windows[w].locks.erase(target);
  }
  void unlock_all(Process& p, std::uint32_t w) {
    Location& l = run_.some_thread(p);
    const auto call = std::make_shared<Call>();
    run_.enter(p, l, kUnlockAll);
    run_.pass(p);
    run_.made(call, run_.simple(
                        p, l, MpiWinUnlockAll{LocationId{l.rank}, run_.at(p), run_.window_id(l, w)},
                        false, 0));
    for (const std::uint32_t target : run_.windows[w]) {
      complete_passive(p, w, target, false, call);
    }
    run_.exit(p, l);
    p.windows[w].lock_all = false;
  }
  void flush(Process& p, std::uint32_t w, std::uint32_t target, bool local) {
    run_.feature(local ? "flush_local" : "flush");
    Location& l = run_.some_thread(p);
    const auto call = std::make_shared<Call>();
    run_.enter(p, l, local ? kFlushLocal : kFlush);
    run_.pass(p);
    run_.made(call, run_.simple(p, l,
                                MpiWinFlush{LocationId{l.rank}, run_.at(p), PeerId{target},
                                            run_.window_id(l, w),
                                            Byte{static_cast<std::uint8_t>(local ? 1 : 0)}},
                                false, 0));
    for (const std::uint32_t t : run_.windows[w]) {
      if (target != kAbsent && t != target) continue;
      complete_passive(p, w, t, local, call);
    }
    run_.exit(p, l);
  }

  SimulatedRun& run_;
};

}  // namespace kojak::support::program
