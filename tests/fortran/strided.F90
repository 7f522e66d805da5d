! Array sections that are not contiguous, given to MPI as they are: where mpi_f08 passes descriptors (MPICH). The bytes
! are those of the elements. Two processes.
program strided
#include "use_mpi.inc"
  implicit none
#include "mpif_h.inc"
  integer, asynchronous :: x(10), y(10), table(4, 6)
  integer :: rank, i
  REQUEST :: r(2)
  STATUS(st)
  call MPI_Init(ONLY_IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call notes_open(rank)
  call made("MPI_Init")
  call made("MPI_Comm_rank")
  if (MPI_SUBARRAYS_SUPPORTED) then
    x = [(100 * rank + i, i = 1, 10)]
    y = -1
    M(MPI_Sendrecv)(x(1:10:2), 5, MPI_INTEGER, 1 - rank, 1, y(2:10:2), 5, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, st IERR)
    call sent(1 - rank, 1, 20)
    call received(1 - rank, 1, 20)
    call result_numbers('section', y)
    table = -1
    M(MPI_Irecv)(table(2, :), 6, MPI_INTEGER, 1 - rank, 2, MPI_COMM_WORLD, r(1) IERR)
    call event(merge('MPI_RECV_REQUEST slid=1 tag=2', 'MPI_RECV_REQUEST slid=0 tag=2', rank == 0))
    M(MPI_Isend)(x(10:5:-1), 6, MPI_INTEGER, 1 - rank, 2, MPI_COMM_WORLD, r(2) IERR)
    call sent(1 - rank, 2, 24)
    M(MPI_Waitall)(2, r, MPI_STATUSES_IGNORE IERR)
    call received(1 - rank, 2, 24)
    call event('MPI_SEND_COMPLETE')
    call result_numbers('row', [table])
    M(MPI_Bcast)(y(2:10:2), 5, MPI_INTEGER, 1, MPI_COMM_WORLD IERR)
    call collective(1, merge(20, 0, rank == 1), merge(0, 20, rank == 1))
    call result_numbers('broadcast', y)
  end if
  M(MPI_Finalize)(ONLY_IERR)
  call notes_close()
end program
