"""elg_stat: its first lines, the table, other formats, errors."""
import csv
import gzip
import io
import json
import re
import unittest

from cli import REFERENCE, CommandTest

TRACE = REFERENCE / "gats.elg"


def classic_profile():
    """Calls and exclusive time of each region from the classic listing, by a pass of its own."""
    strings, regions, calls, exclusive = {}, {}, {}, {}
    stacks = {}
    first = last = None
    for line in (REFERENCE / "gats.print.txt").read_text().splitlines():
        name = re.search("<(.*?)>", line).group(1)
        value = dict(re.findall(r"(\w+) *: *([\d.]+)", line))
        if name == "STRING":
            strings[value["strid"]] = line.split("str    : ")[1].rstrip()
        elif name == "REGION":
            regions[value["rid"]] = strings[value["rnid"]]
        if "time" not in value:
            continue
        time = float(value["time"])
        first, last = (time if first is None else first), time
        stack = stacks.setdefault(value["lid"], [])
        if name == "ENTER":
            region = regions[value["rid"]]
            calls[region] = calls.get(region, 0) + 1
            stack.append([region, time, 0.0])
        elif name == "EXIT" or name.endswith("COLLEXIT") or name == "MPI_WINEXIT":
            region, begun, inside = stack.pop()
            exclusive[region] = exclusive.get(region, 0.0) + (time - begun) - inside
            if stack:
                stack[-1][2] += time - begun
    return calls, exclusive, last - first


class Statistics(CommandTest):
    def test_first_lines(self):
        ran = self.run_command("elg_stat", TRACE)
        self.assertEqual((ran.status, ran.err), (0, ""))
        self.assertEqual(ran.lines[0], "events: 305")
        self.assertEqual(ran.lines[1], "locations: 4")
        self.assertRegex(ran.lines[2], r"^time: \d+\.\d+ s$")
        _, _, time = classic_profile()
        self.assertAlmostEqual(float(ran.lines[2].split()[1]), time, delta=2e-6)

    def test_calls_and_time_of_each_region(self):
        calls, exclusive, _ = classic_profile()
        rows = list(csv.DictReader(io.StringIO(self.run_command("elg_stat", "--csv", TRACE).out)))
        self.assertEqual({row["region"]: int(row["calls"]) for row in rows}, calls)
        for row in rows:  # the listing has microseconds
            self.assertAlmostEqual(float(row["exclusive s"]), exclusive[row["region"]],
                                   delta=2e-6 * (1 + calls[row["region"]]), msg=row["region"])
        times = [float(row["exclusive s"]) for row in rows]
        self.assertEqual(times, sorted(times, reverse=True))

    def test_bytes(self):
        rows = {row["region"]: row for row in csv.DictReader(
            io.StringIO(self.run_command("elg_stat", "--csv", TRACE).out))}
        listing = (REFERENCE / "gats.print.txt").read_text()

        def total(name):
            return sum(int(count) for count in
                       re.findall(rf"<{name}> .*nbytes : *(\d+)", listing))
        self.assertNotIn("MPI_Accumulate", rows)
        self.assertEqual(int(rows["MPI_Put"]["sent B"]), total("MPI_PUT_1TS"))
        self.assertEqual(int(rows["MPI_Get"]["received B"]), total("MPI_GET_1TS"))
        self.assertGreater(int(rows["MPI_Put"]["sent B"]), 0)

    def test_json_says_the_same(self):
        table = json.loads(self.run_command("elg_stat", "--json", TRACE).out)
        calls, _, _ = classic_profile()
        self.assertEqual((table["events"], table["locations"]), (305, 4))
        self.assertEqual({row["name"]: row["calls"] for row in table["regions"]}, calls)
        self.assertEqual(table["records"]["MPI_WINEXIT"], 38)

    def test_top_and_records(self):
        ran = self.run_command("elg_stat", "--top", 3, "--records", TRACE)
        self.assertEqual(len([line for line in ran.lines if re.match(r"\w+ +\d+ +\d+\.", line)]), 3)
        self.assertIn("... and 14 more", ran.out)
        self.assertRegex(ran.out, r"(?m)^MPI_WINEXIT +38$")

    def test_bytes_between_processes(self):
        listing = (REFERENCE / "gats.print.txt").read_text()
        starts = re.findall(r"<(MPI_PUT_1TS|MPI_GET_1TS)> .*?lid *: *(\d+).*?dlid *: *(\d+).*?nbytes *: *(\d+)",
                            listing)
        expected = {}
        for _, source, target, count in starts:  # where data start, and where they go
            key = (source, target)
            expected[key] = expected.get(key, 0) + int(count)
        self.assertTrue(expected)
        rows = csv.DictReader(io.StringIO(self.run_command("elg_stat", "--csv", "--matrix", TRACE).out))
        self.assertEqual({(row["from"], row["to"]): int(row["one-sided B"]) for row in rows}, expected)
        table = json.loads(self.run_command("elg_stat", "--json", TRACE).out)
        self.assertEqual({(str(flow["from"]), str(flow["to"])): flow["transfer_bytes"]
                          for flow in table["flows"]}, expected)
        for process in table["processes"]:
            rank = str(process["rank"])
            moved = sum(count for (source, target), count in expected.items() if rank in (source, target))
            self.assertGreaterEqual(moved, process["put"] + process["got"])

    def test_processes_and_their_calls(self):
        calls, exclusive, _ = classic_profile()
        rows = list(csv.DictReader(io.StringIO(
            self.run_command("elg_stat", "--csv", "--calls", TRACE).out)))
        self.assertEqual({row["process"] for row in rows}, set("0123"))
        self.assertEqual(sum(int(row["calls"]) for row in rows), sum(calls.values()))
        rows = list(csv.DictReader(io.StringIO(
            self.run_command("elg_stat", "--csv", "-p", TRACE).out)))
        self.assertAlmostEqual(sum(float(row["time s"]) for row in rows), sum(exclusive.values()), delta=1e-3)
        mpi = sum(time for name, time in exclusive.items() if name.startswith("MPI_"))
        self.assertAlmostEqual(sum(float(row["MPI s"]) for row in rows), mpi, delta=1e-3)
        text = self.run_command("elg_stat", "--matrix", "--processes", "--calls", TRACE).out
        self.assertIn("bytes of one-sided transfers", text)
        self.assert_fails(self.run_command("elg_stat", "--csv", "--calls", "--matrix", TRACE), 1, "--csv")

    def test_gzip_and_standard_input(self):
        whole = self.run_command("elg_stat", TRACE).out
        data = gzip.compress(TRACE.read_bytes())
        self.assertEqual(self.run_command("elg_stat", self.file("a.gz", data)).out, whole)
        self.assertEqual(self.run_command("elg_stat", "-", stdin=data).out, whole)

    def test_errors(self):
        self.assert_fails(self.run_command("elg_stat", "none.elg"), 2, "none.elg")
        self.assert_fails(self.run_command("elg_stat"), 1, "--help")
        cut = self.file("cut.elg", TRACE.read_bytes()[:-5])
        ran = self.run_command("elg_stat", cut)
        self.assertEqual((ran.status, ran.lines[0]), (3, "events: 304"))
        self.assertIn("the file ends inside a record", ran.err)


if __name__ == "__main__":
    unittest.main()
