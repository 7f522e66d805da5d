// Calls that returned an error.
//
// MPI_ERROR tells of one, before the exit of the call. What the call is asked about costs nothing
// where it succeeded: its class is looked up after it has failed. Of its arguments nothing is
// counted; the hooks say what of it happened all the same. Callers hold the bookkeeping lock where
// they look at objects.
#pragma once

#include <bitset>

#include "epilog/mpi/define.h"
#include "epilog/mpi/window.h"
#include "epilog/runtime/call.h"

namespace kojak::measure {

// A hook's `result` where the call has succeeded and what it did could not be looked at: there was
// no memory. Nothing is recorded of it, and it has not failed.
inline constexpr int kNotSeen = -0x6B6F6A;

// The class of an error code: the MPI library's own constant.
[[gnu::cold, gnu::noinline]] int error_class_of(int code);
// Whether a collective call that failed so has looked at its arguments only.
[[gnu::cold, gnu::noinline]] bool took_no_part(int code);
// MPI_ERROR. Leaves room for the other records of the call.
[[gnu::cold, gnu::noinline]] void record_failure(Recording& call, int code);
// The end of a call without a hook that failed, instead of end_call().
[[gnu::cold, gnu::noinline]] void end_failed_call(PlainCall& call, int code);

// Records each class of errors that statuses tell of, once.
class ToldErrors {
 public:
  template <class C>
  void tell(int code, C& call) {
    if constexpr (C::kOn) {
      if (is_new(code)) record_failure(call, code);
    }
    any_ = true;
  }
  bool any() const { return any_; }

 private:
  bool is_new(int code);
  std::bitset<256> classes_;  // by number
  bool any_ = false;
};

// A collective call on the communicator failed in its midst: the others may have counted it. From
// now on this process's calls there are paired with nobody's.
[[gnu::cold, gnu::noinline]] void lose_count(Comm& comm);
[[gnu::cold, gnu::noinline]] void lose_count(Window& window);
// Writes into the trace that the count is lost.
[[gnu::cold, gnu::noinline]] void record_lost_count(Recording& call, Comm& comm);
[[gnu::cold, gnu::noinline]] void record_lost_count(Recording& call, Window& window);

// After a collective call on an object: its count is lost if that call failed and may have begun.
template <class O, class C>
[[gnu::cold, gnu::noinline]] void failed_collective(O* object, int code, C& call) {
  if (object == nullptr || object->count_lost || code == kNotSeen || took_no_part(code)) return;
  lose_count(*object);
  if constexpr (C::kOn) record_lost_count(call, *object);
}

// After a call that makes something of a communicator, which counted there before it failed.
template <class C>
[[gnu::cold, gnu::noinline]] void failed_creation(Comm* parent, int code, C& call) {
  if (parent == nullptr || parent->count_lost || code == kNotSeen) return;
  if (took_no_part(code)) {
    --parent->created;
  } else {
    failed_collective(parent, code, call);
  }
}

}  // namespace kojak::measure
