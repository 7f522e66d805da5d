! A Fortran main program that uses a C library.
program mixed_main
#include "use_mpi.inc"
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
#include "mpif_h.inc"
#if defined(USE_MPI_F08)
#define VALUE_OF(handle) handle%MPI_VAL
#else
#define VALUE_OF(handle) handle
#endif
  interface
    subroutine c_part(rank, handle) bind(C)
      import :: c_int
      integer(c_int), value :: rank, handle
    end subroutine
    subroutine fortran_part(rank, handle) bind(C)
      import :: c_int
      integer(c_int), value :: rank, handle
    end subroutine
  end interface
  integer :: rank
  COMM :: pair
  call MPI_Init(ONLY_IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call notes_open(rank)
  call made("MPI_Init")
  call made("MPI_Comm_rank")
  M(MPI_Comm_split)(MPI_COMM_WORLD, 0, rank, pair IERR)
  call c_part(rank, VALUE_OF(pair))
  call fortran_part(rank, VALUE_OF(pair))
  M(MPI_Comm_free)(pair IERR)
  call c_part(rank, VALUE_OF(MPI_COMM_WORLD))
  M(MPI_Finalize)(ONLY_IERR)
  call notes_close()
end program
