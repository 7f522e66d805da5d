#include "epilog/mpi/below.h"

#include "epilog/mpi/args.h"
#include "epilog/mpi/mpi.h"

namespace kojak::measure {
namespace {

BelowNote* unused_notes = nullptr;

// The note of the innermost call. Those of calls that were left by a longjmp are given back.
KOJAK_INLINED inline BelowNote* innermost(Recorder& r, const void* here) {
  while (r.below != nullptr && !is_open(r.below->frame, here)) {
    BelowNote* const left = r.below;
    r.below = left->outer;
    give_back(left);
  }
  return r.below != nullptr && r.below->frame == r.frame ? r.below : nullptr;
}

}  // namespace

void begin_below(unsigned function, MpiFamily family, BelowArguments asked) {
  Recorder& r = the_recorder;
  const void* const here = __builtin_frame_address(0);
  innermost(r, here);
  // A call that was left by a longjmp may have had its frame where this one has it. What such a
  // call calls itself begins further down.
  while (r.below != nullptr && r.below->frame == r.frame && here >= r.below->here) {
    BelowNote* const left = r.below;
    r.below = left->outer;
    give_back(left);
  }
  const BookkeepingLock lock;
  BelowNote* const note = unused_notes != nullptr ? unused_notes : create<BelowNote>();
  if (note == nullptr) return;
  if (note == unused_notes) unused_notes = note->outer;
  *note = {function, family, r.below, r.frame, here, asked, BelowNote::kNothing, {}};
  r.below = note;
}

BelowNote* end_below(bool good) {
  Recorder& r = the_recorder;
  const void* const here = __builtin_frame_address(0);
  BelowNote* const note = innermost(r, here);
  if (note == nullptr) return nullptr;
  r.below = note->outer;
  if (note->found == BelowNote::kNothing) return give_back(note), nullptr;
  // Made of calls by their names: what the inner one was about says what the outer one was.
  BelowNote* const outer = innermost(r, here);
  if (outer != nullptr && outer->found == BelowNote::kNothing && outer->family == note->family) {
    outer->found = BelowNote::kFamily;
    outer->arguments = note->arguments;
  }
  if (!good) return give_back(note), nullptr;
  return note;
}

void give_back(BelowNote* note) {
  const BookkeepingLock lock;
  note->outer = unused_notes;
  unused_notes = note;
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

const BelowNote* passed_as_asked() {
  const BelowNote* note = innermost(the_recorder, __builtin_frame_address(0));
  while (note != nullptr && note->found != BelowNote::kAsAsked) note = note->outer;
  return note;
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
