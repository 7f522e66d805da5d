// MPI handles as numbers: keys of our tables, and words that pass unharmed through a wrapper.
//
// A handle is a pointer in Open MPI and an int in MPICH. Wrappers take handles as whole words: when
// the library turns out to be built for the other MPI, it must forward the bits as they came.
// Nothing is owned; nothing fails.
#pragma once

#include <cstdint>
#include <type_traits>

#include "epilog/format/record/types.h"
#include "epilog/mpi/mpi.h"

namespace kojak::measure {

using Word = std::uintptr_t;

#if defined(MPI_SESSION_NULL)
using ::MPI_Session;
#else  // before MPI 4
using MPI_Session = void*;
#endif

#if defined(MPIX_STREAM_NULL)
using ::MPIX_Stream;
#else  // MPICH's own, since version 4.1
using MPIX_Stream = int;
#endif

// A function of a later MPI than the program's library: says so once, and the call fails.
[[gnu::cold, gnu::noinline]] int missing_function(const char* name);

template <class H>
KOJAK_INLINED inline H handle(Word word) {
  if constexpr (std::is_pointer_v<H>) {
    return reinterpret_cast<H>(word);
  } else {
    return static_cast<H>(word);
  }
}
template <class H>
KOJAK_INLINED inline Word word(H h) {
  if constexpr (std::is_pointer_v<H>) {
    return reinterpret_cast<Word>(h);
  } else {
    return static_cast<Word>(static_cast<std::make_unsigned_t<H>>(h));
  }
}

}  // namespace kojak::measure
