"""elg2perfetto: what it writes is decoded by protobuf's own code and held against the trace it is made of."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "otf2"))
from scorep_run import ScorepRun  # noqa: E402

BIN = pathlib.Path(os.environ["KOJAK_BIN"])
REFERENCE = pathlib.Path(os.environ["KOJAK_REFERENCE"])
TEXT_TRACE = os.environ["KOJAK_TEXT_TRACE"]
HERE = pathlib.Path(__file__).parent
ABSOLUTE, OURS = 6, 64  # clocks


class Decoded:
    """Tracks, slices, flows and counters, as Perfetto puts them together."""

    def __init__(self, bytes_, messages):
        trace = messages.Trace()
        trace.ParseFromString(bytes_)
        self.tracks = {}
        self.events = []  # (time, order, track, event, name)
        self.places = collections.Counter()
        sequences = {}
        for order, packet in enumerate(trace.packet):
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.HasField("clock_snapshot"):
                clocks = {clock.clock_id: clock for clock in packet.clock_snapshot.clocks}
                assert clocks[OURS].is_incremental and clocks[ABSOLUTE].timestamp == 0
                sequences[packet.trusted_packet_sequence_id] = {
                    "time": clocks[OURS].timestamp, "names": {}, "places": {},
                    "track": packet.trace_packet_defaults.track_event_defaults.track_uuid}
                assert packet.trace_packet_defaults.timestamp_clock_id == OURS and packet.sequence_flags == 1
            if not packet.HasField("track_event"):
                continue
            sequence = sequences[packet.trusted_packet_sequence_id]
            assert packet.sequence_flags == 2
            for entry in packet.interned_data.event_names:
                sequence["names"][entry.iid] = entry.name
            for entry in packet.interned_data.source_locations:
                sequence["places"][entry.iid] = (entry.file_name, entry.line_number)
            if packet.timestamp_clock_id == ABSOLUTE:
                time = packet.timestamp
            else:
                time = sequence["time"] = sequence["time"] + packet.timestamp
            event = packet.track_event
            name = sequence["names"][event.name_iid] if event.name_iid else None
            if event.source_location_iid:
                self.places[sequence["places"][event.source_location_iid]] += 1
            self.events.append((time, order, sequence["track"], event, name))
        self.events.sort(key=lambda e: e[:2])

    def calls(self):
        """(rank, name, begin, end) of all slices of threads, which nest and are closed."""
        stacks, calls = collections.defaultdict(list), []
        for time, _, track, event, name in self.events:
            if not self.tracks[track].HasField("thread"):
                continue
            if event.type == event.SLICE_BEGIN:
                stacks[track].append((name, time))
            elif event.type == event.SLICE_END:
                name, begin = stacks[track].pop()
                calls.append((self.tracks[track].thread.pid - 1, name, begin, time))
        assert not any(stacks.values()), stacks
        return calls

    def flows(self):
        """{number: [(time, rank, name) where it begins, where it ends]}"""
        flows = collections.defaultdict(lambda: [[], []])
        for time, _, track, event, name in self.events:
            for side, numbers in enumerate((event.flow_ids, event.terminating_flow_ids)):
                for number in numbers:
                    flows[number][side].append((time, self.tracks[track].thread.pid - 1, name))
        return flows

    def counters(self, title):
        """{process: values}"""
        values = collections.defaultdict(list)
        for _, _, track, event, _ in self.events:
            if event.type == event.COUNTER and self.tracks[track].name == title:
                values[self.tracks[self.tracks[track].parent_uuid].process.pid - 1].append(event.counter_value)
        return values

    def waits(self):
        """(title, begin, end, {fact: text}) of the slices below "Worst waits"."""
        found, open_ = [], {}
        for time, _, track, event, name in self.events:
            parent = self.tracks.get(self.tracks[track].parent_uuid)
            if parent is None or parent.name != "Worst waits":
                continue
            if event.type == event.SLICE_BEGIN:
                assert track not in open_
                open_[track] = (name, time, {f.name: f.string_value for f in event.debug_annotations})
            else:
                name, begin, facts = open_.pop(track)
                found.append((name, begin, time, facts))
        assert not open_
        return found


class DecodedJson:
    """The same of Chrome's format."""

    def __init__(self, text):
        self.names, self.open, self.called, self.values, self.found = {}, collections.defaultdict(list), [], {}, []
        moments, self.connected = {}, collections.defaultdict(lambda: [[], []])
        for event in sorted(json.loads(text)["traceEvents"], key=lambda e: float(e.get("ts", -1))):
            phase, thread = event["ph"], (event["pid"], event["tid"])
            time = round(event.get("ts", 0) * 1000)
            if phase == "M":
                key = event["pid"] if event["name"] == "process_name" else thread
                assert key not in self.names
                self.names[key] = event["args"]["name"]
            elif phase == "B":
                self.open[thread].append((event["name"], time, event["cat"]))
            elif phase == "E":
                name, begin, _ = self.open[thread].pop()
                assert event["name"] == name  # some viewers end nothing else
                self.called.append((event["pid"] - 1, name, begin, time))
            elif phase == "i":
                moments[thread, time] = event["name"]
            elif phase in "sf":
                assert self.open[thread] or any(c[3] == time for c in self.called), "a flow outside of slices"
                self.connected[event["id"]][phase == "f"].append((time, event["pid"] - 1, moments[thread, time]))
            elif phase == "C":
                self.values.setdefault(event["name"], {}).setdefault(event["pid"] - 1, []).append(event["args"]["value"])
            else:
                assert phase == "X" and self.names[event["pid"]] == "Worst waits"
                assert self.names[thread] == event["name"]
                self.found.append((event["name"], time, time + round(event["dur"] * 1000), event["args"]))
        assert not any(self.open.values())


class Elg2Perfetto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="kojak-perfetto-")
        subprocess.run(["protoc", f"--proto_path={HERE}", f"--python_out={cls.folder.name}", "perfetto.proto"],
                       check=True)
        sys.path.insert(0, cls.folder.name)
        import perfetto_pb2
        cls.messages = perfetto_pb2

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_tool(self, *words, status=0):
        done = subprocess.run([BIN / words[0], *map(str, words[1:])], cwd=self.folder.name, capture_output=True,
                              check=False, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stdout

    def decoded(self, trace, *options):
        return Decoded(self.run_tool("elg2perfetto", "-o", "-", *options, trace), self.messages)

    def test_calls_are_those_of_the_trace(self):
        for name in ("gats.elg", "fence.elg"):
            trace = REFERENCE / name
            calls = self.decoded(trace).calls()
            profile = json.loads(self.run_tool("elg_stat", "--json", trace))
            counted = collections.Counter(call[1] for call in calls)
            self.assertEqual(counted, {r["name"]: r["calls"] for r in profile["regions"] if r["calls"]})
            # Inclusive times, to a nanosecond a call.
            for region in profile["regions"]:
                seconds = sum(end - begin for _, n, begin, end in calls if n == region["name"]) * 1e-9
                self.assertAlmostEqual(seconds, region["inclusive"], delta=1e-9 * max(1, region["calls"]))

    def test_transfers_are_flows_that_begin_and_end_once(self):
        flows = self.decoded(REFERENCE / "gats.elg").flows()
        # Four epochs with a put of each of three origins, three with a get: gats.c.
        self.assertEqual(len(flows), 4 * 3 + 3 * 3)
        for begins, ends in flows.values():
            self.assertEqual((len(begins), len(ends)), (1, 1))
            (begin, origin, what), (end, target, ended) = begins[0], ends[0]
            self.assertLessEqual(begin, end)
            self.assertIn((what, ended), (("put starts", "put has ended"), ("get starts", "get has ended")))
            self.assertEqual((origin if what == "get starts" else target), 0)  # rank 0 is the target

    def test_counters_come_back_to_nothing(self):
        decoded = self.decoded(REFERENCE / "gats.elg")
        for title in ("one-sided bytes under way", "open epochs"):
            values = decoded.counters(title)
            self.assertEqual(sorted(values), [0, 1, 2, 3], title)
            for of_process in values.values():
                self.assertGreaterEqual(min(of_process), 0)
                self.assertEqual(of_process[-1], 0)
        self.assertEqual([max(v) for v in decoded.counters("open epochs").values()], [1] * 4)

    def test_counters_of_the_trace_are_tracks(self):
        # CYCLES changes three times; JOULES, bits of a double, is 0.5, 1.5 and 2.25: rounded, the last two are alike.
        folder = pathlib.Path(self.folder.name)
        (folder / "counted.txt").write_text("""
METRIC metid=0 metnid="CYCLES"
METRIC metid=1 metnid="JOULES" dtype=1
ENTER lid=0 time=0 region=main metv=[7,4602678819172646912]
ENTER lid=0 time=1 region=f metv=[10,4609434218613702656]
EXIT lid=0 time=2 metv=[10,4609434218613702656]
EXIT lid=0 time=5 metv=[300,4612248968380809216]
""")
        subprocess.run([TEXT_TRACE, folder / "counted.txt", folder / "counted.elg"], check=True, timeout=60)
        decoded = self.decoded("counted.elg")
        chrome = DecodedJson(self.run_tool("elg2perfetto", "--json", "-o", "-", "counted.elg"))
        for title, values in (("CYCLES", [7, 10, 300]), ("JOULES", [1, 2])):
            self.assertEqual(decoded.counters(title), {0: values})
            self.assertEqual(chrome.values[title], {0: values})

    def test_messages_are_flows(self):
        # Two receives are posted; what the second one takes comes first, so its pair is known late.
        run = ScorepRun(pathlib.Path(self.folder.name) / "run", 2)
        run.call(1, 1_000_000, 1_000_010, "MPI_Irecv", lambda w, e, l: w.mpi_irecv_request(e, 5))
        run.call(1, 1_000_020, 1_000_030, "MPI_Irecv", lambda w, e, l: w.mpi_irecv_request(e, 6))
        run.call(0, 1_100_000, 1_100_010, "MPI_Send", lambda w, e, l: w.mpi_send(e, 1, run.world, 9, 8))
        run.call(0, 2_000_000, 2_000_010, "MPI_Send", lambda w, e, l: w.mpi_send(e, 1, run.world, 9, 8))
        run.call(1, 1_200_000, 1_200_010, "MPI_Wait", lambda w, e, l: w.mpi_irecv(l, 0, run.world, 9, 8, 6))
        run.call(1, 1_300_000, 2_000_100, "MPI_Wait", lambda w, e, l: w.mpi_irecv(l, 0, run.world, 9, 8, 5))
        run.close(3_000_000)
        self.run_tool("otf2elg", "-o", "messages.elg", "run")
        flows = self.decoded("messages.elg").flows()
        # The first message belongs to the receive that was posted first; times are nanoseconds since 0.
        self.assertEqual(sorted((begins, ends) for begins, ends in flows.values()), [
            ([(1_100_000_000, 0, "MPI_SEND")], [(2_000_100_000, 1, "MPI_RECV")]),
            ([(2_000_000_000, 0, "MPI_SEND")], [(1_200_010_000, 1, "MPI_RECV")])])

    def test_waits_are_the_instances_of_the_report(self):
        trace = REFERENCE / "gats.elg"
        self.run_tool("expert", "-q", "--instances", 2, "-o", "g.cube", "--json", "g.json", trace)
        report = json.loads((pathlib.Path(self.folder.name) / "g.json").read_text())
        titles = {metric["name"]: metric["title"] for metric in report["metrics"]}
        waits = self.decoded(trace, "--waits", 2).waits()
        self.assertEqual(sorted((title, facts["waiting, all processes"]) for title, _, _, facts in waits),
                         sorted((titles[i["metric"]], f"{i['waiting']:.6f} s") for i in report["instances"]))
        late_post = next(facts for title, _, _, facts in waits if title == "Late Post")
        self.assertEqual(late_post["where"].split()[0], "MPI_Win_start")
        self.assertIn("rank 0 enters MPI_Win_post", late_post["until"])
        self.assertEqual(self.decoded(trace, "--waits", 0).waits(), [])

    def test_json_says_the_same(self):
        for name in ("gats.elg", "fence.elg"):
            trace = REFERENCE / name
            packets = self.decoded(trace, "--waits", 2)
            chrome = DecodedJson(self.run_tool("elg2perfetto", "--json", "-o", "-", "--waits", 2, trace))
            self.assertEqual(sorted(chrome.called), sorted(packets.calls()))
            self.assertEqual(sorted(chrome.connected.values()), sorted(packets.flows().values()))
            for title, values in chrome.values.items():
                self.assertEqual(values, packets.counters(title))
            self.assertEqual(sorted(chrome.found, key=str), sorted(packets.waits(), key=str))
            self.assertTrue(chrome.called and chrome.values and chrome.found)
            self.assertEqual([chrome.names[rank + 1] for rank in range(4)], [f"Rank {rank}" for rank in range(4)])
        self.run_tool("elg2perfetto", "-q", "--json", REFERENCE / "gats.elg")
        self.assertTrue((pathlib.Path(self.folder.name) / "a.json").exists())

    def test_json_takes_any_name(self):
        # A quote, a backslash, an end of line, a letter of two bytes, a byte that is no UTF-8.
        folder = pathlib.Path(self.folder.name)
        (folder / "names.txt").write_text(
            'ENTER lid=0 time=0 region="a\\"b\\\\c\\n\\303\\251\\377"\nEXIT lid=0 time=1e-9\n')
        subprocess.run([TEXT_TRACE, folder / "names.txt", folder / "names.elg"], check=True, timeout=60)
        chrome = DecodedJson(self.run_tool("elg2perfetto", "--json", "-o", "-", "names.elg"))
        self.assertEqual(chrome.called, [(0, 'a"b\\c\n\u00e9\ufffd', 0, 1)])

    def test_json_of_nothing(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "nothing.txt").write_text("# nothing\n")
        subprocess.run([TEXT_TRACE, folder / "nothing.txt", folder / "nothing.elg"], check=True, timeout=60)
        chrome = DecodedJson(self.run_tool("elg2perfetto", "--json", "-o", "-", "nothing.elg"))
        self.assertEqual((chrome.called, chrome.found), ([], []))

    def test_damaged_and_wrong_input(self):
        cut = pathlib.Path(self.folder.name) / "cut.elg"
        cut.write_bytes((REFERENCE / "gats.elg").read_bytes()[:-100])
        self.run_tool("elg2perfetto", "-o", "cut.pftrace", cut, status=3)
        whole = (pathlib.Path(self.folder.name) / "cut.pftrace").read_bytes()
        self.assertTrue(Decoded(whole, self.messages).calls())
        self.run_tool("elg2perfetto", "absent.elg", status=2)
        self.run_tool("elg2perfetto", "-", status=1)
        self.run_tool("elg2perfetto", "-o", "absent/a.pftrace", REFERENCE / "gats.elg", status=4)


if __name__ == "__main__":
    unittest.main()
