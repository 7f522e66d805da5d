! Coarrays, two images or more: image 1 comes late to statements that make the others wait. Each image prints how long
! it was in each statement, and in which line that stands.
module waits
  use, intrinsic :: iso_fortran_env, only: event_type
  implicit none
  integer, parameter :: rounds = 2
  integer, parameter :: wanted = 200000  ! microseconds
  real(8) :: inside(8) = 0
  integer :: lines(8) = 0
  type(event_type), save :: ready[*]
contains
  subroutine late()
    use, intrinsic :: iso_c_binding, only: c_int
    interface
      integer(c_int) function usleep(microseconds) bind(c, name="usleep")
        import :: c_int
        integer(c_int), value :: microseconds
      end function
    end interface
    integer(c_int) :: status
    if (this_image() == 1) status = usleep(int(wanted, c_int))
  end subroutine

  subroutine note(what, line, began)
    integer, intent(in) :: what, line
    real(8), intent(in) :: began
    inside(what) = inside(what) + seconds() - began
    lines(what) = line
  end subroutine

  real(8) function seconds()
    integer(8) :: ticks, rate
    call system_clock(ticks, rate)
    seconds = real(ticks, 8) / rate
  end function

  subroutine step(field, others)
    real(8), intent(inout) :: field(:)[*]
    integer, intent(in) :: others(:)
    real(8) :: began, total
    integer :: next, i

    call late()
    began = seconds()
    sync all
    call note(1, __LINE__ - 1, began)

    call late()
    began = seconds()
    sync images(others)
    call note(2, __LINE__ - 1, began)

    total = this_image()
    call late()
    began = seconds()
    call co_sum(total)
    call note(3, __LINE__ - 1, began)

    next = mod(this_image(), num_images()) + 1
    began = seconds()
    field(1:8)[next] = this_image()
    call note(4, __LINE__ - 1, began)
    sync all
    began = seconds()
    field(9:16) = field(1:8)[next]
    call note(5, __LINE__ - 1, began)
    sync all

    ! For events and critical sections the coarray library asks again and again.
    call late()
    began = seconds()
    if (this_image() == 1) then
      do i = 2, num_images()
        event post (ready[i])
      end do
    else
      event wait (ready)
    end if
    call note(6, __LINE__ - 2, began)
    call note(7, __LINE__ - 6, began)
    began = seconds()
    critical
      field(1) = field(1) + 1
    end critical
    call note(8, __LINE__ - 3, began)
    sync all
  end subroutine
end module

program coarrays
  use waits
  implicit none
  real(8), allocatable :: field(:)[:]
  integer, allocatable :: others(:)
  integer :: i
  allocate (field(64)[*])
  allocate (others(num_images() - 1))
  others = pack([(i, i = 1, num_images())], [(i, i = 1, num_images())] /= this_image())
  field = 0
  sync all
  do i = 1, rounds
    call step(field, others)
  end do
  sync all
  print '(a, i0, 8(1x, i0, 1x, f9.6))', 'image ', this_image(), (lines(i), inside(i), i = 1, 8)
end program
