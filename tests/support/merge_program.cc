#include "tests/support/merge_program.h"

#include "epilog/format/record/continuation.h"
#include "tests/support/program_operations.h"

namespace kojak::support {
namespace program {
namespace {

// What processes do together, what is then damaged, and the truth.
class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : run_(seed) {}

  RandomProgram run() {
    run_.set_up();
    const int steps = run_.number(3, 18);
    for (Process& p : run_.processes) {
      if (run_.chance(30)) {
        p.pause_from = run_.number(0, steps - 1);
        p.pause_to = run_.number(p.pause_from, steps);
        run_.feature("pause");
      }
    }
    for (int step = 0; step < steps; ++step) {
      for (Process& p : run_.processes) run_.pauses(p, step);
      phase(static_cast<std::uint32_t>(run_.number(0, static_cast<int>(run_.windows.size()) - 1)));
      for (Process& p : run_.processes) operations_.some_operations(p);
    }
    finish();
    return result();
  }

 private:
  void phase(std::uint32_t w) {
    for (const std::uint32_t rank : run_.windows[w]) {
      operations_.unlock_everything(run_.processes[rank], w);
    }
    const int kind = run_.number(1, 100);
    if (kind <= 45) {
      fence(w);
    } else if (kind <= 80 && !run_.fences[w]->used) {
      general_active_target(w);
    } else if (!run_.fences[w]->used) {
      for (const std::uint32_t rank : run_.windows[w]) {
        const int n = run_.number(0, 4);
        for (int i = 0; i < n; ++i) {
          operations_.passive_step(run_.processes[rank], w);
          operations_.operation(run_.processes[rank], w);
          if (run_.chance(30)) operations_.operation(run_.processes[rank], w);
        }
      }
    } else {
      fence(w);
    }
  }
  void fence(std::uint32_t w) {
    run_.feature("fence");
    const std::shared_ptr<FenceEpoch> closed = run_.fences[w];
    run_.fences[w] = std::make_shared<FenceEpoch>();
    // Without operations to complete, a fence need not wait for anybody.
    const bool alone = !closed->used && run_.chance(50);
    const std::uint32_t bits =
        (alone ? kAssertNoPrecede : 0) | (run_.chance(25) ? kAssertNoSucceed : 0);
    double all_there = 0;
    std::vector<std::uint32_t> threads;
    for (const std::uint32_t rank : run_.windows[w]) {
      Process& p = run_.processes[rank];
      Location& l = run_.some_thread(p);
      threads.push_back(l.lid);
      run_.pass(p, 8);
      run_.enter(p, l, kFence);
      all_there = std::max(all_there, p.now);
    }
    for (std::size_t i = 0; i < run_.windows[w].size(); ++i) {
      Process& p = run_.processes[run_.windows[w][i]];
      Location& l = run_.locations[threads[i]];
      run_.wait_until(p, alone ? 0 : all_there);
      if (run_.chance(15)) p.now += run_.number(0, 40) * 0.25;  // a slow one
      run_.assertion(p, l, w, bits);
      const auto place = run_.simple(
          p, l, MpiWinCollExit{LocationId{l.rank}, run_.at(p), {}, run_.window_id(l, w)}, true, -1);
      WindowState& s = p.windows[w];
      CallRef& call = closed->closing[p.rank];
      if (!call) call = std::make_shared<Call>();
      run_.made(call, place);
      ++s.fences;
      s.fence_open = s.fence_usable = (bits & kAssertNoSucceed) == 0;
      s.operations.clear();
      if (run_.chance(40)) operations_.some_operations(p);
    }
  }
  void general_active_target(std::uint32_t w) {
    run_.feature("general active target");
    std::map<std::uint32_t, std::vector<std::uint32_t>> posts, starts;
    for (const std::uint32_t target : run_.windows[w]) {
      for (const std::uint32_t origin : run_.windows[w]) {
        if (!run_.chance(45)) continue;
        posts[target].push_back(origin);
        starts[origin].push_back(target);
      }
    }
    for (const std::uint32_t rank : run_.windows[w]) {  // empty groups count for nobody
      if (!posts.contains(rank) && run_.chance(10)) posts[rank] = {};
      if (!starts.contains(rank) && run_.chance(10)) starts[rank] = {};
    }
    for (auto& [rank, group] : posts) std::shuffle(group.begin(), group.end(), run_.random);
    for (auto& [rank, group] : starts) std::shuffle(group.begin(), group.end(), run_.random);
    std::map<std::uint32_t, double> completed;
    for (auto& [rank, group] : posts) {
      Process& p = run_.processes[rank];
      WindowState& s = p.windows[w];
      s.fence_usable = false;
      s.exposure_epoch = std::make_shared<Epoch>();
      s.exposure_epoch->group = group;
      for (const std::uint32_t origin : group) {
        ++s.exposure[origin];
        run_.exposures[{w, origin, rank}].push_back(s.exposure_epoch->call);
      }
      epoch_call(p, w, kPost, group, 0, run_.chance(20) ? kAssertNoCheck : 0);
    }
    for (auto& [rank, group] : starts) {
      Process& p = run_.processes[rank];
      WindowState& s = p.windows[w];
      s.fence_usable = false;
      s.access_epoch = std::make_shared<Epoch>();
      s.access_epoch->group = group;
      s.operations.clear();
      for (const std::uint32_t target : group) ++s.access[target];
      epoch_call(p, w, kStart, group, 0, run_.chance(20) ? kAssertNoCheck : 0);
      const int n = run_.number(0, 4);
      for (int i = 0; i < n; ++i) operations_.operation(p, w);
      operations_.some_operations(p);
      run_.made(s.access_epoch->call, epoch_call(p, w, kComplete, group, 1, 0));
      completed[rank] = p.now;
      s.access_epoch.reset();
      if (run_.chance(30)) operations_.some_operations(p);
    }
    for (auto& [rank, group] : posts) {
      Process& p = run_.processes[rank];
      double last = 0;
      for (const std::uint32_t origin : group) last = std::max(last, completed[origin]);
      std::shared_ptr<Epoch> epoch = p.windows[w].exposure_epoch;
      const bool test = run_.chance(30);
      if (test) {
        run_.feature("Win_test");
        for (int i = run_.number(0, 2); i > 0; --i) {
          Location& l = run_.some_thread(p);
          run_.enter(p, l, kTest);
          run_.pass(p);
          run_.exit(p, l);
        }
      }
      p.windows[w].exposure_epoch.reset();
      run_.made(epoch->call, epoch_call(p, w, test ? kTest : kWait, group, 1, 0, last));
    }
  }
  std::optional<EventPlace> epoch_call(Process& p, std::uint32_t w, Region region,
                                       const std::vector<std::uint32_t>& group, std::uint8_t synex,
                                       std::uint32_t bits, double not_before = 0) {
    Location& l = run_.some_thread(p);
    run_.enter(p, l, region);
    run_.wait_until(p, not_before);
    run_.assertion(p, l, w, bits);
    return run_.simple(p, l,
                       MpiWinExit{LocationId{l.rank},
                                  run_.at(p),
                                  {},
                                  run_.window_id(l, w),
                                  run_.group_id(l, group),
                                  Byte{synex}},
                       true, -1);
  }

  void finish() {
    run_.quiet = true;
    for (std::uint32_t w = 0; w < run_.windows.size(); ++w) {
      for (const std::uint32_t rank : run_.windows[w])
        operations_.unlock_everything(run_.processes[rank], w);
      if (run_.fences[w]->used) fence(w);
    }
    for (Process& p : run_.processes) {
      if (!p.recording) run_.resume(p);
      run_.pass(p);
      for (const std::uint32_t lid : p.locations) run_.exit(p, run_.locations[lid]);
    }
    damage();
  }
  void damage() {
    for (Process& p : run_.processes) {
      if (run_.processes.size() > 1 && run_.chance(4)) {
        p.missing = true;
        run_.feature("missing");
      } else if (run_.chance(12)) {
        run_.feature("cut");
        p.cut = 100 + run_.number(0, std::max(1, static_cast<int>(4 * (p.now - 100)))) * 0.25;
      }
    }
    for (Location& l : run_.locations) {
      const Process& p = run_.processes[l.rank];
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

  bool there(const CallRef& call) const {
    return call && call->recorded && call->place.index < run_.locations[call->place.location].kept;
  }
  double merged_time(std::uint32_t lid, std::size_t atom) const {
    const Process& p = run_.processes[run_.locations[lid].rank];
    return run_.locations[lid].atoms[atom].time + (run_.corrected ? 0 : p.shift);
  }
  // Whether one event comes before another in the merged trace.
  bool before(EventPlace a, EventPlace b) const {
    return std::tuple(merged_time(a.location, a.index), a.location, a.index) <
           std::tuple(merged_time(b.location, b.index), b.location, b.index);
  }
  // The last exit of a location, regions that the merge closes included.
  std::optional<EventPlace> last_exit(std::uint32_t lid) const {
    const Location& l = run_.locations[lid];
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
        const Location& l = run_.locations[op.at_target->place.location];
        for (std::size_t i = op.at_target->place.index; i < l.kept; ++i) {
          const EventPlace place{l.lid, static_cast<std::uint32_t>(i)};
          if (l.atoms[i].exit && before(start, place)) {
            e.before = place;
            e.location = l.lid;
            e.mark = 3;
            e.ambiguous = run_.processes[l.rank].locations.size() > 1;  // which thread's exit
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
    const Process& p = run_.processes[op.origin];
    const bool silent = op.at_origin && op.at_origin->made && !op.at_origin->recorded;
    const bool paused = std::any_of(p.log_offs.begin(), p.log_offs.end(), [&](EventPlace place) {
      return place.index < run_.locations[place.location].kept;
    });
    if (silent && paused) {
      e.before = EventPlace{op.location, static_cast<std::uint32_t>(op.exit)};
    } else {
      e.before = last_exit(op.location);
      if (paused) e.ambiguous = true;  // the cut hides what came of it after the pause
    }
    return e;
  }

  RandomProgram result() {
    RandomProgram program;
    program.processes = static_cast<std::uint32_t>(run_.processes.size());
    program.corrected = run_.corrected;
    for (const Location& l : run_.locations) {
      const Process& p = run_.processes[l.rank];
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
    std::vector<std::uint32_t> merged(run_.locations.size());
    std::uint32_t next = 0;
    for (const Location& l : run_.locations) {
      merged[l.lid] = next;
      if (l.thread == 0 || !run_.processes[l.rank].missing) ++next;
    }
    for (const Operation& op : run_.operations) {
      if (op.end_record >= run_.locations[op.location].kept_records ||
          run_.processes[op.origin].missing) {
        continue;
      }
      ExpectedEnd end = expected(op);
      end.location = merged[end.location];
      if (end.before) end.before->location = merged[end.before->location];
      program.ends.push_back(end);
    }
    for (const std::string& name : run_.features) {
      program.features += (program.features.empty() ? "" : ", ") + name;
    }
    return program;
  }
  std::vector<std::byte> definitions(const Location& l) {
    std::vector<std::byte> bytes(kHeaderSize);
    encode_header(Dialect{}, bytes.data());
    const auto write = [&](const auto& record) {
      const std::vector<std::byte> more = run_.encoded(record);
      bytes.insert(bytes.end(), more.begin(), more.end());
    };
    write(LocalRun{Hash64{11}, Hash64{12}, Count{static_cast<std::uint32_t>(run_.processes.size())},
                   ProcessId{l.rank}, ThreadId{l.thread}});
    if (run_.corrected) write(Offset{{0}, {-run_.processes[l.rank].shift}});
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
    for (std::uint32_t w = 0; w < run_.windows.size(); ++w) {
      comm(CommId{w}, run_.windows[w], 100 + w, 0);
      write(MpiWin{run_.window_id(l, w), CommId{w}});
      write(WinIdentity{run_.window_id(l, w), Hash64{200 + w}, Hash64{1}, Flags{0}, Byte{1},
                        Byte{2}});
    }
    for (const auto& [ranks, id] : run_.groups) comm(run_.group_id(l, ranks), ranks, 0, 8);
    return bytes;
  }

  SimulatedRun run_;
  Operations operations_{run_};
};

}  // namespace
}  // namespace program

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
  return program::Simulation(seed).run();
}

}  // namespace kojak::support
