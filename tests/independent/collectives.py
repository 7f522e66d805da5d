"""Collective calls on communicators, and fence, creation and release of windows."""
from independent.functions import CREATE, FROM_ROOT, N_TO_N, PREFIX, TO_ROOT
from independent.intervals import intersection, length, until
from independent.trace import SENT

NOPRECEDE = 8


def claim(severities, metric, call, end, begin=None):
    interval = until(call, end)
    if begin is not None:
        interval = intersection(interval, [(begin, float("inf"))])
    severities.add(metric, call, length(intersection(call.exclusive(), interval)))


def instances(trace):
    """The collective calls of each communicator: {(communicator, ordinal): {process: exit record}}."""
    counts, result = {}, {}
    for event in trace.events:
        process = trace.process_of[event.lid]
        if event.kind == "COLL_STATE":
            counts[event.cid, process] = event.count
        elif event.kind == "MPI_COLLEXIT" and event.cid not in trace.unpaired_comms:
            ordinal = counts.get((event.cid, process), 0)
            counts[event.cid, process] = ordinal + 1
            result.setdefault((event.cid, ordinal), {})[process] = event
    return result


def collective_patterns(trace, severities):
    for (comm, _), exits in instances(trace).items():
        members = set(trace.members[comm]) | set(trace.remote.get(comm, []))
        if set(exits) != members or len({e.call.name for e in exits.values()}) != 1:
            continue
        calls = {process: event.call for process, event in exits.items()}
        name = next(iter(calls.values())).name
        if name == "MPI_Barrier" or name in N_TO_N:
            _all_for_all(trace, comm, calls, name, severities)
        elif name in FROM_ROOT | TO_ROOT:
            _rooted(trace, exits, name, severities)
        elif name in PREFIX:
            order = trace.members[comm]
            for i, process in enumerate(order[1:], 1):
                latest = max(calls[p].enter for p in order[:i])
                claim(severities, "mpi_earlyscan", calls[process], latest)


def _all_for_all(trace, comm, calls, name, severities):
    wait, completion = (("mpi_barrier_wait", "mpi_barrier_completion") if name == "MPI_Barrier" else
                        ("mpi_wait_nxn", "mpi_nxn_completion"))
    if len(calls) == 1:
        return
    latest = max(call.enter for call in calls.values())
    first_exit = min(call.exit for call in calls.values())
    for call in calls.values():
        claim(severities, wait, call, latest)
        claim(severities, completion, call, call.exit, max(first_exit, latest))


def _rooted(trace, exits, name, severities):
    process = trace.process_of
    part = {p: e for p, e in exits.items() if e.rlid is not None}
    roots = [p for p, e in part.items() if process[e.rlid] == p]
    if len(roots) != 1:
        return
    root = part.pop(roots[0]).call
    if not part:
        return
    if name in FROM_ROOT:
        for event in part.values():
            claim(severities, "mpi_latebroadcast", event.call, root.enter)
        return
    # Those that send data; where the trace tells of nobody's data, all.
    giving = [e.call.enter for e in part.values() if e.bytes(SENT, "sent") > 0]
    giving = giving or [e.call.enter for e in part.values()]
    claim(severities, "mpi_earlyreduce", root, min(giving))
    claim(severities, "mpi_reduce_wait", root, max(giving))


def window_instances(trace):
    counts, result = {}, {}
    for event in trace.events:
        process = trace.process_of[event.lid]
        if event.kind == "WIN_STATE":
            counts["fence", event.wid, process] = event.fences
        elif event.kind == "MPI_WINCOLLEXIT":
            name = event.call.name
            kind = ("create" if name in CREATE else "fence" if name == "MPI_Win_fence" else
                    "free" if name == "MPI_Win_free" else None)
            if kind is None:
                continue
            ordinal = counts.get((kind, event.wid, process), 0)
            counts[kind, event.wid, process] = ordinal + 1
            event.ordinal = ordinal
            if event.wid not in trace.unpaired_windows:
                result.setdefault((kind, event.wid, ordinal), {})[process] = event
    return result


METRIC = {"create": "mpi_rma_wait_window_create", "free": "mpi_rma_wait_window_free", "fence": "mpi_rma_fence_wait"}


def window_patterns(trace, severities):
    for (kind, window, _), exits in window_instances(trace).items():
        if set(exits) != set(trace.members[trace.windows[window]]):
            continue
        calls = {process: event.call for process, event in exits.items()}
        last = max(calls, key=lambda p: calls[p].enter)
        latest = calls[last].enter
        left_early = any(call.exit + trace.delta(p, last) < latest for p, call in calls.items())
        if kind == "fence" and not left_early and not any(call.assertion & NOPRECEDE for call in calls.values()):
            first_out = max(latest, min(call.exit for call in calls.values()))
            for call in calls.values():
                claim(severities, "mpi_rma_fence_completion", call, call.exit, first_out)
        if kind == "fence" and not any(call.assertion for call in calls.values()):
            if left_early:
                continue  # it did not synchronise
        for process, call in calls.items():
            if call.assertion & NOPRECEDE:
                came = [other.enter for p, other in calls.items()
                        if other.enter <= call.exit + trace.delta(process, p)]
                claim(severities, METRIC[kind], call, max(came))
            else:
                claim(severities, METRIC[kind], call, latest)
