! MPI and OpenMP whose threads take processor time, and note how much: `processor RANK THREAD SECONDS`. The iterations of
! a loop that they share take 40 ms, 80 ms ...; then all put into the next process's memory.
! check_counters.py compares it with what the counters ru_utime and ru_stime say.
program counters
  use mpi
  use omp_lib
  use, intrinsic :: iso_c_binding
  implicit none
  type, bind(c) :: moment
    integer(c_long) :: seconds, nanoseconds
  end type
  interface
    integer(c_int) function clock_gettime(clock, at) bind(c)
      import :: c_int, moment
      integer(c_int), value :: clock
      type(moment), intent(out) :: at
    end function
  end interface
  integer(c_int), parameter :: of_thread = 3
  integer, parameter :: most = 64
  integer :: threads, rank, ranks, provided, error, t, i, window
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place
  double precision :: took(0:most - 1), from
  double precision :: memory(most), value
  character(len=20) :: text
  call get_command_argument(1, text)
  read (text, *) threads
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  bytes = 8 * most
  call MPI_Win_create(memory, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
  call MPI_Win_lock_all(0, window, error)
  took = 0
  !$omp parallel num_threads(threads) private(t, from, value, place, error)
  t = omp_get_thread_num()
  !$omp do schedule(dynamic, 1)
  do i = 1, threads
    from = used()
    call work(0.04d0 * i)
    took(t) = took(t) + used() - from
  end do
  !$omp end do nowait
  value = took(t)
  place = t
  call MPI_Put(value, 1, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), place, 1, MPI_DOUBLE_PRECISION, window, error)
  call MPI_Win_flush(mod(rank + 1, ranks), window, error)
  !$omp end parallel
  call MPI_Win_unlock_all(window, error)
  call MPI_Win_free(window, error)
  do t = 0, threads - 1
    print '(a, i0, a, i0, f20.9)', 'processor ', rank, ' ', t, took(t)
  end do
  call MPI_Finalize(error)
contains
  ! Processor time of the thread.
  double precision function used()
    type(moment) :: at
    integer(c_int) :: ignored
    ignored = clock_gettime(of_thread, at)
    used = dble(at%seconds) + 1d-9 * dble(at%nanoseconds)
  end function
  subroutine work(seconds)
    double precision, intent(in) :: seconds
    double precision :: end
    end = used() + seconds
    do while (used() < end)
    end do
  end subroutine
end program
