// Which MPI and SHMEM library a command line uses, and where in it the launcher stands.
//
// Every word that names a program is looked at: an ELF file that needs an MPI library, directly or
// through another library, tells the MPI; else the launcher (mpirun) does. A program of SHMEM calls
// what starts that, and needs a library that has it, whatever its name. Reads files, runs
// nothing. What cannot be read is taken as no MPI program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kojak::run {

struct MpiUse {
  std::string mpi;       // "openmpi", "mpich", or empty if nothing tells
  std::string launched;  // the launcher's MPI, or empty
  bool prrte = false;    // the launcher is that of Open MPI 5 and later
  // The file of the library that has the program's OpenSHMEM, which it uses beside MPI or alone; or
  // empty.
  std::string shmem;
  std::string program;  // path of the program that needs MPI or OpenSHMEM, or empty
  // Of ARMCI: none, a shared library, one that is linked in, and that with our front before it.
  enum class Armci : std::uint8_t { kNone, kShared, kLinked, kFront } armci = Armci::kNone;
  bool gasp = false;       // our front of GASP is in it: UPC
  bool only_gasp = false;  // and it needs neither MPI nor OpenSHMEM
  // A file that stands in for MPI in a program that needs none that is known: it has MPI_Init, and
  // no PMPI_Init, as shims and serial stubs have it; and that program. Or empty.
  std::string stand_in, stand_in_program;
  bool abi = false;  // it is the interface of MPI 5 (libmpi_abi.so), which is not known, either
  std::optional<std::size_t> launcher;  // index of the launcher's word, if it is one that we know

  bool uses_shmem() const { return !shmem.empty(); }
  // Open MPI's OpenSHMEM.
  bool uses_oshmem() const;
  std::string mpi_or(const char* other) const { return mpi.empty() ? other : mpi; }
};

MpiUse find_mpi(const std::vector<std::string>& command);

// Why a command left no trace, as far as the files tell that it names, its end ("mpirun ended with
// status 132", empty for status 0), and which programs had the library (by name): one clause that
// says what was found and what can be done, for "no trace was written: ...".
std::string why_no_trace(const std::vector<std::string>& command, const MpiUse& use,
                         const std::string& end, const std::vector<std::string>& loaded);

// Goes through the names of the libraries that an ELF file needs, directly or through another one,
// until `stop` says so.
void for_each_needed_library(const std::string& path,
                             const std::function<bool(const std::string&)>& stop);

// The MPI that an ELF file needs, or empty.
std::string mpi_of_program(const std::string& path);

// The file that the shell would run for a word, or empty.
std::string find_executable(const std::string& word);

}  // namespace kojak::run
