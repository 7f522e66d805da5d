// Checks a trace, merged or local, against the rules of the format.
//
// verify_trace() reads to the end and returns every kind of finding once, with its count and the
// offset of the first. It checks lengths, identifiers (merged: defined at all, and references
// before the events; local: before use), order of definitions and events, the number of events,
// the order of times, that regions are entered and left in pairs on each location, that exit
// records leave a region of their kind, attributes and byte counts, and what does not belong in
// this kind of file. Records of unknown type are skipped by their length, one finding for each
// type. Memory grows with definitions and open regions, whatever the file says. Fatal is only what
// TraceReader::open refuses, and the classic tools' local archives. Source:
// docs/format.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "epilog/format/error.h"
#include "epilog/format/io/reader.h"

namespace kojak {

// Note: nothing is wrong with results. Warning: something was skipped or is doubtful. Error: the
// file breaks the format.
enum class Level : std::uint8_t { kNote, kWarning, kError };

struct Finding {
  Level level = Level::kNote;
  std::uint8_t type = 0;  // of the record, 0 if it is about the file
  std::string field;      // or empty
  std::string what;
  std::string advice;
  std::uint64_t first_offset = 0;
  std::uint64_t count = 0;

  // "MPI_PUT_1TS.wid: no window ... is defined (3 times, first at offset 120; advice)"
  std::string message() const;
};

struct Verification {
  std::vector<Finding> findings;  // errors first, then by offset
  std::uint64_t records = 0;
  std::uint64_t events = 0;
  bool local = false;

  // The worst of the findings; kNote if there are none.
  Level worst() const;
};

// Reads from the reader's position, which is that behind the header. `progress` is called from time
// to time with the offset reached.
Result<Verification> verify_trace(TraceReader& reader,
                                  const std::function<void(std::uint64_t)>& progress = {});

// The error for a file whose events come without the definitions of a merged trace: a local file of
// the classic tools, which lacks the location in its events.
Error classic_local_archive(const std::string& path, std::uint64_t offset);

}  // namespace kojak
