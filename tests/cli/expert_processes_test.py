"""expert --processes: several processes analyse one run; what one would have said, or why one does it."""
import os
import pathlib
import signal
import subprocess
import time
import unittest

from cli import BIN, CommandTest, wait_until

MAKE = BIN.parent / "tests" / "make_traces"
OUTPUTS = ("a.cube", "a.csv", "a.json", "a.html")
ALONE = "expert: one process analyses all: "


class ProcessesTest(CommandTest):
    def make(self, kind, events, *words):
        ran = self.run_command(MAKE, kind, "run", "--ranks", 4, "--events", events, *words)
        self.assertEqual(ran.status, 0, ran.err)

    def analyse(self, *words, of="run"):
        for name in OUTPUTS:
            (self.dir / name).unlink(missing_ok=True)
        ran = self.run_command("expert", "--full", "-o", "a.cube", "--csv", "a.csv", "--json", "a.json", *words, of,
                               env={"NO_COLOR": "1"})
        return ran, [(self.dir / name).read_bytes() for name in OUTPUTS if (self.dir / name).exists()]

    def test_several_say_what_one_says(self):
        for kind in ("barrier", "fence", "gats", "contend", "hold", "all"):
            self.make(kind, 20_000)
            one, outputs = self.analyse("--send-modes", "--html", "a.html")
            self.assertEqual((one.status, len(outputs)), (0, 4), one.err)
            for processes in (2, 3, 5):
                with self.subTest(kind=kind, processes=processes):
                    several, theirs = self.analyse("--send-modes", "--html", "a.html", "--processes", processes)
                    self.assertEqual(several.status, 0, several.err)
                    self.assertEqual(several.out, one.out)
                    self.assertEqual(theirs, outputs)
                    self.assertNotIn(ALONE, several.err)

    def test_they_draw_the_same_page_where_things_are_left_out(self):
        for kind, what in (("barrier", "Calls that follow"), ("fence", "transfers"), ("all", "Waits that follow")):
            self.make(kind, 800_000)
            one, outputs = self.analyse("--causes=never", "--html", "a.html")
            self.assertRegex(one.err, f"timeline: .*{what}")
            for words in (["--processes", 2], ["--cut-at", "/7"]):
                with self.subTest(kind=kind, words=words):
                    several, theirs = self.analyse("--causes=never", "--html", "a.html", *words)
                    self.assertEqual((several.status, several.err), (0, one.err))
                    self.assertTrue(theirs == outputs)

    def test_of_traces_of_either_version(self):
        self.make("fence", 20_000, "--version", 2)
        one, outputs = self.analyse()
        several, theirs = self.analyse("--processes", 3)
        self.assertEqual((several.status, several.out, theirs), (one.status, one.out, outputs), several.err)
        self.assertNotIn(ALONE, several.err)

    def test_one_does_what_several_cannot(self):
        self.make("p2p", 2_000)
        for words, why in (([], "no meeting is at rest"),
                           (["--clock", "clc"], "clocks are corrected by what was before what (--clock clc)"),
                           (["--from", "0"], "--from and --to are for one process")):
            with self.subTest(why):
                one, outputs = self.analyse(*words)
                several, theirs = self.analyse("--processes", 2, *words)
                self.assertIn(ALONE + why, several.err)
                self.assertEqual((several.status, several.out, theirs), (one.status, one.out, outputs))

    def test_a_merged_trace_beside_the_local_ones(self):
        self.make("fence", 20_000)
        ran = self.run_command("elg_merge", "--gzip", "-o", "run/a.elg.gz", "run")
        self.assertEqual(ran.status, 0, ran.err)
        one, outputs = self.analyse()
        several, theirs = self.analyse("--processes", 2)
        self.assertEqual((several.status, several.out, several.err, theirs), (one.status, one.out, one.err, outputs))

    def test_few_files_may_be_open(self):
        self.make("fence", 400_000, "--ranks", 48)
        one, outputs = self.analyse()
        ran = self.run_command("sh", "-c", f"ulimit -n 48; {BIN / 'expert'} --full --processes 30 -o b.cube run",
                               env={"NO_COLOR": "1"})
        self.assertEqual((ran.status, ran.err), (0, ""))  # (so many parts there are)
        self.assertEqual((self.dir / "b.cube").read_bytes(), outputs[0], one.err)

    def test_one_reads_a_merged_trace(self):
        self.make("fence", 2_000)
        ran = self.run_command("elg_merge", "-o", "a.elg", "run")
        self.assertEqual(ran.status, 0, ran.err)
        several, outputs = self.analyse("--processes", 2, of="a.elg")
        self.assertEqual((several.status, len(outputs)), (0, 3), several.err)
        self.assertIn(ALONE + "the trace is merged already (several processes need its run's folder)", several.err)

    def test_nobody_keeps_a_trace_that_is_merged_in_parts(self):
        self.make("fence", 2_000)
        ran, outputs = self.analyse("--processes", 2, "--keep")
        self.assertEqual((ran.status, outputs), (1, []))
        self.assertIn("--keep keeps what one process merges: not with --processes", ran.err)

    def test_a_file_that_cannot_be_read_is_said_once(self):
        self.make("fence", 2_000)
        file = sorted((self.dir / "run").glob("*.elg"))[1]
        file.write_bytes(file.read_bytes()[:1000])
        one, outputs = self.analyse()
        several, theirs = self.analyse("--processes", 2)
        self.assertEqual((several.status, several.out, theirs), (one.status, one.out, outputs))
        for line in one.err.splitlines():
            self.assertEqual(several.err.count(line), 1, several.err)

    def test_fewer_parts_than_processes_are_told(self):
        self.make("fence", 200)
        ran, _ = self.analyse("--processes", 1000)
        self.assertEqual(ran.status, 0, ran.err)
        self.assertRegex(ran.err, r"(\d+) parts, the longest has \d+ % of the trace: \1 of 1000 processes analyse")

    def test_wrong_numbers(self):
        self.make("fence", 200)
        for number in ("0", "1025"):
            ran, outputs = self.analyse("--processes", number)
            self.assertEqual((ran.status, outputs), (1, []))
            self.assertIn("--processes is a number from 1 to 1024", ran.err)

    def test_who_dies_is_told_and_nothing_is_written(self):
        self.make("fence", 1_000_000)
        for _ in range(20):
            with subprocess.Popen([BIN / "expert", "--causes=never", "--processes", "3", "-o", "a.cube", "run"], cwd=self.dir,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as expert:
                children = []
                while expert.poll() is None and not children:
                    try:
                        with open(f"/proc/{expert.pid}/task/{expert.pid}/children", encoding="ascii") as told:
                            children = told.read().split()
                    except OSError:
                        break
                    time.sleep(0.001)
                if children:
                    os.kill(int(children[0]), signal.SIGKILL)
                out, err = expert.communicate()
            if expert.returncode != 0:
                break
            (self.dir / "a.cube").unlink()  # it was done before
        self.assertEqual(expert.returncode, 4, err)
        self.assertEqual(out, "")
        self.assertRegex(err, r"part 1 of 3 could not be analysed: it was ended by signal 9 \(killed, often for want of memory\)")
        self.assertFalse((self.dir / "a.cube").exists())

    # Who is to keep an answer where there is a pipe waits for whoever reads that: there it is killed.
    def killed(self, at, when, who, command):
        """It, or its first child, when these are kept; what it said."""
        os.mkfifo(self.dir / "kept" / f"{at}.kept")
        with subprocess.Popen([BIN / command[0], *command[1:]], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as expert:
            def children():
                return pathlib.Path(f"/proc/{expert.pid}/task/{expert.pid}/children").read_text(encoding="ascii").split()
            wait_until(lambda: all((self.dir / "kept" / f"{name}.kept").is_file() for name in when), expert)
            if who == "child":
                os.kill(int(children()[0]), signal.SIGKILL)
            else:
                expert.kill()
            err = expert.communicate()[1]
        (self.dir / "kept" / f"{at}.kept").unlink()
        self.assertFalse((self.dir / "a.cube").exists())
        return expert.returncode, err

    @unittest.skipUnless(os.path.exists("/proc/self/task"), "nobody tells which children there are")
    def test_what_was_killed_goes_on(self):
        both = ["part-1", "sums-1"]
        # Whether the waits of a part count is decided when all are known, or not.
        for kind, late, causes in (("fence", False, "never"), ("all", True, "never"), ("all", True, "always")):
            command = ("expert", "--full", f"--causes={causes}", "--processes", "3", "-o", "a.cube", "--restart", "kept", "run")
            self.make(kind, 20_000)
            one, outputs = self.analyse(f"--causes={causes}")
            (self.dir / "a.cube").unlink()
            steps = [("survey-0", [], "first", 0), ("part-0", ["part-1"], "first", 0 if late else 1),
                     ("part-0", ["part-1"], "child", 0 if late else 1),
                     ("sums-0", ["part-0", *both] if late else both, "child", 1)]
            for at, when, who, there in steps:
                with self.subTest(kind=kind, causes=causes, at=at, who=who):
                    (self.dir / "kept").mkdir(exist_ok=True)
                    if there == 1 and not late:
                        when = both
                    status, err = self.killed(at, when, who, command)
                    if who == "child":
                        self.assertEqual(status, 4, err)
                        self.assertEqual(err.count("part 1 of 3 could not be analysed: it was ended by signal 9"), 1, err)
                    ran = self.run_command(*command, env={"NO_COLOR": "1"})
                    self.assertEqual((ran.status, ran.out), (one.status, one.out), ran.err)
                    self.assertEqual((self.dir / "a.cube").read_bytes(), outputs[0])
                    self.assertEqual("1 of 3 parts were there" in ran.err, there == 1, ran.err)
                    self.assertNotIn(ALONE, ran.err)
                    self.assertEqual(list((self.dir / "kept").iterdir()), [])
                    (self.dir / "a.cube").unlink()

    def test_what_is_kept_is_of_one_command(self):
        self.make("fence", 20_000)
        made = self.dir / "deep" / "kept"
        several, outputs = self.analyse("--causes=never", "--processes", 2, "--restart", made)
        self.assertEqual((several.status, len(outputs), list(made.iterdir())), (0, 3, []), several.err)
        # It is not done where there is no place for the report.
        (self.dir / "no").mkdir()
        again = ["--causes=never", "--restart", "kept"]
        ran = self.run_command("expert", *again, "--processes", 2, "-o", "no", "run")
        self.assertEqual(ran.status, 4)
        kept = sorted(file.name for file in (self.dir / "kept").iterdir())
        self.assertEqual(kept, ["part-0.kept", "sums-0.kept", "survey-0.kept"])
        (self.dir / "kept" / "mine").touch()
        refused = "kept: parts of another analysis are kept here"
        trace = next((self.dir / "run").glob("*.elg"))
        for words in (["--processes", 3], ["--processes", 2, "--instances", 5], ["--processes", 2, "--send-modes"]):
            with self.subTest(words):
                ran = self.run_command("expert", *again, *words, "-o", "b.cube", "run")
                self.assertEqual(ran.status, 1, ran.err)
                self.assertIn(refused, ran.err)
                self.assertFalse((self.dir / "b.cube").exists())
        times = trace.stat()
        os.utime(trace, ns=(times.st_atime_ns, times.st_mtime_ns + 1_000_000_000))
        ran = self.run_command("expert", *again, "--processes", 2, "-o", "b.cube", "run")
        self.assertEqual(ran.status, 1, ran.err)
        os.utime(trace, ns=(times.st_atime_ns, times.st_mtime_ns))
        ran = self.run_command("expert", *again, "--processes", 2, "-o", "b.cube", "run")
        self.assertEqual(ran.status, 0, ran.err)
        self.assertIn("1 of 2 parts were there", ran.err)
        self.assertEqual((self.dir / "b.cube").read_bytes(), outputs[0])
        self.assertEqual([file.name for file in (self.dir / "kept").iterdir()], ["mine"])

    def test_wrong_use_of_restart(self):
        self.make("fence", 2_000)
        for words in ((), ("--alone",), ("--processes", 1)):
            ran, outputs = self.analyse("--restart", "kept", *words)
            self.assertEqual((ran.status, outputs), (1, []))
            self.assertIn("--restart is for several processes: with --processes N, or under mpirun", ran.err)
        (self.dir / "file").touch()
        for folder in ("file", "file/kept"):
            ran, outputs = self.analyse("--causes=never", "--processes", 2, "--restart", folder)
            self.assertEqual((ran.status, outputs), (4, []), ran.err)
            self.assertIn(f"{folder}: nothing can be kept here: Not a directory (name a folder", ran.err)


if __name__ == "__main__":
    unittest.main()
