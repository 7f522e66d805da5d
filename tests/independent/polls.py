"""Series of polls: which calls are, or end, one that waits, since when they asked for what they found, how many calls
they stand for."""
from independent.intervals import length

WAITS, GOES_ON, ALONE = 1, 1, 4  # judged, and flags, of MPI_POLLED
REQUEST, MESSAGE, READ = 1, 2, 4  # kinds of MPI_POLL
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
