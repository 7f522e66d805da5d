// What a trace or its interpretation has wrong, counted: one row for each kind of finding, with the
// first event where it occurred.
//
// Owned by whoever reads the trace (Trace). A finding never stops the reading; tools print the rows
// and derive their exit status from `suspect`.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "epilog/format/check/trace_gaps.h"
#include "epilog/format/record/types.h"

namespace kojak::earl {

// X(kName, suspect, "name", "advice"): suspect means that results are affected (exit status 3). The
// name is for in_number(). The first three are what all tools say alike.
#define KOJAK_EARL_FINDINGS(X)                                                                    \
  X(kUnknownRecord, kUnknownRecords.suspect, kUnknownRecords.what, kUnknownRecords.advice)        \
  X(kShortRecord, kDamagedRecords.suspect, kDamagedRecords.what, kDamagedRecords.advice)          \
  X(kBadDefinition, kBadDefinitions.suspect, kBadDefinitions.what, kBadDefinitions.advice)        \
  X(kLocalRecord, true, "{record|records} of a local trace",                                      \
    "skipped; merge local traces with elg_merge")                                                 \
  X(kDisorder, true, "{event|events} earlier than the event before",                              \
    "the trace is not in the order of time; merge it again")                                      \
  X(kUnknownLocation, true, "{event|events} of an unknown location",                              \
    "the location has no definition; these events were skipped")                                  \
  X(kUnknownRegion, true, "{event|events} of an unknown region",                                  \
    "the region has no definition; its time is under UNKNOWN")                                    \
  X(kUnknownCallSite, true, "{event|events} of an unknown call site",                             \
    "the call site has no definition; its time is under UNKNOWN")                                 \
  X(kUnknownComm, true, "{event|events} on an unknown communicator",                              \
    "the communicator has no definition; nothing on it is paired between processes")              \
  X(kUnknownWindow, true, "{event|events} on an unknown window",                                  \
    "the window has no definition; nothing on it is paired between processes")                    \
  X(kUnknownPeer, true, "{operation|operations} with an unknown process",                         \
    "no process has this number; the operation is ignored")                                       \
  X(kUnbalancedExit, true, "{exit|exits} without enter", "the exit record was skipped")           \
  X(kOpenAtEnd, true, "{region|regions} not left",                                                \
    "the region's time counts up to the last event of its location")                              \
  X(kOutsideRegion, true, "{event|events} outside any region", "the time is under UNKNOWN")       \
  X(kUnmatchedReceive, true, "{receive|receives} without send",                                   \
    "the send was not recorded; patterns leave such a receive out")                               \
  X(kUnreceivedSend, true, "{send|sends} without receive",                                        \
    "the receive was not recorded; patterns leave such a send out")                               \
  X(kReceiveBeforeSend, true, "{receive before its send|receives before their sends}",            \
    "the clocks disagree (merge with --clock clc), or a send was not recorded and its receive "   \
    "has got the next one")                                                                       \
  X(kUnknownRequest, false, "{completion|completions} of an unknown request",                     \
    "the operation began while recording was off; patterns leave its completion out")             \
  X(kNoRequests, false, "{receive|receives} without request",                                     \
    "the trace does not say where the receive was posted (a classic trace, or recording was "     \
    "off): no Late Receiver is computed for it")                                                  \
  X(kHeldTooLong, true, "{receive|receives} held too long",                                       \
    "a receive from any source stayed pending: messages were paired in the order of completion "  \
    "instead")                                                                                    \
  X(kUncertainReceive, false, "{receive|receives} of an uncertain sender",                        \
    "recording paused or ended while a receive posted earlier, which could have taken the same "  \
    "message, was open, or counts of messages began anew (MSG_RESTARTED): patterns leave it out") \
  X(kFreedReceive, true, "posted {receive|receives} freed",                                       \
    "it took a message from any source or with any tag: nobody knows which, and later messages "  \
    "may be paired wrongly")                                                                      \
  X(kIncompleteCollective, true, "{collective operation|collective operations} incomplete",       \
    "a collective call, a fence, or the creation or freeing of a window that not all members "    \
    "recorded; patterns leave it out")                                                            \
  X(kCountLost, false, "{count|counts} of collective calls lost",                                 \
    "such a call failed in its midst: the later ones of that process on that communicator or "    \
    "window are paired with nobody's, and patterns leave the operations out")                     \
  X(kIncompleteBegun, false,                                                                      \
    "{collective operation|collective operations} begun by some members only",                    \
    "what the others did was not recorded or was cut off; patterns leave the operation out")      \
  X(kMixedCollective, true,                                                                       \
    "{collective operation|collective operations} in which members call different functions",     \
    "the members' counts of operations disagree; patterns leave these out")                       \
  X(kUnknownIdentity, false, "{object|objects} of unknown identity",                              \
    "recording saw the communicator or window first in use (spawn, connect); nothing on it is "   \
    "paired between processes")                                                                   \
  X(kNotAMember, true, "{use|uses} of an object by a process that is no member",                  \
    "the trace contradicts itself; merge it again")                                               \
  X(kIncompleteAccess, true, "{access epoch|access epochs} incomplete",                           \
    "the post or wait of a partner was not recorded; waits are computed for the partners that "   \
    "are there")                                                                                  \
  X(kIncompleteExposure, true, "{exposure epoch|exposure epochs} incomplete",                     \
    "the start or complete of a partner was not recorded; waits are computed for the partners "   \
    "that are there")                                                                             \
  X(kUnopenedEpoch, true, "{epoch|epochs} not opened",                                            \
    "a complete, wait or unlock without its start, post or lock")                                 \
  X(kUnclosedEpoch, true, "{epoch|epochs} not closed", "the end was not recorded")                \
  X(kUnknownGroup, true, "{epoch|epochs} of an unknown group",                                    \
    "nobody knows the partners; patterns leave the epoch out")                                    \
  X(kMarkedTransfer, true, "{transfer|transfers} not placed",                                     \
    "the merge could not find the epoch; patterns leave such a transfer out")                     \
  X(kGap, false, "{pause|pauses} of the recording",                                               \
    "counts of fences, epochs and messages went on after it")

enum class Finding : std::uint8_t {
#define KOJAK_EARL_FINDING(id, suspect, name, advice) id,
  KOJAK_EARL_FINDINGS(KOJAK_EARL_FINDING)
#undef KOJAK_EARL_FINDING
      kCount_
};

struct FindingInfo {
  std::string_view name;    // for in_number(): "{receive|receives} without send"
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
  // From now on only those are counted for which this says so: of the event with that number, at
  // that location or (absent) at none.
  void count_only(std::function<bool(std::uint64_t pos, LocationId loc)> counts) {
    counts_ = std::move(counts);
  }
  // What was found in another part of the trace, behind this one.
  void add(const Findings& other) {
    other.for_each([&](Finding finding, const Row& row) {
      add(finding, row.first_pos, row.first_loc, row.count);
    });
  }
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
  std::function<bool(std::uint64_t, LocationId)> counts_;
};

}  // namespace kojak::earl
