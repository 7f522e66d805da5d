// What MPI_Comm_set_name and MPI_Win_set_name leave behind.
#pragma once

#include "epilog/mpi/define.h"
#include "epilog/runtime/call.h"

namespace kojak::measure {

// A name that is not recorded now is written where the object is used next.
template <class Object, class C>
void take_name(Object* object, const char* name, int result, C& call) {
  if (result == MPI_SUCCESS && object != nullptr && object->name.set(name)) {
    define_again(object->name, object->defined);
    if constexpr (C::kOn) call.with_recorder([&] { return define_name(call.r, *object); });
  }
  if constexpr (C::kOn) call.leave();
}

}  // namespace kojak::measure
