#include "tools/otf2elg/archive.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <optional>

namespace kojak::otf2 {
namespace {

// What the library says goes into our messages, not to standard error.
OTF2_ErrorCode keep_quiet(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                          const char*, std::va_list) {
  return code;
}

// The library runs on for hours over some damaged anchor files; a good one takes milliseconds.
constexpr unsigned kPatience = 20;  // seconds
extern "C" void give_up(int) {
  constexpr char kText[] =
      "otf2elg: error: the OTF2 library does not come to an end with this anchor file, so it is "
      "damaged: copy the archive again\n";
  static_cast<void>(!::write(STDERR_FILENO, kText, sizeof kText - 1));
  ::_exit(static_cast<int>(ExitCode::kBadInput));
}
OTF2_Reader* open_reader(const char* anchor) {
  const auto before = std::signal(SIGALRM, give_up);
  ::alarm(kPatience);
  OTF2_Reader* const reader = OTF2_Reader_Open(anchor);
  ::alarm(0);
  std::signal(SIGALRM, before);
  return reader;
}

struct Group {
  OTF2_GroupType type;
  OTF2_Paradigm paradigm;
  std::vector<std::uint64_t> members;
};
struct Process {  // a group of locations
  std::string name;
  OTF2_SystemTreeNodeRef node;
};
struct SystemNode {
  std::string name, kind;
  OTF2_SystemTreeNodeRef parent;
};
struct Comm {
  std::string name;
  OTF2_GroupRef first, second;
};
struct Dimension {
  std::string name;
  std::uint32_t size;
  bool periodic;
};
struct Location {
  OTF2_LocationRef ref;
  std::string name;
  OTF2_LocationType type;
  std::uint64_t events;
  OTF2_LocationGroupRef process;
};

// Takes the definitions as they come; finish() makes ranks of members.
class Collector {
 public:
  explicit Collector(ArchiveDefinitions& out) : out_(out) {}

  const std::string& text(OTF2_StringRef ref) const {
    static const std::string none;
    const auto it = out_.strings.find(ref);
    return it == out_.strings.end() ? none : it->second;
  }

  static Collector& of(void* self) { return *static_cast<Collector*>(self); }
  static OTF2_CallbackCode clock(void* self, std::uint64_t resolution, std::uint64_t offset,
                                 std::uint64_t, std::uint64_t) {
    of(self).out_.ticks_per_second = resolution;
    of(self).out_.first_tick = offset;
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode string(void* self, OTF2_StringRef ref, const char* text) {
    of(self).out_.strings[ref] = text;
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode system_node(void* self, OTF2_SystemTreeNodeRef ref, OTF2_StringRef name,
                                       OTF2_StringRef kind, OTF2_SystemTreeNodeRef parent) {
    Collector& c = of(self);
    c.nodes_[ref] = {c.text(name), c.text(kind), parent};
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode node_property(void* self, OTF2_SystemTreeNodeRef, OTF2_StringRef name,
                                         OTF2_Type type, OTF2_AttributeValue value) {
    if (type == OTF2_TYPE_STRING) {
      of(self).out_.properties[of(self).text(name)] = of(self).text(value.stringRef);
    }
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode process(void* self, OTF2_LocationGroupRef ref, OTF2_StringRef name,
                                   OTF2_LocationGroupType, OTF2_SystemTreeNodeRef node,
                                   OTF2_LocationGroupRef) {
    of(self).processes_[ref] = {of(self).text(name), node};
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode location(void* self, OTF2_LocationRef ref, OTF2_StringRef name,
                                    OTF2_LocationType type, std::uint64_t events,
                                    OTF2_LocationGroupRef process) {
    of(self).locations_.push_back({ref, of(self).text(name), type, events, process});
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode region(void* self, OTF2_RegionRef ref, OTF2_StringRef name,
                                  OTF2_StringRef, OTF2_StringRef, OTF2_RegionRole role,
                                  OTF2_Paradigm paradigm, OTF2_RegionFlag, OTF2_StringRef file,
                                  std::uint32_t begin, std::uint32_t end) {
    Collector& c = of(self);
    c.out_.regions[ref] = {c.text(name), c.text(file), role, paradigm, begin, end};
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode group(void* self, OTF2_GroupRef ref, OTF2_StringRef, OTF2_GroupType type,
                                 OTF2_Paradigm paradigm, OTF2_GroupFlag, std::uint32_t count,
                                 const std::uint64_t* members) {
    of(self).groups_[ref] = {type, paradigm, {members, members + count}};
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode comm(void* self, OTF2_CommRef ref, OTF2_StringRef name,
                                OTF2_GroupRef group, OTF2_CommRef, OTF2_CommFlag) {
    of(self).comms_[ref] = {of(self).text(name), group, OTF2_UNDEFINED_GROUP};
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode inter_comm(void* self, OTF2_CommRef ref, OTF2_StringRef name,
                                      OTF2_GroupRef first, OTF2_GroupRef second, OTF2_CommRef,
                                      OTF2_CommFlag) {
    of(self).comms_[ref] = {of(self).text(name), first, second};
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode window(void* self, OTF2_RmaWinRef ref, OTF2_StringRef name,
                                  OTF2_CommRef comm, OTF2_RmaWinFlag) {
    of(self).out_.windows[ref] = {of(self).text(name), comm};
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode attribute(void* self, OTF2_AttributeRef ref, OTF2_StringRef name,
                                     OTF2_StringRef, OTF2_Type type) {
    of(self).out_.attributes[ref] = of(self).text(name);
    if (type == OTF2_TYPE_SOURCE_CODE_LOCATION && of(self).text(name) == "SOURCE_CODE_LOCATION") {
      of(self).out_.place_attribute = ref;
    }
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode place(void* self, OTF2_SourceCodeLocationRef ref, OTF2_StringRef file,
                                 std::uint32_t line) {
    of(self).out_.places[ref] = {of(self).text(file), line};
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode dimension(void* self, OTF2_CartDimensionRef ref, OTF2_StringRef name,
                                     std::uint32_t size, OTF2_CartPeriodicity periodicity) {
    of(self).dimensions_[ref] = {of(self).text(name), size, periodicity == OTF2_CART_PERIODIC_TRUE};
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode topology(void* self, OTF2_CartTopologyRef ref, OTF2_StringRef name,
                                    OTF2_CommRef comm, std::uint8_t count,
                                    const OTF2_CartDimensionRef* dimensions) {
    Collector& c = of(self);
    TopologyOfArchive& topology = c.out_.topologies[ref];
    topology.name = c.text(name);
    topology.comm = comm;
    for (std::uint8_t i = 0; i < count; ++i) {
      const Dimension& d = c.dimensions_[dimensions[i]];
      topology.dimensions.push_back({d.name, d.size, d.periodic});
    }
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode coordinates(void* self, OTF2_CartTopologyRef ref, std::uint32_t rank,
                                       std::uint8_t count, const std::uint32_t* values) {
    of(self).out_.topologies[ref].coordinates[rank] = {values, values + count};
    return OTF2_CALLBACK_SUCCESS;
  }

  // The remedy of what is wrong; empty if nothing is.
  std::string finish() {
    if (out_.ticks_per_second == 0) return "it has no clock properties";
    find_ranks();
    if (out_.processes == 0) return "it has no MPI processes, so nobody waits for a message";
    for (const auto& [ref, group] : groups_) {
      if (group.type == OTF2_GROUP_TYPE_COMM_GROUP) out_.groups[ref] = ranks_of(group);
    }
    for (const auto& [ref, comm] : comms_) add_comm(ref, comm);
    std::erase_if(out_.windows, [&](const auto& w) { return !out_.comms.contains(w.second.comm); });
    std::erase_if(out_.topologies,
                  [&](const auto& t) { return !out_.comms.contains(t.second.comm); });
    for (const Location& location : locations_) add_location(location);
    std::sort(out_.locations.begin(), out_.locations.end(), [](const auto& a, const auto& b) {
      return std::pair(a.rank, a.thread) < std::pair(b.rank, b.thread);
    });
    return {};
  }

 private:
  // Which location is which rank: the members of MPI's COMM_LOCATIONS, in order.
  void find_ranks() {
    for (const auto& [ref, group] : groups_) {
      if (group.type != OTF2_GROUP_TYPE_COMM_LOCATIONS || group.paradigm != OTF2_PARADIGM_MPI)
        continue;
      out_.processes = static_cast<std::uint32_t>(group.members.size());
      for (std::uint32_t rank = 0; rank < out_.processes; ++rank) {
        rank_of_location_[group.members[rank]] = rank;
      }
    }
    for (const Location& location : locations_) {
      if (const auto it = rank_of_location_.find(location.ref); it != rank_of_location_.end()) {
        rank_of_process_[location.process] = it->second;
      }
    }
  }
  std::vector<std::uint32_t> ranks_of(const Group& group) const {
    std::vector<std::uint32_t> ranks;
    for (const std::uint64_t member : group.members) {
      ranks.push_back(member < out_.processes ? static_cast<std::uint32_t>(member) : kNobody);
    }
    return ranks;
  }
  void add_comm(OTF2_CommRef ref, const Comm& comm) {
    const auto first = groups_.find(comm.first);
    if (first == groups_.end() || first->second.paradigm != OTF2_PARADIGM_MPI) return;
    CommOfArchive added;
    added.name = comm.name;
    added.self = first->second.type == OTF2_GROUP_TYPE_COMM_SELF;
    added.ranks = ranks_of(first->second);
    if (const auto second = groups_.find(comm.second); second != groups_.end()) {
      added.others = ranks_of(second->second);
    }
    out_.comms[ref] = std::move(added);
  }
  void add_location(const Location& location) {
    const auto rank = rank_of_process_.find(location.process);
    if (location.type != OTF2_LOCATION_TYPE_CPU_THREAD || rank == rank_of_process_.end()) {
      if (location.events != 0) ++out_.left_out;
      return;
    }
    LocationOfArchive added;
    added.ref = location.ref;
    added.rank = rank->second;
    added.thread = rank_of_location_.contains(location.ref) ? 0 : ++threads_[location.process];
    added.events = location.events;
    added.name = location.name;
    const Process& process = processes_[location.process];
    added.process = process.name;
    for (auto at = process.node; nodes_.contains(at); at = nodes_[at].parent) {
      const SystemNode& node = nodes_[at];
      if (node.kind == "node" && added.node.empty()) added.node = node.name;
      if (node.kind == "machine") added.machine = node.name;
    }
    if (added.node.empty() && nodes_.contains(process.node)) added.node = nodes_[process.node].name;
    out_.locations.push_back(std::move(added));
  }

  ArchiveDefinitions& out_;
  std::map<OTF2_GroupRef, Group> groups_;
  std::map<OTF2_CommRef, Comm> comms_;
  std::map<OTF2_LocationGroupRef, Process> processes_;
  std::map<OTF2_SystemTreeNodeRef, SystemNode> nodes_;
  std::map<OTF2_CartDimensionRef, Dimension> dimensions_;
  std::vector<Location> locations_;
  std::unordered_map<std::uint64_t, std::uint32_t> rank_of_location_;
  std::map<OTF2_LocationGroupRef, std::uint32_t> rank_of_process_, threads_;
};

}  // namespace

std::string Archive::events_of(const LocationOfArchive& location) {
  return "events of location " + std::to_string(location.ref);
}

Error Archive::failure(const std::string& what, OTF2_ErrorCode code) const {
  const char* words = code == OTF2_SUCCESS ? nullptr : OTF2_Error_GetDescription(code);
  return {ExitCode::kBadInput,
          path_,
          std::nullopt,
          "",
          "",
          what + (words == nullptr ? "" : std::string(": ") + words),
          "name the anchor file, traces.otf2, of a whole archive; copy the archive again"};
}

Result<Archive> Archive::open(const std::string& anchor) {
  OTF2_Error_RegisterCallback(keep_quiet, nullptr);
  Archive archive;
  archive.path_ = anchor;
  archive.reader_.reset(open_reader(anchor.c_str()));
  if (!archive.reader_) return archive.failure("this is no OTF2 archive", OTF2_SUCCESS);
  OTF2_Reader_SetSerialCollectiveCallbacks(archive.reader_.get());
  char* creator = nullptr;
  if (OTF2_Reader_GetCreator(archive.reader_.get(), &creator) == OTF2_SUCCESS) {
    archive.creator_ = creator;
    std::free(creator);
  }
  OTF2_Reader_GetTraceId(archive.reader_.get(), &archive.identity_);
  if (const Status status = archive.read_definitions(); !status) return status.error();
  if (const Status status = archive.read_local_definitions(); !status) return status.error();
  return archive;
}

Status Archive::read_definitions() {
  OTF2_Reader* const reader = reader_.get();
  OTF2_GlobalDefReader* const definitions = OTF2_Reader_GetGlobalDefReader(reader);
  if (definitions == nullptr) return failure("its definitions cannot be read", OTF2_SUCCESS);
  Collector collector(definitions_);
  OTF2_GlobalDefReaderCallbacks* const callbacks = OTF2_GlobalDefReaderCallbacks_New();
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, Collector::clock);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, Collector::string);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, Collector::system_node);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodePropertyCallback(callbacks,
                                                                  Collector::node_property);
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, Collector::process);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, Collector::location);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, Collector::region);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, Collector::group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, Collector::comm);
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, Collector::inter_comm);
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(callbacks, Collector::window);
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, Collector::attribute);
  OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(callbacks, Collector::place);
  OTF2_GlobalDefReaderCallbacks_SetCartDimensionCallback(callbacks, Collector::dimension);
  OTF2_GlobalDefReaderCallbacks_SetCartTopologyCallback(callbacks, Collector::topology);
  OTF2_GlobalDefReaderCallbacks_SetCartCoordinateCallback(callbacks, Collector::coordinates);
  OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, &collector);
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  std::uint64_t count = 0;
  const OTF2_ErrorCode code = OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &count);
  if (code != OTF2_SUCCESS) return failure("its definitions cannot be read", code);
  OTF2_Reader_CloseGlobalDefReader(reader, definitions);
  if (const std::string wrong = collector.finish(); !wrong.empty()) {
    return failure(wrong, OTF2_SUCCESS);
  }
  return {};
}

// They hold what the reader of events needs: numbers that differ, and the clocks' offsets.
Status Archive::read_local_definitions() {
  OTF2_Reader* const reader = reader_.get();
  for (const LocationOfArchive& location : definitions_.locations) {
    OTF2_Reader_SelectLocation(reader, location.ref);
  }
  if (OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS) {
    // An archive may do without such files, but not without some of them.
    const LocationOfArchive* without = nullptr;
    bool any = false;
    for (const LocationOfArchive& location : definitions_.locations) {
      OTF2_DefReader* const local = OTF2_Reader_GetDefReader(reader, location.ref);
      if (local == nullptr) {
        if (without == nullptr) without = &location;
        continue;
      }
      any = true;
      std::uint64_t count = 0;
      const OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalDefinitions(reader, local, &count);
      OTF2_Reader_CloseDefReader(reader, local);
      if (code != OTF2_SUCCESS) return failure("its local definitions cannot be read", code);
    }
    OTF2_Reader_CloseDefFiles(reader);
    if (without != nullptr && any) {
      return failure("the local definitions of location " + std::to_string(without->ref) +
                         " cannot be read",
                     OTF2_SUCCESS);
    }
  }
  const OTF2_ErrorCode code = OTF2_Reader_OpenEvtFiles(reader);
  if (code != OTF2_SUCCESS) return failure("its events cannot be opened", code);
  return {};
}

std::uint64_t Archive::events() const {
  std::uint64_t events = 0;
  for (const LocationOfArchive& location : definitions_.locations) events += location.events;
  return events;
}

Result<OTF2_EvtReader*> Archive::open_events(const LocationOfArchive& location,
                                             const OTF2_EvtReaderCallbacks* callbacks,
                                             void* receiver) {
  OTF2_EvtReader* const events = OTF2_Reader_GetEvtReader(reader_.get(), location.ref);
  if (events == nullptr) {
    return failure("the " + events_of(location) + " cannot be opened", OTF2_SUCCESS);
  }
  OTF2_Reader_RegisterEvtCallbacks(reader_.get(), events, callbacks, receiver);
  return events;
}

Result<std::uint64_t> Archive::read_some(const LocationOfArchive& location, OTF2_EvtReader* events,
                                         std::uint64_t most) {
  std::uint64_t count = 0;
  const OTF2_ErrorCode code = OTF2_Reader_ReadLocalEvents(reader_.get(), events, most, &count);
  if (code != OTF2_SUCCESS) return failure("the " + events_of(location) + " cannot be read", code);
  return count;
}

Status Archive::read(const LocationOfArchive& location, const OTF2_EvtReaderCallbacks* callbacks,
                     void* receiver) {
  const auto events = open_events(location, callbacks, receiver);
  if (!events) return events.error();
  std::uint64_t count = 0;
  const OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalEvents(reader_.get(), *events, &count);
  close_events(*events);
  if (code != OTF2_SUCCESS) return failure("the " + events_of(location) + " cannot be read", code);
  if (count < location.events) {
    return failure("of the " + events_of(location) + ", " + std::to_string(location.events) +
                       ", only " + std::to_string(count) + " are there",
                   OTF2_SUCCESS);
  }
  return {};
}

}  // namespace kojak::otf2
