// Records of which what they tell is not added up yet, or of which a count has to go on: local ones
// and merged ones.
#pragma once

#include <cstdint>

#include "epilog/format/record/records.h"

namespace kojak::parallel {

// What they tell of; null of all others.
constexpr const char* not_added(std::uint8_t type) {
  switch (static_cast<RecordType>(type)) {
    case RecordType::kMpiPolled:
    case RecordType::kMpiPoll:
    case RecordType::kMpiPollCall:
      return "polls";
    case RecordType::kMpiOpenCall:
    case RecordType::kMpiAwaits:
    case RecordType::kProcessEnded:
      return "calls that never ended";
    case RecordType::kOmpFork:
    case RecordType::kOmpTeam:
    case RecordType::kOmpALock:
    case RecordType::kOmpCollExit:
      return "OpenMP";
    case RecordType::kLogOff:
    case RecordType::kWinState:
    case RecordType::kEpochState:
    case RecordType::kCollState:
    case RecordType::kMsgState:
    case RecordType::kMsgRestarted:
    case RecordType::kRequestState:
      return "pauses of the recording";
    default:
      return nullptr;
  }
}

}  // namespace kojak::parallel
