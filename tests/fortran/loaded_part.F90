! The library of loaded_main.c: a whole MPI program.
subroutine run() bind(C)
#include "use_mpi.inc"
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
#include "mpif_h.inc"
  interface
    subroutine fortran_part(rank, handle) bind(C)
      import :: c_int
      integer(c_int), value :: rank, handle
    end subroutine
  end interface
  integer :: rank
  call MPI_Init(ONLY_IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call notes_open(rank)
  call made("MPI_Init")
  call made("MPI_Comm_rank")
#if defined(USE_MPI_F08)
  call fortran_part(rank, MPI_COMM_WORLD%MPI_VAL)
#else
  call fortran_part(rank, MPI_COMM_WORLD)
#endif
  M(MPI_Finalize)(ONLY_IERR)
  call notes_close()
end subroutine
