// A run cut at meetings at rest into slices, each a trace of its own.
//
// A slice begins, at each location, with its ENTER of one meeting, and ends with its exit from the
// next one; that of the first is the other slice's own, that of the next its own
// (expert/waits/gate.h). Where the locations stand at its beginning is told beside it. What was cut
// may be read by several processes, each a copy of the one that cut it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "earl/standing.h"
#include "epilog/format/error.h"
#include "epilog/format/io/reader.h"
#include "expert/parallel/meetings.h"
#include "expert/waits/gate.h"

namespace kojak::parallel {

class Slices {
 public:
  virtual ~Slices() = default;
  // Why the run cannot be cut at all; empty if it may.
  const std::string& alone() const { return alone_; }

  // One of these, once; why it cannot be cut so, empty if it was. `at`: numbers of meetings among
  // all of the run, in the order of time; "all": those at rest; "/N": into N about equal parts.
  std::string cut_evenly(std::size_t parts);
  std::string cut_at(const std::string& at);

  const std::vector<std::size_t>& cuts() const { return cuts_; }  // numbers of meetings
  std::size_t size() const { return cuts_.size() + 1; }
  std::uint64_t percent_of_longest() const;  // of the whole run

  // Null: the run begins there.
  virtual const earl::Standing* standing(std::size_t number) = 0;
  // The records of a slice as a trace. The gate is set as they are read; it and this must outlive
  // the source.
  virtual Result<std::unique_ptr<ByteSource>> records(std::size_t number, expert::Gate& gate) = 0;
  // When they have been read: why they are not a slice after all; empty if they are.
  virtual Result<std::string> finish() { return std::string(); }
  // The events that are a slice's own, of which so many were read.
  virtual std::uint64_t own_events(std::size_t number, std::uint64_t read) const = 0;
  // One process reads the whole run instead: what only slices need goes.
  virtual void forget() {}

 protected:
  // In the middle of the run, or at its ends: null.
  const Meeting* begin_of(std::size_t number) const {
    return number == 0 ? nullptr : &meetings_[cuts_[number - 1]];
  }
  const Meeting* end_of(std::size_t number) const {
    return number == cuts_.size() ? nullptr : &meetings_[cuts_[number]];
  }
  std::string alone_;
  std::vector<Meeting> meetings_;
  std::vector<std::size_t> cuts_;  // of these
  std::uint64_t length_ = 0;       // of the run, as Meeting::done
};

// Why a trace with these definitions cannot be cut; null if it may.
const char* why_alone(const Definitions& definitions, const Dialect& dialect);

}  // namespace kojak::parallel
