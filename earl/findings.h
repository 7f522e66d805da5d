// What a trace or its interpretation has wrong, counted: one row for each kind of finding, with the
// first event where it occurred.
//
// Owned by whoever reads the trace (Trace). A finding never stops the reading; tools print the rows
// and derive their exit status from `suspect`. Not thread-safe; nothing fails.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "epilog/format/types.h"

namespace kojak::earl {

// X(kName, suspect, "name", "advice"): suspect means that results are affected (exit status 3).
#define KOJAK_EARL_FINDINGS(X)                                                                     \
  X(kUnknownRecord, false, "unknown record type",                                                  \
    "written by a newer or foreign tool; the records were skipped")                                \
  X(kShortRecord, true, "record too short", "the file is damaged; the records were skipped")       \
  X(kBadDefinition, true, "bad definition", "it was left out; what refers to it is counted below") \
  X(kLocalRecord, true, "record of a local trace", "merge local traces with elg_merge; skipped")   \
  X(kDisorder, true, "time runs backwards", "the trace is not in time order; merge it again")      \
  X(kUnknownLocation, true, "unknown location", "no definition has it; its events were skipped")   \
  X(kUnknownRegion, true, "unknown region", "no definition has it; its time is under UNKNOWN")     \
  X(kUnknownCallSite, true, "unknown call site",                                                   \
    "no definition has it; its time is under UNKNOWN")                                             \
  X(kUnknownComm, true, "unknown communicator", "no definition has it; nothing on it is paired")   \
  X(kUnknownWindow, true, "unknown window", "no definition has it; nothing on it is paired")       \
  X(kUnknownPeer, true, "unknown peer", "no process has this number; the operation is ignored")    \
  X(kUnbalancedExit, true, "exit without enter", "the exit record was skipped")                    \
  X(kOpenAtEnd, true, "region not left", "its time counts up to the location's last event")        \
  X(kOutsideRegion, true, "event outside any region", "its time is under UNKNOWN")                 \
  X(kUnmatchedReceive, true, "receive without send", "its send was not recorded; not evaluated")   \
  X(kUnreceivedSend, true, "send without receive", "its receive was not recorded; not evaluated")  \
  X(kReceiveBeforeSend, true, "receive before its send",                                           \
    "the clocks disagree; merge with --clock clc")                                                 \
  X(kUnknownRequest, false, "unknown request",                                                     \
    "it began while recording was off; its completion is not evaluated")                           \
  X(kNoRequests, false, "receive without request",                                                 \
    "nothing says where it was posted (classic trace, or posted while recording was off): no "     \
    "Late "                                                                                        \
    "Receiver for it")                                                                             \
  X(kHeldTooLong, true, "receives held too long",                                                  \
    "a receive from any source stayed pending: paired in order of completion instead")             \
  X(kFreedReceive, true, "posted receive freed",                                                   \
    "from any source or with any tag: which message it took is unknown, later ones may be paired " \
    "wrongly")                                                                                     \
  X(kIncompleteCollective, true, "collective incomplete",                                          \
    "a collective, fence, create or free that not all members recorded; it is not evaluated")      \
  X(kIncompleteBegun, false, "collective begun by some members only",                              \
    "the others' part was not recorded or was cut off; it is not evaluated")                       \
  X(kMixedCollective, true, "collective with different operations",                                \
    "the members' counts disagree; it is not evaluated")                                           \
  X(kUnknownIdentity, false, "unknown identity",                                                   \
    "the object was seen first in use (spawn, connect); nothing on it is paired")                  \
  X(kNotAMember, true, "process is no member", "it uses an object that it does not belong to")     \
  X(kIncompleteAccess, true, "access epoch incomplete",                                            \
    "a partner's post or wait was not recorded; evaluated with those present")                     \
  X(kIncompleteExposure, true, "exposure epoch incomplete",                                        \
    "a partner's start or complete was not recorded; evaluated with those present")                \
  X(kUnopenedEpoch, true, "epoch not opened", "complete, wait or unlock without its beginning")    \
  X(kUnclosedEpoch, true, "epoch not closed", "its end was not recorded")                          \
  X(kUnknownGroup, true, "epoch of an unknown group", "its partners are unknown; not evaluated")   \
  X(kMarkedTransfer, true, "transfer not placed",                                                  \
    "the merge could not find its epoch; it takes part in no pattern")                             \
  X(kGap, false, "recording resumed", "counts were taken up again after a pause")

enum class Finding : std::uint8_t {
#define KOJAK_EARL_FINDING(id, suspect, name, advice) id,
  KOJAK_EARL_FINDINGS(KOJAK_EARL_FINDING)
#undef KOJAK_EARL_FINDING
      kCount_
};

struct FindingInfo {
  std::string_view name;    // short, stable: "unmatched receive"
  std::string_view advice;  // what it means for the result, what to do
  bool suspect;             // results are affected (exit status 3); false: a note
};
const FindingInfo& info(Finding finding);

class Findings {
 public:
  struct Row {
    std::uint64_t count = 0;
    std::uint64_t first_pos = 0;  // event number; of definitions: offset in the file
    LocationId first_loc = absent<LocationId>();
  };
  [[gnu::cold]] [[gnu::noinline]] void add(Finding finding, std::uint64_t pos,
                                           LocationId loc = absent<LocationId>(),
                                           std::uint64_t count = 1);
  const Row& operator[](Finding finding) const { return rows_[static_cast<std::size_t>(finding)]; }
  // f(Finding, const Row&) for every kind that occurred.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].count != 0) f(static_cast<Finding>(i), rows_[i]);
    }
  }
  bool suspect() const;

 private:
  std::array<Row, static_cast<std::size_t>(Finding::kCount_)> rows_{};
};

}  // namespace kojak::earl
