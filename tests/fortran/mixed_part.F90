! The Fortran half of the mixed programs: it works on a communicator whose handle it is given.
subroutine open_notes(rank) bind(C)
  use, intrinsic :: iso_c_binding, only: c_int
  use notes
  implicit none
  integer(c_int), value :: rank
  call notes_open(rank)
end subroutine

subroutine close_notes() bind(C)
  use notes
  implicit none
  call notes_close()
end subroutine

subroutine fortran_part(rank, handle) bind(C)
  use, intrinsic :: iso_c_binding, only: c_int
#include "use_mpi.inc"
  implicit none
#include "mpif_h.inc"
  integer(c_int), value :: rank, handle
  integer, save :: times = 0
  integer :: other, x, y
  COMM :: comm_given, own
  REQUEST :: r(2)
  STATUSES(sts, 2)
  character(len=40) :: text
#if defined(USE_MPI_F08)
  comm_given%MPI_VAL = handle
#else
  comm_given = handle
#endif
  times = times + 1
  other = 1 - rank
  x = 100 * times + rank
  y = -1
  M(MPI_Irecv)(y, 1, MPI_INTEGER, other, 41, comm_given, r(1) IERR)
  write (text, '(a,i0,a)') 'MPI_RECV_REQUEST slid=', other, ' tag=41'
  call event(trim(text))
  M(MPI_Isend)(x, 1, MPI_INTEGER, other, 41, comm_given, r(2) IERR)
  call sent(other, 41, 4)
  M(MPI_Waitall)(2, r, sts IERR)
  call received(other, 41, 4)
  call event('MPI_SEND_COMPLETE')
  call result_numbers('Fortran', [y, SOURCE_OF(sts, 1), TAG_OF(sts, 1)])
  M(MPI_Allreduce)(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, comm_given IERR)
  call collective(-1, 4, 4)
  M(MPI_Comm_dup)(comm_given, own IERR)
  M(MPI_Bcast)(x, 1, MPI_INTEGER, 0, own IERR)
  call collective(0, merge(4, 0, rank == 0), merge(0, 4, rank == 0))
  call result_numbers('sum', [x])
  M(MPI_Comm_free)(own IERR)
end subroutine
