"""Names, files and folders that are not to be trusted: what a terminal or a spreadsheet would obey, pipes in place of
files, what others may read."""
import csv
import io
import os
import re
import shutil
import stat
import subprocess
import unittest

from cli import BIN
from kojak_run_test import MPIS, RunTest

# ESC and its like, C1 as UTF-8, marks of the direction of writing.
OBEYED = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\u061c]")
NAMES = ["red", "c1", "turned", "=1+1", "@sum", "+f(1)", "-f(1)"]  # tests/cli/mpi_program.c


class SafetyTest(RunTest):
    mpi = next(iter(MPIS))
    compared = False
    not_compared_because = "the second analysis does not know that main encloses regions of its program"

    def record(self, *options, program=None, **more):
        words = self.launch(self.mpi, 2, "names")
        if program:
            words[-2] = program
        return self.kojak(*options, "--", *words, **more)

    def assert_harmless(self, what, text):
        self.assertIsNone(OBEYED.search(text), what)

    def assert_no_formula(self, what, text):
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                if cell[:1] in ("=", "+", "-", "@") and cell:
                    self.assertIsNotNone(float(cell), what)  # a number, or an exception


class Names(SafetyTest):
    def test_nothing_that_is_printed_is_obeyed(self):
        """Neither the names of regions nor that of the folder; names stay readable."""
        folder = "d\x1b[31m\u202e"
        ran = self.record("--keep", "-o", folder)
        self.assertEqual(ran.status, 0, ran.err)
        self.assert_harmless("kojak run", ran.err)
        place = self.dir / folder
        expert = ["expert", "--full", "--instances", "3", "--json", "../a.json", "--csv", "../a.csv", "-o", "b.cube", "a.elg"]
        outputs = {}
        for words in (["elg_print", "a.elg"], ["elg_print", "-n", "a.elg"], ["elg_print", "--verify", place / "a.elg"],
                      ["elg_stat", "a.elg"], ["elg_stat", "--calls", "a.elg"], ["elg_stat", "--csv", "a.elg"],
                      ["elg_stat", "--calls", "--csv", "a.elg"], ["elg_stat", "--json", "a.elg"], expert,
                      ["kojak", "stat", "a.cube"], ["kojak", "stat", "--csv", "a.cube"], ["kojak", "info", place / "a.cube"],
                      ["kojak", "diff", "a.cube", "b.cube"], ["expert", place / "nothing.elg"]):
            ran = self.run_command(*words, cwd=place)
            self.assertIn(ran.status, (0, 2), ran.err)
            self.assert_harmless(words, ran.err)
            if "--json" not in words or words is expert:  # data of programs: no control characters, but any text
                self.assert_harmless(words, ran.out)
            else:
                self.assertNotIn("\x1b", ran.out)
            if "--csv" in words and words is not expert:
                self.assert_no_formula(words, ran.out)
            outputs[" ".join(map(str, words[:2]))] = ran.out
        written = (self.dir / "a.csv").read_text()
        self.assert_harmless("expert --csv", written)
        self.assert_no_formula("expert --csv", written)
        self.assertNotIn("\x1b", (self.dir / "a.json").read_text() + (place / "b.cube").read_text())
        for output in ("elg_stat a.elg", "elg_print -n", "elg_stat --csv"):
            for name in NAMES:
                self.assertIn(name, outputs[output])

    def test_a_folder_may_be_called_like_an_option(self):
        ran = self.record("--output=-x", "--perfetto", *(["--otf2"] if (BIN / "elg2otf2").exists() else []))
        self.assertEqual(ran.status, 0, ran.err)
        self.assertNotIn("could not", ran.err)
        for name in ("a.cube", "a.html", "a.pftrace"):
            self.assertTrue((self.dir / "-x" / name).is_file(), name)


class Files(SafetyTest):
    def test_what_a_run_leaves_obeys_the_umask(self):
        options = ["-q", "--keep", "--perfetto", "-o", "d", *(["--otf2"] if (BIN / "elg2otf2").exists() else [])]
        for mask in (0o077, 0o027):
            self.assertEqual(self.record(*options, before=lambda mask=mask: os.umask(mask)).status, 0)
            place = self.dir / "d"
            for path in [place, *place.rglob("*")]:
                mode = stat.S_IMODE(path.stat().st_mode)
                self.assertEqual(mode & mask, 0, f"{path}: {mode:o}")
                if path.is_dir():
                    self.assertEqual(mode, 0o777 & ~mask, path)
            shutil.rmtree(place)

    def test_a_pipe_in_place_of_the_program_keeps_nobody_waiting(self):
        """When traces are merged, when the page looks for source, and when a command is looked into."""
        program = self.dir / "program"
        shutil.copy(MPIS[self.mpi][1], program)
        ran = self.record("-q", "--no-analysis", "-o", "d", program=program)
        self.assertEqual(ran.status, 0, ran.err)
        program.unlink()
        os.mkfifo(program, 0o755)
        for words in (["elg_merge", "-o", "a.elg", "d"], ["expert", "--html", "a.html", "-o", "a.cube", "d"]):
            ran = self.run_command(*words, timeout=100)
            self.assertEqual(ran.status, 0, ran.err)
            self.assertIn(str(program), ran.err)
        ran = self.run_command("kojak", "run", "--", "./program", timeout=100)
        self.assertEqual(ran.status, 126, ran.err)

    def test_a_pipe_in_place_of_debugging_information_keeps_nobody_waiting(self):
        program, apart = self.dir / "program", self.dir / "program.debug"
        shutil.copy(MPIS[self.mpi][1], program)
        for words in (["objcopy", "--only-keep-debug", program, apart], ["strip", "--strip-debug", program],
                      ["objcopy", f"--add-gnu-debuglink={apart}", program]):
            subprocess.run(words, check=True)
        self.assertEqual(self.record("-q", "--no-analysis", "-o", "d", program=program).status, 0)
        apart.unlink()
        os.mkfifo(apart)
        self.assertEqual(self.run_command("elg_merge", "-o", "a.elg", "d", timeout=100).status, 0)


if __name__ == "__main__":
    unittest.main()
