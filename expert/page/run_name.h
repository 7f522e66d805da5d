// What a page about one run is called: the program, and how many processes ran it where.
//
// Pure functions; nothing fails; thread-safe.
#pragma once

#include <string>

#include "expert/profile/model.h"

namespace kojak::html {

// The last parts of a path.
std::string file_name(const std::string& path, int parts = 1);
// The program: the root of all call paths; what was started where threads or processes have
// several roots, or one that says nothing; the report's file where the trace does not tell.
std::string program_or_file(const cube::Report& report);
// "4 processes, 8 threads"
std::string processes_of(const cube::Report& report);
// The same with nodes, time and MPI: "4 processes on vm, 2.60 s, Open MPI v4.1.4".
std::string run_words(const cube::Report& report, double seconds);

}  // namespace kojak::html
