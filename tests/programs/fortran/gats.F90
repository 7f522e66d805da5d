! General active target synchronisation, in Fortran with `use mpi_f08`: Late Post, Before First Post
! and Early Transfer; Early Wait, Late Complete and Corresponding Complete.
#include "truth.inc"
#define UNIT "gats"
program gats
  use mpi_f08
  use truth
  implicit none
  save ! see truth.inc
  integer, parameter :: bytes = 4, many = 2**19
  ! Told in each part: somebody starts, process r has posted (posted + r), somebody waits, completes.
  integer, parameter :: starting = 0, posted = 1, waiting = 5, completing = 6, part = 8
  integer, allocatable :: memory(:), local(:)
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
  NOTED('win=0')
  call meet()
  call late_posts()
  call meet()
  call large_transfer()
  call meet()
  call early_wait()
  call meet()
  TIMED(MPI_Win_free)(win)
  NOTED('win=0')

  if (rank == 0) then
    ! late_posts: 60 ms to each of the targets; large_transfer: 60 ms more.
    call at_least('mpi_rma_latepost+mpi_rma_earlytransfer', '*', 0, ranks*surely)
    call at_least('mpi_rma_latepost_first', '*', 0, surely)
    if (osc_is('pt2pt')) call at_least('mpi_rma_earlytransfer', 'MPI_Put', 0, surely)
    ! 60 ms to the transfer of process 1, 60 ms to its complete, and 60 ms to that of the last one.
    call at_least('mpi_rma_earlywait', 'MPI_Win_wait', 0, ranks*surely)
    call at_least('mpi_rma_latecomplete', 'MPI_Win_wait', 0, (ranks - 1)*surely)
    call at_least('mpi_rma_latecomplete_pair', 'MPI_Win_wait', 0, surely)
  end if
  call check_clock()
  before = truth_now()
  call MPI_Finalize()
  after = truth_now()
  call truth_end(before, after)

contains
  function group_of(members) result(group)
    integer, intent(in) :: members(:)
    type(MPI_Group) :: group, world
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    call MPI_Group_incl(world, size(members), members, group)
    call MPI_Group_free(world)
  end function

#undef UNIT
#define UNIT "start"
  subroutine start(targets)
    integer, intent(in) :: targets(:)
    type(MPI_Group) :: group
    group = group_of(targets)
    TIMED(MPI_Win_start)(group, 0, win)
    NOTED('win=0 group='//list(targets))
    call MPI_Group_free(group)
  end subroutine

#undef UNIT
#define UNIT "post"
  subroutine post(origins)
    integer, intent(in) :: origins(:)
    type(MPI_Group) :: group
    group = group_of(origins)
    TIMED(MPI_Win_post)(group, 0, win)
    NOTED('win=0 group='//list(origins))
    call MPI_Group_free(group)
  end subroutine

#undef UNIT
#define UNIT "put"
  subroutine put(count, target)
    integer, intent(in) :: count, target
    TIMED(MPI_Put)(local, count, MPI_INTEGER, target, first, count, MPI_INTEGER, win)
    NOTED('win=0 to='//text(target)//' bytes_put='//text(bytes*count))
  end subroutine

  ! Each target posts late, each 60 ms after the one before it: the last one decides.
#undef UNIT
#define UNIT "late_posts"
  subroutine late_posts()
    integer :: target
    if (rank == 0) then
      call tell(starting)
      call start([(target, target=1, ranks - 1)])
      do target = 1, ranks - 1
        call put(1, target)
      end do
      TIMED(MPI_Win_complete)(win)
      NOTED('win=0')
    else
      call hear_late(merge(starting, posted + rank - 1, rank == 1), 1)
      call tell(posted + rank)
      call post([0])
      TIMED(MPI_Win_wait)(win)
      NOTED('win=0')
    end if
  end subroutine

  ! A large put to process 1, which has posted if there are others, while the last target has not.
#undef UNIT
#define UNIT "large_transfer"
  subroutine large_transfer()
    integer :: target
    if (rank == 0) then
      if (ranks > 2) call hear(part + posted, ranks - 2)
      call tell(part + starting)
      call start([(target, target=1, ranks - 1)])
      call put(many, 1)
      TIMED(MPI_Win_complete)(win)
      NOTED('win=0')
    else
      if (rank == ranks - 1) call hear_late(part + starting, 1)
      call post([0])
      if (rank < ranks - 1) call tell(part + posted)
      TIMED(MPI_Win_wait)(win)
      NOTED('win=0')
    end if
  end subroutine

  ! Process 0 waits. Process 1 makes the last transfer late and completes later; the others complete
  ! later still, one after the other, without a transfer.
#undef UNIT
#define UNIT "early_wait"
  subroutine early_wait()
    integer :: origin
    if (rank == 0) then
      call post([(origin, origin=1, ranks - 1)])
      call tell(2*part + waiting)
      TIMED(MPI_Win_wait)(win)
      NOTED('win=0')
    else
      call start([0])
      if (rank == 1) then
        call hear_late(2*part + waiting, 1)
        call put(1, 0)
        call pause_ms(late_ms)
      else
        call hear_late(3*part + completing + rank - 2, 1)
      end if
      call tell(3*part + completing + rank - 1)
      TIMED(MPI_Win_complete)(win)
      NOTED('win=0')
    end if
  end subroutine
end program
