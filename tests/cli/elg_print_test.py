"""elg_print: listing, filters, verification, errors."""
import gzip
import os
import re
import signal
import subprocess
import unittest

from cli import BIN, REFERENCE, CommandTest

TRACE = REFERENCE / "gats.elg"


class Listing(CommandTest):
    def test_one_line_for_each_record_in_the_order_of_the_file(self):
        ran = self.run_command("elg_print", TRACE)
        self.assertEqual(ran.status, 0, ran.err)
        self.assertEqual(ran.lines[0], "EPILOG 1.9 little")
        classic = (REFERENCE / "gats.print.txt").read_text().splitlines()
        names = [re.search("<(.*?)>", line).group(1) for line in classic]
        self.assertEqual([line.split(" ")[0] for line in ran.lines[1:]], names)
        self.assertEqual(ran.err, "")

    def test_gzip_and_standard_input(self):
        whole = self.run_command("elg_print", TRACE).out
        data = TRACE.read_bytes()
        packed = self.file("a.elg.gz", gzip.compress(data))
        self.assertEqual(self.run_command("elg_print", packed).out, whole)
        self.assertEqual(self.run_command("elg_print", "-", stdin=data).out, whole)
        self.assertEqual(self.run_command("elg_print", "-", stdin=gzip.compress(data)).out, whole)

    def test_output_file(self):
        ran = self.run_command("elg_print", "-o", "out.txt", TRACE)
        self.assertEqual((ran.status, ran.out, ran.err), (0, "", ""))
        self.assertEqual((self.dir / "out.txt").read_text(),
                         self.run_command("elg_print", TRACE).out)

    def test_names(self):
        ran = self.run_command("elg_print", "--names", "--events", TRACE)
        fences = [line for line in ran.lines if line.startswith("MPI_WINEXIT")]
        self.assertTrue(fences)
        for line in fences:
            self.assertRegex(line, r"  # MPI_Win_(start|post|complete|wait|test)$")


class Filters(CommandTest):
    def events(self, *options):
        ran = self.run_command("elg_print", *options, TRACE)
        self.assertEqual(ran.status, 0, ran.err)
        return ran.lines[1:]

    def test_rank(self):
        everything = [line for line in self.events("--events")]
        for rank in range(4):
            self.assertEqual(self.events("--rank", rank),
                             [line for line in everything if f" lid={rank} " in line])
        self.assertEqual(self.events("--rank", "1,3"), self.events("-r", 1, "-r", 3))
        self.assertEqual(self.events("--rank", 17), [])

    def test_time(self):
        def time(line):
            return float(re.search(r" time=(\S+)", line).group(1))
        everything = self.events("--events")
        self.assertEqual(self.events("--from", "0.6", "--to", "1.2"),
                         [line for line in everything if 0.6 <= time(line) <= 1.2])
        self.assertTrue(self.events("--from", "0.6"))

    def test_type(self):
        lines = self.events("--type", "MPI_WIN,MPI_PUT_1TS")
        self.assertEqual({line.split(" ")[0] for line in lines}, {"MPI_WIN", "MPI_PUT_1TS"})
        self.assertEqual(len(lines), 13)  # one window, 12 puts in the classic listing

    def test_region(self):
        lines = self.events("--region", "MPI_Put")
        names = [line.split(" ")[0] for line in lines]
        # 12 puts, each ENTER, start, EXIT; their ends were moved to MPI_Win_wait
        self.assertEqual(sorted(names), ["ENTER"] * 12 + ["EXIT"] * 12 + ["MPI_PUT_1TS"] * 12)

    def test_wrong_ones(self):
        for options in (["--rank", "x"], ["--type", "MPI_NOTHING"], ["--from", "soon"],
                        ["--rank", "-1"]):
            self.assert_fails(self.run_command("elg_print", *options, TRACE), 1, "elg_print: error")


class Verification(CommandTest):
    def test_clean(self):
        ran = self.run_command("elg_print", "--verify", TRACE)
        self.assertEqual((ran.status, ran.err), (0, ""))
        self.assertEqual(ran.out, f"{TRACE}: merged trace, 634 records, 305 events, 0 findings\n")

    def test_truncated(self):
        cut = self.file("cut.elg", TRACE.read_bytes()[:-5])
        ran = self.run_command("elg_print", "--verify", cut)
        self.assertEqual(ran.status, 2)
        self.assertIn("the file ends inside a record (at offset", ran.out)

    def test_unknown_record_type(self):
        odd = self.file("odd.elg", TRACE.read_bytes() + b"\x01\xfa\x00")
        ran = self.run_command("elg_print", "--verify", odd)
        self.assertIn("record type 250 is of unknown type", ran.out)
        ran = self.run_command("elg_print", odd)
        self.assertEqual((ran.status, ran.lines[-1]), (3, "UNKNOWN type=250 body=[0]"))
        self.assertIn("1 x record of unknown type (", ran.err)


class ClosedPipe(CommandTest):
    def test_a_reader_that_stops_early_hears_no_complaint(self):
        # More than a pipe holds, so that the command is still writing when its reader goes.
        body = TRACE.read_bytes()
        end = body.index(b"\x00\x0d") + 2  # LAST_DEF: length 0, type 13
        big = self.file("big.elg", body + body[end:] * 200)
        for command in (["elg_print", big], ["elg_print", "--events", big]):
            for ignored in (False, True):
                with self.subTest((command, ignored)):
                    process = subprocess.Popen([str(BIN / command[0]), *map(str, command[1:])],
                                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                               restore_signals=not ignored)
                    self.assertTrue(process.stdout.readline().startswith(b"EPILOG"))
                    process.stdout.close()
                    self.assertEqual(process.stderr.read(), b"")
                    process.stderr.close()
                    self.assertEqual(process.wait(timeout=60), -signal.SIGPIPE)


class Errors(CommandTest):
    def test_input(self):
        self.assert_fails(self.run_command("elg_print", "none.elg"), 2,
                          "none.elg", "No such file", "(")
        self.assert_fails(self.run_command("elg_print", self.dir), 2, str(self.dir), "directory")
        self.assert_fails(self.run_command("elg_print", self.file("a.txt", "hello, world")), 2,
                          "a.txt", "no EPILOG trace")
        self.assert_fails(self.run_command("elg_print", self.file("empty", "")), 2, "is empty")
        self.assert_fails(self.run_command("elg_print", self.file("v4", b"EPILOG\0\4\0\1")), 2,
                          "unknown format version 4.0")

    def test_truncation_keeps_whole_records_and_is_status_3(self):
        cut = self.file("cut.elg", TRACE.read_bytes()[:-5])
        ran = self.run_command("elg_print", cut)
        self.assertEqual(ran.status, 3)
        whole = self.run_command("elg_print", TRACE).lines
        self.assertEqual(ran.lines, whole[:-1])
        self.assertIn("cut.elg: offset 13964", ran.err)

    def test_local_file_of_the_classic_tools(self):
        data = bytearray(TRACE.read_bytes())
        at = data.index(b"\x04\x0e")  # NUM_EVENTS, then LAST_DEF: length 0, type 13
        self.assertEqual(data[at + 6:at + 8], b"\x00\x0d")
        del data[at + 6:at + 8]
        self.assert_fails(self.run_command("elg_print", self.file("epik.elg", bytes(data))), 2,
                          "epik.elg", "local file of the classic tools")

    def test_output(self):
        self.assert_fails(self.run_command("elg_print", "-o", "no/where", TRACE), 4, "no/where")
        self.assertFalse((self.dir / "no").exists())
        if os.path.exists("/dev/full"):
            self.assert_fails(self.run_command("elg_print", "-o", "/dev/full", TRACE), 4,
                              "No space left")

    def test_usage(self):
        self.assert_fails(self.run_command("elg_print"), 1, "elg_print --help")
        self.assert_fails(self.run_command("elg_print", "--nonsense", TRACE), 1, "--nonsense")
        self.assert_fails(self.run_command("elg_print", TRACE, TRACE), 1, "elg_print: error")


if __name__ == "__main__":
    unittest.main()
