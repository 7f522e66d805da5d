"""Passive target: the order of lock holders and Lock Contention; Wait for Progress, there and in access epochs."""
from independent.functions import WAITS
from independent.intervals import difference, intersection, length, union

COMM, SYNC, ACTIVE = "mpi_rma_communication", "mpi_rma_lock_synchronization", "mpi_rma_gat_synchronization"
CONTENTION = {COMM: "mpi_rma_comm_lock_contention", SYNC: "mpi_rma_sync_lock_contention"}
PROGRESS = {COMM: "mpi_rma_comm_wait_for_progress", SYNC: "mpi_rma_sync_wait_for_progress",
            ACTIVE: "mpi_rma_gat_wait_for_progress"}
FOREVER = float("inf")


class Absence:
    """When each process was outside MPI: in no call, of whatever thread, that can make progress."""

    def __init__(self, trace):
        self.trace, self.outside, self.entered = trace, {}, {}
        calls = {process: [] for process in trace.spans}
        for call in trace.calls:
            if call.progress:
                calls[call.process].append(call)
        for process, span in trace.spans.items():
            inside = union([(c.enter, c.exit) for c in calls[process]])
            self.entered[process] = {begin for begin, _ in inside}
            self.entered[process] |= {c.enter for c in calls[process]}
            outside = difference([span], union(inside, trace.pauses.get(process, [])))
            for call in calls[process]:  # a call that took no time ends an absence, too
                if call.enter == call.exit:
                    outside = [part for b, e in outside for part in (
                        [(b, call.enter), (call.enter, e)] if b < call.enter < e else [(b, e)])]
            self.outside[process] = outside

    def intervals(self, process):
        return self.outside.get(process, [])

    def claim(self, call, target):
        """Outside(target) in the call, up to the target's last enter into MPI before the call had ended."""
        latest = self.trace.delta(call.process, target) + call.exit
        enters = [end for begin, end in self.intervals(target)
                  if end in self.entered[target] and end <= latest and end > call.enter and begin < call.exit]
        if not enters:
            return []
        return intersection(self.intervals(target), [(call.enter, min(max(enters), call.exit))])

    def throughout(self, begin, end, target):
        return any(b <= begin and end < e for b, e in self.intervals(target))

    def last_enter(self, target, begin, before):
        """The last enter into MPI before a time, of those that ended an absence that lasted beyond `begin`."""
        enters = [e for b, e in self.intervals(target) if e in self.entered[target] and begin < e <= before]
        return max(enters) if enters else None


class Progress:
    def __init__(self, trace, epochs):
        self.trace, self.absence, self.epochs = trace, Absence(trace), epochs
        self.known = not trace.functions_off
        self.asynchronous = set()  # (window, kind of call, same node)
        for call, kind, operations in epochs.needs:
            if kind == "flush_local" or (kind == "wait" and call.name not in WAITS):
                continue
            for o in operations:
                end = call.exit + trace.delta(o.origin, o.target)
                if o.target != o.origin and self.absence.throughout(o.call.enter, end, o.target):
                    self.asynchronous.add((o.window, kind, self.same_node(o.origin, o.target)))

    def same_node(self, first, second):
        return self.trace.node_of[first] == self.trace.node_of[second]

    def free(self, window, kind, origin, target):
        """Whether calls of this kind on the window were seen to need no calls of such a target."""
        node = self.same_node(origin, target)
        kinds = {"transfer": ("flush", "unlock", "wait"), "lock": ("flush", "unlock", "wait"),
                 "flush_local": ("flush", "unlock", "wait"), "access transfer": ("complete",)}.get(kind, (kind,))
        return any((window, k, node) in self.asynchronous for k in kinds)

    def claims(self):
        """call -> the times in which it waited for absent targets"""
        result = {}
        if not self.known:
            return result

        def claim(call, kind, window, origin, target):
            if origin != target and not self.free(window, kind, origin, target):
                times = intersection(call.exclusive(), self.absence.claim(call, target))
                result[call] = union(result.get(call, []), times)

        for call, kind, operations in self.epochs.needs:
            if kind == "wait" and call.name not in WAITS:
                continue
            for o in operations:
                claim(call, kind, o.window, o.origin, o.target)
        for o in self.epochs.operations:
            if o.epoch is not None and not o.marked and o.epoch.whole:
                kind = "transfer" if hasattr(o.epoch, "lock") else "access transfer"
                claim(o.call, kind, o.window, o.origin, o.target)
        for epoch in self.epochs.passive:
            if epoch.lock is None or not epoch.whole:
                continue
            members = self.trace.members[self.trace.windows[epoch.window]]
            for target in [epoch.target] if epoch.target is not None else members:
                claim(epoch.lock, "lock", epoch.window, epoch.origin, target)
        return result


class Holding:
    """One epoch at one target: when it asked, proved and released."""

    def __init__(self, epoch, target):
        self.epoch, self.target, self.origin, self.exclusive = epoch, target, epoch.origin, epoch.exclusive
        self.asked, self.left, self.letting_go = epoch.lock.enter, epoch.lock.exit, epoch.unlock.enter
        self.gone = self.proof = epoch.unlock.exit
        for call, kind, operations in epoch.completions:
            if any(o.target == target and (kind == "flush" or not o.is_put) for o in operations):
                self.proof = min(self.proof, call.exit)
        self.before = []

    def conflicts(self, other):
        return self.origin != other.origin and (self.exclusive or other.exclusive)

    def overlaps(self, other):
        return self.asked < other.gone and other.asked < self.gone


def comes_first(a, b):
    """Whether a held the lock before b."""
    a_first, b_first = b.letting_go >= a.proof, a.letting_go >= b.proof
    if a_first != b_first:
        return a_first
    if a_first:
        return (a.letting_go, a.origin) < (b.letting_go, b.origin)
    if (a.letting_go < b.left) != (b.letting_go < a.left):
        return a.letting_go < b.left
    return (a.gone, a.origin) < (b.gone, b.origin)


def holders(trace, epochs):
    result = {}
    for epoch in epochs.passive:
        if not epoch.whole or not epoch.checked or epoch.unlock is None:
            continue
        members = trace.members[trace.windows[epoch.window]]
        for target in [epoch.target] if epoch.target is not None else members:
            result.setdefault((epoch.window, target), []).append(Holding(epoch, target))
    return result


def contention(trace, epochs, progress):
    """call -> the times in which it waited for who held a lock"""
    intervals = {}  # epoch -> times in which another held what it wanted
    for (window, target), queue in holders(trace, epochs).items():
        for e in queue:
            e.before = [h for h in queue if h.conflicts(e) and h.overlaps(e) and comes_first(h, e)]
        for h in queue:
            later = [e.proof for e in queue if h in e.before]
            h.release = max(h.letting_go, min([h.gone] + later))
        for h in queue:
            h.since = max([h.asked] + [b.release for b in h.before])
            if target != h.origin and progress.known and not progress.free(window, "lock", h.origin, target):
                enter = progress.absence.last_enter(target, h.asked, h.proof)
                if enter is not None:
                    h.since = max(h.since, enter)
        for e in queue:
            times = [[(max(e.asked, h.since), min(h.release, e.proof))] for h in e.before]
            intervals[e.epoch] = union(intervals.get(e.epoch, []), *times)
    result = {}
    for epoch in epochs.passive:
        for call in set(epoch.calls):
            times = intersection(call.exclusive(), intervals.get(epoch, []))
            result[call] = union(result.get(call, []), times)
    return result


def patterns(trace, epochs, active_claims, severities):
    progress = Progress(trace, epochs)
    contended = contention(trace, epochs, progress)
    for call, times in contended.items():
        times = difference(times, active_claims.get(call, []))
        if call.leaf in CONTENTION:
            severities.add(CONTENTION[call.leaf], call, length(times))
    result = {}
    for call, times in progress.claims().items():
        result[call] = difference(times, union(contended.get(call, []), active_claims.get(call, [])))
        if call.leaf in PROGRESS:
            severities.add(PROGRESS[call.leaf], call, length(result[call]))
    return result
