! What a test program says of itself: results, which must be the same with and without measurement, the
! MPI calls that it made, and the events that these must have left in the trace. Three files for
! each process, in the working directory: result.R, calls.R, events.R.
module notes
  use, intrinsic :: iso_c_binding, only: c_int, c_char
  implicit none
  private
  public :: notes_open, notes_close, made, event, sent, received, collective, result_text, result_numbers
  public :: made_in_c, sent_in_c, received_in_c, collective_in_c, result_in_c

  integer, parameter :: results = 20, calls = 21, events = 22

contains

  ! Calls and events before this are noted in no file: give the rank as soon as it is known.
  subroutine notes_open(rank)
    integer, intent(in) :: rank
    character(len=8) :: suffix
    write (suffix, '(i0)') rank
    open (unit=results, file='result.'//trim(suffix), status='replace', action='write')
    open (unit=calls, file='calls.'//trim(suffix), status='replace', action='write')
    open (unit=events, file='events.'//trim(suffix), status='replace', action='write')
  end subroutine

  subroutine notes_close()
    close (results)
    close (calls)
    close (events)
  end subroutine

  subroutine made(function)
    character(len=*), intent(in) :: function
    write (calls, '(a)') function
  end subroutine

  subroutine event(text)
    character(len=*), intent(in) :: text
    write (events, '(a)') text
  end subroutine

  subroutine sent(dest, tag, bytes)
    integer, intent(in) :: dest, tag, bytes
    write (events, '(a,i0,a,i0,a,i0)') 'MPI_SEND dlid=', dest, ' tag=', tag, ' sent=', bytes
  end subroutine

  subroutine received(source, tag, bytes)
    integer, intent(in) :: source, tag, bytes
    write (events, '(a,i0,a,i0,a,i0)') 'MPI_RECV slid=', source, ' tag=', tag, ' recvd=', bytes
  end subroutine

  ! A root of -1: none.
  subroutine collective(root, bytes_sent, bytes_received)
    integer, intent(in) :: root, bytes_sent, bytes_received
    if (root < 0) then
      write (events, '(a,i0,a,i0)') 'MPI_COLLEXIT rlid=absent sent=', bytes_sent, ' recvd=', bytes_received
    else
      write (events, '(a,i0,a,i0,a,i0)') 'MPI_COLLEXIT rlid=', root, ' sent=', bytes_sent, ' recvd=', bytes_received
    end if
  end subroutine

  ! The same for C.
  subroutine made_in_c(length, function) bind(C)
    integer(c_int), value :: length
    character(kind=c_char), intent(in) :: function(length)
    write (calls, '(*(a))') function
  end subroutine

  subroutine sent_in_c(dest, tag, bytes) bind(C)
    integer(c_int), value :: dest, tag, bytes
    call sent(dest, tag, bytes)
  end subroutine

  subroutine received_in_c(source, tag, bytes) bind(C)
    integer(c_int), value :: source, tag, bytes
    call received(source, tag, bytes)
  end subroutine

  subroutine collective_in_c(root, bytes_sent, bytes_received) bind(C)
    integer(c_int), value :: root, bytes_sent, bytes_received
    call collective(root, bytes_sent, bytes_received)
  end subroutine

  subroutine result_in_c(number) bind(C)
    integer(c_int), value :: number
    call result_numbers('C', [int(number)])
  end subroutine

  subroutine result_text(what, text)
    character(len=*), intent(in) :: what, text
    write (results, '(a,a,a)') what, ': ', text
  end subroutine

  subroutine result_numbers(what, numbers)
    character(len=*), intent(in) :: what
    integer, intent(in) :: numbers(:)
    write (results, '(a,a,*(1x,i0))') what, ':', numbers
  end subroutine

end module
