// Where the processes of a run stood that was ended before they were, as a report holds it.
//
// Plain values, made by LastCallFinder; last_call_words.h puts them into words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epilog/format/mpi_functions.h"
#include "epilog/format/record/types.h"
#include "epilog/format/shmem_functions.h"

namespace kojak::expert {

inline constexpr std::uint32_t kNoDeadlock = ~std::uint32_t{0};
inline constexpr std::uint32_t kLeftNone = ~std::uint32_t{0};

// What a call waits for.
enum class AwaitedThing : std::uint8_t {
  kNothing,   // nobody is known to be missing
  kMessage,   // to be sent
  kOwnParts,  // of a message, which the process itself has not given away
  kReceive,   // to be posted
  kMembers,   // of a collective operation, a communicator, a window, a file, the run
  kPost,      // of an exposure epoch
  kComplete,  // of an access epoch
  kHolder,    // of a lock, which is proven to have it
  kAsker,     // of a lock, who asked for it and may have it
  kProgress,  // of the MPI library at another process
  kWrite,     // to a variable
  kClearLock  // of SHMEM's
};

// Where one location stood.
struct LastCall {
  std::uint32_t location = 0;   // the analysis's number of it
  std::uint32_t call_path = 0;  // likewise
  std::uint32_t process = 0;
  const MpiFunction* function = nullptr;  // null: outside MPI
  const ShmemFunction* shmem = nullptr;   // null: outside SHMEM's calls that can wait
  Seconds since, until;
  // Outside MPI: the function that it computes since then, as most of its samples say, at the line
  // with the most of them. Absent without samples.
  CallSiteId computes = absent<CallSiteId>();
  CallSiteId awaited_computes = absent<CallSiteId>();  // the one that it waits for, likewise
  std::string awaits;  // "MPI_Win_post of rank 1"; empty if nobody is known to be missing
  std::vector<std::uint32_t> ranks;  // who did not come, ascending
  bool any = false;                  // one of them would have been enough
  AwaitedThing thing = AwaitedThing::kNothing;
  enum class State : std::uint8_t {
    kWaits,     // for somebody
    kComputes,  // outside of calls that can wait
    kInCall,    // in a call of which nobody is known to be missing
    kEnded,     // long before the others
    kPolls,     // its last calls asked whether something is there
    kUnknown    // nothing says what it did: see `unrecorded`
  } state = State::kInCall;
  std::uint32_t after = kLeftNone;  // outside MPI: the call of MPI or SHMEM that it left last
  std::uint64_t polls = 0;          // how many calls in a row asked, up to the end
  // "a message from rank 3 (tag 1)": what the series that was open, or the last of them, asked for
  // first. Empty if that is not known, as with a single MPI_Iprobe.
  std::string polls_for;
  bool polls_for_more = false;  // there may be others
  bool other_world = false;     // processes of another MPI_COMM_WORLD can end it, too
  // Why what it did at the end is unknown; null where that is known.
  const char* unrecorded = nullptr;
  const char* incomplete = nullptr;      // why not all that it did before is known
  std::uint32_t deadlock = kNoDeadlock;  // in or behind which it waits, of LastCalls

  double seconds() const { return (until - since).value; }
};

// Processes of which none can go on, since each waits for others of them.
struct Deadlock {
  std::vector<std::uint32_t> ranks, behind;  // ascending; and those that wait for them
  bool certain = true;                       // false: another thread of one of them may call MPI
};

struct LastCalls {
  std::vector<LastCall> calls;        // by location
  std::string library = "MPI";        // whose calls can wait: also SHMEM, or both; UPC
  std::string_view process = "rank";  // what one is called
  std::vector<Deadlock> deadlocks;
  // What would be deadlocks if all had been recorded that their processes did.
  std::vector<Deadlock> unsure;
  std::vector<std::uint32_t> traceless;  // awaited processes that have no trace

  bool empty() const { return calls.empty(); }
};

}  // namespace kojak::expert
