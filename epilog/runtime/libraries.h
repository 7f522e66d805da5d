// Communication libraries between the program and MPI (coarrays, ARMCI, Global Arrays, PETSc, HDF5,
// Boost.MPI, mpi4py, and what ELG_LIBRARIES names), so that a call is named by the program's own
// line and by the library's entry point: step c.f90:28 / sync all / MPI_Barrier.
//
// A library is known by its file's name; where it is linked into the program, by the names of its
// functions. Only a call whose caller is such a library's needs a look at the stack. Each file is
// looked at once: what belongs to libraries there is kept as ranges of addresses. Thread-safe.
// Nothing fails: without the unwinder the call is named by the library's line.
#pragma once

#include <cstdint>

#include "epilog/runtime/call_path.h"

namespace kojak::measure {

// True if the caller, a return address, may lie in such a library: its file is one, or functions of
// one are linked into it.
bool may_be_library(const void* caller);

// True if the caller lies in an extension module of Python (mpi4py's): a Python line calls it.
bool is_extension(const void* caller);

// True if a Python file belongs to such a library's package.
bool is_library_script(const char* path);

// Where in a stack, whose innermost address is the call of MPI, the program called the library; 0
// if no library lies between. Which function of the library it called is decoded from the call's
// instruction, since one that ended by jumping on has left the stack; 0 if that tells none.
struct LibraryEntry {
  unsigned program;
  std::uintptr_t function;
};
LibraryEntry library_entry(const CallStack& stack);

// The function that this thread began with, if it is the library's and nothing of the program is on
// the stack: what stands from `program` on, down to the end, only starts threads. Else 0: a
// function that the program may have defined itself proves nothing, nor a stack that goes on.
std::uintptr_t library_thread(const CallStack& stack, unsigned program);

}  // namespace kojak::measure
