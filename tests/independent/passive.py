"""Passive target: the order of lock holders and Lock Contention; Wait for Progress, there and in access epochs."""
from itertools import accumulate
from types import SimpleNamespace

from independent.functions import WAITS, progresses_alone
from independent.intervals import difference, intersection, length, union
from independent.polls import LONG_CALL, READ, SWAPS

COMM, SYNC, ACTIVE = "mpi_rma_communication", "mpi_rma_lock_synchronization", "mpi_rma_gat_synchronization"
CONTENTION = {COMM: "mpi_rma_comm_lock_contention", SYNC: "mpi_rma_sync_lock_contention"}
PROGRESS = {COMM: "mpi_rma_comm_wait_for_progress", SYNC: "mpi_rma_sync_wait_for_progress",
            ACTIVE: "mpi_rma_gat_wait_for_progress"}
FOREVER = float("inf")
NOTHING = [[], [], []]


def waits(call):
    """Whether a call that completes requests waits for them."""
    return call.polled or call.name in WAITS


class Absence:
    """When each process was outside MPI: in no call, of whatever thread, that can make progress."""

    def __init__(self, trace):
        self.trace, self.outside, self.entered = trace, {}, {}
        calls = {process: [] for process in trace.spans}
        ran = {process: [] for process in trace.spans}
        for call in trace.calls:
            ran[call.process].append((call.enter, call.exit))
            if call.progress and not (call.serves and trace.thread_of[call.location] != 0):
                calls[call.process].append(call)
        for process in trace.spans:
            inside = union([(c.enter, c.exit) for c in calls[process]])
            self.entered[process] = {begin for begin, _ in inside}
            self.entered[process] |= {c.enter for c in calls[process]}
            outside = difference(union(ran[process]), union(inside, trace.pauses.get(process, [])))
            if progresses_alone(trace, process):
                outside = []
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
                  if end in self.entered[target] and end <= latest and end > call.since and begin < call.exit]
        if not enters:
            return []
        return intersection(self.intervals(target), [(call.since, min(max(enters), call.exit))])

    def throughout(self, begin, end, target):
        # (A call that took no time, when the process came out, proves nothing: who was first is chance.)
        return any(b <= begin and b < end < e for b, e in self.intervals(target))

    def came_back(self, call, target):
        """Whether the target was outside since before the call, and came back in it."""
        delta = self.trace.delta(call.process, target)
        return any(b <= call.enter + delta and call.enter < e <= call.exit + delta and e in self.entered[target]
                   for b, e in self.intervals(target))

    def returns(self, target, begin, end):
        """The absences that ended with an enter into MPI after `begin`, not after `end`."""
        return [(b, e) for b, e in self.intervals(target) if e in self.entered[target] and begin < e <= end]


class Progress:
    def __init__(self, trace, epochs):
        self.trace, self.absence, self.epochs = trace, Absence(trace), epochs
        self.known = not trace.functions_off
        self.asynchronous = set()  # (window, kind of call, same node)
        self.lock_waited, self.lock_passed = set(), set()  # (window, same node)
        for epoch, target in self.lock_calls():
            call = epoch.lock
            if target == epoch.origin or not epoch.checked or not call.enter < call.exit:
                continue
            key = epoch.window, self.same_node(epoch.origin, target)
            delta = trace.delta(epoch.origin, target)
            if self.absence.throughout(call.enter - delta, call.exit + delta, target):
                self.lock_passed.add(key)
            elif self.absence.came_back(call, target):
                self.lock_waited.add(key)
        for call, kind, operations in epochs.needs:
            if kind == "flush_local" or (kind == "wait" and not waits(call)):
                continue
            for o in operations:
                delta = trace.delta(o.origin, o.target)
                if o.target != o.origin and self.absence.throughout(
                        o.call.enter - delta, call.exit + delta, o.target):
                    self.asynchronous.add((o.window, kind, self.same_node(o.origin, o.target)))
        for call, kind, window, target in epochs.idle:
            delta = trace.delta(call.process, target)
            if self.absence.throughout(call.enter - delta, call.exit + delta, target):
                self.asynchronous.add((window, "idle " + kind, self.same_node(call.process, target)))
        for call, member, target in self.polls():
            if member.kind_ in (READ, SWAPS) and member.count > 1:
                delta = trace.delta(call.process, target)
                if member.last_enter + delta <= call.exit and self.absence.throughout(
                        member.first_enter - delta, member.last_enter + delta, target):
                    self.asynchronous.add((member.wid, "poll", self.same_node(call.process, target)))

    def polls(self):
        """(series that waits, member, whom it asked)"""
        for call in self.trace.calls:
            paused = any(child.region.name == "PAUSING" for child in call.children)
            for _, member in call.joined if call.polled and not paused else []:
                if member.wid is None:
                    continue
                if member.tlid is not None:
                    targets = [self.trace.process_of[member.tlid]]
                else:
                    targets = self.trace.members[self.trace.windows[member.wid]]
                for target in targets:
                    if target != call.process:
                        yield call, member, target

    def lock_calls(self):
        for epoch in self.epochs.passive:
            if epoch.lock is None or not epoch.lock.progress or epoch.window in self.trace.unpaired_windows:
                continue  # (whatever was recorded of the epoch later, its lock call waited)
            members = self.trace.members[self.trace.windows[epoch.window]]
            for target in [epoch.target] if epoch.target is not None else members:
                yield epoch, target

    def same_node(self, first, second):
        return self.trace.node_of[first] == self.trace.node_of[second]

    def free(self, window, kind, origin, target):
        """Whether calls of this kind on the window were seen to need no calls of such a target."""
        node = self.same_node(origin, target)
        if kind == "lock" and (window, node) in self.lock_waited - self.lock_passed:
            return False  # whatever is known of transfers
        data = "flush", "unlock", "wait", "poll"
        kinds = {"transfer": data, "lock": data, "flush_local": data, "poll": data, "flush": ("flush", "poll"),
                 "access transfer": ("complete",)}.get(kind, (kind,))
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
            if kind == "wait" and not waits(call):
                continue
            for o in operations:
                claim(call, kind, o.window, o.origin, o.target)
        for call, kind, window, target in self.epochs.idle:
            claim(call, "idle " + kind, window, call.process, target)
        for o in self.epochs.operations:
            if o.epoch is None or o.marked:
                continue
            passive = hasattr(o.epoch, "lock")  # (whatever was recorded of such an epoch later, its transfer waited)
            if o.known if passive else o.epoch.whole:
                kind = "transfer" if passive else "access transfer"
                claim(o.call, kind, o.window, o.origin, o.target)
        for epoch, target in self.lock_calls():
            claim(epoch.lock, "lock", epoch.window, epoch.origin, target)
        for call, member, target in self.polls():
            kind = "poll" if member.bytes else "idle flush"
            if member.kind_ == LONG_CALL:
                begin, end = max(call.enter, member.first_enter), min(call.exit, member.last_enter)
                alone = SimpleNamespace(process=call.process, since=begin, enter=begin, exit=end)
                times = intersection(call.exclusive(), self.absence.claim(alone, target))
                call.depends = getattr(call, "depends", False) or bool(times)  # on evidence of the whole trace
                if not self.free(member.wid, kind, call.process, target):
                    result[call] = union(result.get(call, []), times)
        return result


class Holding:
    """One epoch at one target: when it asked, proved, can have held and released its lock."""

    def __init__(self, epoch, target):
        self.epoch, self.target, self.origin, self.exclusive = epoch, target, epoch.origin, epoch.exclusive
        self.asked, self.locked = epoch.lock.enter, epoch.lock.exit
        self.proof = self.proving = self.letting_go = self.gone = FOREVER
        if epoch.unlock is not None:
            self.letting_go, self.gone = epoch.unlock.enter, epoch.unlock.exit
            self.proving, self.proof = self.letting_go, self.gone
        for call, kind, operations in epoch.completions:
            if call.exit < self.proof and any(o.target == target and (kind == "flush" or not o.is_put)
                                              for o in operations):
                self.proving, self.proof = call.enter, call.exit

    def conflicts(self, other):
        return self.origin != other.origin and (self.exclusive or other.exclusive)

    def lasted(self, since):
        """What its calls lasted, that may have waited for the lock, since those before it let it go."""
        return (max(self.locked - max(self.asked, since), 0) + max(self.proof - max(self.proving, since), 0))


CLEAR = 1.5


class Order:
    """The order in which the epochs on one target held their locks, found one after the other."""

    def __init__(self, queue):
        self.rest = sorted(queue, key=lambda h: (h.letting_go, h.gone))
        by_proof = sorted(queue, key=lambda h: h.proof)
        self.exclusive, self.shared = [h for h in by_proof if h.exclusive], [h for h in by_proof if not h.exclusive]
        self.let_go = {False: -FOREVER, True: -FOREVER}  # shared, exclusive: those placed did not let go before

    def since(self, h):
        return max(self.let_go.values()) if h.exclusive else self.let_go[True]

    def shared_until(self, h):
        """Shared ones that had proved their locks before one of them let go held them together."""
        until = h.earliest
        for other in self.shared:
            if not other.proof < until:
                break
            until = max(until, other.letting_go)
        return until

    def may_be_next(self, h):
        rivals = self.exclusive[:2] + (self.shared[:1] if h.exclusive else [])
        first = min([o.proof for o in rivals if o is not h] or [FOREVER])
        h.earliest = max(h.letting_go, min(self.since(h), h.gone))  # when it can have let go
        return first >= h.earliest and (h.exclusive or first == FOREVER or first >= self.shared_until(h))

    def next(self):
        proofs = [[o.proof for o in queue[:2]] + [FOREVER, FOREVER] for queue in (self.exclusive, self.shared)]
        latest = max(proofs[0][0], min(proofs[0][1], proofs[1][0]))
        first_exclusive = min([o.letting_go for o in self.exclusive] or [FOREVER]) if self.shared else FOREVER
        ready = []
        for h in self.rest:
            if h.letting_go > latest:
                break
            if self.may_be_next(h):
                if not h.exclusive and h.proof < first_exclusive:
                    return h  # all exclusive ones come after it
                ready.append((h.lasted(self.since(h)), h))
        if not ready:
            return self.rest[0]  # the clocks are wrong
        least = min(lasted for lasted, _ in ready)
        return min((h for lasted, h in ready if lasted <= CLEAR * least), key=lambda h: (h.asked, h.origin))

    def find(self):
        while self.rest:
            h = self.next()
            self.may_be_next(h)
            self.let_go[h.exclusive] = max(self.let_go[h.exclusive], h.earliest)
            self.rest.remove(h)
            (self.exclusive if h.exclusive else self.shared).remove(h)
            yield h


def times_of_holding(queue):
    """Brings epochs into their order; when each asked for what nobody held any more, and released it."""
    order = list(Order([h for h in queue if h.gone < FOREVER]).find())
    let_go = {False: -FOREVER, True: -FOREVER}  # the latest release
    together = []                               # shared ones since the last exclusive one
    proofs = {False: {}, True: {}}  # shared, exclusive -> origin -> the first proof of a later one
    for h in reversed(order):
        rivals = [proofs[True]] + ([proofs[False]] if h.exclusive else [])
        later = [proof for each in rivals for origin, proof in each.items() if origin != h.origin]
        h.release = max(h.earliest, min([h.gone] + later))
        proofs[h.exclusive][h.origin] = min(proofs[h.exclusive].get(h.origin, FOREVER), h.proof)
    for h in order:
        if h.exclusive:
            granted = min(h.proof, h.release)
            for s in together:
                if s.origin != h.origin:
                    s.release = max(s.earliest, min(s.release, granted), s.grant)
                let_go[False] = max(let_go[False], s.release)
            together = []
        h.since = max(h.asked, max(let_go.values()) if h.exclusive else let_go[True])
        h.grant = min(h.since, h.proof)
        h.release = max(h.release, h.grant)
        if h.exclusive:
            let_go[True] = max(let_go[True], h.release)
        else:
            together.append(h)
    return order


def holders(trace, epochs):
    result = {}
    for epoch in epochs.passive:
        if not epoch.whole or not epoch.checked:
            continue
        members = trace.members[trace.windows[epoch.window]]
        for target in [epoch.target] if epoch.target is not None else members:
            result.setdefault((epoch.window, target), []).append(Holding(epoch, target))
    return result


def holds(h, progress):
    """The times in which it can have held its lock, without and with regard to a target that was outside MPI."""
    times = [(h.since, h.release)]
    if not progress.known:
        return times, times, times
    granted = granted_times(h, progress)
    if progress.free(h.epoch.window, "lock", h.origin, h.target):
        return times, granted, times
    return times, granted, granted


def granted_times(h, progress):
    """The same if a target must be in MPI to grant a lock."""
    times = [(h.since, h.release)]
    if h.target == h.origin:
        return times
    returned = progress.absence.returns(h.target, h.asked, h.proof)
    if not returned:
        return times
    while_locking = [e for _, e in returned if e <= h.locked]
    if while_locking:
        granted = while_locking[-1]
    elif returned[0][1] <= h.proving:
        granted = returned[0][1]
    else:
        granted = returned[-1][1]
    return union(intersection(times, [(-FOREVER, returned[0][0])]), intersection(times, [(granted, FOREVER)]))


def contention(trace, epochs, progress):
    """call -> the times in which it waited for who held a lock, and whether they depend on progress"""
    intervals = {}  # epoch -> times in which another held what it wanted: as in holds()
    for queue in holders(trace, epochs).values():
        before = [(h, holds(h, progress)) for h in times_of_holding(queue)]
        rank = {h: i for i, (h, _) in enumerate(before)}
        last = list(accumulate((h.release for h, _ in before), max))  # release so far
        for e in queue:
            times, i = [], rank.get(e, len(before))
            while i > 0 and last[i - 1] > e.asked:
                i -= 1
                h, held = before[i]
                if h.conflicts(e) and h.release > e.asked and h.since < e.proof:
                    times.append([intersection(each, [(e.asked, e.proof)]) for each in held])
            before_it = intervals.get(e.epoch, NOTHING)
            intervals[e.epoch] = [union(before_it[i], *(each[i] for each in times)) for i in range(3)]
    sets = {}
    for epoch in epochs.passive:
        for call in set(epoch.calls):
            found, own = sets.get(call, NOTHING), call.exclusive()
            sets[call] = [union(found[i], intersection(own, intervals.get(epoch, NOTHING)[i])) for i in range(3)]
    return {call: (times, length(always) != length(granted)) for call, (always, granted, times) in sets.items()}


def patterns(trace, epochs, active_claims, severities):
    progress = Progress(trace, epochs)
    contended = contention(trace, epochs, progress)
    for call, (times, depends) in contended.items():
        times = difference(times, active_claims.get(call, []))
        if call.leaf in CONTENTION:
            severities.add(CONTENTION[call.leaf], call, length(times), length(times) if depends else 0)
    result = {}
    for call, times in progress.claims().items():
        result[call] = difference(times, union(contended.get(call, [[]])[0], active_claims.get(call, [])))
        if call.leaf in PROGRESS:
            severities.add(PROGRESS[call.leaf], call, length(result[call]), length(result[call]))
    return result
