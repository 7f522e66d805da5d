"""OpenMP: Fork, waits in the barriers of a team, at locks and for tasks, idle threads."""
from independent.collectives import claim
from independent.intervals import intersection, length
from independent.functions import NO_WAITS, PARTS, PATTERNS, TIME_COUNTERS

PARALLEL, BARRIER, IMPLICIT, TASK, TASKWAIT = 11, 20, 21, 27, 28
LOCK_WAIT = {"omp_lock_critical": "omp_lock_critical_wait", "omp_lock_api": "omp_lock_api_wait"}
WAIT = {BARRIER: "omp_ebarrier_wait", IMPLICIT: "omp_ibarrier_wait"}


def ancestors(call):
    while call is not None:
        yield call
        call = call.parent


def in_parallel(call):
    return any(c.region.kind == PARALLEL for c in ancestors(call))


def openmp_patterns(trace, severities):
    if not any(11 <= c.region.kind <= 26 for c in trace.calls):
        return
    _forks(trace, severities)
    teams = {event.call: event for event in trace.events if event.kind == "OMP_TEAM" and event.call is not None}
    if teams:
        _barriers_of_numbered_teams(trace, teams, severities)
    else:
        _barriers(trace, severities)
    _locks(trace, severities)
    _taskwaits(trace, severities)
    _idle(trace, severities)


def _forks(trace, severities):
    for event in trace.events:
        if event.kind != "OMP_FORK" or event.call is None or event.call.leaf != "execution":
            continue
        parallel = [c for c in event.call.children if c.region.kind == PARALLEL and c.begin.pos > event.pos]
        if not parallel:
            continue
        again = [e.pos for e in event.call.events if e.kind == "OMP_FORK" and e.pos > event.pos]
        if again and again[0] < parallel[0].begin.pos:
            continue
        times = intersection(event.call.exclusive(), [(event.time, parallel[0].enter)])
        for metric in ("omp", "omp_fork"):
            severities.add(metric, event.call, length(times))


def _barriers(trace, severities):
    """The n-th barrier of a kind that each thread enters in the team that the process's last fork made."""
    forks, instances, counts = {}, {}, {}
    for event in trace.events:
        process = trace.process_of[event.lid]
        if event.kind == "OMP_FORK":
            forks[process] = event.pos
        elif event.call is not None and event is event.call.begin and event.call.region.kind in WAIT:
            call = event.call
            if sum(c.region.kind == PARALLEL for c in ancestors(call)) > 1:
                continue  # a team of one thread
            key = process, forks.get(process), call.region.kind
            n = counts.get(key + (call.location,), 0)
            counts[key + (call.location,)] = n + 1
            instances.setdefault(key + (n,), []).append(call)
    for (_, _, kind, _), calls in instances.items():
        latest = max(c.enter for c in calls)
        for call in calls:
            claim(severities, WAIT[kind], call, latest)


def _barriers_of_numbered_teams(trace, teams, severities):
    """The n-th barrier of each thread of a team, within its parallel region."""
    instances, counts = {}, {}
    for event in trace.events:
        call = event.call
        if call is None or event is not call.begin or call.region.kind not in WAIT:
            continue
        region = next((c for c in ancestors(call) if c.region.kind == PARALLEL), None)
        if region not in teams:
            continue  # recording began within it
        n = counts[region] = counts.get(region, 0) + 1
        instances.setdefault((call.process, teams[region].team, n), []).append(call)
    for calls in instances.values():
        latest = max(c.enter for c in calls)
        for call in calls:
            claim(severities, WAIT[call.region.kind], call, latest)


def _locks(trace, severities):
    """Between the enter of the call and OMP_ALOCK: the times in which another thread held the lock."""
    held, holds = {}, {}
    for event in trace.events:
        if event.kind not in ("OMP_ALOCK", "OMP_RLOCK") or event.call is None:
            continue
        lock = event.call.process, event.lkid
        if event.kind == "OMP_RLOCK":
            location, begin = held.pop(lock, (None, None))
            if location == event.lid:
                holds.setdefault(lock, []).append((location, begin, event.time))
            elif location is not None:
                held[lock] = location, begin
            continue
        metric = LOCK_WAIT.get(event.call.leaf)
        if metric is not None:
            others = [(begin, end) for location, begin, end in holds.get(lock, []) if location != event.lid]
            severities.add(metric, event.call, length(intersection([(event.call.enter, event.time)], others)))
        held[lock] = event.lid, event.time


def _taskwaits(trace, severities):
    tasks = [c for c in trace.calls if c.region.kind == TASK]
    for call in trace.calls:
        if call.region.kind == TASKWAIT:
            ends = [t.exit for t in tasks if t.process == call.process and t.location != call.location
                    and call.enter < t.exit <= call.exit]
            if ends:
                claim(severities, "omp_taskwait_wait", call, max(ends))


def _idle(trace, severities):
    for call in trace.calls:
        if call.leaf == "mpi_init_exit":
            continue
        if trace.thread_of[call.location] == 0 and not in_parallel(call):
            for location, process in trace.process_of.items():
                if process == call.process and location != call.location:
                    severities.add_at("omp_idle_threads", call.path, location, length(call.exclusive()))


def counters(trace, severities):
    """What each hardware counter counted between two events belongs to the region that was innermost then."""
    for metric in trace.definitions.get("METRIC", []):
        if metric["mode"] != 0:
            continue
        name, number = trace.strings[metric["metnid"]], metric["metid"]
        before = {}
        for event in trace.events:
            values = getattr(event, "metv", None)
            if values is None:
                continue
            value = trace.number(values[number], metric["dtype"])
            last, call = before.get(event.lid, (None, None))
            if call is not None:
                counted = {0: value - last, 1: value, 2: last}[metric["interval"]]
                severities.add(name, call, counted)
            after = event.call if event is event.call.begin else event.call.parent
            before[event.lid] = value, after


def waiting_counters(severities):
    """Of each counter of processor time that part which waiting is of the time, at each call path and location."""
    waiting = {}
    for pattern in PATTERNS - PARTS - NO_WAITS:
        for key, value in severities.values.get(pattern, {}).items():
            waiting[key] = waiting.get(key, 0) + value
    for counter in TIME_COUNTERS & set(severities.values):
        for (path, location), value in severities.values[counter].items():
            time = severities.values["time"].get((path, location), 0)
            part = waiting.get((path, location), 0)
            if part > 0 and time > 0:
                severities.add_at(counter + "_waiting", path, location, value * min(1, part / time))
