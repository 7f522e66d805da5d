"""Time by class of call, visits, bytes."""
from independent.functions import LEAF, PARENT, PARTS, PATTERNS, SHMEM_ENDS, TESTS, UPC_CALLS, WAITS, mpi_function, \
    shmem_leaf
from independent.intervals import intersection, length
from independent.polls import leaf_of_series
from independent.trace import PAUSING, RECEIVED, SENT, TRACING

OMP_LEAF = {18: "omp_lock_critical", 19: "omp_lock_critical", 20: "omp_explicit_barrier",
            21: "omp_implicit_barrier", 22: "omp_flush", 25: "omp_ordered", 28: "omp_taskwait", 29: "omp_taskwait"}
OMP_API = {"omp_set_lock": "omp_lock_api", "omp_set_nest_lock": "omp_lock_api"}
COLLECTIVE, IO = 1, 2  # kinds of MPI_REQUEST_COMPLETE


class Severities:
    """metric -> {(call path, location): value}"""

    def __init__(self):
        self.values = {}
        self.claimed = {}  # call -> what patterns claim of it
        self.claimed_late = {}  # (call path, location) -> what depends on evidence that the whole trace gives

    def add(self, metric, call, value, late=0):
        """`late`: how much of the value depends on evidence that the whole trace gives."""
        if metric in PATTERNS and "pairsync" not in metric and call.serves:
            return  # it does not wait
        if value:
            if metric in PATTERNS and metric not in PARTS:
                self.claimed[call] = self.claimed.get(call, 0) + value - late
                key = call.path, call.location
                self.claimed_late[key] = self.claimed_late.get(key, 0) + late
            self.add_at(metric, call.path, call.location, value)

    def add_at(self, metric, path, location, value):
        rows = self.values.setdefault(metric, {})
        rows[path, location] = rows.get((path, location), 0) + value


def classify(trace, begun):
    """Gives every call its function of MPI, if it is one, and the metric that its time belongs to."""
    workers = {e.lid for e in trace.events if e.kind == "OMP_TEAM" and e.index != 0}
    for call in trace.calls:
        call.serves = trace.serves_since(call.location) <= call.enter
        row = call.function = mpi_function(call.region.name)
        call.progress = False
        if call.region.name in (PAUSING, TRACING):
            call.leaf = "overhead"
        elif row is not None:
            call.name, call.progress, call.leaf = row.name, row.progress, LEAF[row.cls]
            if call.name in WAITS or call.name in TESTS:
                call.leaf = _leaf_of_wait(call, begun)
            for event in call.events:
                if event.kind == "MPI_ASSERT":
                    call.assertion |= event.assertion
        else:
            call.name = call.region.name
            call.progress = shmem_leaf(call.name) not in (None, "shmem") or call.name in SHMEM_ENDS | UPC_CALLS
            call.leaf = shmem_leaf(call.name) or OMP_LEAF.get(call.region.kind) or OMP_API.get(call.name, "execution")
            if call.parent is None and call.leaf == "execution" and call.location in workers:
                call.leaf = "omp_between_regions"


def _leaf_of_wait(call, begun):
    done = set()
    if call.joined and call.alone:
        return leaf_of_series(call, begun) or "mpi_point2point"
    for event in call.events:
        if event.kind == "MPI_RMA_COMPLETE":
            done.add("mpi_rma_communication")
        elif event.kind in ("MPI_RECV", "MPI_SEND_COMPLETE", "MPI_CANCELLED", "MPI_PART_END"):
            done.add("mpi_point2point")
        elif event.kind == "MPI_REQUEST_COMPLETE":
            if event.kind_ == COLLECTIVE:
                done.add("mpi_sync_collective" if begun.is_barrier(call, event.reqid) else "mpi_collective")
            else:
                done.add("mpi_io" if event.kind_ == IO else "mpi_point2point")
    if len(done) == 1:
        return done.pop()
    if done == {"mpi_sync_collective", "mpi_collective"}:
        return "mpi_collective"
    return "mpi_point2point"


def times(trace, severities):
    for call in trace.calls:
        value = length(call.exclusive())
        for path in (*call.passed, call.path):
            severities.add_at("visits", path, call.location, 1)
        since = trace.serves_since(call.location)
        served = length(intersection(call.exclusive(), [(since, max(since, call.exit))]))
        for leaf, part in ((call.leaf, value - served), ("service", served)):
            while leaf is not None:
                severities.add(leaf, call, part)
                leaf = PARENT.get(leaf)


def visits_and_bytes(trace, severities, operations, matched, shmem_transfers):
    for event in trace.events:
        if event.kind == "MPI_SEND":
            severities.add("bytes_sent_p2p", event.call, event.bytes(SENT, "sent"))
        elif event.kind == "MPI_RECV":
            message = matched.get(event.pos)
            if getattr(event, "recvd", None) is None and message is not None:  # classic: the sender tells
                severities.add("bytes_rcvd_p2p", event.call, message.send.sent)
            else:
                severities.add("bytes_rcvd_p2p", event.call, event.bytes(RECEIVED, "recvd"))
        elif event.kind in ("MPI_COLLEXIT", "COLLEXIT"):
            severities.add("bytes_sent_coll", event.call, event.bytes(SENT, "sent"))
            severities.add("bytes_rcvd_coll", event.call, event.bytes(RECEIVED, "recvd"))
    for call, metric, size in shmem_transfers:
        severities.add(metric, call, size)
    for operation in operations:
        severities.add("bytes_put" if operation.is_put else "bytes_get", operation.call, operation.bytes)
    for sum_metric, parts in (("bytes_p2p", ("bytes_sent_p2p", "bytes_rcvd_p2p")),
                              ("bytes_coll", ("bytes_sent_coll", "bytes_rcvd_coll")),
                              ("bytes_rma", ("bytes_put", "bytes_get")),
                              ("bytes", ("bytes_p2p", "bytes_coll", "bytes_rma"))):
        for part in parts:
            for (path, location), value in severities.values.get(part, {}).items():
                severities.add_at(sum_metric, path, location, value)
