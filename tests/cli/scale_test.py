"""Runs of many processes: merge and analysis with few open files, and severities known from arithmetic.

The traces are made up (tests/bench/make_traces.cc says how): rank r begins each iteration of 1 ms later
than rank 0 by 10 ns times r (modulo 4096).
"""
import csv
import io
import json
import resource
import unittest

from cli import BIN, CommandTest

MAKE = BIN.parent / "tests" / "make_traces"


def shift(rank):
    return 1e-8 * (rank % 4096)


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


class Scale(CommandTest):
    def analysed(self, kind, ranks, iterations, events_each, operations):
        """Makes, merges and analyses traces of about so many iterations; gives how many they have."""
        ran = self.run_command(MAKE, kind, "local", "--ranks", ranks, "--operations", operations,
                               "--events", ranks * iterations * events_each, timeout=500)
        self.assertEqual(ran.status, 0, ran.err)
        for command in (["elg_merge", "-o", "a.elg", "local"], ["expert", "-o", "a.cube", "a.elg"]):
            ran = self.run_command(*command, before=few_files, timeout=500)
            self.assertEqual(ran.status, 0, f"{kind}, {ranks}: {command[0]}: {ran.err}")

    def metric(self, name, region):
        out = self.run_command("kojak", "stat", "--csv", "--by", "region", "-n", "0", "-m", name, "a.cube")
        self.assertEqual(out.status, 0, out.err)
        return sum(float(row[name]) for row in csv.DictReader(io.StringIO(out.out))
                   if row["region"] == region)

    def check(self, name, region, seconds):
        self.assertAlmostEqual(self.metric(name, region) / seconds, 1, delta=1e-5,
                               msg=f"{name} {seconds}")

    def fence(self, ranks, iterations):
        self.analysed("fence", ranks, iterations, 4 * 2 + 2, 2)
        last = max(shift(rank) for rank in range(ranks))
        # The first fence waits for the rank that begins last, the others for rank 0, 0.2 ms late.
        first = sum(last - shift(rank) for rank in range(ranks))
        each = sum(0.2e-3 - shift(rank) for rank in range(1, ranks))
        self.check("mpi_rma_fence_wait", "MPI_Win_fence", first + iterations * each)

    def barrier(self, ranks, iterations):
        self.analysed("barrier", ranks, iterations, 2 * 2, 2)
        each = sum(0.3 * 0.45e-3 - shift(rank) for rank in range(1, ranks))
        self.check("mpi_barrier_wait", "MPI_Barrier", 2 * iterations * each)

    def gats(self, ranks, iterations):
        self.analysed("gats", ranks, iterations, 2 * 2 + 4, 2)
        pairs = ranks // 2
        self.check("mpi_rma_latepost", "MPI_Win_start", pairs * iterations * (0.3e-3 + 1e-8))
        self.check("mpi_rma_earlywait", "MPI_Win_wait", pairs * iterations * (0.15e-3 - 1e-8))

    def messages(self, ranks, iterations):
        self.analysed("p2p", ranks, iterations, 6 * 2, 2)
        # Each receive is entered 0.3 of its share of the iteration before its send, which a rank does
        # that is 10 ns ahead; that of rank 0 comes from the last one.
        share = 0.3 * 0.45e-3
        waits = sum(share + shift((rank - 1) % ranks) - shift(rank) for rank in range(ranks))
        self.check("mpi_latesender", "MPI_Recv", 2 * iterations * waits)

    def test_64_processes(self):
        self.fence(64, 20)
        self.barrier(64, 20)
        self.gats(64, 20)
        self.messages(64, 20)
        stat = json.loads(self.run_command("elg_stat", "--json", "a.elg").out)
        self.assertEqual(len(stat["flows"]), 64)  # a ring
        self.assertEqual({(flow["messages"], flow["message_bytes"]) for flow in stat["flows"]},
                         {(2 * 20, 2 * 20 * 1024)})

    def test_messages_of_1024_processes(self):
        """Rank 0 receives after the last has sent, also where a message takes 14 us: nothing is suspect."""
        self.analysed("p2p", 1024, 1, 6 * 64, 64)
        # Around the ring the differences between the beginnings add up to nothing.
        self.check("mpi_latesender", "MPI_Recv", 1024 * 64 * 0.3 * 0.9e-3 / 64)

    def test_4096_processes(self):
        self.fence(4096, 2)

    def test_16384_processes(self):
        self.barrier(16384, 1)
        self.assertEqual(self.run_command("elg_stat", "a.elg").lines[1], "locations: 16384")


if __name__ == "__main__":
    unittest.main()
