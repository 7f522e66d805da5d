"""What the tests of the converters share: traces, tools, and what a trace holds according to elg_print."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ["KOJAK_BIN"])
REFERENCE = pathlib.Path(os.environ["KOJAK_REFERENCE"])
TEXT_TRACE = os.environ["KOJAK_TEXT_TRACE"]

# Two processes. A message is sent at 1 s and received at 3 s; rank 0 puts 8 bytes into rank 1 from 5 s to 7 s and gets 16
# bytes, which start at rank 1 at 5.5 s and arrive at 7 s. The fences are left at 7 s by rank 0 and at 6.5 s by rank 1.
SMALL = """
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=0 time=1 region=MPI_Send
MPI_SEND lid=0 time=1 dlid=1 tag=7 sent=100
EXIT lid=0 time=1.5
ENTER lid=1 time=2 region=MPI_Recv
MPI_RECV lid=1 time=3 slid=0 tag=7
EXIT lid=1 time=3
ENTER lid=0 time=3.5 region=MPI_Win_fence
ENTER lid=1 time=3.5 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=0 time=4
MPI_WINCOLLEXIT lid=1 time=4
ENTER lid=0 time=5 region=MPI_Put
MPI_PUT_1TS lid=0 time=5 dlid=1 rmaid=0 sent=8
EXIT lid=0 time=5.1
ENTER lid=0 time=5.25 region=MPI_Get
MPI_GET_1TO lid=0 time=5.25 rmaid=1
EXIT lid=0 time=5.3
MPI_GET_1TS lid=1 time=5.5 dlid=0 rmaid=1 sent=16
ENTER lid=0 time=6 region=MPI_Win_fence
ENTER lid=1 time=6 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=1 time=6.5
MPI_PUT_1TE lid=1 time=7 slid=0 rmaid=0
MPI_GET_1TE lid=0 time=7 slid=1 rmaid=1
MPI_WINCOLLEXIT lid=0 time=7
EXIT lid=0 time=9
EXIT lid=1 time=9
"""
NS = 1_000_000_000
MEASURE = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


class ExportTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="kojak-export-")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

    def run_tool(self, *words, status=0):
        done = subprocess.run([BIN / words[0], *map(str, words[1:])], cwd=self.dir, capture_output=True, text=True,
                              check=False, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def peak(self, tool, *words):
        """MB of memory. A small interpreter starts the tool, since a child begins with what its parent takes."""
        ran = subprocess.run([sys.executable, "-S", "-c", MEASURE, BIN / tool, *map(str, words)], cwd=self.dir,
                             capture_output=True, check=True, timeout=120)
        return int(ran.stdout) / 1000

    def small(self, text=SMALL):
        (self.dir / "small.txt").write_text(text)
        subprocess.run([TEXT_TRACE, self.dir / "small.txt", self.dir / "small.elg"], check=True, timeout=60)
        return self.dir / "small.elg"

    def records(self, trace):
        """How many records of each name a trace has."""
        return collections.Counter(line.split()[0] for line in
                                   self.run_tool("elg_print", "-q", trace).stdout.splitlines() if line)

    def entered(self, trace):
        return sum(count for name, count in self.records(trace).items() if re.match("ENTER|LOG_OFF", name))
