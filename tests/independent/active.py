"""General active target: Late Post, Early Transfer, Early Wait and what is part of it, synchronised pairs."""
from independent.intervals import intersection, length, union, until


def blocked(trace, call, causes):
    """[call.enter, P], P the latest of the causes (process, time) that came before the call had ended."""
    came = [time for process, time in causes if time <= call.exit + trace.delta(call.process, process)]
    return intersection(call.exclusive(), until(call, max(came))) if came else []


class ActiveTarget:
    def __init__(self, trace, epochs):
        self.trace, self.epochs = trace, epochs
        self.claimed = {}  # call -> times that Late Post or Early Transfer took
        self.exposures = {(e.window, e.process, peer, n): e for e in epochs.exposure
                          for peer, n in e.ordinals.items() if e.whole or e.opening is not None}
        self.accesses = {(e.window, e.process, peer, n): e for e in epochs.access
                         for peer, n in e.ordinals.items()}

    def posts(self, access, without=None):
        found = []
        for peer, n in access.ordinals.items():
            exposure = self.exposures.get((access.window, peer, access.process, n))
            if exposure is not None and peer != without:
                found.append((peer, exposure.opening.enter))
        return found

    def late_post_and_early_transfer(self, severities):
        for access in self.epochs.access:
            posts = self.posts(access)
            if access.opening is None or not posts:
                continue
            first = [min(posts, key=lambda post: post[1])]
            for call in (access.opening, access.closing):
                if call is None or not access.whole:
                    continue
                self.claimed[call] = blocked(self.trace, call, posts)
                severities.add("mpi_rma_latepost", call, length(self.claimed[call]))
                severities.add("mpi_rma_latepost_first", call, length(blocked(self.trace, call, first)))
            if not access.whole:
                continue
            for call in {o.call: None for o in access.operations}:
                self.claimed[call] = blocked(self.trace, call, posts)
                severities.add("mpi_rma_earlytransfer", call, length(self.claimed[call]))

    def early_wait(self, severities, progress_of):
        """progress_of: call -> the times that Wait for Progress claims of it."""
        for exposure in self.epochs.exposure:
            wait, target = exposure.closing, exposure.process
            if wait is None or exposure.gap:
                continue
            accesses = []
            for origin, n in exposure.ordinals.items():
                access = self.accesses.get((exposure.window, origin, target, n))
                if access is not None and not access.gap:
                    accesses.append(access)
            completes = [a for a in accesses if a.closing is not None]
            if not completes:
                continue
            last = max(completes, key=lambda a: (a.closing.enter, a.closing.exit))
            end = last.closing.enter
            early = until(wait, end)
            exclusive = wait.exclusive()
            afterwards = intersection(exclusive, [(end, float("inf"))])
            posted = intersection(afterwards, blocked(self.trace, last.closing, self.posts(last, without=target)))
            indirect = union(posted, intersection(afterwards, progress_of.get(last.closing, [])))
            severities.add("mpi_rma_indirectwait", wait, length(intersection(exclusive, indirect)))
            severities.add("mpi_rma_earlywait", wait, length(intersection(exclusive, union(early, indirect))),
                           length(indirect) - length(posted))
            transfers = [(o.call.exit, a) for a in accesses for o in a.operations if o.target == target]
            if not transfers:
                continue
            latest = max(time for time, _ in transfers)
            pair_ends = [a.closing.enter for time, a in transfers if time == latest and a.closing is not None]
            after = intersection(exclusive, [(max(wait.since, latest), float("inf"))])
            severities.add("mpi_rma_latecomplete", wait, length(intersection(after, early)))
            if pair_ends:
                pair = until(wait, max(pair_ends))
                severities.add("mpi_rma_latecomplete_pair", wait, length(intersection(after, pair)))

    def pairs(self, severities):
        for access in self.epochs.access:
            if access.closing is not None:
                self._count(severities, access.closing, access.window, access.process, access.partners,
                            access.reached)
        for event, so_far, whole in self.epochs.fence_exits:
            if so_far > 0 and event.wid not in self.trace.unpaired_windows:
                process = self.trace.process_of[event.lid]
                done = self.epochs.fence_epochs.get((process, event.wid, so_far), [])
                members = self.trace.members[self.trace.windows[event.wid]]
                used = {o.target for o in done} if whole else set(members)  # else nobody knows what it held
                self._count(severities, event.call, event.wid, process, members, used)

    def _count(self, severities, call, window, process, members, used):
        if window in self.trace.shared_windows:
            return
        others = set(members) - {process}
        severities.add("mpi_rma_pairsync_count", call, len(others))
        severities.add("mpi_rma_pairsync_unneeded_count", call, len(others - used))
