! One-sided communication, three processes: created, allocated, shared and dynamic windows; fence,
! post/start/complete/wait, locks, flushes; plain, request-based and atomic operations.
program windows
#include "use_mpi.inc"
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_f_pointer
  implicit none
#include "mpif_h.inc"
! How baseptr is declared: TYPE(C_PTR) where there is an interface for it.
#if defined(MPIF_H)
#define BASE integer(kind=MPI_ADDRESS_KIND)
#define AS_C_PTR(base) transfer(base, c_null_ptr)
#else
#define BASE type(c_ptr)
#define AS_C_PTR(base) base
#endif
  integer, parameter :: n = 3, length = 8
  integer, asynchronous, save :: memory(length)
  integer :: rank, right, left
  integer(kind=MPI_ADDRESS_KIND), parameter :: nowhere = 0, one = 1, two = 2, bytes = 4 * length

  call MPI_Init(ONLY_IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call notes_open(rank)
  call made("MPI_Init")
  call made("MPI_Comm_rank")
  right = mod(rank + 1, n)
  left = mod(rank + n - 1, n)
  call created()
  call allocated()
  call shared()
  call dynamic()
  M(MPI_Finalize)(ONLY_IERR)
  call notes_close()

contains

  subroutine put_event(target, length_in_bytes)
    integer, intent(in) :: target, length_in_bytes
    character(len=60) :: text
    write (text, '(a,i0,a,i0)') 'MPI_PUT_1TS dlid=', target, ' sent=', length_in_bytes
    call event(trim(text))
  end subroutine

  subroutine get_event(target, length_in_bytes)
    integer, intent(in) :: target, length_in_bytes
    character(len=60) :: text
    write (text, '(a,i0,a,i0)') 'MPI_GET_1TE slid=', target, ' recvd=', length_in_bytes
    call event(trim(text))
  end subroutine

  subroutine target_event(what, target, more)
    character(len=*), intent(in) :: what, more
    integer, intent(in) :: target
    character(len=60) :: text
    write (text, '(a,i0,a)') what, target, more
    call event(trim(text))
  end subroutine

  subroutine fence(win)
    WINDOW, intent(in) :: win
    M(MPI_Win_fence)(0, win IERR)
    call event('MPI_WINCOLLEXIT')
  end subroutine

  subroutine created()
    WINDOW :: win
    integer :: resultlen
    integer(kind=MPI_ADDRESS_KIND) :: value
    character(len=MPI_MAX_OBJECT_NAME) :: name
    logical :: flag
    memory = 100 * rank
    M(MPI_Win_create)(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win IERR)
    call event('MPI_WINCOLLEXIT')
    ! (mpi_f08 of Open MPI 4.1 loses the name's length.)
#if !(defined(OPENMPI) && defined(USE_MPI_F08))
    M(MPI_Win_set_name)(win, 'a window  ' IERR)
    M(MPI_Win_get_name)(win, name, resultlen IERR)
    call result_text('name', '['//name(1:resultlen)//']')
#endif
    flag = .false.
    value = -1
    M(MPI_Win_get_attr)(win, MPI_WIN_SIZE, value, flag IERR)
    call result_numbers('size', [merge(1, 0, flag), int(value)])
    call fenced(win)
    call started_and_posted(win)
    call locked(win)
    call locked_all(win)
    M(MPI_Win_free)(win IERR)
    call event('MPI_WINCOLLEXIT')
    call result_numbers('freed', [merge(1, 0, win == MPI_WIN_NULL), memory])
  end subroutine

  subroutine fenced(win)
    WINDOW, intent(in) :: win
    integer, asynchronous, save :: x(4), y(4), z, compared
    x = 1000 * rank + [1, 2, 3, 4]
    y = -1
    call fence(win)
    M(MPI_Put)(x, 2, MPI_INTEGER, right, one, 2, MPI_INTEGER, win IERR)
    call put_event(right, 8)
    call fence(win)
    M(MPI_Get)(y, 3, MPI_INTEGER, left, nowhere, 3, MPI_INTEGER, win IERR)
    call get_event(left, 12)
    call fence(win)
    M(MPI_Accumulate)(x, 2, MPI_INTEGER, left, two, 2, MPI_INTEGER, MPI_SUM, win IERR)
    call put_event(left, 8)
    call fence(win)
    call result_numbers('fence', [memory, y])
    call fence(win)
    M(MPI_Get_accumulate)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, right, nowhere, 2, MPI_INTEGER, MPI_REPLACE, win IERR)
    call get_event(right, 8)
    call put_event(right, 8)
    call fence(win)
    z = -1
    M(MPI_Fetch_and_op)(x(1), z, MPI_INTEGER, right, nowhere, MPI_SUM, win IERR)
    call get_event(right, 4)
    call put_event(right, 4)
    call fence(win)
    call result_numbers('atomic', [memory, y, z])
    call fence(win)
    compared = z + x(1)
    M(MPI_Compare_and_swap)(x(4), compared, z, MPI_INTEGER, right, nowhere, win IERR)
    call get_event(right, 4)
    call put_event(right, 4)
    call fence(win)
    ! A put to nobody is no transfer.
    M(MPI_Put)(x, 2, MPI_INTEGER, MPI_PROC_NULL, one, 2, MPI_INTEGER, win IERR)
    call fence(win)
    call result_numbers('swapped', [memory, z])
  end subroutine

  ! Process 0 puts to the others; process 2 tests instead of waiting.
  subroutine started_and_posted(win)
    WINDOW, intent(in) :: win
    GROUP :: all, origin, targets
    integer, asynchronous, save :: x(2)
    logical :: flag
    x = [7, 8]
    M(MPI_Win_get_group)(win, all IERR)
    M(MPI_Group_incl)(all, 1, [0], origin IERR)
    M(MPI_Group_incl)(all, 2, [1, 2], targets IERR)
    if (rank == 0) then
      M(MPI_Win_start)(targets, 0, win IERR)
      call event('MPI_WINEXIT synex=0')
      M(MPI_Put)(x, 2, MPI_INTEGER, 1, nowhere, 2, MPI_INTEGER, win IERR)
      call put_event(1, 8)
      M(MPI_Put)(x(2), 1, MPI_INTEGER, 2, one, 1, MPI_INTEGER, win IERR)
      call put_event(2, 4)
      M(MPI_Win_complete)(win IERR)
      call event('MPI_WINEXIT synex=1')
    else
      M(MPI_Win_post)(origin, 0, win IERR)
      call event('MPI_WINEXIT synex=0')
      if (rank == 1) then
        M(MPI_Win_wait)(win IERR)
      else
        flag = .false.
        do while (.not. flag)
          M(MPI_Win_test)(win, flag IERR)
        end do
      end if
      call event('MPI_WINEXIT synex=1')
    end if
    M(MPI_Group_free)(all IERR)
    M(MPI_Group_free)(origin IERR)
    M(MPI_Group_free)(targets IERR)
    call result_numbers('general', memory)
    M(MPI_Barrier)(MPI_COMM_WORLD IERR)
    call collective(-1, 0, 0)
  end subroutine

  ! Everybody adds to process 0.
  subroutine locked(win)
    WINDOW, intent(in) :: win
    integer, asynchronous, save :: x, y
    x = rank + 1
    M(MPI_Win_lock)(MPI_LOCK_EXCLUSIVE, 0, 0, win IERR)
    call event('MPI_WIN_LOCK llid=0 ltype=1')
    M(MPI_Accumulate)(x, 1, MPI_INTEGER, 0, nowhere, 1, MPI_INTEGER, MPI_SUM, win IERR)
    call put_event(0, 4)
    M(MPI_Win_unlock)(0, win IERR)
    call event('MPI_WIN_UNLOCK llid=0')
    M(MPI_Barrier)(MPI_COMM_WORLD IERR)
    call collective(-1, 0, 0)
    M(MPI_Win_lock)(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win IERR)
    call event('MPI_WIN_LOCK llid=0 ltype=0')
    M(MPI_Get)(y, 1, MPI_INTEGER, 0, nowhere, 1, MPI_INTEGER, win IERR)
    call get_event(0, 4)
    M(MPI_Win_unlock)(0, win IERR)
    call event('MPI_WIN_UNLOCK llid=0')
    call result_numbers('sum', [y])
    M(MPI_Barrier)(MPI_COMM_WORLD IERR)
    call collective(-1, 0, 0)
  end subroutine

  subroutine finish(request)
    REQUEST, intent(inout) :: request
    M(MPI_Wait)(request, MPI_STATUS_IGNORE IERR)
    call event('MPI_RMA_COMPLETE')
  end subroutine

  subroutine locked_all(win)
    WINDOW, intent(in) :: win
    REQUEST :: request
    integer, asynchronous, save :: x(2), y(2), z(2)
    x = [10 * rank + 1, 10 * rank + 2]
    y = -1
    z = -1
    M(MPI_Win_lock_all)(0, win IERR)
    call event('MPI_WIN_LOCK_ALL')
    M(MPI_Rput)(x, 2, MPI_INTEGER, right, nowhere, 2, MPI_INTEGER, win, request IERR)
    call put_event(right, 8)
    call finish(request)
    M(MPI_Win_flush)(right, win IERR)
    call target_event('MPI_WIN_FLUSH tlid=', right, ' local=0')
    M(MPI_Win_flush_local)(right, win IERR)
    call target_event('MPI_WIN_FLUSH tlid=', right, ' local=1')
    M(MPI_Barrier)(MPI_COMM_WORLD IERR)
    call collective(-1, 0, 0)
    M(MPI_Win_sync)(win IERR)
    call event('MPI_WIN_SYNC')
    M(MPI_Rget)(y, 2, MPI_INTEGER, right, nowhere, 2, MPI_INTEGER, win, request IERR)
    call get_event(right, 8)
    call finish(request)
    M(MPI_Raccumulate)(x, 2, MPI_INTEGER, right, two, 2, MPI_INTEGER, MPI_REPLACE, win, request IERR)
    call put_event(right, 8)
    call finish(request)
    M(MPI_Win_flush_all)(win IERR)
    call event('MPI_WIN_FLUSH tlid=absent local=0')
    M(MPI_Rget_accumulate)(x, 2, MPI_INTEGER, z, 2, MPI_INTEGER, right, two, 2, MPI_INTEGER, MPI_SUM, win, request IERR)
    call get_event(right, 8)
    call put_event(right, 8)
    call finish(request)
    M(MPI_Win_flush_local_all)(win IERR)
    call event('MPI_WIN_FLUSH tlid=absent local=1')
    M(MPI_Win_unlock_all)(win IERR)
    call event('MPI_WIN_UNLOCK_ALL')
    M(MPI_Barrier)(MPI_COMM_WORLD IERR)
    call collective(-1, 0, 0)
    call result_numbers('requests', [y, z])
  end subroutine

  subroutine allocated()
    WINDOW :: win
    BASE :: base
    integer, pointer :: mine(:)
    integer, asynchronous, save :: x
    x = 50 + rank
    M(MPI_Alloc_mem)(bytes, MPI_INFO_NULL, base IERR)
    call c_f_pointer(AS_C_PTR(base), mine, [length])
    mine = 3
    M(MPI_Free_mem)(mine IERR)
    M(MPI_Win_allocate)(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win IERR)
    call event('MPI_WINCOLLEXIT')
    call c_f_pointer(AS_C_PTR(base), mine, [length])
    mine = 0
    call fence(win)
    M(MPI_Put)(x, 1, MPI_INTEGER, left, one, 1, MPI_INTEGER, win IERR)
    call put_event(left, 4)
    call fence(win)
    call result_numbers('allocated', mine)
    M(MPI_Win_free)(win IERR)
    call event('MPI_WINCOLLEXIT')
  end subroutine

  subroutine shared()
    WINDOW :: win
    BASE :: base
    integer, pointer :: mine(:), neighbours(:)
    integer(kind=MPI_ADDRESS_KIND) :: size
    integer :: unit
    M(MPI_Win_allocate_shared)(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win IERR)
    call event('MPI_WINCOLLEXIT')
    call c_f_pointer(AS_C_PTR(base), mine, [length])
    mine = 10 * rank
    M(MPI_Win_shared_query)(win, left, size, unit, base IERR)
    call c_f_pointer(AS_C_PTR(base), neighbours, [length])
    call fence(win)
    neighbours(1) = neighbours(1) + 5
    call fence(win)
    call result_numbers('shared', [mine, unit, int(size)])
    M(MPI_Win_free)(win IERR)
    call event('MPI_WINCOLLEXIT')
  end subroutine

  subroutine dynamic()
    WINDOW :: win
    integer(kind=MPI_ADDRESS_KIND) :: here, there(0:n - 1)
    integer, asynchronous, save :: x
    x = 60 + rank
    memory = 0
    M(MPI_Win_create_dynamic)(MPI_INFO_NULL, MPI_COMM_WORLD, win IERR)
    call event('MPI_WINCOLLEXIT')
    M(MPI_Win_attach)(win, memory, bytes IERR)
    M(MPI_Get_address)(memory, here IERR)
    M(MPI_Allgather)(here, 1, MPI_AINT, there, 1, MPI_AINT, MPI_COMM_WORLD IERR)
    call collective(-1, 8, 8 * n)
    call fence(win)
    M(MPI_Put)(x, 1, MPI_INTEGER, right, there(right), 1, MPI_INTEGER, win IERR)
    call put_event(right, 4)
    call fence(win)
    call result_numbers('dynamic', memory)
    M(MPI_Win_detach)(win, memory IERR)
    M(MPI_Win_free)(win IERR)
    call event('MPI_WINCOLLEXIT')
  end subroutine
end program
