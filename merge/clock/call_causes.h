// Who waits for whom in a call of several processes: which entering is the cause of which leaving.
//
// Only dependencies that a trace can prove count. kAll: a member that leaves with data leaves
// after all members that entered with data. kLower (prefix reductions): after those of lower rank
// in the communicator. kSupply (MPI_Alltoallv, MPI_Alltoallw): nobody knows who sent what to whom,
// but nobody can leave before so many have entered that they, with what it sent itself, had as much
// to send as it received. So for a process that received no more than it sent, it cannot be proved
// that it waited for anybody: all of it may be its own data. kAcross and kAcrossSupply are the same
// on an intercommunicator: whoever leaves needs those of the other group only, and keeps nothing of
// its own. kNear and kNearSupply: it needs its neighbours only (MPI_Neighbor_alltoallv and
// MPI_Neighbor_alltoallw: the latter). Values only. O(n log n) in
// the members and their neighbours. Source: MPI 3.1, sections 5.2.2 to 5.11 and 7.6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace kojak::merge {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

enum class CallRule : std::uint8_t {
  kAll,
  kLower,
  kSupply,
  kAcross,
  kAcrossSupply,
  kNear,
  kNearSupply,
};
inline bool counts_supply(CallRule rule) {
  return rule == CallRule::kSupply || rule == CallRule::kAcrossSupply ||
         rule == CallRule::kNearSupply;
}

// A member at its exit.
struct CallMember {
  std::uint32_t process = 0;
  std::uint32_t order = 0;  // kLower: its place in the communicator; across: its group, 0 or 1
  double enter = 0;
  bool cause = false;               // it enters before others can leave
  bool effect = false;              // it leaves after others have entered
  std::uint64_t sent = 0, got = 0;  // bytes, where the rule counts them
};

inline constexpr std::size_t kNoMember = static_cast<std::size_t>(-1);
// For each member the indices of its neighbours, each once: itself where it is its own, kNoMember
// for those who have not come.
using CallNeighbours = std::vector<std::vector<std::size_t>>;

// For each member the one whose entering is the last that it needs; kNoMember where there is none.
// If two times are equal, that of the higher process is the later one. `neighbours` for kNear,
// kNearSupply.
std::vector<std::size_t> last_needed(const std::vector<CallMember>& members, CallRule rule,
                                     const CallNeighbours& neighbours = {});

// For each member the latest time at which it may enter, if the members leave at `exits`: before
// all leave that need it. Infinity where none does.
std::vector<double> latest_enters(const std::vector<CallMember>& members, CallRule rule,
                                  const std::vector<double>& exits,
                                  const CallNeighbours& neighbours = {});

}  // namespace kojak::merge
