#!/usr/bin/env python3
"""Looks at the lines of source on the page of a run of which one file is here, and at a run whose functions call sites tell.

Usage: source_test.py BINARY_DIR REFERENCE_DIR [unittest arguments]
Needs Chromium.
"""
import os
import pathlib

from pages import analyse, main
from program_test import Recorded, program


class Source(Recorded):
    """The same run, of which the file halo.c is here: 140 lines."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file = pathlib.Path(cls.folder.name) / "halo.c"
        cls.file.write_text("".join(f"\t  code of line {i};\n" for i in range(1, 141)))
        events = program().replace("/src/app", cls.folder.name)
        cls.trace, cls.cube, cls.html = cls.record("run", events, "--causes")

    def lines(self, page, inside):
        number, code = (page.texts(f"{inside} .source {part}") for part in (".line-number", "code"))
        return list(zip(number, code))

    @staticmethod
    def expected(first, last):
        return [(str(i), f"code of line {i};") for i in range(first, last + 1)]

    def test_a_finding_shows_the_lines_around_its_call(self):
        page = self.open(self.html)
        self.open_victims(page)
        sites = page.texts(".finding .site")
        fence = f".finding[data-at='{sites.index('halo.c:130')}']"
        self.assertEqual(self.lines(page, fence), self.expected(127, 133))
        self.assertEqual(page.texts(f"{fence} .source .at .line-number"), ["130"])
        # Nobody has recv.c.
        receive = f".finding[data-at='{sites.index('recv.c:77')}']"
        self.assertEqual(self.lines(page, receive), [])

    def test_a_cause_shows_what_lies_between_its_calls(self):
        page = self.open(self.html)
        self.open_victims(page)
        self.assertEqual(self.lines(page, "#group-1"), self.expected(118, 130))
        self.assertEqual(page.texts("#group-1 .call-line .line-number"), ["118", "130"])
        self.assertEqual(page.texts("#group-1 .call-line em"), ["after this", "before this"])
        self.assertEqual(page.texts("#group-1 .inside .line-number"), [str(i) for i in range(119, 130)])

    def test_a_file_that_was_changed_says_so(self):
        changed = "This file was changed after the run: its lines may have moved."
        page = self.open(self.html)
        self.open_victims(page)
        self.assertNotIn(changed, page.text(".finding"))
        later = self.trace.stat().st_mtime + 10
        before = self.file.stat().st_mtime
        os.utime(self.file, (later, later))
        self.addCleanup(os.utime, self.file, (before, before))
        page = self.open(self.make(self.cube, "--trace", str(self.trace), name="changed"))
        self.open_victims(page)
        self.assertIn(changed, page.text(".finding"))

    def test_relative_names_are_looked_for_where_the_compiler_ran(self):
        # The compiler ran in the second of two folders. In the first, and beside the trace, a file of the same name is
        # not the program's: no line of it calls MPI.
        folder = pathlib.Path(self.folder.name)
        calls = {100: "MPI_Win_fence", 118: "MPI_Put", 130: "MPI_Win_fence", 131: "MPI_Win_fence"}
        for place, word in (("", "other"), ("first", "other"), ("second", "right")):
            (folder / place / "app").mkdir(parents=True)
            (folder / place / "app" / "halo.c").write_text("".join(
                f"{word} line {i} {calls.get(i, '') if word == 'right' else ''};\n" for i in range(1, 141)))
        ran = f'RUN_PROPERTY key="source.folders" value="{folder}/first:{folder}/second"\n'
        _, _, html = self.record("relative", ran + program().replace("/src/app", "app"))
        page = self.open(html)
        self.open_victims(page)
        sites = page.texts(".finding .site")
        fence = f".finding[data-at='{sites.index('halo.c:130')}']"
        self.assertEqual([number for number, _ in self.lines(page, fence)], [str(i) for i in range(127, 134)])
        self.assertEqual(self.lines(page, fence)[3], ("130", "right line 130 MPI_Win_fence;"))
        self.assertNotIn("other line", html.read_text())

    def test_no_source(self):
        page = self.open(self.make(self.cube, "--trace", str(self.trace), "--no-source", name="without"))
        self.open_victims(page)
        self.assertEqual(page.count(".source"), 0)
        self.assertEqual(page.count(".finding"), 3)
        text = pathlib.Path(self.folder.name, "no_source.html")
        analyse(pathlib.Path(self.folder.name, "again.cube"), self.trace, "--html", text, "--no-source")
        self.assertNotIn("code of line", text.read_text())
        self.assertIn("code of line", self.html.read_text())


class CallSites(Recorded):
    def test_calls_do_not_tell_what_computes(self):
        """Two barriers in swap, of which only call sites know: rank 1 comes to the second one 3 s late."""
        names = ("prog", "swap", "MPI_Barrier", "halo.c")
        events = "".join(f'STRING strid={i} cntc=0 str="{name}"\n' for i, name in enumerate(names))
        events += "FILE fid=0 fnid=3\n"
        for region, kind in enumerate((1, 1, 4)):
            events += f"REGION rid={region} rnid={region} fid=absent begln=absent endln=absent rdid=absent rtype={kind}\n"
        for site, line in enumerate((12, 14)):
            events += f"CALL_SITE csid={site} fid=0 lno={line} erid=2 lrid=1\n"
        for event in ("ENTER lid=0 time=0 rid=0", "ENTER lid=1 time=0 rid=0",
                      "ENTER_CS lid=0 time=1 csid=1", "ENTER_CS lid=1 time=1 csid=1",
                      "MPI_COLLEXIT lid=0 time=1", "MPI_COLLEXIT lid=1 time=1",
                      "ENTER_CS lid=0 time=2 csid=0", "ENTER_CS lid=1 time=5 csid=0",
                      "MPI_COLLEXIT lid=0 time=5", "MPI_COLLEXIT lid=1 time=5",
                      "EXIT lid=0 time=6", "EXIT lid=1 time=6"):
            events += event + "\n"
        page = self.open(self.record("unnamed", events, "--causes")[2])
        self.assertEqual(page.text(".try"), "kojak run --sample tells what rank 1 does there.")
        self.assertIn("3.0 s", page.text("#group-1").replace("\u00a0", " "))


if __name__ == "__main__":
    main()
