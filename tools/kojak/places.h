// Where our own files are: relative to the running program, as built or as installed.
//
// An installation can be moved. Reads the file system; what is not there gives an empty name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kojak::run {

std::filesystem::path program_directory();

// The directory of the measurement library for an MPI.
std::string library_directory(const std::string& mpi);
// The library itself.
std::string find_library(const std::string& mpi);
// Where elg_user.h lies.
std::string include_directory();

// The MPI libraries that we were built for, the default one first.
std::vector<std::string> known_mpis();

}  // namespace kojak::run
