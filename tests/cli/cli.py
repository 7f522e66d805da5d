"""What the tests of the commands share: running them and looking at what came out.

The directory of the commands is in KOJAK_BIN, that of the sources in KOJAK_SOURCE. Every report that a command
writes in a test is held against the grammar of CUBE's readers (tests/support/cube_grammar.h).
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ["KOJAK_BIN"])
SOURCE = pathlib.Path(os.environ["KOJAK_SOURCE"])
REFERENCE = SOURCE / "tests" / "reference"
# name -> (launcher, program), for the MPIs that kojak was built for
MPIS = {name: (launcher, program) for name, launcher, program in
        (entry.split("=") for entry in os.environ["KOJAK_TEST_MPIS"].split(",") if entry)}
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
CHECK_CUBE = BIN.parent / "tests" / "check_cube"
sys.path.insert(0, str(SOURCE / "tests"))
from independent import compare  # noqa: E402

# Bytes of a trace that the independent analysis, which is not fast, looks at: of a compact one, and of others.
LARGEST, LARGEST_NATIVE = 1_000_000, 4_000_000


class Ran:
    """The outcome of one command."""

    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode()
        self.lines = self.out.splitlines()


def is_too_large(trace):
    with open(trace, "rb") as file:
        compact = file.read(8)[7:] == b"\3"
    return trace.stat().st_size > (LARGEST if compact else LARGEST_NATIVE)


def analysed_by(words, directory):
    """The whole traces that a command has analysed, with their reports, where both are files."""
    name = pathlib.Path(words[0]).name
    if name == "kojak" and words[1:2] == ["run"]:
        ends = (".elg", ".elg.zst", ".elg.gz")
        traces = lambda report: [report.with_suffix(end) for end in ends]
        return [(next((t for t in traces(report) if t.is_file()), report.with_suffix(".elg")), report)
                for report in directory.rglob("a.cube")]
    partly = {"--from", "--to", "--select", "--exclude", "--help", "-h", "--version", "--list-patterns"}
    if name != "expert" or partly & set(words):
        return []
    trace = directory / words[-1]
    report = directory / words[words.index("-o") + 1] if "-o" in words else pathlib.Path(
        str(trace).removesuffix(".gz")).with_suffix(".cube")
    return [(trace, report)] if trace.is_file() and report.is_file() else []


def wait_until(true, process):
    """Until it is; the process that is to make it so is ended if it does not in two minutes."""
    for _ in range(12_000):
        if true():
            return
        if process.poll() is not None:
            raise AssertionError(f"it ended before that was so: {process.communicate()}")
        time.sleep(0.01)
    process.kill()
    raise AssertionError("that never was so")


class CommandTest(unittest.TestCase):
    """Runs commands in a directory of its own."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="kojak-cli-")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)
        self.own_files = set()  # not written by a command of ours
        self.addCleanup(self.check_reports)  # before the directory goes

    compared = True  # with the second analysis
    not_compared_because = ""

    @staticmethod
    def is_damaged(trace):
        return subprocess.run([BIN / "elg_print", "-q", trace], capture_output=True, check=False).returncode == 3

    def check_reports(self):
        """CUBE takes what our commands wrote: every report in the directory."""
        reports = [path for path in self.dir.rglob("*.cube*")
                   if path.suffix in (".cube", ".gz") and path not in self.own_files]
        if reports:
            done = subprocess.run([CHECK_CUBE, *reports], capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))

    def check_output(self, out):
        """CUBE takes the report that a command wrote to standard output."""
        if out.startswith(b"<?xml") and b"<cube" in out[:100]:
            with tempfile.NamedTemporaryFile(suffix=".cube") as report:
                report.write(out)
                report.flush()
                done = subprocess.run([CHECK_CUBE, report.name], capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))

    def run_bytes(self, *words, stdin=b"", cwd=None, timeout=120):
        """A command of ours, its outcome as it is: for output that is no text."""
        return subprocess.run([str(BIN / words[0]), *map(str, words[1:])], input=stdin, check=False,
                              capture_output=True, cwd=cwd or self.dir, timeout=timeout)

    def run_command(self, *words, stdin=b"", env=None, cwd=None, timeout=120, before=None):
        """Runs a command of ours by name, or any other by its path; `before` runs in its process."""
        words = [str(word) for word in words]
        if os.sep not in words[0] and (BIN / words[0]).exists():
            words[0] = str(BIN / words[0])
        environment = dict(os.environ, **(env or {}))
        done = subprocess.run(words, input=stdin, capture_output=True, check=False,
                              env=environment, cwd=cwd or self.dir, timeout=timeout,
                              preexec_fn=before)
        self.check_output(done.stdout)
        ran = Ran(done)
        if ran.status in (0, 3):
            for trace, report in analysed_by(words, pathlib.Path(cwd or self.dir)):
                if not trace.is_file():  # a run whose merged trace was not kept
                    merged = tempfile.TemporaryDirectory(prefix="kojak-merged-")
                    self.addCleanup(merged.cleanup)
                    trace = pathlib.Path(merged.name) / "a.elg"
                    subprocess.run([BIN / "elg_merge", "-q", "-o", trace, report.parent], check=False,
                                   capture_output=True, env=environment)
                if is_too_large(trace):
                    print(f"not compared, too large: {trace}", file=sys.stderr)
                elif not self.compared:
                    print(f"not compared, {self.not_compared_because}: {trace}", file=sys.stderr)
                elif ran.status == 3 and self.is_damaged(trace):
                    print(f"not compared, damaged: {trace}", file=sys.stderr)
                else:
                    compare.check(trace, report, BIN / "elg_print")
        return ran

    def file(self, name, content):
        """A file with this content, its path."""
        path = self.dir / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.own_files.add(path)
        return path

    def assert_fails(self, ran, status, *texts):
        """It ended with this status, said nothing on stdout and these texts on stderr."""
        self.assertEqual(ran.status, status, ran.err)
        for text in texts:
            self.assertIn(text, ran.err)
