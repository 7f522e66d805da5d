// An OTF2 archive: its definitions as plain values, and its events location by location.
//
// Owns the reader of the OTF2 library; the definitions are read when it is opened, all of them.
// Ranks are those of the group of all MPI processes (COMM_LOCATIONS); members of a communicator are
// ranks. Definitions that no trace of kojak can hold are counted by kind. Single-threaded. Errors:
// exit code 2, with the file and what the library says. Source: the headers of OTF2 3.0
// (otf2/OTF2_GlobalDefReaderCallbacks.h, otf2/OTF2_EvtReaderCallbacks.h).
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "epilog/format/error.h"

namespace kojak::otf2 {

inline constexpr std::uint32_t kNobody = 0xFFFFFFFF;

struct RegionOfArchive {
  std::string name, file;
  OTF2_RegionRole role = OTF2_REGION_ROLE_UNKNOWN;
  OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
  std::uint32_t begin = 0, end = 0;  // lines; 0: unknown
};
struct CommOfArchive {
  std::string name;
  bool self = false;                  // each process has one of its own
  std::vector<std::uint32_t> ranks;   // of an intercommunicator: the first group
  std::vector<std::uint32_t> others;  // of an intercommunicator: the second group
};
struct WindowOfArchive {
  std::string name;
  OTF2_CommRef comm = OTF2_UNDEFINED_COMM;
};
// A process or thread that has events.
struct LocationOfArchive {
  OTF2_LocationRef ref = 0;
  std::uint32_t rank = kNobody, thread = 0;
  std::uint64_t events = 0;
  std::string name, process, node, machine;
};
struct TopologyOfArchive {
  std::string name;
  OTF2_CommRef comm = OTF2_UNDEFINED_COMM;
  struct Dimension {
    std::string name;
    std::uint32_t size = 0;
    bool periodic = false;
  };
  std::vector<Dimension> dimensions;
  std::map<std::uint32_t, std::vector<std::uint32_t>> coordinates;  // by rank of the communicator
};
struct PlaceInSource {
  std::string file;
  std::uint32_t line = 0;
};

// All definitions, by their numbers in the archive.
struct ArchiveDefinitions {
  std::uint64_t ticks_per_second = 0, first_tick = 0;
  std::unordered_map<std::uint32_t, std::string> strings;
  std::unordered_map<OTF2_RegionRef, RegionOfArchive> regions;
  std::unordered_map<OTF2_CommRef, CommOfArchive> comms;
  std::unordered_map<OTF2_RmaWinRef, WindowOfArchive> windows;
  std::unordered_map<OTF2_GroupRef, std::vector<std::uint32_t>> groups;  // ranks
  std::unordered_map<OTF2_SourceCodeLocationRef, PlaceInSource> places;
  OTF2_AttributeRef place_attribute = OTF2_UNDEFINED_ATTRIBUTE;  // SOURCE_CODE_LOCATION
  std::map<OTF2_CartTopologyRef, TopologyOfArchive> topologies;
  // What elg2otf2 adds (tools/elg2otf2/carried.h): properties of the system, names of attributes.
  std::map<std::string, std::string> properties;
  std::unordered_map<OTF2_AttributeRef, std::string> attributes;
  std::uint32_t processes = 0;
  std::vector<LocationOfArchive> locations;  // by rank and thread
  std::uint64_t left_out = 0;                // locations that are no processor threads of a rank
};

class Archive {
 public:
  static Result<Archive> open(const std::string& anchor);

  const ArchiveDefinitions& definitions() const { return definitions_; }
  const std::string& creator() const { return creator_; }
  // Two halves of a number that no other archive is likely to have.
  std::uint64_t identity() const { return identity_; }
  std::uint64_t events() const;

  // A location's events, some at a time: 0 are read at its end.
  Result<OTF2_EvtReader*> open_events(const LocationOfArchive& location,
                                      const OTF2_EvtReaderCallbacks* callbacks, void* receiver);
  Result<std::uint64_t> read_some(const LocationOfArchive& location, OTF2_EvtReader* events,
                                  std::uint64_t most);
  void close_events(OTF2_EvtReader* events) { OTF2_Reader_CloseEvtReader(reader_.get(), events); }
  // All events of one location, in its order, to the callbacks.
  Status read(const LocationOfArchive& location, const OTF2_EvtReaderCallbacks* callbacks,
              void* receiver);

 private:
  struct Close {
    void operator()(OTF2_Reader* reader) const { OTF2_Reader_Close(reader); }
  };
  Archive() = default;
  static std::string events_of(const LocationOfArchive& location);
  Error failure(const std::string& what, OTF2_ErrorCode code) const;
  Status read_definitions();
  Status read_local_definitions();

  std::string path_, creator_;
  std::uint64_t identity_ = 0;
  std::unique_ptr<OTF2_Reader, Close> reader_;
  ArchiveDefinitions definitions_;
};

}  // namespace kojak::otf2
