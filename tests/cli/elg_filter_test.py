"""elg_filter: cuts of a real trace, taken by all other tools; streams; errors."""
import gzip
import json
import re
import subprocess
import unittest

from cli import BIN, REFERENCE, CommandTest

TRACE = REFERENCE / "gats.elg"


class Cuts(CommandTest):
    def cut(self, *options, trace=TRACE, status=0):
        ran = self.run_command("elg_filter", *options, "-o", "part.elg", trace)
        self.assertEqual((ran.status, ran.out), (status, ""), ran.err)
        return ran

    def events(self, path):
        return self.run_command("elg_print", "--events", path).lines[1:]

    def test_every_tool_takes_a_cut(self):
        for options in (["--from", "0.5", "--to", "1"], ["--rank", "0,2-3"], ["--region", "MPI_Win_wait"],
                        ["--from", "0.3", "--rank", "1", "--region", "MPI_Put,MPI_Barrier"]):
            with self.subTest(options):
                self.assertRegex(self.cut(*options).err, r"\d+ of 305 events are in the cut")
                ran = self.run_command("elg_print", "--verify", "part.elg")
                self.assertEqual((ran.status, ran.err), (0, ""), ran.out)
                self.assertIn(" 0 findings", ran.out)
                self.assertEqual(self.run_command("elg_stat", "part.elg").status, 0)
                ran = self.run_command("expert", "-o", "part.cube", "part.elg")
                self.assertEqual(ran.status, 0, ran.err)

    def test_nothing_selected_is_everything(self):
        self.cut()
        self.assertEqual(self.events("part.elg"), self.events(TRACE))

    def test_events_are_those_of_the_window_and_the_ranks(self):
        self.cut("--from", "0.5", "--to", "1", "--rank", "1")
        lines = self.events("part.elg")
        for line in lines:
            self.assertIn(" lid=1 ", line)
            self.assertTrue(0.5 <= float(re.search(r" time=(\S+)", line).group(1)) <= 1, line)
        # What lies between the added entries and exits is there, in order.
        whole = [line for line in self.events(TRACE) if " lid=1 " in line and
                 0.5 < float(re.search(r" time=(\S+)", line).group(1)) < 1]
        calls = [line for line in whole if line.startswith("ENTER")]
        self.assertTrue(calls)
        self.assertEqual([line for line in lines if line in calls], calls)

    def test_who_serves_does_so_in_the_cut(self):
        text = (REFERENCE.parent / "cases" / "service.case").read_text().split("--- severities")[0]
        self.file("run.txt", text)
        subprocess.run([BIN.parent / "tests" / "text_trace", "run.txt", "run.elg"], cwd=self.dir, check=True)
        told = re.compile(r'^RUN_PROPERTY .* pid=2$', re.M)
        self.cut("--from", "3", trace="run.elg")
        self.assertRegex(self.run_command("elg_print", "part.elg").out, told)
        # From 3 on it receives [3, 5] and [6, 9], which is no waiting.
        self.run_command("expert", "-q", "-o", "part.cube", "--csv", "part.csv", "part.elg")
        rows = [row for row in (self.dir / "part.csv").read_text().splitlines() if row.startswith(("mpi_latesender", "service"))]
        self.assertTrue(any(row.startswith("service,") for row in rows), rows)
        self.cut("--rank", "0-1", trace="run.elg")
        self.assertNotRegex(self.run_command("elg_print", "part.elg").out, told)

    def test_streams(self):
        self.cut("--rank", "0-1")
        part = (self.dir / "part.elg").read_bytes()
        command = ["elg_filter", "-q", "--rank", "0-1", "-o", "-"]
        for stdin in (TRACE.read_bytes(), gzip.compress(TRACE.read_bytes())):
            run = self.run_bytes(*command, "-", stdin=stdin)
            self.assertEqual((run.returncode, run.stderr), (0, b""))
            self.assertEqual(run.stdout, part)

    def test_damage_is_told_and_the_cut_is_sound(self):
        cut = self.file("cut.elg", TRACE.read_bytes()[:-5])
        self.assertIn("cut.elg: offset", self.cut(trace=cut, status=3).err)
        verify = self.run_command("elg_print", "--verify", "part.elg")
        self.assertEqual(verify.status, 2)  # a classic cut says so by its number of events, and by nothing else
        self.assertEqual(verify.out.count("error: "), 1, verify.out)
        self.assertIn("the trace ends after", verify.out)
        stat = json.loads(self.run_command("elg_stat", "--json", "part.elg").out)
        self.assertGreaterEqual(stat["events"], 304)

    def test_errors(self):
        self.assert_fails(self.run_command("elg_filter"), 1, "--help")
        for options, text in ((["--rank", "9"], "no rank 9"), (["--rank", "2-1"], "2-1"),
                              (["--region", "solve"], "`solve`"), (["--from", "2", "--to", "1"], "--from"),
                              (["-o", TRACE], "would replace")):
            ran = self.run_command("elg_filter", *options, TRACE)
            self.assert_fails(ran, 1, "elg_filter: error", text)
        self.assertFalse((self.dir / "part.elg").exists())
        self.assert_fails(self.run_command("elg_filter", "none.elg"), 2, "none.elg")
        self.assert_fails(self.run_command("elg_filter", "-o", "no/where", TRACE), 4, "no/where")


if __name__ == "__main__":
    unittest.main()
