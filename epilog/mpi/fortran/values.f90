! Tells C++ where the sentinels of mpif.h lie and what .false. is (see values.h).
subroutine kojak_fortran_hand_over() bind(C)
  implicit none
  include 'mpif.h'
  interface
    subroutine take_logical(value) bind(C, name='kojak_fortran_take_logical')
      logical, intent(in) :: value
    end subroutine
    subroutine take_sentinels(in_place, status_ignore, statuses_ignore, status_size) &
        bind(C, name='kojak_fortran_take_sentinels')
      integer, intent(in) :: in_place
      integer, intent(in) :: status_ignore(*), statuses_ignore(*)
      integer, intent(in) :: status_size
    end subroutine
  end interface
  call take_logical(.false.)
  call take_sentinels(MPI_IN_PLACE, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, MPI_STATUS_SIZE)
end subroutine
