#!/usr/bin/env python3
"""At which meetings nothing is open: found by matching all that begins with what ends it, and compared with what
list_meetings finds by sums.

meetings.py BUILD RUN [RUN ...]     folders of local traces; BUILD has bin/elg_merge, bin/elg_print, tests/list_meetings
                                    (and where a run cannot be cut at all it is said, and is no difference)

A thing is what may not lie on both sides of a cut: a message, a request, a collective call of all its members, the two
sides of an epoch, a lock, a transfer with its ends. It is the list of the events that it consists of; one that never
ends has an event behind all others. What others tell of a location while it is inside the meeting is on both sides:
who has left it already may read there. Exit status: 0 both say the same of all meetings, and some are at rest.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent.trace import Trace  # noqa: E402

ALL_WAIT = {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Reduce_scatter",
            "MPI_Reduce_scatter_block"}
WINDOW = {"MPI_Win_create", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_create_dynamic", "MPI_Win_fence",
          "MPI_Win_free"}
NEVER = float("inf")
LOST = {"LOG_OFF", "WIN_STATE", "EPOCH_STATE", "COLL_STATE", "MSG_STATE", "MSG_RESTARTED", "REQUEST_STATE"}


def plain(name):
    """Without what says that counts are large."""
    return name.removesuffix("_c")


class Things:
    """key -> the events that belong to it, as (location, position)."""

    def __init__(self):
        self.all = []

    def new(self, kind, *events):
        self.all.append((kind, [(e.lid, e.pos) for e in events]))
        return self.all[-1][1]


def things_of(trace):
    things = Things()
    counts, open_requests, channels, waiting = {}, {}, {}, {}
    shared, epochs, locks, transfers, forks = {}, {}, {}, {}, {}

    def number(*key):
        counts[key] = counts.get(key, -1) + 1
        return counts[key]

    def member(kind, key, event, members):
        """One of `members` that all do the same once."""
        where = shared.get((kind, key))
        if where is None:
            where = shared[kind, key] = (things.new(kind), set(members))
        where[0].append((event.lid, event.pos))
        where[1].discard(event.lid)

    def transfer(origin, event):
        if (origin, event.rmaid) not in transfers:
            transfers[origin, event.rmaid] = things.new("transfer")
        transfers[origin, event.rmaid].append((event.lid, event.pos))

    for e in trace.events:
        k, me = e.kind, e.lid
        name = e.call.region.name if e.call is not None else ""
        if k == "MPI_SEND":
            thing = things.new("message", e)
            channels.setdefault((e.cid, me, e.dlid, e.tag), []).append(thing)
            if e.request is not None:
                open_requests[me, e.request] = (things.new("request", e), thing)
        elif k == "MPI_RECV":
            waiting.setdefault((e.cid, e.slid, me, e.tag), []).append((me, e.pos))
            if e.request is not None and (me, e.request) in open_requests:
                open_requests.pop((me, e.request))[0].append((me, e.pos))
        elif k == "MPI_RECV_REQUEST":
            open_requests[me, e.reqid] = (things.new("request", e), None)
        elif k in ("MPI_SEND_COMPLETE", "MPI_CANCELLED", "MPI_REQUEST_FREED", "MPI_PART_END", "MPI_REQUEST_COMPLETE"):
            request, message = open_requests.pop((me, e.reqid), (None, None))
            if request is not None:
                request.append((me, e.pos))
            if k == "MPI_CANCELLED" and message is not None:
                message.append((me, e.pos))
                for queue in channels.values():
                    if any(m is message for m in queue):
                        queue[:] = [m for m in queue if m is not message]
        elif k == "MPI_COLLEXIT":
            member("collective", (e.cid, number("coll", e.cid, me)), e, trace.members[e.cid])
        elif k == "MPI_WINCOLLEXIT":
            members = trace.members[trace.windows[e.wid]]
            member("collective", ("win", e.wid, number("win", e.wid, me)), e, members)
        elif k == "MPI_GROUP_CALL":
            members = trace.members[e.cid] + trace.remote.get(e.cid, [])
            member("group call", (e.cid, e.key, e.ordinal), e, members)
        elif k == "MPI_COLL_BEGIN":
            open_requests[me, e.reqid] = (things.new("request", e), None)
            members = trace.members[e.cid] + trace.remote.get(e.cid, [])
            member("begun", (e.cid, e.key, number("begun", e.cid, e.key, me)), e, members)
        elif k == "MPI_PART_BEGIN":
            open_requests[me, e.reqid] = (things.new("request", e), None)
            pair = (me, e.plid) if e.side == 1 else (e.plid, me)
            member("partitioned", (e.cid, pair, e.tag, e.channel, e.start), e, [me, e.plid])
        elif k == "MPI_WINEXIT":
            group = trace.members.get(e.cid, [])
            kind = name.lower()
            if e.synex == 0:
                side = "access" if "start" in kind else "exposure"
                for peer in group:
                    pair = (me, peer) if side == "access" else (peer, me)
                    key = (e.wid, pair, number(side, e.wid, me, peer))
                    member("epoch", key, e, [me, peer] if me != peer else [me])
                    epochs.setdefault((e.wid, me, side), []).append(shared["epoch", key][0])
                mine = things.new("own epoch", e)
                epochs.setdefault((e.wid, me, side), []).append(mine)
            elif "complete" in kind or "wait" in kind or "test" in kind:
                side = "access" if "complete" in kind else "exposure"
                for thing in epochs.pop((e.wid, me, side), []):
                    thing.append((me, e.pos))
        elif k == "MPI_WIN_LOCK":
            locks[e.wid, me, e.llid] = things.new("lock", e)
        elif k == "MPI_WIN_UNLOCK":
            locks.pop((e.wid, me, e.llid), []).append((me, e.pos))
        elif k in ("MPI_PUT_1TS", "MPI_GET_1TO", "MPI_PUT_1TO"):
            transfer(me, e)
        elif k in ("MPI_PUT_1TE", "MPI_GET_1TS", "MPI_GET_1TE"):
            origin = e.dlid if k == "MPI_GET_1TS" else e.slid if k == "MPI_PUT_1TE" else me
            transfer(origin, e)
        elif k == "OMP_FORK":
            forks.setdefault(me, []).append(things.new("team", e))
        elif k == "OMP_JOIN" and forks.get(me):
            forks[me].pop().append((me, e.pos))
    # What never ends, or has no partner.
    for request, _ in open_requests.values():
        request.append((None, NEVER))
    for thing, missing in shared.values():
        if missing:
            thing.append((None, NEVER))
    for opened in list(epochs.values()):
        for thing in opened:
            thing.append((None, NEVER))
    for thing in locks.values():
        thing.append((None, NEVER))
    for key, queue in channels.items():
        for n, thing in enumerate(queue):
            got = waiting.get(key, [])
            thing.append(got[n] if n < len(got) else (None, NEVER))
    return things.all


def meetings_of(trace):
    """(key, the exit of each location) of each call in which each waits for all, and none left before all had come."""
    world = set(trace.node_of)
    comm_identity = {r["cid"]: (r["hi"], r["lo"]) for r in trace.definitions.get("COMM_IDENTITY", [])}
    window_identity = {r["wid"]: (r["hi"], r["lo"]) for r in trace.definitions.get("WIN_IDENTITY", [])}
    counts, found = {}, {}
    for e in trace.events:
        if e.kind == "MPI_COLLEXIT":
            n = counts[e.cid, e.lid] = counts.get((e.cid, e.lid), -1) + 1
            if set(trace.members[e.cid]) == world and plain(e.call.region.name) in ALL_WAIT and \
                    e.cid not in trace.unpaired_comms and e.cid not in trace.remote:
                found.setdefault(("comm", comm_identity[e.cid], n), []).append(e)
        elif e.kind == "MPI_WINCOLLEXIT":
            n = counts["win", e.wid, e.lid] = counts.get(("win", e.wid, e.lid), -1) + 1
            if set(trace.members[trace.windows[e.wid]]) == world and plain(e.call.region.name) in WINDOW and \
                    e.wid not in trace.unpaired_windows:
                found.setdefault(("window", window_identity[e.wid], n), []).append(e)
    return {key: {e.lid: e for e in exits} for key, exits in found.items()
            if len(exits) == len(world) and max(e.call.enter for e in exits) <= min(e.time for e in exits)}


def at_rest(trace):
    """key -> what is open there."""
    things = things_of(trace)
    told = {e.pos for e in trace.events if e.kind in ("MPI_PUT_1TE", "MPI_GET_1TS")}
    some_lock = any(e.kind == "MPI_WIN_LOCK" for e in trace.events)
    lost = {}
    for e in trace.events:
        if e.kind in LOST:
            lost.setdefault(e.lid, e.pos)
    result = {}
    for key, exits in meetings_of(trace).items():
        open_here = set()
        ends = {lid: e.pos for lid, e in exits.items()}
        begins = {lid: e.call.begin.pos for lid, e in exits.items()}
        for kind, events in things:
            before = [pos <= ends.get(lid, -1) for lid, pos in events
                      if pos not in told or not begins.get(lid, NEVER) < pos < ends[lid]]
            if any(before) and not all(before):
                open_here.add(kind)
        for lid, e in exits.items():
            outer = e.call.parent
            while outer is not None:
                if outer.region.name.lower().startswith("mpi_"):
                    open_here.add("call")
                outer = outer.parent
            if lost.get(lid, NEVER) < e.pos:
                open_here.add("lost")
        if some_lock and held_by_all(trace, ends):
            open_here.add("lock all")
        result[key] = open_here
    return result


def held_by_all(trace, ends):
    held = set()
    for e in trace.events:
        if e.pos <= ends.get(e.lid, -1):
            if e.kind == "MPI_WIN_LOCK_ALL":
                held.add((e.lid, e.wid))
            elif e.kind == "MPI_WIN_UNLOCK_ALL":
                held.discard((e.lid, e.wid))
    return bool(held)


def found_by_sums(tool, run):
    result = {}
    done = subprocess.run([tool, run], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr.strip()
    for line in done.stdout.splitlines():
        if line.startswith("alone"):
            return line
        words, _, why = line.partition(": ")
        _, kind, identity, ordinal = words.split()
        result[kind, (int(identity[:16], 16), int(identity[16:], 16)), int(ordinal)] = why
    return result


def merged_text(build, run):
    with tempfile.TemporaryDirectory() as folder:
        merged = os.path.join(folder, "a.elg")
        for command in ("elg_merge", "-q", "-o", merged, run), ("elg_print", "-q", merged):
            done = subprocess.run([build / "bin" / command[0], *command[1:]], capture_output=True, check=False)
            if done.returncode not in (0, 3):
                sys.exit(done.stderr.decode(errors="replace"))
    return done.stdout


def compare(build, run):
    """(meetings, at rest by sums, at rest by matching, what is wrong)"""
    sums = found_by_sums(build / "tests" / "list_meetings", run)
    if isinstance(sums, str):
        return 0, 0, 0, [sums]
    matched = at_rest(Trace(merged_text(build, run).decode(errors="surrogateescape").splitlines()))
    wrong = []
    for key, why in sums.items():
        if key not in matched:
            wrong.append(f"{key}: is no meeting")
        elif why == "at rest" and matched[key]:
            wrong.append(f"{key}: said to be at rest, but open are {sorted(matched[key])}")
        elif why != "at rest" and not matched[key]:
            wrong.append(f"{key}: is at rest, but is said to have open {why}")
    wrong += [f"{key}: not found" for key in matched if key not in sums]
    return len(matched), sum(w == "at rest" for w in sums.values()), sum(not o for o in matched.values()), wrong


def main():
    build = pathlib.Path(sys.argv[1])
    totals, bad = [0, 0, 0], False
    for run in sys.argv[2:]:
        *numbers, wrong = compare(build, run)
        totals = [a + b for a, b in zip(totals, numbers)]
        bad = bad or any(not line.startswith("alone") for line in wrong)
        for line in wrong:
            print(f"{run}: {line}")
    print("{} meetings, at rest by sums {}, by matching {}".format(*totals))
    return 1 if bad or totals[1] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
