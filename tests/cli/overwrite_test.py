"""No command writes over what it reads, or two outputs over each other, whatever names the files have."""
import os
import subprocess
import unittest

from cli import BIN, REFERENCE, CommandTest

TRACE = (REFERENCE / "gats.elg").read_bytes()
REPORT = (REFERENCE / "gats.cube").read_bytes()


class Overwriting(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("a.elg", TRACE)
        self.file("a.cube", REPORT)
        self.file("b.cube", REPORT)
        (self.dir / "here").symlink_to(self.dir, target_is_directory=True)
        (self.dir / "link.elg").symlink_to("a.elg")
        (self.dir / "link.cube").symlink_to("a.cube")
        os.link(self.dir / "a.elg", self.dir / "hard.elg")
        os.link(self.dir / "a.cube", self.dir / "hard.cube")

    def refused(self, ran, *texts):
        self.assert_fails(ran, 1, "error", *texts)
        self.assertEqual(ran.out, "")
        self.assertEqual((self.dir / "a.elg").read_bytes(), TRACE)
        self.assertEqual((self.dir / "a.cube").read_bytes(), REPORT)

    def test_the_output_is_the_input(self):
        for name in ("a.elg", "./a.elg", "here/a.elg", "link.elg", "hard.elg", self.dir / "a.elg"):
            for command in (["elg_print", "-o", name, "a.elg"], ["elg_filter", "-o", name, "a.elg"],
                            ["expert", "-o", name, "a.elg"], ["expert", "--html", name, "a.elg"],
                            ["expert", "--json", name, "a.elg"],
                            ["kojak", "html", "-t", "a.elg", "-o", name, "a.cube"]):
                with self.subTest(command):
                    self.refused(self.run_command(*command), "would replace what is read")
        for name in ("a.cube", "here/a.cube", "link.cube", "hard.cube"):
            for command in (["kojak", "html", "-o", name, "a.cube"],
                            ["kojak", "diff", "-o", name, "a.cube", "b.cube"],
                            ["kojak", "diff", "-o", name, "b.cube", "a.cube"]):
                with self.subTest(command):
                    self.refused(self.run_command(*command), "would replace what is read")

    def test_standard_input_and_output_are_files_too(self):
        with open(self.dir / "a.elg", "rb") as trace:
            done = subprocess.run([BIN / "expert", "-o", "a.elg", "-"], stdin=trace, cwd=self.dir,
                                  capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"would replace what is read (standard input)", done.stderr)
        with open(self.dir / "a.elg", "ab") as trace:
            done = subprocess.run([BIN / "elg_print", "a.elg"], stdout=trace, cwd=self.dir,
                                  stderr=subprocess.PIPE, check=False, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"standard output: would replace what is read (a.elg)", done.stderr)
        self.assertEqual((self.dir / "a.elg").read_bytes(), TRACE)

    def test_two_outputs_are_one_file(self):
        for first, second in (("new.html", "new.html"), ("new.html", "./new.html"),
                              ("here/new.html", "new.html"), (self.dir / "new.html", "new.html")):
            with self.subTest((first, second)):
                for option in ("--html", "--json"):
                    ran = self.run_command("expert", "-o", first, option, second, "a.elg")
                    self.refused(ran, "is two outputs at once")
                self.assertFalse((self.dir / "new.html").exists())
        self.refused(self.run_command("expert", "-o", "-", "--json", "-", "a.elg"), "standard output")

    def test_local_traces_and_their_buffers(self):
        local = b"EPILOG\0\2\0\1" + bytes([28, 40]) + bytes(16) + bytes([1] + [0] * 11)
        run = self.dir / "run"
        run.mkdir()
        (run / "0.0.elg").write_bytes(local)
        for name in ("run/0.0.elg", "here/run/0.0.elg"):
            for command in (["elg_merge", "-o", name, "run"], ["elg_print", "-o", name, "run/0.0.elg"]):
                with self.subTest(command):
                    self.assert_fails(self.run_command(*command), 1, "would replace what is read")
                    self.assertEqual((run / "0.0.elg").read_bytes(), local)
        (run / "0.0.buf").write_bytes(b"what a killed process left")
        ran = self.run_command("elg_print", "-o", "run/0.0.buf", "run/0.0.elg")
        self.assert_fails(ran, 1, "run/0.0.buf: would replace what is read")
        self.assertEqual((run / "0.0.buf").read_bytes(), b"what a killed process left")

    def test_other_files_and_devices_are_written(self):
        self.file("old.cube", "an older report")
        ran = self.run_command("expert", "-q", "-o", "old.cube", "--json", "-", "a.elg")
        self.assertEqual(ran.status, 0, ran.err)
        self.assertIn("<cube", (self.dir / "old.cube").read_text())
        ran = self.run_command("expert", "-q", "-o", "/dev/null", "--json", "/dev/null", "a.elg")
        self.assertEqual((ran.status, ran.err), (0, ""))
        ran = self.run_command("elg_print", "-o", "a.txt", "a.elg")
        self.assertEqual((ran.status, ran.err), (0, ""))
        # Checking writes nothing.
        ran = self.run_command("elg_print", "--verify", "-o", "a.elg", "a.elg")
        self.assertEqual((ran.status, ran.err), (0, ""))


if __name__ == "__main__":
    unittest.main()
