// Where our own files are: relative to the running program, as built or as installed.
//
// An installation can be moved. Reads the file system; what is not there gives an empty name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kojak::run {

// The measurement library for an MPI.
std::string find_library(const std::string& mpi);
// The library for programs that use SHMEM, which records their MPI, too.
std::string find_shmem_library(const std::string& mpi);
// The front of ARMCI; the archive of the same name lies beside it.
std::string find_armci_library();
// The measurement library for programs that use neither MPI nor SHMEM; the front of GASP, and what
// the compiler of UPC compiles for it.
std::string find_base_library();
std::string find_gasp_front();
std::string find_gasp_source();
// A file in the directory of our libraries; empty if it is not there. `canonical`: where links
// lead.
std::string in_library_directory(const std::filesystem::path& name, bool canonical = true);
// Where elg_user.h lies.
std::string include_directory();

// The MPI libraries that we were built for, the default one first.
std::vector<std::string> known_mpis();

}  // namespace kojak::run
