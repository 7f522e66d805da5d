! Communicators, groups, topologies, attributes and error handlers, three processes. On each new communicator there
! is a broadcast, whose root must be found again as a rank of MPI_COMM_WORLD.
program communicators
#include "use_mpi.inc"
  use callbacks
  implicit none
#include "mpif_h.inc"
  integer, parameter :: n = 3
  integer :: rank

  call MPI_Init(ONLY_IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call notes_open(rank)
  call made("MPI_Init")
  call made("MPI_Comm_rank")
  call duplicates()
  call parts()
  call groups()
  call cartesian()
  call graphs()
  call between()
  call attributes()
#if !defined(USE_MPI_F08)
  call old_attributes()
#endif
  call error_handlers()
  M(MPI_Finalize)(ONLY_IERR)
  call notes_close()

contains

  ! `root` in the communicator and in the world.
  subroutine use(what, comm_used, root, world_root)
    character(len=*), intent(in) :: what
    COMM, intent(in) :: comm_used
    integer, intent(in) :: root, world_root
    integer :: x, size, mine
    x = 1000 + rank
    M(MPI_Comm_size)(comm_used, size IERR)
    M(MPI_Comm_rank)(comm_used, mine IERR)
    M(MPI_Bcast)(x, 1, MPI_INTEGER, root, comm_used IERR)
    call collective(world_root, merge(4, 0, mine == root), merge(0, 4, mine == root))
    call result_numbers(what, [x, size, mine])
  end subroutine

  subroutine duplicates()
    COMM :: a, b, c
    REQUEST :: request
    INFO :: hints
    integer :: outcome, length
    character(len=MPI_MAX_OBJECT_NAME) :: name
    M(MPI_Comm_dup)(MPI_COMM_WORLD, a IERR)
    call use('dup', a, 2, 2)
    M(MPI_Info_create)(hints IERR)
    M(MPI_Comm_dup_with_info)(a, hints, b IERR)
    M(MPI_Info_free)(hints IERR)
    call use('dup_with_info', b, 1, 1)
    M(MPI_Comm_idup)(b, c, request IERR)
    M(MPI_Wait)(request, MPI_STATUS_IGNORE IERR)
    call use('idup', c, 0, 0)
    M(MPI_Comm_compare)(a, c, outcome IERR)
    call result_numbers('compare', [outcome])
    M(MPI_Comm_set_name)(a, 'a name with blanks   ' IERR)
    name = repeat('x', len(name))
    M(MPI_Comm_get_name)(a, name, length IERR)
    call result_text('name', '['//trim(name)//']')
    call result_numbers('length', [length])
    M(MPI_Comm_free)(a IERR)
    M(MPI_Comm_free)(b IERR)
    M(MPI_Comm_disconnect)(c IERR)
    call result_numbers('freed', [merge(1, 0, a == MPI_COMM_NULL)])
    ! One handle after another, the same each time.
    call loop()
  end subroutine

  subroutine loop()
    COMM :: a
    integer :: i
    do i = 1, 50
      M(MPI_Comm_dup)(MPI_COMM_WORLD, a IERR)
      call use('again', a, mod(i, n), mod(i, n))
      M(MPI_Comm_free)(a IERR)
    end do
  end subroutine

  subroutine parts()
    COMM :: a
    GROUP :: world, two
    integer :: color
    ! Processes 2 and 0, in this order; process 1 alone.
    color = merge(7, 8, rank == 1)
    M(MPI_Comm_split)(MPI_COMM_WORLD, color, -rank, a IERR)
    call use('split', a, 0, merge(1, 2, rank == 1))
    M(MPI_Comm_free)(a IERR)
    color = merge(MPI_UNDEFINED, 1, rank == 0)
    M(MPI_Comm_split)(MPI_COMM_WORLD, color, 0, a IERR)
    if (rank == 0) then
      call result_numbers('left out', [merge(1, 0, a == MPI_COMM_NULL)])
    else
      call use('split without 0', a, 1, 2)
      M(MPI_Comm_free)(a IERR)
    end if
    M(MPI_Comm_split_type)(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, a IERR)
    call use('split_type', a, 2, 2)
    M(MPI_Comm_free)(a IERR)
    M(MPI_Comm_group)(MPI_COMM_WORLD, world IERR)
    M(MPI_Group_excl)(world, 1, [1], two IERR)
    M(MPI_Comm_create)(MPI_COMM_WORLD, two, a IERR)
    if (rank /= 1) then
      call use('create', a, 1, 2)
      M(MPI_Comm_free)(a IERR)
      M(MPI_Comm_create_group)(MPI_COMM_WORLD, two, 5, a IERR)
      call use('create_group', a, 0, 0)
      M(MPI_Comm_free)(a IERR)
    end if
    M(MPI_Group_free)(world IERR)
    M(MPI_Group_free)(two IERR)
  end subroutine

  subroutine groups()
    GROUP :: world, a, b, c
    integer :: size, mine, outcome, ranks(2)
    M(MPI_Comm_group)(MPI_COMM_WORLD, world IERR)
    M(MPI_Group_incl)(world, 2, [2, 0], a IERR)
    M(MPI_Group_range_incl)(world, 1, reshape([0, 1, 1], [3, 1]), b IERR)
    M(MPI_Group_union)(a, b, c IERR)
    M(MPI_Group_size)(c, size IERR)
    M(MPI_Group_rank)(c, mine IERR)
    M(MPI_Group_translate_ranks)(c, 2, [0, 1], world, ranks IERR)
    call result_numbers('union', [size, mine, ranks])
    M(MPI_Group_compare)(world, c, outcome IERR)
    M(MPI_Group_free)(c IERR)
    M(MPI_Group_intersection)(a, b, c IERR)
    M(MPI_Group_size)(c, size IERR)
    call result_numbers('intersection', [size, outcome])
    M(MPI_Group_free)(c IERR)
    M(MPI_Group_difference)(a, b, c IERR)
    M(MPI_Group_rank)(c, mine IERR)
    call result_numbers('difference', [mine, merge(1, 0, mine == MPI_UNDEFINED)])
    M(MPI_Group_free)(c IERR)
    M(MPI_Group_range_excl)(world, 1, reshape([0, 1, 1], [3, 1]), c IERR)
    M(MPI_Group_size)(c, size IERR)
    call result_numbers('range_excl', [size])
    M(MPI_Group_free)(c IERR)
    M(MPI_Group_free)(a IERR)
    M(MPI_Group_free)(b IERR)
    M(MPI_Group_free)(world IERR)
  end subroutine

  subroutine cartesian()
    COMM :: grid, line
    integer :: dims(2), coords(2), source, dest, kind, ndims, there, newrank
    logical :: periods(2)
    dims = [0, 1]
    M(MPI_Dims_create)(n, 2, dims IERR)
    M(MPI_Cart_create)(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid IERR)
    call use('cart', grid, 1, 1)
    M(MPI_Topo_test)(grid, kind IERR)
    M(MPI_Cartdim_get)(grid, ndims IERR)
    periods = [.false., .true.]
    M(MPI_Cart_get)(grid, 2, dims, periods, coords IERR)
    call result_numbers('cart_get', [dims, coords, merge(1, 0, periods), merge(1, 0, kind == MPI_CART), ndims])
    M(MPI_Cart_shift)(grid, 0, 1, source, dest IERR)
    M(MPI_Cart_rank)(grid, [1, 0], there IERR)
    M(MPI_Cart_coords)(grid, 2, 2, coords IERR)
    M(MPI_Cart_map)(MPI_COMM_WORLD, 2, dims, periods, newrank IERR)
    call result_numbers('cart_shift', [source, dest, there, coords, newrank])
    M(MPI_Cart_sub)(grid, [.true., .false.], line IERR)
    call use('cart_sub', line, 2, 2)
    M(MPI_Comm_free)(line IERR)
    M(MPI_Comm_free)(grid IERR)
  end subroutine

  subroutine graphs()
    COMM :: graph
    integer, parameter :: ends(n) = [1, 3, 4], edges(4) = [1, 0, 2, 1]
    integer :: nodes, count, indices(n), neighbours(4), ins, outs, newrank, weights(2)
    logical :: weighted
    M(MPI_Graph_create)(MPI_COMM_WORLD, n, ends, edges, .false., graph IERR)
    call use('graph', graph, 2, 2)
    M(MPI_Graphdims_get)(graph, nodes, count IERR)
    M(MPI_Graph_get)(graph, n, 4, indices, neighbours IERR)
    call result_numbers('graph_get', [nodes, count, indices, neighbours])
    M(MPI_Graph_neighbors_count)(graph, rank, count IERR)
    neighbours = -1
    M(MPI_Graph_neighbors)(graph, rank, count, neighbours IERR)
    M(MPI_Graph_map)(MPI_COMM_WORLD, n, ends, edges, newrank IERR)
    call result_numbers('neighbours', [count, neighbours, newrank])
    M(MPI_Comm_free)(graph IERR)
    M(MPI_Dist_graph_create)(MPI_COMM_WORLD, 1, [rank], [1], [mod(rank + 1, n)], MPI_UNWEIGHTED, MPI_INFO_NULL, &
                             .false., graph IERR)
    call use('dist_graph', graph, 0, 0)
    M(MPI_Dist_graph_neighbors_count)(graph, ins, outs, weighted IERR)
    call result_numbers('unweighted', [ins, outs, merge(1, 0, weighted)])
    M(MPI_Comm_free)(graph IERR)
    M(MPI_Dist_graph_create_adjacent)(MPI_COMM_WORLD, 1, [mod(rank + 2, n)], [5 + rank], 1, [mod(rank + 1, n)], [6 + rank], &
                                      MPI_INFO_NULL, .false., graph IERR)
    M(MPI_Dist_graph_neighbors_count)(graph, ins, outs, weighted IERR)
    M(MPI_Dist_graph_neighbors)(graph, 1, neighbours(1:1), weights(1:1), 1, neighbours(2:2), weights(2:2) IERR)
    call result_numbers('weighted', [ins, outs, merge(1, 0, weighted), neighbours(1:2), weights])
    M(MPI_Comm_free)(graph IERR)
  end subroutine

  ! Process 0 on one side, 1 and 2 on the other.
  subroutine between()
    COMM :: side, inter, all
    GROUP :: others
    integer :: size, x
    logical :: flag
    M(MPI_Comm_split)(MPI_COMM_WORLD, min(rank, 1), 0, side IERR)
    M(MPI_Intercomm_create)(side, 0, MPI_COMM_WORLD, merge(1, 0, rank == 0), 12, inter IERR)
    flag = .false.
    M(MPI_Comm_test_inter)(inter, flag IERR)
    M(MPI_Comm_remote_size)(inter, size IERR)
    M(MPI_Comm_remote_group)(inter, others IERR)
    M(MPI_Group_free)(others IERR)
    call result_numbers('intercommunicator', [merge(1, 0, flag), size])
    x = rank
    ! Process 2 is rank 1 of its side; it speaks to process 0.
    if (rank == 2) then
      M(MPI_Send)(x, 1, MPI_INTEGER, 0, 13, inter IERR)
      call sent(0, 13, 4)
    else if (rank == 0) then
      M(MPI_Recv)(x, 1, MPI_INTEGER, 1, 13, inter, MPI_STATUS_IGNORE IERR)
      call received(2, 13, 4)
    end if
    M(MPI_Bcast)(x, 1, MPI_INTEGER, merge(MPI_ROOT, 0, rank == 0), inter IERR)
    call collective(0, merge(4, 0, rank == 0), merge(0, 4, rank == 0))
    call result_numbers('between', [x])
    M(MPI_Intercomm_merge)(inter, rank == 0, all IERR)
    call use('merged', all, 2, 0)
    M(MPI_Comm_free)(all IERR)
    M(MPI_Comm_free)(inter IERR)
    M(MPI_Comm_free)(side IERR)
  end subroutine

  subroutine attributes()
    COMM :: a
    integer :: keyval
    integer(kind=MPI_ADDRESS_KIND) :: value
    integer(kind=MPI_ADDRESS_KIND), parameter :: extra = 1000
    logical :: flag
    M(MPI_Comm_create_keyval)(copy, remove, keyval, extra IERR)
    value = 42 + rank
    M(MPI_Comm_set_attr)(MPI_COMM_WORLD, keyval, value IERR)
    M(MPI_Comm_dup)(MPI_COMM_WORLD, a IERR)
    value = 0
    flag = .false.
    M(MPI_Comm_get_attr)(a, keyval, value, flag IERR)
    call result_numbers('copied', [copies, deletions, int(value), merge(1, 0, flag)])
    M(MPI_Comm_delete_attr)(a, keyval IERR)
    flag = .true.
    M(MPI_Comm_get_attr)(a, keyval, value, flag IERR)
    M(MPI_Comm_free)(a IERR)
    M(MPI_Comm_delete_attr)(MPI_COMM_WORLD, keyval IERR)
    M(MPI_Comm_free_keyval)(keyval IERR)
    call result_numbers('deleted', [copies, deletions, merge(1, 0, flag), merge(1, 0, keyval == MPI_KEYVAL_INVALID)])
    M(MPI_Comm_get_attr)(MPI_COMM_WORLD, MPI_TAG_UB, value, flag IERR)
    call result_numbers('tag bound', [merge(1, 0, flag), merge(1, 0, value >= 32767)])
  end subroutine

#if !defined(USE_MPI_F08)
  subroutine old_attributes()
    integer :: keyval, value
    logical :: flag
    M(MPI_Keyval_create)(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, keyval, 0 IERR)
    M(MPI_Attr_put)(MPI_COMM_WORLD, keyval, 43 IERR)
    value = 0
    flag = .false.
    M(MPI_Attr_get)(MPI_COMM_WORLD, keyval, value, flag IERR)
    call result_numbers('old attribute', [value, merge(1, 0, flag)])
    M(MPI_Attr_delete)(MPI_COMM_WORLD, keyval IERR)
    M(MPI_Keyval_free)(keyval IERR)
  end subroutine
#endif

  subroutine error_handlers()
    COMM :: a
    ERRHANDLER :: handler, old
    integer :: x, class, error
    M(MPI_Comm_dup)(MPI_COMM_WORLD, a IERR)
    M(MPI_Comm_create_errhandler)(handle_error, handler IERR)
    M(MPI_Comm_set_errhandler)(a, handler IERR)
    M(MPI_Comm_get_errhandler)(a, old IERR)
    M(MPI_Errhandler_free)(old IERR)
    M(MPI_Comm_call_errhandler)(a, MPI_ERR_TOPOLOGY IERR)
    call result_numbers('handled', [errors, last_error])
    ! The user's own error: told to the handler, returned, and in the trace an error and no message.
    x = 0
    call made("MPI_Send")
    call MPI_Send(x, 1, MPI_INTEGER, n + 5, 1, a, error)
    call event('MPI_ERROR error_class=6')
    M(MPI_Error_class)(error, class IERR)
    call result_numbers('wrong rank', [errors, merge(1, 0, class == MPI_ERR_RANK)])
    M(MPI_Comm_set_errhandler)(a, MPI_ERRORS_RETURN IERR)
    call made("MPI_Send")
    call MPI_Send(x, 1, MPI_DATATYPE_NULL, mod(rank + 1, n), 1, a, error)
    call event('MPI_ERROR error_class=3')
    M(MPI_Error_class)(error, class IERR)
    call result_numbers('no datatype', [errors, merge(1, 0, class == MPI_ERR_TYPE)])
    M(MPI_Errhandler_free)(handler IERR)
    M(MPI_Comm_free)(a IERR)
  end subroutine
end program
