#!/usr/bin/env python3
"""Whose message a receive got, after pauses and in cuts: in 24 windows that the program records, by what it knows itself
(programs/windows.c); and in 24 parts that elg_filter cuts out of a run that was recorded whole. With --tags: around a
pause in which ever new tags are used, by which the process does not grow (programs/tags.c).

Needs the Python module of EARL.
"""

import collections
import sys

import earl
from check_runs import checked
from run_trace_case import Case, parser

WINDOWS = 24
MOST_GROWN = 4 << 20  # bytes; 300,000 tags at some 90 bytes each would be 27 million


def received(path):
    """Of each process, in order: when it received, and the sends of these messages (process, number); None: unseen."""
    numbers, sends, calls = {}, collections.Counter(), collections.defaultdict(list)
    for event in earl.open(str(path)):
        if event.type == "MPI_SEND":
            numbers[event.pos] = (event.location, sends[event.location], event.time)
            sends[event.location] += 1
        elif event.type == "MPI_RECV":
            of = calls[event.location]
            if not of or of[-1][0] != event.time:
                of.append((event.time, collections.Counter()))
            of[-1][1][event.sendptr.pos if event.sendptr is not None else None] += 1
    return {
        location: [(time, collections.Counter({numbers.get(pos): count for pos, count in counts.items()}))
                   for time, counts in of]
        for location, of in calls.items()
    }


def record(case, name, each):
    case.args.arguments = [str(each)]
    run = case.run(True, {"ELG_DIR": case.work / name})
    if run.returncode != 0:
        sys.exit(f"status {run.returncode}: {run.stderr}")
    trace = case.work / f"{name}.elg"
    checked([case.args.bin + "/elg_merge", "-q", "-o", trace, case.work / name], (0, 3))
    return trace


def check_told(case, trace):
    """By what the messages say. Returns how many were received, and how many of these have no sender though it was
    recorded: at an edge a receive for any source may be open that could have taken the message."""
    found, total, without = received(trace), 0, 0
    for rank in range(case.args.ranks):
        told = [line.split()[1:] for line in (case.work / f"told.{rank}").read_text().splitlines()]
        calls = found[rank]
        if len(told) != len(calls):
            sys.exit(f"rank {rank} received in {len(told)} calls, its trace has {len(calls)}")
        for words, (time, counts) in zip(told, calls):
            pairs = [tuple(map(int, word.split(":"))) for word in words]
            expected = collections.Counter(None if number < 0 else (source, number) for source, number in pairs)
            senders = collections.Counter()
            for sender, count in counts.items():
                senders[sender and sender[:2]] += count
            total += len(pairs)
            more = senders - expected
            without += more.pop(None, 0)
            if more:
                sys.exit(f"rank {rank} at {time}: {senders}, not {expected}")
    return total, without


def check_cuts(case, trace):
    """By the same calls in the whole trace: the messages of a cut are some of theirs. Returns how many there are, and of how
    many the cut does not tell whose they are."""
    whole, total, without = {}, 0, 0
    for location, calls in received(trace).items():
        for time, counts in calls:
            whole[location, time] = collections.Counter(sender and (sender[0], sender[2]) for sender in counts.elements())
    times = [time for _, time in whole]
    first, length = min(times), (max(times) - min(times)) / WINDOWS
    for window in range(WINDOWS):
        begin, part = first + window * length, case.work / "part.elg"
        checked([case.args.bin + "/elg_filter", "-q", "--from", repr(begin), "--to", repr(begin + 0.7 * length),
                 "-o", part, trace], (0, 3))
        for location, calls in received(part).items():
            for time, counts in calls:
                senders = collections.Counter(sender and (sender[0], sender[2]) for sender in counts.elements())
                total += sum(senders.values())
                wrong = senders - whole[location, time]
                without += wrong.pop(None, 0)
                if wrong:
                    sys.exit(f"window {window}, process {location} at {time}: {wrong}, not {whole[location, time]}")
    return total, without


def check_tags(case):
    total, without = check_told(case, record(case, "tags", 0))
    grown = [int((case.work / f"grown.{rank}").read_text()) for rank in range(case.args.ranks)]
    print(f"{total} receives, {without} of an uncertain sender; grown by {grown} bytes")
    if max(grown) > MOST_GROWN:
        sys.exit("that is too much")
    if without > total // 50:
        sys.exit("too many have no sender")


def main():
    arguments = parser()
    arguments.add_argument("--bin", required=True)
    arguments.add_argument("--tags", action="store_true")
    case = Case(arguments.parse_args())
    if case.args.tags:
        return check_tags(case)
    paused, without = check_told(case, record(case, "windows", 25))
    cut, without_in_cuts = check_cuts(case, record(case, "whole", 0))
    print(f"{paused} receives in windows, {without} of an uncertain sender; {cut} in cuts, {without_in_cuts}")
    if min(paused, cut) < 500:
        sys.exit("these are too few")
    if without > paused // 50 or without_in_cuts > cut // 50:
        sys.exit("too many have no sender")


if __name__ == "__main__":
    main()
