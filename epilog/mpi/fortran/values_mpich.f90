! Tells C++ what .false. is (see values.h).
subroutine kojak_fortran_hand_over() bind(C)
  implicit none
  interface
    subroutine take_logical(value) bind(C, name='kojak_fortran_take_logical')
      logical, intent(in) :: value
    end subroutine
  end interface
  call take_logical(.false.)
end subroutine
