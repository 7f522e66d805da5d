! Two processes with four threads each that all call MPI: messages by tag, and requests of each thread's own. The
! notes are made after the threads; which thread an event belongs to is not looked at.
program threads
#include "use_mpi.inc"
  use omp_lib
  implicit none
#include "mpif_h.inc"
  integer, parameter :: n = 4, rounds = 200, many = 20
  integer :: rank, other, provided, i, j, k, wrong(n)
  character(len=40) :: text

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call notes_open(rank)
  call made("MPI_Init_thread")
  call made("MPI_Comm_rank")
  other = 1 - rank
  wrong = 0
  if (provided == MPI_THREAD_MULTIPLE) then
    !$omp parallel num_threads(n)
    call exchange(omp_get_thread_num() + 1, wrong(omp_get_thread_num() + 1))
    !$omp end parallel
    do i = 1, n
      do j = 1, rounds
        do k = 1, many
          call made("MPI_Irecv")
          write (text, '(a,i0,a,i0)') 'MPI_RECV_REQUEST slid=', other, ' tag=', 100 * i + k
          call event(trim(text))
          call made("MPI_Isend")
          call sent(other, 100 * i + k, 4)
          call received(other, 100 * i + k, 4)
          call event('MPI_SEND_COMPLETE')
        end do
        call made("MPI_Waitall")
      end do
    end do
  end if
  call result_numbers('wrong', [wrong, merge(1, 0, provided == MPI_THREAD_MULTIPLE)])
  M(MPI_Finalize)(ONLY_IERR)
  call notes_close()

contains

  subroutine exchange(me, mistakes)
    integer, intent(in) :: me
    integer, intent(inout) :: mistakes
    integer, asynchronous :: x(many), y(many)
    integer :: round, m, error
    REQUEST :: r(2 * many)
    STATUSES(sts, 2 * many)
    do round = 1, rounds
      x = [(round * 1000 + me * 100 + m, m = 1, many)]
      y = -1
      do m = 1, many
        call MPI_Irecv(y(m), 1, MPI_INTEGER, other, 100 * me + m, MPI_COMM_WORLD, r(m), error)
        call MPI_Isend(x(m), 1, MPI_INTEGER, other, 100 * me + m, MPI_COMM_WORLD, r(many + m), error)
      end do
      call MPI_Waitall(2 * many, r, sts, error)
      if (any(y /= x)) mistakes = mistakes + 1
      do m = 1, many
        if (TAG_OF(sts, m) /= 100 * me + m) mistakes = mistakes + 1
      end do
    end do
  end subroutine
end program
