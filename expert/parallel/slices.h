// A merged trace cut at meetings at rest into slices, each a trace of its own.
//
// A slice begins, at each location, with its ENTER of one meeting, and ends with its exit from the
// next one; that of the first is the other slice's own, that of the next its own
// (expert/waits/gate.h).
// Where the locations stand at its beginning is told beside it. Reads the file once for the
// meetings, and once for each slice, which it holds in memory. Errors: those of reading.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "earl/standing.h"
#include "epilog/format/io/reader.h"
#include "expert/parallel/meetings.h"
#include "expert/waits/gate.h"

namespace kojak::parallel {

struct Slice {
  std::vector<std::byte> trace;
  std::optional<earl::Standing> standing;  // the first one has none
  expert::Gate gate;
};

class Slices {
 public:
  // `at`: numbers of meetings among all of the run, in the order of time; "all": those at rest.
  static Result<Slices> of(const std::string& file, const std::string& at);

  // Why the run is not cut; empty if it is.
  const std::string& alone() const { return alone_; }
  std::size_t size() const { return cuts_.size() + 1; }
  Result<Slice> slice(std::size_t number) const;

 private:
  std::string choose(const std::string& at);
  std::string file_, alone_;
  std::vector<Meeting> meetings_;
  std::vector<std::size_t> cuts_;  // of these
  std::vector<LocationId> locations_;
};

}  // namespace kojak::parallel
