/* An MPI library's part of MPI 4.1, as far as later.c needs it, with the profiling interface. */
#include <mpi.h>
#include <stddef.h>

/* MPICH 4.2 declares them with arrays that are not constant. */
#if defined(MPICH_VERSION) && MPI_VERSION * 10 + MPI_SUBVERSION >= 41
#define REQUESTS MPI_Request
#else
#define REQUESTS const MPI_Request
#endif

#define DEFINE(name, parameters, ...)      \
  int P##name parameters { __VA_ARGS__ }   \
  __attribute__((weak, alias("P" #name))) int name parameters;

DEFINE(MPI_Request_get_status_any,
       (int count, REQUESTS requests[], int* index, int* flag, MPI_Status* status), {
         *flag = 0;
         for (*index = 0; *index < count; ++*index) {
           if (requests[*index] == MPI_REQUEST_NULL) continue;
           PMPI_Request_get_status(requests[*index], flag, status);
           if (*flag) return MPI_SUCCESS;
         }
         *index = MPI_UNDEFINED;
         return MPI_SUCCESS;
       })

DEFINE(MPI_Request_get_status_all, (int count, REQUESTS requests[], int* flag, MPI_Status statuses[]), {
  *flag = 1;
  for (int i = 0; i < count && *flag; ++i)
    PMPI_Request_get_status(requests[i], flag, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
  return MPI_SUCCESS;
})

DEFINE(MPI_Request_get_status_some,
       (int count, REQUESTS requests[], int* found, int indices[], MPI_Status statuses[]), {
         *found = 0;
         for (int i = 0; i < count; ++i) {
           int flag;
           if (requests[i] == MPI_REQUEST_NULL) continue;
           PMPI_Request_get_status(requests[i], &flag,
                                   statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*found]);
           if (flag) indices[(*found)++] = i;
         }
         return MPI_SUCCESS;
       })

DEFINE(MPI_Buffer_flush, (void), { return MPI_SUCCESS; })

static int query(void* state, MPI_Status* status) {
  (void)state;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int nothing(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int cancelled(void* state, int complete) {
  (void)state, (void)complete;
  return MPI_SUCCESS;
}
DEFINE(MPI_Buffer_iflush, (MPI_Request * request), {
  PMPI_Grequest_start(query, nothing, cancelled, NULL, request);
  return PMPI_Grequest_complete(*request);
})
