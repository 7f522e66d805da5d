// Who waits for whom in a call of several processes: which entering is the cause of which leaving.
//
// Only what a trace can prove. kAll: whoever leaves with data leaves after all who entered with
// data. kLower (prefix reductions): after those of lower rank in the communicator. kSupply
// (MPI_Alltoallv, MPI_Alltoallw): nobody knows who sent what to whom, but nobody can leave before
// so many have entered that they, with what it sent itself, had as much to send as it received. So
// a process that received no more than it sent, some of it maybe its own, waits for nobody
// provably. Values only; not thread-safe; nothing fails. O(n log n) in the members. Source:
// MPI 3.1, sections 5.3 to 5.11.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace kojak::merge {

enum class CallRule : std::uint8_t { kAll, kLower, kSupply };

// One member at its exit.
struct CallMember {
  std::uint32_t process = 0;
  std::uint32_t order = 0;  // kLower: its place in the communicator
  double enter = 0;
  bool cause = false;               // it enters before others can leave
  bool effect = false;              // it leaves after others have entered
  std::uint64_t sent = 0, got = 0;  // kSupply, bytes
};

inline constexpr std::size_t kNoMember = static_cast<std::size_t>(-1);

// For each member the one whose entering is the last that it needs; kNoMember where there is none.
// Of equal times, that of the higher process is the later one.
std::vector<std::size_t> last_needed(const std::vector<CallMember>& members, CallRule rule);

// For each member the latest time at which it may enter, if the members leave at `exits`: before
// all leave that need it. Infinity where none does.
std::vector<double> latest_enters(const std::vector<CallMember>& members, CallRule rule,
                                  const std::vector<double>& exits);

}  // namespace kojak::merge
