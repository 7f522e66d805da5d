// Regions of the program itself: by the API (elg_user.h), in Fortran, and by
// -finstrument-functions.
//
// Each thread has a stack of its open regions, kept also while nothing is recorded: before
// MPI_Init, during a pause, inside of callbacks from MPI. When recording goes on, what was left
// meanwhile is left, and what was entered is entered; so regions balance across pauses at any
// depth. An exit that is not that of the innermost region (a longjmp, an exception) leaves all
// regions above its own. Names that ELG_FILTER excludes cost one look into the thread's cache. A
// thread that enters a region records, whether it calls MPI or not. A signal handler may enter and
// leave regions: they are recorded as any others, unless it interrupts our own work or an MPI call;
// then they are left out, as a whole. Owns the stack; it is given
// back when the thread ends. Nothing fails: without memory for deeper nesting, deeper regions are
// not recorded.
#pragma once

#include <cstdint>

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

struct UserStack {
  struct Entry {
    std::uint64_t key;
    const void* what;  // of the kind that the key tells
    bool written;      // its ENTER is in the file, its EXIT is not
  };
  Entry* entries;
  std::uint64_t capacity;
  std::uint64_t depth;      // regions beyond `capacity` are only counted
  std::uint64_t exits_due;  // of regions left while nothing was recorded
  // Inside of ourselves: what our calls instrument is not recorded, nor what a signal handler does
  // that comes meanwhile.
  const CallFrame* ours;
};
extern thread_local constinit UserStack the_user_stack __attribute__((tls_model("initial-exec")));

// The trace has just been opened: what is open already is entered.
void enter_open_regions(Recorder& r);
// Recording goes on after a pause.
void catch_up_regions(Recorder& r);
// How many exits are needed to end the trace.
std::uint64_t exits_due(const UserStack& stack);
// The thread ends.
void drop_user_stack();

}  // namespace kojak::measure
