#!/usr/bin/env python3
"""kojak run of programs with GASP's front, and what becomes of runs that end otherwise.

Usage: check_runs.py BUILD SCRIPTS
"""
import csv
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

BUILD, SCRIPTS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
PLAY = str(BUILD / "bin/gasp_play")


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def script(self, text):
        path = pathlib.Path(self.folder.name) / "script.txt"
        path.write_text(text)
        return str(path)

    def play(self, *words, preload="libelg_base.so", **more):
        env = dict(os.environ, ELG_DIR=f"{self.folder.name}/t", **more)
        if preload:
            env["LD_PRELOAD"] = str(BUILD / "lib" / preload)
        return subprocess.run([PLAY, *words], env=env, capture_output=True, text=True, check=False, timeout=120)

    def merged(self):
        ran = subprocess.run([BUILD / "bin/elg_merge", "-o", f"{self.folder.name}/a.elg", f"{self.folder.name}/t"],
                             capture_output=True, text=True, check=False)
        self.assertIn(ran.returncode, (0, 3), ran.stderr)
        return subprocess.run([BUILD / "bin/elg_print", "-n", f"{self.folder.name}/a.elg"], capture_output=True, text=True,
                              check=True).stdout

    def test_kojak_run_preloads_the_runtime_alone(self):
        script = self.script("threads 2\n0.010 0.020 0 UPC_GET 5 1 1:64 8\nleave 0.030\n")
        ran = subprocess.run([BUILD / "bin/kojak", "run", "-v", "--no-analysis", "-o", f"{self.folder.name}/t", "--", PLAY, script],
                             capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stdout, "")
        self.assertRegex(ran.stderr, r"LD_PRELOAD=\S*/libelg_base\.so\b")
        self.assertIn("no MPI, UPC (libelg_gasp ", ran.stderr)
        self.assertIn("GET_1TE", self.merged())

    def test_without_a_measurement_library_nothing_happens(self):
        ran = self.play("--exact", str(SCRIPTS / "every_event.txt"), preload="")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))

    def test_threads_of_one_process_are_processes_of_the_run(self):
        """Each thread has the file of a process, and its own calls; they share the node."""
        ran = self.play("--threads", self.script("threads 3\n0.010 0.020 0 UPC_BARRIER 5 0 0\n0.012 0.020 1 UPC_BARRIER 5 0 0\n"
                                                 "0.014 0.020 2 UPC_BARRIER 5 0 0\n0.021 0.022 2 UPC_PUT 6 1 0:64 8\nleave 0.030\n"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(sorted(p.name for p in pathlib.Path(self.folder.name, "t").iterdir()),
                         ["0.0.elg", "1.0.elg", "2.0.elg"])
        text = self.merged()
        self.assertEqual(sorted(re.findall(r"^COLLEXIT lid=(\d) .*upc_barrier", text, re.M)), ["0", "1", "2"])
        self.assertEqual(re.findall(r"^PUT_1TS lid=(\d) ", text, re.M), ["2"])
        self.assertEqual([len(re.findall(rf"^{name} ", text, re.M)) for name in ("NODE", "PROCESS", "LOCATION")], [1, 3, 3])

    def test_a_pause_is_one_threads(self):
        """Of threads of one process, too; and recording may begin with it."""
        script = self.script("threads 2\n0.050 0.060 0 UPC_PUT 5 1 1:64 8\n0.100 = 0 CONTROL 0 0\n0.200 0.300 0 UPC_FENCE 6\n"
                             "0.200 0.300 1 UPC_FENCE 6\n0.400 = 0 CONTROL 0 1\n0.500 0.600 0 UPC_PUT 7 1 1:64 8\n"
                             "0.650 0.900 1 C_FUNC 1 f\n0.700 = 1 CONTROL 0 0\n0.800 = 1 CONTROL 0 1\nleave 1\n")
        for how in ((), ("--threads",)):
            for record in ("1", "0"):
                with self.subTest(how=how, record=record):
                    self.setUp()
                    ran = self.play(*how, script, ELG_RECORD=record)
                    self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                    text = self.merged()
                    off, on = ([re.findall(rf"^{name} lid=(\d)", text, re.M) for name in ("LOG_OFF", "LOG_ON")])
                    # Recorded from the start on, thread 0 and then thread 1 pause once; else 0 begins at its second
                    # control and 1 at its own.
                    self.assertEqual((sorted(off), sorted(on)), (["0", "1"], ["0", "1"]))
                    self.assertEqual(re.findall(r"^EXIT lid=(\d) .*upc_fence", text, re.M), ["1"] if record == "1" else [])
                    self.assertEqual(len(re.findall(r"^EXIT lid=0 .*upc_put", text, re.M)), 2 if record == "1" else 1)
                    self.assertEqual(len(re.findall(r"^ENTER lid=1 .*\bf\b", text, re.M)), 1)

    def test_berkeleys_threads_meet_in_their_first_barrier(self):
        """There is no shared memory in gasp_init; what is told before all have met is not recorded."""
        script = self.script("threads 2\nids bupc\n0.010 0.020 0 UPC_PUT 5 1 1:64 8\n0.100 0.101 0 UPC_NOTIFY 6 0 0\n"
                             "0.101 0.305 0 UPC_WAIT 6 0 0\n0.300 0.301 1 UPC_NOTIFY 6 0 0\n0.301 0.305 1 UPC_WAIT 6 0 0\n"
                             "0.400 0.500 1 UPC_GET 7 1 0:64 8\nleave 0.6\n")
        for how in ((), ("--threads",)):
            with self.subTest(how=how):
                self.setUp()
                ran = self.play(*how, script)
                self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                text = self.merged()
                self.assertNotIn("upc_put", text)
                self.assertEqual(len(re.findall(r"^COLLEXIT lid=\d .*upc_barrier", text, re.M)), 2)
                self.assertEqual(len(re.findall(r"^EXIT lid=1 .*upc_get", text, re.M)), 1)

    def test_berkeleys_threads_that_never_meet(self):
        for how in ((), ("--threads",)):
            ran = self.play(*how, self.script("threads 3\nids bupc\n0.010 0.020 0 UPC_PUT 5 1 1:64 8\nleave 0.1\n"))
            self.assertEqual((ran.returncode, ran.stdout), (0, ""))
            self.assertEqual(ran.stderr.count("no barrier and no collective operation of UPC was told"), 1, ran.stderr)
            self.assertFalse(pathlib.Path(self.folder.name, "t").exists())

    def test_berkeleys_threads_of_one_process_that_one_of_them_ends(self):
        """Thread 0 ends the process while the others stand in COLLECTIVE_EXIT: all leave there together."""
        ran = self.play("--threads", self.script(
            "threads 3\nids bupc\n0.010 0.011 0 UPC_NOTIFY 5 0 0\n0.010 0.011 1 UPC_NOTIFY 5 0 0\n0.010 0.011 2 UPC_NOTIFY 5 0 0\n"
            "0.011 0.012 0 UPC_WAIT 5 0 0\n0.011 0.012 1 UPC_WAIT 5 0 0\n0.011 0.012 2 UPC_WAIT 5 0 0\n"
            "0.100 - 0 UPC_COLLECTIVE_EXIT 9 0\n0.100 - 1 UPC_COLLECTIVE_EXIT 9 0\n0.400 - 2 UPC_COLLECTIVE_EXIT 9 0\nleave 0.5\n"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        text = self.merged()
        self.assertEqual(sorted(re.findall(r"^COLLEXIT lid=(\d) .*upc_exit", text, re.M)), ["0", "1", "2"])
        found, _ = self.severities()
        # 0.4 - 0.1 for each of the two who wait.
        for thread in (0, 1):
            self.assertAlmostEqual(found["upc_exit_wait", "upc_exit", thread], 0.3, delta=0.02)
        self.assertNotIn(("upc_exit_wait", "upc_exit", 2), found)

    def test_berkeleys_pause_before_all_have_met(self):
        ran = self.play(self.script(
            "threads 1\nids bupc\n0.010 = 0 CONTROL 0 0\n0.100 0.101 0 UPC_NOTIFY 6 0 0\n0.110 0.120 0 UPC_WAIT 8 0 0\n"
            "0.200 = 0 CONTROL 0 1\n0.300 0.400 0 UPC_MEMPUT 7 0:64 8\nleave 0.5\n"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        text = self.merged()
        self.assertNotIn("upc_notify", text)
        self.assertEqual(len(re.findall(r"^EXIT lid=0 .*upc_memput", text, re.M)), 1)

    def test_a_killed_thread_keeps_what_it_recorded(self):
        for how in ((), ("--threads",)):
            with self.subTest(how=how):
                self.setUp()
                ran = self.play(*how, self.script("threads 3\n0.010 0.020 2 UPC_PUT 5 1 1:64 8\n"
                                                  "0.100 0.500 0 UPC_BARRIER 6 0 0\n0.200 = 2 KILL\nleave 0.6\n"))
                self.assertEqual(ran.returncode, -signal.SIGKILL if how else 1)
                text = self.merged()
                self.assertRegex(text, r"PUT_1TS lid=2 .*upc_put")
                self.assertRegex(text, r"MPI_OPEN_CALL lid=0 .*upc_barrier")  # what thread 0 was in

    def test_one_thread_ends_the_program(self):
        script = self.script("threads 2\n0.100 = 0 UPC_NONCOLLECTIVE_EXIT 9 3\n0.050 1.500 1 UPC_BARRIER 8 0 0\nleave 2\n")
        for how in ((), ("--threads",)):
            with self.subTest(how=how):
                self.setUp()
                ran = self.play(*how, script)
                self.assertEqual(ran.returncode, 3 if how else 1)
                text = self.merged()
                self.assertRegex(text, r"EXIT lid=0 .*upc_global_exit")
                self.assertRegex(text, r"ENTER_CS lid=1 .*upc_barrier")
                self.assertRegex(text, r"MPI_OPEN_CALL lid=1 .*upc_barrier")

    def test_a_pause_is_one(self):
        ran = self.play(self.script(
            "threads 1\n0.100 0.200 0 UPC_PUT 5 1 0:64 8\n0.300 = 0 CONTROL 0 0\n0.400 0.500 0 UPC_FENCE 6\n"
            "0.600 = 0 CONTROL 0 1\n0.700 0.800 0 UPC_PUT 7 1 0:64 8\nleave 1\n"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        text = self.merged()
        self.assertEqual([len(re.findall(rf"^{name} lid=0", text, re.M)) for name in ("LOG_OFF", "LOG_ON")], [1, 1])
        self.assertNotIn("upc_fence", text)
        self.assertEqual(len(re.findall(r"^EXIT lid=0 .*upc_put", text, re.M)), 2)

    def severities(self, trace="a.elg"):
        """(metric, call, thread) -> value of what is not 0, but for times of calls and counts of bytes."""
        ran = subprocess.run([BUILD / "bin/expert", "--full", "--csv", f"{self.folder.name}/a.csv", "-o", f"{self.folder.name}/a.cube",
                              f"{self.folder.name}/{trace}"], capture_output=True, text=True, check=False)
        self.assertIn(ran.returncode, (0, 3), ran.stderr)
        found = {}
        with open(f"{self.folder.name}/a.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                pattern = re.match("upc_.*(wait|late|early|contention|fine_grained|hot_)", row["metric"])
                if pattern and float(row["value"]) != 0:
                    call = re.sub("[^a-z_].*", "", row["call_path"].split("/")[-1])
                    key = row["metric"], call, int(row["process"])
                    found[key] = found.get(key, 0) + float(row["value"])
        return found, ran.stdout

    def test_the_waits_are_those_of_the_scripts(self):
        for name, how in ((n, h) for n in ("upc_events.txt", "pi.txt") for h in ((), ("--threads",))):
            with self.subTest(script=name, how=how):
                self.setUp()
                text = (SCRIPTS / name).read_text()
                ran = self.play("--exact", *how, str(SCRIPTS / name))
                self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                self.merged()
                found, said = self.severities()
                self.assertNotIn("pauses of the recording", said)
                right = {(metric, call, int(thread)): float(value) for metric, call, thread, value in
                         re.findall(r"^(upc_\S+) (\S+) (\d+) -> (\S+)", text, re.M)}
                self.assertGreater(len(right), 2)
                for key in set(right) | set(found):
                    self.assertAlmostEqual(found.get(key, 0), right.get(key, 0), delta=2e-3, msg=f"{key} {found}")

    def test_processes_and_threads_of_one_process_have_the_same_report(self):
        """Each metric of UPC's, and the visits, of each script in each numbering that has its events."""
        compared = 0
        for name, ids in ((n, i) for n in ("upc_events.txt", "pi.txt", "every_event.txt") for i in ("gupc", "bupc", "own")):
            with self.subTest(script=name, ids=ids):
                reports = []
                for how in ((), ("--threads",)):
                    self.setUp()
                    ran = self.play("--exact", "--ids", ids, *how, str(SCRIPTS / name))
                    if "does not tell" in ran.stderr:
                        break
                    self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                    self.merged()
                    self.severities()
                    with open(f"{self.folder.name}/a.csv", encoding="utf-8") as file:
                        reports.append([(r["metric"], r["call_path"], r["process"], r["value"]) for r in csv.DictReader(file)
                                        if r["metric"].startswith("upc") or r["metric"] == "visits"])
                if len(reports) == 2:
                    compared += 1
                    one, other = reports
                    self.assertEqual([row[:3] for row in one], [row[:3] for row in other])
                    # Each time is rounded to a tick of the clock: 0.4 ns on some machines.
                    for row, its in zip(one, other):
                        self.assertAlmostEqual(float(row[3]), float(its[3]), delta=1e-7, msg=row)
                    self.assertGreater(len(one), 20)
        self.assertGreater(compared, 4)

    def test_locks_are_called_by_the_line_that_made_them(self):
        """And nothing is said of the set of all threads, on which all barriers are."""
        ran = self.play("--exact", self.script(
            "threads 2\n0.010 0.020 0 UPC_ALL_LOCK_ALLOC 3 1:5000\n0.010 0.020 1 UPC_ALL_LOCK_ALLOC 3 1:5000\n"
            "0.021 0.022 0 UPC_GLOBAL_LOCK_ALLOC 4 0:6000\n0.030 0.031 0 UPC_LOCK 5 1:5000\n0.500 0.501 0 UPC_UNLOCK 6 1:5000\n"
            "0.100 0.502 1 UPC_LOCK 7 1:5000\n0.510 0.511 1 UPC_UNLOCK 8 1:5000\n0.520 0.920 0 UPC_BARRIER 9 0 0\n"
            "0.900 0.920 1 UPC_BARRIER 9 0 0\nleave 1\n"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        text = self.merged()
        strings = dict(re.findall(r'^STRING strid=(\d+) cntc=0 str="(.*)"', text, re.M))
        names = [strings[n] for n in re.findall(r"^SHMEM_LOCK_NAME lkid=\d+ lknid=(\d+)", text, re.M)]
        self.assertEqual(sorted(names), ["made at pi.upc:3", "made at pi.upc:4"])
        found, said = self.severities()
        self.assertAlmostEqual(found["upc_lock_contention", "upc_lock", 1], 0.401, delta=1e-6)  # 0.501 - 0.100
        self.assertAlmostEqual(found["upc_barrier_wait", "upc_barrier", 0], 0.380, delta=1e-6)  # 0.900 - 0.520
        said = " ".join(said.split())
        self.assertIn("on the lock made at pi.upc:3", said)
        self.assertNotIn("communicator", said)

    def test_a_cut_between_notify_and_wait_keeps_the_wait(self):
        """Thread 0 waits in upc_wait [0.3, 0.6] for thread 2, which notifies at 0.5; threads 0 and 1 have before, at 0.1 and 0.2."""
        ran = self.play("--exact", self.script(
            "threads 3\n0.100 0.101 0 UPC_NOTIFY 5 0 0\n0.200 0.201 1 UPC_NOTIFY 5 0 0\n0.300 0.600 0 UPC_WAIT 6 0 0\n"
            "0.500 0.501 2 UPC_NOTIFY 5 0 0\n0.502 0.600 1 UPC_WAIT 6 0 0\n0.590 0.600 2 UPC_WAIT 6 0 0\n"
            "0.700 0.710 0 UPC_BARRIER 7 0 0\n0.700 0.710 1 UPC_BARRIER 7 0 0\n0.705 0.710 2 UPC_BARRIER 7 0 0\nleave 0.8\n"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.merged()
        waits = {}

        def cut(begin, end, of="a.elg"):
            subprocess.run([BUILD / "bin/elg_filter", "-q", "--from", str(100 + begin), "--to", str(100 + end), "-o",
                            f"{self.folder.name}/part.elg", f"{self.folder.name}/{of}"], check=True)
            subprocess.run([BUILD / "bin/elg_print", "--verify", f"{self.folder.name}/part.elg"], check=True, stdout=subprocess.DEVNULL)
            waits.clear()
            found, said = self.severities("part.elg")
            self.assertNotIn("suspect", said)
            # The barrier behind is counted as in the whole: 0.705 - 0.700.
            if end >= 0.71:
                self.assertAlmostEqual(found["upc_barrier_wait", "upc_barrier", 0], 0.005, delta=1e-6)
            waits.update({thread: v for (metric, _, thread), v in found.items() if metric == "upc_splitphase_wait"})

        for begin, wait in ((0.05, 0.5 - 0.3), (0.25, 0.5 - 0.3), (0.4, 0.5 - 0.4)):
            cut(begin, 0.8)
            self.assertEqual(list(waits), [0], begin)
            self.assertAlmostEqual(waits[0], wait, delta=1e-6)
        subprocess.run([BUILD / "bin/elg_filter", "-q", "--from", "100.25", "-o", f"{self.folder.name}/b.elg",
                        f"{self.folder.name}/a.elg"], check=True)
        cut(0.4, 0.8, "b.elg")  # a cut of a cut
        self.assertAlmostEqual(waits[0], 0.5 - 0.4, delta=1e-6)
        for begin in (0.55, 0.65):  # all have notified
            cut(begin, 0.8)
            self.assertEqual(waits, {})

    def test_a_hung_split_barrier_names_who_has_not_notified(self):
        ran = self.play(self.script("threads 3\n0.010 0.011 0 UPC_NOTIFY 5 0 0\n0.010 0.011 1 UPC_NOTIFY 5 0 0\n"
                                    "0.020 - 0 UPC_WAIT 6 0 0\n0.300 = 1 UPC_NONCOLLECTIVE_EXIT 9 3\nleave 2\n"))
        self.assertEqual(ran.returncode, 1)
        self.merged()
        _, said = self.severities()
        self.assertIn("upc_notify of thread 2", " ".join(said.split()))

    def test_numbers_and_what_did_not_fit_are_told(self):
        ran = self.play("--exact", str(SCRIPTS / "every_event.txt"))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        text = self.merged()
        strings = dict(re.findall(r'^STRING strid=(\d+) cntc=0 str="(.*)"', text, re.M))
        said = {strings[k]: strings[v] for k, v in re.findall(r"^RUN_PROPERTY key=(\d+) value=(\d+)", text, re.M)}
        self.assertEqual(said["upc.compiler"], "a UPC compiler")
        self.assertEqual(said["upc.version"], "7")
        self.assertEqual(said["upc.event.C_FUNC"], "500")
        self.assertEqual(said["upc.unknown"], "2")
        self.assertEqual(said["upc.unbalanced"], "1")

    def test_sixty_four_events_are_open_at_most(self):
        functions = "".join(f"{0.001 * i:.3f} {1 - 0.001 * i:.3f} 0 C_FUNC {i + 1} f{i}\n" for i in range(1, 70))
        ran = self.play("--exact", self.script(f"threads 1\n{functions}leave 1.1\n"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        text = self.merged()
        self.assertEqual(len(re.findall(r"^ENTER lid=0", text, re.M)), 1 + 64)

    def test_clocks_of_nodes_are_compared(self):
        """A process whose clock a test bends counts as a node of its own."""
        ran = self.play(self.script("threads 3\n0.100 0.200 0 UPC_BARRIER 5 0 0\n0.100 0.200 1 UPC_BARRIER 5 0 0\n"
                                    "0.100 0.200 2 UPC_BARRIER 5 0 0\nleave 0.3\n"), ELG_TEST_CLOCK="1:5:0")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        enters = [float(t) for t in re.findall(r"^ENTER_CS lid=\d time=(\S+)", self.merged(), re.M)]
        self.assertEqual(len(enters), 3)
        self.assertLess(max(enters) - min(enters), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
