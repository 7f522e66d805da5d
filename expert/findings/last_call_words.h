// Where processes stood when their run was ended, in the words that terminal, JSON and page share.
//
// Pure functions on a report; nothing fails; any thread.
#pragma once

#include <string>
#include <vector>

#include "expert/profile/report.h"

namespace kojak::expert {

// Processes that stood at the same call for the same reason.
struct LastCallGroup {
  std::vector<const LastCall*> calls;
  Seconds since, until;  // the first that came there, the last sign of life
};
// Those that wait longest first.
std::vector<LastCallGroup> last_call_groups(const LastCalls& last);

// What is said of such a group, in the parts that a page sets apart.
struct LastCallWords {
  std::string who;     // "rank 0", "ranks 0, 2-5 (5)"
  std::string does;    // "stands in", "are outside of MPI calls that can wait, in", "has called"
  std::string call;    // "MPI_Win_wait at halo.c:118"
  std::string times;   // "since 0.501 s, for 9.499 s"; of MPI_Abort: "at 0.501 s"
  std::string awaits;  // "waits for MPI_Win_complete of rank 1"; empty if nobody is known
};
LastCallWords last_call_parts(const Report& report, const LastCallGroup& group);
// "rank 0 stands in MPI_Win_wait at halo.c:118 since 0.501 s, for 9.499 s, and waits for
// MPI_Win_complete of rank 1."
std::string last_call_words(const Report& report, const LastCallGroup& group);
// "ranks 0 and 1", "ranks 0, 2-5 and 7"
std::string rank_list(const std::vector<std::uint32_t>& ranks, std::string_view word = "rank");
// "Deadlock of ranks 0 and 1: rank 0 is in MPI_Recv at ring.c:13 and waits for a message from rank
// 1, rank 1 is in MPI_Recv at ring.c:13 and waits for a message from rank 0. Rank 2 waits behind
// it."
std::string deadlock_words(const Report& report, const Deadlock& deadlock);
// What kept the run from going on where there is no deadlock: "No deadlock: rank 0 has computed in
// relax (halo.c:9) since 0.403 s, after MPI_Barrier at halo.c:31; ranks 1 and 2 wait for it.", "The
// run was ended while it worked."; empty if nobody knows.
std::string verdict_words(const Report& report);
// Whether a location's last call is a part of a deadlock, or waits behind it; null if not.
const Deadlock* deadlock_at(const Report& report, LocationIndex location, CallPathIndex call_path);

}  // namespace kojak::expert
