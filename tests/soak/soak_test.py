#!/usr/bin/env python3
"""The soak's own comparison: it must find what it is there for, and nothing else."""

import argparse
import pathlib
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import soak  # noqa: E402

# Two ranks: rank 0 sends 5 bytes to rank 1 and puts 8.
TRACE = """EPILOG 2.0 little
STRING strid=0 cntc=0 str="MPI_Send"
STRING strid=1 cntc=0 str="MPI_Recv"
STRING strid=2 cntc=0 str="MPI_Put"
REGION rid=0 rnid=0 fid=absent begln=absent endln=absent rdid=absent rtype=1
REGION rid=1 rnid=1 fid=absent begln=absent endln=absent rdid=absent rtype=1
REGION rid=2 rnid=2 fid=absent begln=absent endln=absent rdid=absent rtype=1
CALL_SITE csid=0 fid=absent lno=3 erid=2 lrid=0
LOCATION lid=0 mid=0 nid=0 pid=0 tid=0
LOCATION lid=1 mid=0 nid=0 pid=1 tid=0
ENTER lid=0 time=1 rid=0 metv=[]
MPI_SEND lid=0 time=1 dlid=1 cid=0 tag=0 sent=5
EXIT lid=0 time=2 metv=[]
ENTER_CS lid=0 time=3 csid=0 metv=[]
MPI_PUT_1TS lid=0 time=3 dlid=1 wid=0 rmaid=0 sent=8
MPI_PUT_1TE lid=1 time=4 slid=0 wid=0 rmaid=0 recvd=8
EXIT lid=0 time=4 metv=[]
ENTER lid=1 time=1 rid=1 metv=[]
MPI_RECV lid=1 time=2 slid=0 cid=0 tag=0 recvd=5
EXIT lid=1 time=2 metv=[]
"""
NAMES = ("MPI_Send", "MPI_Recv", "MPI_Put")
THREADS, RANKS = 2, 2


def ledger_bytes(calls, flows):
    """calls: {name: (begun, done)} of the second thread; flows: {(kind, peer): (number, bytes)}, all done."""
    data = struct.pack("=4Q", len(NAMES), THREADS, RANKS, len(soak.FLOWS))
    data += b"".join(name.encode().ljust(32, b"\0") for name in NAMES)
    for thread in range(THREADS):
        for name in NAMES:
            data += struct.pack("=2Q", *(calls.get(name, (0, 0)) if thread == 1 else (0, 0)))
        for kind in soak.FLOWS:
            for peer in range(RANKS):
                number, size = flows.get((kind, peer), (0, 0)) if thread == 1 else (0, 0)
                data += struct.pack("=4Q", number, number, size, size)
    return data


class Comparison(unittest.TestCase):
    def compare(self, trace, calls=None, flows=None, fault="none"):
        directory = tempfile.TemporaryDirectory(prefix="kojak-soak-")
        self.addCleanup(directory.cleanup)
        place = pathlib.Path(directory.name)
        sender = {"MPI_Send": (1, 1), "MPI_Put": (1, 1), **(calls or {})}
        sent = {("sent", 1): (1, 5), ("put", 1): (1, 8), **(flows or {})}
        (place / "0.ledger").write_bytes(ledger_bytes(sender, sent))
        (place / "1.ledger").write_bytes(ledger_bytes({"MPI_Recv": (1, 1)}, {("received", 0): (1, 5)}))
        one = soak.Round(argparse.Namespace(), 1, place)
        self.addCleanup(one.log.close)
        one.compare({"fault": fault}, one.ledgers({"ledgers": place}), soak.Counted(trace))

    def contradicts(self, words, *arguments, **named):
        with self.assertRaises(soak.Wrong) as found:
            self.compare(*arguments, **named)
        self.assertIn(words, str(found.exception))

    def test_what_agrees(self):
        self.compare(TRACE)

    def test_a_call_in_progress_may_be_there_or_not(self):
        self.compare(TRACE, {"MPI_Send": (2, 1)}, fault="kill")
        self.compare(TRACE, {"MPI_Send": (1, 0)}, fault="kill")

    def test_calls_that_are_missing_or_too_many(self):
        self.contradicts("rank 0 MPI_Send: 1 in the trace, 2 done, 2 begun", TRACE, {"MPI_Send": (2, 2)})
        self.contradicts("rank 0 MPI_Send: 1 in the trace, 0 done, 0 begun", TRACE, {"MPI_Send": (0, 0)})
        self.contradicts("MPI_Wait: 1 in the trace, which the program does not call",
                         TRACE.replace('"MPI_Put"', '"MPI_Wait"'), {"MPI_Put": (0, 0)})

    def test_a_full_disk_keeps_less_but_not_more(self):
        self.compare(TRACE, {"MPI_Send": (9, 9)}, fault="full")
        self.contradicts("MPI_Send: 1 in the trace", TRACE, {"MPI_Send": (0, 0)}, fault="full")

    def test_messages_and_bytes(self):
        self.contradicts("rank 0 bytes sent 1: 5 in the trace, 6 done", TRACE, None, {("sent", 1): (1, 6)})
        self.contradicts("rank 0 sent 1: 1 in the trace, 2 done", TRACE, None, {("sent", 1): (2, 5)})
        self.contradicts("rank 0 put 1: 1 in the trace, 0 done, 0 begun", TRACE, None, {("put", 1): (0, 0)})
        self.contradicts("rank 1 received 0: 0 in the trace, 1 done",
                         "\n".join(line for line in TRACE.splitlines() if "MPI_RECV" not in line))

    def test_every_transfer_that_begins_ends(self):
        self.contradicts("1 transfers put begin, 0 end",
                         "\n".join(line for line in TRACE.splitlines() if "PUT_1TE" not in line))


if __name__ == "__main__":
    unittest.main()
