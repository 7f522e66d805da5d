! Collective operations, three processes: every blocking one, in place where it can be; every non-blocking one; an
! operation of the user's; neighbourhoods. The bytes are what the manual's table says: those of the buffers.
program collectives
#include "use_mpi.inc"
  use operations, only: add, times_called
  implicit none
#include "mpif_h.inc"
  integer, parameter :: n = 3
  integer, parameter :: counts(n) = [1, 2, 3], displs(n) = [0, 1, 3]
  integer :: rank, i
  integer :: own  ! of counts

  call MPI_Init(ONLY_IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call notes_open(rank)
  call made("MPI_Init")
  call made("MPI_Comm_rank")
  own = rank + 1
  call rooted()
  call rooted_in_place()
  call to_all()
  call to_all_in_place()
  call reductions()
  call users_operation()
  call nonblocking()
  call neighbours()
  M(MPI_Finalize)(ONLY_IERR)
  call notes_close()

contains

  ! Bytes at the root and elsewhere.
  subroutine from_or_to(root, root_sent, root_received, sent_elsewhere, received_elsewhere)
    integer, intent(in) :: root, root_sent, root_received, sent_elsewhere, received_elsewhere
    if (rank == root) then
      call collective(root, root_sent, root_received)
    else
      call collective(root, sent_elsewhere, received_elsewhere)
    end if
  end subroutine

  subroutine rooted()
    integer :: x(6), y(6)
    x = [(10 * rank + i, i = 1, 6)]
    y = -1
    M(MPI_Barrier)(MPI_COMM_WORLD IERR)
    call collective(-1, 0, 0)
    M(MPI_Bcast)(x, 5, MPI_INTEGER, 1, MPI_COMM_WORLD IERR)
    call from_or_to(1, 20, 0, 0, 20)
    call result_numbers('bcast', x)
    x = [(10 * rank + i, i = 1, 6)]
    M(MPI_Gather)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, 0, MPI_COMM_WORLD IERR)
    call from_or_to(0, 8, 24, 8, 0)
    call result_numbers('gather', y)
    M(MPI_Gatherv)(x, own, MPI_INTEGER, y, counts, displs, MPI_INTEGER, 2, MPI_COMM_WORLD IERR)
    call from_or_to(2, 12, 24, 4 * own, 0)
    call result_numbers('gatherv', y)
    y = -1
    M(MPI_Scatter)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, 2, MPI_COMM_WORLD IERR)
    call from_or_to(2, 24, 8, 0, 8)
    call result_numbers('scatter', y)
    M(MPI_Scatterv)(x, counts, displs, MPI_INTEGER, y, own, MPI_INTEGER, 0, MPI_COMM_WORLD IERR)
    call from_or_to(0, 24, 4, 0, 4 * own)
    call result_numbers('scatterv', y)
    M(MPI_Reduce)(x, y, 3, MPI_INTEGER, MPI_SUM, 1, MPI_COMM_WORLD IERR)
    call from_or_to(1, 12, 12, 12, 0)
    call result_numbers('reduce', y)
  end subroutine

  subroutine rooted_in_place()
    integer :: x(6), y(6)
    x = [(10 * rank + i, i = 1, 6)]
    y = [(100 * rank + i, i = 1, 6)]
    if (rank == 0) then
      M(MPI_Gather)(MPI_IN_PLACE, 2, MPI_INTEGER, y, 2, MPI_INTEGER, 0, MPI_COMM_WORLD IERR)
    else
      M(MPI_Gather)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, 0, MPI_COMM_WORLD IERR)
    end if
    call from_or_to(0, 0, 16, 8, 0)
    if (rank == 2) then
      M(MPI_Gatherv)(MPI_IN_PLACE, own, MPI_INTEGER, y, counts, displs, MPI_INTEGER, 2, MPI_COMM_WORLD IERR)
    else
      M(MPI_Gatherv)(x, own, MPI_INTEGER, y, counts, displs, MPI_INTEGER, 2, MPI_COMM_WORLD IERR)
    end if
    call from_or_to(2, 0, 12, 4 * own, 0)
    call result_numbers('gathered in place', y)
    if (rank == 2) then
      M(MPI_Scatter)(x, 2, MPI_INTEGER, MPI_IN_PLACE, 2, MPI_INTEGER, 2, MPI_COMM_WORLD IERR)
    else
      M(MPI_Scatter)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, 2, MPI_COMM_WORLD IERR)
    end if
    call from_or_to(2, 16, 0, 0, 8)
    if (rank == 1) then
      M(MPI_Scatterv)(x, counts, displs, MPI_INTEGER, MPI_IN_PLACE, own, MPI_INTEGER, 1, MPI_COMM_WORLD IERR)
    else
      M(MPI_Scatterv)(x, counts, displs, MPI_INTEGER, y, own, MPI_INTEGER, 1, MPI_COMM_WORLD IERR)
    end if
    call from_or_to(1, 16, 0, 0, 4 * own)
    call result_numbers('scattered in place', y)
    if (rank == 1) then
      M(MPI_Reduce)(MPI_IN_PLACE, x, 3, MPI_INTEGER, MPI_SUM, 1, MPI_COMM_WORLD IERR)
    else
      M(MPI_Reduce)(x, y, 3, MPI_INTEGER, MPI_SUM, 1, MPI_COMM_WORLD IERR)
    end if
    call from_or_to(1, 12, 12, 12, 0)
    call result_numbers('reduced in place', x)
  end subroutine

  subroutine to_all()
    integer :: x(6), y(9), ones(n), positions(n), bytes(n)
    DATATYPE :: types(n)
    x = [(10 * rank + i, i = 1, 6)]
    y = -1
    ones = 1
    positions = [0, 1, 2]
    M(MPI_Allgather)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, MPI_COMM_WORLD IERR)
    call collective(-1, 8, 24)
    call result_numbers('allgather', y)
    M(MPI_Allgatherv)(x, own, MPI_INTEGER, y, counts, displs, MPI_INTEGER, MPI_COMM_WORLD IERR)
    call collective(-1, 4 * own, 24)
    call result_numbers('allgatherv', y)
    M(MPI_Alltoall)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, MPI_COMM_WORLD IERR)
    call collective(-1, 24, 24)
    call result_numbers('alltoall', y)
    M(MPI_Alltoallv)(x, ones, displs, MPI_INTEGER, y, ones, positions, MPI_INTEGER, MPI_COMM_WORLD IERR)
    call collective(-1, 12, 12)
    call result_numbers('alltoallv', y)
    ! Two INTEGERs as one datatype for process 1.
    types = MPI_INTEGER
    M(MPI_Type_contiguous)(2, MPI_INTEGER, types(2) IERR)
    M(MPI_Type_commit)(types(2) IERR)
    bytes = [0, 4, 12]
    if (rank == 1) then
      types(1) = types(2)
      types(3) = types(2)
      bytes = [0, 8, 16]
    end if
    y = -1
    call exchange_types(x, y, types, ones, bytes)
    call result_numbers('alltoallw', y)
    M(MPI_Type_free)(types(2) IERR)
  end subroutine

  ! Process 1 sends two INTEGERs to and receives as many from everybody, itself included.
  subroutine exchange_types(x, y, types, ones, bytes)
    integer, intent(inout) :: x(:), y(:)
    DATATYPE, intent(in) :: types(n)
    integer, intent(in) :: ones(n), bytes(n)
    M(MPI_Alltoallw)(x, ones, bytes, types, y, ones, bytes, types, MPI_COMM_WORLD IERR)
    if (rank == 1) then
      call collective(-1, 24, 24)
    else
      call collective(-1, 16, 16)
    end if
  end subroutine

  subroutine to_all_in_place()
    integer :: y(6), ones(n), positions(n)
    DATATYPE :: types(n)
    y = [(10 * rank + i, i = 1, 6)]
    ones = 1
    positions = [0, 1, 2]
    types = MPI_INTEGER
    M(MPI_Allgather)(MPI_IN_PLACE, 2, MPI_INTEGER, y, 2, MPI_INTEGER, MPI_COMM_WORLD IERR)
    call collective(-1, 8, 16)
    call result_numbers('allgather in place', y)
    y = [(10 * rank + i, i = 1, 6)]
    M(MPI_Allgatherv)(MPI_IN_PLACE, own, MPI_INTEGER, y, counts, displs, MPI_INTEGER, MPI_COMM_WORLD IERR)
    call collective(-1, 4 * own, 24 - 4 * own)
    call result_numbers('allgatherv in place', y)
    M(MPI_Alltoall)(MPI_IN_PLACE, 1, MPI_INTEGER, y, 1, MPI_INTEGER, MPI_COMM_WORLD IERR)
    call collective(-1, 8, 8)
    M(MPI_Alltoallv)(MPI_IN_PLACE, ones, positions, MPI_INTEGER, y, ones, positions, MPI_INTEGER, MPI_COMM_WORLD IERR)
    call collective(-1, 8, 8)
    positions = [0, 4, 8]
    M(MPI_Alltoallw)(MPI_IN_PLACE, ones, positions, types, y, ones, positions, types, MPI_COMM_WORLD IERR)
    call collective(-1, 8, 8)
    call result_numbers('exchanged in place', y)
    M(MPI_Allreduce)(MPI_IN_PLACE, y, 6, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD IERR)
    call collective(-1, 24, 24)
    call result_numbers('allreduce in place', y)
  end subroutine

  subroutine reductions()
    integer :: x(6), y(6)
    x = [(10 * rank + i, i = 1, 6)]
    y = -1
    M(MPI_Allreduce)(x, y, 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERR)
    call collective(-1, 24, 24)
    call result_numbers('allreduce', y)
    M(MPI_Reduce_scatter)(x, y, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERR)
    call collective(-1, 24, 4 * own)
    call result_numbers('reduce_scatter', y)
    M(MPI_Reduce_scatter_block)(x, y, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERR)
    call collective(-1, 24, 8)
    call result_numbers('reduce_scatter_block', y)
    M(MPI_Scan)(x, y, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERR)
    call collective(-1, 8, 8)
    call result_numbers('scan', y)
    y = -1
    M(MPI_Exscan)(x, y, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERR)
    call collective(-1, 8, merge(0, 8, rank == 0))
    if (rank /= 0) call result_numbers('exscan', y)
  end subroutine

  subroutine users_operation()
    integer :: x(3), y(3)
    logical :: commutes
    OPERATION :: operation
    x = [rank, 10 * rank, 100 * rank]
    y = -1
    commutes = .true.
    M(MPI_Op_create)(add, .true., operation IERR)
    M(MPI_Op_commutative)(operation, commutes IERR)
    M(MPI_Allreduce)(x, y, 3, MPI_INTEGER, operation, MPI_COMM_WORLD IERR)
    call collective(-1, 12, 12)
    call result_numbers('user operation', [y, merge(1, 0, commutes)])
    M(MPI_Reduce_local)(x, y, 3, MPI_INTEGER, operation IERR)
    call result_numbers('here only', y)
    M(MPI_Op_free)(operation IERR)
    M(MPI_Op_create)(add, .false., operation IERR)
    M(MPI_Op_commutative)(operation, commutes IERR)
    call result_numbers('order', [merge(1, 0, commutes), merge(1, 0, times_called > 0)])
    M(MPI_Op_free)(operation IERR)
  end subroutine

  subroutine finish(what, request, y)
    character(len=*), intent(in) :: what
    REQUEST, intent(inout) :: request
    integer, asynchronous, intent(in) :: y(:)
    M(MPI_Wait)(request, MPI_STATUS_IGNORE IERR)
    call event('MPI_REQUEST_COMPLETE kind=1')
    call result_numbers(what, y)
  end subroutine

  subroutine nonblocking()
    integer, asynchronous :: x(6), y(6)
    integer :: ones(n), positions(n), bytes(n)
    DATATYPE :: types(n)
    REQUEST :: r
    x = [(10 * rank + i, i = 1, 6)]
    y = -1
    ones = 1
    positions = [0, 1, 2]
    bytes = [0, 4, 8]
    types = MPI_INTEGER
    M(MPI_Ibarrier)(MPI_COMM_WORLD, r IERR)
    call finish('ibarrier', r, y)
    M(MPI_Ibcast)(y, 6, MPI_INTEGER, 0, MPI_COMM_WORLD, r IERR)
    call finish('ibcast', r, y)
    M(MPI_Igather)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, r IERR)
    call finish('igather', r, y)
    M(MPI_Igatherv)(x, own, MPI_INTEGER, y, counts, displs, MPI_INTEGER, 1, MPI_COMM_WORLD, r IERR)
    call finish('igatherv', r, y)
    M(MPI_Iscatter)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, 2, MPI_COMM_WORLD, r IERR)
    call finish('iscatter', r, y)
    M(MPI_Iscatterv)(x, counts, displs, MPI_INTEGER, y, own, MPI_INTEGER, 2, MPI_COMM_WORLD, r IERR)
    call finish('iscatterv', r, y)
    M(MPI_Iallgather)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, MPI_COMM_WORLD, r IERR)
    call finish('iallgather', r, y)
    M(MPI_Iallgatherv)(x, own, MPI_INTEGER, y, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, r IERR)
    call finish('iallgatherv', r, y)
    M(MPI_Ialltoall)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, MPI_COMM_WORLD, r IERR)
    call finish('ialltoall', r, y)
    M(MPI_Ialltoallv)(x, ones, positions, MPI_INTEGER, y, ones, positions, MPI_INTEGER, MPI_COMM_WORLD, r IERR)
    call finish('ialltoallv', r, y)
    M(MPI_Ialltoallw)(x, ones, bytes, types, y, ones, bytes, types, MPI_COMM_WORLD, r IERR)
    call finish('ialltoallw', r, y)
    M(MPI_Ireduce)(x, y, 6, MPI_INTEGER, MPI_SUM, 1, MPI_COMM_WORLD, r IERR)
    call finish('ireduce', r, y)
    M(MPI_Iallreduce)(x, y, 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r IERR)
    call finish('iallreduce', r, y)
    M(MPI_Iallreduce)(MPI_IN_PLACE, y, 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r IERR)
    call finish('iallreduce in place', r, y)
    M(MPI_Ireduce_scatter)(x, y, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r IERR)
    call finish('ireduce_scatter', r, y)
    M(MPI_Ireduce_scatter_block)(x, y, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r IERR)
    call finish('ireduce_scatter_block', r, y)
    M(MPI_Iscan)(x, y, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r IERR)
    call finish('iscan', r, y)
    y = -1
    M(MPI_Iexscan)(x, y, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r IERR)
    M(MPI_Wait)(r, MPI_STATUS_IGNORE IERR)
    call event('MPI_REQUEST_COMPLETE kind=1')
    if (rank /= 0) call result_numbers('iexscan', y)
  end subroutine

  ! A ring: each process has two sources and two destinations.
  subroutine neighbours()
    integer, parameter :: two(2) = [1, 1], here(2) = [0, 1]
    integer(kind=MPI_ADDRESS_KIND), parameter :: bytes(2) = [0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND]
    integer, asynchronous :: x(2), y(4)
    integer :: from(2)
    DATATYPE :: types(2)
    COMM :: ring
    REQUEST :: r
    x = [10 * rank + 1, 10 * rank + 2]
    y = -1
    types = MPI_INTEGER
    ! (mpi_f08 of MPICH 4.0 has an alltoallw for this kind of topology only.)
    from = [mod(rank + n - 1, n), mod(rank + 1, n)]
    M(MPI_Dist_graph_create_adjacent)(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, from, MPI_UNWEIGHTED, &
                                      MPI_INFO_NULL, .false., ring IERR)
    M(MPI_Neighbor_allgather)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, ring IERR)
    call collective(-1, 8, 16)
    call result_numbers('neighbor_allgather', y)
    M(MPI_Neighbor_allgatherv)(x, 1, MPI_INTEGER, y, two, here, MPI_INTEGER, ring IERR)
    call collective(-1, 4, 8)
    M(MPI_Neighbor_alltoall)(x, 1, MPI_INTEGER, y, 1, MPI_INTEGER, ring IERR)
    call collective(-1, 8, 8)
    M(MPI_Neighbor_alltoallv)(x, two, here, MPI_INTEGER, y, two, here, MPI_INTEGER, ring IERR)
    call collective(-1, 8, 8)
    M(MPI_Neighbor_alltoallw)(x, two, bytes, types, y, two, bytes, types, ring IERR)
    call collective(-1, 8, 8)
    call result_numbers('neighbor_alltoallw', y)
    M(MPI_Ineighbor_allgather)(x, 2, MPI_INTEGER, y, 2, MPI_INTEGER, ring, r IERR)
    call finish('ineighbor_allgather', r, y)
    M(MPI_Ineighbor_allgatherv)(x, 1, MPI_INTEGER, y, two, here, MPI_INTEGER, ring, r IERR)
    call finish('ineighbor_allgatherv', r, y)
    M(MPI_Ineighbor_alltoall)(x, 1, MPI_INTEGER, y, 1, MPI_INTEGER, ring, r IERR)
    call finish('ineighbor_alltoall', r, y)
    M(MPI_Ineighbor_alltoallv)(x, two, here, MPI_INTEGER, y, two, here, MPI_INTEGER, ring, r IERR)
    call finish('ineighbor_alltoallv', r, y)
    M(MPI_Ineighbor_alltoallw)(x, two, bytes, types, y, two, bytes, types, ring, r IERR)
    call finish('ineighbor_alltoallw', r, y)
    M(MPI_Comm_free)(ring IERR)
  end subroutine
end program
