#include "tools/otf2elg/local_trace.h"

#include <algorithm>
#include <numeric>

#include "epilog/format/field_values.h"

namespace kojak::otf2 {
namespace {

// Kinds of identities: the first halves. The second ones are the archive's numbers.
constexpr std::uint64_t kOfComm = 1, kOfWorld = 2, kOfWindow = 3, kOfSelf = 4;

// EPILOG's region types of OpenMP constructs (docs/format.md, REGION).
std::uint8_t openmp_type(OTF2_RegionRole role) {
  switch (role) {
    case OTF2_REGION_ROLE_PARALLEL:
      return 11;
    case OTF2_REGION_ROLE_LOOP:
      return 12;
    case OTF2_REGION_ROLE_SECTIONS:
      return 13;
    case OTF2_REGION_ROLE_SECTION:
      return 14;
    case OTF2_REGION_ROLE_WORKSHARE:
      return 15;
    case OTF2_REGION_ROLE_SINGLE:
      return 16;
    case OTF2_REGION_ROLE_MASTER:
      return 17;
    case OTF2_REGION_ROLE_CRITICAL:
      return 18;
    case OTF2_REGION_ROLE_ATOMIC:
      return 19;
    case OTF2_REGION_ROLE_BARRIER:
      return 20;
    case OTF2_REGION_ROLE_IMPLICIT_BARRIER:
      return 21;
    case OTF2_REGION_ROLE_FLUSH:
      return 22;
    default:
      return 1;
  }
}

// "program_gats", as Score-P calls it, is "gats".
std::string program_name(const std::string& name) {
  constexpr std::string_view kPrefix = "program_";
  const std::string rest = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
  return rest.empty() ? "PROGRAM" : rest;
}

Line line_of(std::uint32_t line) {
  return line == 0 ? absent<Line>() : Line{line};
}

}  // namespace

LocalTrace::LocalTrace(TraceWriter writer, const ArchiveDefinitions& definitions,
                       std::uint32_t rank)
    : writer_(std::move(writer)), definitions_(definitions), rank_(rank), lid_(LocationId{rank}) {}

Result<LocalTrace> LocalTrace::create(const std::string& path,
                                      const ArchiveDefinitions& definitions,
                                      const LocationOfArchive& location, std::uint64_t identity) {
  auto writer = TraceWriter::create(path, Dialect{});
  if (!writer) return writer.error();
  writer->write(LocalRun{Hash64{identity}, Hash64{definitions.first_tick},
                         Count{definitions.processes}, ProcessId{location.rank},
                         ThreadId{location.thread}});
  LocalTrace trace(std::move(*writer), definitions, location.rank);
  trace.write_location(location);
  if (location.thread == 0) trace.write_topologies();
  return trace;
}

void LocalTrace::write_location(const LocationOfArchive& location) {
  const ProcessId pid{location.rank};
  const ThreadId tid{location.thread};
  const std::string process =
      location.process.empty() ? "Rank " + std::to_string(location.rank) : location.process;
  const StringId machine = string(location.machine.empty() ? "machine" : location.machine);
  const StringId node = string(location.node.empty() ? "node" : location.node);
  const StringId process_name = string(process);
  const StringId thread_name = string(location.name);
  write(Machine{MachineId{0}, Count{1}, machine});
  write(Node{NodeId{0}, MachineId{0}, Count{1}, node, Seconds{}});
  write(Process{pid, process_name});
  write(Thread{tid, pid, thread_name});
  write(Location{lid_, MachineId{0}, NodeId{0}, pid, tid});
}

// Those of communicators that have this process; Score-P's own of processes and threads has none.
void LocalTrace::write_topologies() {
  std::uint32_t number = 0;
  for (const auto& [ref, topology] : definitions_.topologies) {
    const CommOfArchive& comm = definitions_.comms.at(topology.comm);
    for (std::uint32_t rank = 0; rank < comm.ranks.size(); ++rank) {
      const auto at = topology.coordinates.find(rank);
      if (comm.ranks[rank] != rank_ || at == topology.coordinates.end()) continue;
      const auto count = static_cast<std::uint8_t>(topology.dimensions.size());
      if (at->second.size() != count) continue;
      const CommId cid = this->comm(topology.comm);
      std::vector<std::uint32_t> sizes, names;
      std::vector<std::byte> periodic;
      for (const auto& dimension : topology.dimensions) {
        sizes.push_back(dimension.size);
        names.push_back(raw(string(dimension.name)));
        periodic.push_back(std::byte{dimension.periodic});
      }
      const auto packed = [&](const std::vector<std::uint32_t>& values) {
        return U4Array(reinterpret_cast<const std::byte*>(values.data()), count, false);
      };
      const StringId name = string(topology.name);
      write(CartTopology{TopologyId{number}, cid, Byte{count}, packed(sizes),
                         ByteArray(periodic.data(), count, false), name, packed(names)});
      write(CartCoords{TopologyId{number}, lid_, Byte{count}, packed(at->second)});
      ++number;
    }
  }
}

StringId LocalTrace::string(const std::string& text) {
  const auto [it, added] =
      strings_.try_emplace(text, StringId{static_cast<std::uint32_t>(strings_.size())});
  if (added) writer_.write_string(it->second, text);
  return it->second;
}

FileId LocalTrace::file(const std::string& name) {
  if (name.empty()) return absent<FileId>();
  const auto [it, added] =
      files_.try_emplace(name, FileId{static_cast<std::uint32_t>(files_.size())});
  if (added) {
    const StringId text = string(name);
    write(File{it->second, text});
  }
  return it->second;
}

const LocalTrace::Region& LocalTrace::region(OTF2_RegionRef ref) {
  const auto [it, added] = regions_.try_emplace(ref);
  Region& region = it->second;
  if (!added) return region;
  region.id = RegionId{next_region_++};
  static const RegionOfArchive kUnknown{"unknown region", "", {}, {}, 0, 0};
  const auto known = definitions_.regions.find(ref);
  const RegionOfArchive& def = known == definitions_.regions.end() ? kUnknown : known->second;
  std::uint8_t type = 1;
  if (def.paradigm == OTF2_PARADIGM_MPI) {
    region.function = find_mpi_function(def.name);
    if (region.function != nullptr) type = region.function->region_type;
  } else if (def.paradigm == OTF2_PARADIGM_OPENMP) {
    type = openmp_type(def.role);
    region.openmp_barrier =
        def.role == OTF2_REGION_ROLE_BARRIER || def.role == OTF2_REGION_ROLE_IMPLICIT_BARRIER;
  }
  // The "file" of MPI's functions is the library, by name.
  const std::string file_name = def.paradigm == OTF2_PARADIGM_MPI ? "" : def.file;
  const StringId name = string(def.name);
  const FileId in = file(file_name);
  write(kojak::Region{region.id, name, in, line_of(def.begin), line_of(def.end), absent<StringId>(),
                      Byte{type}});
  return region;
}

RegionId LocalTrace::program(OTF2_StringRef name) {
  if (program_) return *program_;
  program_ = RegionId{next_region_++};
  const auto known = definitions_.strings.find(name);
  const StringId text =
      string(program_name(known == definitions_.strings.end() ? "" : known->second));
  write(kojak::Region{*program_, text, absent<FileId>(), absent<Line>(), absent<Line>(),
                      absent<StringId>(), Byte{1}});
  return *program_;
}

CallSiteId LocalTrace::site(OTF2_SourceCodeLocationRef place, RegionId entered) {
  const auto known = definitions_.places.find(place);
  if (known == definitions_.places.end()) return absent<CallSiteId>();
  const auto [it, added] =
      sites_.try_emplace({place, entered}, CallSiteId{static_cast<std::uint32_t>(sites_.size())});
  if (added) {
    const FileId in = file(known->second.file);
    write(CallSite{it->second, in, line_of(known->second.line), entered, absent<RegionId>()});
  }
  return it->second;
}

CommId LocalTrace::define_comm(const std::vector<std::uint32_t>& ranks, std::uint64_t kind,
                               std::uint64_t number, std::uint8_t flags,
                               const std::vector<std::uint32_t>& others) {
  const auto define_group = [&](const std::vector<std::uint32_t>& members) {
    const GroupId gid{next_group_++};
    bool all = members.size() == definitions_.processes;
    for (std::size_t i = 0; all && i < members.size(); ++i) all = members[i] == i;
    writer_.write_group(gid, all ? 1 : 0, members.data(), members.size());
    return gid;
  };
  // An intercommunicator has this process's own group first.
  const bool second = std::find(others.begin(), others.end(), rank_) != others.end();
  const GroupId local = define_group(second ? others : ranks);
  const CommId cid{next_comm_++};
  write(MpiCommRef{cid, local});
  if (!others.empty()) {
    flags = static_cast<std::uint8_t>(flags | kIntercommunicator);
    const GroupId remote = define_group(second ? ranks : others);
    write(CommIdentity{cid, Hash64{kind}, Hash64{number}, Flags{flags}});
    write(CommRemote{cid, remote});
    return cid;
  }
  write(CommIdentity{cid, Hash64{kind}, Hash64{number}, Flags{flags}});
  return cid;
}

CommId LocalTrace::comm(OTF2_CommRef ref) {
  const auto known = comms_.find(ref);
  if (known != comms_.end()) return known->second;
  const auto def = definitions_.comms.find(ref);
  CommId cid = absent<CommId>();
  if (def != definitions_.comms.end()) {
    const CommOfArchive& comm = def->second;
    cid = comm.self ? define_comm({rank_}, kOfSelf, (std::uint64_t{ref} << 32) + rank_, 0)
                    : define_comm(comm.ranks, kOfComm, ref, 0, comm.others);
    if (!comm.name.empty()) {
      const StringId name = string(comm.name);
      write(CommName{cid, name, Count{0}});
    }
  }
  comms_[ref] = cid;
  return cid;
}

CommId LocalTrace::world() {
  if (is_absent(world_)) {
    std::vector<std::uint32_t> all(definitions_.processes);
    std::iota(all.begin(), all.end(), 0u);
    world_ = define_comm(all, kOfWorld, 0, 0);
  }
  return world_;
}

CommId LocalTrace::group(OTF2_GroupRef ref) {
  const auto known = groups_.find(ref);
  if (known != groups_.end()) return known->second;
  const auto def = definitions_.groups.find(ref);
  const CommId cid = def == definitions_.groups.end()
                         ? absent<CommId>()
                         : define_comm(def->second, 0, 0, kStandsForGroup);
  groups_[ref] = cid;
  return cid;
}

void LocalTrace::window_is_made(OTF2_RmaWinRef ref, std::string_view call) {
  Window& window = windows_[ref];
  ++window.made;
  window.id = absent<WindowId>();
  window.flavour = call.starts_with("MPI_Win_create_dynamic")    ? kFlavourDynamic
                   : call.starts_with("MPI_Win_create")          ? kFlavourCreated
                   : call.starts_with("MPI_Win_allocate_shared") ? kFlavourShared
                   : call.starts_with("MPI_Win_allocate")        ? kFlavourAllocated
                                                                 : std::uint8_t{0};
}

WindowId LocalTrace::window(OTF2_RmaWinRef ref) {
  const auto def = definitions_.windows.find(ref);
  if (def == definitions_.windows.end()) return absent<WindowId>();
  Window& window = windows_[ref];
  if (!is_absent(window.id)) return window.id;
  const CommId cid = comm(def->second.comm);
  window.id = WindowId{next_window_++};
  write(MpiWin{window.id, cid});
  write(WinIdentity{window.id, Hash64{kOfWindow + (window.made << 8)}, Hash64{ref}, Flags{0},
                    Byte{window.flavour}, Byte{0}});
  if (!def->second.name.empty()) {
    const StringId name = string(def->second.name);
    write(WinName{window.id, name, Count{0}});
  }
  return window.id;
}

std::uint32_t LocalTrace::peer(OTF2_CommRef ref, std::uint32_t rank) const {
  const auto def = definitions_.comms.find(ref);
  if (def == definitions_.comms.end()) return kNobody;
  const CommOfArchive& comm = def->second;
  if (comm.self) return rank == 0 ? rank_ : kNobody;
  const bool second = std::find(comm.others.begin(), comm.others.end(), rank_) != comm.others.end();
  const auto& ranks = comm.others.empty() || second ? comm.ranks : comm.others;
  return rank < ranks.size() ? ranks[rank] : kNobody;
}

std::uint32_t LocalTrace::window_peer(OTF2_RmaWinRef ref, std::uint32_t rank) const {
  const auto def = definitions_.windows.find(ref);
  return def == definitions_.windows.end() ? kNobody : peer(def->second.comm, rank);
}

}  // namespace kojak::otf2
