! Point-to-point communication and requests, two processes. Every result is fixed by MPI, whatever the timing.
program messages
#include "use_mpi.inc"
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
#include "mpif_h.inc"
  integer :: rank, other
  integer :: shift  ! mpi_f08 of MPICH 4.0 counts requests from 0

  call MPI_Init(ONLY_IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call notes_open(rank)
  call made("MPI_Init")
  call made("MPI_Comm_rank")
  other = 1 - rank
  call blocking()
  call probing()
  call requests()
  call arrays_of_requests()
  call spinning()
  call persistent()
  call ends_of_requests()
  call ignored_peer()
  M(MPI_Finalize)(ONLY_IERR)
  call notes_close()

contains

  ! Rank 0 sends in every mode, rank 1 answers by name.
  subroutine blocking()
    integer :: x(3), y(4), count, length
    integer, save :: space(1000)
#if defined(USE_MPI_F08)
    type(c_ptr) :: detached
#else
    integer(MPI_ADDRESS_KIND) :: detached
#endif
    STATUS(st)
    x = [100 + rank, 2, 3]
    y = -1
    if (rank == 0) then
      M(MPI_Send)(x, 3, MPI_INTEGER, 1, 11, MPI_COMM_WORLD IERR)
      call sent(1, 11, 12)
      M(MPI_Ssend)(x, 2, MPI_INTEGER, 1, 12, MPI_COMM_WORLD IERR)
      call sent(1, 12, 8)
      M(MPI_Buffer_attach)(space, 4000 IERR)
      M(MPI_Bsend)(x, 1, MPI_INTEGER, 1, 13, MPI_COMM_WORLD IERR)
      call sent(1, 13, 4)
      M(MPI_Buffer_detach)(detached, length IERR)
      call result_numbers('detached', [length])
      M(MPI_Recv)(y, 4, MPI_INTEGER, 1, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
      call received(1, 14, 0)
      M(MPI_Rsend)(x, 3, MPI_INTEGER, 1, 15, MPI_COMM_WORLD IERR)
      call sent(1, 15, 12)
    else
      M(MPI_Recv)(y, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, st IERR)
      call received(0, 11, 12)
      M(MPI_Get_count)(st, MPI_INTEGER, count IERR)
      call result_numbers('first', [y, STATUS_SOURCE(st), STATUS_TAG(st), count])
      M(MPI_Recv)(y, 4, MPI_INTEGER, 0, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
      call received(0, 12, 8)
      call result_numbers('second', y)
      M(MPI_Recv)(y, 4, MPI_INTEGER, 0, 13, MPI_COMM_WORLD, st IERR)
      call received(0, 13, 4)
      M(MPI_Get_elements)(st, MPI_INTEGER, count IERR)
      call result_numbers('third', [y, STATUS_SOURCE(st), STATUS_TAG(st), count])
      ! Posted before the other side's ready send may start.
      call ready_receive()
    end if
    y = -1
    M(MPI_Sendrecv)(x, 2, MPI_INTEGER, other, 16, y, 4, MPI_INTEGER, other, 16, MPI_COMM_WORLD, st IERR)
    call sent(other, 16, 8)
    call received(other, 16, 8)
    call result_numbers('exchanged', [y, STATUS_SOURCE(st), STATUS_TAG(st)])
    M(MPI_Sendrecv_replace)(x, 3, MPI_INTEGER, other, 17, other, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
    call sent(other, 17, 12)
    call received(other, 17, 12)
    call result_numbers('replaced', x)
  end subroutine

  subroutine ready_receive()
    integer :: z(3), nothing(1)
    REQUEST :: posted
    STATUS(st)
    M(MPI_Irecv)(z, 3, MPI_INTEGER, 0, 15, MPI_COMM_WORLD, posted IERR)
    call event('MPI_RECV_REQUEST slid=0 tag=15')
    M(MPI_Send)(nothing, 0, MPI_INTEGER, 0, 14, MPI_COMM_WORLD IERR)
    call sent(0, 14, 0)
    M(MPI_Wait)(posted, st IERR)
    call received(0, 15, 12)
    call result_numbers('ready', [z, STATUS_SOURCE(st), STATUS_TAG(st), merge(1, 0, posted == MPI_REQUEST_NULL)])
  end subroutine

  subroutine probing()
    integer :: x, y, count, i
    logical :: flag
    MESSAGE :: message
    REQUEST :: request
    STATUS(st)
    x = 200 + rank
    if (rank == 0) then
      do i = 21, 25
        M(MPI_Send)(x, 1, MPI_INTEGER, 1, i, MPI_COMM_WORLD IERR)
        call sent(1, i, 4)
      end do
      return
    end if
    M(MPI_Probe)(0, 21, MPI_COMM_WORLD, st IERR)
    M(MPI_Get_count)(st, MPI_INTEGER, count IERR)
    call result_numbers('probe', [STATUS_SOURCE(st), STATUS_TAG(st), count])
    M(MPI_Recv)(y, 1, MPI_INTEGER, 0, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
    call received(0, 21, 4)
    flag = .false.
    do while (.not. flag)
      M(MPI_Iprobe)(MPI_ANY_SOURCE, 22, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE IERR)
    end do
    M(MPI_Recv)(y, 1, MPI_INTEGER, 0, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
    call received(0, 22, 4)
    flag = .true.
    M(MPI_Iprobe)(0, 99, MPI_COMM_WORLD, flag, st IERR)
    call result_numbers('nothing there', [merge(1, 0, flag)])
    M(MPI_Mprobe)(0, MPI_ANY_TAG, MPI_COMM_WORLD, message, st IERR)
    call event('MPI_RECV_REQUEST slid=0 tag=23')
    y = -1
    M(MPI_Mrecv)(y, 1, MPI_INTEGER, message, st IERR)
    call received(0, 23, 4)
    call result_numbers('mrecv', [y, STATUS_SOURCE(st), STATUS_TAG(st), merge(1, 0, message == MPI_MESSAGE_NULL)])
    M(MPI_Mprobe)(0, 24, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE IERR)
    call event('MPI_RECV_REQUEST slid=0 tag=24')
    M(MPI_Mrecv)(y, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE IERR)
    call received(0, 24, 4)
    flag = .false.
    do while (.not. flag)
      M(MPI_Improbe)(0, 25, MPI_COMM_WORLD, flag, message, st IERR)
    end do
    call event('MPI_RECV_REQUEST slid=0 tag=25')
    y = -1
    M(MPI_Imrecv)(y, 1, MPI_INTEGER, message, request IERR)
    call event('MPI_RECV_REQUEST slid=0 tag=25')
    M(MPI_Wait)(request, MPI_STATUS_IGNORE IERR)
    call received(0, 25, 4)
    call result_numbers('imrecv', [y, STATUS_TAG(st), merge(1, 0, message == MPI_MESSAGE_NULL)])
  end subroutine

  subroutine post(i, tag, buffer, request)
    integer, intent(in) :: i, tag
    integer, asynchronous, intent(inout) :: buffer(:)
    REQUEST, intent(out) :: request
    character(len=40) :: text
    M(MPI_Irecv)(buffer(i), 1, MPI_INTEGER, other, tag, MPI_COMM_WORLD, request IERR)
    write (text, '(a,i0,a,i0)') 'MPI_RECV_REQUEST slid=', other, ' tag=', tag
    call event(trim(text))
  end subroutine

  subroutine requests()
    integer, asynchronous, save :: x(4), y(4)
    integer :: i
    logical :: flag
    REQUEST :: request, sends(4)
    STATUS(st)
    x = [301, 302, 303, 304] + 10 * rank
    y = -1
    call post(1, 31, y, request)
    M(MPI_Isend)(x(1), 1, MPI_INTEGER, other, 31, MPI_COMM_WORLD, sends(1) IERR)
    call sent(other, 31, 4)
    M(MPI_Wait)(request, st IERR)
    call received(other, 31, 4)
    M(MPI_Wait)(sends(1), MPI_STATUS_IGNORE IERR)
    call event('MPI_SEND_COMPLETE')
    call result_numbers('wait', [y, STATUS_SOURCE(st), STATUS_TAG(st), merge(1, 0, request == MPI_REQUEST_NULL)])
    call post(2, 32, y, request)
    M(MPI_Issend)(x(2), 1, MPI_INTEGER, other, 32, MPI_COMM_WORLD, sends(2) IERR)
    call sent(other, 32, 4)
    flag = .false.
    do while (.not. flag)
      M(MPI_Test)(request, flag, st IERR)
    end do
    call received(other, 32, 4)
    M(MPI_Wait)(sends(2), st IERR)
    call event('MPI_SEND_COMPLETE')
    call result_numbers('test', y)
    ! An inactive request completes at once, with the empty status.
    request = MPI_REQUEST_NULL
    M(MPI_Wait)(request, st IERR)
    flag = .false.
    M(MPI_Test)(request, flag, st IERR)
    call result_numbers('null', [merge(1, 0, flag), merge(1, 0, STATUS_SOURCE(st) == MPI_ANY_SOURCE)])
    call post(3, 33, y, request)
    M(MPI_Isend)(x(3), 1, MPI_INTEGER, other, 33, MPI_COMM_WORLD, sends(3) IERR)
    call sent(other, 33, 4)
    flag = .false.
    do while (.not. flag)
      ! (Open MPI never says yes to one that ignores the status.)
      M(MPI_Request_get_status)(request, flag, st IERR)
    end do
    call received(other, 33, 4)
    M(MPI_Wait)(request, st IERR)
    M(MPI_Wait)(sends(3), MPI_STATUS_IGNORE IERR)
    call event('MPI_SEND_COMPLETE')
    i = STATUS_TAG(st)
    call result_numbers('asked', [y, i])
  end subroutine

  ! Rank 0 sends tags 41..43 in an order that rank 1 asks for, so that indices are known.
  subroutine arrays_of_requests()
    integer, parameter :: n = 3, many = 40
    integer, asynchronous, save :: x(many), y(many)
    integer :: i, j, index, count, found, indices(many), go, completed(many)
    character(len=40) :: text
    REQUEST :: r(many)
    STATUS(st)
    STATUSES(sts, many)
    x = [(400 + i + 1000 * rank, i = 1, many)]
    y = -1
    go = 0
    r(1) = MPI_REQUEST_NULL
    M(MPI_Irecv)(y, 1, MPI_INTEGER, rank, 39, MPI_COMM_WORLD, r(2) IERR)
    write (text, '(a,i0,a)') 'MPI_RECV_REQUEST slid=', rank, ' tag=39'
    call event(trim(text))
    M(MPI_Send)(x, 1, MPI_INTEGER, rank, 39, MPI_COMM_WORLD IERR)
    call sent(rank, 39, 4)
    M(MPI_Waitany)(2, r, index, MPI_STATUS_IGNORE IERR)
    call received(rank, 39, 4)
    shift = 2 - index
    call result_numbers('second', [index, y(1)])
    y = -1
    if (rank == 0) then
      do i = n, 1, -1
        M(MPI_Recv)(go, 1, MPI_INTEGER, 1, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
        call received(1, 40, 4)
        M(MPI_Send)(x(i), 1, MPI_INTEGER, 1, 40 + i, MPI_COMM_WORLD IERR)
        call sent(1, 40 + i, 4)
      end do
    else
      do i = 1, n
        call post(i, 40 + i, y, r(i))
      end do
      do i = 1, n
        M(MPI_Send)(go, 1, MPI_INTEGER, 0, 40, MPI_COMM_WORLD IERR)
        call sent(0, 40, 4)
        if (i == 1) then
          M(MPI_Waitany)(n, r, index, MPI_STATUS_IGNORE IERR)
          call result_numbers('waitany ignoring', [index, y(1:n)])
        else
          M(MPI_Waitany)(n, r, index, st IERR)
          call result_numbers('waitany', [index, y(1:n), STATUS_SOURCE(st), STATUS_TAG(st)])
        end if
        call received(0, 40 + index + shift, 4)
      end do
      M(MPI_Waitany)(n, r, index, st IERR)
      call result_numbers('none left', [merge(1, 0, index == MPI_UNDEFINED)])
    end if

    ! More than fit into small arrays; sends and receives in one call, statuses given, then ignored.
    y = -1
    do i = 1, many / 2
      call post(i, 100 + i, y, r(2 * i - 1))
      M(MPI_Isend)(x(i), 1, MPI_INTEGER, other, 100 + i, MPI_COMM_WORLD, r(2 * i) IERR)
      call sent(other, 100 + i, 4)
    end do
    M(MPI_Waitall)(many, r, sts IERR)
    do i = 1, many / 2
      call received(other, 100 + i, 4)
      call event('MPI_SEND_COMPLETE')
    end do
    call result_numbers('waitall', [y, (SOURCE_OF(sts, 2 * i - 1), TAG_OF(sts, 2 * i - 1), i = 1, many / 2)])
    call result_numbers('all null', [(merge(1, 0, r(i) == MPI_REQUEST_NULL), i = 1, many)])
    y = -1
    do i = 1, many / 2
      call post(i, 200 + i, y, r(2 * i - 1))
      M(MPI_Isend)(x(i), 1, MPI_INTEGER, other, 200 + i, MPI_COMM_WORLD, r(2 * i) IERR)
      call sent(other, 200 + i, 4)
    end do
    M(MPI_Waitall)(many, r, MPI_STATUSES_IGNORE IERR)
    do i = 1, many / 2
      call received(other, 200 + i, 4)
      call event('MPI_SEND_COMPLETE')
    end do
    call result_numbers('waitall ignoring', y)

    ! Some at a time until all are there: with statuses, then without.
    do count = 1, 2
      y = -1
      completed = 0
      do i = 1, many / 2
        call post(i, 300 + i, y, r(i))
      end do
      do i = 1, many / 2
        M(MPI_Isend)(x(i), 1, MPI_INTEGER, other, 300 + i, MPI_COMM_WORLD, r(many / 2 + i) IERR)
        call sent(other, 300 + i, 4)
      end do
      do
        if (count == 1) then
          M(MPI_Waitsome)(many, r, found, indices, sts IERR)
        else
          M(MPI_Waitsome)(many, r, found, indices, MPI_STATUSES_IGNORE IERR)
        end if
        if (found == MPI_UNDEFINED) exit
        do i = 1, found
          j = indices(i) + shift
          if (j <= many / 2) then
            completed(j) = merge(TAG_OF(sts, i), 300 + j, count == 1)
            call received(other, 300 + j, 4)
          else
            completed(j) = -1
            call event('MPI_SEND_COMPLETE')
          end if
        end do
      end do
      call result_numbers('waitsome', [y, completed])
    end do
    ! Both sides are done before tags are used again.
    M(MPI_Barrier)(MPI_COMM_WORLD IERR)
    call collective(-1, 0, 0)
  end subroutine

  ! The Test functions, until they are done.
  subroutine spinning()
    integer, parameter :: n = 4
    integer, asynchronous, save :: x(n), y(n)
    integer :: i, index, found, indices(n), left, tags(n)
    logical :: flag
    REQUEST :: r(n)
    STATUS(st)
    STATUSES(sts, n)
    x = [(500 + i + 1000 * rank, i = 1, n)]
    y = -1
    call start(x, y, r, 50)
    flag = .false.
    do while (.not. flag)
      M(MPI_Testall)(n, r, flag, sts IERR)
    end do
    call completed_two(50)
    call result_numbers('testall', [y, TAG_OF(sts, 1), TAG_OF(sts, 2)])
    call start(x, y, r, 60)
    flag = .false.
    do while (.not. flag)
      M(MPI_Testall)(n, r, flag, MPI_STATUSES_IGNORE IERR)
    end do
    call completed_two(60)
    call start(x, y, r, 70)
    left = n
    tags = 0
    do while (left > 0)
      M(MPI_Testany)(n, r, index, flag, st IERR)
      if (flag .and. index /= MPI_UNDEFINED) then
        left = left - 1
        if (index + shift <= 2) tags(index + shift) = STATUS_TAG(st)
      end if
    end do
    M(MPI_Testany)(n, r, index, flag, st IERR)
    call completed_two(70)
    call result_numbers('testany', [y, tags, merge(1, 0, flag), merge(1, 0, index == MPI_UNDEFINED)])
    call start(x, y, r, 80)
    left = n
    tags = 0
    do while (left > 0)
      M(MPI_Testsome)(n, r, found, indices, sts IERR)
      do i = 1, found
        left = left - 1
        if (indices(i) + shift <= 2) tags(indices(i) + shift) = TAG_OF(sts, i)
      end do
    end do
    M(MPI_Testsome)(n, r, found, indices, MPI_STATUSES_IGNORE IERR)
    call completed_two(80)
    call result_numbers('testsome', [y, tags, merge(1, 0, found == MPI_UNDEFINED)])
  end subroutine

  subroutine start(x, y, r, tag)
    integer, asynchronous, intent(inout) :: x(4), y(4)
    REQUEST, intent(inout) :: r(4)
    integer, intent(in) :: tag
    integer :: i
    do i = 1, 2
      call post(i, tag + i, y, r(i))
      M(MPI_Isend)(x(i), 1, MPI_INTEGER, other, tag + i, MPI_COMM_WORLD, r(2 + i) IERR)
      call sent(other, tag + i, 4)
    end do
  end subroutine

  subroutine completed_two(tag)
    integer, intent(in) :: tag
    call received(other, tag + 1, 4)
    call received(other, tag + 2, 4)
    call event('MPI_SEND_COMPLETE')
    call event('MPI_SEND_COMPLETE')
  end subroutine

  subroutine persistent()
    integer, asynchronous, save :: x, y
    integer :: round
    REQUEST :: r(2)
    STATUSES(sts, 2)
    character(len=40) :: text
    M(MPI_Recv_init)(y, 1, MPI_INTEGER, other, 90, MPI_COMM_WORLD, r(1) IERR)
    M(MPI_Send_init)(x, 1, MPI_INTEGER, other, 90, MPI_COMM_WORLD, r(2) IERR)
    do round = 1, 3
      x = 900 + 10 * rank + round
      y = -1
      if (round == 1) then
        M(MPI_Startall)(2, r IERR)
      else
        M(MPI_Start)(r(1) IERR)
        M(MPI_Start)(r(2) IERR)
      end if
      write (text, '(a,i0,a)') 'MPI_RECV_REQUEST slid=', other, ' tag=90'
      call event(trim(text))
      call sent(other, 90, 4)
      M(MPI_Waitall)(2, r, sts IERR)
      call received(other, 90, 4)
      call event('MPI_SEND_COMPLETE')
      call result_numbers('persistent', [y, SOURCE_OF(sts, 1), merge(1, 0, r(1) == MPI_REQUEST_NULL)])
    end do
    M(MPI_Request_free)(r(1) IERR)
    M(MPI_Request_free)(r(2) IERR)
    call result_numbers('freed', [merge(1, 0, r(1) == MPI_REQUEST_NULL)])
  end subroutine

  subroutine ends_of_requests()
    integer, asynchronous, save :: y
    logical :: flag
    REQUEST :: request
    STATUS(st)
    character(len=40) :: text
    M(MPI_Irecv)(y, 1, MPI_INTEGER, other, 95, MPI_COMM_WORLD, request IERR)
    write (text, '(a,i0,a)') 'MPI_RECV_REQUEST slid=', other, ' tag=95'
    call event(trim(text))
    M(MPI_Cancel)(request IERR)
    M(MPI_Wait)(request, st IERR)
    M(MPI_Test_cancelled)(st, flag IERR)
    call event('MPI_CANCELLED')
    call result_numbers('cancelled', [merge(1, 0, flag)])
  end subroutine

  subroutine ignored_peer()
    integer :: x, y
    STATUS(st)
    x = 1
    y = -1
    M(MPI_Send)(x, 1, MPI_INTEGER, MPI_PROC_NULL, 96, MPI_COMM_WORLD IERR)
    M(MPI_Recv)(y, 1, MPI_INTEGER, MPI_PROC_NULL, 96, MPI_COMM_WORLD, st IERR)
    call result_numbers('nobody', [y, merge(1, 0, STATUS_SOURCE(st) == MPI_PROC_NULL)])
    M(MPI_Sendrecv)(x, 1, MPI_INTEGER, MPI_PROC_NULL, 97, y, 1, MPI_INTEGER, MPI_PROC_NULL, 97, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE IERR)
  end subroutine
end program
