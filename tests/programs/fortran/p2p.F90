! Late Sender and Late Receiver, and both Wrong Orders, in Fortran with mpif.h. Process 0 receives
! from all others, then sends to them.
#include "truth.inc"
#define UNIT "p2p"
program p2p
  use truth
  implicit none
  include 'mpif.h'
  integer, parameter :: bytes = 4, many = 2**20
  ! Told in each part: process r is about to do its own.
  integer, parameter :: part = 5
  integer, allocatable, save :: large(:)
  integer, save :: value(1), ierr, last ! save: see truth.inc
  integer :: r
  double precision :: before, after

  before = truth_now()
  call MPI_Init(ierr)
  after = truth_now()
  call truth_begin(before, after)
  last = ranks - 1
  allocate (large(many))
  large = rank
  call meet()
  call late_senders()
  call meet()
  call several_late_senders()
  call meet()
  call late_receivers()
  call meet()
  call large_message()
  call meet()
  call senders_in_wrong_order()
  call meet()
  call receivers_in_wrong_order()
  call meet()

  if (rank == 0) then
    call at_least('mpi_latesender', 'MPI_Recv', 0, last*surely)
    call at_least('mpi_latesender', 'MPI_Waitall', 0, last*surely)
    call at_least('mpi_latereceiver', 'MPI_Ssend', 0, last*surely)
    call at_least('mpi_latereceiver', 'MPI_Send', 0, surely)
    call at_least('mpi_latesender_wo', 'MPI_Recv', last, surely)
    call at_least('mpi_latereceiver_wo', 'MPI_Ssend', 0, surely)
    call exactly_zero('mpi_latesender_wo', '*', 0)
    do r = 1, last
      call exactly_zero('mpi_latereceiver+mpi_latereceiver_wo', '*', r)
    end do
  end if
  call check_clock()
  before = truth_now()
  call MPI_Finalize(ierr)
  after = truth_now()
  call truth_end(before, after)

contains
#undef UNIT
#define UNIT "send"
  subroutine send(to, tag, message)
    integer, intent(in) :: to, tag
    character(len=*), intent(in) :: message
    TIMED(MPI_Send)(value, 1, MPI_INTEGER, to, tag, MPI_COMM_WORLD, ierr)
    NOTED('send='//message//' bytes_sent_p2p=4')
  end subroutine

#undef UNIT
#define UNIT "synchronous_send"
  subroutine synchronous_send(to, tag, message)
    integer, intent(in) :: to, tag
    character(len=*), intent(in) :: message
    TIMED(MPI_Ssend)(value, 1, MPI_INTEGER, to, tag, MPI_COMM_WORLD, ierr)
    NOTED('send='//message//' bytes_sent_p2p=4')
  end subroutine

#undef UNIT
#define UNIT "receive"
  subroutine receive(from, tag, message)
    integer, intent(in) :: from, tag
    character(len=*), intent(in) :: message
    TIMED(MPI_Recv)(value, 1, MPI_INTEGER, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    NOTED('recv='//message//' bytes_rcvd_p2p=4')
  end subroutine

  subroutine late_senders()
    integer :: other
    if (rank == 0) then
      do other = 1, last
        call tell(other)
        call receive(other, 1, 'a'//text(other))
      end do
    else
      call hear_late(rank, 1)
      call send(0, 1, 'a'//text(rank))
    end if
  end subroutine

  ! Each sends 60 ms after the one before it: the last one decides.
#undef UNIT
#define UNIT "several_late_senders"
  subroutine several_late_senders()
    integer :: other, requests(3), got(3)
    character(len=:), allocatable :: names
    if (rank == 0) then
      names = ''
      do other = 1, last
        TIMED(MPI_Irecv)(got(other), 1, MPI_INTEGER, other, 2, MPI_COMM_WORLD, requests(other), ierr)
        NOTED('post=b'//text(other))
        if (other > 1) names = names//','
        names = names//'b'//text(other)
      end do
      call tell(part)
      TIMED(MPI_Waitall)(last, requests, MPI_STATUSES_IGNORE, ierr)
      NOTED('recv='//names//' bytes_rcvd_p2p='//text(bytes*last))
    else
      call hear_late(part + rank - 1, 1)
      call tell(part + rank)
      call send(0, 2, 'b'//text(rank))
    end if
  end subroutine

  subroutine late_receivers()
    integer :: other
    if (rank == 0) then
      do other = 1, last
        call tell(2*part + other)
        call synchronous_send(other, 3, 'c'//text(other))
      end do
    else
      call hear_late(2*part + rank, 1)
      call receive(0, 3, 'c'//text(rank))
    end if
  end subroutine

  ! A standard send, too large to be buffered.
#undef UNIT
#define UNIT "large_message"
  subroutine large_message()
    if (rank == 0) then
      call tell(3*part)
      TIMED(MPI_Send)(large, many, MPI_INTEGER, last, 4, MPI_COMM_WORLD, ierr)
      NOTED('send=d bytes_sent_p2p='//text(bytes*many))
    else if (rank == last) then
      call hear_late(3*part, 1)
      TIMED(MPI_Recv)(large, many, MPI_INTEGER, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      NOTED('recv=d bytes_rcvd_p2p='//text(bytes*many))
    end if
  end subroutine

  ! The last process waits for e2 while e1, which is older, is there and not received.
  subroutine senders_in_wrong_order()
    if (rank == 0) then
      call send(last, 5, 'e1')
      call tell(4*part)
      call hear_late(4*part + 1, 1)
      call send(last, 6, 'e2')
    else if (rank == last) then
      call hear(4*part, 1)
      call tell(4*part + 1)
      call receive(0, 6, 'e2')
      call pause_ms(late_ms/2)
      call receive(0, 5, 'e1')
    end if
  end subroutine

  ! Process 0 waits for the receiver of f2 while f1, which is older, is not received.
#undef UNIT
#define UNIT "receivers_in_wrong_order"
  subroutine receivers_in_wrong_order()
    integer :: request
    if (rank == 0) then
      TIMED(MPI_Isend)(value, 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, request, ierr)
      NOTED('send=f1 bytes_sent_p2p=4')
      call tell(5*part)
      call synchronous_send(last, 8, 'f2')
      TIMED(MPI_Wait)(request, MPI_STATUS_IGNORE, ierr)
      NOTED('finish=f1')
    end if
    if (rank == last) then
      call hear_late(5*part, 1)
      call receive(0, 8, 'f2')
      call tell(5*part + 1)
    end if
    if (rank == 1) then
      call hear_late(5*part + 1, 1)
      call receive(0, 7, 'f1')
    end if
  end subroutine
end program
