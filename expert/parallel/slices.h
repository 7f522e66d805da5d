// A merged trace cut at meetings at rest into slices, each a trace of its own.
//
// A slice begins, at each location, with its ENTER of one meeting, and ends with its exit from the
// next one; that of the first is the other slice's own, that of the next its own
// (expert/waits/gate.h). Where the locations stand at its beginning is told beside it.
// Reads the file once for the meetings, and for each slice what lies in it. Memory: at most 2^20
// rows, with where their locations stand, and the definitions of each location. Errors: those of
// reading. Owns all it holds; what was cut may be read by several processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "earl/standing.h"
#include "epilog/format/io/reader.h"
#include "expert/parallel/meetings.h"
#include "expert/waits/gate.h"

namespace kojak::parallel {

class Slices {
 public:
  // Finds the meetings.
  static Result<Slices> of(const std::string& file);
  // Why the run cannot be cut at all; empty if it may.
  const std::string& alone() const { return alone_; }

  // One of these, once; why it cannot be cut so, empty if it was. `at`: numbers of meetings among
  // all of the run, in the order of time; "all": those at rest.
  std::string cut_evenly(std::size_t parts);
  std::string cut_at(const std::string& at);

  std::size_t size() const { return cuts_.size() + 1; }
  std::uint64_t events() const { return events_; }  // of all
  std::uint64_t longest() const;                    // events of the longest slice
  // Null: the run begins there.
  const earl::Standing* standing(std::size_t number) const {
    return number == 0 ? nullptr : &standings_[cuts_[number - 1]];
  }
  // The records of a slice as a trace. The gate is set as they are read; it and this must outlive
  // the source.
  Result<std::unique_ptr<ByteSource>> records(std::size_t number, expert::Gate& gate) const;

 private:
  friend class SliceSource;
  static constexpr std::uint64_t kMarkEvery = 4096;
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  std::size_t index_of(std::uint32_t location) const;

  std::string file_, alone_;
  std::vector<Meeting> meetings_;
  std::vector<earl::Standing> standings_;  // at these, where they are at rest
  std::vector<std::size_t> cuts_;          // of these
  std::vector<LocationId> locations_;
  std::vector<std::uint64_t> marks_;  // where every kMarkEvery-th event begins
  std::uint64_t events_ = 0;
};

}  // namespace kojak::parallel
