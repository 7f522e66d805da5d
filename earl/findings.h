// What a trace or its interpretation has wrong, counted: one row for each kind of finding, with the
// first event where it occurred.
//
// Owned by whoever reads the trace (Trace, Replay). A finding never stops the reading; tools print
// the rows and derive their exit status from their severity. Not thread-safe; nothing fails.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "epilog/format/types.h"

namespace kojak::earl {

enum class Finding : std::uint8_t {
  // the file
  kUnknownRecord,   // a record type that this kojak does not know, skipped by its length
  kShortRecord,     // a body too short for its type, skipped
  kBadDefinition,   // a definition that contradicts itself or others, left out
  kLateDefinition,  // a definition after LAST_DEF, ignored
  kLocalRecord,     // a record that belongs into local traces only, skipped
  kEventCount,      // NUM_EVENTS disagrees with the events that are there
  kDisorder,        // time runs backwards
  // identifiers
  kUnknownLocation,
  kUnknownRegion,
  kUnknownCallSite,
  kUnknownComm,
  kUnknownWindow,
  kUnknownPeer,
  // regions
  kUnbalancedExit,  // an exit record without an open region instance
  kOpenAtEnd,       // a region instance that the trace does not close
  // messages
  kUnmatchedReceive,   // its SEND is not in the trace
  kUnreceivedSend,     // its RECV is not in the trace
  kReceiveBeforeSend,  // RECV read before its SEND: the clocks disagree
  kUnknownRequest,     // a completion names a request that nothing opened
  kNoRequests,         // receives completed by Wait without request ids: posting unknown (classic)
  // collectives
  kIncompleteCollective,
  kMixedCollective,  // members of one instance called different operations
  kUnknownIdentity,  // an operation on a communicator or window that cannot be paired
  kNotAMember,       // a process takes part in a communicator that it is no member of
  // one-sided
  kIncompleteAccess,  // an access transaction that the trace does not complete
  kIncompleteExposure,
  kUnopenedEpoch,        // complete, wait or unlock without start, post or lock
  kUnclosedEpoch,        // start, post or lock while the same epoch is still open
  kUnknownGroup,         // an epoch whose group was not recorded
  kTransferOutsideCall,  // a transfer start outside any region instance
  kMarkedTransfer,       // RMA_MARK: the merge could not place the transfer's end
  kGap,                  // ordinals were taken up again after a gap
  kCount_
};

struct FindingInfo {
  std::string_view name;    // short, stable: "unmatched receive"
  std::string_view advice;  // what it means for the result and what to do
  bool suspect;             // true: results are affected (exit status 3); false: a note
};
const FindingInfo& info(Finding finding);

class Findings {
 public:
  struct Row {
    std::uint64_t count = 0;
    std::uint64_t first_pos = 0;  // event number (definitions: offset in the file)
    LocationId first_loc = absent<LocationId>();
  };
  void add(Finding finding, std::uint64_t pos, LocationId loc = absent<LocationId>(),
           std::uint64_t count = 1) {
    Row& row = rows_[static_cast<std::size_t>(finding)];
    if (row.count == 0) {
      row.first_pos = pos;
      row.first_loc = loc;
    }
    row.count += count;
  }
  const Row& operator[](Finding finding) const { return rows_[static_cast<std::size_t>(finding)]; }
  // f(Finding, const Row&) for every kind that occurred.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].count != 0) f(static_cast<Finding>(i), rows_[i]);
    }
  }
  bool suspect() const {
    bool any = false;
    for_each([&](Finding finding, const Row&) { any = any || info(finding).suspect; });
    return any;
  }

 private:
  std::array<Row, static_cast<std::size_t>(Finding::kCount_)> rows_{};
};

}  // namespace kojak::earl
