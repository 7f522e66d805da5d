"""otf2elg: what Score-P recorded is analysed like traces of our own.

Expected severities are arithmetic: the programs of the reference archives state how long they sleep, and made archives
have the ticks that stand here, which are microseconds.
"""
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from otf2.enums import CollectiveOp, ParameterType
from scorep_run import FULL, NOTHING, SECOND, ScorepRun

BIN = pathlib.Path(os.environ["KOJAK_BIN"])
REFERENCE = pathlib.Path(os.environ["KOJAK_REFERENCE"])


class ArchiveTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="kojak-otf2-")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

    def run_tool(self, *words, status=0):
        done = subprocess.run([BIN / words[0], *map(str, words[1:])], cwd=self.dir, capture_output=True, text=True,
                              check=False, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def convert(self, archive, left_out=()):
        """The trace: well formed, and nothing was left out but what is named here."""
        done = self.run_tool("otf2elg", "-o", "a.elg", archive)
        notes = [line.removeprefix("otf2elg: note: ") for line in done.stderr.splitlines()]
        self.assertEqual(notes, [f"left out: {text}" for text in left_out])
        self.assertIn(" 0 findings", self.run_tool("elg_print", "--verify", "a.elg").stdout)
        self.assertEqual(sorted(path.name for path in self.dir.iterdir() if path.name.startswith(".")), [])
        return self.dir / "a.elg"

    def analyse(self, trace, status=0):
        """Severities: {metric: {rank: seconds}}, and {metric: total}."""
        self.run_tool("expert", "-q", "--json", "a.json", "-o", "a.cube", trace, status=status)
        report = json.loads((self.dir / "a.json").read_text())
        return {metric["name"]: metric["total"] for metric in report["metrics"]}, report

    def records(self, name):
        """The lines of elg_print about the events of that name."""
        lines = self.run_tool("elg_print", "a.elg").stdout.splitlines()
        return [line for line in lines if name in line.split()]


class OfScoreP(ArchiveTest):
    """The archives in tests/reference/scorep, recorded by Score-P 7.1. An injected wait is right to 20 ms: sleeping
    processes of a busy machine come back late."""

    def assert_waits(self, totals, expected):
        for metric, seconds in expected.items():
            self.assertAlmostEqual(totals[metric], seconds, delta=0.02, msg=metric)

    def test_active_target(self):
        totals, _ = self.analyse(self.convert(REFERENCE / "scorep/gats/traces.otf2"))
        self.assert_waits(totals, {
            "mpi_rma_latepost": 3 * 0.2,       # three origins start 0.2 s before the target posts
            # Rank 3 puts 0.05 * 3 s after its start, and completes 0.1 * 3 s after that.
            "mpi_rma_earlywait": 0.15 + 0.30,
            "mpi_rma_latecomplete": 0.30})

    def test_fences(self):
        sizes = "12 x sizes of atomic operations, which this archive gives in elements"
        totals, report = self.analyse(self.convert(REFERENCE / "scorep/fence/traces.otf2", [sizes]))
        # Rank 3 creates 0.1 s late, rank 1 frees 0.15 s late, rank 0 comes 0.1 s late to Barrier, Allreduce and
        # Bcast, rank 1 to Reduce, where rank 0 is the root.
        self.assert_waits(totals, {"mpi_rma_wait_window_create": 3 * 0.1, "mpi_rma_wait_window_free": 3 * 0.15,
                                   "mpi_barrier_wait": 3 * 0.1, "mpi_wait_nxn": 3 * 0.1,
                                   "mpi_latebroadcast": 3 * 0.1, "mpi_reduce_wait": 0.1})
        # Rank 2 works 0.2 s before every second fence, the others 0.05; nobody waits longer than rank 1.
        worst = max(wait["waiting"] for instance in report["instances"] if instance["metric"] == "mpi_rma_fence_wait"
                    for wait in instance["waits"])
        self.assertAlmostEqual(worst, 0.15, delta=0.02)
        self.assertLess(totals["mpi_rma_fence_wait"], 3 * 3 * 0.15 + 0.02)
        self.assertGreater(totals["mpi_rma_fence_wait"], 3 * 2 * 0.15)

    def test_as_the_classic_trace_of_the_same_program(self):
        """Both ran gats.c: the same patterns with the same injected waits."""
        of_archive, _ = self.analyse(self.convert(REFERENCE / "scorep/gats/traces.otf2"))
        of_classic, _ = self.analyse(REFERENCE / "gats.elg")
        for metric in ("mpi_rma_latepost", "mpi_rma_earlywait", "mpi_rma_latecomplete"):
            self.assertAlmostEqual(of_archive[metric], of_classic[metric], delta=0.04, msg=metric)


class Made(ArchiveTest):
    """Archives with the records that Score-P writes, at known ticks."""

    def start(self, processes, window=False):
        """A run; with a window that all have made before 0.2 s."""
        self.archive = self.dir / "run"
        self.run_ = ScorepRun(self.archive, processes)
        for rank in range(processes if window else 0):
            self.run_.call(rank, 100_000, 100_100, "MPI_Win_create", self.run_.created())
        return self.run_

    def finish(self, end=10 * SECOND, left_out=(), status=0):
        self.run_.close(end)
        return self.analyse(self.convert(self.archive / "traces.otf2", left_out), status)

    def assert_seconds(self, totals, expected):
        for metric, seconds in expected.items():
            self.assertAlmostEqual(totals[metric], seconds, delta=1e-9, msg=metric)

    def test_create_fence_free(self):
        run = self.start(2)
        for rank, late in ((0, 0), (1, 300_000)):
            run.call(rank, 1 * SECOND + late, 1_400_000, "MPI_Win_create", run.created())
            run.call(rank, 2 * SECOND + late, 2_500_000, "MPI_Win_fence", run.fence())
            run.call(rank, 2_600_000, 2_600_100, "MPI_Put", run.put(1 - rank, 400, 1))
            run.call(rank, 3 * SECOND + 2 * late, 3_700_000, "MPI_Win_fence", run.done(1), run.fence())
            run.call(rank, 4 * SECOND + late, 4_500_000, "MPI_Win_free", run.freed())
        totals, report = self.finish()
        # Rank 0 comes 0.3 s earlier to create, the first fence and free, 0.6 s to the second fence.
        self.assert_seconds(totals, {"mpi_rma_wait_window_create": 0.3, "mpi_rma_fence_wait": 0.3 + 0.6,
                                     "mpi_rma_wait_window_free": 0.3})
        self.assertEqual({metric["total"] for metric in report["metrics"] if metric["title"] == "Put"}, {800})

    def test_post_start_complete_wait(self):
        run = self.start(2, window=True)
        # The origin, rank 1, starts at 1.0 s; the target posts at 1.5 s, waits from 1.6 s on. The origin puts at
        # 1.8 s, and completes at 2.1 s: the target waits 0.5 s, 0.3 of them after the last transfer's begin at 1.8.
        run.call(1, 1_000_000, 1_500_000, "MPI_Win_start", run.sync([0]))
        run.call(1, 1_800_000, 1_800_000, "MPI_Put", run.put(0, 8, 1))
        run.call(1, 2_100_000, 2_100_050, "MPI_Win_complete", run.done(1), run.sync([0], FULL, at_exit=True))
        run.call(0, 1_500_000, 1_500_010, "MPI_Win_post", run.sync([1]))
        run.call(0, 1_600_000, 2_100_060, "MPI_Win_wait", run.sync([1], FULL))
        totals, _ = self.finish()
        self.assert_seconds(totals, {"mpi_rma_latepost": 0.5, "mpi_rma_earlywait": 0.5, "mpi_rma_latecomplete": 0.3})

    def test_a_test_that_gives_false_ends_no_epoch(self):
        run = self.start(2, window=True)
        run.call(1, 1_000_000, 1_000_010, "MPI_Win_start", run.sync([0]))
        run.call(1, 1_100_000, 1_100_010, "MPI_Put", run.put(0, 8, 1))
        run.call(1, 2_000_000, 2_000_050, "MPI_Win_complete", run.done(1), run.sync([0], FULL, at_exit=True))
        run.call(0, 900_000, 900_010, "MPI_Win_post", run.sync([1]))
        run.call(0, 1_500_000, 1_500_010, "MPI_Win_test", run.sync([1], NOTHING))
        run.call(0, 2_200_000, 2_200_010, "MPI_Win_test", run.sync([1], FULL))
        self.finish()
        self.assertEqual(len(self.records("MPI_WINEXIT")), 4)  # post, start, complete and the test that gave true

    def test_lock_contention(self):
        run = self.start(3, window=True)
        # Ranks 1 and 2 lock rank 0 exclusively. Rank 1 holds the lock from 1.0 s to 2.0 s. Rank 2 asks at 1.2 s and
        # gets it at 2.0 s: it waits 0.8 s in MPI_Win_lock. Rank 0 is in a barrier all the time.
        run.call(1, 1_000_000, 1_000_010, "MPI_Win_lock", run.lock(0))
        run.call(1, 1_100_000, 1_100_010, "MPI_Get", run.get(0, 8, 1))
        run.call(1, 1_150_000, 1_150_010, "MPI_Win_flush", run.done(1))
        run.call(1, 1_999_990, 2_000_000, "MPI_Win_unlock", run.unlock(0))
        run.call(2, 1_200_000, 2_000_000, "MPI_Win_lock", run.lock(0))
        run.call(2, 2_100_000, 2_100_010, "MPI_Get", run.get(0, 8, 1))
        run.call(2, 2_200_000, 2_200_010, "MPI_Win_unlock", run.done(1), run.unlock(0))
        for rank in range(3):
            run.call(rank, 200_000 if rank == 0 else 3_000_000, 3_000_100, "MPI_Barrier", run.collective("barrier"))
        totals, _ = self.finish()
        self.assert_seconds(totals, {"mpi_rma_sync_lock_contention": 0.8})
        for name, count in (("MPI_WIN_LOCK", 2), ("MPI_WIN_UNLOCK", 2), ("MPI_WIN_FLUSH", 1)):
            self.assertEqual(len(self.records(name)), count, name)

    def test_shared_locks_are_shared(self):
        run = self.start(2, window=True)
        for rank in (0, 1):
            run.call(rank, 1_000_000, 1_000_010, "MPI_Win_lock", run.lock(0, exclusive=False))
            run.call(rank, 2_000_000, 2_000_010, "MPI_Win_unlock", run.unlock(0))
            run.call(rank, 3_000_000, 3_000_010, "MPI_Win_lock_all", run.lock(None, exclusive=False))
            run.call(rank, 4_000_000, 4_000_010, "MPI_Win_unlock_all", run.unlock(None))
        self.finish()
        locks = self.records("MPI_WIN_LOCK")
        self.assertEqual(len(locks), 2)
        self.assertTrue(all("ltype=0" in line for line in locks), locks)

    def test_exclusive_lock_after_shared_ones(self):
        run = self.start(4, window=True)
        # Ranks 1 and 2 share the lock of rank 0 from 1.0 s on, until 1.7 s and 2.0 s; rank 3 wants it for itself at
        # 1.2 s and gets it at 2.0 s, when the last of them has unlocked: 0.8 s. Those who share do not wait.
        for rank, end in ((1, 1_700_000), (2, 2_000_000)):
            run.call(rank, 1_000_000, 1_000_010, "MPI_Win_lock", run.lock(0, exclusive=False))
            run.call(rank, 1_100_000, 1_100_010, "MPI_Get", run.get(0, 8, 1))
            run.call(rank, end - 10, end, "MPI_Win_unlock", run.done(1), run.unlock(0))
        run.call(3, 1_200_000, 2_000_000, "MPI_Win_lock", run.lock(0))
        run.call(3, 2_100_000, 2_100_010, "MPI_Put", run.put(0, 8, 1))
        run.call(3, 2_200_000, 2_200_010, "MPI_Win_unlock", run.done(1), run.unlock(0))
        totals, report = self.finish()
        self.assert_seconds(totals, {"mpi_rma_sync_lock_contention": 0.8})
        waits = [wait for i in report["instances"] if i["metric"] == "mpi_rma_sync_lock_contention" for wait in i["waits"]]
        self.assertEqual([(wait["thread"], wait["until"]["thread"]) for wait in waits], [(3, 2)])

    def test_window_of_some_processes(self):
        """A target is a rank of the window's communicator, here of (2, 0); groups have ranks of all."""
        run = self.start(3)
        window = run.another_window([2, 0])
        for rank in (0, 2):
            run.call(rank, 200_000, 200_100, "MPI_Win_create", run.created(window))
        # Rank 0 starts at 1.0 s, rank 2 posts at 1.4 s.
        run.call(0, 1_000_000, 1_400_010, "MPI_Win_start", run.sync([2], window=window))
        run.call(0, 1_500_000, 1_500_010, "MPI_Put", run.put(0, 24, 1, window))
        run.call(0, 1_600_000, 1_600_010, "MPI_Win_complete", run.done(1, window=window),
                 run.sync([2], FULL, at_exit=True, window=window))
        run.call(2, 1_400_000, 1_400_010, "MPI_Win_post", run.sync([0], window=window))
        run.call(2, 1_700_000, 1_700_010, "MPI_Win_wait", run.sync([0], FULL, window=window))
        totals, _ = self.finish()
        self.assert_seconds(totals, {"mpi_rma_latepost": 0.4, "mpi_rma_earlywait": 0})
        starts = self.records("MPI_PUT_1TS")
        self.assertEqual([("lid=0" in line, "dlid=2" in line, "sent=24" in line) for line in starts],
                         [(True, True, True)], starts)
        self.assertEqual([line.split()[1] for line in self.records("MPI_PUT_1TE")], ["lid=2"])

    def test_one_number_in_two_windows(self):
        """Operations are numbered in each window from 1; a flush is of the window whose operation it completes."""
        run = self.start(2, window=True)
        window = run.another_window([0, 1])
        for rank in (0, 1):
            run.call(rank, 300_000, 300_100, "MPI_Win_allocate", run.created(window))
        run.call(1, 1_000_000, 1_000_010, "MPI_Win_lock", run.lock(0))
        run.call(1, 1_100_000, 1_100_010, "MPI_Win_lock", run.lock(0, window=window))
        run.call(1, 1_200_000, 1_200_010, "MPI_Put", run.put(0, 8, 1))
        run.call(1, 1_300_000, 1_300_010, "MPI_Put", run.put(0, 16, 1, window))
        run.call(1, 1_400_000, 1_400_010, "MPI_Win_flush", run.done(1, window=window))
        run.call(1, 1_500_000, 1_500_010, "MPI_Win_unlock", run.done(1), run.unlock(0))
        run.call(1, 1_600_000, 1_600_010, "MPI_Win_unlock", run.unlock(0, window))
        self.finish()
        of_window = {line.split("sent=")[1]: line.split("wid=")[1].split()[0] for line in self.records("MPI_PUT_1TS")}
        self.assertEqual(len(set(of_window.values())), 2)
        flush = self.records("MPI_WIN_FLUSH")
        self.assertEqual([f"wid={of_window['16']} " in line for line in flush], [True], flush)
        # The one is complete at the end of the flush, the other at the end of its unlock.
        ends = {line.split("wid=")[1].split()[0]: line.split("time=")[1].split()[0] for line in self.records("MPI_PUT_1TE")}
        self.assertAlmostEqual(float(ends[of_window["16"]]), 1.400010, delta=1e-9)
        self.assertAlmostEqual(float(ends[of_window["8"]]), 1.500010, delta=1e-9)

    def test_local_flush_and_the_number_after_it(self):
        """After MPI_Win_flush_local the next put has the same number; a flush completes both at the target."""
        run = self.start(2, window=True)
        run.call(1, 1_000_000, 1_000_010, "MPI_Win_lock", run.lock(0))
        run.call(1, 1_100_000, 1_100_010, "MPI_Put", run.put(0, 8, 1))
        run.call(1, 1_200_000, 1_200_010, "MPI_Win_flush_local", run.done(1))
        run.call(1, 1_300_000, 1_300_010, "MPI_Put", run.put(0, 8, 1))
        run.call(1, 1_400_000, 1_400_010, "MPI_Win_flush", run.done_remotely(1))
        run.call(1, 1_500_000, 1_500_010, "MPI_Win_unlock", run.unlock(0))
        self.finish()
        self.assertEqual([line.split("local=")[1] for line in self.records("MPI_WIN_FLUSH")], ["1", "0"])
        ends = [float(line.split("time=")[1].split()[0]) for line in self.records("MPI_PUT_1TE")]
        self.assertEqual(len(ends), 2)
        for end in ends:
            self.assertAlmostEqual(end, 1.400010, delta=1e-9)

    def test_a_window_after_a_window(self):
        """A number that is free again stands for another window, of another kind."""
        run = self.start(2)
        for rank, late in ((0, 0), (1, 250_000)):
            run.call(rank, 1_000_000, 1_000_100, "MPI_Win_create", run.created())
            run.call(rank, 2_000_000, 2_500_000, "MPI_Win_free", run.freed())
            run.call(rank, 3_000_000 + late, 3_400_000, "MPI_Win_allocate", run.created())
            run.call(rank, 4_000_000 + late, 4_400_000, "MPI_Win_fence", run.fence())
        totals, _ = self.finish()
        self.assert_seconds(totals, {"mpi_rma_wait_window_create": 0.25, "mpi_rma_fence_wait": 0.25,
                                     "mpi_rma_wait_window_free": 0})
        self.assertEqual([line.split("flavour=")[1].split()[0] for line in self.records("WIN_IDENTITY")], ["1", "2"])

    def test_late_sender(self):
        run = self.start(2)
        run.call(0, 2_000_000, 2_000_010, "MPI_Send", lambda w, e, l: w.mpi_send(e, 1, run.world, 7, 400))
        run.call(1, 1_000_000, 2_000_100, "MPI_Recv", lambda w, e, l: w.mpi_recv(l, 0, run.world, 7, 400))
        # Two receives are posted; the second message is there, the first comes 0.6 s after MPI_Wait began.
        run.call(1, 3_000_000, 3_000_010, "MPI_Irecv", lambda w, e, l: w.mpi_irecv_request(e, 5))
        run.call(1, 3_000_020, 3_000_030, "MPI_Irecv", lambda w, e, l: w.mpi_irecv_request(e, 6))
        run.call(0, 3_000_000, 3_000_010, "MPI_Isend", lambda w, e, l: w.mpi_isend(e, 1, run.world, 9, 8, 5))
        run.call(0, 3_700_000, 3_700_010, "MPI_Isend", lambda w, e, l: w.mpi_isend(e, 1, run.world, 8, 8, 6))
        run.call(0, 3_800_000, 3_800_010, "MPI_Waitall", lambda w, e, l: w.mpi_isend_complete(l, 5),
                 lambda w, e, l: w.mpi_isend_complete(l, 6))
        run.call(1, 3_050_000, 3_050_010, "MPI_Wait", lambda w, e, l: w.mpi_irecv(l, 0, run.world, 9, 8, 6))
        run.call(1, 3_100_000, 3_700_100, "MPI_Wait", lambda w, e, l: w.mpi_irecv(l, 0, run.world, 8, 8, 5))
        totals, _ = self.finish()
        self.assert_seconds(totals, {"mpi_latesender": 1.0 + 0.6})
        posted = self.records("MPI_RECV_REQUEST")
        self.assertEqual(["tag=8" in line for line in posted], [True, False], posted)

    def test_non_blocking_collective(self):
        run = self.start(2)
        request = lambda n: lambda w, e, l: w.non_blocking_collective_request(e, n)  # noqa: E731
        complete = lambda n: lambda w, e, l: w.non_blocking_collective_complete(  # noqa: E731
            l, CollectiveOp.BARRIER, run.world, 0xFFFFFFFF, 0, 0, n)
        # Rank 1 begins 0.5 s later than rank 0, which waits from 1.1 s on: 0.4 s.
        run.call(0, 1_000_000, 1_000_010, "MPI_Ibarrier", request(1))
        run.call(0, 1_100_000, 1_500_100, "MPI_Wait", complete(1))
        run.call(1, 1_500_000, 1_500_010, "MPI_Ibarrier", request(1))
        run.call(1, 1_600_000, 1_600_010, "MPI_Wait", complete(1))
        totals, _ = self.finish()
        self.assert_seconds(totals, {"mpi_barrier_wait": 0.4})
        begun = self.records("MPI_COLL_BEGIN")
        self.assertEqual(len(begun), 2)
        self.assertTrue(all("op=1" in line for line in begun), begun)

    def test_request_based_and_atomic_operations(self):
        run = self.start(2, window=True)
        run.call(1, 1_000_000, 1_000_010, "MPI_Win_lock_all", run.lock(None, exclusive=False))
        run.call(1, 1_100_000, 1_100_010, "MPI_Rget", run.get(0, 80, 3))
        run.call(1, 1_200_000, 1_200_010, "MPI_Wait", run.done(3))
        run.call(1, 1_300_000, 1_300_010, "MPI_Accumulate", run.atomic(0, "accumulate", 16, 0, 1))
        run.call(1, 1_400_000, 1_400_010, "MPI_Fetch_and_op", run.atomic(0, "fetch_and_op", 4, 4, 1))
        run.call(1, 1_450_000, 1_450_010, "MPI_Compare_and_swap", run.atomic(0, "compare_and_swap", 8, 4, 1))
        run.call(1, 1_460_000, 1_460_010, "MPI_Get_accumulate", run.atomic(0, "accumulate", 32, 64, 1))
        run.call(1, 1_500_000, 1_500_010, "MPI_Win_unlock_all", run.unlock(None))
        self.finish()
        for name, count in (("MPI_RMA_COMPLETE", 1), ("MPI_GET_1TS", 4), ("MPI_PUT_1TS", 4), ("MPI_PUT_1TE", 4)):
            self.assertEqual(len(self.records(name)), count, name)
        # Bytes that go to the target, and that come from it.
        self.assertEqual([int(line.split("sent=")[1]) for line in self.records("MPI_PUT_1TS")], [16, 4, 8, 32])
        self.assertEqual(sorted(int(line.split("sent=")[1]) for line in self.records("MPI_GET_1TS")), [4, 4, 64, 80])

    def test_old_events_of_openmp(self):
        """Archives from before OTF2 1.2 have events of OpenMP where later ones have events of threads."""
        run = self.start(1)
        run.enter(0, 1_000_000, "main")
        writer = run.writers[0]
        writer.omp_fork(2_000_000, 2)
        writer.omp_acquire_lock(2_100_000, 1, 1)
        writer.omp_release_lock(2_200_000, 1, 1)
        writer.omp_task_create(2_300_000, 5)
        writer.omp_join(3_000_000)
        run.leave(0, 9_000_000, "main")
        self.finish(left_out=["1 x event OmpTaskCreate"])
        for name in ("OMP_FORK", "OMP_ALOCK", "OMP_RLOCK", "OMP_JOIN"):
            self.assertEqual(len(self.records(name)), 1, name)

    def test_functions_and_what_is_left_out(self):
        run = self.start(1)
        run.enter(0, 1_000_000, "main")
        run.enter(0, 2_000_000, "work")
        run.writers[0].parameter_int(2_100_000, run.defs.parameter("n", ParameterType.INT64), 5)
        run.leave(0, 3_000_000, "work")
        run.leave(0, 9_000_000, "main")
        _, report = self.finish(left_out=["1 x event ParameterInt"])
        self.assertEqual([path["region"] for path in report["call_paths"]], ["simple", "main", "work"])


class WrongInput(ArchiveTest):
    def test_no_archive(self):
        (self.dir / "traces.otf2").write_bytes(b"this is no archive")
        for name in ("traces.otf2", "absent.otf2"):
            done = self.run_tool("otf2elg", "-o", "a.elg", name, status=2)
            self.assertIn(f"{name}: this is no OTF2 archive", done.stderr)
            self.assertFalse((self.dir / "a.elg").exists())

    def test_a_location_that_is_cut_off(self):
        shutil.copytree(REFERENCE / "scorep/gats", self.dir / "gats")
        events = self.dir / "gats/traces/2.evt"
        events.write_bytes(events.read_bytes()[:400])
        done = self.run_tool("otf2elg", "-o", "a.elg", "gats", status=3)
        self.assertIn("the events of location 2 cannot be read", done.stderr)
        self.assertTrue((self.dir / "a.elg").exists())

    def test_local_definitions_that_are_gone(self):
        """An archive may have none (of another reader's making); it is damaged if one of them is empty or missing."""
        for name in ("empty", "missing"):
            shutil.copytree(REFERENCE / "scorep/gats", self.dir / name)
            definitions = self.dir / name / "traces/2.def"
            if name == "empty":
                definitions.write_bytes(b"")
            else:
                definitions.unlink()
            done = self.run_tool("otf2elg", "-o", "a.elg", name, status=2)
            self.assertIn("the local definitions of location 2 cannot be read", done.stderr)
            self.assertFalse((self.dir / "a.elg").exists())

    def test_fewer_events_than_declared(self):
        """The events of rank 1 come from a run that was shorter."""
        for name, count in (("whole", 3), ("short", 2)):
            run = ScorepRun(self.dir / name, 2)
            for rank in range(2):
                for i in range(count if rank == 1 else 3):
                    run.call(rank, i * SECOND + 10, i * SECOND + 20, "MPI_Barrier", run.collective("barrier"))
            run.close(9 * SECOND)
        self.run_tool("otf2elg", "-o", "a.elg", "whole")
        shutil.copy(self.dir / "short/traces/1.evt", self.dir / "whole/traces/1.evt")
        done = self.run_tool("otf2elg", "-o", "a.elg", "whole", status=3)
        # Program begin and end, and 4 events a call.
        self.assertIn("of the events of location 1, 14, only 10 are there", done.stderr)

    def test_output_that_cannot_be_written(self):
        done = self.run_tool("otf2elg", "-o", "absent/a.elg", REFERENCE / "scorep/gats", status=4)
        self.assertIn("absent", done.stderr)

    def test_ended_by_a_signal(self):
        """It writes to a pipe that is full, so it waits with its local traces in a folder; the signal takes them away."""

        def local_traces():
            return sum(len(list(path.iterdir())) for path in self.dir.iterdir() if path.name.startswith(".otf2elg-"))

        for ending in (signal.SIGTERM, signal.SIGINT):
            reader, writer = os.pipe()
            os.write(writer, bytes(fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)))
            with subprocess.Popen([BIN / "otf2elg", "-o", "-", REFERENCE / "scorep/gats"], stdout=writer,
                                  stderr=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=str(self.dir))) as tool:
                os.close(writer)
                until = time.monotonic() + 60
                while local_traces() < 4 and time.monotonic() < until:
                    time.sleep(0.01)
                self.assertEqual(local_traces(), 4)
                tool.send_signal(ending)
                self.assertEqual(tool.wait(60), -ending)
            os.close(reader)
            self.assertEqual(list(self.dir.iterdir()), [])

    def test_usage(self):
        self.run_tool("otf2elg", status=1)
        self.assertIn("otf2elg -o a.elg", self.run_tool("otf2elg", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
