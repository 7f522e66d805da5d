// The local trace of one location, as kojak's own measurement would have written it.
//
// Writes a definition when the first event needs it, since definitions and events may be mixed in
// local traces. Numbers of regions, communicators and windows are the trace's own; communicators
// and windows carry identities made of the archive's numbers, by which the merge knows them. The
// file appears when commit() succeeds. Errors: exit code 4, remembered until
// commit(). Source: docs/format.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "epilog/format/io/writer.h"
#include "epilog/format/mpi_functions.h"
#include "tools/otf2elg/archive.h"

namespace kojak::otf2 {

class LocalTrace {
 public:
  static Result<LocalTrace> create(const std::string& path, const ArchiveDefinitions& definitions,
                                   const LocationOfArchive& location, std::uint64_t identity);

  LocationId lid() const { return lid_; }
  std::uint32_t rank() const { return rank_; }

  struct Region {
    RegionId id{};
    const MpiFunction* function = nullptr;
    bool openmp_barrier = false;
  };
  const Region& region(OTF2_RegionRef ref);
  // The program, as the region around all others.
  RegionId program(OTF2_StringRef name);
  // The place from which a region is entered; absent if the archive does not define it.
  CallSiteId site(OTF2_SourceCodeLocationRef place, RegionId entered);

  // Absent where the archive does not say which processes it has.
  CommId comm(OTF2_CommRef ref);
  CommId group(OTF2_GroupRef ref);
  CommId world();
  WindowId window(OTF2_RmaWinRef ref);
  // A new window of that number is made: by which call, decides its flavour.
  void window_is_made(OTF2_RmaWinRef ref, std::string_view call);
  // The world rank of a rank of a communicator or window; kNobody if there is none.
  std::uint32_t peer(OTF2_CommRef ref, std::uint32_t rank) const;
  std::uint32_t window_peer(OTF2_RmaWinRef ref, std::uint32_t rank) const;

  template <class Record>
  void write(const Record& record) {
    writer_.write(record);
  }
  // Where the next record will stand, and to write another of the same size there later.
  std::uint64_t offset() const { return writer_.offset(); }
  template <class Record>
  void replace(std::uint64_t offset, const Record& record) {
    std::byte bytes[kMaxRecord];
    const std::size_t size = encode(record, writer_.dialect(), bytes);
    static_cast<void>(writer_.overwrite(offset, bytes, size));  // remembered until commit()
  }
  Status commit() { return writer_.commit(); }

 private:
  LocalTrace(TraceWriter writer, const ArchiveDefinitions& definitions, std::uint32_t rank);
  void write_location(const LocationOfArchive& location);
  void write_topologies();
  StringId string(const std::string& text);
  FileId file(const std::string& name);
  CommId define_comm(const std::vector<std::uint32_t>& ranks, std::uint64_t kind,
                     std::uint64_t number, std::uint8_t flags,
                     const std::vector<std::uint32_t>& others = {});

  TraceWriter writer_;
  const ArchiveDefinitions& definitions_;
  std::uint32_t rank_;
  LocationId lid_;
  std::unordered_map<std::string, StringId> strings_;
  std::unordered_map<std::string, FileId> files_;
  std::unordered_map<OTF2_RegionRef, Region> regions_;
  std::map<std::pair<OTF2_SourceCodeLocationRef, RegionId>, CallSiteId> sites_;
  std::unordered_map<OTF2_CommRef, CommId> comms_;
  std::unordered_map<OTF2_GroupRef, CommId> groups_;
  struct Window {
    WindowId id = absent<WindowId>();
    std::uint64_t made = 0;  // how often a window of this number was
    std::uint8_t flavour = 0;
  };
  std::unordered_map<OTF2_RmaWinRef, Window> windows_;
  std::optional<RegionId> program_;
  CommId world_ = absent<CommId>();
  std::uint32_t next_region_ = 0, next_comm_ = 0, next_group_ = 0, next_window_ = 0;
};

}  // namespace kojak::otf2
