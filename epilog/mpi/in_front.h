// Whether another library stands in front of this one, so that its functions are not recorded.
//
// One with an MPI_Init of its own is told of by that, and nothing is recorded. One without it takes
// some functions: these pass us by, and a line says so once.
#pragma once

namespace kojak::measure {

// Recording has begun.
void say_who_is_in_front();

}  // namespace kojak::measure
