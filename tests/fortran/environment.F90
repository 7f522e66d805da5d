! What is neither communication nor communicators, two processes: datatypes, packing, info, strings, errors,
! generalized requests, files, clocks. Their time is recorded too when it is asked for (ELG_MPI=all).
program environment
#include "use_mpi.inc"
  use callbacks
  implicit none
#include "mpif_h.inc"
  integer, parameter :: address = MPI_ADDRESS_KIND
  integer :: rank, provided

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call notes_open(rank)
  call made("MPI_Init_thread")
  call made("MPI_Comm_rank")
  call questions()
  call datatypes()
  call inside_datatypes()
  call packing()
  call hints()
  call errors_and_strings()
  call generalized()
  call files()
  call pause()
  M(MPI_Finalize)(ONLY_IERR)
  call notes_close()

contains

  subroutine questions()
    integer :: level, version, subversion, length
    logical :: flag
    double precision :: begin, tick
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
    M(MPI_Initialized)(flag IERR)
    call result_numbers('initialized', [merge(1, 0, flag), merge(1, 0, provided >= MPI_THREAD_SINGLE)])
    M(MPI_Finalized)(flag IERR)
    call result_numbers('finalized', [merge(1, 0, flag)])
    M(MPI_Is_thread_main)(flag IERR)
    M(MPI_Query_thread)(level IERR)
    call result_numbers('thread', [merge(1, 0, flag), merge(1, 0, level == provided)])
    M(MPI_Get_version)(version, subversion IERR)
    call result_numbers('version', [version, subversion])
    M(MPI_Get_library_version)(library, length IERR)
    call result_text('library', library(1:length))
    M(MPI_Get_processor_name)(name, length IERR)
    call result_text('processor', '['//trim(name)//']')
    call made("MPI_Wtime")
    begin = MPI_Wtime()
    call made("MPI_Wtick")
    tick = MPI_Wtick()
    call made("MPI_Wtime")
    call result_numbers('clock', [merge(1, 0, MPI_Wtime() >= begin), merge(1, 0, tick > 0)])
  end subroutine

  subroutine datatypes()
    DATATYPE :: t, u, both(2)
    integer :: size, x(12)
    integer(kind=address) :: low, extent
    integer(kind=MPI_COUNT_KIND) :: big_low, big_extent, big_size
    integer(kind=address) :: positions(2)
    STATUS(st)
    M(MPI_Type_contiguous)(3, MPI_INTEGER, t IERR)
    M(MPI_Type_size)(t, size IERR)
    M(MPI_Type_size_x)(t, big_size IERR)
    M(MPI_Type_get_extent)(t, low, extent IERR)
    M(MPI_Type_get_extent_x)(t, big_low, big_extent IERR)
    call result_numbers('contiguous', [size, int(big_size), int(low), int(extent), int(big_low), int(big_extent)])
    M(MPI_Type_free)(t IERR)
    M(MPI_Type_vector)(2, 1, 3, MPI_INTEGER, t IERR)
    M(MPI_Type_get_true_extent)(t, low, extent IERR)
    M(MPI_Type_get_true_extent_x)(t, big_low, big_extent IERR)
    call result_numbers('vector', [int(low), int(extent), int(big_low), int(big_extent)])
    M(MPI_Type_commit)(t IERR)
    ! The message has 2 x 4 bytes.
    x = [(rank * 100 + size, size = 1, 12)]
    M(MPI_Sendrecv_replace)(x, 1, t, 1 - rank, 3, 1 - rank, 3, MPI_COMM_WORLD, st IERR)
    call sent(1 - rank, 3, 8)
    call received(1 - rank, 3, 8)
    call result_numbers('strided', x)
    M(MPI_Type_dup)(t, u IERR)
    M(MPI_Type_free)(t IERR)
    M(MPI_Type_free)(u IERR)
    M(MPI_Type_create_hvector)(2, 1, 12_address, MPI_INTEGER, t IERR)
    M(MPI_Type_create_resized)(t, 0_address, 64_address, u IERR)
    M(MPI_Type_get_extent)(u, low, extent IERR)
    call result_numbers('resized', [int(extent)])
    M(MPI_Type_free)(t IERR)
    M(MPI_Type_free)(u IERR)
    M(MPI_Type_indexed)(2, [1, 2], [0, 4], MPI_INTEGER, t IERR)
    M(MPI_Type_size)(t, size IERR)
    M(MPI_Type_free)(t IERR)
    M(MPI_Type_create_indexed_block)(2, 2, [0, 4], MPI_INTEGER, t IERR)
    M(MPI_Type_free)(t IERR)
    positions = [0_address, 16_address]
    M(MPI_Type_create_hindexed)(2, [1, 2], positions, MPI_INTEGER, t IERR)
    M(MPI_Type_free)(t IERR)
    M(MPI_Type_create_hindexed_block)(2, 1, positions, MPI_INTEGER, t IERR)
    M(MPI_Type_free)(t IERR)
    both(1) = MPI_INTEGER
    both(2) = MPI_DOUBLE_PRECISION
    M(MPI_Type_create_struct)(2, [1, 1], positions, both, t IERR)
    M(MPI_Type_size)(t, size IERR)
    call result_numbers('struct', [size])
    M(MPI_Type_free)(t IERR)
    M(MPI_Type_create_subarray)(2, [4, 4], [2, 2], [1, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, t IERR)
    M(MPI_Type_size)(t, size IERR)
    call result_numbers('subarray', [size])
    M(MPI_Type_free)(t IERR)
    M(MPI_Type_create_darray)(2, rank, 1, [8], [MPI_DISTRIBUTE_BLOCK], [MPI_DISTRIBUTE_DFLT_DARG], [2], &
                              MPI_ORDER_FORTRAN, MPI_INTEGER, t IERR)
    M(MPI_Type_size)(t, size IERR)
    call result_numbers('darray', [size])
    M(MPI_Type_free)(t IERR)
    M(MPI_Type_match_size)(MPI_TYPECLASS_INTEGER, 8, t IERR)
    M(MPI_Type_size)(t, size IERR)
    M(MPI_Type_create_f90_real)(12, 30, t IERR)
    M(MPI_Type_create_f90_complex)(12, 30, t IERR)
    M(MPI_Type_create_f90_integer)(8, t IERR)
    call result_numbers('matched', [size])
  end subroutine

  subroutine inside_datatypes()
    DATATYPE :: t, parts(1)
    integer :: integers, addresses, types, combiner, numbers(3), length
    integer(kind=address) :: positions(1)
    character(len=MPI_MAX_OBJECT_NAME) :: name
    M(MPI_Type_vector)(2, 3, 4, MPI_REAL, t IERR)
    M(MPI_Type_get_envelope)(t, integers, addresses, types, combiner IERR)
    M(MPI_Type_get_contents)(t, 3, 0, 1, numbers, positions, parts IERR)
    call result_numbers('contents', [integers, addresses, types, merge(1, 0, combiner == MPI_COMBINER_VECTOR), &
                                     numbers, merge(1, 0, parts(1) == MPI_REAL)])
    M(MPI_Type_set_name)(t, 'rows' IERR)
    M(MPI_Type_get_name)(t, name, length IERR)
    call result_text('type name', '['//name(1:length)//']')
    M(MPI_Type_free)(t IERR)
  end subroutine

  subroutine packing()
    integer :: x, y, position, size
    integer(kind=address) :: outside, external_size
    character(len=64) :: buffer
    x = 12345 + rank
    y = 0
    position = 0
    M(MPI_Pack_size)(1, MPI_INTEGER, MPI_COMM_WORLD, size IERR)
    M(MPI_Pack)(x, 1, MPI_INTEGER, buffer, 64, position, MPI_COMM_WORLD IERR)
    position = 0
    M(MPI_Unpack)(buffer, 64, position, y, 1, MPI_INTEGER, MPI_COMM_WORLD IERR)
    call result_numbers('packed', [size, position, y])
    M(MPI_Pack_external_size)('external32', 1, MPI_INTEGER, external_size IERR)
    outside = 0
    M(MPI_Pack_external)('external32', x, 1, MPI_INTEGER, buffer, 64_address, outside IERR)
    outside = 0
    y = 0
    M(MPI_Unpack_external)('external32', buffer, 64_address, outside, y, 1, MPI_INTEGER IERR)
    call result_numbers('packed for outside', [int(external_size), int(outside), y])
  end subroutine

  subroutine hints()
    INFO :: a, b
    integer :: keys, length
    logical :: flag
    character(len=20) :: text
    M(MPI_Info_create)(a IERR)
    M(MPI_Info_set)(a, 'colour  ', '  dark blue ' IERR)
    M(MPI_Info_set)(a, 'size', 'large' IERR)
    M(MPI_Info_dup)(a, b IERR)
    M(MPI_Info_delete)(a, 'size' IERR)
    M(MPI_Info_get_nkeys)(a, keys IERR)
    text = repeat('x', 20)
    M(MPI_Info_get_nthkey)(a, 0, text IERR)
    call result_text('key', '['//text//']')
    flag = .false.
    M(MPI_Info_get_valuelen)(a, 'colour', length, flag IERR)
    call result_numbers('info', [keys, length, merge(1, 0, flag)])
    text = repeat('x', 20)
    M(MPI_Info_get)(a, 'colour', 19, text, flag IERR)
    call result_text('value', '['//text//']')
    flag = .true.
    M(MPI_Info_get)(a, 'size', 19, text, flag IERR)
    call result_numbers('deleted', [merge(1, 0, flag)])
    M(MPI_Info_free)(a IERR)
    M(MPI_Info_free)(b IERR)
  end subroutine

  subroutine errors_and_strings()
    integer :: class, code, length, found
    character(len=MPI_MAX_ERROR_STRING) :: text
    M(MPI_Error_string)(MPI_ERR_RANK, text, length IERR)
    call result_text('error', text(1:length))
    M(MPI_Add_error_class)(class IERR)
    M(MPI_Add_error_code)(class, code IERR)
    M(MPI_Add_error_string)(code, 'our own error' IERR)
    M(MPI_Error_string)(code, text, length IERR)
    M(MPI_Error_class)(code, found IERR)
    call result_text('own', '['//text(1:length)//']')
    call result_numbers('class', [merge(1, 0, found == class)])
  end subroutine

  subroutine generalized()
    REQUEST :: request
    STATUS(st)
    integer :: count
    M(MPI_Grequest_start)(query, release, cancel, 5_address, request IERR)
    M(MPI_Grequest_complete)(request IERR)
    M(MPI_Wait)(request, st IERR)
    call event('MPI_REQUEST_COMPLETE kind=3')
    M(MPI_Get_count)(st, MPI_INTEGER, count IERR)
    call result_numbers('generalized', [queries, frees, cancels, count, STATUS_SOURCE(st), STATUS_TAG(st)])
  end subroutine

  subroutine files()
    FILE_HANDLE :: file
    REQUEST :: request
    GROUP :: group
    INFO :: used
    integer, parameter :: offset = MPI_OFFSET_KIND
    integer, asynchronous :: x(4), y(4)
    integer :: count, amode, size
    integer(kind=offset) :: position, length, displacement
    integer(kind=address) :: extent
    DATATYPE :: etype, filetype
    logical :: flag
    character(len=MPI_MAX_DATAREP_STRING) :: representation
    STATUS(st)
    x = 10 * rank + [1, 2, 3, 4]
    y = -1
    M(MPI_File_open)(MPI_COMM_WORLD, 'numbers.dat  ', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file IERR)
    M(MPI_File_set_view)(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL IERR)
    M(MPI_File_get_view)(file, displacement, etype, filetype, representation IERR)
    call result_text('view', '['//trim(representation)//']')
    M(MPI_File_write_at)(file, int(4 * rank, offset), x, 2, MPI_INTEGER, st IERR)
    M(MPI_Get_count)(st, MPI_INTEGER, count IERR)
    M(MPI_File_write_at_all)(file, int(4 * rank + 2, offset), x(3), 2, MPI_INTEGER, MPI_STATUS_IGNORE IERR)
    M(MPI_File_sync)(file IERR)
    M(MPI_Barrier)(MPI_COMM_WORLD IERR)
    call collective(-1, 0, 0)
    M(MPI_File_read_at)(file, int(4 * (1 - rank), offset), y, 4, MPI_INTEGER, st IERR)
    call result_numbers('read', [y, count])
    M(MPI_File_seek)(file, 2_offset, MPI_SEEK_SET IERR)
    y = -1
    M(MPI_File_read)(file, y, 3, MPI_INTEGER, MPI_STATUS_IGNORE IERR)
    M(MPI_File_get_position)(file, position IERR)
    M(MPI_File_get_byte_offset)(file, position, displacement IERR)
    call result_numbers('sequential', [y, int(position), int(displacement)])
    M(MPI_File_iread_at)(file, 0_offset, y, 4, MPI_INTEGER, request IERR)
    M(MPI_Wait)(request, MPI_STATUS_IGNORE IERR)
    call event('MPI_REQUEST_COMPLETE kind=2')
    call result_numbers('iread', y)
    M(MPI_File_read_at_all_begin)(file, 1_offset, y, 4, MPI_INTEGER IERR)
    M(MPI_File_read_at_all_end)(file, y, st IERR)
    call result_numbers('split', y)
    M(MPI_File_get_size)(file, length IERR)
    M(MPI_File_get_amode)(file, amode IERR)
    M(MPI_File_get_type_extent)(file, MPI_INTEGER, extent IERR)
    flag = .true.
    M(MPI_File_get_atomicity)(file, flag IERR)
    M(MPI_File_get_group)(file, group IERR)
    M(MPI_Group_size)(group, size IERR)
    M(MPI_Group_free)(group IERR)
    M(MPI_File_get_info)(file, used IERR)
    M(MPI_Info_free)(used IERR)
    call result_numbers('file', [int(length), amode, int(extent), merge(1, 0, flag), size])
    M(MPI_File_close)(file IERR)
    M(MPI_Barrier)(MPI_COMM_WORLD IERR)
    call collective(-1, 0, 0)
    if (rank == 0) then
      M(MPI_File_delete)('numbers.dat' , MPI_INFO_NULL IERR)
    end if
  end subroutine

  ! Switched off, calls leave nothing, but they still count for what comes later. (MPI_PCONTROL has no IERROR in the
  ! standard; MPICH wants one.)
#if defined(OPENMPI)
#define PCONTROL_IERR
#else
#define PCONTROL_IERR IERR
#endif
  subroutine pause()
    integer :: x
    x = rank
    call MPI_Pcontrol(0 PCONTROL_IERR)
    call MPI_Barrier(MPI_COMM_WORLD IERR)
    call MPI_Pcontrol(1 PCONTROL_IERR)
    M(MPI_Bcast)(x, 1, MPI_INTEGER, 1, MPI_COMM_WORLD IERR)
    call collective(1, merge(4, 0, rank == 1), merge(0, 4, rank == 1))
    call result_numbers('after the pause', [x])
  end subroutine
end program
