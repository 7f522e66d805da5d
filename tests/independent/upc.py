"""UPC: collective operations by their flags, barriers in two phases, where the data go, and what locks and transfers wait for."""
from independent.begun import BEGUN_BEFORE, OPEN_COLLECTIVE
from independent.collectives import claim
from independent.functions import UPC_CALLS
from independent.intervals import difference, intersection, length, union
from independent.passive import Absence
from independent.shmem import Operations, contention

FLAGS = 8  # the attribute with a collective operation's flags
NOSYNC, MYSYNC, ALLSYNC = 1, 2, 4
FROM_ROOT, TO_ROOT = ("upc_all_broadcast", "upc_all_scatter"), ("upc_all_gather", "upc_all_reduce")
ALL = ("upc_all_gather_all", "upc_all_exchange", "upc_all_permute")
TOGETHER = {"upc_barrier": "upc_barrier_wait", "upc_all_alloc": "upc_memory_wait",
            "upc_all_lock_alloc": "upc_memory_wait", "upc_exit": "upc_exit_wait"}


def patterns(trace, severities):
    if not any(region.name.startswith("upc_") for region in trace.regions.values()):
        return
    _collectives(trace, severities)
    _split_barriers(trace, severities)
    moved = list(_transfers(trace))
    _hot(trace, severities, moved)
    _fine_grained(trace, severities)
    _locks_and_progress(trace, severities)


def _collectives(trace, severities):
    counts, instances = {}, {}
    for event in trace.events:
        if event.kind == "COLLEXIT" and event.call is not None:
            n = counts.get((event.cid, event.lid), 0)
            counts[event.cid, event.lid] = n + 1
            instances.setdefault((event.cid, n), []).append(event)
    for (comm, _), exits in instances.items():
        processes = {trace.process_of[e.lid]: e for e in exits}
        if set(processes) != set(trace.members[comm]):
            continue
        latest = max(e.call.enter for e in exits)
        name = exits[0].call.name
        if name in TOGETHER:
            for event in exits:
                claim(severities, TOGETHER[name], event.call, latest)
        elif name in UPC_CALLS and name.startswith("upc_all_"):
            for process, event in processes.items():
                _one(trace, severities, processes, process, event, latest)


def _one(trace, severities, processes, process, event, latest):
    """What one thread waits in a collective operation."""
    name, call = event.call.name, event.call
    root = None if event.rlid is None else trace.process_of[event.rlid]
    others = {p: e.call.enter for p, e in processes.items() if p != process}
    if name in FROM_ROOT:
        metric, needed = "upc_latebroadcast", {p: t for p, t in others.items() if p == root}
    elif name in TO_ROOT:
        metric, needed = "upc_reduce_wait", others if process == root else {}
    elif name == "upc_all_prefix_reduce":
        order = trace.members[event.cid]
        metric, needed = "upc_earlyscan", {p: others[p] for p in order[:order.index(process)]}
    else:
        metric, needed = "upc_wait_nxn", others
    flags = event.attributes.get(FLAGS, 0) & 7
    all_sync = flags & ALLSYNC or not flags
    if flags == NOSYNC:
        needed = {p: t for p, t in needed.items() if t <= call.exit + trace.delta(process, p)}
    if needed:
        claim(severities, metric, call, max(needed.values()))
        if name == "upc_all_reduce":
            claim(severities, "upc_earlyreduce", call, min(others.values()))
    if all_sync and name not in ALL:
        claim(severities, "upc_collective_wait", call, latest, max([call.enter, *needed.values()]))


def _split_barriers(trace, severities):
    phases, of_request = {}, {}
    for event in trace.events:
        if event.kind == "MPI_COLL_BEGIN" and event.call is not None and event.call.name == "upc_notify":
            phase = event.cid, event.key, event.ordinal
            phases.setdefault(phase, {})[trace.process_of[event.lid]] = event.call.enter
            of_request[trace.process_of[event.lid], event.reqid] = phase
        elif event.kind == "REQUEST_STATE" and event.kind_ == OPEN_COLLECTIVE and event.flags & BEGUN_BEFORE:
            phase = event.cid, 0, event.ordinal
            phases.setdefault(phase, {})[trace.process_of[event.lid]] = event.time
            of_request[trace.process_of[event.lid], event.reqid] = phase
    for event in trace.events:
        if event.kind == "MPI_REQUEST_COMPLETE" and event.call is not None and event.call.name == "upc_wait":
            phase = of_request.get((trace.process_of[event.lid], event.reqid))
            if phase is not None and set(phases[phase]) == set(trace.members[phase[0]]):
                claim(severities, "upc_splitphase_wait", event.call, max(phases[phase].values()))


def _transfers(trace):
    """(call, its thread, the other one, bytes, is it a put, offset or None) of all that leaves a thread."""
    places, gets = {}, {}
    for event in trace.events:
        process = trace.process_of[event.lid]
        if event.kind == "SHMEM_PLACE":
            places[process, event.rmaid] = event.offset
        elif event.kind == "MPI_GET_1TO":
            gets[process, event.rmaid] = event.call
        elif event.kind in ("PUT_1TS", "GET_1TS"):
            put = event.kind == "PUT_1TS"
            other = trace.process_of[event.dlid]
            origin, target = (process, other) if put else (other, process)
            call = event.call if put else gets.get((origin, event.rmaid))
            if call is not None and call.name in UPC_CALLS and origin != target:
                yield call, origin, target, event.sent, put, places.get((origin, event.rmaid)), event.pos


def _hot(trace, severities, moved):
    threads = len(set(trace.process_of.values()))
    of_thread, of_pair = {}, {}
    for _, origin, target, size, *_ in moved:
        of_thread[target] = of_thread.get(target, 0) + size
        of_pair[origin, target] = of_pair.get((origin, target), 0) + size
    mean = sum(of_thread.values()) / threads
    for call, origin, target, size, *_ in moved:
        if of_thread[target] > 2 * mean:
            severities.add("upc_hot_thread", call, size * (1 - mean / of_thread[target]))
        elif of_pair[origin, target] > 4 * mean / (threads - 1):
            severities.add("upc_hot_pair", call, size * (1 - mean / (threads - 1) / of_pair[origin, target]))


def _fine_grained(trace, severities):
    """Cut what a line accesses into the fewest series from the left: each as long as it can be."""
    moved = {pos: rest for *rest, pos in _transfers(trace)}
    lines = {}

    def close(location, line=None):
        for key in [k for k in lines if k[0] == location and line in (None, k[1])]:
            _count(severities, lines.pop(key))

    for event in trace.events:
        call = event.call
        if call is not None and event is call.begin and call.name in UPC_CALLS and \
                not call.name.startswith(("upc_get", "upc_put", "upc_mem", "upc_sync_nb", "upc_fence")):
            close(call.location)
        if event.kind == "SHMEM_QUIET":
            close(event.lid)
        if event.pos in moved and moved[event.pos][0].name in ("upc_get", "upc_put"):
            access = moved[event.pos]
            lines.setdefault((access[0].location, access[0].path), []).append(access)
    for accesses in lines.values():
        _count(severities, accesses)


def _count(severities, accesses):
    first = 0
    while first < len(accesses):
        end = first + 1
        while end < len(accesses) and _is_series(accesses[first:end + 1]):
            end += 1
        if end - first == 2 and not _follows(accesses[first], accesses[first + 1]):
            end -= 1  # two tell no distance
        for access in accesses[first + 1:end]:
            severities.add("upc_fine_grained", access[0], 1)
        first = end


def _follows(a, b):
    return b[5] == a[5] + a[3]


def _is_series(accesses):
    if any(a[5] is None for a in accesses) or len({a[2] for a in accesses}) != 1:
        return False
    steps = [(b[5] - a[5], b[5] == a[5] + a[3]) for a, b in zip(accesses, accesses[1:])]
    return all(step == steps[0] for step in steps) and steps[0][0] != 0 or all(next_ for _, next_ in steps)


ACCESSES, STRICT_TOO = ("upc_get", "upc_memget"), ("upc_get", "upc_put", "upc_memget", "upc_memput", "upc_memset")
# Calls that wait for what was issued, by what such a wait is; those behind OWN_TOO for what they issue themselves.
WAITS_FOR = {"upc_fence": "quiet", "upc_notify": "quiet", "upc_unlock": "lock", "upc_sync_nb": None,
             **{name: "get" for name in STRICT_TOO}}
METRIC = {"get": "upc_rma_wait_for_progress", "put": "upc_rma_wait_for_progress",
          "quiet": "upc_quiet_wait_for_progress", "lock": "upc_lock_wait_for_progress"}
# What shows that a call of the kind needs nobody.
SHOWN_BY = {"get": ("get",), "put": ("get", "quiet"), "quiet": ("quiet",), "lock": ("lock",)}
POLLED_BYTES, LONG_POLL = 16, 1e-3


def _needs(trace):
    """(call, kind, who must answer, since when): each target once in a call, as of its first kind and its last issue."""
    operations, outstanding, polled, found = {}, {}, {}, {}
    for o in Operations(trace).all:
        operations[o.pos] = o

    def need(call, kind, target, since):
        known = found.setdefault(call, {}).setdefault(target, [kind, since])
        known[1] = max(known[1], since)

    for event in trace.events:
        call, o = event.call, operations.get(event.pos)
        if o is not None and o.call is not None and o.call.name in UPC_CALLS:
            name = o.call.name
            if o.later or o.put:
                outstanding.setdefault((o.origin, o.context), []).append(o)
            if o.later:
                continue
            if name == "upc_memcpy":
                need(o.call, "put", o.target, o.call.enter)
            elif name in ACCESSES:
                before, polled[o.call.location] = polled.get(o.call.location), (o.call.path, o.target, o.offset)
                again = before == polled[o.call.location] and o.offset is not None and o.bytes <= POLLED_BYTES
                if not again or o.call.exit - o.call.enter >= LONG_POLL:
                    need(o.call, "get", o.target, o.call.enter)
        elif event.kind == "SHMEM_QUIET" and call.name in UPC_CALLS:
            process = trace.process_of[event.lid]
            own = call.name in STRICT_TOO
            for key in [k for k in outstanding if k[0] == process and event.ctx in (None, k[1])]:
                issued = outstanding.pop(key)
                outstanding[key] = [] if own else [x for x in issued if x.call.begin.pos >= call.begin.pos]
                for put in (True, False):
                    last = {x.target: x.call.enter for x in issued
                            if x.put is put and (own or x.call.begin.pos < call.begin.pos)}
                    for target, since in last.items():
                        if call.name in WAITS_FOR:
                            need(call, WAITS_FOR[call.name] or ("put" if put else "get"), target, since)
        elif event.kind == "ALOCK" and event.glid is not None and call is not None and call.name == "upc_lock":
            need(call, "lock", trace.process_of.get(event.glid, event.glid), call.enter)
    for call, targets in found.items():
        for target, (kind, since) in targets.items():
            if target != call.process and call.exit > call.enter:
                yield call, kind, target, since


def _locks_and_progress(trace, severities):
    absence, needs, shown = Absence(trace), list(_needs(trace)), set()

    def same_node(first, second):
        return trace.node_of[first] == trace.node_of[second]

    for call, kind, target, since in needs:
        delta = trace.delta(call.process, target)
        tells = kind in ("get", "quiet") or (kind == "lock" and call.name == "upc_lock")
        if tells and absence.throughout(since - delta, call.exit + delta, target):
            shown.add((kind, same_node(call.process, target)))

    def needs_nobody(kind, first, second):
        return any((k, same_node(first, second)) in shown for k in SHOWN_BY[kind])

    contended = contention(trace, absence, "upc_", lambda h: needs_nobody("lock", h.origin, h.target))
    for call, (times, depends) in contended.items():
        severities.add("upc_lock_contention", call, length(times), length(times) if depends else 0)
    claims = {}
    for call, kind, target, _ in needs:
        if not needs_nobody(kind, call.process, target):
            times = intersection(call.exclusive(), absence.claim(call, target))
            claims[call, METRIC[kind]] = union(claims.get((call, METRIC[kind]), []), times)
    for (call, metric), times in claims.items():
        times = difference(times, contended.get(call, [[]])[0])
        severities.add(metric, call, length(times), length(times))
