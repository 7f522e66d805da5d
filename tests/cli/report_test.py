"""kojak info, kojak stat, kojak diff, kojak html: tables, comma-separated values, errors.

Expected numbers come from the CUBE files, read by another parser.
"""
import csv
import gzip
import io
import json
import re
import subprocess
import unittest
import xml.etree.ElementTree

from cli import BIN, REFERENCE, CommandTest

BEFORE, AFTER = REFERENCE / "fence.cube", REFERENCE / "gats.cube"


class Cube:
    def __init__(self, path):
        root = xml.etree.ElementTree.parse(path).getroot()
        self.names = {m.get("id"): m.findtext("uniq_name") for m in root.iter("metric")}
        self.leaves = {self.names[m.get("id")] for m in root.iter("metric")
                       if m.find("metric") is None and m.findtext("uom") == "sec"}
        self.children = {self.names[m.get("id")]: [c.findtext("uniq_name") for c in m.findall("metric")]
                         for m in root.iter("metric")}
        regions = {r.get("id"): r.findtext("name") for r in root.iter("region")}
        self.paths = {}

        def walk(node, path):
            path = path + [regions[node.get("calleeId")]]
            self.paths[node.get("id")] = " / ".join(path)
            for inner in node.findall("cnode"):
                walk(inner, path)
        for node in root.find("program").findall("cnode"):
            walk(node, [])
        self.rows = {(self.names[m.get("metricId")], self.paths[r.get("cnodeId")]):
                     [float(word) for word in r.text.split()]
                     for m in root.iter("matrix") for r in m.iter("row")}

    def total(self, metric):
        return sum(sum(row) for (name, _), row in self.rows.items() if name == metric)


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


class Info(CommandTest):
    def test_counts_and_totals(self):
        ran = self.run_command("kojak", "info", AFTER)
        self.assertEqual((ran.status, ran.err), (0, ""))
        # Counted in the file.
        for line in ("metrics:     49", "regions:     142", "call paths:  18", "processes:   4",
                     "threads:     4", "topology:    1 (periodic) x 4"):
            self.assertIn(line, ran.lines)
        total = Cube(AFTER).total("mpi_rma_latepost")
        line = next(line for line in ran.lines if "mpi_rma_latepost" in line)
        self.assertIn(f"{total:.6f}", line)
        self.assertNotIn("mpi_io", ran.out)
        self.assertIn("mpi_io", self.run_command("kojak", "info", "--all", AFTER).out)

    def test_call_and_system_tree(self):
        cube = Cube(AFTER)
        ran = self.run_command("kojak", "info", "--calls", "--system", "-m", "mpi_barrier_wait", AFTER)
        row = cube.rows["mpi_barrier_wait", "PARALLEL / MPI_Barrier"]
        barrier = next(line for line in ran.lines if "MPI_Barrier" in line)
        self.assertIn(f"{sum(row):.6f}", barrier)
        rank = next(line for line in ran.lines if "process 2" in line)
        self.assertIn(f"{row[2]:.6f}", rank)

    def test_errors(self):
        self.assert_fails(self.run_command("kojak", "info"), 1, "name a report")
        self.assert_fails(self.run_command("kojak", "info", "-m", "nothing", AFTER), 1, "no metric nothing")
        self.assert_fails(self.run_command("kojak", "info", "absent.cube"), 2, "absent.cube", "cannot be opened")
        self.assert_fails(self.run_command("kojak", "info", REFERENCE / "gats.elg"), 2, "is a trace", "expert")
        cut = self.file("cut.cube", AFTER.read_bytes()[:20000])
        self.assert_fails(self.run_command("kojak", "info", cut), 2, "cut.cube", "offset", "ends in the middle")


class Stat(CommandTest):
    def test_patterns_worst_first(self):
        cube = Cube(AFTER)
        rows = table(self.run_command("kojak", "stat", "--csv", "-n", "0", AFTER).out)
        # Leaves, and inner patterns with those inside them; beside, what these leave them.
        inner = {"mpi_rma_earlywait", "mpi_rma_latepost", "mpi_latesender"}
        values, own = {}, {}
        for (metric, path), row in cube.rows.items():
            inside = sum(sum(cube.rows.get((child, path), [0])) for child in cube.children[metric])
            if (metric in cube.leaves or metric in inner) and sum(row) != 0:
                values[metric, path] = sum(row)
                own[metric, path] = sum(row) - inside
        self.assertIn(("mpi_rma_earlywait", "PARALLEL / MPI_Win_wait"), values)
        expected = sorted(((value, *key) for key, value in values.items()), reverse=True)
        self.assertEqual([(row["metric"], row["call path"]) for row in rows],
                         [(metric, path) for _, metric, path in expected])
        for row, (seconds, _, _) in zip(rows, expected):
            self.assertAlmostEqual(float(row["seconds"]), seconds, 9)
            self.assertAlmostEqual(float(row["own"]), own[row["metric"], row["call path"]], 9)
        # Late Post has a part inside it at least once, or this says nothing of it.
        self.assertTrue(any(own[key] < values[key] for key in values))
        self.assertEqual(len(self.run_command("kojak", "stat", "-n", "3", AFTER).lines), 4)

    def test_call_paths_with_and_without_callees(self):
        cube = Cube(AFTER)
        for options, title in (([], "without callees"), (["-i"], "with callees")):
            ran = self.run_command("kojak", "stat", "-b", "callpath", *options, AFTER)
            self.assertIn(f"call path, {title}", ran.lines[0])
        own = table(self.run_command("kojak", "stat", "-b", "callpath", "-m", "time", "--csv", "-n", "0",
                                     AFTER).out)
        values = {row["call path"]: float(row["time"]) for row in own}
        self.assertAlmostEqual(values["PARALLEL"], sum(cube.rows["time", "PARALLEL"]), 9)
        whole = table(self.run_command("kojak", "stat", "-b", "callpath", "-i", "-m", "time", "--csv",
                                       AFTER).out)
        self.assertEqual(whole[0]["call path"], "PARALLEL")
        self.assertAlmostEqual(float(whole[0]["time"]), cube.total("time"), 9)
        self.assertAlmostEqual(float(whole[0]["percent"]), 100, 6)

    def test_regions_and_locations(self):
        cube = Cube(AFTER)
        rows = table(self.run_command("kojak", "stat", "-b", "region", "-m", "visits", "--csv", "-n", "0",
                                      AFTER).out)
        visits = {row["region"]: float(row["visits"]) for row in rows}
        # TRACING has two call paths.
        self.assertEqual(visits["TRACING"], sum(sum(row) for (metric, path), row in cube.rows.items()
                                                if metric == "visits" and path.endswith("TRACING")))
        rows = table(self.run_command("kojak", "stat", "-b", "location", "-m", "mpi", "--csv", AFTER).out)
        ranks = {row["location"]: float(row["mpi"]) for row in rows}
        for rank in range(4):
            expected = sum(row[rank] for (metric, _), row in cube.rows.items() if metric == "mpi")
            self.assertAlmostEqual(ranks[f"rank {rank}"], expected, 9)

    def test_errors(self):
        self.assert_fails(self.run_command("kojak", "stat", "-b", "colour", AFTER), 1, "colour")
        self.assert_fails(self.run_command("kojak", "stat", "-b", "region", "-m", "x", AFTER), 1,
                          "no metric x", "kojak info")

    def test_names_do_no_harm_to_a_terminal(self):
        report = self.file("evil.cube", AFTER.read_bytes().replace(b"<name>MPI_Barrier<",
                                                                   b"<name>\x1b[31mred\xff\n<"))
        ran = self.run_command("kojak", "stat", report)
        self.assertEqual(ran.status, 0)
        self.assertIn("warning", ran.err)
        self.assertNotIn("\x1b", ran.out)
        self.assertIn("\ufffd[31mred\ufffd\ufffd", ran.out)

    def test_long_and_strange_names_stay_on_their_lines(self):
        # Two control characters in UTF-8 (a terminal may take the first for an escape sequence), a
        # change of direction, a template of 10 kB.
        name = "\u009b31m\u0085\u202e" + "vector<" * 1500
        report = self.file("long.cube", AFTER.read_bytes().replace(
            b"<name>MPI_Barrier<", b"<name>" + name.replace("<", "&lt;").encode() + b"<").replace(
            b"WaitAtBarrier", name.replace("<", "&lt;").encode()))
        for command in (["kojak", "stat"], ["kojak", "stat", "-b", "region", "-m", "mpi"], ["kojak", "info"],
                        ["kojak", "info", "-c", "-s"], ["kojak", "diff", "-t", "0", BEFORE]):
            ran = self.run_command(*command, report)
            self.assertEqual(ran.status, 0)
            self.assertNotRegex(ran.out, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
            self.assertIn("vector<", ran.out)
            self.assertLess(max(map(len, ran.lines)), 200, command)

    def test_standard_input(self):
        for data in (AFTER.read_bytes(), gzip.compress(AFTER.read_bytes())):
            ran = self.run_command("kojak", "stat", "-", stdin=data)
            self.assertEqual(ran.out, self.run_command("kojak", "stat", AFTER).out)
        self.assert_fails(self.run_command("kojak", "html", "-", stdin=b""), 1, "-o")
        self.assert_fails(self.run_command("kojak", "diff", "-", "-", stdin=b""), 1, "only one")
        self.assert_fails(self.run_command("kojak", "stat", "-", stdin=b""), 2, "standard input", "is empty")


class Deep(CommandTest):
    """Recursion: a report grows with its calls, and so does the time to look into it."""
    CALLS = 30_000
    compared = False
    not_compared_because = "too deep for it"

    def setUp(self):
        super().setUp()
        # f calls itself; rank 0 alone, a second each way down and up. The innermost calls MPI_Barrier.
        lines = [f"ENTER lid=0 time={i} region=f" for i in range(self.CALLS)]
        lines += [f"ENTER lid=0 time={self.CALLS} region=MPI_Barrier"]
        lines += [f"EXIT lid=0 time={self.CALLS + 1 + i}" for i in range(self.CALLS + 1)]
        self.file("deep.txt", "\n".join(lines) + "\n")
        done = subprocess.run([BIN.parent / "tests" / "text_trace", "deep.txt", "deep.elg"],
                              cwd=self.dir, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        ran = self.run_command("expert", "-q", "-o", "deep.cube", "deep.elg")
        self.assertEqual((ran.status, ran.err), (0, ""))

    def test_report_and_commands_stay_small(self):
        self.assertLess((self.dir / "deep.cube").stat().st_size, 400 * self.CALLS)
        ran = self.run_command("kojak", "info", "--calls", "deep.cube")
        self.assertEqual(ran.status, 0)
        self.assertIn(f"call paths:  {self.CALLS + 1}", ran.lines)
        # f before its first call has one second, the whole run 2 * CALLS + 1.
        self.assertIn(f"{2 * self.CALLS + 1}.000000", ran.out)
        self.assertLess(max(map(len, ran.lines)), 300)
        ran = self.run_command("kojak", "stat", "--by", "callpath", "-m", "visits", "--csv", "-n", "0",
                               "deep.cube")
        rows = table(ran.out)
        self.assertEqual(len(rows), self.CALLS + 1)
        self.assertEqual({float(row["visits"]) for row in rows}, {1.0})
        longest = max((row["call path"] for row in rows), key=len)
        self.assertTrue(longest.startswith("f / f / f"), longest[:40])
        self.assertIn(f" / ... {self.CALLS + 1 - 200} more ... / f", longest)
        self.assertTrue(any(row["call path"].endswith(" / MPI_Barrier") for row in rows))
        ran = self.run_command("kojak", "diff", "deep.cube", "deep.cube")
        self.assertIn("takes as long as deep.cube", " ".join(ran.out.split()))


class Diff(CommandTest):
    def test_changes_are_after_minus_before(self):
        before, after = Cube(BEFORE), Cube(AFTER)
        ran = self.run_command("kojak", "diff", "--full", BEFORE, AFTER)
        self.assertEqual((ran.status, ran.err), (0, ""))
        change = after.total("time") - before.total("time")
        time = next(line for line in ran.lines if line.startswith("Time "))
        for value in (before.total("time"), after.total("time"), change):
            self.assertIn(f"{value:.6f}", time)
        self.assertIn(f"{100 * change / before.total('time'):.1f} %", time)
        wait = after.total("mpi_barrier_wait") - before.total("mpi_barrier_wait")
        # Where there is no terminal, lines are at most 100 characters long.
        self.assertLessEqual(max(map(len, ran.lines)), 100)
        # The verdict stands first: the run's words are those of its own numbers.
        said = " ".join(ran.out.split("\n\n")[0].split())
        share = abs(change) / before.total("time")
        self.assertIn(f"{100 * share:.0f} % {'faster' if change < 0 else 'slower'} than {BEFORE}", said)
        self.assertIn("got worse: Wait at Barrier", said)
        self.assertIn(f"{before.total('time') / 4:.6f} s each", ran.out)
        # Without --full: no table, and each second once.
        short = self.run_command("kojak", "diff", BEFORE, AFTER)
        self.assertEqual(short.out.split("\n\n")[0], ran.out.split("\n\n")[0])
        self.assertNotIn("\nTime ", short.out)
        lists = dict(zip(*[iter(re.split(r"\n(Worse|Better|Only before|Only after) \(\d+\)\n", short.out)[1:])] * 2))
        self.assertIn(f"+{wait:.6f} s", lists["Worse"].splitlines()[0])
        self.assertIn("WaitAtBarrier", lists["Worse"].splitlines()[0])
        self.assertIn("WaitAtFence", lists["Only before"])
        self.assertNotIn("Delay Costs", short.out)

    def test_every_number_as_values(self):
        before, after = Cube(BEFORE), Cube(AFTER)
        for row in table(self.run_command("kojak", "diff", "--csv", BEFORE, AFTER).out):
            key = row["metric"], row["call path"]
            self.assertAlmostEqual(float(row["before"]), sum(before.rows.get(key, [0])), 9)
            self.assertAlmostEqual(float(row["after"]), sum(after.rows.get(key, [0])), 9)

    def test_a_report_and_itself(self):
        ran = self.run_command("kojak", "diff", AFTER, AFTER)
        self.assertIn("takes as long as", ran.out)
        self.assertIn("no kind of waiting got worse", " ".join(ran.out.split()))
        self.assertIsNone(re.search("^(Worse|Better|Only)", ran.out, re.M))

    def test_errors(self):
        self.assert_fails(self.run_command("kojak", "diff", AFTER), 1, "name two reports")
        self.assert_fails(self.run_command("kojak", "diff", AFTER, "absent.cube"), 2, "absent.cube")
        self.assert_fails(self.run_command("kojak", "diff", "-t", "200", AFTER, BEFORE), 1, "--threshold")
        self.assert_fails(self.run_command("kojak", "diff", "-o", "/nonexistent/a.html", AFTER, BEFORE), 4,
                          "/nonexistent/a.html")


class Series(CommandTest):
    """More than two reports, and what a script asks: is the last one worse?"""
    def run_of(self, processes, work, barrier, name):
        """Rank 0 works `work` seconds, the others `barrier` less, which they wait for it in a barrier that takes a second."""
        lines = [f"ENTER lid={rank} time=0 region=main" for rank in range(processes)]
        lines += [f"ENTER lid={rank} time={work - barrier} region=MPI_Barrier" for rank in range(1, processes)]
        lines += [f"ENTER lid=0 time={work} region=MPI_Barrier"]
        lines += [f"MPI_COLLEXIT lid={rank} time={work + 1}" for rank in range(processes)]
        lines += [f"EXIT lid={rank} time={work + 1}" for rank in range(processes)]
        self.file(f"{name}.txt", "\n".join(lines) + "\n")
        subprocess.run([BIN.parent / "tests" / "text_trace", f"{name}.txt", f"{name}.elg"], cwd=self.dir, check=True)
        self.assertEqual(self.run_command("expert", "-q", "-o", f"{name}.cube", f"{name}.elg").status, 0)
        return f"{name}.cube"

    def json(self, *words, status=0):
        ran = self.run_command("kojak", "diff", "--json", "-", *words)
        self.assertEqual(ran.status, status, ran.err)
        return json.loads(ran.out), ran.err

    def test_scaling(self):
        # 2, 4 and 8 processes: 15, 9 and 7 s of work and one of the barrier. Waiting of all but rank 0: 1 x 1.5, 3 x 3
        # and 7 x 3.5 s.
        names = [self.run_of(2, 15, 1.5, "a"), self.run_of(4, 9, 3, "b"), self.run_of(8, 7, 3.5, "c")]
        result, _ = self.json(*names)
        self.assertEqual([run["processes"] for run in result["runs"]], [2, 4, 8])
        for run, time, waiting, ideal, balance in zip(
                result["runs"], (16, 10, 8), (1.5, 9, 24.5), (1, 16 / 10 / 2, 16 / 8 / 4),
                ((15 + 13.5) / 2 / 15, (9 + 3 * 6) / 4 / 9, (7 + 7 * 3.5) / 8 / 7)):
            self.assertAlmostEqual(run["time"], time, 9)
            self.assertAlmostEqual(run["waiting"], waiting, 9)
            self.assertAlmostEqual(run["waits"]["mpi_barrier_wait"], waiting, 9)
            self.assertAlmostEqual(run["of_ideal"], ideal, 9)
            self.assertAlmostEqual(run["efficiency"]["load_balance"], balance, 9)
            self.assertAlmostEqual(run["efficiency"]["communication"], (time - 1) / time, 9)
        self.assertNotIn("regressions", result)
        weak, _ = self.json("--weak", *names)
        self.assertEqual([round(run["of_ideal"], 9) for run in weak["runs"]], [1, 1.6, 2])
        ran = self.run_command("kojak", "diff", *names)
        self.assertEqual((ran.status, ran.err), (0, ""))
        # Of the last row: 8 processes, 8 s, twice as fast, half of the ideal, 31.5 s / 8 of 8 s computing; waiting 24.5 / 8 of 8.
        for cell in ("8.000000", "2.00", "50.0 %", "49.2 %", "56.2 %", "38.3 %", "c.cube"):
            self.assertIn(cell, ran.lines[3])
        wait = next(line for line in ran.lines if line.startswith("Wait at Barrier"))
        self.assertEqual(wait.split()[3::2], ["4.7", "22.5", "38.3"])  # 1.5 / 2 / 16, 9 / 4 / 10
        rows = table(self.run_command("kojak", "diff", "--csv", *names).out)
        self.assertEqual([(row["report"], float(row["seconds"])) for row in rows if row["metric"] == "mpi_barrier_wait"],
                         [("a.cube", 1.5), ("b.cube", 9.0), ("c.cube", 24.5)])

    def test_regressions(self):
        # 10 s. The second one takes 10.5 s, its wait grows by 0.5 s for one of two: 5 % and 2.5 %.
        fast, slow = self.run_of(2, 9, 1, "fast"), self.run_of(2, 9.5, 1.5, "slow")
        for limit, metrics in ((2, ["time", "mpi_barrier_wait"]), (3, ["time"]), (5, []), (100, [])):
            result, said = self.json("--fail-above", limit, fast, slow, status=3 if metrics else 0)
            self.assertEqual([worse["metric"] for worse in result["regressions"]], metrics, limit)
            self.assertEqual("slow.cube: Time grew from 10.000000 to 10.500000 s" in said, bool(metrics))
        result, _ = self.json("--fail-above", 0, slow, fast)  # better
        self.assertEqual(result["regressions"], [])
        self.json("--fail-above", 0, fast, fast)  # equal
        # Against the median of those before, of an even number the mean of the two in the middle: 10.25 s.
        self.json("--fail-above", 2, fast, slow, slow, slow)
        result, _ = self.json("--fail-above", 2, fast, slow, slow, status=3)
        self.assertEqual([(w["metric"], w["before"], w["after"]) for w in result["regressions"]], [("time", 10.25, 10.5)])
        ran = self.run_command("kojak", "diff", "--fail-above", "4.9", fast, slow)
        self.assertEqual(ran.status, 3)
        self.assertIn("slow.cube is 5.0 % slower than fast.cube (10.5 s, not 10.0 s); it waits 0.50 s more; "
                      "got worse: Wait at Barrier (1.5 s, not 1.0 s).", " ".join(ran.out.split()))

    def test_errors(self):
        two, three = self.run_of(2, 9, 1, "two"), self.run_of(3, 9, 1, "three")
        self.assert_fails(self.run_command("kojak", "diff", "--json", "-", "--fail-above", "5", two, three), 2, "three.cube",
                          "different numbers of processes")
        self.assert_fails(self.run_command("kojak", "diff", "--fail-above", "-1", two, two), 1, "--fail-above")
        self.assert_fails(self.run_command("kojak", "diff", "-o", "a.html", two, two, two), 1, "a page compares two")
        self.assert_fails(self.run_command("kojak", "diff", two, two, "absent.cube"), 2, "absent.cube")
        self.assert_fails(self.run_command("kojak", "diff", "--json", "-", "--csv", two, two, two), 1, "standard output")
        ran = self.run_command("kojak", "diff", "--json", "/nonexistent/a.json", two, two, two)
        self.assertEqual(ran.status, 4)
        self.assert_fails(self.run_command("kojak", "diff", "--json", two, two, two), 1, "two.cube")


class Html(CommandTest):
    def test_names_the_page_after_the_report(self):
        report = self.file("run.cube.gz", gzip.compress(AFTER.read_bytes()))
        ran = self.run_command("kojak", "html", report)
        self.assertEqual(ran.status, 0)
        self.assertIn("run.html", ran.err)
        page = (self.dir / "run.html").read_text()
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertEqual(re.findall(r"https?://", page.split("<script")[0]), [])
        self.assertEqual(self.run_command("kojak", "html", "-q", "-o", "-", report).out, page)

    def test_errors(self):
        self.assert_fails(self.run_command("kojak", "html"), 1, "name a report")
        self.assert_fails(self.run_command("kojak", "html", "--max-size", "0", AFTER), 1, "--max-size")
        self.assert_fails(self.run_command("kojak", "html", "-o", "/nonexistent/a.html", AFTER), 4,
                          "/nonexistent/a.html")
        self.assert_fails(self.run_command("kojak", "html", "-t", "absent.elg", "-o", "a.html", AFTER), 2,
                          "absent.elg")
        self.assert_fails(self.run_command("kojak", "html", "-t", "-", "-o", "a.html", AFTER), 2,
                          "the file is empty")  # standard input of this test
        self.assertFalse((self.dir / "a.html").exists())


if __name__ == "__main__":
    unittest.main()
