#include "tests/support/trace_parts.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "epilog/format/mpi_functions.h"
#include "epilog/format/window_memory.h"
#include "tests/support/plain_events.h"
#include "tests/support/trace_records.h"

namespace kojak::support {
namespace {

bool opens(const TraceRecord& r) {
  return r.is(RecordType::kEnter) || r.is(RecordType::kEnterCs) || r.is(RecordType::kLogOff) ||
         r.is(RecordType::kEnterTracing);
}
bool closes(const TraceRecord& r) {
  return r.is(RecordType::kExit) || r.is(RecordType::kMpiCollExit) ||
         r.is(RecordType::kMpiWinExit) || r.is(RecordType::kMpiWinCollExit) ||
         r.is(RecordType::kOmpCollExit) || r.is(RecordType::kCollExit) ||
         r.is(RecordType::kLogOn) || r.is(RecordType::kExitTracing);
}
// What an operation does elsewhere than in the call that issued it.
bool is_effect(const TraceRecord& r) {
  return r.is(RecordType::kMpiPut1te) || r.is(RecordType::kMpiGet1ts) ||
         r.is(RecordType::kMpiGet1te) || r.is(RecordType::kPut1te) || r.is(RecordType::kGet1ts) ||
         r.is(RecordType::kGet1te) || r.is(RecordType::kRmaMark);
}
// Tells where a process stands; in whatever call it is.
bool is_state(const TraceRecord& r) {
  return r.is(RecordType::kWinState) || r.is(RecordType::kEpochState);
}

// Which calls worked on which windows.
class Calls {
 public:
  struct Call {
    std::set<std::uint32_t> windows;
    bool waits = false;  // for requests
    bool progress = false;
  };

  explicit Calls(const TraceBytes& bytes)
      : trace(records_of(bytes)), definitions_(read_definitions(bytes).defs) {
    find_operations();
    std::map<std::uint32_t, std::vector<std::size_t>> open;  // by location: their enters
    for (std::size_t i = 0; i < trace.records.size(); ++i) {
      const TraceRecord& record = trace.records[i];
      if (!is_event(record.type)) continue;
      const EventFields event = event_fields(trace, record);
      std::vector<std::size_t>& stack = open[event.location];
      if (opens(record)) {
        stack.push_back(i);
        calls[i].progress = can_progress(record);
      }
      if (const auto w = window_of(record, event); w && !is_effect(record) && !is_state(record)) {
        used.insert(*w);
        if (!stack.empty()) {
          calls[stack.back()].windows.insert(*w);
          if (record.is(RecordType::kMpiRmaComplete)) calls[stack.back()].waits = true;
        }
      }
      if (closes(record) && !stack.empty()) stack.pop_back();
    }
  }
  // The window that a record belongs to, if any.
  std::optional<std::uint32_t> window_of(const TraceRecord& record,
                                         const EventFields& event) const {
    if (event.window) return event.window;
    const bool start = record.is(RecordType::kMpiGet1to);  // classic: does not name it
    if (!start && !record.is(RecordType::kRmaMark)) return std::nullopt;
    const std::uint32_t origin = start                 ? process_of(event.location)
                                 : event.peers.empty() ? kAbsent
                                                       : event.peers[0];
    const auto it = operations_.find({origin, event.operation.value_or(kAbsent)});
    if (it == operations_.end()) return std::nullopt;
    return it->second;
  }

  TraceRecords trace;
  std::map<std::size_t, Call> calls;  // by the place of the enter
  std::set<std::uint32_t> used;

 private:
  std::uint32_t process_of(std::uint32_t location) const {
    const LocationDef* def = definitions_.locations.find(LocationId{location});
    return def != nullptr ? raw(def->process) : kAbsent;
  }
  bool can_progress(const TraceRecord& record) const {
    RegionId region = absent<RegionId>();
    if (record.is(RecordType::kEnter)) region = trace.as<Enter>(record).rid;
    if (record.is(RecordType::kEnterCs)) {
      const CallSiteDef* site = definitions_.call_sites.find(trace.as<EnterCs>(record).csid);
      if (site != nullptr) region = site->entered;
    }
    const RegionDef* def = definitions_.regions.find(region);
    return def != nullptr && def->function != nullptr && def->function->can_progress;
  }
  // The windows of all operations, which not all records of classic traces name.
  void find_operations() {
    for (const TraceRecord& record : trace.records) {
      if (!is_event(record.type)) continue;
      const EventFields event = event_fields(trace, record);
      if (!event.window || !event.operation) continue;
      const bool at_target = record.is(RecordType::kMpiPut1te) || record.is(RecordType::kMpiGet1ts);
      const std::uint32_t origin =
          at_target ? (event.peers.empty() ? kAbsent : event.peers[0]) : process_of(event.location);
      operations_[{origin, *event.operation}] = *event.window;
    }
  }
  Definitions definitions_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> operations_;
};

// A call's exit, or its enter, without what it says of a window.
TraceRecord plain_exit(const TraceRecords& trace, const TraceRecord& record) {
  if (record.is(RecordType::kMpiWinExit)) {
    const auto r = trace.as<MpiWinExit>(record);
    return trace.made(Exit{r.lid, r.time, r.metv});
  }
  const auto r = trace.as<MpiWinCollExit>(record);
  return trace.made(Exit{r.lid, r.time, r.metv});
}
TraceRecord enter_of(const TraceRecords& trace, const TraceRecord& record, RegionId region) {
  if (record.is(RecordType::kEnterCs)) {
    const auto r = trace.as<EnterCs>(record);
    return trace.made(Enter{r.lid, r.time, region, r.metv});
  }
  auto r = trace.as<Enter>(record);
  r.rid = region;
  return trace.made(r);
}

// Regions for the calls that are of no interest any more.
struct Substitutes {
  RegionId progress{}, none{};
  std::vector<TraceRecord> definitions;
};
Substitutes substitutes(const TraceRecords& trace) {
  std::uint32_t name = 0, region = 0;
  for (const TraceRecord& record : trace.records) {
    if (record.is(RecordType::kString)) name = std::max(name, raw(trace.as<String>(record).strid));
    if (record.is(RecordType::kRegion))
      region = std::max(region, raw(trace.as<Region>(record).rid));
  }
  Substitutes result;
  const auto define = [&](const char* text) {
    ++name;
    ++region;
    result.definitions.push_back(trace.made(String{StringId{name}, Byte{0}, text}));
    Region r;
    r.rid = RegionId{region};
    r.rnid = StringId{name};
    r.fid = absent<FileId>();
    r.rdid = absent<StringId>();
    result.definitions.push_back(trace.made(r));
    return r.rid;
  };
  result.progress = define("MPI_Iprobe");
  result.none = define("MPI_Comm_rank");
  return result;
}

}  // namespace

std::vector<std::uint32_t> windows_used(const TraceBytes& trace) {
  const Calls calls(trace);
  return {calls.used.begin(), calls.used.end()};
}

bool windows_share_memory(const TraceBytes& bytes) {
  const TraceRecords trace = records_of(bytes);
  return std::any_of(trace.records.begin(), trace.records.end(), [&](const TraceRecord& record) {
    return record.is(RecordType::kString) &&
           std::string(trace.as<String>(record).str).starts_with(run_property::kWindowsMemory);
  });
}

bool windows_meet(const TraceBytes& trace) {
  const Calls calls(trace);
  return std::any_of(calls.calls.begin(), calls.calls.end(),
                     [](const auto& call) { return call.second.windows.size() > 1; });
}

TraceBytes only_window(const TraceBytes& bytes, std::uint32_t window) {
  const Calls calls(bytes);
  const TraceRecords& trace = calls.trace;
  const Substitutes other = substitutes(trace);
  TraceRecords part;
  part.dialect = trace.dialect;
  std::vector<TraceRecord> attributes;
  for (std::size_t i = 0; i < trace.records.size(); ++i) {
    const TraceRecord& record = trace.records[i];
    if (record.is(RecordType::kLastDef)) {
      part.records.insert(part.records.end(), other.definitions.begin(), other.definitions.end());
    }
    if (is_attribute(record.type)) {
      attributes.push_back(record);
      continue;
    }
    TraceRecord kept = record;
    if (is_event(record.type)) {
      const EventFields event = event_fields(trace, record);
      const auto w = calls.window_of(record, event);
      if (w && *w != window) {
        if (!closes(record)) {
          attributes.clear();
          continue;
        }
        kept = plain_exit(trace, record);
      }
      if (const auto call = calls.calls.find(i); call != calls.calls.end()) {
        const Calls::Call& c = call->second;
        if (!c.windows.empty() && !c.windows.contains(window) && !c.waits) {
          kept = enter_of(trace, record, c.progress ? other.progress : other.none);
        }
      }
    }
    part.records.insert(part.records.end(), attributes.begin(), attributes.end());
    attributes.clear();
    part.records.push_back(std::move(kept));
  }
  return trace_of(part);
}

bool has_marks(const TraceBytes& bytes) {
  const TraceRecords trace = records_of(bytes);
  return std::any_of(trace.records.begin(), trace.records.end(),
                     [](const TraceRecord& r) { return r.is(RecordType::kRmaMark); });
}

bool has_values(const TraceBytes& bytes) {
  const TraceRecords trace = records_of(bytes);
  return std::any_of(trace.records.begin(), trace.records.end(),
                     [](const TraceRecord& r) { return r.is(RecordType::kMpiValue); });
}

bool has_clock_violations(const TraceBytes& bytes) {
  constexpr std::uint8_t kClockViolation = 3;
  const TraceRecords trace = records_of(bytes);
  return std::any_of(trace.records.begin(), trace.records.end(), [&](const TraceRecord& r) {
    return r.is(RecordType::kRmaMark) && raw(trace.as<RmaMark>(r).reason) == kClockViolation;
  });
}

TraceBytes with_ends_put_back(const TraceBytes& bytes) {
  const TraceRecords trace = records_of(bytes);
  const Definitions definitions = read_definitions(bytes).defs;
  const auto process_of = [&](std::uint32_t location) {
    const LocationDef* def = definitions.locations.find(LocationId{location});
    return def != nullptr ? raw(def->process) : location;
  };
  // The exit of the call that issued each operation, by origin and number.
  using Operation = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Operation, std::size_t> exits;
  std::map<std::uint32_t, std::vector<std::vector<Operation>>> open;  // by location
  for (std::size_t i = 0; i < trace.records.size(); ++i) {
    const TraceRecord& record = trace.records[i];
    if (!is_event(record.type)) continue;
    const EventFields event = event_fields(trace, record);
    auto& calls = open[event.location];
    if (opens(record)) calls.emplace_back();
    if ((record.is(RecordType::kMpiPut1ts) || record.is(RecordType::kMpiPut1to) ||
         record.is(RecordType::kMpiGet1to)) &&
        !calls.empty()) {
      calls.back().push_back({process_of(event.location), event.operation.value_or(kAbsent)});
    }
    if (!closes(record) || calls.empty()) continue;
    for (const Operation& operation : calls.back()) exits.try_emplace(operation, i);
    calls.pop_back();
  }
  // What goes before which exit.
  std::map<std::size_t, std::vector<TraceRecord>> ends;
  std::set<std::size_t> moved;
  std::vector<std::size_t> with;  // attributes and the mark of the next event
  for (std::size_t i = 0; i < trace.records.size(); ++i) {
    const TraceRecord& record = trace.records[i];
    if (is_attribute(record.type) || record.is(RecordType::kRmaMark)) {
      with.push_back(i);
      continue;
    }
    const bool put = record.is(RecordType::kMpiPut1te), get = record.is(RecordType::kMpiGet1te);
    if (put || get) {
      const EventFields event = event_fields(trace, record);
      const std::uint32_t origin = put ? event.peers.at(0) : process_of(event.location);
      const auto exit = exits.find({origin, event.operation.value_or(kAbsent)});
      if (exit != exits.end()) {
        with.push_back(i);
        const EventFields there = event_fields(trace, trace.records[exit->second]);
        for (const std::size_t w : with) {
          TraceRecords one{trace.dialect, {trace.records[w]}};
          FieldChanges changes;
          changes.time = [&](double) { return there.time; };
          if (get) changes.location = [&](std::uint32_t) { return there.location; };
          change_fields(one, changes);
          ends[exit->second].push_back(one.records[0]);
          moved.insert(w);
        }
      }
    }
    with.clear();
  }
  TraceRecords changed;
  changed.dialect = trace.dialect;
  for (std::size_t i = 0; i < trace.records.size(); ++i) {
    if (moved.contains(i)) continue;
    if (const auto here = ends.find(i); here != ends.end()) {
      changed.records.insert(changed.records.end(), here->second.begin(), here->second.end());
    }
    changed.records.push_back(trace.records[i]);
  }
  return trace_of(changed);
}

Reordered with_ties_reordered(const TraceBytes& bytes, std::uint64_t seed) {
  const TraceRecords trace = records_of(bytes);
  const Definitions definitions = read_definitions(bytes).defs;
  std::mt19937_64 random(seed);
  // What must stay together: attributes, marks and ends with the event that they stand before.
  struct Unit {
    std::vector<const TraceRecord*> records;
    std::set<std::uint32_t> processes;  // whom it concerns
    double time = 0;
    bool fixed = false;
  };
  TraceRecords changed;
  changed.dialect = trace.dialect;
  Reordered result;
  std::vector<Unit> tied;
  const auto meet = [](const Unit& a, const Unit& b) {
    if (a.fixed || b.fixed) return true;
    return std::any_of(a.processes.begin(), a.processes.end(),
                       [&](std::uint32_t p) { return b.processes.contains(p); });
  };
  const auto enters_unlock = [&](const TraceRecord& record) {
    if (!record.is(RecordType::kEnter)) return false;
    const RegionDef* region = definitions.regions.find(trace.as<Enter>(record).rid);
    return region != nullptr && region->function != nullptr &&
           (region->function->role == MpiRole::kWinUnlock ||
            region->function->role == MpiRole::kWinUnlockAll);
  };
  const auto emit_tied = [&] {
    while (!tied.empty()) {
      std::vector<std::size_t> free;  // nothing before it concerns the same processes
      for (std::size_t i = 0; i < tied.size(); ++i) {
        const bool waits = std::any_of(tied.begin(), tied.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const Unit& before) { return meet(before, tied[i]); });
        if (!waits) free.push_back(i);
      }
      const std::size_t chosen = free[random() % free.size()];
      result.moved += chosen;
      for (const TraceRecord* r : tied[chosen].records) changed.records.push_back(*r);
      tied.erase(tied.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  };
  Unit unit;
  const auto close_unit = [&] {
    if (unit.records.empty()) return;
    if (!tied.empty() && tied.back().time != unit.time) emit_tied();
    tied.push_back(std::move(unit));
    unit = {};
  };
  for (const TraceRecord& record : trace.records) {
    if (!is_event(record.type) && !is_attribute(record.type)) {
      changed.records.push_back(record);
      continue;
    }
    unit.records.push_back(&record);
    if (is_attribute(record.type)) continue;
    const EventFields event = event_fields(trace, record);
    unit.time = event.time;
    unit.fixed = unit.fixed || record.is(RecordType::kLogOff) || enters_unlock(record);
    const LocationDef* location = definitions.locations.find(LocationId{event.location});
    unit.processes.insert(location != nullptr ? raw(location->process) : event.location);
    unit.processes.insert(event.peers.begin(), event.peers.end());
    const bool get_starts = record.is(RecordType::kMpiGet1ts) || record.is(RecordType::kGet1ts);
    if (!is_effect(record) || get_starts) close_unit();
  }
  close_unit();
  emit_tied();
  result.trace = trace_of(changed);
  return result;
}

}  // namespace kojak::support
