"""What the tests of the commands share: running them and looking at what came out.

The directory of the commands is in KOJAK_BIN, that of the sources in KOJAK_SOURCE.
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["KOJAK_BIN"])
SOURCE = pathlib.Path(os.environ["KOJAK_SOURCE"])
REFERENCE = SOURCE / "tests" / "reference"


class Ran:
    """The outcome of one command."""

    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode()
        self.lines = self.out.splitlines()


class CommandTest(unittest.TestCase):
    """Runs commands in a directory of its own."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="kojak-cli-")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

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
        return Ran(subprocess.run(words, input=stdin, capture_output=True, check=False,
                                  env=environment, cwd=cwd or self.dir, timeout=timeout,
                                  preexec_fn=before))

    def file(self, name, content):
        """A file with this content, its path."""
        path = self.dir / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def assert_fails(self, ran, status, *texts):
        """It ended with this status, said nothing on stdout and these texts on stderr."""
        self.assertEqual(ran.status, status, ran.err)
        for text in texts:
            self.assertIn(text, ran.err)
