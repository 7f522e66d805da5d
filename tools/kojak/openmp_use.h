// Which OpenMP library a program uses, and what is needed to record its constructs.
//
// LLVM's library tells tools of them. GCC's tells nothing; but a program that GCC has compiled runs
// on LLVM's unchanged, if the dynamic linker finds that under the name of GCC's. A folder beside
// our libraries has such a link. Reads files, runs nothing.
#pragma once

#include <string>

namespace kojak::run {

enum class OpenMpLibrary { kNone, kGcc, kLlvm };
// Of an ELF file; where it needs both, GCC's.
OpenMpLibrary openmp_of_program(const std::string& path);

// The folder with the link, first in LD_LIBRARY_PATH; empty if it leads nowhere.
std::string folder_for_gcc_programs();

// Why OpenMP would tell us nothing, by the environment; empty if it would.
std::string openmp_objection();

}  // namespace kojak::run
