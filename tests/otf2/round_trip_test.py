"""elg2otf2 and back: otf2elg brings the same trace back, and other readers find whole OTF2 in the archive.

A tick is a nanosecond. Where all times are whole ticks the trace comes back bit for bit; else every record is the same
but for its time, which is right to half a tick, and severities to one tick for each call.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import otf2
from otf2 import events as e

from scorep_run import ScorepRun

BIN = pathlib.Path(os.environ["KOJAK_BIN"])
REFERENCE = pathlib.Path(os.environ["KOJAK_REFERENCE"])
CASES = pathlib.Path(os.environ["KOJAK_CASES"])
KEPT = pathlib.Path(os.environ["KOJAK_KEPT"])
TEXT_TRACE = os.environ["KOJAK_TEXT_TRACE"]
TICK = 1e-9
MOST_KEPT = 24
MEASURE = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
TIME = re.compile(rb"\b(time|exit)=(\S+)")


class RoundTrip(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="kojak-otf2-")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

    def run_tool(self, *words, status=(0,)):
        done = subprocess.run([BIN / words[0], *map(str, words[1:])], cwd=self.dir, capture_output=True, check=False,
                              timeout=120)
        self.assertIn(done.returncode, status, done.stderr)
        return done

    def trace_of(self, text, name="a"):
        """NAME.elg, which elg_print lists so."""
        source, trace = self.dir / f"{name}.txt", self.dir / f"{name}.elg"
        source.write_text(text)
        subprocess.run([TEXT_TRACE, source, trace], check=True, timeout=60)
        return trace

    def there_and_back(self, trace, *options):
        """The archive's anchor file, and the trace that comes back."""
        archive, back = self.dir / "a.otf2", self.dir / "back.elg"
        wrong = self.run_tool("elg2otf2", "-q", *options, "-o", archive, trace, status=(0, 3)).returncode
        self.run_tool("otf2elg", "-q", "-o", back, archive, status=(wrong,))
        return archive / "traces.otf2", back

    def peak(self, trace):
        """Of elg2otf2 in MB. A small interpreter starts it, since a child begins with what its parent takes."""
        ran = subprocess.run([sys.executable, "-S", "-c", MEASURE, BIN / "elg2otf2", "-q", "-o", self.dir / "a.otf2",
                              trace], capture_output=True, check=True, timeout=60)
        return int(ran.stdout) / 1000

    def listing(self, trace):
        return self.run_tool("elg_print", "-q", trace, status=(0, 3)).stdout.splitlines()

    def severities(self, trace):
        self.run_tool("expert", "-q", "--json", "a.json", "-o", "a.cube", trace, status=(0, 3))
        report = json.loads((self.dir / "a.json").read_text())
        return {metric["name"]: metric["total"] for metric in report["metrics"]}

    def assert_same_trace(self, trace, back):
        if trace.read_bytes() == back.read_bytes():
            return
        before, after = self.listing(trace), self.listing(back)
        self.assertEqual(len(before), len(after))
        calls = 0
        for one, other in zip(before, after):
            calls += one.startswith(b"ENTER")
            if one == other:
                continue
            self.assertEqual(TIME.sub(b"", one), TIME.sub(b"", other))
            for (_, right), (_, got) in zip(TIME.findall(one), TIME.findall(other)):
                self.assertLessEqual(abs(float(right) - float(got)), 0.51 * TICK, one)
        right, got = self.severities(trace), self.severities(back)
        self.assertEqual(right.keys(), got.keys())
        for metric, value in right.items():
            self.assertAlmostEqual(value, got[metric], delta=max(1, calls) * TICK, msg=metric)

    def assert_whole(self, anchor):
        """What another reader finds: nothing to complain of, regions nested, calls of collectives and locks in pairs,
        as many events as the definitions say, and every transfer that ends was begun."""
        printed = subprocess.run(["otf2-print", "--silent", anchor], capture_output=True, text=True, check=False,
                                 timeout=60)
        self.assertEqual((printed.returncode, printed.stderr), (0, ""))
        counts, kinds, open_regions = collections.Counter(), collections.Counter(), collections.defaultdict(list)
        begun, collectives, last = set(), collections.Counter(), {}
        with otf2.reader.open(str(anchor)) as archive:
            for location, event in archive.events:
                counts[location] += 1
                kinds[type(event)] += 1
                self.assertGreaterEqual(event.time, last.get(location, 0))
                last[location] = event.time
                if isinstance(event, e.Enter):
                    open_regions[location].append(event.region)
                elif isinstance(event, e.Leave):
                    self.assertEqual(open_regions[location].pop(), event.region)
                elif isinstance(event, (e.MpiCollectiveBegin, e.RmaCollectiveBegin)):
                    collectives[location] += 1
                elif isinstance(event, (e.MpiCollectiveEnd, e.RmaCollectiveEnd)):
                    collectives[location] -= 1
                    self.assertEqual(collectives[location], 0)
                elif isinstance(event, (e.RmaPut, e.RmaGet, e.RmaAtomic)):
                    begun.add((location, event.win, event.matching_id))
                elif isinstance(event, (e.RmaOpCompleteNonBlocking, e.RmaOpCompleteRemote)):
                    self.assertIn((location, event.win, event.matching_id), begun)
            for location in archive.definitions.locations:
                self.assertEqual(location.number_of_events, counts[location])
        self.assertEqual([regions for regions in open_regions.values() if regions], [])
        return kinds

    # ---- traces
    def test_cases(self):
        """The traces of tests/cases, which have everything that is hard to get right."""
        cases = sorted(CASES.glob("*.case"))
        self.assertGreater(len(cases), 50)
        for case in cases:
            with self.subTest(case=case.name):
                trace = self.trace_of(case.read_text().split("--- severities")[0])
                anchor, back = self.there_and_back(trace)
                self.assert_same_trace(trace, back)
                if case.name.startswith(("fence", "late", "lock", "early")):
                    self.assert_whole(anchor)

    def test_who_serves(self):
        """Other readers find it as a property of the location: a process and a thread."""
        for case, location, since in (("service", 2, "2"), ("service_thread", 2, "1")):
            anchor, _ = self.there_and_back(self.trace_of((CASES / f"{case}.case").read_text().split("--- severities")[0]))
            printed = subprocess.run(["otf2-print", "-G", anchor], capture_output=True, text=True, check=True, timeout=60)
            told = [line for line in printed.stdout.splitlines() if line.startswith("LOCATION_PROPERTY")]
            self.assertEqual(len(told), 1)
            self.assertRegex(told[0], rf"Location: .*<{location}>.*service\.since.*{since}\.?0*$")

    def test_classic_traces(self):
        for name in ("gats", "fence"):
            with self.subTest(name):
                anchor, back = self.there_and_back(REFERENCE / f"{name}.elg")
                self.assert_same_trace(REFERENCE / f"{name}.elg", back)
                entered = sum(line.startswith(b"ENTER") for line in self.listing(REFERENCE / f"{name}.elg"))
                self.assertEqual(self.assert_whole(anchor)[e.Enter], entered)

    def test_kept_traces_of_programs(self):
        """Merged traces that other tests have left, as many as there are up to a number."""
        kept = sorted(KEPT.glob("programs/runs/*/*.elg"))
        for trace in kept[::max(1, len(kept) // MOST_KEPT)]:
            with self.subTest(trace=str(trace)):
                self.assert_same_trace(trace, self.there_and_back(trace)[1])

    # ---- as other readers see it
    def test_the_standard_records_say_the_waits(self):
        """What OTF2's own records say is enough for all severities, where the trace holds nothing else."""
        for name in ("gats", "fence"):
            with self.subTest(name):
                self.run_tool("otf2elg", "-q", "-o", "a.elg", REFERENCE / "scorep" / name)
                self.run_tool("elg2otf2", "-q", "-o", "a.otf2", "a.elg")
                self.run_tool("otf2elg", "-q", "--foreign", "-o", "foreign.elg", "a.otf2")
                right, got = self.severities(self.dir / "a.elg"), self.severities(self.dir / "foreign.elg")
                self.assertGreater(right["mpi_rma_synchronization"], 1)
                for metric, value in right.items():
                    self.assertAlmostEqual(value, got[metric], delta=right["visits"] * TICK, msg=metric)

    def test_operations_stand_in_their_calls(self):
        """Gets and atomic operations are read back from OTF2's own records; a fence begins where it is entered."""
        run = ScorepRun(self.dir / "run", 2)
        for rank in (0, 1):
            run.call(rank, 100_000, 100_100, "MPI_Win_create", run.created())
            run.call(rank, 200_000, 200_100, "MPI_Win_fence", run.fence())
        run.call(1, 300_000, 300_010, "MPI_Get", run.get(0, 24, 1))
        run.call(1, 400_000, 400_010, "MPI_Fetch_and_op", run.atomic(0, "fetch_and_op", 4, 8, 1))
        run.call(1, 410_000, 410_010, "MPI_Compare_and_swap", run.atomic(0, "compare_and_swap", 8, 4, 1))
        run.call(1, 420_000, 420_010, "MPI_Get_accumulate", run.atomic(0, "accumulate", 32, 64, 1))
        run.call(1, 430_000, 430_010, "MPI_Accumulate", run.atomic(0, "accumulate", 16, 0, 1))
        run.call(1, 440_000, 440_010, "MPI_Get_accumulate", run.get(0, 72, 1))  # MPI_NO_OP: nothing is put
        run.call(1, 500_000, 500_010, "MPI_Put", run.put(0, 40, 1))
        for rank in (0, 1):
            run.call(rank, 600_000, 700_000 + rank, "MPI_Win_fence", run.done(1), run.fence())
        run.close(1_000_000)
        self.run_tool("otf2elg", "-o", "a.elg", "run")
        for source in ("file", "pipe"):
            with self.subTest(source):
                words = ("elg2otf2", "-o", "a.otf2", "a.elg" if source == "file" else "-")
                subprocess.run([BIN / words[0], *words[1:]], cwd=self.dir, check=True, timeout=60,
                               input=(self.dir / "a.elg").read_bytes())
                regions, found = [], []
                with otf2.reader.open(str(self.dir / "a.otf2/traces.otf2")) as archive:
                    for location, event in archive.events:
                        if location.group.name.endswith("0"):
                            continue
                        if isinstance(event, e.Enter):
                            regions.append((event.region.name, event.time))
                        elif isinstance(event, e.Leave):
                            regions.pop()
                        elif isinstance(event, (e.RmaGet, e.RmaPut)):
                            found.append((type(event).__name__, regions[-1][0], event.remote, event.bytes))
                        elif isinstance(event, e.RmaAtomic):
                            found.append((str(event.type).rsplit(".", 1)[-1], regions[-1][0], event.remote, event.bytes_sent,
                                          event.bytes_received))
                        elif isinstance(event, e.RmaCollectiveBegin):
                            self.assertEqual(event.time, regions[-1][1])
                # From a pipe, where nobody can look ahead, a get stands where its data start, here in the same call.
                self.assertEqual(found, [("RmaGet", "MPI_Get", 0, 24),
                                         ("FETCH_AND_ACCUMULATE", "MPI_Fetch_and_op", 0, 4, 8),
                                         ("COMPARE_AND_SWAP", "MPI_Compare_and_swap", 0, 8, 4),
                                         ("FETCH_AND_ACCUMULATE", "MPI_Get_accumulate", 0, 32, 64),
                                         ("ACCUMULATE", "MPI_Accumulate", 0, 16, 0),
                                         ("FETCH_AND_ACCUMULATE", "MPI_Get_accumulate", 0, 0, 72),
                                         ("RmaPut", "MPI_Put", 0, 40)])
                self.assert_whole(self.dir / "a.otf2/traces.otf2")
                self.run_tool("otf2elg", "-o", "back.elg", "a.otf2")
                self.assert_same_trace(self.dir / "a.elg", self.dir / "back.elg")
        self.run_tool("elg2otf2", "-o", "a.otf2", "a.elg")
        done = self.run_tool("otf2elg", "--foreign", "-o", "foreign.elg", "a.otf2")
        self.assertNotIn(b"one-sided operation", done.stderr)
        about = [re.sub(rb"lid=|time=\S*|[dsw]id=\S*", b"", line) for line in self.listing(self.dir / "foreign.elg")
                 if re.match(rb"MPI_(GET|PUT)", line)]
        same = [re.sub(rb"lid=|time=\S*|[dsw]id=\S*", b"", line) for line in self.listing(self.dir / "a.elg")
                if re.match(rb"MPI_(GET|PUT)", line)]
        self.assertEqual(about, same)
        # Three records of each of five gets, two of each of five puts.
        self.assertEqual(len(same), 5 * 3 + 5 * 2)

    def test_gets_after_one_whose_data_start_late_or_never(self):
        """Later gets stand in their calls. No more than 65,536 gets are looked at ahead of the call, so that memory has
        a bound: where data start after as many others, the get stands there."""
        start = "MPI_GET_1TS lid=1 time=1 dlid=0 wid=0 rmaid=1000000 sent=8"
        for gets, tail, places in ((100, [start], ["main"] + 100 * ["MPI_Get"]), (100, [], 100 * ["MPI_Get"]),
                                   (66_000, [start], 66_000 * ["MPI_Get"] + ["main"])):
            with self.subTest(gets=gets, tail=tail):
                lines = ["ENTER lid=0 time=0 region=main", "ENTER lid=1 time=0 region=main",
                         "MPI_GET_1TO lid=0 time=1e-6 rmaid=1000000 wid=0"]
                for i in range(gets):
                    tick = f"{10 * i + 2000}e-9"
                    lines += [f"ENTER lid=0 time={tick} region=MPI_Get", f"MPI_GET_1TO lid=0 time={tick} rmaid={i} wid=0",
                              f"MPI_GET_1TS lid=1 time={tick} dlid=0 wid=0 rmaid={i} sent=8",
                              f"EXIT lid=0 time={10 * i + 2005}e-9"]
                gets_trace = self.trace_of("\n".join(lines + tail), "gets")
                anchor, back = self.there_and_back(gets_trace)
                self.assert_same_trace(gets_trace, back)
                regions, found = [], []
                with otf2.reader.open(str(anchor)) as archive:
                    for location, event in archive.events:
                        if location.group.name.endswith("1"):
                            continue
                        if isinstance(event, e.Enter):
                            regions.append(event.region.name)
                        elif isinstance(event, e.Leave):
                            regions.pop()
                        elif isinstance(event, e.RmaGet):
                            found.append(regions[-1])
                self.assertEqual(found, places)

    def test_one_flag_a_record(self):
        anchor, back = self.there_and_back(REFERENCE / "gats.elg", "--compat")
        self.assert_same_trace(REFERENCE / "gats.elg", back)
        levels = set()
        with otf2.reader.open(str(anchor)) as archive:
            for _, event in archive.events:
                if isinstance(event, (e.RmaGroupSync, e.RmaCollectiveEnd)):
                    levels.add(int(event.sync_level.value))
        self.assertEqual(levels, {1})  # PROCESS

    def test_a_long_trace_takes_little_memory(self):
        """Events are written as they come: what the program takes does not grow with the archive."""
        lines = ["ENTER lid=0 time=0 region=main", "ENTER lid=1 time=0 region=main"]
        for i in range(200_000):  # not in the archive's order, so that half of them have attributes
            lines += [f"ENTER lid={rank} time={i + 1}e-5 region=f" for rank in (1, 0)]
            lines += [f"EXIT lid={rank} time={i + 1}.5e-5" for rank in (1, 0)]
        long = self.trace_of("\n".join(lines), "long")

        small, large = self.peak(REFERENCE / "gats.elg"), self.peak(long)
        events = (self.dir / "a.otf2/traces").glob("*.evt")
        written = sum(file.stat().st_size for file in events) / 1e6
        self.assertGreater(written, 12)
        self.assertLess(large - small, written / 3)
        self.run_tool("otf2elg", "-q", "-o", "back.elg", "a.otf2")
        self.assert_same_trace(long, self.dir / "back.elg")

    def test_whose_functions_regions_are(self):
        names = {"main": "COMPILER", "MPI_Barrier": "MPI", "shmem_quiet": "SHMEM", "ARMCI_Fence": "UNKNOWN", "upc_fence": "UPC"}
        trace = self.trace_of("".join(f"ENTER lid=0 time={i} region={name}\n" for i, name in enumerate(names)) +
                              "".join(f"EXIT lid=0 time={9 + i}\n" for i in range(len(names))))
        anchor, back = self.there_and_back(trace)
        self.assert_same_trace(trace, back)
        with otf2.reader.open(str(anchor)) as archive:
            found = {region.name: str(region.paradigm).rsplit(".", 1)[-1] for region in archive.definitions.regions}
        self.assertEqual({name: found[name] for name in names}, names)

    def test_what_a_model_shares_is_a_window(self):
        """Process 0 puts 8 bytes by SHMEM and gets 16 by ARMCI; both end while it is in the other model's call."""
        trace = self.trace_of("""
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=0 time=1 region=shmem_putmem
PUT_1TS lid=0 time=1 dlid=1 rmaid=1 sent=8
EXIT lid=0 time=2
ENTER lid=0 time=3 region=ARMCI_NbGet
GET_1TS lid=1 time=3.5 dlid=0 rmaid=2 sent=16
PUT_1TE lid=1 time=4 slid=0 rmaid=1 recvd=8
EXIT lid=0 time=5
ENTER lid=0 time=6 region=shmem_quiet
GET_1TE lid=0 time=7 slid=1 rmaid=2 recvd=16
EXIT lid=0 time=8
EXIT lid=0 time=9
EXIT lid=1 time=9
""")
        anchor, back = self.there_and_back(trace)
        self.assertEqual(trace.read_bytes(), back.read_bytes())
        self.assert_whole(anchor)
        found = []
        with otf2.reader.open(str(anchor)) as archive:
            events = list(archive.events)
            start = min(event.time for _, event in events)
            for location, event in events:
                if hasattr(event, "win"):
                    more = (event.bytes, event.remote) if hasattr(event, "bytes") else ()
                    found.append((location.group.name, type(event).__name__, event.win.name, event.matching_id,
                                  (event.time - start) * TICK, *more))
            windows = {window.name: [rank.group.name for rank in window.comm.group.members]
                       for window in archive.definitions.rma_wins}
        who = "MPI Rank 0"
        self.assertEqual(found, [
            (who, "RmaPut", "SHMEM memory", 1, 1, 8, 1),
            (who, "RmaGet", "ARMCI memory", 2, 3.5, 16, 1),
            (who, "RmaOpCompleteNonBlocking", "SHMEM memory", 1, 4),
            (who, "RmaOpCompleteRemote", "SHMEM memory", 1, 4),
            (who, "RmaOpCompleteNonBlocking", "ARMCI memory", 2, 7),
            (who, "RmaOpCompleteRemote", "ARMCI memory", 2, 7)])
        self.assertEqual(windows, {f"{model} memory": ["MPI Rank 0", "MPI Rank 1"] for model in ("SHMEM", "ARMCI")})

    # ---- files
    def test_an_older_archive_is_replaced_and_nothing_else_is(self):
        self.there_and_back(REFERENCE / "gats.elg")
        self.there_and_back(REFERENCE / "fence.elg")
        self.assertEqual({path.name for path in self.dir.iterdir()}, {"a.otf2", "back.elg"})
        (self.dir / "mine").mkdir()
        (self.dir / "mine/file").write_text("mine")
        done = self.run_tool("elg2otf2", "-o", "mine", REFERENCE / "gats.elg", status=(4,))
        self.assertIn(b"is no OTF2 archive, so it is not replaced", done.stderr)
        self.assertEqual((self.dir / "mine/file").read_text(), "mine")

    def test_a_trace_that_is_cut_off(self):
        cut = self.dir / "cut.elg"
        whole = (REFERENCE / "gats.elg").read_bytes()
        cut.write_bytes(whole[:len(whole) * 3 // 4])
        done = self.run_tool("elg2otf2", "-o", "a.otf2", cut, status=(3,))
        self.assertIn(b"cut.elg", done.stderr)
        for options in ((), ("--foreign",)):
            done = self.run_tool("otf2elg", *options, "-o", "back.elg", "a.otf2", status=(3,))
            self.assertEqual(done.stderr.count(b"was damaged: the trace is cut off at its end\n"), 1)
        self.assert_whole(self.dir / "a.otf2/traces.otf2")
        cut.write_bytes(whole[:2000])  # inside the definitions
        self.run_tool("elg2otf2", "-o", "b.otf2", cut, status=(2,))
        self.assertFalse((self.dir / "b.otf2").exists())

    def test_what_a_cut_trace_lacks_is_said_in_its_archive(self):
        self.run_tool("otf2elg", "-q", "-o", "whole.elg", REFERENCE / "scorep/gats")
        whole = (self.dir / "whole.elg").read_bytes()
        (self.dir / "cut.elg").write_bytes(whole[:-3])  # in the middle of the last record
        self.run_tool("elg2otf2", "-o", "a.otf2", "cut.elg", status=(3,))
        self.run_tool("otf2elg", "-o", "back.elg", "a.otf2", status=(3,))
        done = self.run_tool("elg_print", "back.elg", status=(3,))
        self.assertEqual(done.stdout.count(b"LOST lid=absent what=6 count=1\n"), 1)
        self.assertIn(b"damaged end of the trace", done.stderr)

    def test_a_damaged_archive(self):
        """Whatever is cut off or changed in it: an error or a warning, or nothing that matters; never a crash."""
        self.run_tool("elg2otf2", "-q", "-o", "a.otf2", REFERENCE / "gats.elg")
        anchor = self.dir / "a.otf2/traces.otf2"
        for name in ("traces/0.evt", "traces/1.def", "traces.def"):
            file = self.dir / "a.otf2" / name
            whole = file.read_bytes()
            for part in range(1, 8):
                at = len(whole) * part // 8
                for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:]):
                    file.write_bytes(damaged)
                    done = self.run_tool("otf2elg", "-o", "back.elg", anchor, status=(0, 2, 3))
                    self.assertTrue(done.returncode == 0 or done.stderr, (name, at))
            file.write_bytes(whole)
        (self.dir / "a.otf2/traces/0.evt").unlink()
        self.run_tool("otf2elg", "-o", "back.elg", anchor, status=(2, 3))

    def test_usage(self):
        self.run_tool("elg2otf2", status=(1,))
        self.run_tool("elg2otf2", "-o", "-", REFERENCE / "gats.elg", status=(1,))
        self.run_tool("elg2otf2", "-o", "absent/a", REFERENCE / "gats.elg", status=(4,))


if __name__ == "__main__":
    unittest.main()
