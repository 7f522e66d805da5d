! Counts of MPI_COUNT_KIND in mpi_f08, two processes: each operation is recorded under its C name, MPI_Put_c.
program large
#include "use_mpi.inc"
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer(kind=MPI_COUNT_KIND), parameter :: one = 1, two = 2, three = 3
  integer(kind=MPI_ADDRESS_KIND), parameter :: bytes = 64, nowhere = 0, unit = 4
  integer, asynchronous, save :: memory(16), values(16), got(16)
  integer :: rank, other
  type(MPI_Win) :: win
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  type(MPI_Datatype) :: pair
  type(c_ptr) :: base
  integer(kind=MPI_COUNT_KIND) :: number, counts(2)
  integer(kind=MPI_ADDRESS_KIND) :: displacements(2)
  character(len=60) :: text

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call notes_open(rank)
  call made("MPI_Init")
  call made("MPI_Comm_rank")
  other = 1 - rank
  values = rank + 1
  memory = 0
  got = 0

  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call made("MPI_Win_create")
  call event('MPI_WINCOLLEXIT')
  call fence()
  call MPI_Put(values, three, MPI_INTEGER, other, nowhere, three, MPI_INTEGER, win)
  call made("MPI_Put_c")
  write (text, '(a,i0,a)') 'MPI_PUT_1TS dlid=', other, ' sent=12'
  call event(trim(text))
  call fence()
  call result_numbers('put', memory)
  call MPI_Get(got, two, MPI_INTEGER, other, nowhere, two, MPI_INTEGER, win)
  call made("MPI_Get_c")
  write (text, '(a,i0,a)') 'MPI_GET_1TE slid=', other, ' recvd=8'
  call event(trim(text))
  call fence()
  call result_numbers('get', got)
  call MPI_Accumulate(values, one, MPI_INTEGER, other, nowhere, one, MPI_INTEGER, MPI_SUM, win)
  call made("MPI_Accumulate_c")
  write (text, '(a,i0,a)') 'MPI_PUT_1TS dlid=', other, ' sent=4'
  call event(trim(text))
  call fence()
  call result_numbers('accumulate', memory)
  call MPI_Win_free(win)
  call made("MPI_Win_free")
  call event('MPI_WINCOLLEXIT')

  call MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call made("MPI_Win_allocate_c")
  call event('MPI_WINCOLLEXIT')
  call MPI_Win_free(win)
  call made("MPI_Win_free")
  call event('MPI_WINCOLLEXIT')

  call MPI_Irecv(got, three, MPI_INTEGER, other, 5, MPI_COMM_WORLD, request)
  call made("MPI_Irecv_c")
  write (text, '(a,i0,a)') 'MPI_RECV_REQUEST slid=', other, ' tag=5'
  call event(trim(text))
  call MPI_Send(values, three, MPI_INTEGER, other, 5, MPI_COMM_WORLD)
  call made("MPI_Send_c")
  call sent(other, 5, 12)
  call MPI_Wait(request, status)
  call made("MPI_Wait")
  call received(other, 5, 12)
  call MPI_Get_count(status, MPI_INTEGER, number)
  call made("MPI_Get_count_c")
  call result_numbers('irecv', [got, int(number)])
  call MPI_Sendrecv(values, one, MPI_INTEGER, other, 6, got, three, MPI_INTEGER, other, 6, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE)
  call made("MPI_Sendrecv_c")
  call sent(other, 6, 4)
  call received(other, 6, 4)

  call MPI_Bcast(got, two, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call made("MPI_Bcast_c")
  if (rank == 0) then
    call event('MPI_COLLEXIT rlid=0 sent=8 recvd=0')
  else
    call event('MPI_COLLEXIT rlid=0 sent=0 recvd=8')
  end if
  counts = [1, 2]
  displacements = [0, 1]
  call MPI_Allgatherv(values, counts(rank + 1), MPI_INTEGER, got, counts, displacements, MPI_INTEGER, MPI_COMM_WORLD)
  call made("MPI_Allgatherv_c")
  if (rank == 0) then
    call event('MPI_COLLEXIT rlid=absent sent=4 recvd=12')
  else
    call event('MPI_COLLEXIT rlid=absent sent=8 recvd=12')
  end if
  call result_numbers('allgatherv', got)
  call MPI_Iallreduce(values, got, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
  call made("MPI_Iallreduce_c")
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call made("MPI_Wait")
  call event('MPI_REQUEST_COMPLETE kind=1')
  call MPI_Allreduce_init(values, got, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request)
  call made("MPI_Allreduce_init_c")
  call MPI_Start(request)
  call made("MPI_Start")
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call made("MPI_Wait")
  call event('MPI_REQUEST_COMPLETE kind=1')
  call MPI_Request_free(request)
  call made("MPI_Request_free")
  call result_numbers('allreduce', got)

  call MPI_Type_contiguous(two, MPI_INTEGER, pair)
  call made("MPI_Type_contiguous_c")
  call MPI_Type_size(pair, number)
  call made("MPI_Type_size_c")
  call MPI_Type_free(pair)
  call made("MPI_Type_free")
  call result_numbers('size', [int(number)])
  M(MPI_Finalize)()
  call notes_close()

contains

  subroutine fence()
    call MPI_Win_fence(0, win)
    call made("MPI_Win_fence")
    call event('MPI_WINCOLLEXIT')
  end subroutine
end program
