! A user's reduction operation: the elementwise sum. It asks MPI something, which is a call within the reduction.
module operations
#include "use_mpi.inc"
  use notes
  implicit none
#include "mpif_h.inc"
  integer :: times_called = 0

contains

#if defined(USE_MPI_F08)
  subroutine add(invec, inoutvec, length, datatype)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: invec, inoutvec
    integer :: length
    DATATYPE :: datatype
    integer, pointer :: a(:), b(:)
    integer :: size
    call c_f_pointer(invec, a, [length])
    call c_f_pointer(inoutvec, b, [length])
    call made("MPI_Type_size")
    call MPI_Type_size(datatype, size)
    b = a + b + size - 4
    times_called = times_called + 1
  end subroutine
#else
  subroutine add(invec, inoutvec, length, datatype)
    integer :: length, datatype
    integer :: invec(length), inoutvec(length)
    integer :: size
    call made("MPI_Type_size")
    call MPI_Type_size(datatype, size, ierr)
    inoutvec = invec + inoutvec + size - 4
    times_called = times_called + 1
  end subroutine
#endif

end module
