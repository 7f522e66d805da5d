#include "tests/support/merge_program.h"

#include "epilog/format/record/continuation.h"
#include "tests/support/program_operations.h"

namespace kojak::support {
namespace program {
namespace {

// What processes do together, what is then damaged, and the truth.
class Simulation : private Operations {
 public:
  using Operations::Operations;

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
