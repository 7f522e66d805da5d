! The parts "barriers" and "criticals" of waits.c in Fortran.
program waits
  use mpi
  use omp_lib
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
  end interface
  integer, parameter :: most = 1000
  character(len=20) :: place(most), part, text
  integer :: thread(most), count, threads, provided, error, t, i
  double precision :: begin(most), end(most), before, last
  count = 0
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
  call get_command_argument(1, part)
  call get_command_argument(2, text)
  read (text, *) threads
  if (part == 'barriers') then
    !$omp parallel num_threads(threads) private(t, last)
    t = omp_get_thread_num()
    call pass(20 + 60 * t)
    call note('explicit 1', MPI_Wtime(), MPI_Wtime())
    !$omp barrier
    !$omp do schedule(dynamic, 1)
    do i = 1, threads
      call pass(60 * i)
      last = MPI_Wtime()
    end do
    !$omp end do nowait
    call pass(30 + 70 * t)
    call note('implicit 1', MPI_Wtime(), MPI_Wtime())
    !$omp end parallel
  else
    !$omp parallel num_threads(threads) private(before, last)
    before = MPI_Wtime()
    !$omp critical
    last = MPI_Wtime()
    call note_in('critical', before, last)
    call pass(70)
    call note_in('hold', last, MPI_Wtime())
    !$omp end critical
    !$omp end parallel
  end if
  call MPI_Finalize(error)
  do i = 1, count
    print '(a, a, a, i0, 2f20.9)', 'note 0 ', trim(place(i)), '|', thread(i), begin(i), end(i)
  end do
contains
  subroutine pass(milliseconds)
    integer, intent(in) :: milliseconds
    integer(c_int) :: ignored
    ignored = usleep(int(milliseconds * 1000, c_int))
  end subroutine
  subroutine note_in(name, from, to)
    character(len=*), intent(in) :: name
    double precision, intent(in) :: from, to
    count = count + 1
    place(count) = name
    thread(count) = omp_get_thread_num()
    begin(count) = from
    end(count) = to
  end subroutine
  subroutine note(name, from, to)
    character(len=*), intent(in) :: name
    double precision, intent(in) :: from, to
    integer :: own
    !$omp atomic capture
    count = count + 1
    own = count
    !$omp end atomic
    place(own) = name
    thread(own) = omp_get_thread_num()
    begin(own) = from
    end(own) = to
  end subroutine
end program
