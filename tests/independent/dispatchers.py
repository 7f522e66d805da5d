"""Dispatchers: who answers whoever asks does not wait. What would be its Late Sender and Polling is Idle Dispatcher."""
from independent.polls import MESSAGE
from independent.trace import EXITS

FINDS, SOURCES = 10, 2
PROBES = {"MPI_Iprobe", "MPI_Improbe"}
RECEIVE, ANY_SOURCE = 1, 2  # REQUEST_STATE: kind, flag
ANYNESS = 1  # a kind of attribute
LIBRARY_FUNCTION = 30  # a type of regions


class Place:
    """A call path of one location: its finds, each (time, source, number of its call, answered)."""

    def __init__(self):
        self.asks_any, self.finds, self.answers = False, [], 0

    def serves(self, life):
        begin, end = life
        if self.answers:
            return False
        answered = sum(1 for find in self.finds if find["answered"])
        return (self.asks_any and len(self.finds) >= FINDS and len({f["source"] for f in self.finds}) >= SOURCES
                and 2 * answered >= len(self.finds)
                and 2 * (self.finds[-1]["time"] - self.finds[0]["time"]) >= end - begin)


class Below:
    """The call of a library that a location is in: who was sent to below it before anything of theirs was found there."""

    def __init__(self):
        self.around, self.first, self.call, self.asked, self.asks = None, None, None, set(), set()

    def step(self, trace, call):
        if call is None or call.begin.pos == self.call:
            return
        site = trace.sites.get(getattr(call.begin, "csid", None), {})
        left = trace.regions.get(site.get("lrid"))
        around = call.path[:-1] if left is not None and left.kind == LIBRARY_FUNCTION else None
        if around is None or around != self.around or call.path == self.first:
            self.first, self.asked, self.asks = call.path, set(), set()
        self.around, self.call = around, call.begin.pos

    def sends(self, process):
        if self.around is not None and process not in self.asks:
            self.asked.add(process)

    def finds(self, process):
        """Whether that is an answer."""
        if self.around is not None and process not in self.asked:
            self.asks.add(process)
        return self.around is not None and process in self.asked


def _finds(trace, places):
    process = trace.process_of
    below = {location: Below() for location in process}
    posted_for_any = set()
    for event in trace.events:
        at, call = process.get(event.lid), event.call
        if event.kind == "MPI_RECV_REQUEST" and trace.native:
            (posted_for_any.add if event.slid is None else posted_for_any.discard)((at, event.reqid))
        elif event.kind == "REQUEST_STATE" and event.kind_ == RECEIVE and not event.flags & 1:
            (posted_for_any.add if event.flags & ANY_SOURCE else posted_for_any.discard)((at, event.reqid))
        source, any_source = None, False
        if event.kind in EXITS or event.kind in ("MPI_SEND", "MPI_PROBED", "MPI_RECV_REQUEST", "MPI_RECV"):
            below[event.lid].step(trace, call)
        if event.kind == "MPI_PROBED" and call.name == "MPI_Iprobe":
            source = process[event.slid]
        elif event.kind == "MPI_RECV_REQUEST" and call.name == "MPI_Improbe":
            source = process[event.slid]
        elif event.kind == "MPI_RECV" and ((at, event.request) in posted_for_any or event.attributes.get(ANYNESS)):
            source, any_source = process[event.slid], True
        elif event.kind == "MPI_SEND":
            below[event.lid].sends(process[event.dlid])
            for (_, location), place in places.items():
                if process[location] != at or not place.finds:
                    continue
                for find in place.finds:
                    latest = find["call"] == place.finds[-1]["call"]
                    if latest and not find["answered"] and find["source"] == process[event.dlid]:
                        find["answered"] = True
                        break
        if source is not None:
            place = places.setdefault((call.path, call.location), Place())
            place.asks_any = place.asks_any or any_source
            place.answers += below[event.lid].finds(source)
            place.finds.append({"time": event.time, "source": source, "call": call.begin.pos, "answered": False})


def _life(trace, process):
    begin = min((e.time for e in trace.events[:1]), default=0)
    end = max((e.time for e in trace.events), default=0)
    for call in trace.calls:
        if call.process == process and call.function is not None:
            if call.function.role == "init":
                begin = call.exit
            elif call.function.role == "finalize":
                end = call.enter
    return begin, end


def dispatchers(trace, severities):
    """{(call path, location)}"""
    places = {}
    for call in trace.calls:
        for paths, member in call.joined:
            if member.kind_ == MESSAGE and member.plid is None and paths[-1] == call.path:
                places.setdefault((call.path, call.location), Place()).asks_any = True
    _finds(trace, places)
    visits = severities.values.get("visits", {})
    found = set()
    for (path, location), place in places.items():
        callers = sum(1 for other in trace.process_of if visits.get((path, other), 0) != 0)
        life = _life(trace, trace.process_of[location])
        if 2 * callers <= len(trace.process_of) and place.serves(life):
            found.add((path, location))
    return found | _threads(trace, visits, places)


def _threads(trace, visits, places):
    first = {}
    for location, process in trace.process_of.items():
        if process not in first or trace.thread_of[location] < trace.thread_of[first[process]]:
            first[process] = location
    found, lengths, lives = set(), {}, {}
    for call in trace.calls:
        if call.location == first[call.process]:
            continue
        begin, end = lives.get(call.location, (call.enter, call.exit))
        lives[call.location] = min(begin, call.enter), max(end, call.exit)
        if call.joined:
            key = call.path, call.location
            lengths[key] = lengths.get(key, 0) + call.exit - call.enter
    for (path, location), polled in lengths.items():
        begin, end = lives[location]
        if (path, location) in places and places[path, location].answers:
            continue
        if polled > 0 and polled >= 0.9 * (end - begin) and not visits.get((path, first[trace.process_of[location]]), 0):
            found.add((path, location))
    return found


def idle(trace, severities):
    for key in dispatchers(trace, severities):
        late = severities.values.get("mpi_latesender", {}).pop(key, 0)
        severities.values.get("mpi_latesender_wo", {}).pop(key, 0)
        if late:
            severities.add_at("mpi_polling", *key, late)
        whole = severities.values.get("mpi_polling", {}).get(key, 0)
        if whole:
            severities.add_at("mpi_polling_idle", *key, whole)
