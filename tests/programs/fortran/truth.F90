! truth.h for Fortran programs: what a program really did, by MPI_Wtime around its own calls. What
! stands there of notes and of who is late holds here too.
!
! MPI_Wtime may count from another moment in each process (Open MPI's does), so each process
! compares it with the node's clock when it begins, and again before it ends.
module truth
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: hold_me_up
  public :: truth_begin, check_clock, truth_end, entering, left, noted, meet, tell, hear, hear_late, told, pause_ms, come_late
  public :: only, text, list, at_least, exactly_zero, osc_is
  public :: rank, ranks, late_ms, surely, truth_now

  integer(c_int), bind(C) :: rank, ranks ! of MPI_COMM_WORLD
  integer, parameter :: late_ms = 60                      ! kLateMs
  double precision, parameter :: surely = 0.4d-3*late_ms  ! SURELY(kLateMs)

  character(len=:), allocatable :: called, unit
  integer :: line
  double precision :: entered, exited, shift ! from MPI_Wtime to the node's clock
  double precision, external :: MPI_Wtime

  interface
    function truth_now() bind(C)
      import :: c_double
      real(c_double) :: truth_now
    end function
    function truth_enter() bind(C)
      import :: c_double
      real(c_double) :: truth_enter
    end function
    subroutine truth_open(entered, left, wanted) bind(C)
      import :: c_double, c_int
      real(c_double), value :: entered, left
      integer(c_int), value :: wanted
    end subroutine
    subroutine truth_close(entered, left) bind(C)
      import :: c_double
      real(c_double), value :: entered, left
    end subroutine
    subroutine truth_note(entered, left, call, note, unit, line) bind(C)
      import :: c_double, c_int, c_char
      real(c_double), value :: entered, left
      character(kind=c_char), intent(in) :: call(*), note(*), unit(*)
      integer(c_int), value :: line
    end subroutine
    subroutine meet() bind(C)
    end subroutine
    subroutine tell(event) bind(C)
      import :: c_int
      integer(c_int), value :: event
    end subroutine
    subroutine hear(event, times) bind(C)
      import :: c_int
      integer(c_int), value :: event, times
    end subroutine
    subroutine hear_late(event, times) bind(C)
      import :: c_int
      integer(c_int), value :: event, times
    end subroutine
    function c_told(event, times) bind(C, name='told')
      import :: c_int
      integer(c_int), value :: event, times
      integer(c_int) :: c_told
    end function
    subroutine pause_ms(ms) bind(C)
      import :: c_int
      integer(c_int), value :: ms
    end subroutine
    subroutine hold_me_up(caught, released) bind(C)
      import :: c_int
      integer(c_int), value :: caught, released
    end subroutine
    subroutine come_late(late) bind(C)
      import :: c_int
      integer(c_int), value :: late
    end subroutine
    subroutine c_at_least(metrics, function, at_rank, seconds) bind(C, name='at_least')
      import :: c_char, c_int, c_double
      character(kind=c_char), intent(in) :: metrics(*), function(*)
      integer(c_int), value :: at_rank
      real(c_double), value :: seconds
    end subroutine
    subroutine c_exactly_zero(metrics, function, at_rank) bind(C, name='exactly_zero')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: metrics(*), function(*)
      integer(c_int), value :: at_rank
    end subroutine
    function c_osc_is(which) bind(C, name='osc_is')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: which(*)
      integer(c_int) :: c_osc_is
    end function
  end interface

contains

  ! After MPI_Init, by the times of truth_now around it; for 2 to 4 processes.
  subroutine truth_begin(before, after)
    double precision, intent(in) :: before, after
    call truth_open(before, after, 0)
    shift = measured_shift()
  end subroutine

  ! Before MPI_Finalize: MPI_Wtime may not be called after it.
  subroutine check_clock()
    if (abs(measured_shift() - shift) > 1d-4) error stop 'MPI_Wtime does not run like the node''s clock'
  end subroutine

  ! After MPI_Finalize.
  subroutine truth_end(before, after)
    double precision, intent(in) :: before, after
    call truth_close(before, after)
  end subroutine

  function measured_shift() result(best)
    double precision :: best, before, middle, after, width
    integer :: i
    width = huge(width)
    best = 0
    do i = 1, 50
      before = truth_now()
      middle = MPI_Wtime()
      after = truth_now()
      if (after - before >= width) cycle
      width = after - before
      best = (before + after)/2 - middle
    end do
  end function

  ! Right before a call; right after it; and what it did, in the words of truth.h.
  subroutine entering(function, caller, at_line)
    character(len=*), intent(in) :: function, caller
    integer, intent(in) :: at_line
    double precision :: settled
    called = function
    unit = caller
    line = at_line
    settled = truth_enter() ! a fresh time slice
    entered = MPI_Wtime()
  end subroutine

  subroutine left()
    exited = MPI_Wtime()
  end subroutine

  subroutine noted(note)
    character(len=*), intent(in) :: note
    call truth_note(entered + shift, exited + shift, called//c_null_char, note//c_null_char, &
                    unit//c_null_char, line)
  end subroutine

  logical function told(event, times)
    integer, intent(in) :: event, times
    told = c_told(event, times) /= 0
  end function

  logical function osc_is(which)
    character(len=*), intent(in) :: which
    osc_is = c_osc_is(which//c_null_char) /= 0
  end function

  ! The set that holds one rank, for come_late; sets may be added.
  integer function only(r)
    integer, intent(in) :: r
    only = ishft(1, r)
  end function

  function text(number)
    integer, intent(in) :: number
    character(len=:), allocatable :: text
    character(len=12) :: digits
    write (digits, '(i0)') number
    text = trim(digits)
  end function

  ! Numbers with commas.
  function list(numbers)
    integer, intent(in) :: numbers(:)
    character(len=:), allocatable :: list
    integer :: i
    list = ''
    do i = 1, size(numbers)
      if (i > 1) list = list//','
      list = list//text(numbers(i))
    end do
  end function

  subroutine at_least(metrics, function, at_rank, seconds)
    character(len=*), intent(in) :: metrics, function
    integer, intent(in) :: at_rank
    double precision, intent(in) :: seconds
    call c_at_least(metrics//c_null_char, function//c_null_char, at_rank, seconds)
  end subroutine

  subroutine exactly_zero(metrics, function, at_rank)
    character(len=*), intent(in) :: metrics, function
    integer, intent(in) :: at_rank
    call c_exactly_zero(metrics//c_null_char, function//c_null_char, at_rank)
  end subroutine
end module
