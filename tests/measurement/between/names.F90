! A Fortran program with a library between that has C's and Fortran's names.
program names
  use mpi
  implicit none
  integer :: error, rank, i
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  do i = 1, 3
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)
end program
