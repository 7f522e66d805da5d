// Where the measurement begins and ends: at PMPI_Init and PMPI_Finalize.
//
// A library between the program and MPI may keep a process in its MPI_Init until the end (servers
// of I/O), or call PMPI_Finalize late. What every process of MPI_COMM_WORLD does call is PMPI_Init
// and PMPI_Finalize, so these, too, are names of the shared library (floor_entries.cc), and there
// the measurement's own exchanges are: all processes take part that pass, also one that records
// nothing.
//
// A library that has a PMPI_Init itself takes the MPI's by dlsym, which passes us by. It stands
// below the floor: our MPI_Init goes to our PMPI_Init, and from there to its MPI_Init. The archive
// and the library for SHMEM have no floor: they begin when MPI_Init has returned, if nothing stands
// between.
#pragma once

#include "epilog/mpi/call.h"
#include "epilog/mpi/startup.h"

namespace kojak::measure {

// Defined where the library has one; decided when it is linked, since other libraries' constructors
// may call MPI before ours have run.
[[gnu::weak]] void mark_of_floor();
inline bool floor_is_there() {
  return mark_of_floor != nullptr;
}

// A call of MPI_Init or MPI_Init_thread in hand.
struct Start {
  unsigned function;
  const void* caller;
  bool between = false;   // somebody stands between this call and PMPI_Init
  bool prepared = false;  // the MPI is one that we know
  bool passed = false;    // PMPI_Init has succeeded
  PlainCall call;         // its region, while it stays open behind PMPI_Init
};
extern Start* start_in_hand;
extern bool end_in_hand;        // MPI_Finalize
extern bool program_has_ended;  // it has called that

// Whether this function (MPI_Init, MPI_Init_thread, MPI_Finalize) goes through others before PMPI_
// is reached.
bool goes_through(unsigned function);

// What is passed on at the floor: to others below it, else to the MPI.
int go_on_init(int* argc, char*** argv);
int go_on_init_thread(int* argc, char*** argv, int required, int* provided);
int go_on_finalize();

// What the names of PMPI_ do that are exported, for who calls these itself.
int pass_pmpi_init(int* argc, char*** argv, const void* caller);
int pass_pmpi_init_thread(int* argc, char*** argv, int required, int* provided, const void* caller);
int pass_pmpi_finalize(const void* caller);

// Without a floor nothing may stand between. Says why not.
bool can_begin();
// MPI_Init has returned successfully.
void arrive(Start& start);
// Whether the process is past PMPI_Finalize, or nobody could put that off.
bool is_past_end();

}  // namespace kojak::measure
