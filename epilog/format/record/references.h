// Whether the object that an identifier names is defined: one overload for each type of identifier.
//
// Returns nullptr if it is, else what is wrong with it, as a constant. Numbers that name nothing
// are always fine. "Absent" is the caller's business. Reads the definitions only; thread-safe as
// they are.
#pragma once

#include "epilog/format/definitions.h"

namespace kojak {

template <class T>
const char* undefined(const Definitions&, T) {
  return nullptr;
}
// Whether undefined() can tell: an identifier of objects that have definitions.
template <class T>
inline constexpr bool kNamesObject = false;

#define KOJAK_REFERENCE(Id, known, noun)                                             \
  template <>                                                                        \
  inline constexpr bool kNamesObject<Id> = true;                                     \
  inline const char* undefined(const Definitions& definitions, Id id) {              \
    return (known) ? nullptr : "no " noun " with this identifier is defined before"; \
  }
KOJAK_REFERENCE(StringId, definitions.strings.count(id) != 0, "string")
KOJAK_REFERENCE(MachineId, definitions.machines.find(id) != nullptr, "machine")
KOJAK_REFERENCE(NodeId, definitions.nodes.find(id) != nullptr, "node")
KOJAK_REFERENCE(LocationId, definitions.locations.find(id) != nullptr, "location")
KOJAK_REFERENCE(FileId, definitions.files.find(id) != nullptr, "file")
KOJAK_REFERENCE(RegionId, definitions.regions.find(id) != nullptr, "region")
KOJAK_REFERENCE(CallSiteId, definitions.call_sites.find(id) != nullptr, "call site")
KOJAK_REFERENCE(CommId, definitions.comms.find(id) != nullptr, "communicator")
KOJAK_REFERENCE(GroupId, definitions.groups.find(id) != nullptr, "group")
KOJAK_REFERENCE(WindowId, definitions.windows.find(id) != nullptr, "window")
KOJAK_REFERENCE(TopologyId, definitions.topologies.find(id) != nullptr, "topology")
#undef KOJAK_REFERENCE

// A peer is a process of the run, whether its own trace was found or not.
inline const char* undefined(const Definitions& definitions, PeerId id) {
  std::uint64_t size = 0;
  if (definitions.local_run) size = raw(definitions.local_run->size);
  if (definitions.merged_run) size = raw(definitions.merged_run->size);
  const bool known =
      raw(id) < size || definitions.locations.find(static_cast<LocationId>(raw(id))) != nullptr;
  return known ? nullptr : "the run has no such process";
}

// Whether a field may be absent: none, any, unknown.
template <class T>
constexpr bool may_be_absent(FieldRule rule) {
  return sizeof(T) != 4 || rule == FieldRule::kOptional || std::is_same_v<T, Line> ||
         std::is_same_v<T, Count> || std::is_same_v<T, Tag> || std::is_same_v<T, StringId> ||
         std::is_same_v<T, FileId> || std::is_same_v<T, CallPathId>;
}

}  // namespace kojak
