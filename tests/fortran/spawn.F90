! Starts a child and talks with it: peers of another world make no transfers. argument and error sentinels are Fortran's.
program spawn
#include "use_mpi.inc"
  implicit none
#include "mpif_h.inc"
  integer :: rank, value
  character(len=1000) :: self
  COMM :: parent, children
  STATUS(st)
  call MPI_Init(ONLY_IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call MPI_Comm_get_parent(parent IERR)
  if (parent /= MPI_COMM_NULL) then
    value = 17
    call MPI_Send(value, 1, MPI_INTEGER, 0, 4, parent IERR)
    call MPI_Barrier(parent IERR)
    call MPI_Comm_disconnect(parent IERR)
    call MPI_Finalize(ONLY_IERR)
    stop
  end if
  call notes_open(rank)
  call made("MPI_Init")
  call made("MPI_Comm_rank")
  call made("MPI_Comm_get_parent")
  call get_command_argument(0, self)
  M(MPI_Comm_spawn)(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE IERR)
  if (rank == 0) then
    M(MPI_Recv)(value, 1, MPI_INTEGER, 0, 4, children, st IERR)
    call result_numbers('from the child', [value, STATUS_SOURCE(st), STATUS_TAG(st)])
  end if
  M(MPI_Barrier)(children IERR)
  call collective(-1, 0, 0)
  M(MPI_Comm_disconnect)(children IERR)
  M(MPI_Barrier)(MPI_COMM_WORLD IERR)
  call collective(-1, 0, 0)
  M(MPI_Finalize)(ONLY_IERR)
  call notes_close()
end program
