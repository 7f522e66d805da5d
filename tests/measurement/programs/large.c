/* Forms with large counts of what the other programs have no use for: datatypes, packing, files, non-blocking
 * collective operations; and the queries of sessions. Run with ELG_MPI=all, so that every call is seen. */
#include "expect.h"

#define CALL(name, ...)   \
  do {                    \
    name(__VA_ARGS__);    \
    expect("%s", #name);  \
  } while (0)

static double in[64], out[64];
static int next, previous;

static void add(void* from, void* to, MPI_Count* count, MPI_Datatype* type) {
  (void)type;
  for (MPI_Count i = 0; i < *count; ++i) ((double*)to)[i] += ((double*)from)[i];
}

static void datatypes(void) {
  MPI_Datatype type, other;
  const MPI_Count lengths[2] = {1, 2}, places[2] = {0, 4}, bytes[2] = {0, 32}, sizes[1] = {8}, part[1] = {4},
                  start[1] = {2};
  const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_DOUBLE};
  const int distribution[1] = {MPI_DISTRIBUTE_BLOCK}, argument[1] = {MPI_DISTRIBUTE_DFLT_DARG}, grid[1] = {ranks};
  MPI_Count integers, addresses, counts, datatypes, size, lower, extent, values[8], position = 0;
  MPI_Datatype contents[4];
  MPI_Aint aints[4];
  MPI_Op op;
  int combiner, ints[8];
  char packed[256];
  CALL(MPI_Type_contiguous_c, 2, MPI_DOUBLE, &type);
  CALL(MPI_Type_size_c, type, &size);
  check(size == 16, "MPI_Type_size_c");
  CALL(MPI_Type_get_extent_c, type, &lower, &extent);
  check(extent == 16, "MPI_Type_get_extent_c");
  CALL(MPI_Type_get_true_extent_c, type, &lower, &extent);
  CALL(MPI_Type_get_envelope_c, type, &integers, &addresses, &counts, &datatypes, &combiner);
  check(integers + counts == 1 && datatypes == 1 && combiner == MPI_COMBINER_CONTIGUOUS, "MPI_Type_get_envelope_c");
  CALL(MPI_Type_get_contents_c, type, integers, addresses, counts, datatypes, ints, aints, values, contents);
  CALL(MPI_Type_free, &type);
  CALL(MPI_Type_vector_c, 2, 1, 2, MPI_DOUBLE, &type);
  CALL(MPI_Type_free, &type);
  CALL(MPI_Type_indexed_c, 2, lengths, places, MPI_DOUBLE, &type);
  CALL(MPI_Type_free, &type);
  CALL(MPI_Type_create_hvector_c, 2, 1, 16, MPI_DOUBLE, &type);
  CALL(MPI_Type_free, &type);
  CALL(MPI_Type_create_hindexed_c, 2, lengths, bytes, MPI_DOUBLE, &type);
  CALL(MPI_Type_free, &type);
  CALL(MPI_Type_create_hindexed_block_c, 2, 1, bytes, MPI_DOUBLE, &type);
  CALL(MPI_Type_free, &type);
  CALL(MPI_Type_create_indexed_block_c, 2, 1, places, MPI_DOUBLE, &type);
  CALL(MPI_Type_free, &type);
  CALL(MPI_Type_create_struct_c, 2, lengths, bytes, types, &type);
  CALL(MPI_Type_create_resized_c, type, 0, 64, &other);
  CALL(MPI_Type_free, &other);
  CALL(MPI_Type_free, &type);
  CALL(MPI_Type_create_subarray_c, 1, sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
  CALL(MPI_Type_free, &type);
  CALL(MPI_Type_create_darray_c, ranks, me, 1, sizes, distribution, argument, grid, MPI_ORDER_C, MPI_DOUBLE, &type);
  CALL(MPI_Type_free, &type);

  CALL(MPI_Pack_size_c, 2, MPI_DOUBLE, MPI_COMM_WORLD, &size);
  CALL(MPI_Pack_c, out, 2, MPI_DOUBLE, packed, 256, &position, MPI_COMM_WORLD);
  position = 0;
  CALL(MPI_Unpack_c, packed, 256, &position, in, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  check(in[1] == out[1], "MPI_Unpack_c");
  CALL(MPI_Pack_external_size_c, "external32", 2, MPI_DOUBLE, &size);
  position = 0;
  CALL(MPI_Pack_external_c, "external32", out, 2, MPI_DOUBLE, packed, 256, &position);
  position = 0;
  CALL(MPI_Unpack_external_c, "external32", packed, 256, &position, in, 2, MPI_DOUBLE);

  CALL(MPI_Op_create_c, add, 1, &op);
  CALL(MPI_Reduce_local_c, out, in, 1, MPI_DOUBLE, op);
  check(in[0] == out[0] + out[0], "MPI_Reduce_local_c");
  CALL(MPI_Op_free, &op);
}

static void finish(MPI_Request* request, const char* kind) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  expect("MPI_Wait %s", kind);
}

static void messages(void) {
  MPI_Request request, receive;
  MPI_Status status;
  MPI_Count count;
  for (int kind = 0; kind < 2; ++kind) {
    MPI_Irecv_c(in, 8, MPI_DOUBLE, previous, kind, MPI_COMM_WORLD, &receive);
    expect("MPI_Irecv_c posted:%d:%d", previous, kind);
    MPI_Barrier(MPI_COMM_WORLD);  /* a ready send needs its receive */
    expect("MPI_Barrier coll:-:0:0");
    if (kind == 0) {
      MPI_Rsend_c(out, 3, MPI_DOUBLE, next, kind, MPI_COMM_WORLD);
      expect("MPI_Rsend_c send:%d:0:24", next);
    } else {
      MPI_Irsend_c(out, 3, MPI_DOUBLE, next, kind, MPI_COMM_WORLD, &request);
      expect("MPI_Irsend_c send:%d:1:24#", next);
      finish(&request, "sent");
    }
    MPI_Wait(&receive, &status);
    expect("MPI_Wait recv:%d:%d:24#", previous, kind);
    CALL(MPI_Get_count_c, &status, MPI_DOUBLE, &count);
    check(count == 3, "MPI_Get_count_c");
    CALL(MPI_Get_elements_c, &status, MPI_DOUBLE, &count);
  }
  CALL(MPI_Ssend_init_c, out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  CALL(MPI_Request_free, &request);
  CALL(MPI_Rsend_init_c, out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  CALL(MPI_Request_free, &request);
}

#define BEGUN(name, ...)                 \
  do {                                   \
    CALL(name, __VA_ARGS__, &request);   \
    finish(&request, "complete:1");      \
  } while (0)

static void collectives(void) {
  MPI_Request request;
  MPI_Comm ring;
  MPI_Count counts[8];
  MPI_Aint places[8], bytes[8];
  MPI_Datatype types[8];
  const int period = 1, size = ranks;
  for (int i = 0; i < 8; ++i) {
    counts[i] = 1;
    places[i] = i;
    bytes[i] = 8 * i;
    types[i] = MPI_DOUBLE;
  }
  const MPI_Comm world = MPI_COMM_WORLD;
  BEGUN(MPI_Iallgather_c, out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, world);
  BEGUN(MPI_Iallgatherv_c, out, 1, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, world);
  BEGUN(MPI_Ialltoall_c, out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, world);
  BEGUN(MPI_Ialltoallv_c, out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, world);
  BEGUN(MPI_Ialltoallw_c, out, counts, bytes, types, in, counts, bytes, types, world);
  BEGUN(MPI_Igather_c, out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, world);
  BEGUN(MPI_Igatherv_c, out, 1, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, 0, world);
  BEGUN(MPI_Iscatter_c, out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, world);
  BEGUN(MPI_Iscatterv_c, out, counts, places, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, world);
  BEGUN(MPI_Ireduce_c, out, in, 1, MPI_DOUBLE, MPI_SUM, 0, world);
  BEGUN(MPI_Ireduce_scatter_c, out, in, counts, MPI_DOUBLE, MPI_SUM, world);
  BEGUN(MPI_Ireduce_scatter_block_c, out, in, 1, MPI_DOUBLE, MPI_SUM, world);
  BEGUN(MPI_Iscan_c, out, in, 1, MPI_DOUBLE, MPI_SUM, world);
  BEGUN(MPI_Iexscan_c, out, in, 1, MPI_DOUBLE, MPI_SUM, world);
  CALL(MPI_Cart_create, world, 1, &size, &period, 0, &ring);
  BEGUN(MPI_Ineighbor_allgather_c, out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, ring);
  BEGUN(MPI_Ineighbor_allgatherv_c, out, 1, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, ring);
  BEGUN(MPI_Ineighbor_alltoall_c, out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, ring);
  BEGUN(MPI_Ineighbor_alltoallv_c, out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, ring);
  BEGUN(MPI_Ineighbor_alltoallw_c, out, counts, bytes, types, in, counts, bytes, types, ring);
  MPI_Neighbor_allgatherv_c(out, 1, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, ring);
  expect("MPI_Neighbor_allgatherv_c coll:-:8:16");
  MPI_Neighbor_alltoallv_c(out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, ring);
  expect("MPI_Neighbor_alltoallv_c coll:-:16:16");
  MPI_Neighbor_alltoallw_c(out, counts, bytes, types, in, counts, bytes, types, ring);
  expect("MPI_Neighbor_alltoallw_c coll:-:16:16");
  CALL(MPI_Comm_free, &ring);
}

#define FILE_BEGUN(name, ...)            \
  do {                                   \
    CALL(name, __VA_ARGS__, &request);   \
    finish(&request, "complete:2");      \
  } while (0)

static int read_part(void* user, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset at, void* more) {
  (void)user, (void)type, (void)count, (void)file, (void)at, (void)more;
  return MPI_SUCCESS;
}
static int extent_of_part(MPI_Datatype type, MPI_Aint* extent, void* more) {
  (void)type, (void)more;
  *extent = 8;
  return MPI_SUCCESS;
}

static void files(void) {
  MPI_File file;
  MPI_Request request;
  MPI_Count extent;
  const MPI_Offset at = 64 * me;
  CALL(MPI_File_open, MPI_COMM_WORLD, "large.out", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
       MPI_INFO_NULL, &file);
  CALL(MPI_File_get_type_extent_c, file, MPI_DOUBLE, &extent);
  CALL(MPI_File_write_at_c, file, at, out, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
  CALL(MPI_File_read_at_c, file, at, in, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
  check(in[1] == out[1], "MPI_File_read_at_c");
  CALL(MPI_File_write_at_all_c, file, at, out, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
  CALL(MPI_File_read_at_all_c, file, at, in, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
  FILE_BEGUN(MPI_File_iwrite_at_c, file, at, out, 2, MPI_DOUBLE);
  FILE_BEGUN(MPI_File_iread_at_c, file, at, in, 2, MPI_DOUBLE);
  FILE_BEGUN(MPI_File_iwrite_at_all_c, file, at, out, 2, MPI_DOUBLE);
  FILE_BEGUN(MPI_File_iread_at_all_c, file, at, in, 2, MPI_DOUBLE);
  CALL(MPI_File_write_at_all_begin_c, file, at, out, 2, MPI_DOUBLE);
  CALL(MPI_File_write_at_all_end, file, out, MPI_STATUS_IGNORE);
  CALL(MPI_File_read_at_all_begin_c, file, at, in, 2, MPI_DOUBLE);
  CALL(MPI_File_read_at_all_end, file, in, MPI_STATUS_IGNORE);
  CALL(MPI_File_write_c, file, out, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
  CALL(MPI_File_read_c, file, in, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
  CALL(MPI_File_write_all_c, file, out, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
  CALL(MPI_File_read_all_c, file, in, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
  FILE_BEGUN(MPI_File_iwrite_c, file, out, 2, MPI_DOUBLE);
  FILE_BEGUN(MPI_File_iread_c, file, in, 2, MPI_DOUBLE);
  FILE_BEGUN(MPI_File_iwrite_all_c, file, out, 2, MPI_DOUBLE);
  FILE_BEGUN(MPI_File_iread_all_c, file, in, 2, MPI_DOUBLE);
  CALL(MPI_File_write_all_begin_c, file, out, 2, MPI_DOUBLE);
  CALL(MPI_File_write_all_end, file, out, MPI_STATUS_IGNORE);
  CALL(MPI_File_read_all_begin_c, file, in, 2, MPI_DOUBLE);
  CALL(MPI_File_read_all_end, file, in, MPI_STATUS_IGNORE);
  CALL(MPI_File_write_shared_c, file, out, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
  CALL(MPI_File_read_shared_c, file, in, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
  FILE_BEGUN(MPI_File_iwrite_shared_c, file, out, 2, MPI_DOUBLE);
  FILE_BEGUN(MPI_File_iread_shared_c, file, in, 2, MPI_DOUBLE);
  CALL(MPI_File_write_ordered_c, file, out, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
  CALL(MPI_File_read_ordered_c, file, in, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
  CALL(MPI_File_write_ordered_begin_c, file, out, 2, MPI_DOUBLE);
  CALL(MPI_File_write_ordered_end, file, out, MPI_STATUS_IGNORE);
  CALL(MPI_File_read_ordered_begin_c, file, in, 2, MPI_DOUBLE);
  CALL(MPI_File_read_ordered_end, file, in, MPI_STATUS_IGNORE);
  CALL(MPI_File_close, &file);
  /* MPICH's ROMIO takes no functions that convert: an error of conversion (25). */
  const int failed = MPI_Register_datarep_c("of the test", read_part, read_part, extent_of_part, NULL);
  expect(failed ? "MPI_Register_datarep_c error:25" : "MPI_Register_datarep_c");
}

static void complain(MPI_Session* session, int* code, ...) {
  (void)session, (void)code;
}

static void environment(void) {
  MPI_Session session;
  MPI_Errhandler handler, found;
  MPI_Info info;
  MPI_Win win;
  void* memory;
  MPI_Aint size, unit;
  char text[MPI_MAX_PSET_NAME_LEN];
  int sets, length = sizeof text, flag;
  CALL(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  CALL(MPI_Session_get_info, session, &info);
  CALL(MPI_Info_get_string, info, "thread_level", &length, text, &flag);
  CALL(MPI_Info_free, &info);
  CALL(MPI_Session_get_num_psets, session, MPI_INFO_NULL, &sets);
  length = sizeof text;
  CALL(MPI_Session_get_nth_pset, session, MPI_INFO_NULL, 0, &length, text);
  CALL(MPI_Session_get_pset_info, session, text, &info);
  CALL(MPI_Info_free, &info);
  CALL(MPI_Session_create_errhandler, complain, &handler);
  CALL(MPI_Session_set_errhandler, session, handler);
  CALL(MPI_Session_get_errhandler, session, &found);
  CALL(MPI_Session_call_errhandler, session, MPI_ERR_OTHER);
  CALL(MPI_Errhandler_free, &found);
  CALL(MPI_Errhandler_free, &handler);
  CALL(MPI_Session_finalize, &session);
  CALL(MPI_Info_create_env, 0, NULL, &info);
  CALL(MPI_Info_free, &info);
  MPI_Win_allocate_shared_c(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  expect("MPI_Win_allocate_shared_c win:0");
  CALL(MPI_Win_shared_query_c, win, 0, &size, &unit, &memory);
  check(size == 64 && unit == 8, "MPI_Win_shared_query_c");
  MPI_Win_free(&win);
  expect("MPI_Win_free win:0");
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  expect("MPI_Comm_rank");
  expect("MPI_Comm_size");
  next = (me + 1) % ranks;
  previous = (me + ranks - 1) % ranks;
  for (int i = 0; i < 64; ++i) out[i] = 100 * me + i;
  datatypes();
  messages();
  collectives();
  files();
  environment();
  end();
  return 0;
}
