! Wait for Progress, in Fortran with `use mpi_f08`: targets compute outside MPI while process 0 moves
! large data. Some implementations wait for the target's next call that can make progress; others
! need none, and then nothing may be claimed.
#include "truth.inc"
#define UNIT "progress"
program progress
  use mpi_f08
  use truth
  implicit none
  save ! see truth.inc
  integer, parameter :: bytes = 4, many = 2**21 ! 8 MB
  integer, parameter :: issued = 0, done = 4, posted = 8
  integer, allocatable, asynchronous :: memory(:), local(:)
  integer(MPI_ADDRESS_KIND) :: room
  integer(MPI_ADDRESS_KIND), parameter :: first = 0
  type(MPI_Win) :: win
  double precision :: before, after

  before = truth_now()
  call MPI_Init()
  after = truth_now()
  call truth_begin(before, after)
  allocate (memory(many), local(many))
  memory = 0
  local = rank
  room = bytes*many
  TIMED(MPI_Win_create)(memory, room, bytes, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  NOTED('win=0 all_noted=1')
  call meet()
  call one_target()
  call meet()
  call all_targets()
  call meet()
  call exposed_target()
  call meet()
  TIMED(MPI_Win_free)(win)
  NOTED('win=0')

  if (rank == 0 .and. osc_is('pt2pt')) then
    ! 60 ms for the flush, 60 ms for the get, as long as the last of the targets for flush_all.
    call at_least('mpi_rma_comm_wait_for_progress+mpi_rma_sync_wait_for_progress', '*', 0, (ranks + 1)*surely)
    call at_least('mpi_rma_comm_wait_for_progress+mpi_rma_gat_wait_for_progress', '*', 0, surely)
  end if
  call check_clock()
  before = truth_now()
  call MPI_Finalize()
  after = truth_now()
  call truth_end(before, after)

contains
#undef UNIT
#define UNIT "put"
  subroutine put(target)
    integer, intent(in) :: target
    TIMED(MPI_Put)(local, many, MPI_INTEGER, target, first, many, MPI_INTEGER, win)
    NOTED('win=0 to='//text(target)//' bytes_put='//text(bytes*many))
  end subroutine

  ! Outside MPI as far as progress goes: MPI_Comm_rank makes none.
  subroutine compute(ms)
    integer, intent(in) :: ms
    integer :: mine
    call pause_ms(ms/2)
    call MPI_Comm_rank(MPI_COMM_WORLD, mine)
    call pause_ms(ms - ms/2)
  end subroutine

#undef UNIT
#define UNIT "serve"
  subroutine serve(event)
    integer, intent(in) :: event
    logical :: flag
    do while (.not. told(event, 1))
      TIMED(MPI_Iprobe)(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
      NOTED('rank='//text(rank))
      call pause_ms(1)
    end do
  end subroutine

  ! A put and its flush, then a get and its Wait.
#undef UNIT
#define UNIT "one_target"
  subroutine one_target()
    type(MPI_Request) :: request
    if (rank == 0) then
      call tell(issued) ! before the lock, which itself may need the target
      TIMED(MPI_Win_lock)(MPI_LOCK_SHARED, 1, 0, win)
      NOTED('win=0 lock=1 exclusive=0')
      call put(1)
      TIMED(MPI_Win_flush)(1, win)
      NOTED('win=0 flush=1')
      call tell(done)
      call hear(issued + 1, 1)
      TIMED(MPI_Rget)(local, many, MPI_INTEGER, 1, first, many, MPI_INTEGER, win, request)
      NOTED('win=0 to=1 bytes_get='//text(bytes*many)//' result=1 rma=g')
      TIMED(MPI_Wait)(request, MPI_STATUS_IGNORE)
      NOTED('rma=g')
      TIMED(MPI_Win_unlock)(1, win)
      NOTED('win=0 unlock=1')
      call tell(done + 1)
    else if (rank == 1) then
      call hear(issued, 1)
      call compute(late_ms)
      call serve(done)
      call tell(issued + 1)
      call compute(late_ms)
      call serve(done + 1)
    end if
  end subroutine

  ! flush_all towards all the others, each of which comes back 60 ms after the one before it.
#undef UNIT
#define UNIT "all_targets"
  subroutine all_targets()
    integer :: target
    if (rank == 0) then
      call tell(issued + 2)
      TIMED(MPI_Win_lock_all)(0, win)
      NOTED('win=0')
      do target = 1, ranks - 1
        call put(target)
      end do
      TIMED(MPI_Win_flush_all)(win)
      NOTED('win=0')
      TIMED(MPI_Win_unlock_all)(win)
      NOTED('win=0')
      call tell(done + 2)
    else
      call hear(issued + 2, 1)
      call compute(rank*late_ms)
      call serve(done + 2)
    end if
  end subroutine

  ! General active target: process 1 posts, computes, and waits.
#undef UNIT
#define UNIT "exposed_target"
  subroutine exposed_target()
    type(MPI_Group) :: group, world
    if (rank > 1) return
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    call MPI_Group_incl(world, 1, [1 - rank], group)
    if (rank == 0) then
      call hear(posted, 1)
      TIMED(MPI_Win_start)(group, 0, win)
      NOTED('win=0 group=1')
      call put(1)
      TIMED(MPI_Win_complete)(win)
      NOTED('win=0')
    else
      TIMED(MPI_Win_post)(group, 0, win)
      NOTED('win=0 group=0')
      call tell(posted)
      call compute(late_ms)
      TIMED(MPI_Win_wait)(win)
      NOTED('win=0')
    end if
    call MPI_Group_free(group)
    call MPI_Group_free(world)
  end subroutine
end program
