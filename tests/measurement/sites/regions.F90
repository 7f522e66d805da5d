! Regions of a Fortran program.
#include "epilog/runtime/elg_user.inc"
program regions
  use mpi
  implicit none
  integer :: ierror, rank, i
  character(len=20) :: name
  call MPI_Init(ierror)
  do i = 1, 2
    write (name, '(a,i0)') 'step ', i
    ELG_USER_START(name)
    ELG_USER_START('solve')
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    ELG_USER_END('solve')
    ELG_USER_END(name)
  end do
  call internal()
  call MPI_Finalize(ierror)
contains
  subroutine internal()
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine
end program regions
