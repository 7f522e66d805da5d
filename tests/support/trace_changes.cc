#include "tests/support/trace_changes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iomanip>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>

#include "epilog/format/collective_operations.h"
#include "epilog/format/field_values.h"
#include "epilog/format/service.h"
#include "epilog/format/window_memory.h"
#include "tests/support/trace_records.h"

namespace kojak::support {
namespace {

using Map = std::map<std::uint32_t, std::uint32_t>;

std::uint32_t mapped(const Map& map, std::uint32_t id, const char* what) {
  const auto it = map.find(id);
  if (it == map.end()) {
    throw std::runtime_error(std::string("no ") + what + " " + std::to_string(id));
  }
  return it->second;
}

// Who is where, as far as the definitions and the events tell.
struct Places {
  std::uint32_t processes = 0;     // one more than the largest rank
  std::set<std::uint32_t> others;  // locations of further threads
};
Places places_of(const TraceRecords& trace) {
  Places places;
  const auto has = [&](std::uint32_t rank) {
    places.processes = std::max(places.processes, rank + 1);
  };
  for (const TraceRecord& record : trace.records) {
    if (record.is(RecordType::kMergedRun)) {
      const auto run = trace.as<MergedRun>(record);
      if (raw(run.size) != 0) has(raw(run.size) - 1);
    } else if (record.is(RecordType::kLocation)) {
      const auto location = trace.as<Location>(record);
      has(raw(location.pid));
      if (raw(location.tid) != 0) {
        places.others.insert(raw(location.lid));
        continue;
      }
      if (raw(location.lid) != raw(location.pid)) {
        throw std::runtime_error("the first thread of a process is not at its rank");
      }
    } else if (is_event(record.type)) {
      for (const std::uint32_t peer : event_fields(trace, record).peers) has(peer);
    } else if (record.is(RecordType::kMpiGroup)) {
      const U4Array ranks = trace.as<MpiGroup>(record).ranks;
      for (std::uint32_t i = 0; i < ranks.size(); ++i) has(ranks[i]);
    }
  }
  if (!places.others.empty() && *places.others.begin() < places.processes) {
    throw std::runtime_error("a thread is where a process must be");
  }
  return places;
}

// Groups of all processes in order list their members from now on.
void list_members(TraceRecords& trace) {
  constexpr std::uint8_t kAllInOrder = 1;
  for (TraceRecord& record : trace.records) {
    if (record.is(RecordType::kMpiGroupCnt)) throw std::runtime_error("a group in several records");
    if (!record.is(RecordType::kMpiGroup)) continue;
    auto group = trace.as<MpiGroup>(record);
    if ((raw(group.mode) & kAllInOrder) == 0) continue;
    std::vector<std::uint32_t> ranks(raw(group.count));
    for (std::uint32_t i = 0; i < ranks.size(); ++i) ranks[i] = i;
    group.mode = static_cast<Flags>(raw(group.mode) & ~kAllInOrder);
    group.ranks = U4Array::of(ranks);
    record = trace.made(group);
  }
}

// Different numbers for any numbers, with gaps, in random order.
FieldChanges::Id scattered(std::mt19937_64& random, std::uint32_t most) {
  struct Numbers {
    explicit Numbers(std::uint64_t seed) : random(seed) {}
    std::mt19937_64 random;
    Map map;
    std::set<std::uint32_t> taken;
  };
  const auto numbers = std::make_shared<Numbers>(random());
  return [numbers, most](std::uint32_t id) {
    const auto [it, made] = numbers->map.try_emplace(id, 0);
    while (made && !numbers->taken.insert(it->second).second) {
      it->second = static_cast<std::uint32_t>(numbers->random() % most);
    }
    return it->second;
  };
}

// Values of the run's properties whose keys are such ones, which are texts.
void change_properties(TraceRecords& trace, const std::function<bool(const std::string&)>& is,
                       const std::function<std::string(const std::string&)>& other) {
  std::set<std::uint32_t> keys, values;
  for (const TraceRecord& record : trace.records) {
    if (!record.is(RecordType::kString)) continue;
    const auto string = trace.as<String>(record);
    if (is(std::string(string.str))) keys.insert(raw(string.strid));
  }
  for (const TraceRecord& record : trace.records) {
    if (!record.is(RecordType::kRunProperty)) continue;
    const auto property = trace.as<RunProperty>(record);
    if (keys.contains(raw(property.key))) values.insert(raw(property.value));
  }
  for (TraceRecord& record : trace.records) {
    if (!record.is(RecordType::kString)) continue;
    auto string = trace.as<String>(record);
    if (!values.contains(raw(string.strid))) continue;
    const std::string text = other(std::string(string.str));
    string.str = text;
    record = trace.made(string);
  }
}
// When processes begin to serve the others.
void change_services(TraceRecords& trace, const std::function<double(double)>& time) {
  change_properties(trace, is_service_key, [&](const std::string& value) {
    std::ostringstream changed;
    changed << std::setprecision(17) << time(std::stod(value));
    return changed.str();
  });
}
// Which windows lie over one memory.
void change_overlaps(TraceRecords& trace, const FieldChanges::Id& window) {
  change_properties(
      trace, [](const std::string& key) { return key.starts_with(run_property::kWindowsMemory); },
      [&](const std::string& value) {
        std::vector<WindowMemory> windows = windows_in(value);
        for (WindowMemory& w : windows) w.window = window(w.window);
        return written(windows);
      });
}

FieldChanges rank_changes(const Map& processes, const Map& locations) {
  FieldChanges changes;
  changes.process = [&](std::uint32_t rank) { return mapped(processes, rank, "process"); };
  changes.location = [&](std::uint32_t lid) { return mapped(locations, lid, "location"); };
  return changes;
}
std::vector<std::uint32_t> as_vector(const Map& map) {
  std::vector<std::uint32_t> values(map.empty() ? 0 : map.rbegin()->first + 1, kAbsent);
  for (const auto& [from, to] : map) values[from] = to;
  return values;
}

}  // namespace

TraceBytes with_times_shifted(const TraceBytes& trace, double seconds) {
  FieldChanges changes;
  changes.time = [=](double time) { return time + seconds; };
  TraceRecords records = records_of(trace);
  change_services(records, changes.time);
  change_fields(records, changes);
  return trace_of(records);
}

TraceBytes with_times_scaled(const TraceBytes& trace, double factor) {
  FieldChanges changes;
  changes.time = changes.seconds = [=](double value) { return factor * value; };
  TraceRecords records = records_of(trace);
  for (TraceRecord& record : records.records) {
    if (!record.is(RecordType::kProcessor)) continue;
    const auto scaled = [=](Count64 nanoseconds) {
      return Count64{
          static_cast<std::uint64_t>(std::llround(factor * static_cast<double>(raw(nanoseconds))))};
    };
    auto processor = records.as<Processor>(record);
    processor.ran = scaled(processor.ran);
    processor.wanted = scaled(processor.wanted);
    record = records.made(processor);
  }
  change_services(records, changes.time);
  change_fields(records, changes);
  return trace_of(records);
}

bool has_processor_times(const TraceBytes& trace) {
  const TraceRecords records = records_of(trace);
  return std::any_of(records.records.begin(), records.records.end(),
                     [](const TraceRecord& r) { return r.is(RecordType::kProcessor); });
}

TraceBytes with_other_identifiers(const TraceBytes& trace, std::uint64_t seed, std::uint32_t most) {
  std::mt19937_64 random(seed);
  FieldChanges changes;
  for (FieldChanges::Id* kind :
       {&changes.window, &changes.comm, &changes.group, &changes.string, &changes.file,
        &changes.region, &changes.site, &changes.topology, &changes.lock}) {
    *kind = scattered(random, most);
  }
  // These stay in order, and the put of an atomic operation keeps the number after its get's.
  const auto first = static_cast<std::uint32_t>(random() % 50 + 1);
  changes.operation = changes.request = [=](std::uint32_t id) { return first + id; };
  TraceRecords records = records_of(trace);
  change_overlaps(records, changes.window);
  for (TraceRecord& record : records.records) {  // tests of a lock, and a call that did not return
    if (record.is(RecordType::kMpiPoll)) {
      auto poll = records.as<MpiPoll>(record);
      const bool lock = raw(poll.kind) == raw(PollKind::kShmem) && raw(poll.bytes) == 0;
      if (!lock || raw(poll.disp) > UINT32_MAX) continue;
      poll.disp = Count64{changes.lock(static_cast<std::uint32_t>(raw(poll.disp)))};
      record = records.made(poll);
    }
    if (!record.is(RecordType::kMpiOpenCall)) continue;
    auto open = records.as<MpiOpenCall>(record);
    if (!is_absent(open.cid) || !is_absent(open.wid) || raw(open.ordinal) > UINT32_MAX) continue;
    open.ordinal = Count64{changes.lock(static_cast<std::uint32_t>(raw(open.ordinal)))};
    record = records.made(open);
  }
  change_fields(records, changes);
  return trace_of(records);
}

Renumbered with_ranks_renumbered(const TraceBytes& trace, std::uint64_t seed) {
  TraceRecords records = records_of(trace);
  const Places places = places_of(records);
  std::mt19937_64 random(seed);
  Map processes, locations;
  std::vector<std::uint32_t> numbers(places.processes);
  for (std::uint32_t rank = 0; rank < places.processes; ++rank) numbers[rank] = rank;
  std::shuffle(numbers.begin(), numbers.end(), random);
  for (std::uint32_t rank = 0; rank < places.processes; ++rank) processes[rank] = numbers[rank];
  locations = processes;
  std::vector<std::uint32_t> others(places.others.begin(), places.others.end());
  std::shuffle(others.begin(), others.end(), random);
  std::size_t next = 0;
  for (const std::uint32_t lid : places.others) locations[lid] = others[next++];
  list_members(records);
  change_fields(records, rank_changes(processes, locations));
  return {trace_of(records), as_vector(locations)};
}

bool order_of_members_matters(const TraceBytes& trace) {
  const TraceRecords records = records_of(trace);
  return std::any_of(records.records.begin(), records.records.end(), [&](const TraceRecord& r) {
    if (r.is(RecordType::kMpiCollBegin)) {
      const auto op = static_cast<CollectiveOp>(raw(records.as<MpiCollBegin>(r).op));
      return op == CollectiveOp::kScan || op == CollectiveOp::kExscan;
    }
    if (!r.is(RecordType::kString)) return false;
    const Text name = records.as<String>(r).str;
    return name == "MPI_Scan" || name == "MPI_Exscan" || name == "upc_all_prefix_reduce";
  });
}

TraceBytes with_members_reordered(const TraceBytes& trace, std::uint64_t seed) {
  TraceRecords records = records_of(trace);
  list_members(records);
  std::mt19937_64 random(seed);
  for (TraceRecord& record : records.records) {
    if (!record.is(RecordType::kMpiGroup)) continue;
    auto group = records.as<MpiGroup>(record);
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t i = 0; i < group.ranks.size(); ++i) ranks.push_back(group.ranks[i]);
    std::shuffle(ranks.begin(), ranks.end(), random);
    group.ranks = U4Array::of(ranks);
    record = records.made(group);
  }
  return trace_of(records);
}

WithIdle with_idle_process(const TraceBytes& trace, std::uint64_t seed) {
  TraceRecords records = records_of(trace);
  const Places places = places_of(records);
  std::mt19937_64 random(seed);
  const auto idle = static_cast<std::uint32_t>(random() % (places.processes + 1));
  Map processes, locations;
  for (std::uint32_t rank = 0; rank < places.processes; ++rank) {
    processes[rank] = rank < idle ? rank : rank + 1;
  }
  locations = processes;
  for (const std::uint32_t lid : places.others) locations[lid] = lid + 1;
  list_members(records);
  change_fields(records, rank_changes(processes, locations));

  // Its definitions, before LAST_DEF; its events around all others.
  std::uint32_t name = 0, region = 0;
  double first = 0, last = 0;
  bool any = false;
  std::vector<TraceRecord>& all = records.records;
  for (TraceRecord& record : all) {
    if (record.is(RecordType::kString))
      name = std::max(name, raw(records.as<String>(record).strid));
    if (record.is(RecordType::kRegion))
      region = std::max(region, raw(records.as<Region>(record).rid));
    if (record.is(RecordType::kMergedRun)) {
      auto run = records.as<MergedRun>(record);
      run.size = Count{places.processes + 1};
      record = records.made(run);
    }
    if (!is_event(record.type)) continue;
    last = event_fields(records, record).time;
    if (!any) first = last;
    any = true;
  }
  std::vector<TraceRecord> definitions;
  const char* names[] = {"idle", "MPI_Init", "MPI_Finalize"};
  for (std::uint32_t i = 0; i < 3; ++i) {
    definitions.push_back(records.made(String{StringId{name + 1 + i}, Byte{0}, names[i]}));
    Region r;
    r.rid = RegionId{region + 1 + i};
    r.rnid = StringId{name + 1 + i};
    r.fid = absent<FileId>();
    r.rdid = absent<StringId>();
    definitions.push_back(records.made(r));
  }
  const auto machine = std::find_if(
      all.begin(), all.end(), [](const TraceRecord& r) { return r.is(RecordType::kLocation); });
  Location location;
  if (machine != all.end()) location = records.as<Location>(*machine);  // beside somebody else
  location.lid = LocationId{idle};
  location.pid = ProcessId{idle};
  location.tid = ThreadId{0};
  definitions.push_back(records.made(location));

  std::vector<std::uint64_t> counters(records.dialect.metrics, 0);
  const MetricValues values = MetricValues::of(counters);
  const auto enter = [&](double time, std::uint32_t which) {
    return records.made(
        Enter{LocationId{idle}, Seconds{time}, RegionId{region + 1 + which}, values});
  };
  const auto exit = [&](double time) {
    return records.made(Exit{LocationId{idle}, Seconds{time}, values});
  };
  const double begin = first - 1, end = last + 1;
  const std::vector<TraceRecord> before = {enter(begin, 0), enter(begin, 1), exit(begin + 0.5)};
  const std::vector<TraceRecord> after = {enter(end - 0.5, 2), exit(end), exit(end)};
  const auto last_def = std::find_if(
      all.begin(), all.end(), [](const TraceRecord& r) { return r.is(RecordType::kLastDef); });
  if (last_def == all.end()) throw std::runtime_error("the definitions do not end");
  all.insert(all.insert(last_def, definitions.begin(), definitions.end()) +
                 static_cast<std::ptrdiff_t>(definitions.size()) + 1,
             before.begin(), before.end());
  all.insert(all.end(), after.begin(), after.end());
  return {trace_of(records), as_vector(locations), idle, end - begin};
}

}  // namespace kojak::support
