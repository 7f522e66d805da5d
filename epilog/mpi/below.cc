#include "epilog/mpi/below.h"

#include "epilog/mpi/args.h"
#include "epilog/mpi/mpi.h"

namespace kojak::measure {
namespace {

// The innermost note of this thread, if the call that it is about has not been left by a longjmp.
// When that is found out the note is dropped (drop_innermost), but somebody may call us before.
BelowNote* innermost(Recorder& r, const void* here) {
  BelowNote* const note = r.below;
  if (note == nullptr) return nullptr;
  if (r.frame == nullptr || !is_open(r.frame, here) || note->frame != r.frame) {
    r.below = nullptr;
    return nullptr;
  }
  return note;
}

}  // namespace

BelowCall::BelowCall(unsigned function, MpiFamily family, const BelowArguments& asked)
    : note_{function, family, the_recorder.below, the_recorder.frame, asked, BelowNote::kNothing,
            {}} {
  the_recorder.below = &note_;
}

BelowCall::~BelowCall() {
  Recorder& r = the_recorder;
  r.below = note_.outer;
  // Made of calls by their names: what the inner one was about says what the outer one was.
  BelowNote* const outer = innermost(r, __builtin_frame_address(0));
  if (outer == nullptr || note_.found == BelowNote::kNothing ||
      outer->found != BelowNote::kNothing || outer->family != note_.family) {
    return;
  }
  outer->found = BelowNote::kFamily;
  outer->arguments = note_.arguments;
}

void note_below(unsigned function, MpiFamily family, const BelowArguments& arguments,
                const void* caller) {
  BelowNote* const note = innermost(the_recorder, __builtin_frame_address(0));
  if (note == nullptr || note->family != family || !the_mpi.is_between(caller)) return;
  if (note->function == function) {
    const bool to_nobody = arguments.to == MPI_PROC_NULL && note->found == BelowNote::kFunction;
    if (note->found == BelowNote::kAsAsked || to_nobody) return;
    note->found = arguments == note->asked ? BelowNote::kAsAsked : BelowNote::kFunction;
  } else if (note->found == BelowNote::kNothing) {
    note->found = BelowNote::kFamily;
  } else {
    return;
  }
  note->arguments = arguments;
}

bool is_own_call_below(unsigned function, const void* caller) {
  if (!is_live() || the_mpi.between_count == 0 || !the_mpi.is_between(caller)) return false;
  const BelowNote* note = innermost(the_recorder, __builtin_frame_address(0));
  for (; note != nullptr; note = note->outer) {
    // What follows the call that the program asked for is the library's own.
    if (note->function == function) return note->found == BelowNote::kAsAsked;
  }
  return true;
}

}  // namespace kojak::measure
