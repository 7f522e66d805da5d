#include "merge/define/definitions.h"

#include <algorithm>

#include "epilog/format/library_thread.h"

namespace kojak::merge {

void IdMap::set(std::uint32_t id, std::uint32_t merged) {
  if (id >= kDense) {
    sparse_[id] = merged;
    return;
  }
  if (id >= dense_.size()) dense_.resize(id + 1, kAbsent);
  dense_[id] = merged;
}

std::uint32_t IdMap::sparse_lookup(std::uint32_t id) const {
  if (sparse_.empty()) return kAbsent;
  const auto it = sparse_.find(id);
  return it == sparse_.end() ? kAbsent : it->second;
}

void IdMap::inherit(const IdMap& other) {
  for (std::size_t id = 0; id < other.dense_.size(); ++id) {
    const auto i = static_cast<std::uint32_t>(id);
    if (other.dense_[id] != kAbsent && (*this)[i] == kAbsent) set(i, other.dense_[id]);
  }
  for (const auto& [id, merged] : other.sparse_) sparse_.try_emplace(id, merged);
}

void MergedDefinitions::set_locations(const std::vector<LocalTrace>& traces) {
  const std::uint32_t size = traces.empty() ? 0 : traces.front().run_size;
  locations.resize(size);
  for (std::uint32_t rank = 0; rank < size; ++rank) locations[rank].rank = rank;
  trace_locations_.clear();
  for (const LocalTrace& trace : traces) {
    if (trace.thread == 0) {
      trace_locations_.push_back(trace.rank);
    } else {
      trace_locations_.push_back(static_cast<std::uint32_t>(locations.size()));
      locations.emplace_back();
      locations.back().rank = trace.rank;
      locations.back().thread = trace.thread;
    }
    locations[trace_locations_.back()].recorded = true;
  }
}

namespace {

template <class Map, class Vector, class Key, class Make>
std::uint32_t intern(Map& ids, Vector& objects, Key&& key, Make&& make) {
  const auto [it, fresh] =
      ids.try_emplace(std::forward<Key>(key), static_cast<std::uint32_t>(objects.size()));
  if (fresh) objects.push_back(make());
  return it->second;
}
// For objects that are one where their content is equal.
template <class Map, class Object>
std::uint32_t intern(Map& ids, std::vector<Object>& objects, const Object& object) {
  return intern(ids, objects, object, [&] { return object; });
}

// The number of counters that fits into each kind of event that has some.
std::uint32_t most_counters() {
  static const std::uint32_t most = [] {
    std::uint32_t fits = kMaxBody / sizeof(std::uint64_t);
    const std::vector<std::uint64_t> values(fits);
    for (std::uint32_t type = 0; type < 256; ++type) {
      dispatch_record(static_cast<std::uint8_t>(type), [&]<class R>() {
        if constexpr (requires(R r) { r.metv; }) {
          R record{};
          std::byte bytes[kMaxRecord];
          Dialect dialect;
          for (;; --fits) {
            dialect.metrics = fits;
            record.metv = MetricValues::of(std::span(values).first(fits));
            if (encode(record, dialect, bytes) != 0) break;
          }
        }
      });
    }
    return fits;
  }();
  return most;
}

}  // namespace

bool counts_by_pair(const MpiFunction& function) {
  constexpr std::string_view kNames[] = {"MPI_Alltoallv", "MPI_Alltoallw", "MPI_Neighbor_alltoallv",
                                         "MPI_Neighbor_alltoallw"};
  return std::find(std::begin(kNames), std::end(kNames), function.name) != std::end(kNames);
}

std::uint32_t MergedDefinitions::file(const std::string& name) {
  return intern(file_ids_, files, name);
}

std::uint32_t MergedDefinitions::machine(const std::string& name, std::uint32_t count) {
  const std::uint32_t id = intern(machine_ids_, machines, name, [&] {
    return MachineDef{name, 0};
  });
  machines[id].nodes = std::max(machines[id].nodes, count);
  return id;
}

bool MergedDefinitions::RegionOrder::operator()(const RegionDef& a, const RegionDef& b) const {
  const auto content = [](const RegionDef& region) {
    return std::tie(region.name, region.file, region.description, region.begin, region.end,
                    region.type);
  };
  return content(a) < content(b);
}

std::uint32_t MergedDefinitions::region(const RegionDef& def) {
  if (!def.file.empty()) file(def.file);
  return intern(region_ids_, regions, def);
}

std::uint32_t MergedDefinitions::call_site(const CallSiteDef& site) {
  return intern(call_site_ids_, call_sites, site);
}

void TraceDefinitions::add(const RawRecord& record, const Dialect& dialect, FileCache& files) {
  if (Status status = local_.add(record, dialect); !status) {
    summary_.add(Finding::kBadDefinition, 1, [&] {
      status.error().file = traces_[index_].path;
      status.error().offset = place_in_trace(files, traces_[index_], record.offset);
      return status.error().message();
    });
  }
}

void TraceDefinitions::contradiction(const char* what, std::uint32_t first, const char* of) {
  if (!error_.reason.empty()) return;
  error_.file = traces_[index_].path;
  error_.reason =
      std::string("defines a ") + what + " that has other " + of + " in " + traces_[first].path;
  error_.remedy = "one of the two is damaged or of another run; leave it out";
}

std::uint32_t TraceDefinitions::comm_of(CommId id, const char* of) {
  if (is_absent(id)) return kAbsent;
  const std::uint32_t merged = this->merged(id);
  if (merged == kAbsent) {
    summary_.add(Finding::kUnknownId, 1,
                 [&] { return traces_[index_].path + ": communicator of a " + of; });
  }
  return merged;
}

std::uint32_t TraceDefinitions::take(RegionId id, const RegionDef& def) {
  if (const CodeDef* code = local_.local_functions.find(id)) return function(*code);
  return merged_.region(def);
}

std::uint32_t TraceDefinitions::take(CallSiteId, const CallSiteDef& def) {
  std::vector<const CallSiteDef*> path{&def};  // outermost last
  local_.for_each_caller(def, [&](CallSiteId, const CallSiteDef& c) { path.push_back(&c); });
  std::uint32_t site = kAbsent;
  for (std::size_t i = path.size(); i-- != 0;) {
    const CallSiteDef& local = *path[i];
    const std::string* file = local_.files.find(local.file);
    const auto left = is_absent(local.left) ? kAbsent : merged(local.left);
    site = merged_.call_site({file != nullptr ? FileId{merged_.file(*file)} : absent<FileId>(),
                              local.line, RegionId{merged(local.entered)}, RegionId{left},
                              CallSiteId{site}});
  }
  return site;
}

std::uint32_t TraceDefinitions::intern_comm(CommId id, const CommDef& def) {
  const bool known = def.identity_known && (def.identity_hi != 0 || def.identity_lo != 0);
  const bool swapped = sides_swapped(def);
  const auto& ranks = swapped ? def.remote : def.ranks;
  const auto& remote = swapped ? def.ranks : def.remote;
  // (Most processes bring nothing new, and their lists are long: nothing is copied for these.)
  const auto make = [&] {
    MergedComm comm;
    comm.ranks = ranks;
    comm.remote = remote;
    comm.hi = def.identity_hi;
    comm.lo = def.identity_lo;
    comm.first = index_;
    const bool paired = def.identity_known && (known || def.stands_for_group);
    comm.flags = static_cast<std::uint8_t>(
        (paired ? 0 : kIdentityUnknown) | (def.intercommunicator ? kIntercommunicator : 0) |
        (def.foreign_members ? kForeignMembers : 0) | (def.stands_for_group ? kStandsForGroup : 0));
    return comm;
  };
  if (def.stands_for_group) return intern(merged_.group_comms_, merged_.comms, ranks, make);
  if (!known) {
    return intern(merged_.own_comms_, merged_.comms, std::pair(traces_[index_].rank, raw(id)),
                  make);
  }
  const std::uint32_t merged =
      intern(merged_.comm_ids_, merged_.comms, std::pair(def.identity_hi, def.identity_lo), make);
  const MergedComm& other = merged_.comms[merged];
  if (other.ranks != ranks || other.remote != remote) contradiction("communicator", other.first);
  return merged;
}

std::uint32_t TraceDefinitions::take(CommId id, const CommDef& def) {
  const std::uint32_t merged = intern_comm(id, def);
  for (const auto& [rank, lists] : def.neighbours) {
    merged_.comms[merged].neighbours.try_emplace(rank, lists);
  }
  return merged;
}

std::uint32_t TraceDefinitions::take(WindowId id, const WindowDef& def) {
  MergedWindow window;
  window.comm = comm_of(def.comm, "window");
  window.hi = def.identity_hi;
  window.lo = def.identity_lo;
  window.flavour = def.flavour;
  window.model = def.model;
  window.first = index_;
  if (!def.identity_known || (window.hi == 0 && window.lo == 0)) {
    window.flags = kIdentityUnknown;
    return intern(merged_.own_windows_, merged_.windows, std::pair(traces_[index_].rank, raw(id)),
                  [&] { return window; });
  }
  const std::uint32_t merged = intern(merged_.window_ids_, merged_.windows,
                                      std::pair(window.hi, window.lo), [&] { return window; });
  MergedWindow& known = merged_.windows[merged];
  if (known.comm != window.comm) {
    // A communicator of unknown identity is each process's own, and so differs; its members do not.
    const auto own = [&](std::uint32_t c) { return c == kAbsent || !merged_.comms[c].paired(); };
    if (!own(known.comm) || !own(window.comm)) contradiction("window", known.first);
  }
  return merged;
}

void TraceDefinitions::take_location() {
  const LocalTrace& trace = traces_[index_];
  MergedLocation& location = merged_.locations[merged_.location_of(index_)];
  const auto pid = static_cast<ProcessId>(trace.rank);
  if (const auto it = local_.process_names.find(pid); it != local_.process_names.end()) {
    location.process_name = it->second;
  }
  if (const auto it = local_.thread_names.find({pid, static_cast<ThreadId>(trace.thread)});
      it != local_.thread_names.end()) {
    location.thread_name = it->second;
  }
  local_.locations.for_each([&](LocationId, const LocationDef& def) {
    if (raw(def.process) != trace.rank || raw(def.thread) != trace.thread) return;
    const MachineDef* machine = local_.machines.find(def.machine);
    const NodeDef* node = local_.nodes.find(def.node);
    if (machine != nullptr) location.machine = merged_.machine(machine->name, machine->nodes);
    if (node == nullptr) return;
    const MachineDef* home = local_.machines.find(node->machine);
    const std::uint32_t machine_id =
        home != nullptr ? merged_.machine(home->name, home->nodes) : location.machine;
    if (location.machine == kAbsent) location.machine = machine_id;
    location.node =
        intern(merged_.node_ids_, merged_.nodes, std::pair(machine_id, node->name), [&] {
          return NodeDef{node->name, MachineId{machine_id}, node->cpus, node->period,
                         node->clock_error};
        });
    NodeDef& known = merged_.nodes[location.node];
    if (node->clock_error && (!known.clock_error || *node->clock_error > *known.clock_error)) {
      known.clock_error = node->clock_error;  // the worst of its processes'
    }
  });
}

void TraceDefinitions::take_metrics() {
  std::uint32_t position = 0;
  const auto take = [&](MetricId id, const MetricDef& def) {
    const bool known = merged_.metric_ids_.contains(def);
    if (!known && merged_.metrics.size() >= most_counters()) {
      summary_.add(Finding::kCountersLeftOut, 1,
                   [&] { return traces_[index_].path + ": " + def.name; });
      translation_.metrics_differ = true;
      return;
    }
    const std::uint32_t merged = intern(merged_.metric_ids_, merged_.metrics, def);
    translation_.metrics.set(raw(id), merged);
    if (merged != position) translation_.metrics_differ = true;
    ++position;
  };
  // A trace has values of the one kind or of the other.
  if (local_.metrics.empty()) {
    local_.local_metrics.for_each(take);
    translation_.local_metrics = static_cast<std::uint32_t>(local_.local_metrics.size());
  } else {
    local_.metrics.for_each(take);
  }
}

void TraceDefinitions::take_topologies() {
  const std::uint32_t lid = merged_.location_of(index_);
  local_.topologies.for_each([&](TopologyId, const TopologyDef& def) {
    const std::uint32_t on = comm_of(def.comm, "topology");
    const std::uint32_t merged =
        intern(merged_.topology_ids_, merged_.topologies, std::tuple(on, def.name), [&] {
          MergedDefinitions::Topology topology{def, on, static_cast<std::uint32_t>(index_)};
          topology.def.coords.clear();
          return topology;
        });
    const MergedDefinitions::Topology& known = merged_.topologies[merged];
    // Without a communicator nobody knows that it is the same one.
    if (on != kAbsent && (known.def.size != def.size || known.def.periodic != def.periodic)) {
      contradiction("topology", known.first, "dimensions");
    }
    // A local trace tells the coordinates of its own location.
    for (const auto& entry : def.coords) {
      merged_.topologies[merged].def.coords[static_cast<LocationId>(lid)] = entry.second;
    }
  });
}

void MergedName::take(const std::string& name, std::uint32_t by, std::uint32_t after) {
  // Traces come in the order of ranks.
  const bool again = by == rank;
  const bool older = after < given || (after == given && name.empty());
  if (again ? older : name.empty() || !text.empty()) return;
  text = name;
  rank = by;
  given = after;
}

void TraceDefinitions::take_names() {
  const std::uint32_t rank = traces_[index_].rank;
  const auto take = [&]<class Id>(auto& objects, Id id, const auto& def) {
    const std::uint32_t object = merged(id);
    if (object != kAbsent) objects[object].name.take(def.name, rank, def.name_given);
  };
  local_.comms.for_each([&](CommId id, const CommDef& def) { take(merged_.comms, id, def); });
  local_.windows.for_each(
      [&](WindowId id, const WindowDef& def) { take(merged_.windows, id, def); });
  local_.shmem_locks.for_each(
      [&](LockId id, const VariableDef& def) { merged_.shmem_locks.emplace(id, def); });
  local_.local_locks.for_each([&](LockId id, const CodeDef& at) {
    if (merged_.shmem_locks.contains(id)) return;
    VariableDef variable = merged_.code_names.variable(local_.modules.find(at.module), at.address);
    if (variable.name.empty()) return;
    if (!variable.file.empty()) merged_.file(variable.file);
    merged_.shmem_locks.emplace(id, std::move(variable));
  });
}

// Takes what only the process's first thread defines, too.
template <Translated Id>
void TraceDefinitions::take_all() {
  (local_.*KindOf<Id>::kLocal).for_each([&](Id id, const auto&) { merged(id); });
  if (fallback_ != nullptr) {
    (translation_.*KindOf<Id>::kMap).inherit(fallback_->*KindOf<Id>::kMap);
  }
}

Status TraceDefinitions::finish(Translation& translation) {
  local_.finish();
  take_all<RegionId>();
  take_all<CallSiteId>();
  take_all<CommId>();
  take_all<WindowId>();
  take_sites();
  take_names();
  take_location();
  take_metrics();
  take_topologies();
  for (const Lost& lost : local_.lost) {
    if (raw(lost.count) == 0) continue;  // recording stopped, but no call came after that
    merged_.lost.push_back(
        {static_cast<LocationId>(merged_.location_of(index_)), lost.what, lost.count});
    summary_.add(Finding::kLocalLost, raw(lost.count), [&] { return traces_[index_].path; });
  }
  for (const auto& entry : local_.functions_off) {
    merged_.functions_off[traces_[index_].rank] = entry.second;
  }
  local_.properties.for_each([&](const std::string& key, ProcessId pid, const std::string& value) {
    // Of this trace, for the merge alone.
    if (key == run_property::kLibraryThread || key == run_property::kLibraryProcess) return;
    merged_.properties.add(key, pid, value, static_cast<ProcessId>(traces_[index_].rank));
  });
  translation = std::move(translation_);
  if (!error_.reason.empty()) return error_;
  return {};
}

}  // namespace kojak::merge
