// One set of definitions for the whole run, and for each local trace what its identifiers became.
//
// Regions, files, call sites, metrics, machines and nodes are one where their content is equal;
// groups where their members are, in order; communicators and windows where their agreed identity
// is. An object of unknown identity stays its process's own. Identifiers are given in the order in
// which they are first asked for: feed the traces in order of rank and thread, and the result
// depends on nothing else. Owns all it holds; memory grows with distinct objects, and with one
// small table for each trace. Errors: equal identity with different members is a contradiction
// (exit 2) that names both traces; a reference to an object that is not defined becomes absent and
// is counted. Not thread-safe. Source: docs/merge.md; docs/measurement.md.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "epilog/format/definitions.h"
#include "epilog/format/field_values.h"
#include "epilog/model/shmem_completion.h"
#include "merge/define/code_names.h"
#include "merge/input/local_input.h"
#include "merge/summary.h"

namespace kojak::merge {

// Local identifier to merged identifier: dense, with a map for what a hostile file may hold.
class IdMap {
 public:
  static constexpr std::uint32_t kDense = 1u << 16;
  // kAbsent if it is not known.
  [[gnu::always_inline]] std::uint32_t operator[](std::uint32_t id) const {
    if (id < dense_.size()) [[likely]]
      return dense_[id];
    return sparse_.empty() ? kAbsent : sparse_lookup(id);
  }
  bool operator==(const IdMap&) const = default;
  void set(std::uint32_t id, std::uint32_t merged);
  // Takes over what only `other` knows.
  void inherit(const IdMap& other);

 private:
  std::uint32_t sparse_lookup(std::uint32_t id) const;
  std::vector<std::uint32_t> dense_;
  std::map<std::uint32_t, std::uint32_t> sparse_;
};

struct Translation {
  IdMap regions, call_sites, comms, windows, metrics;
  IdMap sites;                      // regions that stand for a call site, to that
  bool metrics_differ = false;      // the trace's counters are not the merged trace's, in order
  std::uint32_t metric_count = 0;   // METRIC records: so many values has an event
  std::uint32_t local_metrics = 0;  // LOCAL_METRIC records: so many has ATTR_METRICS
  bool operator==(const Translation&) const = default;
};

// The kinds of objects whose identifiers stand in events: where a trace defines them, and where the
// translation has them.
template <class Id>
struct KindOf;
#define KOJAK_KIND(Id, objects)                           \
  template <>                                             \
  struct KindOf<Id> {                                     \
    static constexpr auto kLocal = &Definitions::objects; \
    static constexpr auto kMap = &Translation::objects;   \
  };
KOJAK_KIND(RegionId, regions)
KOJAK_KIND(CallSiteId, call_sites)
KOJAK_KIND(CommId, comms)
KOJAK_KIND(WindowId, windows)
#undef KOJAK_KIND
template <class Id>
concept Translated = requires {
  KindOf<Id>::kMap;
};

// Who named an object of the run: of several processes the lowest rank that has a name for it, and
// of its names the last one.
struct MergedName {
  std::string text;
  std::uint32_t rank = kAbsent, given = 0;
  void take(const std::string& name, std::uint32_t by, std::uint32_t after);
};

struct MergedComm {
  MergedName name;
  std::vector<std::uint32_t> ranks, remote;
  std::uint64_t hi = 0, lo = 0;
  std::uint8_t flags = 0;                              // as in COMM_IDENTITY
  std::uint32_t first = 0;                             // index of the trace that brought it
  std::map<std::uint32_t, NeighbourLists> neighbours;  // by world rank, of a topology
  bool paired() const { return (flags & kIdentityUnknown) == 0; }
  bool intercommunicator() const { return (flags & kIntercommunicator) != 0; }
  bool foreign_members() const { return (flags & kForeignMembers) != 0; }
  bool stands_for_group() const { return (flags & kStandsForGroup) != 0; }
};
struct MergedWindow {
  MergedName name;
  std::uint32_t comm = kAbsent;
  std::uint64_t hi = 0, lo = 0;
  std::uint8_t flags = 0, flavour = 0, model = 0;
  std::uint32_t first = 0;
  bool paired() const { return (flags & kIdentityUnknown) == 0; }
};
// Both sides of an intercommunicator are one object: the side with the smaller first member is
// taken as the local one. Whether that is the other one here.
inline bool sides_swapped(const CommDef& def) {
  return def.intercommunicator && def.remote < def.ranks && !def.remote.empty();
}
// MPI_Alltoallv and its like.
bool counts_by_pair(const MpiFunction& function);
struct MergedLocation {
  std::uint32_t rank = 0, thread = 0;
  std::uint32_t machine = kAbsent, node = kAbsent;
  bool recorded = false;
  std::string process_name, thread_name;
};

class MergedDefinitions {
 public:
  std::vector<std::string> files;
  std::vector<RegionDef> regions;
  std::vector<CallSiteDef> call_sites;
  std::vector<MetricDef> metrics;
  std::vector<MachineDef> machines;
  std::vector<NodeDef> nodes;
  std::vector<MergedLocation> locations;  // 0..n-1 the ranks, then the other threads
  std::vector<MergedComm> comms;
  std::vector<MergedWindow> windows;
  struct Topology {
    TopologyDef def;  // coordinates by merged location
    std::uint32_t comm = kAbsent;
    std::uint32_t first = 0;  // trace that defines it first
  };
  std::vector<Topology> topologies;
  std::map<LockId, VariableDef> shmem_locks;     // those that are variables
  std::vector<Lost> lost;                        // lid is the merged location
  std::map<std::uint32_t, Flags> functions_off;  // by rank
  RunProperties properties;                      // as the processes tell them

  CodeNames code_names;

  // Makes the locations of a run: `traces` sorted by rank and thread.
  void set_locations(const std::vector<LocalTrace>& traces);
  // The merged location of a trace, by its index in that list.
  std::uint32_t location_of(std::size_t trace) const { return trace_locations_[trace]; }

 private:
  friend class TraceDefinitions;
  std::uint32_t file(const std::string& name);
  std::uint32_t machine(const std::string& name, std::uint32_t nodes);
  std::uint32_t region(const RegionDef& def);
  std::uint32_t function(const CodePlace& place);
  std::uint32_t call_site(const CallSiteDef& site);

  // What a region is follows from its name.
  struct RegionOrder {
    bool operator()(const RegionDef& a, const RegionDef& b) const;
  };
  std::vector<std::uint32_t> trace_locations_;
  std::unordered_map<std::string, std::uint32_t> file_ids_, machine_ids_;
  std::map<MetricDef, std::uint32_t> metric_ids_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> node_ids_;
  std::map<RegionDef, std::uint32_t, RegionOrder> region_ids_;
  std::map<CallSiteDef, std::uint32_t> call_site_ids_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> comm_ids_, window_ids_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> group_comms_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> own_comms_, own_windows_;
  std::map<std::tuple<std::uint32_t, std::string>, std::uint32_t> topology_ids_;
};

// The definitions of one local trace on their way into the merged ones. Objects are taken over when
// they are first asked for, and the rest by finish(). `fallback` are those of the process's first
// thread, for traces that leave out what their process has defined there.
class TraceDefinitions {
 public:
  TraceDefinitions(MergedDefinitions& merged, const std::vector<LocalTrace>& traces,
                   std::size_t index, Summary& summary, const Translation* fallback)
      : merged_(merged),
        traces_(traces),
        index_(static_cast<std::uint32_t>(index)),
        summary_(summary),
        fallback_(fallback) {}

  // `files`: where the record can be found again, for messages.
  void add(const RawRecord& record, const Dialect& dialect, FileCache& files);
  // The merged object; kAbsent if nothing defines it.
  template <Translated Id>
  std::uint32_t merged(Id id) {
    const std::uint32_t known = (translation_.*KindOf<Id>::kMap)[raw(id)];
    if (known != kAbsent) return known;
    const auto* def = (local_.*KindOf<Id>::kLocal).find(id);
    if (def == nullptr) {
      return fallback_ != nullptr ? (fallback_->*KindOf<Id>::kMap)[raw(id)] : kAbsent;
    }
    const std::uint32_t taken = take(id, *def);
    (translation_.*KindOf<Id>::kMap).set(raw(id), taken);
    return taken;
  }
  // Takes over everything else; gives the table. The first contradiction, if any.
  Status finish(Translation& translation);
  const Definitions& local() const { return local_; }

 private:
  std::uint32_t take(RegionId id, const RegionDef& def);
  std::uint32_t take(CallSiteId id, const CallSiteDef& def);
  std::uint32_t take(CommId id, const CommDef& def);
  std::uint32_t take(WindowId id, const WindowDef& def);
  template <Translated Id>
  void take_all();
  std::uint32_t intern_comm(CommId id, const CommDef& def);
  void take_location();
  void take_metrics();
  void take_topologies();
  // Code of the program (local_sites.cc).
  std::uint32_t function(const CodeDef& code);
  std::vector<CodePlace> callers(const CodeDef& site, bool sampled);
  const CallSiteDef* python_line(const CodeDef& code) const;
  CodePlace place_of(const CallSiteDef& line) const;
  void take_sites();
  void take_names();
  void contradiction(const char* what, std::uint32_t first, const char* of = "members");
  // The communicator that another definition refers to; counted if nothing defines it.
  std::uint32_t comm_of(CommId id, const char* of);

  MergedDefinitions& merged_;
  const std::vector<LocalTrace>& traces_;
  std::uint32_t index_;
  Summary& summary_;
  const Translation* fallback_;
  Definitions local_;
  Translation translation_;
  Error error_;
};

// What the identifiers in a trace's records stand for in the run, when its definitions are
// complete.
class MergedNames {
 public:
  MergedNames(const Translation& translation, const MergedDefinitions& definitions)
      : translation_(&translation), definitions_(&definitions) {}
  // Absent if nobody knows it.
  std::uint32_t window(WindowId id) const { return translation_->windows[raw(id)]; }
  // By world rank; none if it is unknown.
  std::span<const std::uint32_t> members(CommId id) const {
    const std::uint32_t comm = translation_->comms[raw(id)];
    if (comm == kAbsent) return {};
    return definitions_->comms[comm].ranks;
  }
  MpiRole role(RegionId id) const { return role_of(translation_->regions[raw(id)]); }
  // The role of the region that is called there.
  MpiRole role(CallSiteId id) const {
    const std::uint32_t site = translation_->call_sites[raw(id)];
    if (site == kAbsent) return MpiRole::kOther;
    return role_of(raw(definitions_->call_sites[site].entered));
  }
  // Whether the region may complete a context of SHMEM.
  bool may_quiet(std::uint32_t region) const {
    return region != kAbsent && model::may_quiet(definitions_->regions[region].shmem_role());
  }
  bool may_quiet(RegionId id) const { return may_quiet(translation_->regions[raw(id)]); }
  bool may_quiet(CallSiteId id) const {
    const std::uint32_t site = translation_->call_sites[raw(id)];
    return site != kAbsent && may_quiet(raw(definitions_->call_sites[site].entered));
  }

 private:
  MpiRole role_of(std::uint32_t region) const {
    return region != kAbsent ? definitions_->regions[region].role() : MpiRole::kOther;
  }
  const Translation* translation_;
  const MergedDefinitions* definitions_;
};

}  // namespace kojak::merge
