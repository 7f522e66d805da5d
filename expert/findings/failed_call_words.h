// Calls that failed, in the words that terminal, JSON and page share.
//
// Pure functions on a report; nothing fails; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "expert/profile/report.h"

namespace kojak::expert {

// Calls of one function at one place that failed with one class of error.
struct FailedCallGroup {
  std::string function, place;  // "MPI_Put", "halo.c:22"; no place where it is not known
  std::uint8_t error_class = 0;
  std::vector<std::uint32_t> ranks;  // rising
  std::uint64_t count = 0;
  Seconds first;
  CallPathIndex call_path = 0;                            // of one of them
  std::vector<std::pair<LocationIndex, Seconds>> firsts;  // of each call path and location
};
// The most frequent first.
std::vector<FailedCallGroup> failed_call_groups(const Report& report);
// "MPI_ERR_RMA_SYNC"
std::string_view error_name(const FailedCallGroup& group);
// "MPI_Put failed 400 times at halo.c:22 on ranks 0-3: MPI_ERR_RMA_SYNC (wrong synchronization of
// RMA calls); nothing was transferred."
std::string failed_call_words(const FailedCallGroup& group);
// "408 calls failed, most of them MPI_Put at halo.c:22"; empty if none did.
std::string failed_calls_in_short(const Report& report);

}  // namespace kojak::expert
