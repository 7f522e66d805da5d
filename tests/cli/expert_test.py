"""expert: where the report goes, what the summary says, and how it ends."""
import csv
import gzip
import json
import os
import pty
import re
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from cli import BIN, REFERENCE, CommandTest

TRACE = REFERENCE / "gats.elg"


def metric(report, name):
    """Sum of a metric over call paths and threads, by a reading of the XML of its own."""
    root = ElementTree.fromstring(report)
    for node in root.find("metrics").iter("metric"):
        if node.find("uniq_name").text == name:
            matrix = next(m for m in root.iter("matrix") if m.get("metricId") == node.get("id"))
            return sum(float(value) for row in matrix for value in row.text.split())
    raise KeyError(name)


class Report(CommandTest):
    def test_default_name_is_the_traces(self):
        trace = self.file("a.elg", TRACE.read_bytes())
        ran = self.run_command("expert", trace)
        self.assertEqual((ran.status, ran.err), (0, ""))
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["a.cube", "a.elg"])
        self.assertEqual(ran.lines[-1], f"Report: {self.dir / 'a.cube'}; everything: expert --full {trace}")
        # Early Wait as the classic report has it.
        classic = metric((REFERENCE / "gats.cube").read_text(), "mpi_rma_earlywait")
        ours = metric((self.dir / "a.cube").read_text(), "mpi_rma_earlywait")
        self.assertAlmostEqual(ours, classic, delta=1e-9)

    def test_named_report_replaces_an_older_one(self):
        old = self.file("report.xml", "old")
        ran = self.run_command("expert", "-q", "-o", old, TRACE)
        self.assertEqual((ran.status, ran.out, ran.err), (0, "", ""))
        self.assertIn("<cube version=\"3.0\">", old.read_text())

    def test_same_bytes_from_file_gzip_and_pipe(self):
        packed = self.file("b.elg.gz", gzip.compress(TRACE.read_bytes()))
        self.assertEqual(self.run_command("expert", "-q", packed).status, 0)
        self.assertTrue((self.dir / "b.cube").exists())
        plain = self.run_command("expert", "-q", "-o", "-", TRACE)
        piped = self.run_command("expert", "-q", "-o", "-", "-", stdin=TRACE.read_bytes())
        self.assertEqual((plain.status, piped.status), (0, 0))
        self.assertEqual(plain.out, piped.out)
        self.assertEqual(plain.out, (self.dir / "b.cube").read_text())

    def test_report_is_compressed_if_its_name_says_so(self):
        self.assertEqual(self.run_command("expert", "-q", "-o", "a.cube", TRACE).status, 0)
        self.assertEqual(self.run_command("expert", "-q", "-o", "a.cube.gz", TRACE).status, 0)
        self.assertEqual(gzip.decompress((self.dir / "a.cube.gz").read_bytes()),
                         (self.dir / "a.cube").read_bytes())
        whole = self.run_command("kojak", "stat", "-n", "0", "a.cube")
        self.assertEqual(self.run_command("kojak", "stat", "-n", "0", "a.cube.gz").out, whole.out)
        self.assertEqual(self.run_command("expert", "-q", "-o", "/nonexistent/a.cube.gz", TRACE).status, 4)

    def test_report_on_stdout_leaves_the_summary_to_stderr(self):
        ran = self.run_command("expert", "-o", "-", TRACE)
        self.assertEqual(ran.status, 0)
        ElementTree.fromstring(ran.out)
        self.assertIn(" of the time is waiting.", ran.err)

    def test_documentation_is_where_the_report_says(self):
        self.run_command("expert", "-q", "-o", "a.cube", TRACE)
        url = ElementTree.parse(self.dir / "a.cube").find("doc/mirrors/murl").text
        self.assertTrue(url.startswith("file:///") and url.endswith("/"), url)
        page = BIN.parent / "docs" / "patterns.html"
        self.assertEqual(url, "file://" + str(page.parent) + "/")
        self.assertIn('id="mpi_rma_latepost"', page.read_text())
        self.run_command("expert", "-q", "-o", "b.cube", "--doc-url", "https://x.example/k/", TRACE)
        url = ElementTree.parse(self.dir / "b.cube").find("doc/mirrors/murl").text
        self.assertEqual(url, "https://x.example/k/")


class Summary(CommandTest):
    def test_tree_waits_and_advice(self):
        ran = self.run_command("expert", "--full", "-o", "a.cube", TRACE)
        self.assertEqual(ran.status, 0)
        self.assertRegex(ran.out, r"gats\.elg: 305 events, 4 processes on 1 node\n")
        for text in ("  100.0 %  Time", "Late Post", "Worst waits", "PARALLEL / MPI_Win_start",
                     "What to look at first", "Wait at Barrier takes"):
            self.assertIn(text, ran.out)
        # Four barrier waits of the classic report, to the millisecond.
        classic = metric((REFERENCE / "gats.cube").read_text(), "mpi_barrier_wait")
        self.assertIn(f"{classic:12.3f}", ran.out)
        for line in ran.lines[:-1]:
            if "gats.elg" not in line:
                self.assertLessEqual(len(line), 80, line)

    def test_twelve_lines(self):
        ran = self.run_command("expert", "-o", "a.cube", TRACE)
        self.assertEqual(ran.status, 0)
        self.assertLessEqual(len(ran.lines), 12, ran.out)
        self.assertNotIn("", ran.lines)
        self.assertIn(" of the time is waiting.", ran.out)
        self.assertTrue(ran.out.isascii(), ran.out)
        for line in ran.lines[:-1]:
            self.assertLessEqual(len(line), 79, line)
        # The same bytes begin what --full says.
        full = self.run_command("expert", "--full", "-o", "a.cube", TRACE)
        self.assertEqual(full.lines[:len(ran.lines) - 1], ran.lines[:-1])
        # The bar has 77 letters, and its shares add up to 100.
        bar = next(line for line in ran.lines if line.startswith("["))
        self.assertRegex(bar, r"^\[[#=.z!~]{77}\]$")
        legend = ran.lines[ran.lines.index(bar) + 1]
        self.assertEqual(sum(int(share) for share in re.findall(r"(\d+) %", legend)), 100, legend)

    def test_who_is_to_blame_may_be_left_out(self):
        ran = self.run_command("expert", "--causes=never", "-o", "a.cube", TRACE)
        self.assertEqual(ran.status, 0)
        self.assertIn("--causes=always", ran.out)
        self.assertRaises(KeyError, metric, (self.dir / "a.cube").read_text(), "delay")

    def test_plain_text_in_a_pipe_bars_on_a_terminal(self):
        self.assertNotIn("\x1b", self.run_command("expert", "-o", "a.cube", TRACE).out)
        for no_color in (False, True):
            main, side = pty.openpty()
            environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
            environment["TERM"] = "xterm"
            if no_color:
                environment["NO_COLOR"] = "1"
            done = subprocess.Popen([BIN / "expert", "--full", "-o", self.dir / "a.cube", TRACE],
                                    stdout=side, env=environment)
            os.close(side)
            shown = b""
            while True:
                try:
                    part = os.read(main, 65536)
                except OSError:  # the terminal is gone with the command
                    break
                if not part:
                    break
                shown += part
            os.close(main)
            self.assertEqual(done.wait(), 0)
            self.assertEqual("█" in shown.decode(), not no_color)
            self.assertEqual(b"\x1b[" in shown, not no_color)

    def test_list_of_patterns(self):
        ran = self.run_command("expert", "--list-patterns")
        self.assertEqual((ran.status, ran.err), (0, ""))
        self.assertIn("Late Post (mpi_rma_latepost)", ran.out)

    def test_trace_without_events(self):
        empty = self.empty_trace()
        ran = self.run_command("expert", empty)
        self.assertEqual((ran.status, ran.err), (0, ""))
        self.assertIn("The trace has no events", ran.out)
        self.assertEqual(metric((self.dir / "empty.cube").read_text(), "time"), 0)

    def empty_trace(self):
        """Header, NUM_EVENTS 0, LAST_DEF."""
        return self.file("empty.elg", b"EPILOG\0\x02\x00\x01" + b"\x04\x0e" + bytes(4) + b"\x00\x0d")


class Errors(CommandTest):
    def test_usage(self):
        self.assert_fails(self.run_command("expert"), 1, "no trace given")
        self.assert_fails(self.run_command("expert", "a", "b"), 1)
        self.assert_fails(self.run_command("expert", "--no-such-option", TRACE), 1)
        self.assert_fails(self.run_command("expert", "-", stdin=TRACE.read_bytes()), 1, "-o")
        trace = self.file("a.elg", TRACE.read_bytes())
        self.assert_fails(self.run_command("expert", "-o", trace, trace), 1, "would replace")
        self.assertEqual(trace.read_bytes(), TRACE.read_bytes())

    def test_no_trace(self):
        self.assert_fails(self.run_command("expert", "missing.elg"), 2, "missing.elg")
        text = self.file("text.elg", "this is no trace at all\n")
        ran = self.run_command("expert", text)
        self.assert_fails(ran, 2, "text.elg")
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["text.elg"])

    def test_truncated_trace_is_analysed_and_said_to_be(self):
        cut = self.file("cut.elg", TRACE.read_bytes()[:9001])
        ran = self.run_command("expert", cut)
        self.assertEqual(ran.status, 3)
        self.assertIn("What follows may be wrong: 1 x ", ran.out)
        full = self.run_command("expert", "--full", cut)
        self.assertIn("suspect", full.out)
        self.assertIn("cut.elg: offset ", full.out)
        self.assertGreater(metric((self.dir / "cut.cube").read_text(), "time"), 0)
        quiet = self.run_command("expert", "-q", cut)
        self.assert_fails(quiet, 3, f"{cut}: results may be wrong: 1 x ")

    def test_report_that_cannot_be_written(self):
        for output, reason in (("no/such/folder.cube", "No such file"), ("/dev/full", "No space left")):
            ran = self.run_command("expert", "-o", output, TRACE)
            self.assertEqual(ran.status, 4)
            self.assertIn(f"{output}: ", ran.err)
            self.assertIn(reason, ran.err)
            self.assertEqual(len(ran.err.splitlines()), 1)
            self.assertEqual(list(self.dir.iterdir()), [])
            # What was found is told all the same, and written where there is room.
            self.assertIn(" of the time is waiting.", ran.out)
            self.assertNotIn("Report:", ran.out)
        both = self.run_command("expert", "-o", "/dev/full", "--json", "a.json", TRACE)
        self.assertEqual(both.status, 4)
        self.assertTrue((self.dir / "a.json").exists())


class Extras(CommandTest):
    """--json, --instances, --send-modes, --select, --exclude."""

    def test_json_says_what_the_report_says(self):
        ran = self.run_command("expert", "-q", "-o", "a.cube", "--json", "a.json", TRACE)
        self.assertEqual((ran.status, ran.out, ran.err), (0, "", ""))
        result = json.loads((self.dir / "a.json").read_text())
        self.assertEqual((result["format"], result["version"]), ("kojak.expert", 3))
        self.assertEqual(result["trace"], str(TRACE))
        report = (self.dir / "a.cube").read_text()
        totals = {m["name"]: m["total"] for m in result["metrics"]}
        for name in ("time", "mpi_rma_earlywait", "visits"):
            self.assertAlmostEqual(totals[name], metric(report, name), delta=1e-9)
        parents = {m["name"]: m["parent"] for m in result["metrics"]}
        self.assertEqual(parents["mpi_rma_latecomplete"], "mpi_rma_earlywait")
        # No wait is longer than its call; an instance is the sum of its waits, all together are no
        # longer than the metric says. Somebody else ended each of them, within its time.
        for name in ("mpi_rma_earlywait", "mpi_rma_latepost"):
            found = [i for i in result["instances"] if i["metric"] == name]
            self.assertTrue(found)
            self.assertLessEqual(sum(i["waiting"] for i in found), totals[name] + 1e-9)
            for i in found:
                self.assertEqual(i["object"]["kind"], "window")
                self.assertEqual(i["further_waits"], 0)
                self.assertAlmostEqual(i["waiting"], sum(w["waiting"] for w in i["waits"]), 9)
                self.assertAlmostEqual(i["waiting"], sum(w["seconds"] for w in i["waited_for"]), 9)
                for w in i["waits"]:
                    self.assertLessEqual(w["waiting"], w["exit"] - w["enter"] + 1e-12)
                    self.assertIn("MPI_Win_", result["call_paths"][w["call_path"]]["region"])
                    self.assertLess(w["thread"], len(result["threads"]))
                    self.assertNotEqual(w["thread"], w["until"]["thread"])
                    self.assertLessEqual(i["begin"], w["until"]["time"])
                    self.assertLessEqual(w["enter"], i["end"])
                by = "MPI_Win_complete" if name == "mpi_rma_earlywait" else "MPI_Win_post"
                self.assertEqual({w["function"] for w in i["waited_for"]}, {by})
                self.assertEqual({w["by"] for w in i["waited_for"]}, {"enter"})
            self.assertEqual(found, sorted(found, key=lambda i: -i["waiting"]))
            # Over the whole run everything was for somebody.
            partners = [p for p in result["partners"] if p["metric"] == name]
            self.assertAlmostEqual(sum(w["seconds"] for p in partners for w in p["waited_for"]),
                                   totals[name], 9)
        # What if: each group alone, and the first of them together, which gains no less than one of them.
        gains = {c["case"]: c["gain"] for c in result["what_if"]}
        in_cube = re.findall(r'key="kojak\.what_if\.(\S+)" value="run \S+ s, gain (\S+) s"', report)
        self.assertEqual({case: float(gain) for case, gain in in_cube}, {c: round(g, 6) for c, g in gains.items()})
        self.assertAlmostEqual(totals["gain"], sum(g.get("gain", 0) for g in result["groups"]), 9)
        self.assertEqual(len({round(c["run"] + c["gain"], 9) for c in result["what_if"]}), 1)
        self.assertLessEqual(0, min(c["run"] for c in result["what_if"]))
        for at, group in enumerate(result["groups"], 1):
            self.assertAlmostEqual(gains[str(at)], group["gain"], 9)
            if at > 1:
                self.assertAlmostEqual(gains[f"1-{at}"], group["cumulated"], 9)
                self.assertGreaterEqual(gains[f"1-{at}"] + 1e-9, gains[str(at)])

    def test_csv_has_the_values_of_the_report(self):
        self.assertEqual(self.run_command("expert", "-q", "-o", "a.cube", "--csv", "a.csv", TRACE).status, 0)
        with open(self.dir / "a.csv", encoding="utf8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0]), ["metric", "title", "unit", "call_path", "process", "thread", "value"])
        report = (self.dir / "a.cube").read_text()
        for name in ("time", "visits", "mpi_rma_latepost", "mpi_rma_earlywait"):
            total = sum(float(row["value"]) for row in rows if row["metric"] == name)
            self.assertAlmostEqual(total, metric(report, name), delta=1e-9)
        # Three origins start 0.2 s before rank 0 posts (gats.c).
        late = [row for row in rows if row["metric"] == "mpi_rma_latepost"]
        self.assertEqual({row["call_path"].split("/")[-1] for row in late}, {"MPI_Win_start"})
        self.assertEqual({(row["title"], row["unit"]) for row in late}, {("Late Post", "seconds")})
        self.assertAlmostEqual(sum(float(row["value"]) for row in late), 3 * 0.2, delta=0.02)
        self.assertEqual(sum(float(row["value"]) for row in late if row["process"] == "0"), 0)

    def test_csv_quotes_names(self):
        trace = self.file("a.elg", (REFERENCE / "gats.elg").read_bytes().replace(b"PARALLEL", b'a,"b" ,c'))
        ran = self.run_command("expert", "-q", "-o", "a.cube", "--csv", "-", trace)
        paths = {row["call_path"].split("/")[0] for row in csv.DictReader(ran.out.splitlines())}
        self.assertEqual(paths, {'a,"b" ,c'})

    def test_csv_that_cannot_be_written(self):
        self.assertEqual(self.run_command("expert", "-q", "-o", "a.cube", "--csv", "absent/a.csv", TRACE).status, 4)
        self.assertEqual(self.run_command("expert", "-q", "-o", "-", "--csv", "-", TRACE).status, 1)
        self.assertEqual(self.run_command("expert", "-q", "-o", "a.cube", "--csv", "a.cube", TRACE).status, 1)

    def test_json_says_what_the_run_was(self):
        self.file("run.txt", 'RUN_PROPERTY key="mpi.library" value="MPICH Version: 4.0.2"\n'
                             'RUN_PROPERTY key="env.OMP_PROC_BIND" value="true" pid=1\n'
                             "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
                             "EXIT lid=0 time=1\nEXIT lid=1 time=1\n")
        subprocess.run([BIN.parent / "tests" / "text_trace", "run.txt", "run.elg"], cwd=self.dir, check=True)
        ran = self.run_command("expert", "-q", "-o", "a.cube", "--json", "-", "run.elg")
        run = json.loads(ran.out)["run"]
        self.assertEqual((run["mpi"], run["processes"], run["threads"]), ("MPICH Version: 4.0.2", "2", "2"))
        self.assertEqual(run["env.OMP_PROC_BIND"], "true (rank 1)")
        self.assertNotIn("command", run)  # the trace does not say it
        classic = json.loads(self.run_command("expert", "-q", "-o", "a.cube", "--json", "-", TRACE).out)["run"]
        self.assertEqual(set(classic), {"hosts", "processes", "threads"})

    def test_json_on_stdout(self):
        ran = self.run_command("expert", "-q", "-o", "a.cube", "--json", "-", "--instances", "1",
                               TRACE)
        names = [i["metric"] for i in json.loads(ran.out)["instances"]]
        self.assertTrue(names)
        self.assertEqual(len(names), len(set(names)))  # one of each
        both = self.run_command("expert", "-o", "-", "--json", "-", TRACE)
        self.assert_fails(both, 1, "standard output: is two outputs at once")

    def test_instances_and_send_modes_on_the_terminal(self):
        plain = self.run_command("expert", "-o", "a.cube", "--instances", "2", TRACE)
        self.assertNotIn("Most severe instances", plain.out)
        ran = self.run_command("expert", "--full", "-o", "a.cube", "--instances", "2", "--send-modes", TRACE)
        self.assertEqual(ran.status, 0)
        self.assertIn("Most severe instances", ran.out)
        self.assertIn("Early Wait (mpi_rma_earlywait)", ran.out)
        self.assertIn("Messages by send mode", ran.out)
        for wrong in (["--epsilon", "-1"], ["--bandwidth", "0"], ["--instances", "many"]):
            self.assertEqual(self.run_command("expert", *wrong, TRACE).status, 1, wrong)

    def test_a_time_window(self):
        ran = self.run_command("expert", "-q", "-o", "all.cube", TRACE)
        self.assertEqual(ran.status, 0)
        whole = metric((self.dir / "all.cube").read_text(), "time")
        threads = 4
        ran = self.run_command("expert", "-o", "part.cube", "--from", "0.2", "--to", "0.7", TRACE)
        self.assertIn(ran.status, (0, 3))
        part = metric((self.dir / "part.cube").read_text(), "time")
        self.assertGreater(part, 0)
        self.assertLessEqual(part, threads * 0.5 + 1e-9)  # half a second of each process
        self.assertLess(part, whole)
        wrong = self.run_command("expert", "--from", "soon", TRACE)
        self.assertEqual(wrong.status, 1)
        self.assertEqual(self.run_command("expert", "--to", "1", "missing.elg").status, 2)

    def test_parts_of_the_tree(self):
        self.run_command("expert", "-q", "-o", "all.cube", TRACE)
        ran = self.run_command("expert", "-q", "-o", "part.cube", "--select",
                               "mpi_rma_synchronization,visits", "--exclude", "mpi_rma_latepost",
                               TRACE)
        self.assertEqual(ran.status, 0)
        whole, part = ((self.dir / n).read_text() for n in ("all.cube", "part.cube"))
        for name in ("time", "mpi", "mpi_rma_gat_synchronization", "mpi_rma_earlywait", "visits"):
            self.assertAlmostEqual(metric(part, name), metric(whole, name), delta=1e-9)
        for name in ("mpi_rma_latepost", "mpi_rma_latepost_first", "mpi_communication", "bytes"):
            self.assertRaises(KeyError, metric, part, name)
        wrong = self.run_command("expert", "--select", "mpi_latesneder", TRACE)
        self.assert_fails(wrong, 1, "mpi_latesneder", "--list-patterns")

    def test_parts_that_a_trace_does_not_have(self):
        ran = self.run_command("expert", "-q", "-o", "a.cube", "--select", "shmem,visits", TRACE)
        self.assertEqual(ran.status, 0, ran.err)
        ran = self.run_command("expert", "-q", "-o", "a.cube", "--exclude", "shmem,omp", TRACE)
        self.assertEqual(ran.status, 0, ran.err)
        ran = self.run_command("expert", "-q", "-o", "none.cube", "--select", "shmem", TRACE)
        self.assert_fails(ran, 1, "shmem", "nothing")
        self.assertFalse((self.dir / "none.cube").exists())

    def test_a_negative_number_of_instances(self):
        self.assert_fails(self.run_command("expert", "--instances", "-3", TRACE), 1, "--instances")


if __name__ == "__main__":
    unittest.main()
