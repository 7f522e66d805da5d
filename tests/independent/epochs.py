"""One-sided operations and the epochs that they belong to, by counting epochs of each process."""
from independent.trace import PAUSING, SENT

FENCE, LOCK, UNLOCK = "MPI_Win_fence", "MPI_WIN_LOCK", "MPI_WIN_UNLOCK"
NOCHECK = 1
ACCESS_OPEN, EXPOSURE_OPEN, SHARED_OPEN, EXCLUSIVE_OPEN, NOCHECK_OPEN, BY_ALL = 1, 2, 4, 8, 16, 32


class Operation:
    """A put or a get, at its origin."""

    def __init__(self, event, origin, target, window, is_put, size):
        self.event, self.call, self.origin, self.target = event, event.call, origin, target
        self.window, self.is_put, self.bytes, self.rmaid = window, is_put, size, event.rmaid
        self.marked = False
        self.epoch = None
        self.known = False  # whether its epoch had been recorded without a gap until it was issued


class Epoch:
    """An access or exposure epoch of general active target: its calls (None: not in the trace), its partners."""

    def __init__(self, process, window, opening, partners, ordinals):
        self.process, self.window, self.opening, self.closing = process, window, opening, None
        self.partners, self.ordinals = partners, ordinals  # ordinals: partner -> how many epochs before
        self.operations, self.reached, self.whole = [], set(), opening is not None
        self.gap = False  # recording went off in it, as far as it is known


class PassiveEpoch:
    """From a lock to its unlock, at one target; lock_all is one such epoch with target None."""

    def __init__(self, origin, window, target, exclusive, lock):
        self.origin, self.window, self.target, self.exclusive = origin, window, target, exclusive
        self.lock, self.unlock, self.checked = lock, None, True
        self.operations, self.reached, self.calls, self.whole = [], set(), [lock] if lock else [], lock is not None
        self.marked = []  # operations that nobody can place
        self.completions = []  # calls that completed operations: (call, [operations])


class Epochs:
    def __init__(self, trace):
        self.trace = trace
        self.operations, self.access, self.exposure, self.passive = [], [], [], []
        self.fences = {}        # (process, window) -> fences so far
        self.fence_epochs = {}  # (process, window, fences so far) -> operations
        self.fence_exits = []   # (exit record, fences before it, whether all of its epoch was recorded)
        self.since_fence = set()  # (process, window) whose fence epoch was recorded from its begin on
        self.needs = []         # (call, kind, [operations]): what a completing call had outstanding
        self.idle = []          # (call, kind, window, target): a flush or unlock with nothing outstanding to it
        self._operations()
        self._walk()

    def _operations(self):
        trace, process = self.trace, self.trace.process_of
        issued, starts = {}, []
        marks = set()
        for event in trace.events:
            if event.kind in ("MPI_GET_1TO", "MPI_PUT_1TO"):
                issued[process[event.lid], event.rmaid, event.kind] = event
            elif event.kind == "RMA_MARK":
                marks.add((process[event.olid], event.rmaid))
        self.by_pos, self.by_id, self.shmem = {}, {}, []
        for event in trace.events:
            if event.kind == "PUT_1TS":  # of SHMEM: shmem.py looks at it
                self.shmem.append((event.call, "bytes_put", event.bytes(SENT, "sent")))
                continue
            if event.kind == "GET_1TS":
                at = issued.get((process[event.dlid], event.rmaid, "MPI_GET_1TO"))
                if at is not None:
                    self.shmem.append((at.call, "bytes_get", event.bytes(SENT, "sent")))
                continue
            if event.kind == "MPI_PUT_1TS":
                origin, target = process[event.lid], process[event.dlid]
                at = issued.get((origin, event.rmaid, "MPI_PUT_1TO"), event)
            elif event.kind == "MPI_GET_1TS":
                origin, target = process[event.dlid], process[event.lid]
                at = issued.get((origin, event.rmaid, "MPI_GET_1TO"))
                if at is None:
                    continue
            else:
                continue
            operation = Operation(at, origin, target, event.wid, event.kind == "MPI_PUT_1TS",
                                  event.bytes(SENT, "sent"))
            operation.marked = (origin, event.rmaid) in marks or event.wid in trace.unpaired_windows
            self.operations.append(operation)
            self.by_pos[at.pos] = operation
            self.by_id[origin, event.rmaid] = operation
        halves = {o.call: None for o in self.operations if o.marked}  # an atomic operation is a get and a put
        for operation in self.operations:
            operation.marked = operation.marked or operation.call in halves

    def _walk(self):
        trace = self.trace
        self.open_access, self.open_exposure, self.open_locks, self.counts = {}, {}, {}, {}
        for event in trace.events:
            process = trace.process_of[event.lid]
            if event.kind == "LOG_OFF":
                self.since_fence = {key for key in self.since_fence if key[0] != process}
                for epoch in list(self.open_access.values()) + list(self.open_exposure.values()) + [
                        e for locks in self.open_locks.values() for e in locks.values()]:
                    if (epoch.origin if isinstance(epoch, PassiveEpoch) else epoch.process) == process:
                        epoch.whole, epoch.gap = False, True
            elif event.kind == "WIN_STATE":
                self.fences[process, event.wid] = event.fences
                self._state_of_lock(process, event.wid, None, event.open & 4 and BY_ALL & event.open)
            elif event.kind == "EPOCH_STATE":
                self._state(process, event)
            elif event.pos in self.by_pos:
                self._issue(self.by_pos[event.pos])
            elif event.kind == "MPI_WINEXIT":
                self._active(process, event)
            elif event.kind == "MPI_WINCOLLEXIT" and event.call.name == FENCE:
                key = process, event.wid
                so_far = self.fences.get(key, 0)
                self.fence_exits.append((event, so_far, key in self.since_fence))
                self.fences[key] = so_far + 1
                self.since_fence.add(key)
            else:
                self._passive(process, event)

    def _state(self, process, event):
        peer = self.trace.process_of[event.plid]
        self.counts["access", process, event.wid, peer] = event.access - bool(event.open & ACCESS_OPEN)
        self.counts["exposure", process, event.wid, peer] = event.exposure - bool(event.open & EXPOSURE_OPEN)
        for kind, table, bit in (("access", self.open_access, ACCESS_OPEN),
                                 ("exposure", self.open_exposure, EXPOSURE_OPEN)):
            epoch = table.get((process, event.wid))
            if event.open & bit:
                if epoch is None:
                    epoch = table[process, event.wid] = Epoch(process, event.wid, None, [], {})
                    getattr(self, kind).append(epoch)
                if peer not in epoch.partners:
                    epoch.partners.append(peer)
                    epoch.ordinals[peer] = self.counts[kind, process, event.wid, peer]
                if kind == "access" and event.ops:
                    epoch.reached.add(peer)  # while recording was off
                self.counts[kind, process, event.wid, peer] += 1
            elif epoch is not None and peer in epoch.partners and not epoch.whole:
                del table[process, event.wid]
        if not event.open & BY_ALL:
            self._state_of_lock(process, event.wid, peer, event.open & (SHARED_OPEN | EXCLUSIVE_OPEN))

    def _state_of_lock(self, process, window, target, is_open):
        locks = self.open_locks.setdefault((process, window), {})
        if is_open and target not in locks:
            locks[target] = PassiveEpoch(process, window, target, False, None)
        elif not is_open and target in locks and not locks[target].whole:
            del locks[target]

    def _issue(self, operation):
        key = operation.origin, operation.window
        locks = self.open_locks.get(key, {})
        epoch = locks.get(operation.target) or locks.get(None)
        if epoch is None:
            epoch = self.open_access.get(key)
            if epoch is not None and operation.target not in epoch.partners:
                epoch = None
        if epoch is None:
            self.fence_epochs.setdefault(key + (self.fences.get(key, 0),), []).append(operation)
            return
        operation.epoch, operation.known = epoch, epoch.whole
        epoch.reached.add(operation.target)
        operation.open = True      # not yet complete at the target
        operation.open_here = True  # not yet complete at the origin
        if isinstance(epoch, PassiveEpoch):
            epoch.calls.append(operation.call)
        if not operation.marked:
            epoch.operations.append(operation)
        elif isinstance(epoch, PassiveEpoch):
            epoch.marked.append(operation)

    def _active(self, process, event):
        trace, call, window = self.trace, event.call, event.wid
        group = trace.members.get(event.cid, []) if event.cid is not None else []
        if window in trace.unpaired_windows:
            return
        if call.name in ("MPI_Win_start", "MPI_Win_post") and event.synex == 0:
            kind = "access" if call.name == "MPI_Win_start" else "exposure"
            ordinals = {}
            for peer in group:
                key = kind, process, window, peer
                ordinals[peer] = self.counts.get(key, 0)
                self.counts[key] = ordinals[peer] + 1
            epoch = Epoch(process, window, call, list(group), ordinals)
            getattr(self, kind).append(epoch)
            getattr(self, "open_" + kind)[process, window] = epoch
        elif call.name == "MPI_Win_complete":
            epoch = self.open_access.pop((process, window), None)
            if epoch is not None:
                epoch.closing = call
                self.needs.append((call, "complete", list(epoch.operations)))
        elif call.name in ("MPI_Win_wait", "MPI_Win_test") and event.synex == 1:
            epoch = self.open_exposure.pop((process, window), None)
            if epoch is not None:
                epoch.closing = call

    # ---- passive target

    def _passive(self, process, event):
        call = event.call
        if event.kind in ("MPI_WIN_LOCK", "MPI_WIN_LOCK_ALL"):
            target = self.trace.process_of[event.llid] if event.kind == "MPI_WIN_LOCK" else None
            exclusive = event.kind == "MPI_WIN_LOCK" and event.ltype == 1
            epoch = PassiveEpoch(process, event.wid, target, exclusive, call)
            epoch.checked = not call.assertion & NOCHECK
            if event.wid in self.trace.unpaired_windows or not call.progress:
                epoch.whole = False
            self.passive.append(epoch)
            self.open_locks.setdefault((process, event.wid), {})[target] = epoch
        elif event.kind in ("MPI_WIN_UNLOCK", "MPI_WIN_UNLOCK_ALL"):
            target = self.trace.process_of[event.llid] if event.kind == "MPI_WIN_UNLOCK" else None
            epoch = self.open_locks.get((process, event.wid), {}).pop(target, None)
            if epoch is not None:
                epoch.unlock = call
                epoch.calls.append(call)
                self._idle(call, "unlock", epoch, None)
                self._complete(call, "unlock", [epoch], lambda o: True, False)
        elif event.kind == "MPI_WIN_FLUSH":
            target = self.trace.process_of[event.tlid] if event.tlid is not None else None
            covered = [e for t, e in self.open_locks.get((process, event.wid), {}).items()
                       if target is None or t is None or t == target]
            if target is not None and any(e.target == target for e in covered):
                covered = [e for e in covered if e.target == target]
            for epoch in covered:
                epoch.calls.append(call)
                if not event.local:
                    self._idle(call, "flush", epoch, target)
            self._complete(call, "flush_local" if event.local else "flush", covered,
                           lambda o: target is None or o.target == target, event.local)
        elif event.kind == "MPI_RMA_COMPLETE":
            operation = self.by_id.get((process, event.rmaid))
            if operation is not None and isinstance(operation.epoch, PassiveEpoch):
                operation.epoch.calls.append(call)
                if not operation.is_put and operation.open:
                    operation.epoch.completions.append((call, "wait", [operation]))
                    self.needs.append((call, "wait", [] if operation.marked else [operation]))
                    operation.open = operation.open_here = False

    def _idle(self, call, kind, epoch, target):
        """Whom the call may ask though nothing is outstanding to him, of one epoch's targets."""
        if not epoch.whole:
            return
        members = self.trace.members[self.trace.windows[epoch.window]]
        of = [epoch.target] if epoch.target is not None else [target] if target is not None else members
        busy = {o.target for o in epoch.operations + epoch.marked if o.open}
        self.idle += [(call, kind, epoch.window, t) for t in of if t != epoch.origin and t not in busy]

    def _complete(self, call, kind, epochs, covers, local):
        done = []
        for epoch in epochs:
            mine = [o for o in epoch.operations if covers(o) and (o.open_here if local else o.open)]
            if mine:
                epoch.completions.append((call, kind, mine))
            if epoch.whole:  # else nobody knows what a gap in the recording completed
                done += mine
        self.needs.append((call, kind, list(done)))
        for operation in done:
            operation.open_here = False
            if not local or not operation.is_put:
                operation.open = False
