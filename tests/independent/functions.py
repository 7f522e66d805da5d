"""Which function of MPI is what, and the metric tree.

The class of a function and whether it can make progress stand in the table of MPI functions; what role it
plays is told here by its name.
"""
import pathlib
from typing import NamedTuple

TABLE = pathlib.Path(__file__).resolve().parents[2] / "epilog" / "mpi" / "functions.table"
LEAF = {
    "point_to_point": "mpi_point2point", "collective": "mpi_collective", "rma_communication": "mpi_rma_communication",
    "barrier": "mpi_sync_collective", "window_management": "mpi_rma_window_management", "fence": "mpi_rma_fence",
    "general_active_target": "mpi_rma_gat_synchronization", "passive_target": "mpi_rma_lock_synchronization",
    "io": "mpi_io", "init_exit": "mpi_init_exit", "management": "mpi_management"}

# The metrics of times that a class of calls takes, with their parents; the patterns hang below them.
PARENT = {
    "execution": "time", "mpi": "execution", "mpi_communication": "mpi", "mpi_point2point": "mpi_communication",
    "mpi_collective": "mpi_communication", "mpi_rma_communication": "mpi_communication", "mpi_synchronization": "mpi",
    "mpi_sync_collective": "mpi_synchronization", "mpi_rma_synchronization": "mpi_synchronization",
    "mpi_rma_window_management": "mpi_rma_synchronization", "mpi_rma_fence": "mpi_rma_synchronization",
    "mpi_rma_gat_synchronization": "mpi_rma_synchronization",
    "mpi_rma_lock_synchronization": "mpi_rma_synchronization", "mpi_io": "mpi", "mpi_init_exit": "mpi",
    "mpi_management": "mpi", "overhead": "time", "service": "time",
    "shmem": "execution", "shmem_communication": "shmem", "shmem_collective": "shmem_communication",
    "shmem_rma_communication": "shmem_communication", "shmem_synchronization": "shmem",
    "shmem_sync_collective": "shmem_synchronization",
    "shmem_point2point_synchronization": "shmem_synchronization",
    "shmem_lock_completion": "shmem_point2point_synchronization",
    "shmem_wait_until": "shmem_point2point_synchronization", "shmem_init_exit": "shmem_synchronization",
    "shmem_memory_management": "shmem_synchronization", "shmem_team_management": "shmem_synchronization",
    "omp": "execution", "omp_flush": "omp", "omp_synchronization": "omp", "omp_barrier": "omp_synchronization",
    "omp_explicit_barrier": "omp_barrier", "omp_implicit_barrier": "omp_barrier",
    "omp_lock_competition": "omp_synchronization", "omp_lock_api": "omp_lock_competition",
    "omp_lock_critical": "omp_lock_competition", "omp_ordered": "omp_synchronization",
    "omp_taskwait": "omp_synchronization", "omp_between_regions": "time"}

PATTERNS = {
    "mpi_latesender", "mpi_latesender_wo", "mpi_latereceiver", "mpi_latereceiver_wo", "mpi_earlyreduce",
    "mpi_earlyscan", "mpi_latebroadcast", "mpi_wait_nxn", "mpi_nxn_completion", "mpi_rma_earlytransfer",
    "mpi_rma_comm_lock_contention", "mpi_rma_late_notification", "mpi_rma_comm_wait_for_progress", "mpi_barrier_wait",
    "mpi_barrier_completion", "mpi_rma_wait_window_create", "mpi_rma_wait_window_free", "mpi_rma_fence_wait",
    "mpi_rma_fence_completion", "mpi_rma_latepost",
    "mpi_rma_latepost_first", "mpi_rma_earlywait", "mpi_rma_latecomplete", "mpi_rma_latecomplete_pair",
    "mpi_rma_indirectwait", "mpi_rma_gat_wait_for_progress", "mpi_rma_sync_lock_contention",
    "mpi_rma_sync_wait_for_progress", "mpi_reduce_wait", "mpi_wait_neighbours", "mpi_comm_create_wait",
    "mpi_finalize_wait", "mpi_io_wait", "shmem_latebroadcast", "shmem_wait_nxn",
    "shmem_barrier_wait", "shmem_memory_wait", "shmem_team_wait", "shmem_finalize_wait", "shmem_late_notification",
    "shmem_lock_contention", "shmem_rma_wait_for_progress", "shmem_quiet_wait_for_progress",
    "shmem_lock_wait_for_progress", "upc_latebroadcast", "upc_reduce_wait", "upc_earlyreduce", "upc_earlyscan",
    "upc_wait_nxn", "upc_collective_wait", "upc_barrier_wait", "upc_splitphase_wait", "upc_memory_wait", "upc_exit_wait",
    "upc_lock_contention", "upc_lock_wait_for_progress", "upc_rma_wait_for_progress", "upc_quiet_wait_for_progress",
    "upc_hot_thread", "upc_hot_pair", "upc_fine_grained", "omp_fork", "omp_ebarrier_wait", "omp_ibarrier_wait", "omp_idle_threads",
    "omp_lock_api_wait", "omp_lock_critical_wait", "omp_taskwait_wait",
    "mpi_rma_pairsync_count", "mpi_rma_pairsync_unneeded_count", "mpi_unexplained", "mpi_polling", "mpi_polling_idle"}
# Parts of other patterns, and counts: they claim no time of their own.
PARTS = {"mpi_rma_pairsync_count", "mpi_rma_pairsync_unneeded_count", "mpi_unexplained", "mpi_polling", "mpi_polling_idle",
         "upc_earlyreduce", "upc_hot_thread", "upc_hot_pair", "upc_fine_grained", "mpi_latesender_wo", "mpi_latereceiver_wo",
         "mpi_earlyreduce", "mpi_rma_latepost_first", "mpi_rma_latecomplete", "mpi_rma_latecomplete_pair", "mpi_rma_indirectwait"}
# Time of a call itself, or of others than the one that waits.
NO_WAITS = {"mpi_nxn_completion", "mpi_barrier_completion", "mpi_rma_fence_completion", "omp_idle_threads", "omp_fork"}
# Counters of processor time, of which a part is said to fall to waiting.
TIME_COUNTERS = {"PAPI_TOT_CYC", "PAPI_REF_CYC", "PAPI_TOT_INS", "perf::TASK-CLOCK", "perf::CPU-CLOCK", "ru_utime"}
COUNTS = {"visits", "bytes", "bytes_p2p", "bytes_sent_p2p", "bytes_rcvd_p2p", "bytes_coll", "bytes_sent_coll",
          "bytes_rcvd_coll", "bytes_rma", "bytes_put", "bytes_get"}
# All that this analysis computes, hardware counters apart.
METRICS = {"time"} | set(PARENT) | PATTERNS | COUNTS

RECEIVES = {"MPI_Recv", "MPI_Mrecv", "MPI_Sendrecv", "MPI_Sendrecv_replace"}
SENDS = {"MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Sendrecv", "MPI_Sendrecv_replace"}
WAITED_SENDS = {"MPI_Isend", "MPI_Issend", "MPI_Isendrecv", "MPI_Isendrecv_replace", "MPI_Start", "MPI_Startall"}
PROBES = {"MPI_Probe", "MPI_Mprobe"}
POLLED_PROBES = {"MPI_Iprobe", "MPI_Improbe"}  # they wait as the end of a series of polls
WAITS = {"MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome"}
TESTS = {"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Request_get_status"}
ALL = {"MPI_Waitall", "MPI_Testall"}  # they end with the last of their requests
FROM_ROOT = {"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"}
TO_ROOT = {"MPI_Reduce", "MPI_Gather", "MPI_Gatherv"}
PREFIX = {"MPI_Scan", "MPI_Exscan"}
N_TO_N = {"MPI_Allgather", "MPI_Allgatherv", "MPI_Allreduce", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw",
          "MPI_Reduce_scatter", "MPI_Reduce_scatter_block"}
CREATE = {"MPI_Win_create", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_create_dynamic"}


class Function(NamedTuple):
    name: str
    cls: str
    role: str
    progress: bool


def _table():
    functions = {}
    for line in TABLE.read_text().splitlines():
        if line.startswith("MPI_"):
            words = line.split()
            name, flags = words[0], words[6].split(",")
            forms = {name: Function(name, words[2], words[3], "progress" in flags)}
            if "persistent" in flags:  # MPI_Bcast_init
                forms[name + "_init"] = Function(name + "_init", "collective", "persistent_collective",
                                                 "progress" in flags)
            if "large" in flags:  # MPI_Put_c plays the part of MPI_Put
                forms.update({form + "_c": row for form, row in list(forms.items())})
            functions.update({form.lower(): row for form, row in forms.items()})
    return functions


FUNCTIONS = _table()
# The roles of the functions that some pattern looks at.
LOOKED_AT = {function.role for function in FUNCTIONS.values()} - {"other"}


def mpi_function(name):
    """The function of a region's name, in C or in Fortran; None if it is none of MPI's."""
    lower = name.lower().rstrip("_")
    for ending in ("_f08", "_f08ts", "_cptr"):
        lower = lower.removesuffix(ending)
    return FUNCTIONS.get(lower)


SHMEM_INIT = {"start_pes", "shmem_init", "shmem_init_thread", "shmem_finalize", "shmem_global_exit", "globalexit"}
SHMEM_QUESTIONS = {"my_pe", "num_pes", "_my_pe", "_num_pes"}
SHMEM_MEMORY = {"shmalloc", "shfree", "shrealloc", "shmemalign", "shmem_malloc", "shmem_free", "shmem_realloc",
                "shmem_align", "shmem_calloc", "shmem_malloc_with_hints", "shmemx_malloc_with_hint"}
SHMEM_COLLECTIVE = ("broadcast", "collect", "to_all", "alltoall", "reduce")
# Functions without a class of their own that synchronise or complete, so that they make progress.
SHMEM_ENDS = {"shmem_ctx_destroy"}
SHMEM_TEAMS = {"shmem_team_split_strided", "shmem_team_split_2d", "shmem_team_destroy"}
SHMEM_ORDER = ("fence", "quiet")
SHMEM_TRANSFER = {"put", "get", "p", "g", "iput", "iget", "swap", "cswap", "fadd", "finc", "add", "inc",
                  "fetch", "set", "atomic", "putmem", "getmem"}

# Calls of UPC; what else is called so is the program's.
UPC_CALLS = {"upc_all_alloc", "upc_all_broadcast", "upc_all_exchange", "upc_all_gather", "upc_all_gather_all",
             "upc_all_lock_alloc", "upc_all_permute", "upc_all_prefix_reduce", "upc_all_reduce", "upc_all_scatter",
             "upc_alloc", "upc_barrier", "upc_exit", "upc_fence", "upc_free", "upc_get", "upc_get_nb",
             "upc_global_alloc", "upc_global_exit", "upc_global_lock_alloc", "upc_lock", "upc_lock_attempt",
             "upc_lock_free", "upc_memcpy", "upc_memcpy_nb", "upc_memget", "upc_memget_nb", "upc_memput",
             "upc_memput_nb", "upc_memset", "upc_notify", "upc_put", "upc_put_nb", "upc_sync_nb", "upc_unlock",
             "upc_wait"}


def shmem_leaf(name):
    """The class of a SHMEM function by the words of its name; None if it is none."""
    if name in SHMEM_MEMORY:
        return "shmem_memory_management"
    if name in SHMEM_TEAMS:
        return "shmem_team_management"
    if name in SHMEM_INIT:
        return "shmem_init_exit"
    if name in SHMEM_QUESTIONS:
        return "shmem"
    if not name.startswith(("shmem_", "shmemx_")):
        return None
    if "barrier" in name or name.startswith(("shmem_sync", "shmem_team_sync")):
        return "shmem_sync_collective"
    if any(part in name for part in SHMEM_COLLECTIVE):
        return "shmem_collective"
    if "lock" in name:
        return "shmem_lock_completion"
    if "wait" in name or "test" in name:
        return "shmem_wait_until"
    if any(part in name for part in SHMEM_ORDER):
        return "shmem_point2point_synchronization"
    words = {word.rstrip("0123456789") for word in name.split("_")}
    return "shmem_rma_communication" if words & SHMEM_TRANSFER else "shmem"


# Variables with which a library makes progress in threads of its own: which libraries read them.
ASYNCHRONOUS = {
    "MPICH_ASYNC_PROGRESS": "MPICH", "MPIR_CVAR_ASYNC_PROGRESS": "MPICH", "MPIR_PARAM_ASYNC_PROGRESS": "MPICH",
    "MPICH_NEMESIS_ASYNC_PROGRESS": "MPICH", "I_MPI_ASYNC_PROGRESS": "Intel", "MV2_ASYNC_PROGRESS": "MVAPICH",
    "MV2_OPTIMIZED_ASYNC_PROGRESS": "MVAPICH", "MVP_ASYNC_PROGRESS": "MVAPICH", "CSP_NG": None}


def progresses_alone(trace, process):
    """Whether the environment of the run says that a process makes progress outside of MPI calls."""
    library = trace.property_of("mpi.library", process)
    for name, readers in ASYNCHRONOUS.items():
        value = trace.property_of("env." + name, process)
        if value is None or value.lower() in ("", "0", "no", "n", "off", "false", "disable", "disabled"):
            continue
        if library is None or readers is None:
            return True
        if "Open MPI" not in library if readers == "MPICH" else readers in library:
            return True
    return False
