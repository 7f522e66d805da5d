#include "merge/write/write_definitions.h"

#include <algorithm>
#include <set>
#include <span>
#include <unordered_map>

#include "epilog/format/communication_libraries.h"
#include "epilog/format/merge_properties.h"

namespace kojak::merge {
namespace {

class DefinitionWriter {
 public:
  DefinitionWriter(TraceWriter& out, const MergedDefinitions& defs, std::size_t world)
      : out_(out), defs_(defs), world_(world), native_(out.dialect().native()) {}

  void machines() {
    // A rank whose trace is missing needs a place, too.
    const bool homeless = std::any_of(
        defs_.locations.begin(), defs_.locations.end(),
        [](const MergedLocation& l) { return l.machine == kAbsent || l.node == kAbsent; });
    std::vector<std::uint32_t> nodes(defs_.machines.size(), 0);
    for (const NodeDef& node : defs_.nodes) {
      if (raw(node.machine) < nodes.size()) ++nodes[raw(node.machine)];
    }
    for (std::size_t i = 0; i < defs_.machines.size(); ++i) {
      const MachineDef& machine = defs_.machines[i];
      const StringId name = string(machine.name);
      out_.write(Machine{id<MachineId>(i), Count{std::max(machine.nodes, nodes[i])}, name});
    }
    unknown_machine_ = static_cast<std::uint32_t>(defs_.machines.size());
    unknown_node_ = static_cast<std::uint32_t>(defs_.nodes.size());
    StringId unknown{};
    if (homeless) {
      unknown = string(kNoPlace);
      out_.write(Machine{id<MachineId>(unknown_machine_), Count{1}, unknown});
    }
    for (std::size_t i = 0; i < defs_.nodes.size(); ++i) {
      const NodeDef& node = defs_.nodes[i];
      const StringId name = string(node.name);
      const auto machine = is_absent(node.machine) ? id<MachineId>(unknown_machine_) : node.machine;
      out_.write(Node{id<NodeId>(i), machine, Count{node.cpus}, name, node.period});
      if (native_ && node.clock_error) out_.write(ClockError{id<NodeId>(i), *node.clock_error});
    }
    if (homeless) {
      out_.write(Node{id<NodeId>(unknown_node_), id<MachineId>(unknown_machine_), Count{0}, unknown,
                      Seconds{}});
    }
  }

  void locations() {
    for (std::size_t i = 0; i < defs_.locations.size(); ++i) {
      const MergedLocation& l = defs_.locations[i];
      if (l.thread == 0) {
        const StringId name =
            string(l.process_name.empty() ? "Process " + std::to_string(l.rank) : l.process_name);
        out_.write(Process{id<ProcessId>(l.rank), name});
      }
      const StringId name =
          string(l.thread_name.empty() ? "Thread " + std::to_string(l.thread) : l.thread_name);
      out_.write(Thread{id<ThreadId>(l.thread), id<ProcessId>(l.rank), name});
      const std::uint32_t machine = l.machine != kAbsent ? l.machine : unknown_machine_;
      const std::uint32_t node = l.node != kAbsent ? l.node : unknown_node_;
      out_.write(Location{id<LocationId>(i), id<MachineId>(machine), id<NodeId>(node),
                          id<ProcessId>(l.rank), id<ThreadId>(l.thread)});
    }
  }

  void regions() {
    for (std::size_t i = 0; i < defs_.files.size(); ++i) {
      const StringId name = string(defs_.files[i]);
      out_.write(File{id<FileId>(i), name});
      files_.emplace(defs_.files[i], static_cast<std::uint32_t>(i));
    }
    for (std::size_t i = 0; i < defs_.regions.size(); ++i) {
      const RegionDef& region = defs_.regions[i];
      const StringId name = string(region.name);
      const StringId description = described(region);
      const auto file = files_.find(region.file);
      const std::uint8_t type =
          !native_ && region.type == kLibraryFunction ? std::uint8_t{1} : region.type;
      out_.write(Region{id<RegionId>(i), name,
                        file != files_.end() ? id<FileId>(file->second) : absent<FileId>(),
                        region.begin, region.end, description, Byte{type}});
    }
    for (std::size_t i = 0; i < defs_.call_sites.size(); ++i) {
      const CallSiteDef& site = defs_.call_sites[i];
      out_.write(CallSite{id<CallSiteId>(i), site.file, site.line, site.entered, site.left});
      if (native_ && !is_absent(site.caller)) {
        out_.write(CallSiteCaller{id<CallSiteId>(i), site.caller});
      }
    }
    for (std::size_t i = 0; i < defs_.metrics.size(); ++i) {
      const MetricDef& metric = defs_.metrics[i];
      const StringId name = string(metric.name);
      const StringId description = string(metric.description);
      out_.write(Metric{id<MetricId>(i), name, description, Byte{metric.dtype}, Byte{metric.mode},
                        Byte{metric.interval}});
    }
  }

  void comms() {
    if (!native_) {
      sets_of_ranks();
      return;
    }
    for (std::size_t i = 0; i < defs_.comms.size(); ++i) {
      const MergedComm& comm = defs_.comms[i];
      const GroupId local = group(comm.ranks);
      out_.write(MpiCommRef{id<CommId>(i), local});
      out_.write(CommIdentity{id<CommId>(i), Hash64{comm.hi}, Hash64{comm.lo}, Flags{comm.flags}});
      if (!comm.name.text.empty()) {
        const StringId name = string(comm.name.text);
        out_.write(CommName{id<CommId>(i), name, Count{0}});
      }
      if (comm.intercommunicator()) out_.write(CommRemote{id<CommId>(i), group(comm.remote)});
      for (const auto& [rank, lists] : comm.neighbours) {
        neighbours(id<CommId>(i), id<ProcessId>(rank), 1, lists.sources);
        neighbours(id<CommId>(i), id<ProcessId>(rank), 2, lists.destinations);
      }
    }
  }

  void topologies() {
    for (std::size_t i = 0; i < defs_.topologies.size(); ++i) {
      const MergedDefinitions::Topology& topology = defs_.topologies[i];
      const TopologyDef& def = topology.def;
      const std::size_t dims = def.size.size();
      std::vector<std::uint8_t> periodic(dims, 0);
      std::vector<std::uint32_t> names(dims, kAbsent);
      for (std::size_t d = 0; d < dims; ++d) {
        if (d < def.periodic.size()) periodic[d] = def.periodic[d] ? 1 : 0;
        if (d < def.dimension_names.size() && !def.dimension_names[d].empty()) {
          names[d] = raw(string(def.dimension_names[d]));
        }
      }
      const StringId name = def.name.empty() ? absent<StringId>() : string(def.name);
      const auto ndims = Byte{static_cast<std::uint8_t>(dims)};
      out_.write(CartTopology{id<TopologyId>(i), id<CommId>(topology.comm), ndims,
                              U4Array::of(def.size), ByteArray::of(periodic), name,
                              U4Array::of(names)});
      for (const auto& [lid, coords] : def.coords) {
        if (coords.size() != dims) continue;
        out_.write(CartCoords{id<TopologyId>(i), lid, ndims, U4Array::of(coords)});
      }
    }
  }

  void properties() {
    std::set<std::uint32_t> recorded;
    for (const MergedLocation& location : defs_.locations) {
      if (location.recorded) recorded.insert(location.rank);
    }
    RunProperties properties = defs_.properties;
    properties.combine(recorded.size());
    properties.for_each([&](const std::string& key, ProcessId pid, const std::string& value) {
      const StringId key_id = string(key), value_id = string(value);
      out_.write(RunProperty{key_id, value_id, pid});
    });
  }

  void windows() {
    for (std::size_t i = 0; i < defs_.windows.size(); ++i) {
      const MergedWindow& window = defs_.windows[i];
      out_.write(MpiWin{id<WindowId>(i), id<CommId>(window.comm)});
      if (!native_) continue;
      out_.write(WinIdentity{id<WindowId>(i), Hash64{window.hi}, Hash64{window.lo},
                             Flags{window.flags}, Byte{window.flavour}, Byte{window.model}});
      if (!window.name.text.empty()) {
        const StringId name = string(window.name.text);
        out_.write(WinName{id<WindowId>(i), name, Count{0}});
      }
    }
  }

  void shmem_locks() {
    for (const auto& [lock, variable] : defs_.shmem_locks) {
      const StringId name = string(variable.name);
      const auto file = files_.find(variable.file);
      out_.write(ShmemLockName{lock, name,
                               file != files_.end() ? FileId{file->second} : absent<FileId>()});
    }
  }

 private:
  void neighbours(CommId cid, ProcessId pid, std::uint8_t kind,
                  const std::vector<std::uint32_t>& ranks) {
    constexpr std::size_t kMost = 60;
    std::size_t first = 0;
    do {
      const auto part = std::span(ranks).subspan(first, std::min(kMost, ranks.size() - first));
      out_.write(GraphNeighbours{cid, pid, Byte{kind}, Count{static_cast<std::uint32_t>(first)},
                                 U4Array::of(part)});
      first += part.size();
    } while (first < ranks.size());
  }
  // Classic communicators: bits by world rank, as many for each as the run has processes.
  void sets_of_ranks() {
    std::vector<std::uint8_t> bits((world_ + 7) / 8);
    for (std::size_t i = 0; i < defs_.comms.size(); ++i) {
      const MergedComm& comm = defs_.comms[i];
      std::fill(bits.begin(), bits.end(), std::uint8_t{0});
      for (const std::uint32_t rank : comm.ranks) {
        if (rank < world_) bits[rank / 8] |= static_cast<std::uint8_t>(1u << rank % 8);
      }
      const bool group = comm.stands_for_group();
      out_.write_comm_bits(id<CommId>(i), group ? 1 : 0, bits.data(), bits.size());
    }
  }
  template <class Id>
  static Id id(std::size_t i) {
    return static_cast<Id>(static_cast<std::uint32_t>(i));
  }
  // The old tools take the description of a region for granted, and name its kind there.
  StringId described(const RegionDef& region) {
    if (!region.description.empty()) return string(region.description);
    if (native_) return absent<StringId>();
    return string(region.function != nullptr ? "MPI" : "USR");
  }
  // Writes each text once, just before it is first needed.
  StringId string(const std::string& text) {
    const auto [it, fresh] =
        strings_.try_emplace(text, static_cast<std::uint32_t>(strings_.size()));
    if (fresh) out_.write_string(id<StringId>(it->second), text);
    return id<StringId>(it->second);
  }
  GroupId group(const std::vector<std::uint32_t>& ranks) {
    const auto [it, fresh] = groups_.try_emplace(ranks, static_cast<std::uint32_t>(groups_.size()));
    if (fresh) {
      bool world = ranks.size() > 1 && ranks.size() == world_;
      for (std::size_t i = 0; world && i < ranks.size(); ++i) world = ranks[i] == i;
      const std::uint8_t mode = world ? 1 : ranks.size() == 1 ? 2 : 0;
      out_.write_group(id<GroupId>(it->second), mode, ranks.data(), ranks.size());
    }
    return id<GroupId>(it->second);
  }

  TraceWriter& out_;
  const MergedDefinitions& defs_;
  std::size_t world_;
  bool native_;
  std::unordered_map<std::string, std::uint32_t> strings_, files_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> groups_;
  std::uint32_t unknown_machine_ = 0, unknown_node_ = 0;
};

Count count32(std::uint64_t events) {
  return Count{events < kAbsent ? static_cast<std::uint32_t>(events) : kAbsent};
}

}  // namespace

CountPlace write_definitions(TraceWriter& out, const MergedDefinitions& defs, const MergedRun& run,
                             std::uint64_t events, bool wide) {
  DefinitionWriter writer(out, defs, raw(run.size));
  const bool native = out.dialect().native();
  if (native) out.write(run);
  writer.machines();
  writer.locations();
  writer.regions();
  writer.comms();
  writer.topologies();
  writer.windows();
  if (native) {
    writer.shmem_locks();
    for (const Lost& lost : defs.lost) out.write(lost);
    for (const auto& [rank, groups] : defs.functions_off) {
      out.write(FunctionsOff{static_cast<ProcessId>(rank), groups});
    }
    writer.properties();
  }
  CountPlace place;
  if (wide) {
    place.count64 = out.offset();
    out.write(EventCount64{Count64{events}});
  }
  place.num_events = out.offset();
  out.write(NumEvents{count32(events)});
  out.write(LastDef{});
  return place;
}

Status replace_count(TraceWriter& out, const CountPlace& place, std::uint64_t events) {
  std::byte record[kMaxRecord];
  if (place.count64 != 0) {
    const std::size_t n = encode(EventCount64{Count64{events}}, out.dialect(), record);
    if (Status status = out.overwrite(place.count64, record, n); !status) return status;
  }
  const std::size_t n = encode(NumEvents{count32(events)}, out.dialect(), record);
  return out.overwrite(place.num_events, record, n);
}

}  // namespace kojak::merge
