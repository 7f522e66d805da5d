// The definitions of one trace, put together from its records: strings resolved, continuations
// joined, communicators as ordered lists of world ranks.
//
// Feed every definition record to add(), in file order (attributes and events are refused). Objects
// are found by their identifiers; an unknown identifier gives nullptr. Owns all it holds; grows
// with the definitions only. Errors: a record that is too short or contradicts itself gives an
// Error with its offset; the definitions stay usable without it. Source: docs/format.md.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "epilog/format/error.h"
#include "epilog/format/mpi_functions.h"
#include "epilog/format/rank_list.h"
#include "epilog/format/record/codec.h"
#include "epilog/format/run_properties.h"
#include "epilog/format/shmem_functions.h"

namespace kojak {

// Objects by identifier. Identifiers are dense in well-formed files; those far above the number of
// objects are kept in a map, so that a hostile number costs no memory. An object's address holds
// until the next set().
template <class Id, class T>
class IdTable {
 public:
  const T* find(Id id) const {
    const std::size_t i = raw(id);
    if (i < dense_.size()) return dense_[i] ? &*dense_[i] : nullptr;
    if (sparse_.empty()) return nullptr;
    const auto it = sparse_.find(id);
    return it == sparse_.end() ? nullptr : &it->second;
  }
  T* find(Id id) { return const_cast<T*>(static_cast<const IdTable*>(this)->find(id)); }
  // Inserts or replaces.
  T& set(Id id, T value) {
    const std::size_t i = raw(id);
    if (i >= dense_.size() && i < 2 * count_ + kSlack) grow(i + 1);
    if (i < dense_.size()) {
      if (!dense_[i]) ++count_;
      dense_[i] = std::move(value);
      return *dense_[i];
    }
    const auto [it, inserted] = sparse_.insert_or_assign(id, std::move(value));
    if (inserted) ++count_;
    return it->second;
  }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  // In ascending order of identifiers: f(Id, const T&).
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < dense_.size(); ++i) {
      if (dense_[i]) f(static_cast<Id>(static_cast<std::uint32_t>(i)), *dense_[i]);
    }
    for (const auto& [id, value] : sparse_) f(id, value);
  }

 private:
  static constexpr std::size_t kSlack = 64;
  void grow(std::size_t size) {
    dense_.resize(size);
    while (!sparse_.empty() && raw(sparse_.begin()->first) < size) {
      dense_[raw(sparse_.begin()->first)] = std::move(sparse_.begin()->second);
      sparse_.erase(sparse_.begin());
    }
  }
  std::vector<std::optional<T>> dense_;
  std::map<Id, T> sparse_;
  std::size_t count_ = 0;
};

struct MachineDef {
  std::string name;
  std::uint32_t nodes = 0;
};
struct NodeDef {
  std::string name;
  MachineId machine{};
  std::uint32_t cpus = 0;
  Seconds period;
  std::optional<Seconds> clock_error;
};
struct LocationDef {
  MachineId machine{};
  NodeId node{};
  ProcessId process{};
  ThreadId thread{};
};
struct RegionDef {
  std::string name;
  std::string file;
  std::string description;
  Line begin = absent<Line>();
  Line end = absent<Line>();
  std::uint8_t type = 0;
  const MpiFunction* function = nullptr;  // what it is, if it is an MPI function
  const ShmemFunction* shmem = nullptr;   // and if it is one of SHMEM

  MpiRole role() const { return function == nullptr ? MpiRole::kOther : function->role; }
  ShmemRole shmem_role() const { return shmem == nullptr ? ShmemRole::kOther : shmem->role; }
  bool is_tracing() const { return name == "TRACING"; }
  bool is_pausing() const { return name == "PAUSING"; }
};
struct MetricDef {
  std::string name, description;
  std::uint8_t dtype = 0, mode = 0, interval = 0;
  auto operator<=>(const MetricDef&) const = default;
};
struct CallSiteDef {
  FileId file{};
  Line line{};
  RegionId entered{};
  RegionId left{};
  // The site that entered `left`; absent if the path to this one is not recorded.
  CallSiteId caller = absent<CallSiteId>();
  auto operator<=>(const CallSiteDef&) const = default;
};
// A call site has no more callers, one above the other.
inline constexpr std::size_t kMostSiteCallers = 64;
struct GroupDef {
  RankList ranks;  // world ranks in group order
};
// World ranks of the neighbours of a process in a topology.
struct NeighbourLists {
  std::vector<std::uint32_t> sources, destinations;
  bool operator==(const NeighbourLists&) const = default;
  // Takes over one GRAPH_NEIGHBOURS; false if one before it is missing, or its kind is unknown.
  bool add(const GraphNeighbours& record);
};
struct CommDef {
  std::string name;              // empty: it has none
  std::uint32_t name_given = 0;  // of a local trace: after how many names of its process
  RankList ranks;                // local group, world ranks in order of the communicator's ranks
  RankList remote;               // intercommunicators: the remote group
  std::optional<GroupId> group;  // native files
  bool identity_known = true;    // false: never paired with another process's object
  bool intercommunicator = false;
  bool foreign_members = false;   // of another MPI_COMM_WORLD
  bool stands_for_group = false;  // native files only; classic files do not tell
  std::uint64_t identity_hi = 0, identity_lo = 0;
  bool bits = false;  // from a bit vector: order assumed ascending
  // Where it has a topology, by world rank, as far as they are recorded.
  std::map<std::uint32_t, NeighbourLists> neighbours;
};
struct WindowDef {
  std::string name;  // as in CommDef
  std::uint32_t name_given = 0;
  CommId comm{};
  bool identity_known = true;
  std::uint8_t flavour = 0, model = 0;  // as in WIN_IDENTITY
  std::uint64_t identity_hi = 0, identity_lo = 0;
};
// The variable that a lock of SHMEM is.
struct VariableDef {
  std::string name;
  std::string file;  // empty if it is not known
};
struct TopologyDef {
  std::string name;
  CommId comm = absent<CommId>();
  std::vector<std::uint32_t> size;
  std::vector<bool> periodic;
  std::vector<std::string> dimension_names;
  std::map<LocationId, std::vector<std::uint32_t>> coords;
};
// A place in the code of a local trace: an address within a module, and what called that function.
struct CodeDef {
  Count module = absent<Count>();
  std::uint64_t address = 0;
  Count caller = absent<Count>();  // a frame
  bool cut = false;                // no place, but functions that were left out
};
struct ModuleDef {
  std::string path;
  std::string build_id;  // bytes
};
// A place in code whose name is not known: "program+0x1234", "0x1234" without module.
std::string code_name(const ModuleDef* module, std::uint64_t address);

struct OffsetDef {
  Seconds local, offset;
};

// Why a definition was not taken, or not whole.
enum class DefinitionFault : std::uint8_t {
  kNone,
  kTooShort,
  kNoDefinition,      // an attribute or an event
  kUnknownObject,     // of which it tells, but nothing defines it before
  kContinuesNothing,  // what it continues does not stand before it
  kTooMany,           // members
  kRing               // a call site that calls itself, or whose path is too long
};

class Definitions {
 public:
  // Defined once, in definitions.cc: what copies and ends the tables below is much code.
  Definitions();
  ~Definitions();
  Definitions(const Definitions&);
  Definitions(Definitions&&) noexcept;
  Definitions& operator=(const Definitions&);
  Definitions& operator=(Definitions&&) noexcept;

  Status add(const RawRecord& record, const Dialect& dialect);
  // What the last add() said.
  DefinitionFault fault() const { return fault_; }
  // Joins what waits for a continuation; call it when the definitions have ended.
  void finish();

  std::string_view string(StringId id) const;
  // What a region is as an MPI function; kOther if it is none, or not defined.
  MpiRole role(RegionId id) const {
    const RegionDef* region = regions.find(id);
    return region == nullptr ? MpiRole::kOther : region->role();
  }
  // And as a function of SHMEM; nullptr if it is none.
  const ShmemFunction* shmem(RegionId id) const {
    const RegionDef* region = regions.find(id);
    return region == nullptr ? nullptr : region->shmem;
  }
  // Strings, groups and communicators whose continuations did not come (finish() counts the last).
  std::size_t unfinished() const { return unfinished_; }

  std::map<StringId, std::string> strings;
  IdTable<MachineId, MachineDef> machines;
  IdTable<NodeId, NodeDef> nodes;
  IdTable<LocationId, LocationDef> locations;
  std::map<ProcessId, std::string> process_names;
  std::map<std::pair<ProcessId, ThreadId>, std::string> thread_names;
  IdTable<FileId, std::string> files;
  IdTable<RegionId, RegionDef> regions;
  IdTable<MetricId, MetricDef> metrics;
  IdTable<MetricId, MetricDef> local_metrics;  // of local traces: their values are attributes
  IdTable<CallSiteId, CallSiteDef> call_sites;
  // The sites on the path to a site, f(CallSiteId, const CallSiteDef&), innermost first.
  template <class F>
  void for_each_caller(const CallSiteDef& site, F&& f) const {
    std::size_t most = kMostSiteCallers;
    const CallSiteDef* def = &site;
    while (!is_absent(def->caller) && most-- != 0) {
      const CallSiteId id = def->caller;
      def = call_sites.find(id);
      f(id, *def);
    }
  }
  IdTable<GroupId, GroupDef> groups;
  IdTable<CommId, CommDef> comms;
  IdTable<WindowId, WindowDef> windows;
  IdTable<LockId, VariableDef> shmem_locks;  // by their numbers in ALOCK: those with a name
  IdTable<TopologyId, TopologyDef> topologies;
  std::vector<OffsetDef> offsets;
  // Local traces: sites and functions are regions, too, under the same identifiers.
  IdTable<Count, ModuleDef> modules;
  IdTable<RegionId, CodeDef> local_sites, local_functions;
  IdTable<Count, CodeDef> local_frames;
  IdTable<LockId, CodeDef> local_locks;  // of SHMEM; of data
  std::optional<LocalRun> local_run;
  std::optional<MergedRun> merged_run;
  std::optional<ClockRate> clock_rate;
  std::vector<Lost> lost;
  std::map<ProcessId, Flags> functions_off;  // groups of MPI functions, one bit for each family
  RunProperties properties;
  std::optional<std::uint64_t> event_count;
  bool last_def = false;

 private:
  // What a continuation record continues, if anything.
  enum class Open : std::uint8_t { kNothing, kString, kGroup, kComm };
  Open open_ = Open::kNothing;
  DefinitionFault fault_ = DefinitionFault::kNone;
  StringId open_string_{};
  GroupId open_group_{};
  CommId open_comm_{};
  std::size_t unfinished_ = 0;
  std::size_t missing_ = 0;           // parts, ranks or bytes still to come
  std::vector<std::uint8_t> bits_;    // of the open communicator
  std::vector<std::uint32_t> ranks_;  // of the open group
  std::uint64_t expanded_ = 0;        // ranks of groups that only gave their number
  Status add_ranks(const U4Array& part);
  Status add_bits(const ByteArray& part);
  std::uint64_t processes() const;  // of the run, as far as it is known
  Status complaint(DefinitionFault fault, const char* field, std::string reason);
  template <class R>
  Status apply(const R& record);
};

}  // namespace kojak
