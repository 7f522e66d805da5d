"""SHMEM: waits in collective calls, for variables, in locks, and for the progress of others."""
from types import SimpleNamespace

from independent.intervals import difference, intersection, length, union
from independent.collectives import claim
from independent.passive import FOREVER, Absence, Holding, granted_times, times_of_holding
from independent.polls import parts_that_tested, tests_lock, tests_variable
from independent.trace import PAUSING

GET = {"get", "g", "iget", "getmem"}
ATOMIC = {"atomic", "swap", "cswap", "fadd", "finc", "add", "inc", "set", "fetch"}
RESULT = {"swap", "cswap", "fadd", "finc", "fetch"}
PROGRESS = {"get": "shmem_rma_wait_for_progress", "fetch": "shmem_rma_wait_for_progress",
            "atomic": "shmem_rma_wait_for_progress", "quiet": "shmem_quiet_wait_for_progress",
            "lock": "shmem_lock_wait_for_progress"}
EVIDENCE = {"get": "get", "fetch": "fetch", "atomic": "fetch", "quiet": "quiet", "lock": "fetch"}
NON_BLOCKING = 1


def sets_lock(call, prefix):
    return (call.name or "").startswith(prefix) and ("set" in words(call) or call.name == "upc_lock")


def words(call):
    return {word.rstrip("0123456789") for word in call.name.split("_")}


def patterns(trace, severities):
    _collectives(trace, severities)
    _notifications(trace, severities)
    _locks_and_progress(trace, severities)


def _collectives(trace, severities):
    counts, instances = {}, {}
    for event in trace.events:
        if event.kind == "COLLEXIT":
            n = counts.get((event.cid, event.lid), 0)
            counts[event.cid, event.lid] = n + 1
            instances.setdefault((event.cid, n), []).append(event)
    for (comm, _), exits in instances.items():
        if {trace.process_of[e.lid] for e in exits} != set(trace.members[comm]):
            continue
        latest = max(e.call.enter for e in exits)
        roots = [e for e in exits if e.rlid == e.lid]
        for event in exits:
            leaf, name = event.call.leaf, event.call.name
            if leaf == "shmem_sync_collective":
                claim(severities, "shmem_barrier_wait", event.call, latest)
            elif leaf == "shmem_collective" and "broadcast" in name:
                if roots:
                    claim(severities, "shmem_latebroadcast", event.call, roots[0].call.enter)
            elif leaf == "shmem_collective":
                claim(severities, "shmem_wait_nxn", event.call, latest)
            elif leaf == "shmem_memory_management":
                claim(severities, "shmem_memory_wait", event.call, latest)
            elif leaf == "shmem_team_management":
                last = max(exits, key=lambda e: e.call.enter)
                if not any(e.call.exit + trace.delta(trace.process_of[e.lid], trace.process_of[last.lid]) < latest
                           for e in exits):
                    claim(severities, "shmem_team_wait", event.call, latest)
            elif name == "shmem_finalize":
                claim(severities, "shmem_finalize_wait", event.call, latest)


class Operations:
    """What SHMEM transfers: at which process, from which byte on, in which context."""

    def __init__(self, trace):
        self.all, places = [], {}
        for event in trace.events:
            process = trace.process_of[event.lid]
            if event.kind == "SHMEM_PLACE":
                places[process] = event
            elif event.kind in ("PUT_1TS", "GET_1TS"):
                put = event.kind == "PUT_1TS"
                origin = process if put else trace.process_of[event.dlid]
                target = trace.process_of[event.dlid] if put else process
                place = places.get(origin)
                call = self._call(trace, origin, event) if not put else event.call
                if place is not None and (place.call is not call or place.rmaid not in (event.rmaid, event.rmaid - 1)):
                    place = None
                flags = place.flags if place is not None else 0
                self.all.append(SimpleNamespace(
                    pos=event.pos, put=put, origin=origin, target=target, call=call, bytes=event.sent,
                    offset=place.offset if place is not None else None, later=bool(flags & NON_BLOCKING),
                    context=place.ctx if place is not None else 0))

    @staticmethod
    def _call(trace, origin, event):
        """The call of a get: GET_1TO stands just before its start."""
        for before in reversed(trace.events[:event.pos]):
            if before.kind == "MPI_GET_1TO" and before.rmaid == event.rmaid and trace.process_of[before.lid] == origin:
                return before.call
        return None


def _notifications(trace, severities):
    writes = [o for o in Operations(trace).all if o.put and o.offset is not None]
    found = {}
    for event in trace.events:
        if event.kind == "SHMEM_WAIT":
            found.setdefault(event.call, []).append(event)
    for call, variables in found.items():
        if not ("wait" in words(call) or call.polled) or PAUSING in {child.region.name for child in call.children}:
            continue
        some = words(call) & {"some", "any"}
        first = (call.parts + [call])[0]
        times = []
        for v in variables:
            last = [w for w in writes if w.target == call.process and first.begin.pos < w.pos < call.exit_pos
                    and w.offset < v.offset + v.bytes and v.offset < w.offset + w.bytes]
            times.append(last[-1].call.enter if last else first.enter)
        written = min(times) if some else max(times)
        claim(severities, "shmem_late_notification", call, written)
        any_of = [tests_variable(v.offset) for v in variables]
        for part, since in parts_that_tested(call, lambda m: any(tests(m) for tests in any_of)):
            claim(severities, "shmem_late_notification", part, written, since)


def _lock_holdings(trace):
    """Each lock's holdings, and who grants it."""
    queues, held = {}, {}

    def forget(epoch, lock):
        queues[lock] = [entry for entry in queues[lock] if entry[0] is not epoch]

    for event in trace.events:
        process, call = trace.process_of[event.lid], event.call
        if call is not None and event is call.begin and call.region.name == PAUSING:
            # Nobody knows what it does meanwhile.
            for lock in [lock for lock, holder in held if holder == process]:
                forget(held.pop((lock, process)), lock)
        if event.kind not in ("ALOCK", "RLOCK"):
            continue
        # Outside of a lock call: held at that moment, after a gap; or no longer.
        state = event.call is None or event.call.name is None or not words(event.call) & {"lock", "unlock"}
        if event.kind == "ALOCK":
            lock = SimpleNamespace(process=process, name="", enter=event.time, exit=event.time, parts=[]) if state else event.call
            epoch = SimpleNamespace(origin=process, exclusive=True, lock=lock, unlock=None, completions=[], window=None)
            held[event.lkid, process] = epoch
            queues.setdefault(event.lkid, []).append((epoch, event.glid))
        else:
            epoch = held.pop((event.lkid, process), None)
            if epoch is not None and state:
                forget(epoch, event.lkid)
            elif epoch is not None:
                epoch.unlock = event.call
    for lock, queue in queues.items():
        holdings = []
        for epoch, granted_by in queue:
            h = Holding(epoch, queue[0][1])
            h.locking = h.proving = getattr(epoch.lock, "since", epoch.lock.enter)
            h.parts = list(parts_that_tested(epoch.lock, tests_lock(lock)))
            h.asked = min([since for _, since in h.parts], default=h.locking)
            h.proof = epoch.lock.exit
            holdings.append(h)
        yield holdings


def _locks_and_progress(trace, severities):
    absence, needs, asynchronous = Absence(trace), [], set()
    outstanding = {}
    operations = {}
    for o in Operations(trace).all:
        operations.setdefault(o.pos, o)
    for event in trace.events:
        o = operations.get(event.pos)
        if (event.call is not None and (event.call.name or "").startswith("upc_")) or \
                (o is not None and o.call is not None and (o.call.name or "").startswith("upc_")):
            continue
        if o is not None:
            names = words(o.call)
            fetches = bool(names & RESULT)
            if o.later or (o.put and not (names & ATOMIC and fetches)):
                outstanding.setdefault((o.origin, o.context), []).append(o)
            if not o.later:
                kind = "fetch" if names & ATOMIC and fetches else "atomic" if names & ATOMIC else "get"
                if not o.put or names & ATOMIC:
                    needs.append((o.call, kind, o.target, o.call.enter))
        elif event.kind == "SHMEM_QUIET":
            process = trace.process_of[event.lid]
            for key in [k for k in outstanding if k[0] == process and event.ctx in (None, k[1])]:
                issued = outstanding.pop(key)  # what other threads issued behind the quiet is not its own
                outstanding[key] = [o for o in issued if o.call.begin.pos >= event.call.begin.pos]
                last = {o.target: o.call.enter for o in issued if o.call.begin.pos < event.call.begin.pos}
                if "quiet" in words(event.call):
                    needs.extend((event.call, "quiet", target, enter) for target, enter in last.items())
        elif event.kind == "ALOCK" and event.glid is not None and ("set" in words(event.call) or event.call.polled):
            needs.append((event.call, "lock", event.glid, event.call.enter))

    def same_node(call, target):
        return trace.node_of[call.process] == trace.node_of[target]

    for call, kind, target, issued in needs:
        end = call.exit + trace.delta(call.process, target)
        if kind in ("get", "fetch", "quiet") and target != call.process and absence.throughout(issued, end, target):
            asynchronous.add((kind, same_node(call, target)))
    contended = contention(trace, absence, "shmem_", lambda h: ("fetch", trace.node_of[h.origin] == trace.node_of[h.target])
                            in asynchronous)
    for call, (times, depends) in contended.items():
        severities.add("shmem_lock_contention", call, length(times), length(times) if depends else 0)
    claims = {}
    for call, kind, target, _ in needs:
        if target != call.process and (EVIDENCE[kind], same_node(call, target)) not in asynchronous:
            times = intersection(call.exclusive(), absence.claim(call, target))
            claims[call, kind] = union(claims.get((call, kind), []), times)
    for (call, kind), times in claims.items():
        times = difference(times, contended.get(call, [[]])[0])
        severities.add(PROGRESS[kind], call, length(times), length(times))


def contention(trace, absence, prefix, free):
    """What calls that set a lock of that library's waited for its holders, and whether that depends on progress."""
    result = {}
    for queue in _lock_holdings(trace):
        progress = SimpleNamespace(absence=absence)
        order = times_of_holding(queue)
        known = {id(h) for h in order}
        for e in queue:
            if not (sets_lock(e.epoch.lock, prefix) or getattr(e.epoch.lock, "polled", False)):
                continue
            mine = (e.epoch.lock, e.locking, e.proof)
            for call, since, until in [mine] + [(part, since, part.exit) for part, since in e.parts]:
                granted = []
                for h in order:
                    if h is e:
                        break
                    if h.origin == e.origin or h.release <= since or h.since >= until:
                        continue
                    whole = [(h.since, h.release)]
                    needed = h.target is not None and not free(h)
                    part = granted_times(h, progress) if h.target is not None else whole
                    granted.append(intersection(part if needed else whole, [(since, until)]))
                    e.depends = getattr(e, "depends", False) or length(part) != length(whole)
                result[call] = (intersection(call.exclusive(), union(*granted)), getattr(e, "depends", False))
            assert id(e) in known or e.gone == FOREVER
    return result
