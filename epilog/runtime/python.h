// Which line of a Python program calls MPI (mpi4py): read from the interpreter's own frames.
//
// The thread that calls MPI stands in a C function that its innermost Python frame has called, so
// this thread's chain of frames, and the code objects that they hold, stay as they are until the
// call returns, whoever has the interpreter's lock meanwhile (mpi4py gives it away around each
// call). They are read as memory: nothing of the interpreter is called but
// PyGILState_GetThisThreadState, which reads a thread-local slot; no reference is counted, no
// object made, no lock taken.
//
// The layouts of the versions that are known stand in python_layout.h; another version, or anything
// that does not look like it, has no lines. The first look of a process, and each look of a thread
// other than the first (whose state may be freed while the interpreter ends), is done by the
// kernel, which fails where there is no memory. A place is known again by the addresses of code
// object and instruction and by the content of what was read: a code object may be freed, and
// another one lie there. Used by the owning thread only.
#pragma once

#include <span>

#include "epilog/runtime/code.h"
#include "epilog/runtime/python_sample.h"

namespace kojak::measure {

struct PythonPlaces;

// The site of a call that the calling thread's Python program makes. `entry` is the function of a
// library in C that the line called and that calls MPI, or null. Where the line calls a function of
// a package that counts as a library (mpi4py.futures), that function stands between. Absent where
// no line is known.
//
// In the thread's file such a place is a CALL_SITE with its FILE and REGION, since the names are
// known at once; a LOCAL_SITE or LOCAL_FRAME without module refers to it by its address, the call
// site's number and one.
RegionId define_python_site(Recorder& r, unsigned function, const void* entry);

// Samples: what a thread that runs Python stands in. Before the first one, outside of a handler:
void prepare_python_samples();
// The innermost frames of a thread that a signal has interrupted, if its path comes out of the
// interpreter. All of it is read by the kernel, and may be half made: what it says is looked at
// when the sample is written. Safe in a signal handler.
void interrupted_python(std::span<const std::uintptr_t> path, PythonSample& sample);
// The site of such a sample, as if `region` were called there. Absent if its code is there no more.
RegionId define_python_sample(Recorder& r, RegionId region, const PythonSample& sample);

void release_python_places(PythonPlaces* places);

}  // namespace kojak::measure
