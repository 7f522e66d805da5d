"""Series of polls: which calls are, or end, one that waits, since when they asked for what they found, how many calls
they stand for."""
import bisect
import collections

from independent.intervals import difference, length

WAITS, GOES_ON, ALONE = 1, 1, 4  # judged, and flags, of MPI_POLLED
REQUEST, MESSAGE, READ, SWAPS, SHMEM, LONG_CALL = 1, 2, 4, 5, 7, 8  # kinds of MPI_POLL
PUT, GET = 1, 2  # kinds of MPI_RMA_PLACE
SWAP = 15  # op of MPI_RMA_PLACE
SHARED = 4  # flavour of a window
FOREVER = float("inf")
FOUND = 1  # an end of MPI_POLLED
LONG = 1e-3  # series that go on in one another count from then on, where nothing was found


def read(trace):
    """Gives every call its series, if it has one, and `since`: from when on it can have waited."""
    for call in trace.calls:
        call.joined, call.polled, call.since = [], False, call.enter
        polled, members = None, []
        for event in call.events:
            if event.kind == "MPI_POLLED":
                polled, members = event, []
            elif event.kind == "MPI_POLL" and polled is not None and len(members) < polled.members:
                members.append(event)
        if polled is None:
            continue
        call.joined = [(_path_of(trace, call, m), m) for m in members]
        call.alone = bool(polled.flags & ALONE)
        call.goes_on = bool(polled.flags & GOES_ON)
        call.found = not call.alone or polled.end == FOUND
        call.polled = polled.judged == WAITS
        if call.polled:
            call.since = max(call.enter, _since(call, polled))
    stretches = {}
    for call in sorted(trace.calls, key=lambda c: c.begin.pos):
        call.parts = []  # those of the stretch that it ends, before its own
        if call.joined:
            stretch = stretches.setdefault(call.location, [])
            if not call.goes_on:
                stretch.clear()
            call.parts = [] if call.alone else list(stretch)
            if call.polled:
                stretch.append(call)


def parts_that_asked(call, request):
    """(part, when it first asked for that request, or at the place of the call that found it)"""
    for part in call.parts:
        mine = [m.first_enter for _, m in part.joined
                if m.kind_ == REQUEST and m.requests <= 1 and m.reqid == request is not None]
        there = [m.first_enter for paths, m in part.joined if paths[-1] == call.path and
                 (request is None or m.kind_ != REQUEST or m.requests > 1)]
        if mine or there:
            yield part, max(part.enter, min(mine or there[:1]))


def parts_that_tested(call, tests):
    """(part, when it first made a test of SHMEM like that)"""
    for part in call.parts:
        mine = [m.first_enter for _, m in part.joined if tests(m)]
        if mine:
            yield part, max(part.enter, min(mine))


def tests_variable(offset):
    def tests(m):
        return (m.kind_ == SHMEM and m.bytes != 0 and m.disp is not None and
                m.disp <= offset < m.disp + max(m.requests, 1) * m.bytes)
    return tests


def tests_lock(lock):
    return lambda m: m.kind_ == SHMEM and m.bytes == 0 and m.disp == lock


def _path_of(trace, call, member):
    """The call path of the polls, with those of the functions that were entered with them."""
    path = call.parent.path if call.parent else ()
    if member.rid not in trace.regions:
        return [call.path]
    if member.csid is None:
        return [path + ((trace.regions[member.rid].name, None),)]
    return trace.paths_from(path, member.csid)


def _since(call, polled):
    first = min((m.first_enter for paths, m in call.joined if paths[-1] == call.path), default=polled.begin)
    for event in call.events:
        asked = []
        if event.kind in ("MPI_RECV", "MPI_SEND_COMPLETE", "MPI_REQUEST_COMPLETE", "MPI_RMA_COMPLETE"):
            found = {"MPI_RECV": "request", "MPI_RMA_COMPLETE": "rmaid"}.get(event.kind, "reqid")
            number = getattr(event, found)
            asked = [m for _, m in call.joined if m.kind_ == REQUEST and m.requests <= 1 and m.reqid == number]
        elif event.kind in ("MPI_PROBED", "MPI_RECV_REQUEST"):
            asked = [m for _, m in call.joined if m.kind_ == MESSAGE and m.cid == event.cid and
                     m.plid in (None, event.slid) and m.tag in (None, event.tag)]
        elif event.kind == "SHMEM_WAIT":
            asked = [m for _, m in call.joined if tests_variable(event.offset)(m)]
        elif event.kind == "ALOCK":
            asked = [m for _, m in call.joined if tests_lock(event.lkid)(m)]
        if asked:
            first = min(m.first_enter for m in asked)
    return first


def visits(trace, severities):
    """Each poll is a call; the instance itself has been counted."""
    for call in trace.calls:
        counted = 1 if call.joined and call.alone else 0
        for paths, member in call.joined:
            polls = max(0, member.count - counted)
            counted = max(0, counted - member.count)
            for path in paths:
                severities.add_at("visits", path, call.location, polls)


def bytes_read(trace, severities):
    """What series of reads have got, at the call paths of the reads."""
    for call in trace.calls:
        for paths, member in call.joined:
            if member.kind_ in (READ, SWAPS):
                severities.add_at("bytes_get", paths[-1], call.location, member.count * member.bytes)
            if member.kind_ == SWAPS:
                severities.add_at("bytes_put", paths[-1], call.location, member.count * member.bytes)


def _waited(call, begin, end, progress_of):
    """How long a series waited within these times, without what is Wait for Progress."""
    within = [(max(b, begin), min(e, end)) for b, e in call.exclusive() if max(b, begin) < min(e, end)]
    return length(difference(within, progress_of.get(call, [])))


def _late(call, waited):
    return waited if getattr(call, "depends", False) else 0


def notifications(trace, severities, progress_of):
    """Late Notification: who changed the value that a series of reads had found until then. `progress_of`: what of a
    call is Wait for Progress."""
    process, puts, reads, windows = trace.process_of, {}, {}, {}
    for definition in trace.definitions.get("WIN_IDENTITY", []):
        windows[definition["wid"]] = definition.get("flavour")
    if not any(e.kind == "MPI_VALUE" for e in trace.events):
        return
    writes, numbered = [], {}
    for e in trace.events:
        if e.kind == "MPI_RMA_PLACE":
            if e.kind_ & GET:
                reads[e.lid, e.rmaid] = e
            if e.kind_ & PUT:
                puts[process[e.lid], e.rmaid + bool(e.kind_ & GET)] = e
        elif e.kind == "MPI_PUT_1TS":
            place = puts.get((process[e.lid], e.rmaid))
            first = place.disp if place else None
            writes.append({"origin": process[e.lid], "rmaid": e.rmaid, "call": e.call, "window": e.wid, "pos": e.pos,
                           "target": process[e.dlid], "first": first, "bytes": place.bytes if place else 0,
                           "swap": bool(place) and place.op == SWAP, "end": FOREVER})
            numbered[process[e.lid], e.rmaid] = writes[-1]
        elif e.kind == "MPI_PUT_1TE" and (process[e.slid], e.rmaid) in numbered:
            numbered[process[e.slid], e.rmaid]["end"] = e.time
    first_place = min((e.pos for e in trace.events if e.kind == "MPI_RMA_PLACE"), default=FOREVER)
    writes = [w for w in writes if w["pos"] > first_place]
    memory = _memory(trace)
    for write in writes:
        write["part"] = _part(memory, write["window"], write["target"])
        write["window"], write["first"] = _address(memory, write["window"], write["target"], write["first"])
    stretches = _stretches(trace)
    for value in trace.events:
        read = reads.get((value.lid, value.rmaid)) if value.kind == "MPI_VALUE" else None
        if read is None or read.disp is None or read.kind_ & PUT:
            continue
        stretch, asked = _asked(stretches, value, read, READ)
        if not asked:
            continue
        by = _who_changed(trace, windows, memory, writes, value, read, asked[-1][1], stretch[-1])
        for call, member in asked:
            if by is not None and "PAUSING" not in {child.region.name for child in call.children}:
                begin = max(call.enter, member.first_enter)
                waited = _waited(call, begin, by, progress_of)
                severities.add("mpi_rma_late_notification", call, waited, _late(call, waited))


def _stretches(trace):
    """By location: when calls with polls ended, of each which of the polls that wait are its stretch so far, and these."""
    stretches = collections.defaultdict(lambda: ([], [], []))
    for call in sorted((c for c in trace.calls if c.joined), key=lambda c: c.begin.pos):
        exits, parts, polls = stretches[call.location]
        begin = parts[-1].start if parts and call.goes_on else len(polls)
        polls += [call] if call.polled else []
        exits.append(call.exit_pos)
        parts.append(slice(begin, len(polls)))
    return stretches


def _asked(stretches, value, read, kind):
    """The parts of the stretch before an event, and those that asked for that place, with the member."""
    exits, parts, polls = stretches[value.lid]
    before = bisect.bisect_left(exits, value.pos)
    stretch = polls[parts[before - 1]] if before else []
    asked = []
    for call in stretch:
        mine = [m for _, m in call.joined if m.kind_ == kind and
                (m.wid, m.tlid, m.disp, m.bytes) == (read.wid, read.dlid, read.disp, read.bytes)]
        if mine:
            asked.append((call, mine[0]))
    return stretch, asked


def locks(trace, severities, progress_of):
    """Lock Contention of locks that are taken by swaps: each change of a place by one process takes it, the next gives it
    back, as long as all that took it found one value."""
    operations, held, found, ended, stretches = {}, {}, {}, {}, _stretches(trace)
    for e in trace.events:
        if e.kind == "MPI_RMA_PLACE" and e.disp is not None and e.kind_ & PUT:
            place = e.wid, e.dlid, e.disp, e.bytes
            if e.kind_ & GET:
                operations[e.lid, e.rmaid] = e
            if e.op != SWAP:
                _give(held, place, trace.process_of[e.lid], e.call.enter)
        elif e.kind == "MPI_VALUE" and (e.lid, e.rmaid) in operations:
            swap = operations[e.lid, e.rmaid]
            place, process = (swap.wid, swap.dlid, swap.disp, swap.bytes), trace.process_of[e.lid]
            _give(held, place, process, swap.call.enter)
            turns = held.setdefault(place, [])
            if any(turn["process"] == process and turn["given"] == swap.call.enter for turn in turns):
                continue
            found.setdefault(place, set()).add((e.value, e.other))
            stretch, asked = _asked(stretches, e, swap, SWAPS)
            if len(found[place]) == 1 and stretch and stretch[-1].found:
                if e.lid not in ended or ended[e.lid][0] is not stretch[-1]:
                    ended[e.lid] = stretch[-1], e.call
                for call, member in asked if ended[e.lid][1] is e.call else []:
                    begin = max(call.enter, member.first_enter)
                    for turn in turns:
                        if turn["process"] != process and turn["given"] is not None:
                            since = max(begin, turn["taken"])
                            waited = _waited(call, since, turn["given"], progress_of)
                            severities.add("mpi_rma_comm_lock_contention", call, waited, _late(call, waited))
                            if _waited(call, since, turn["given"], {}):
                                begin = max(begin, turn["given"])
            turns.append({"process": process, "taken": swap.call.enter, "given": None})


def _give(held, place, process, time):
    for turn in held.get(place, []):
        if turn["process"] == process and turn["given"] is None:
            turn["given"] = time


def _memory(trace):
    """(process, window) -> (first, last address) of windows that share memory."""
    memory = {}
    for (key, process), text in trace.properties.items():
        if key.startswith("windows.memory"):
            for window, address, size in (map(int, word.split(":")) for word in text.split()):
                memory[process, window] = (address, address + size if size else FOREVER)
    return memory


def _part(memory, window, process):
    return memory.get((process, window), memory.get((None, window)))


def _address(memory, window, process, first):
    part = _part(memory, window, process)
    return (window, first) if part is None else ("memory", None if first is None else part[0] + first)


def _who_changed(trace, windows, memory, writes, value, read, last, series):
    """When it was changed: by the enter of an operation, or by the target itself."""
    target, reader = trace.process_of[read.dlid], trace.process_of[value.lid]
    place, first = _address(memory, read.wid, target, read.disp)
    there = [w for w in writes if w["pos"] < value.pos and (w["window"], w["target"]) == (place, target) and
             w["origin"] != reader and w["end"] >= last.last_enter]
    known = [w for w in there if w["first"] is not None and w["first"] < first + read.bytes and
             first < w["first"] + w["bytes"]]
    known = [w for w in known if not w["swap"]] or known
    if known:
        return known[-1]["call"].enter
    unknown = [w for w in there if w["first"] is None and
               (w["part"] is None or (w["part"][0] < first + read.bytes and first < w["part"][1]))]
    if unknown:
        return unknown[-1]["call"].enter if len({w["origin"] for w in unknown}) == 1 else None
    paused = any(c.region.name == "PAUSING" and c.begin.pos < value.pos for c in trace.calls)
    if paused or target == reader or windows.get(read.wid) == SHARED:
        return None
    mine = _part(memory, read.wid, target)
    for (process, window), (begin, end) in memory.items():
        over = mine is not None and process in (target, None) and begin < mine[1] and mine[0] < end
        if over and windows.get(window) == SHARED:
            return None
    main = [lid for lid, pid in trace.process_of.items() if pid == target and not trace.thread_of[lid]]
    inside = any(c.location in main and c.begin.pos < value.pos < c.exit_pos for c in trace.calls)
    return series.exit if inside else None


def polling(trace, severities):
    """Adds mpi_polling: what no pattern claims of series that wait."""
    left = {}

    def count(stretch):
        reads = any(member.kind_ == READ for call in stretch for _, member in call.joined)
        if any(call.found for call in stretch) or (not reads and stretch[-1].exit - stretch[0].enter >= LONG):
            for call in stretch:
                if call.polled:
                    key = call.path, call.location
                    rest = length(call.exclusive()) - severities.claimed.get(call, 0)
                    left[key] = left.get(key, 0) + max(0, rest)

    stretches = {}
    for call in sorted((c for c in trace.calls if c.joined), key=lambda c: c.begin.pos):
        stretch = stretches.setdefault(call.location, [])
        if stretch and not call.goes_on:
            count(stretch)
            stretch.clear()
        stretch.append(call)
    for stretch in stretches.values():
        count(stretch)
    for (path, location), value in left.items():
        value -= severities.claimed_late.get((path, location), 0)
        if value > 0:
            severities.add_at("mpi_polling", path, location, value)


def leaf_of_series(call, begun):
    """What a series of tests was for, by its first poll."""
    member = call.joined[0][1]
    if member.kind_ != REQUEST or member.reqid is None:
        return None
    if member.wid is not None:
        return "mpi_rma_communication"
    return begun.leaf_of_request(call, member.reqid)
