"""expert on a run's directory: as elg_merge and expert after each other say it, without a file in between."""
import os
import re
import unittest

from cli import CommandTest
from elg_merge_test import local_trace

LEFT = r"\n(Report|Page|Trace): .*"


class RunDirectory(CommandTest):
    compared = False  # there is no merged trace
    not_compared_because = "a run's directory"

    def setUp(self):
        super().setUp()
        self.run = self.dir / "run"
        self.make(self.run)

    @staticmethod
    def make(place, ranks=(0, 1, 2), size=3, pairs=30_000, cut=0):
        """30,000 calls of each rank: 180,000 events, 4 MB merged, more than waits between the threads."""
        place.mkdir()
        for rank in ranks:
            trace = local_trace(rank, size, pairs)
            (place / f"{rank}.0.elg").write_bytes(trace[:len(trace) - (cut if rank == 1 else 0)])

    def both(self, place, *options, merge=()):
        """Status, report, messages and summary of both ways; the names differ and are left out."""
        merged = self.run_command("elg_merge", *merge, "-o", "two.elg", place)
        after = self.run_command("expert", *options, "-o", "two.cube", "two.elg")
        one = self.run_command("expert", *options, *merge, "-o", "one.cube", place)
        self.assertEqual((self.dir / "one.cube").read_bytes(), (self.dir / "two.cube").read_bytes())
        self.assertEqual(one.err, merged.err.replace("elg_merge:", "expert:") + after.err)
        self.assertEqual(one.status, max(merged.status, after.status))
        words = [re.sub(LEFT, "", ran.out.replace(str(place), "TRACE").replace(f"{place.name}: ", "TRACE: ").replace("two.elg", "TRACE"))
                 for ran in (one, after)]
        self.assertEqual(words[0], words[1])
        return one

    def test_same_report_messages_and_summary(self):
        for options in ((), ("--causes",), ("--send-modes", "--instances", "3")):
            with self.subTest(options):
                self.assertEqual(self.both(self.run, *options).status, 0)
        for merge in (("--clock", "clc"), ("--clock", "none"), ("--model", "basic")):
            with self.subTest(merge):
                self.both(self.run, merge=merge)

    def test_nothing_but_the_report_is_left(self):
        ran = self.run_command("expert", "--full", self.run)
        self.assertEqual((ran.status, ran.err), (0, ""))
        self.assertEqual(sorted(os.listdir(self.run)), ["0.0.elg", "1.0.elg", "2.0.elg", "a.cube"])
        self.assertIn(f"Report: {self.run / 'a.cube'}", ran.lines)
        self.assertIn("180,000 events, 3 processes", ran.out)

    def test_kept_trace_is_the_merged_one(self):
        self.run_command("elg_merge", "-o", "two.elg", self.run)
        for keep, place in (("--keep", self.run / "a.elg"), ("--keep=here.elg", self.dir / "here.elg")):
            for page in ((), ("--html", "page.html")):
                with self.subTest(keep=keep, page=page):
                    ran = self.run_command("expert", keep, *page, "-o", "one.cube", self.run)
                    self.assertEqual((ran.status, ran.err), (0, ""))
                    self.assertEqual(place.read_bytes(), (self.dir / "two.elg").read_bytes())
                    self.assertIn(f"Trace: {place if place.parent == self.run else place.name}", ran.lines)
                    place.unlink()

    def test_kept_trace_may_be_compressed(self):
        for option, end in (("--zstd", "zst"), ("--gzip", "gz")):
            for keep, place in (("--keep", self.run / f"a.elg.{end}"), ("--keep=here", self.dir / "here")):
                with self.subTest(option=option, keep=keep):
                    self.run_command("elg_merge", option, "-o", "two.elg", self.run)
                    self.run_command("expert", "-o", "two.cube", "two.elg")
                    ran = self.run_command("expert", keep, option, "-o", "one.cube", self.run)
                    self.assertEqual((ran.status, ran.err), (0, ""))
                    self.assertEqual(place.read_bytes(), (self.dir / "two.elg").read_bytes())
                    self.assertEqual((self.dir / "one.cube").read_bytes(), (self.dir / "two.cube").read_bytes())
                    self.assertIn(f"Trace: {place if place.parent == self.run else place.name}", ran.lines)
                    place.unlink()
        self.assert_fails(self.run_command("expert", "--zstd", self.run), 1, "that --keep keeps")
        self.assert_fails(self.run_command("expert", "--keep", "--zstd", "--gzip", self.run), 1, "not both")

    def test_page_is_the_same_but_for_the_name(self):
        (self.dir / "other").mkdir()
        self.run_command("elg_merge", "-o", "other/run", self.run)
        self.run_command("expert", "--html", "two.html", "--no-source", "-o", "two.cube", "other/run")
        ran = self.run_command("expert", "--html", "one.html", "--no-source", "-o", "one.cube", "run")
        self.assertEqual((ran.status, ran.err), (0, ""))
        pages = [(self.dir / name).read_text().replace("other/run", "run") for name in ("one.html", "two.html")]
        self.assertEqual(pages[0].replace("one.cube", "two.cube"), pages[1])

    def test_part_of_the_time(self):
        ran = self.run_command("expert", "--from", "0", "--to", "1", "-o", "one.cube", self.run,
                               env={"TMPDIR": str(self.dir)})
        self.assertEqual(ran.status, 0, ran.err)
        self.assertEqual(ran.err.count("note:"), 1)
        self.assertIn("read a merged trace", ran.err)
        self.assertEqual(sorted(os.listdir(self.dir)), ["one.cube", "run"])  # nothing temporary
        self.run_command("elg_merge", "-o", "two.elg", self.run)
        self.run_command("expert", "--from", "0", "--to", "1", "-o", "two.cube", "two.elg")
        self.assertEqual((self.dir / "one.cube").read_bytes(), (self.dir / "two.cube").read_bytes())

    def test_damaged_runs_say_the_same(self):
        self.make(self.dir / "cut", cut=7)
        self.assertIn("ends inside a record", self.both(self.dir / "cut").err)
        self.make(self.dir / "missing", ranks=(0, 2))
        self.assertIn("has no local trace", self.both(self.dir / "missing").err)
        (self.run / "broken.elg").write_bytes(b"no trace")
        self.assertIn("is no trace", self.both(self.run).err)
        for place in ("cut", "missing"):
            self.assertEqual(self.run_command("expert", "-q", place).status, 3)

    def test_runs_that_cannot_be_merged(self):
        (self.dir / "empty").mkdir()
        self.make(self.dir / "other", size=4)
        self.make(self.dir / "two")
        (self.dir / "two" / "x.elg").write_bytes((self.dir / "other" / "0.0.elg").read_bytes())
        for place in ("empty", "two"):
            merged = self.run_command("elg_merge", "-o", "a.elg", place)
            for page in ((), ("--html", "a.html"), ("--keep",)):
                with self.subTest(place=place, page=page):
                    ran = self.run_command("expert", *page, place)
                    self.assertEqual(ran.err, merged.err.replace("elg_merge:", "expert:"))
                    self.assertEqual((ran.status, ran.out), (2, ""))
            self.assertFalse((self.dir / place / "a.cube").exists())

    def test_output_that_cannot_be_written_ends_both_sides(self):
        for keep in ("/dev/full", "/nonexistent/a.elg"):
            ran = self.run_command("expert", "-o", "a.cube", f"--keep={keep}", self.run)
            self.assert_fails(ran, 4, f"error: {keep}: cannot be written")
            self.assertFalse((self.dir / "a.cube").exists())
        self.assert_fails(self.run_command("expert", "-o", "/nonexistent/a.cube", self.run), 4, "/nonexistent/a.cube")

    def test_local_traces_are_not_written_over(self):
        local = self.run / "1.0.elg"
        before = local.read_bytes()
        for words in (["-o", local], ["--csv", local], ["--html", local], [f"--keep={local}"]):
            with self.subTest(words):
                self.assert_fails(self.run_command("expert", *words, self.run), 1, "would replace what is read")
                self.assertEqual(local.read_bytes(), before)

    def test_usage(self):
        trace = self.dir / "a.elg"
        self.run_command("elg_merge", "-o", trace, self.run)
        for option in ("--keep", "--clock=clc", "--model=basic"):
            self.assert_fails(self.run_command("expert", option, trace), 1, "for the directory of a run")
        self.assert_fails(self.run_command("expert", "--clock=exact", self.run), 1, "none, linear or clc")
        self.assert_fails(self.run_command("expert", "--model=none", self.run), 1, "basic or extended")
        self.assert_fails(self.run_command("expert", "--keep=-", self.run), 1, "--keep needs the name")
        self.assert_fails(self.run_command("expert", "--causes=some", self.run), 1, "always, auto or never")


if __name__ == "__main__":
    unittest.main()
