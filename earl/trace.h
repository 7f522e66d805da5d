// A merged trace opened for reading: definitions first, then its events one after the other.
//
// Native and classic, plain, gzip, pipe ("-"). The trace owns reader and definitions. open() fails
// for what is no merged trace (a local trace is named as such, with the remedy) and for one that
// ends inside its definitions. Damage among the events ends them
// early: next() returns false and damage() says where; all events before it were delivered.
// Recoverable faults are counted in findings(). Not thread-safe; several Traces of one file are
// fine. Source: docs/earl.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "earl/event.h"
#include "earl/findings.h"
#include "epilog/format/definitions.h"
#include "epilog/format/io/reader.h"

namespace kojak::earl {

class Trace {
 public:
  static Result<Trace> open(const std::string& path);
  static Result<Trace> from(std::unique_ptr<ByteSource> source, std::string name);

  const Definitions& definitions() const { return *definitions_; }
  const std::string& path() const { return reader_.path(); }
  bool native() const { return reader_.dialect().native(); }
  const Dialect& dialect() const { return reader_.dialect(); }
  // Where the next record stands in the (uncompressed) file.
  std::uint64_t offset() const { return reader_.offset(); }
  // Where in the file the record with this offset stands, for messages.
  std::uint64_t place(std::uint64_t offset) const { return reader_.place(offset); }
  // What NUM_EVENTS says; a truncated trace has fewer.
  std::optional<std::uint64_t> declared_events() const { return definitions_->event_count; }

  // Locations have dense numbers ("index"), in ascending order of their identifiers.
  std::uint32_t location_count() const { return static_cast<std::uint32_t>(locations_.size()); }
  LocationId location(std::uint32_t index) const { return locations_[index]; }
  // kAbsent if no definition introduced it.
  KOJAK_INLINED std::uint32_t index(LocationId id) const {
    const std::uint32_t i = raw(id);
    return i < dense_ ? i : find_index(i);
  }
  const LocationDef& location_def(std::uint32_t index) const { return location_defs_[index]; }
  ProcessId process(std::uint32_t index) const { return location_defs_[index].process; }
  // One more than the largest world rank.
  std::uint32_t process_count() const { return processes_; }
  // The location of a process's thread 0, kAbsent if its trace is missing.
  std::uint32_t main_index(ProcessId process) const;
  // Bound of the clocks' error between two locations; 0 within a node and where it is unknown.
  Seconds delta(std::uint32_t index_a, std::uint32_t index_b) const;
  Seconds delta(ProcessId a, ProcessId b) const;
  // The largest of all: that of the two nodes with the largest errors.
  Seconds max_delta() const { return max_delta_; }
  bool has_clock_errors() const { return has_clock_errors_; }

  // Regions TRACING and PAUSING, added to the definitions where the trace has none.
  RegionId tracing_region() const { return tracing_; }
  RegionId pausing_region() const { return pausing_; }

  // What stands for regions that no definition introduced.
  RegionId unknown_region() const { return unknown_; }
  bool known_region(RegionId id) const { return definitions_->regions.find(id) != nullptr; }

  // The next event; false at the end or at damage. Counts unknown and short records on its way.
  bool next(Event& event);
  // When the next event is, which is still to be read; nothing if there is none, or attributes
  // stand before it in great number.
  std::optional<Seconds> next_time();
  std::uint64_t events_read() const { return pos_; }
  const std::optional<Error>& damage() const { return damage_; }
  const Findings& findings() const { return findings_; }
  Findings& findings() { return findings_; }

 private:
  friend class EventLoop;
  explicit Trace(TraceReader reader);
  Status read_definitions();
  void add_regions();
  void index_locations();
  std::uint32_t find_index(std::uint32_t id) const;
  // A definition or attribute among the events; true if it was an attribute.
  bool other_record(const RawRecord& record, Attributes& attributes, std::uint64_t pos);
  void finish(bool damaged);  // at the end of the events

  TraceReader reader_;
  std::unique_ptr<Definitions> definitions_;
  Findings findings_;
  std::optional<Error> damage_;
  std::vector<LocationId> locations_;
  std::vector<LocationDef> location_defs_;
  std::vector<std::uint32_t> main_index_;  // by process
  std::vector<double> node_error_;         // by location index, -1 unknown
  std::uint32_t dense_ = 0;                // identifiers below it are their own index
  std::uint32_t processes_ = 0;
  RegionId tracing_{}, pausing_{}, unknown_{};
  bool has_clock_errors_ = false;
  Seconds max_delta_;
  std::uint64_t pos_ = 0;
};

}  // namespace kojak::earl
