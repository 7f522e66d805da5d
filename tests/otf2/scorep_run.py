"""Writes OTF2 archives with the records that Score-P's MPI adapter writes for each call, at given ticks.

    run = ScorepRun(directory, processes=2)
    run.call(0, 5, 9, "MPI_Win_post", run.sync(group=[1]))     # rank 0 is in it from tick 5 to 9
    run.close()

A tick is a microsecond. Calls of one process are given in their order; what a call records stands in functions that
get the writer and the ticks of its enter and leave.
"""
import otf2
from otf2.enums import CollectiveOp, GroupType, LockType, Paradigm, RegionRole, RmaAtomicType, RmaSyncLevel

ATOMIC = {"accumulate": RmaAtomicType.ACCUMULATE, "fetch_and_op": RmaAtomicType.FETCH_AND_ACCUMULATE,
          "compare_and_swap": RmaAtomicType.COMPARE_AND_SWAP}
COLLECTIVE = {"barrier": CollectiveOp.BARRIER, "bcast": CollectiveOp.BCAST, "allreduce": CollectiveOp.ALLREDUCE,
              "reduce": CollectiveOp.REDUCE}
SECOND = 1_000_000
NONE = 0xFFFFFFFF


class ScorepRun:
    def __init__(self, directory, processes):
        self.writer = otf2.writer.Writer(str(directory), timer_resolution=SECOND)
        self.defs = self.writer.definitions
        node = self.defs.system_tree_node("host", "node", parent=self.defs.system_tree_node("cluster", "machine"))
        self.locations, self.writers, self.regions, self.groups = [], [], {}, {}
        for rank in range(processes):
            group = self.defs.location_group(f"MPI Rank {rank}", system_tree_parent=node)
            self.locations.append(self.defs.location("Master thread", group=group))
            self.writers.append(self.writer.event_writer_from_location(self.locations[-1]))
        self.everybody = self.defs.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI,
                                         members=self.locations)
        self.world = self.comm("MPI_COMM_WORLD", range(processes))
        self.window = self.defs.rma_win("window", comm=self.world)  # of all calls that name no other
        for writer in self.writers:
            writer.program_begin(0, "program_simple", [])

    def group(self, ranks):
        ranks = tuple(ranks)
        if ranks not in self.groups:
            self.groups[ranks] = self.defs.group(f"group of {ranks}", group_type=GroupType.COMM_GROUP,
                                                 paradigm=Paradigm.MPI,
                                                 members=[self.locations[rank] for rank in ranks])
        return self.groups[ranks]

    def comm(self, name, ranks):
        return self.defs.comm(name, group=self.group(ranks))

    def region(self, name):
        if name not in self.regions:
            paradigm = Paradigm.MPI if name.startswith("MPI_") else Paradigm.COMPILER
            self.regions[name] = self.defs.region(name, paradigm=paradigm, region_role=RegionRole.FUNCTION)
        return self.regions[name]

    def enter(self, rank, tick, name):
        self.writers[rank].enter(tick, self.region(name))

    def leave(self, rank, tick, name):
        self.writers[rank].leave(tick, self.region(name))

    def call(self, rank, enter, leave, name, *events):
        self.enter(rank, enter, name)
        for event in events:
            event(self.writers[rank], enter, leave)
        self.leave(rank, leave, name)

    def close(self, end=None):
        if end is not None:
            for writer in self.writers:
                writer.program_end(end, 0)
        self.writer.close()

    # ---- what calls record
    def collective(self, operation, root=NONE, sent=0, received=0, comm=None):
        def events(w, enter, leave):
            w.mpi_collective_begin(enter)
            w.mpi_collective_end(leave, COLLECTIVE[operation], comm or self.world, root, sent, received)
        return events

    def another_window(self, ranks):
        return self.defs.rma_win("another window", comm=self.comm("part", ranks))

    def created(self, window=None):
        window = window or self.window

        def events(w, enter, leave):
            w.rma_collective_begin(enter)
            w.rma_win_create(leave, window)
            w.rma_collective_end(leave, CollectiveOp.CREATE_HANDLE, RmaSyncLevel.PROCESS, window, NONE, 0, 0)
        return events

    def freed(self):
        def events(w, enter, leave):
            w.rma_collective_begin(enter)
            w.rma_collective_end(leave, CollectiveOp.DESTROY_HANDLE, RmaSyncLevel.PROCESS, self.window, NONE, 0, 0)
            w.rma_win_destroy(leave, self.window)
        return events

    def fence(self):
        def events(w, enter, leave):
            w.rma_collective_begin(enter)
            w.rma_collective_end(leave, CollectiveOp.BARRIER, RmaSyncLevel.PROCESS | RmaSyncLevel.MEMORY, self.window,
                                 NONE, 0, 0)
        return events

    def sync(self, group, level=RmaSyncLevel.PROCESS, at_exit=False, window=None):
        return lambda w, enter, leave: w.rma_group_sync(leave if at_exit else enter, level, window or self.window,
                                                        self.group(group))

    def lock(self, target, exclusive=True, window=None):
        remote = NONE if target is None else target
        kind = LockType.EXCLUSIVE if exclusive else LockType.SHARED
        return lambda w, enter, leave: w.rma_request_lock(enter, window or self.window, remote, 0, kind)

    def unlock(self, target, window=None):
        remote = NONE if target is None else target
        return lambda w, enter, leave: w.rma_release_lock(leave, window or self.window, remote, 0)

    def put(self, target, size, matching, window=None):
        return lambda w, enter, leave: w.rma_put(enter, window or self.window, target, size, matching)

    def get(self, target, size, matching):
        return lambda w, enter, leave: w.rma_get(enter, self.window, target, size, matching)

    def atomic(self, target, kind, sent, received, matching):
        return lambda w, enter, leave: w.rma_atomic(enter, self.window, target, ATOMIC[kind], sent, received, matching)

    def done(self, *matching, window=None):
        def events(w, enter, leave):
            for number in matching:
                w.rma_op_complete_non_blocking(enter, window or self.window, number)
        return events

    def done_remotely(self, *matching):
        def events(w, enter, leave):
            for number in matching:
                w.rma_op_complete_remote(enter, self.window, number)
        return events


FULL = RmaSyncLevel.PROCESS | RmaSyncLevel.MEMORY
NOTHING = RmaSyncLevel.NONE
