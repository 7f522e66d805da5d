"""A trace that lacks its end, or has something behind it: every tool says the same and ends with 3."""
import gzip
import json
import os
import re
import struct
import subprocess
import threading
import unittest

from cli import BIN, REFERENCE, CommandTest

CLASSIC = (REFERENCE / "gats.elg").read_bytes()
EVENTS = 305  # NUM_EVENTS of gats.elg


def record(kind, body=b""):
    return bytes([len(body), kind]) + body


def ends_of_events(trace):
    """Offsets behind each event."""
    at, ends = 10, []
    while at < len(trace):
        kind = trace[at + 1]
        at += 2 + trace[at]
        if kind >= 100:
            ends.append(at)
    return ends


def native_trace(more=(), defined=(), missing=0):
    """Two processes of three; rank 1 is in `work` from 0.5 to 9 s, rank 0 from 1 to 8. `more` stands in between, `defined`
    behind the definitions."""
    absent = 0xFFFFFFFF
    definitions = (record(1, struct.pack("<IB", 0, 0) + b"work\0") +
                   record(9, struct.pack("<IIIIIIB", 0, 0, *[absent] * 4, 1)) +
                   record(3, struct.pack("<III", 0, 1, 0)) + record(4, struct.pack("<IIIId", 0, 0, 1, 0, 0)) +
                   record(7, struct.pack("<IIIII", 0, 0, 0, 0, 0)) +
                   record(7, struct.pack("<IIIII", 1, 0, 0, 1, 0)) +
                   record(41, struct.pack("<QQIIBB", 1, 2, 3, missing, 1, 0)) + b"".join(defined))
    events = [record(101, struct.pack("<IdI", 1, 0.5, 0)), record(101, struct.pack("<IdI", 0, 1, 0)), *more,
              record(102, struct.pack("<Id", 0, 8)), record(102, struct.pack("<Id", 1, 9))]
    return (b"EPILOG\0\2\0\1" + definitions + record(14, struct.pack("<I", len(events))) + record(13) +
            b"".join(events))


class Damage(CommandTest):
    """Tools, and how each is started on a trace."""

    def setUp(self):
        super().setUp()
        self.file("gats.cube", (REFERENCE / "gats.cube").read_bytes())

    def everywhere(self, name, words, verify=2):
        """Standard error of each tool has these words, once; the status is 3."""
        for command in (["elg_print", "-o", "out.txt"], ["elg_print", "-e", "--names"], ["elg_stat"],
                        ["elg_filter", "-o", "part.elg"], ["kojak", "html", "-o", "out.html", "-t"]):
            with self.subTest(command):
                last = ["gats.cube"] if command[0] == "kojak" else []
                ran = self.run_command(*command, name, *last)
                self.assertEqual(ran.status, 3, ran.err)
                self.assertEqual(ran.err.count(words), 1, ran.err)
        for command in (["expert"], ["expert", "-q"]):
            with self.subTest(command):
                ran = self.run_command(*command, "-o", "out.cube", name)
                self.assertEqual(ran.status, 3, ran.err)
                self.assertIn(words, " ".join((ran.out + ran.err).split()))
        ran = self.run_command("elg_print", "--verify", name)
        self.assertEqual(ran.status, verify, ran.out)
        self.assertEqual(ran.out.count(words), 1, ran.out)

    def test_whole_traces_are_whole(self):
        self.file("whole.elg", CLASSIC)
        for command in (["elg_print"], ["elg_stat"], ["elg_filter", "-q"], ["expert", "-q"]):
            ran = self.run_command(*command, "whole.elg")
            self.assertEqual((ran.status, ran.err), (0, ""))

    def test_cut_between_two_records(self):
        ends = ends_of_events(CLASSIC)
        self.assertEqual(len(ends), EVENTS)
        for events in (EVENTS - 1, 7):
            self.file("cut.elg", CLASSIC[:ends[events - 1]])
            self.everywhere("cut.elg", f"the trace ends after {events} of its {EVENTS} events")

    def test_every_cut_is_seen(self):
        """At each byte behind the definitions, by the tool that reads fastest."""
        ends = ends_of_events(CLASSIC)
        for size in range(ends[0], ends[20]):
            ran = self.run_command("elg_stat", "-q", self.file("cut.elg", CLASSIC[:size]))
            self.assertEqual(ran.status, 3, size)

    def test_cut_inside_a_record(self):
        self.file("cut.elg", CLASSIC[:-5])
        self.everywhere("cut.elg", "the file ends inside a record")

    def test_something_behind_the_end(self):
        last = CLASSIC[ends_of_events(CLASSIC)[-2]:]
        for junk, words in ((last * 2, f"the trace has {EVENTS} events, but 2 more stand behind them"),
                            (record(199, b"?"), f"the trace has {EVENTS} events, but 1 more stand behind them"),
                            (b"\0" * 8, "definitions stand behind the last one"),
                            (record(60, b"\x07\x07"), "an attribute of no event stands at the end"),
                            (b"this is no record at all" * 9, "the file ends inside a record")):
            with self.subTest(words):
                self.file("longer.elg", CLASSIC + junk)
                self.everywhere("longer.elg", words)

    def test_compressed_and_cut(self):
        self.file("cut.elg.gz", gzip.compress(CLASSIC[:ends_of_events(CLASSIC)[-2]]))
        self.everywhere("cut.elg.gz", f"the trace ends after {EVENTS - 1} of its {EVENTS} events")


class CutInsideDefinitions(CommandTest):
    """No event of it can be understood. What shows a file shows what is there, and ends with 3; what computes something
    from events has none, writes nothing, and ends with 2. The words are the same."""

    WORDS = "the trace ends inside its definitions"

    def check_cut(self, trace):
        self.file("cut.elg", trace)
        self.file("gats.cube", (REFERENCE / "gats.cube").read_bytes())
        for command in (["elg_print"], ["elg_print", "--names"], ["elg_stat"], ["elg_stat", "--json"]):
            with self.subTest(command):
                ran = self.run_command(*command, "cut.elg")
                self.assertEqual((ran.status, ran.err.count(self.WORDS)), (3, 1), ran.err)
                self.assertNotEqual(ran.out, "")
        for command in (["expert", "-o", "out.cube"], ["expert", "-q", "--html", "out.html", "-o", "out.cube"],
                        ["elg_filter", "-o", "out.elg"], ["kojak", "html", "-o", "out.html", "gats.cube", "-t"]):
            with self.subTest(command):
                ran = self.run_command(*command, "cut.elg")
                self.assert_fails(ran, 2, self.WORDS)
                self.assertEqual([p.name for p in self.dir.iterdir() if p.name.startswith("out.")], [])

    def test_cut_between_two_definitions(self):
        first = CLASSIC[:10]
        at = 10
        while CLASSIC[at + 1] != 13:  # LAST_DEF
            at += 2 + CLASSIC[at]
        for trace in (first, CLASSIC[:at], native_trace()[:native_trace().index(record(14, struct.pack("<I", 4)))]):
            self.check_cut(trace)

    def test_cut_inside_a_definition(self):
        self.check_cut(CLASSIC[:60])


class OneTable(CommandTest):
    """What is wrong inside of a trace: every tool counts it alike, says it in the same words, and ends alike."""

    SHORT = record(103, b"\0" * 3)

    def everywhere(self, trace, count, words, status):
        self.file("bad.elg", trace)
        self.file("gats.cube", (REFERENCE / "gats.cube").read_bytes())
        self.run_command("expert", "-q", "-o", "own.cube", "bad.elg")
        said = set()
        for command in (["elg_print", "-o", "out.txt"], ["elg_print", "--rank", "0", "-o", "out.txt"],
                        ["elg_print", "-t", "ENTER"], ["elg_stat"], ["elg_stat", "--json"], ["elg_filter"],
                        ["elg_filter", "--rank", "0"], ["kojak", "html", "-o", "out.html", "own.cube", "-t"]):
            with self.subTest(command):
                ran = self.run_command(*command, "bad.elg")
                self.assertEqual(ran.status, status, ran.err)
                lines = [line.split(": ", 2)[2] for line in ran.err.splitlines() if words in line]
                self.assertEqual(len(lines), 1, ran.err)
                said.add(lines[0])
        self.assertEqual(len(said), 1, said)
        (line,) = said
        self.assertIn(f"{count} x {words} (", line)
        ran = self.run_command("expert", "--full", "-o", "own.cube", "bad.elg")
        self.assertEqual(ran.status, status, ran.err + ran.out)
        row = re.search(rf"^  (suspect|note) +{count}  {re.escape(words)}.*\n((?: {{20,}}.*\n)+)", ran.out, re.M)
        self.assertIsNotNone(row, ran.out)
        self.assertEqual(row[1], "suspect" if status == 3 else "note")
        advice = " ".join(row[2].split())
        self.assertTrue(line.endswith(f"({advice})"), (line, advice))

    def test_damaged_records(self):
        self.everywhere(native_trace([self.SHORT, self.SHORT, record(60, b"\1")]), 3, "damaged records", 3)
        events = ends_of_events(CLASSIC)[0]
        classic = CLASSIC[:events] + self.SHORT + CLASSIC[events:]
        number = classic.index(record(14, struct.pack("<I", EVENTS)))
        classic = classic[:number] + record(14, struct.pack("<I", EVENTS + 1)) + classic[number + 6:]
        self.everywhere(classic, 1, "damaged record", 3)

    def test_damaged_records_of_every_type(self):
        """Also of types that no pattern reads: one of each, too short for anything."""
        kinds = [kind for kind in range(100, 256) if self.is_known(kind)]
        self.assertGreater(len(kinds), 60)
        self.everywhere(native_trace([record(kind, b"\0" * 3) for kind in kinds]), len(kinds), "damaged records", 3)

    def is_known(self, kind):
        """elg_print has a name for the type."""
        self.file("one.elg", native_trace([record(kind, b"\0" * 3)]))
        return "damaged record" in self.run_command("elg_stat", "one.elg").err

    def test_bad_definitions(self):
        self.everywhere(native_trace(defined=[record(9, b"\0" * 5)]), 1, "bad definition", 3)

    def test_records_of_unknown_type(self):
        self.everywhere(native_trace([record(199, b"?"), record(198)]), 2, "records of unknown type", 0)

    def test_processes_that_the_merge_lacked(self):
        self.everywhere(native_trace(missing=1), 1, "local trace missing when the run was merged", 3)

    def test_what_the_measurement_lost(self):
        for kind, words, status in ((1, "records not written because the trace file could not be", 3),
                                    (2, "regions left open when the program ended", 0),
                                    (3, "transfers on windows of unknown identity", 3),
                                    (4, "records dropped after a damage", 3),
                                    (5, "damaged records in the trace that this part was cut out of", 3),
                                    (6, "damaged end of the trace that this part was cut out of", 3),
                                    (7, "records not written because ELG_MAX_SIZE was reached", 3),
                                    (99, "things that the measurement could not keep (kind 99)", 3)):
            with self.subTest(words):
                lost = record(47, struct.pack("<IBQ", 0xFFFFFFFF, kind, 12))
                self.everywhere(native_trace(defined=[lost]), 12, words, status)

    def test_nothing_is_said_of_a_whole_trace(self):
        # Where the disk was full when the process was killed, and no call came after that, nothing is missing.
        nothing_lost = record(47, struct.pack("<IBQ", 0xFFFFFFFF, 1, 0))
        for trace in (native_trace(), native_trace(defined=[nothing_lost])):
            self.file("whole.elg", trace)
            for command in (["elg_print"], ["elg_stat"], ["elg_filter", "-q"], ["expert", "-q"]):
                ran = self.run_command(*command, "whole.elg")
                self.assertEqual((ran.status, ran.err), (0, ""), command)


class ClassicCuts(CommandTest):
    """Classic traces have no record for losses: a cut of a damaged one announces more events than it has."""

    def test_a_cut_carries_the_finding(self):
        self.file("gats.cube", (REFERENCE / "gats.cube").read_bytes())
        ends = ends_of_events(CLASSIC)
        last = CLASSIC[ends[-2]:]
        start = ends[0]
        damaged = {f"after {n}": CLASSIC[:ends[n - 1]] for n in (1, 7, 100, EVENTS - 2, EVENTS - 1)}
        damaged.update({"in a record": CLASSIC[:-5], "twice the end": CLASSIC + last, "definitions": CLASSIC + b"\0" * 8,
                        "attribute": CLASSIC + record(60, b"\7\7"), "text": CLASSIC + b"this is no record at all" * 9,
                        "short": CLASSIC[:start] + record(103, b"\0" * 3) + CLASSIC[start:]})
        for name, trace in damaged.items():
            self.file("bad.elg", trace)
            ran = self.run_command("elg_filter", "-o", "part.elg", "bad.elg")
            self.assertEqual(ran.status, 3, (name, ran.err))
            self.run_command("elg_filter", "-o", "again.elg", "part.elg")
            self.run_command("elg_filter", "--rank", "0", "-o", "rank.elg", "bad.elg")
            for part in ("part.elg", "again.elg", "rank.elg"):
                for command in (["elg_print"], ["elg_stat"], ["elg_filter", "-o", "x.elg"], ["expert"]):
                    with self.subTest((name, part, command)):
                        ran = self.run_command(*command, part)
                        self.assertEqual(ran.status, 3, ran.err)
                        self.assertIn("the trace ends after", " ".join((ran.err + ran.out).split()))

    def test_what_lies_before_the_damage_is_whole(self):
        self.file("bad.elg", CLASSIC[:-5])
        ran = self.run_command("elg_filter", "--to", "0.01", "-o", "part.elg", "bad.elg")
        self.assertEqual(self.run_command("elg_stat", "part.elg").status, 0, ran.err)

    def test_the_number_of_events_in_a_cut(self):
        """What the cut adds to close what is open at its edges is no event of the whole trace."""
        self.file("whole.elg", CLASSIC)
        ran = self.run_command("elg_filter", "whole.elg")
        self.assertIn(f"{EVENTS} of {EVENTS} events are in the cut; 0 calls", ran.err)
        self.file("cut.elg", CLASSIC[:ends_of_events(CLASSIC)[175]])
        ran = self.run_command("elg_filter", "cut.elg")
        found = re.search(r"(\d+) of 176 events are in the cut, and (\d+) that tell what is open at its edges", ran.err)
        self.assertIsNotNone(found, ran.err)
        self.assertLessEqual(int(found[1]), 176)
        stat = json.loads(self.run_command("elg_stat", "--json", "part.elg").out)
        self.assertEqual(stat["events"], int(found[1]) + int(found[2]))


class Cuts(CommandTest):
    """A part of a damaged trace says that something was lost; one from before the damage need not."""

    def part(self, trace, *options):
        self.file("whole.elg", trace)
        ran = self.run_command("elg_filter", *options, "-o", "part.elg", "whole.elg")
        verify = self.run_command("elg_print", "--verify", "part.elg")
        self.assertEqual((verify.status, verify.err), (0, ""), verify.out)
        expert = self.run_command("expert", "--full", "-o", "part.cube", "part.elg")
        return ran, self.run_command("elg_print", "-t", "LOST", "part.elg").lines[1:], expert

    def test_the_end_is_missing(self):
        trace = native_trace()
        cut = trace[:ends_of_events(trace)[-2]]
        ran, lost, expert = self.part(cut)
        self.assert_fails(ran, 3, "the trace ends after 3 of its 4 events")
        self.assertEqual(lost, ["LOST lid=absent what=6 count=1"])
        self.assertEqual(expert.status, 3)
        self.assertIn("damaged end of the trace that this part was cut out of", expert.out)
        # A part of the part still says it, once.
        ran, lost, expert = self.part((self.dir / "part.elg").read_bytes(), "--from", "2")
        self.assert_fails(ran, 3, "damaged end of the trace that this part was cut out of")
        self.assertEqual((lost, expert.status), (["LOST lid=absent what=6 count=1"], 3))

    def test_what_lies_before_the_damage_is_whole(self):
        trace = native_trace()
        ran, lost, _ = self.part(trace[:ends_of_events(trace)[-2]], "--to", "5")
        self.assertEqual((ran.status, lost), (0, []), ran.err)

    def test_a_damaged_record(self):
        ran, lost, expert = self.part(native_trace([record(103, b"\0" * 3), record(103, b"\0" * 14)]))
        self.assertEqual(ran.status, 3, ran.err)
        self.assertIn("LOST lid=absent what=5 count=2", lost)
        self.assertEqual(expert.status, 3)
        self.assertIn("damaged records in the trace", expert.out)

    def test_a_whole_trace_leaves_no_mark(self):
        ran, lost, _ = self.part(native_trace())
        self.assertEqual((ran.status, lost), (0, []), ran.err)

    def test_a_rank_that_the_trace_lacks(self):
        self.file("whole.elg", native_trace(missing=1))
        ran = self.run_command("elg_filter", "--rank", "2", "whole.elg")
        self.assert_fails(ran, 2, "whole.elg: the trace lacks rank 2 of its run")
        ran = self.run_command("elg_filter", "--rank", "3", "whole.elg")
        self.assert_fails(ran, 1, "no rank 3")
        self.assertFalse((self.dir / "part.elg").exists())

    def test_a_named_pipe(self):
        os.mkfifo(self.dir / "pipe")
        trace = native_trace()

        def feed():
            with open(self.dir / "pipe", "wb") as pipe:
                pipe.write(trace)

        writer = threading.Thread(target=feed)
        writer.start()
        done = subprocess.run([BIN / "elg_filter", "-q", "--from", "2", "-o", "part.elg", "pipe"], cwd=self.dir,
                              capture_output=True, check=False, timeout=60)
        writer.join()
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.file("whole.elg", trace)
        self.run_command("elg_filter", "-q", "--from", "2", "-o", "same.elg", "whole.elg")
        self.assertEqual((self.dir / "part.elg").read_bytes(), (self.dir / "same.elg").read_bytes())

    def test_a_page_from_a_pipe(self):
        """The trace is read once: from a pipe, too, with the same page as from a file."""
        os.mkfifo(self.dir / "pipe")
        trace = (REFERENCE / "gats.elg").read_bytes()
        self.file("gats.elg", trace)
        self.file("gats.cube", (REFERENCE / "gats.cube").read_bytes())

        def feed():
            with open(self.dir / "pipe", "wb") as pipe:
                pipe.write(trace)

        writer = threading.Thread(target=feed)
        writer.start()
        ran = self.run_command("kojak", "html", "--no-source", "-t", "pipe", "-o", "pipe.html", "gats.cube", timeout=60)
        writer.join()
        self.assertEqual(ran.status, 0, ran.err)
        self.run_command("kojak", "html", "--no-source", "-t", "gats.elg", "-o", "file.html", "gats.cube")
        pages = [(self.dir / name).read_text() for name in ("pipe.html", "file.html")]
        self.assertEqual(pages[0].replace('"pipe"', '"gats.elg"'), pages[1])

    def test_the_counts_of_a_part_agree(self):
        self.part(native_trace(), "--from", "2")
        stat = json.loads(self.run_command("elg_stat", "--json", "part.elg").out)
        printed = self.run_command("elg_print", "part.elg").out
        self.assertEqual(stat["events"], int(re.search(r"NUM_EVENTS eventc=(\d+)", printed)[1]))


if __name__ == "__main__":
    unittest.main()
