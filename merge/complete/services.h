// Which processes and threads serve the others: in what they call of MPI, as the traces tell it.
//
// Some communication libraries keep a process for themselves: it never comes back from the call
// that starts the library, answers the others' messages there, and ends MPI and itself inside that
// call. A process is one of these from the time s on, if all its calls of MPI from s to its end,
// MPI_Finalize among them, come out of the same call of a library (the same function, called at the
// same place), and it received a message in one of them. None is, if every process that came to
// MPI_Finalize would be one: then the library only ends MPI for all (PetscFinalize). A process that
// was killed, and a run of one process, prove nothing. Where the library's own functions are
// recorded, its calls of MPI are not: the process came to MPI_Finalize in the one that starts it,
// and the trace of a thread says itself since when it serves. Others start a thread for this in
// each process. A thread is one of these from its first call of MPI on, if the library has started
// it (library_thread.h), all its calls come out of the same call of the library, so that no
// function of the program lies between, and it received a message. Reads the traces of those that
// may be such ones once more, and no others.
#pragma once

#include "merge/complete/survey.h"

namespace kojak::merge {

// The call of a library that a call at a site comes out of, by the site that leads into it;
// kAbsent: none. (All are of the run.)
std::uint32_t library_call_of(const MergedDefinitions& definitions, std::uint32_t site);

// The one that a trace's process called MPI_Finalize in; nothing if it did not come to that.
std::optional<std::uint32_t> finalized_in(const MergedDefinitions& definitions,
                                          const Translation& translation, const Definitions& local);

// The recorded time that a process's trace tells so (library_thread.h); nothing if it tells none.
std::optional<double> told_time(const Definitions& local, const char* key, ProcessId process);

// Sets serves_since of their traces.
void find_services(const std::vector<LocalTrace>& traces, FileCache& files, Survey& survey);

}  // namespace kojak::merge
