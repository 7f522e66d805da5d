// How a run ended, in words that say no more than is known.
//
// A signal is named only where it ended the command itself: a launcher's status may stand for one,
// and may be a program's own number. Reads the run's folders; prints to standard error, nothing
// with --quiet.
#pragma once

#include <string>
#include <vector>

#include "tools/kojak/child.h"
#include "tools/kojak/find_mpi.h"
#include "tools/kojak/run_claim.h"
#include "tools/kojak/run_worlds.h"

namespace kojak::run {

// "mpirun ended with status 140: rank 1 called MPI_Abort(140)"; empty for status 0.
std::string end_words(const std::vector<std::string>& command, const MpiUse& use,
                      const ChildEnd& end, const RunLines& lines,
                      const std::vector<WorldReport>& worlds);

// Prints what the library said of recordings that ended before their process.
void tell_stopped(const RunLines& lines);

}  // namespace kojak::run
