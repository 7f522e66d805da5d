! Process 1 computes longer in relax(), all compute alike in smooth(). Each prints how much processor time it used in each.
program samples
  use mpi
  implicit none
  integer :: me, ierr, i
  double precision :: value, relaxed, smoothed, begin, now
  value = 0.5d0
  relaxed = 0
  smoothed = 0
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, me, ierr)
  do i = 1, 4
    call cpu_time(begin)
    now = begin
    do while (now - begin < merge(0.3d0, 0.05d0, me == 1))
      call relax(value, 20000)
      call cpu_time(now)
    end do
    relaxed = relaxed + now - begin
    begin = now
    do while (now - begin < 0.1d0)
      call smooth(value, 20000)
      call cpu_time(now)
    end do
    smoothed = smoothed + now - begin
    call mpi_barrier(mpi_comm_world, ierr)
  end do
  print '(a,i0,a,f0.6,a,f0.6)', 'rank ', me, ' relax ', relaxed, ' smooth ', smoothed
  if (.not. value < 1d300) print *, 'not a number'
  call mpi_finalize(ierr)
contains
  subroutine relax(x, rounds)
    double precision, intent(inout) :: x
    integer, intent(in) :: rounds
    integer :: k
    do k = 1, rounds
      x = exp(-x) + 1d-9 * k  ! in relax
    end do
  end subroutine
  subroutine smooth(x, rounds)
    double precision, intent(inout) :: x
    integer, intent(in) :: rounds
    integer :: k
    do k = 1, rounds
      x = 0.5d0 * x + 1 / (x + k)  ! in smooth
    end do
  end subroutine
end program
