"""expert --processes: several processes analyse one run; what one would have said, or why one does it."""
import os
import signal
import subprocess
import time
import unittest

from cli import BIN, CommandTest

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
            one, outputs = self.analyse("--causes=never", "--send-modes", "--html", "a.html")
            self.assertEqual((one.status, len(outputs)), (0, 4), one.err)
            for processes in (2, 3, 5):
                with self.subTest(kind=kind, processes=processes):
                    several, theirs = self.analyse("--causes=never", "--send-modes", "--html", "a.html", "--processes", processes)
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
        one, outputs = self.analyse("--causes=never")
        several, theirs = self.analyse("--causes=never", "--processes", 3)
        self.assertEqual((several.status, several.out, theirs), (one.status, one.out, outputs), several.err)
        self.assertNotIn(ALONE, several.err)

    def test_one_does_what_several_cannot(self):
        self.make("p2p", 2_000)
        for words, why in ((["--causes=never"], "no meeting is at rest"),
                           (["--causes=always"], "root causes cannot be added up yet"),
                           (["--causes=auto"], "root causes cannot be added up yet"),
                           (["--causes=never", "--clock", "clc"], "clocks are corrected by what was before what (--clock clc)"),
                           (["--causes=never", "--from", "0"], "--from and --to are for one process")):
            if why.startswith("root causes") and words == ["--causes=auto"]:
                self.make("fence", 2_000)
            with self.subTest(why):
                one, outputs = self.analyse(*words)
                several, theirs = self.analyse("--processes", 2, *words)
                self.assertIn(ALONE + why, several.err)
                self.assertEqual((several.status, several.out, theirs), (one.status, one.out, outputs))

    def test_a_merged_trace_beside_the_local_ones(self):
        self.make("fence", 20_000)
        ran = self.run_command("elg_merge", "--gzip", "-o", "run/a.elg.gz", "run")
        self.assertEqual(ran.status, 0, ran.err)
        one, outputs = self.analyse("--causes=never")
        several, theirs = self.analyse("--causes=never", "--processes", 2)
        self.assertEqual((several.status, several.out, several.err, theirs), (one.status, one.out, one.err, outputs))

    def test_few_files_may_be_open(self):
        self.make("fence", 20_000, "--ranks", 48)
        one, outputs = self.analyse("--causes=never")
        ran = self.run_command("sh", "-c", f"ulimit -n 64; {BIN / 'expert'} --full --causes=never --processes 30 -o b.cube run",
                               env={"NO_COLOR": "1"})
        self.assertEqual(ran.status, 0, ran.err)
        self.assertNotIn(ALONE, ran.err)
        self.assertEqual((self.dir / "b.cube").read_bytes(), outputs[0], one.err)

    def test_one_reads_a_merged_trace(self):
        self.make("fence", 2_000)
        ran = self.run_command("elg_merge", "-o", "a.elg", "run")
        self.assertEqual(ran.status, 0, ran.err)
        several, outputs = self.analyse("--causes=never", "--processes", 2, of="a.elg")
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
        one, outputs = self.analyse("--causes=never")
        several, theirs = self.analyse("--causes=never", "--processes", 2)
        self.assertEqual((several.status, several.out, theirs), (one.status, one.out, outputs))
        for line in one.err.splitlines():
            self.assertEqual(several.err.count(line), 1, several.err)

    def test_fewer_parts_than_processes_are_told(self):
        self.make("fence", 200)
        ran, _ = self.analyse("--causes=never", "--processes", 1000)
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


if __name__ == "__main__":
    unittest.main()
