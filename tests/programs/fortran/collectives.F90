! Wait at Barrier, Wait at N x N and their completions, Late Broadcast, Early Reduce and Early Scan,
! in Fortran with `use mpi`.
#include "truth.inc"
#define UNIT "collectives"
program collectives
  use mpi
  use truth
  implicit none
  save ! see truth.inc
  integer :: out(4), in(4), counts(4), places(4), ierr, late, last, r
  double precision :: before, after

  before = truth_now()
  call MPI_Init(ierr)
  after = truth_now()
  call truth_begin(before, after)
  last = ranks - 1
  out = rank
  counts = 1
  places = [0, 1, 2, 3]
  call meet()
  do late = 0, last
    call barrier()
  end do
  call all_to_all()
  call one_to_all()
  call all_to_one()
  call scans()
  call late_exits()
  call meet()

  if (rank == 0) then
    do r = 0, last
      call at_least('mpi_barrier_wait', 'MPI_Barrier', r, last*surely)
      if (r /= 0) call at_least('mpi_wait_nxn', 'MPI_Allreduce', r, surely)
      if (r /= last) call at_least('mpi_wait_nxn', 'MPI_Alltoall', r, surely)
      if (r /= 1) call at_least('mpi_wait_nxn', 'MPI_Allgatherv', r, surely)
      if (r /= last) call at_least('mpi_latebroadcast', 'MPI_Bcast', r, surely)
      if (r /= 0) call at_least('mpi_latebroadcast', 'MPI_Scatterv', r, surely)
      if (r /= 0) call at_least('mpi_earlyscan', 'MPI_Scan', r, surely)
      if (r == last .and. last > 1) call at_least('mpi_earlyscan', 'MPI_Exscan', r, surely)
    end do
    if (ranks == 2) call at_least('mpi_barrier_completion', 'MPI_Barrier', 1, surely)
    if (ranks == 2) call at_least('mpi_nxn_completion', 'MPI_Allreduce', 1, surely)
    call at_least('mpi_earlyreduce', 'MPI_Reduce', last, surely)
    call at_least('mpi_earlyreduce', 'MPI_Gather', 0, surely)
    call exactly_zero('mpi_earlyreduce', 'MPI_Reduce', 0)
    call exactly_zero('mpi_earlyreduce', 'MPI_Gather', last)
  end if
  call check_clock()
  before = truth_now()
  call MPI_Finalize(ierr)
  after = truth_now()
  call truth_end(before, after)
contains
#undef UNIT
#define UNIT "barrier"
  subroutine barrier()
    call come_late(only(late))
    TIMED(MPI_Barrier)(MPI_COMM_WORLD, ierr)
    NOTED('comm=world')
  end subroutine

  ! The words of bytes sent and received, counted in integers.
  function moved(sent, received) result(words)
    integer, intent(in) :: sent, received
    character(len=:), allocatable :: words
    words = ' bytes_sent_coll='//text(4*sent)//' bytes_rcvd_coll='//text(4*received)
  end function

#undef UNIT
#define UNIT "all_to_all"
  subroutine all_to_all()
    call come_late(only(0))
    TIMED(MPI_Allreduce)(out, in, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    NOTED('comm=world'//moved(1, 1))
    call come_late(only(last))
    TIMED(MPI_Alltoall)(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    NOTED('comm=world'//moved(ranks, ranks))
    call come_late(only(1))
    TIMED(MPI_Allgatherv)(out, 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    NOTED('comm=world'//moved(1, ranks))
    call meet()
  end subroutine

  ! The root comes late.
#undef UNIT
#define UNIT "one_to_all"
  subroutine one_to_all()
    call come_late(only(last))
    TIMED(MPI_Bcast)(out, 1, MPI_INTEGER, last, MPI_COMM_WORLD, ierr)
    NOTED('comm=world root='//text(last)//moved(merge(1, 0, rank == last), merge(0, 1, rank == last)))
    call meet()
    call come_late(only(0))
    TIMED(MPI_Scatterv)(out, counts, places, MPI_INTEGER, in, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    NOTED('comm=world root=0'//moved(merge(ranks, 0, rank == 0), 1))
    call meet()
  end subroutine

  ! The root comes first.
#undef UNIT
#define UNIT "all_to_one"
  subroutine all_to_one()
    integer :: everybody
    everybody = only(ranks) - 1
    call come_late(everybody - only(last))
    TIMED(MPI_Reduce)(out, in, 1, MPI_INTEGER, MPI_SUM, last, MPI_COMM_WORLD, ierr)
    NOTED('comm=world root='//text(last)//moved(1, merge(1, 0, rank == last)))
    call meet()
    call come_late(everybody - only(0))
    TIMED(MPI_Gather)(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    NOTED('comm=world root=0'//moved(1, merge(ranks, 0, rank == 0)))
    call meet()
  end subroutine

  ! Only lower ranks are waited for: all wait for 0; then, of three or more, only those above 1.
#undef UNIT
#define UNIT "scans"
  subroutine scans()
    call come_late(only(0))
    TIMED(MPI_Scan)(out, in, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    NOTED('comm=world place='//text(rank)//moved(1, 1))
    call meet()
    call come_late(only(1))
    TIMED(MPI_Exscan)(out, in, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    NOTED('comm=world place='//text(rank)//moved(1, merge(0, 1, rank == 0)))
    call meet()
  end subroutine

  ! The last process is held up in its call until 60 ms after the others have come: with two
  ! processes, the other one is long gone then.
  subroutine hold_up_the_last(event)
    integer, intent(in) :: event
    call meet()
    if (rank == last) call hold_me_up(event, event + 1)
    if (rank > 0) return
    call hear(event, 1)
    call tell(event + 1)
  end subroutine

#undef UNIT
#define UNIT "late_exits"
  subroutine late_exits()
    call hold_up_the_last(0)
    TIMED(MPI_Barrier)(MPI_COMM_WORLD, ierr)
    NOTED('comm=world')
    call hold_up_the_last(2)
    TIMED(MPI_Allreduce)(out, in, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    NOTED('comm=world'//moved(1, 1))
  end subroutine
end program
