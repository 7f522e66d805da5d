! What MPI calls back in Fortran: attribute functions, error handlers, a generalized request. They must
! be called as Fortran, with the caller's own arguments, and each as often as without measurement. What they
! call is the program's own: it is recorded within the outer call.
module callbacks
#include "use_mpi.inc"
  implicit none
#include "mpif_h.inc"
  private
  public :: copy, remove, handle_error, query, release, cancel
  public :: copies, deletions, errors, queries, frees, cancels, last_error
  integer :: copies = 0, deletions = 0, errors = 0, queries = 0, frees = 0, cancels = 0
  integer :: last_error = 0

contains

  subroutine calls_within()
    M(MPI_Barrier)(MPI_COMM_SELF IERR)
    call collective(-1, 0, 0)
  end subroutine

  subroutine copy(old, keyval, extra_state, value_in, value_out, flag, error)
    COMM :: old
    integer :: keyval, error
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    copies = copies + 1
    call calls_within()
    value_out = value_in + extra_state
    flag = .true.
    error = MPI_SUCCESS
  end subroutine

  subroutine remove(old, keyval, value, extra_state, error)
    COMM :: old
    integer :: keyval, error
    integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
    deletions = deletions + 1
    call calls_within()
    error = MPI_SUCCESS
  end subroutine

  subroutine handle_error(on, error)
    COMM :: on
    integer :: error
    errors = errors + 1
    call calls_within()
    last_error = error
  end subroutine

  subroutine query(extra_state, st, error)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    STATUS(st)
    integer :: error
    queries = queries + 1
    call calls_within()
    M(MPI_Status_set_elements)(st, MPI_INTEGER, int(extra_state) IERR)
    M(MPI_Status_set_cancelled)(st, .false. IERR)
    STATUS_SOURCE(st) = 77
    STATUS_TAG(st) = 78
    error = MPI_SUCCESS
  end subroutine

  subroutine release(extra_state, error)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: error
    frees = frees + 1
    error = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, error)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: error
    cancels = cancels + 1
    error = MPI_SUCCESS
  end subroutine

end module
