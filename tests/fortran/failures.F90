! Calls that fail and return their error, two processes: the program gets the same error and the same statuses as
! without measurement, the trace has the call and its error, what it did all the same and nothing else, and later
! messages are not confused.
program failures
#include "use_mpi.inc"
  implicit none
#include "mpif_h.inc"
  integer :: rank

  call MPI_Init(ONLY_IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call notes_open(rank)
  call made("MPI_Init")
  call made("MPI_Comm_rank")
  M(MPI_Comm_set_errhandler)(MPI_COMM_WORLD, MPI_ERRORS_RETURN IERR)
  call truncated()
  call truncated_among_others()
  call wrong_arguments()
  call afterwards()
  M(MPI_Finalize)(ONLY_IERR)
  call notes_close()

contains

  subroutine class_of(what, error)
    character(len=*), intent(in) :: what
    integer, intent(in) :: error
    integer :: class
    M(MPI_Error_class)(error, class IERR)
    call result_numbers(what, [class])
  end subroutine

  ! Numbers of error classes in the trace are those of docs/format.md.
  subroutine failed(class)
    integer, intent(in) :: class
    character(len=40) :: text
    write (text, '(a,i0)') 'MPI_ERROR error_class=', class
    call event(trim(text))
  end subroutine

  ! What the status of a message says that was longer than its buffer: in MPICH no size that means anything.
  subroutine took(tag, status)
    integer, intent(in) :: tag
    STATUS(status)
    integer :: bytes, length
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
    M(MPI_Get_elements)(status, MPI_BYTE, bytes IERR)
    M(MPI_Get_library_version)(library, length IERR)
    if (index(library(:length), 'MPICH') /= 0) bytes = 0
    call failed(15)
    call received(0, tag, bytes)
  end subroutine

  subroutine truncated()
    integer :: x(4), y(4), error
    STATUS(st)
    x = [1, 2, 3, 4]
    y = -1
    if (rank == 0) then
      M(MPI_Send)(x, 4, MPI_INTEGER, 1, 1, MPI_COMM_WORLD IERR)
      call sent(1, 1, 16)
    else
      call made("MPI_Recv")
      call MPI_Recv(y, 2, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, st, error)
      call took(1, st)
      call class_of('truncated, with status', error)
    end if
    M(MPI_Barrier)(MPI_COMM_WORLD IERR)
    call collective(-1, 0, 0)
    if (rank == 0) then
      M(MPI_Send)(x, 4, MPI_INTEGER, 1, 2, MPI_COMM_WORLD IERR)
      call sent(1, 2, 16)
    else
      call made("MPI_Recv")
      call MPI_Recv(y, 2, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call took(2, st)  ! its own would say the same
      call class_of('truncated', error)
    end if
  end subroutine

  subroutine truncated_among_others()
    integer, asynchronous, save :: x(4), y(4)
    integer :: error, i
    REQUEST :: r(2)
    STATUSES(sts, 2)
    x = [5, 6, 7, 8]
    y = -1
    if (rank == 0) then
      M(MPI_Barrier)(MPI_COMM_WORLD IERR)
      call collective(-1, 0, 0)
      M(MPI_Send)(x, 1, MPI_INTEGER, 1, 3, MPI_COMM_WORLD IERR)
      call sent(1, 3, 4)
      M(MPI_Send)(x, 4, MPI_INTEGER, 1, 4, MPI_COMM_WORLD IERR)
      call sent(1, 4, 16)
      return
    end if
    do i = 1, 2
      SOURCE_OF(sts, i) = -70 - i
      TAG_OF(sts, i) = -80 - i
    end do
    M(MPI_Irecv)(y(1), 1, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, r(1) IERR)
    call event('MPI_RECV_REQUEST slid=0 tag=3')
    M(MPI_Irecv)(y(2), 2, MPI_INTEGER, 0, 4, MPI_COMM_WORLD, r(2) IERR)
    call event('MPI_RECV_REQUEST slid=0 tag=4')
    M(MPI_Barrier)(MPI_COMM_WORLD IERR)
    call collective(-1, 0, 0)
    call made("MPI_Waitall")
    call MPI_Waitall(2, r, sts, error)
    if (SOURCE_OF(sts, 1) == 0) then
      call received(0, 3, 4)
#if defined(USE_MPI_F08)
      call took(4, sts(2))
#else
      call took(4, sts(:, 2))
#endif
    else  ! Open MPI fills in no status then: of the messages it is known which they were, and no more
      call failed(19)
      call received(0, 3, 0)
      call received(0, 4, 0)
    end if
    call class_of('in status', error)
    call result_numbers('statuses', [(SOURCE_OF(sts, i), TAG_OF(sts, i), i = 1, 2)])
  end subroutine

  subroutine wrong_arguments()
    integer :: x, error
    REQUEST :: r
    STATUS(st)
    x = 1
    call made("MPI_Send")
    call MPI_Send(x, 1, MPI_INTEGER, 17, 1, MPI_COMM_WORLD, error)
    call failed(6)
    call class_of('rank', error)
    call made("MPI_Isend")
    call MPI_Isend(x, -1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, r, error)
    call failed(2)
    call class_of('count', error)
    call made("MPI_Recv")
    call MPI_Recv(x, 1, MPI_INTEGER, 0, -17, MPI_COMM_WORLD, st, error)
    call failed(4)
    call class_of('tag', error)
    call made("MPI_Bcast")
    call MPI_Bcast(x, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, error)
    call failed(3)
    call class_of('type', error)
    call made("MPI_Allreduce")
    call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_OP_NULL, MPI_COMM_WORLD, error)
    call failed(10)
    call class_of('operation', error)
  end subroutine

  subroutine afterwards()
    integer :: x, y
    STATUS(st)
    x = 60 + rank
    M(MPI_Sendrecv)(x, 1, MPI_INTEGER, 1 - rank, 5, y, 1, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, st IERR)
    call sent(1 - rank, 5, 4)
    call received(1 - rank, 5, 4)
    call result_numbers('afterwards', [y, STATUS_SOURCE(st), STATUS_TAG(st)])
  end subroutine
end program
