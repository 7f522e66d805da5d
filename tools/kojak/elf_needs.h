// The libraries that an ELF file names as needed, and where it wants them looked for.
//
// Reads the file itself (64-bit, this machine's byte order); anything else, and anything damaged,
// needs nothing. Every offset is checked against the file.
#pragma once

#include <string>
#include <vector>

namespace kojak::run {

struct ElfNeeds {
  std::vector<std::string> libraries;
  std::string run_path;  // RUNPATH, or RPATH where there is none
  // What else tells why a program left no trace.
  bool elf = false;          // a program or library of this machine's kind
  bool dynamic = false;      // has a dynamic section: a linker that obeys LD_PRELOAD may load it
  bool mpi = false;          // its text names a function of MPI (MPI_Init, mpi_init_ ...)
  bool shmem = false;        // its text names shmem_init or start_pes
  bool armci = false;        // its text names PARMCI_Init: ARMCI is in it, if it was not stripped
  bool armci_front = false;  // and our front before it
  bool gasp_front = false;   // our front of GASP is linked in
};

ElfNeeds read_elf_needs(const std::string& path);

// What an ELF file has itself of the way into MPI. By its tables of symbols: of a program that was
// stripped only what it exports is seen.
struct MpiEntries {
  bool init = false;           // MPI_Init, MPI_Init_thread, or their Fortran names
  bool profiled_init = false;  // PMPI_Init, as every MPI has it
};
MpiEntries read_mpi_entries(const std::string& path);

// The same of the way into OpenSHMEM: shmem_init, shmem_init_thread, start_pes.
struct ShmemEntries {
  bool calls = false;  // has to be given one of them by another file
  bool has = false;    // has one of them itself
};
ShmemEntries read_shmem_entries(const std::string& path);

}  // namespace kojak::run
