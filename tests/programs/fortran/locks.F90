! Lock Contention, in Fortran with `use mpi_f08`: an exclusive holder that unlocks late, lock_all
! against an exclusive lock, transfers with requests, and locks that nobody waits for.
!
! The last process is the target. With two processes it holds the lock itself, with more the one
! before it does; the others ask for the lock.
#include "truth.inc"
#define UNIT "locks"
program locks
  use mpi_f08
  use truth
  implicit none
  save ! see truth.inc
  integer, parameter :: bytes = 4, many = 2**20
  ! Told in each part.
  integer, parameter :: held = 0, asking = 1, done = 2, released = 3, finished = 4, part = 5
  integer, allocatable, asynchronous :: memory(:), local(:)
  integer(MPI_ADDRESS_KIND) :: room, own ! each process has its own part of the window
  type(MPI_Win) :: win
  double precision :: before, after
  integer :: target, holder, askers, r
  character(len=*), parameter :: contention = 'mpi_rma_comm_lock_contention+mpi_rma_sync_lock_contention'

  before = truth_now()
  call MPI_Init()
  after = truth_now()
  call truth_begin(before, after)
  target = ranks - 1
  holder = max(1, ranks - 2)
  askers = holder
  allocate (memory(ranks*many), local(many))
  memory = 0
  local = rank
  room = bytes*size(memory)
  own = rank*many
  TIMED(MPI_Win_create)(memory, room, bytes, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  NOTED('win=0 all_noted=1')
  call meet()
  call exclusive()
  call meet()
  call all_against_one()
  call meet()
  call shared()
  call meet()
  call unchecked()
  call meet()
  TIMED(MPI_Win_free)(win)
  NOTED('win=0')

  if (rank == 0) then
    do r = 0, askers - 1
      call at_least(contention, '*', r, 2*surely)
    end do
    call exactly_zero(contention, 'MPI_Win_flush', holder)
  end if
  call check_clock()
  before = truth_now()
  call MPI_Finalize()
  after = truth_now()
  call truth_end(before, after)

contains
#undef UNIT
#define UNIT "lock"
  subroutine lock(kind, assertion)
    integer, intent(in) :: kind, assertion
    character(len=:), allocatable :: words
    words = 'win=0 lock='//text(target)//' exclusive='//text(merge(1, 0, kind == MPI_LOCK_EXCLUSIVE))
    if (assertion /= 0) words = words//' nocheck=1'
    TIMED(MPI_Win_lock)(kind, target, assertion, win)
    NOTED(words)
  end subroutine

#undef UNIT
#define UNIT "unlock"
  subroutine unlock()
    TIMED(MPI_Win_unlock)(target, win)
    NOTED('win=0 unlock='//text(target))
  end subroutine

#undef UNIT
#define UNIT "put"
  subroutine put(count)
    integer, intent(in) :: count
    TIMED(MPI_Put)(local, count, MPI_INTEGER, target, own, count, MPI_INTEGER, win)
    NOTED('win=0 to='//text(target)//' bytes_put='//text(bytes*count))
  end subroutine

#undef UNIT
#define UNIT "flush_target"
  subroutine flush_target()
    TIMED(MPI_Win_flush)(target, win)
    NOTED('win=0 flush='//text(target))
  end subroutine

  ! Calls MPI until something was told so many times: some implementations grant locks only then.
#undef UNIT
#define UNIT "serve"
  subroutine serve(event, times)
    integer, intent(in) :: event, times
    logical :: flag
    do while (.not. told(event, times))
      TIMED(MPI_Iprobe)(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
      NOTED('rank='//text(rank))
      call pause_ms(1)
    end do
  end subroutine

  subroutine finish(this_part)
    integer, intent(in) :: this_part
    call tell(this_part + finished)
    call serve(this_part + finished, ranks)
  end subroutine

  ! Holds the lock until all others are about to ask for it, and 60 ms longer.
  subroutine hold(event)
    integer, intent(in) :: event
    call lock(MPI_LOCK_EXCLUSIVE, 0)
    call put(1)
    call flush_target()
    call tell(event + held)
    call hear_late(event + asking, askers)
    call unlock()
  end subroutine

  ! Every asker waits for the holder, and the later ones for those before them. The requests' Waits
  ! belong to the epoch like its other calls.
#undef UNIT
#define UNIT "exclusive"
  subroutine exclusive()
    type(MPI_Request) :: request
    if (rank == holder) call hold(0)
    if (rank < askers) then
      call hear(held, 1)
      call tell(asking)
      call lock(MPI_LOCK_EXCLUSIVE, 0)
      TIMED(MPI_Rput)(local, 1, MPI_INTEGER, target, own, 1, MPI_INTEGER, win, request)
      NOTED('win=0 to='//text(target)//' bytes_put=4 rma=p'//text(rank))
      TIMED(MPI_Wait)(request, MPI_STATUS_IGNORE)
      NOTED('rma=p'//text(rank))
      TIMED(MPI_Rget)(local, many, MPI_INTEGER, target, own, many, MPI_INTEGER, win, request)
      NOTED('win=0 to='//text(target)//' bytes_get='//text(bytes*many)//' result=1 rma=g'//text(rank))
      TIMED(MPI_Wait)(request, MPI_STATUS_IGNORE)
      NOTED('rma=g'//text(rank))
      call unlock()
    end if
    call finish(0)
  end subroutine

  ! lock_all is a shared lock of every process.
#undef UNIT
#define UNIT "all_against_one"
  subroutine all_against_one()
    if (rank == holder) call hold(part)
    if (rank < askers) then
      call hear(part + held, 1)
      call tell(part + asking)
      TIMED(MPI_Win_lock_all)(0, win)
      NOTED('win=0')
      call put(1)
      call flush_target()
      TIMED(MPI_Win_unlock_all)(win)
      NOTED('win=0')
    end if
    call finish(part)
  end subroutine

  ! At least 20 ms in transfers that nobody holds up. (A local flush after a put is no proof that the
  ! lock is held; such a proof would rule out a wait.)
#undef UNIT
#define UNIT "work"
  subroutine work(count)
    integer, intent(in) :: count
    double precision :: since
    since = truth_now()
    do while (truth_now() - since < 20d-3)
      call put(count)
      TIMED(MPI_Win_flush_local)(target, win)
      NOTED('win=0 flush_local='//text(target))
    end do
  end subroutine

  ! Shared locks do not wait for each other: the others do their work while the holder has the lock,
  ! and prove that they hold it, too, only after it was released.
#undef UNIT
#define UNIT "shared"
  subroutine shared()
    if (rank == holder) then
      call lock(MPI_LOCK_SHARED, 0)
      call put(1)
      call flush_target()
      call tell(2*part + held)
      call serve(2*part + done, askers)
      call unlock()
      call tell(2*part + released)
    else if (rank < askers) then
      call hear(2*part + held, 1)
      call lock(MPI_LOCK_SHARED, 0)
      call work(many)
      call tell(2*part + done)
      call hear(2*part + released, 1)
      call put(1)
      call flush_target()
      call unlock()
    end if
    call finish(2*part)
  end subroutine

  ! Nor do those that need no check, exclusive as they are. (Each writes to its own part, and little
  ! in Open MPI's osc/pt2pt, where a large put under such a lock never ends.)
#undef UNIT
#define UNIT "unchecked"
  subroutine unchecked()
    if (rank == holder) then
      call lock(MPI_LOCK_EXCLUSIVE, MPI_MODE_NOCHECK)
      call put(1)
      call flush_target()
      call tell(3*part + held)
      call serve(3*part + done, askers)
      call unlock()
      call tell(3*part + released)
    else if (rank < askers) then
      call hear(3*part + held, 1)
      call lock(MPI_LOCK_EXCLUSIVE, MPI_MODE_NOCHECK)
      call work(merge(256, many, osc_is('pt2pt')))
      call tell(3*part + done)
      call hear(3*part + released, 1)
      call put(1)
      call flush_target()
      call unlock()
    end if
    call finish(3*part)
  end subroutine
end program
