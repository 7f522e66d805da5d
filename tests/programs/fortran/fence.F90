! Wait at Fence, with and without MPI_MODE_NOPRECEDE, Wait at Create and Wait at Free, in Fortran
! with `use mpi`: each process in turn comes late.
#include "truth.inc"
#define UNIT "fence"
program fence
  use mpi
  use truth
  implicit none
  save ! see truth.inc
  integer, parameter :: bytes = 4
  integer :: memory(64), win, ierr, late, r
  integer(MPI_ADDRESS_KIND) :: room
  double precision :: before, after

  before = truth_now()
  call MPI_Init(ierr)
  after = truth_now()
  call truth_begin(before, after)
  memory = 0
  room = bytes*size(memory)

  call come_late(only(ranks - 1))
  TIMED(MPI_Win_create)(memory, room, bytes, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  NOTED('win=0')
  TIMED(MPI_Win_fence)(0, win, ierr)
  NOTED('win=0')
  do late = 0, ranks - 1
    call epoch()
  end do
  do late = 0, ranks - 1
    call opened_epoch()
  end do
  call meet()
  call free_late()

  if (rank == 0) then
    do r = 0, ranks - 1
      call at_least('mpi_rma_fence_wait', 'MPI_Win_fence', r, 2*(ranks - 1)*surely)
      if (r /= ranks - 1) call at_least('mpi_rma_wait_window_create', 'MPI_Win_create', r, surely)
      if (r /= 0) call at_least('mpi_rma_wait_window_free', 'MPI_Win_free', r, surely)
    end do
  end if
  call check_clock()
  before = truth_now()
  call MPI_Finalize(ierr)
  after = truth_now()
  call truth_end(before, after)

contains
#undef UNIT
#define UNIT "put_right"
  subroutine put_right()
    integer :: right
    integer(MPI_ADDRESS_KIND) :: place
    right = modulo(rank + 1, ranks)
    place = late
    TIMED(MPI_Put)(rank, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, ierr)
    NOTED('win=0 to='//text(right)//' bytes_put=4')
  end subroutine

  ! Where all arguments are plain variables, gfortran 14 notes the line of the procedure for the call, with the module of
  ! Open MPI.
#undef UNIT
#define UNIT "free_late"
  subroutine free_late()
    integer, parameter :: begins = __LINE__ - 1
    call come_late(only(0))
#if __GNUC__ > 12 && defined(KOJAK_openmpi)
    call entering("MPI_Win_free", UNIT, begins); call MPI_Win_free(win, ierr)
#else
    TIMED(MPI_Win_free)(win, ierr)
#endif
    NOTED('win=0')
  end subroutine

#undef UNIT
#define UNIT "epoch"
  subroutine epoch()
    call put_right()
    call come_late(only(late))
    TIMED(MPI_Win_fence)(0, win, ierr)
    NOTED('win=0')
  end subroutine

  ! A fence that opens an epoch only may return early: wherever the library lets the others wait, in
  ! this fence or in the next, it is a wait at a fence.
#undef UNIT
#define UNIT "opened_epoch"
  subroutine opened_epoch()
    call come_late(only(late))
    TIMED(MPI_Win_fence)(MPI_MODE_NOPRECEDE, win, ierr)
    NOTED('win=0 noprecede=1')
    call put_right()
    TIMED(MPI_Win_fence)(MPI_MODE_NOSUCCEED, win, ierr)
    NOTED('win=0')
  end subroutine
end program
