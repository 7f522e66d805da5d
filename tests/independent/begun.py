"""Collectives that are begun and completed by different calls, neighbourhood collectives, and other calls that all
members of a group make together: creation of communicators, MPI_Finalize, collective I/O."""
from types import SimpleNamespace

from independent.collectives import claim, instances
from independent.functions import ALL, WAITS
from independent.trace import SENT

BARRIER, COLLECTIVE = 1, 1  # an operation of MPI_COLL_BEGIN; a kind of MPI_REQUEST_COMPLETE
OPEN_COLLECTIVE, BEGUN_BEFORE, COMPLETE_BEFORE = 3, 8, 16  # a kind of REQUEST_STATE, its flags
FROM_ROOT, TO_ROOT, PREFIX, NEIGHBOURS = {2, 3, 4}, {5, 6, 7}, {16, 17}, {18, 19, 20, 21, 22}
IN = 1  # neighbours that a process receives from
NOBODY = float("-inf")
CLASSES = {"mpi_collective", "mpi_sync_collective"}
GROUP_METRIC = {"mpi_management": "mpi_comm_create_wait", "mpi_init_exit": "mpi_finalize_wait",
                "mpi_io": "mpi_io_wait"}


def in_neighbours(trace):
    """(communicator, process) -> those that it receives from"""
    result = {}
    for row in trace.definitions.get("GRAPH_NEIGHBOURS", []):
        if row["kind"] == IN:
            result.setdefault((row["cid"], row["pid"]), []).extend(row["ranks"])
    return result


class Begun:
    def __init__(self, trace):
        self.trace, self.neighbours = trace, in_neighbours(trace)
        self.of_request, self.of_operation = {}, {}
        for event in trace.events:
            if event.kind == "MPI_COLL_BEGIN":
                process = trace.process_of[event.lid]
                self.of_request[process, event.reqid] = event
                if event.cid not in trace.unpaired_comms:
                    operation = self.of_operation.setdefault((event.cid, event.key, event.ordinal), {})
                    operation[process] = event
            elif event.kind == "REQUEST_STATE" and event.kind_ == OPEN_COLLECTIVE:
                self._begun_before(event)

    def _begun_before(self, state):
        """Begun before the cut that the trace is, so no later than anything in it; or, without the flag, nobody knows when."""
        process = self.trace.process_of[state.lid]
        if (process, state.reqid) in self.of_request:
            return
        begin = SimpleNamespace(lid=state.lid, cid=state.cid, key=0, ordinal=state.ordinal, op=state.op, rlid=state.plid,
                                sent=state.bytes, call=SimpleNamespace(enter=state.time))
        if not state.flags & COMPLETE_BEFORE:
            self.of_request[process, state.reqid] = begin
        if state.flags & BEGUN_BEFORE and state.cid not in self.trace.unpaired_comms:
            self.of_operation.setdefault((state.cid, 0, state.ordinal), {})[process] = begin

    def is_barrier(self, call, request):
        begin = self.of_request.get((call.process, request))
        return begin is not None and begin.op == BARRIER

    def leaf_of_request(self, call, request):
        begin = self.of_request.get((call.process, request))
        if begin is None:
            return None
        return "mpi_sync_collective" if begin.op == BARRIER else "mpi_collective"

    def _waits_for(self, begin):
        """[(metric, time until which the blocking form of this operation would wait at this process)]"""
        trace, process = self.trace, self.trace.process_of[begin.lid]
        parts = self.of_operation.get((begin.cid, begin.key, begin.ordinal), {})
        members = set(trace.members[begin.cid]) | set(trace.remote.get(begin.cid, []))
        if set(parts) != members:
            return []
        if begin.op in NEIGHBOURS:
            sending = [parts.get(p) for p in self.neighbours.get((begin.cid, process), [])]
            times = [b.call.enter for b in sending if b is not None and b.sent > 0]
            return [("mpi_wait_neighbours", max(times))] if times and None not in sending else []
        if len(members) == 1:
            return []
        others = {p: b for p, b in parts.items() if p != process and b.rlid is not None}
        is_root = begin.rlid is not None and trace.process_of[begin.rlid] == process
        if begin.op in FROM_ROOT:
            root = None if begin.rlid is None else parts[trace.process_of[begin.rlid]]
            return [] if is_root or root is None else [("mpi_latebroadcast", root.call.enter)]
        if begin.op in TO_ROOT:
            giving = [b.call.enter for b in others.values() if b.sent > 0]
            giving = giving or [b.call.enter for b in others.values()]
            if not is_root or not giving:
                return []
            return [("mpi_reduce_wait", max(giving)), ("mpi_earlyreduce", min(giving))]
        if begin.op in PREFIX:
            order = trace.members[begin.cid]
            lower = [parts[p].call.enter for p in order[:order.index(process)]]
            return [("mpi_earlyscan", max(lower))] if lower else []
        metric = "mpi_barrier_wait" if begin.op == BARRIER else "mpi_wait_nxn"
        return [(metric, max(b.call.enter for b in parts.values()))]

    def patterns(self, severities):
        for call in self.trace.calls:
            if not (call.polled or call.name in WAITS) or call.leaf not in CLASSES:
                continue
            done = [self.of_request.get((call.process, e.reqid)) for e in call.events
                    if e.kind == "MPI_REQUEST_COMPLETE" and e.kind_ == COLLECTIVE]
            waits = [self._waits_for(b) or [(None, NOBODY)] for b in done if b is not None]
            if waits:
                choose = max if call.name in ALL else min
                for metric, time in choose(waits, key=lambda w: w[0][1]):
                    if metric is not None:
                        claim(severities, metric, call, time)


def neighbour_patterns(trace, severities):
    neighbours = in_neighbours(trace)
    for (comm, _), exits in instances(trace).items():
        if set(exits) != set(trace.members[comm]) | set(trace.remote.get(comm, [])):
            continue  # what is not complete counts nothing
        for process, event in exits.items():
            if not event.call.name.startswith("MPI_Neighbor_"):
                continue
            sending = [exits.get(p) for p in neighbours.get((comm, process), [])]
            times = [e.call.enter for e in sending if e is not None and e.bytes(SENT, "sent") > 0]
            if times and None not in sending:
                claim(severities, "mpi_wait_neighbours", event.call, max(times))


def group_patterns(trace, severities):
    groups = {}
    for event in trace.events:
        if event.kind == "MPI_GROUP_CALL" and event.cid not in trace.unpaired_comms:
            calls = groups.setdefault((event.cid, event.key, event.ordinal), {})
            calls[trace.process_of[event.lid]] = event.call
    for (comm, _, _), calls in groups.items():
        if set(calls) != set(trace.members[comm]) | set(trace.remote.get(comm, [])):
            continue
        last = max(calls, key=lambda p: calls[p].enter)
        latest = calls[last].enter
        if any(c.exit + trace.delta(p, last) < latest for p, c in calls.items()):
            continue  # it did not synchronise
        for call in calls.values():
            if call.leaf in GROUP_METRIC:
                claim(severities, GROUP_METRIC[call.leaf], call, latest)
