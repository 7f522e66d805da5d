"""Names of communicators, windows and locks: the same in every command, and harmless on a terminal."""
import json
import re
import subprocess
import unittest

from cli import BIN, CommandTest

# Rank 1 comes a second late to a barrier on each of three communicators and to a fence.
CALLS = (("MPI_Barrier", "MPI_COLLEXIT", "cid=1"), ("MPI_Barrier", "MPI_COLLEXIT", "cid=2"),
         ("MPI_Barrier", "MPI_COLLEXIT", "cid=3"), ("MPI_Win_fence", "MPI_WINCOLLEXIT", "wid=0"),
         ("MPI_Win_fence", "MPI_WINCOLLEXIT", "wid=0"))
TEXT = """MERGED_RUN run_hi=1 run_lo=2 size=2 model=1
MPI_GROUP gid=0 mode=1 count=2
MPI_COMM_REF cid=1 gid=0
COMM_IDENTITY cid=1 hi=1 lo=1 flags=0
COMM_NAME cid=1 cnid="halo"
MPI_COMM_REF cid=2 gid=0
COMM_IDENTITY cid=2 hi=1 lo=2 flags=0
COMM_NAME cid=2 cnid="red \\033[31m <b>"
MPI_COMM_REF cid=3 gid=0
COMM_IDENTITY cid=3 hi=1 lo=3 flags=0
MPI_WIN wid=0 cid=1
WIN_IDENTITY wid=0 hi=1 lo=4 flags=0
WIN_NAME wid=0 wnid="field"
SHMEM_LOCK_NAME lkid=7 lknid="table_lock" fid=absent
"""


class ObjectNames(CommandTest):
    def setUp(self):
        super().setUp()
        lines = [TEXT]
        lines += [f"ENTER lid={rank} time=0 region=main\n" for rank in (0, 1)]
        for i, (function, leaves, on) in enumerate(CALLS):
            begin = 1 + 2 * i
            lines.append(f"ENTER lid=0 time={begin} region={function}\n")
            lines.append(f"ENTER lid=1 time={begin + 1} region={function}\n")
            lines += [f"{leaves} lid={rank} time={begin + 1.25} {on}\n" for rank in (0, 1)]
        lines += [f"EXIT lid={rank} time=20\n" for rank in (0, 1)]
        self.file("a.txt", "".join(lines))
        subprocess.run([BIN.parent / "tests" / "text_trace", "a.txt", "a.elg"], cwd=self.dir, check=True)

    def names_in(self, trace):
        text = self.run_command("elg_print", trace).out
        strings = dict(re.findall(r'^STRING strid=(\d+) cntc=\d+ str="(.*)"', text, re.M))
        return [strings[string] for string in
                re.findall(r"^(?:COMM_NAME|WIN_NAME|SHMEM_LOCK_NAME) .*?(?:cnid|wnid|lknid)=(\d+)", text, re.M)]

    def test_cuts_keep_them(self):
        expected = ["halo", r"red \033[31m <b>", "field", "table_lock"]
        self.assertEqual(self.names_in("a.elg"), expected)
        self.assertEqual(self.run_command("elg_filter", "-o", "b.elg", "--from", "2", "--to", "6", "a.elg").status, 0)
        self.assertEqual(self.names_in("b.elg"), expected)

    def test_reports_say_them(self):
        ran = self.run_command("expert", "-q", "-o", "a.cube", "--json", "-", "--instances", "9", "a.elg")
        objects = [instance["object"] for instance in json.loads(ran.out)["instances"]]
        named = {(o["kind"], o["id"]): o.get("name") for o in objects if o}
        self.assertEqual(named, {("communicator", 1): "halo", ("communicator", 2): "red \033[31m <b>",
                                 ("communicator", 3): None, ("window", 0): "field"})
        said = self.run_command("expert", "-o", "a.cube", "--full", "--instances", "9", "a.elg").out
        for words in ("communicator halo", "communicator red ", "communicator 3", "window field"):
            self.assertIn(words, said)
        self.assertNotIn("\033[31m", said)

    def test_the_page_shows_them_as_text(self):
        self.assertEqual(self.run_command("expert", "-q", "-o", "a.cube", "--html", "a.html", "a.elg").status, 0)
        page = (self.dir / "a.html").read_text()
        self.assertTrue("window field" in page, "no window field")
        self.assertFalse("[31m <b>" in page, "markup of a name")


if __name__ == "__main__":
    unittest.main()
