"""Partitioned messages: a receiver waits for the parts that the sender gives away last."""
from independent.collectives import claim
from independent.functions import ALL, WAITS

SENDS = 1  # a side of MPI_PART_BEGIN


def patterns(trace, severities):
    message_of = {}  # (process, request) -> (its name on both sides, does this side send)
    given = {}       # name -> when the last part was given away
    for event in trace.events:
        at = trace.process_of[event.lid]
        if event.kind == "MPI_PART_BEGIN" and event.cid not in trace.unpaired_comms:
            peer, sends = trace.process_of[event.plid], event.side == SENDS
            pair = (at, peer) if sends else (peer, at)
            message_of[at, event.reqid] = (event.cid, pair, event.tag, event.channel, event.start), sends
        elif event.kind == "MPI_PART_READY" and (at, event.reqid) in message_of:
            name = message_of[at, event.reqid][0]
            given[name] = max(given.get(name, event.call.enter), event.call.enter)
    for call in trace.calls:
        if not (call.polled or call.name in WAITS) or any(e.kind in ("MPI_RECV", "MPI_SEND_COMPLETE") for e in call.events):
            continue
        ended = [message_of.get((call.process, e.reqid)) for e in call.events if e.kind == "MPI_PART_END"]
        times = [given[name] for name, sends in filter(None, ended) if not sends and name in given]
        if times:
            claim(severities, "mpi_latesender", call, (max if call.name in ALL else min)(times))
