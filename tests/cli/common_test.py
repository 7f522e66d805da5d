"""What every command has: help that fits a screen with an example, a version, exit codes."""
import os
import re
import unittest

from cli import BIN, SOURCE, CommandTest

COMMANDS = sorted(name for name in os.environ["KOJAK_COMMANDS"].split(",") if name)


class EveryCommand(CommandTest):
    def test_all_are_there(self):
        self.assertGreaterEqual(len(COMMANDS), 2)
        for name in COMMANDS:
            self.assertTrue((BIN / name.split()[0]).exists(), name)

    def test_help_fits_a_screen_and_has_an_example(self):
        for name in COMMANDS:
            with self.subTest(name):
                ran = self.run_command(*name.split(), "--help")
                self.assertEqual((ran.status, ran.err), (0, ""))
                self.assertTrue(ran.lines[0].startswith(f"Usage: {name} "), ran.lines[0])
                self.assertIn("Example: ", ran.out)
                self.assertLessEqual(len(ran.lines), 40)
                self.assertLessEqual(max(len(line) for line in ran.lines), 100)
                self.assertIn("Exit status", ran.out)

    def test_version(self):
        version = re.search(r"project\(kojak VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
        for name in COMMANDS:
            with self.subTest(name):
                ran = self.run_command(*name.split(), "--version")
                self.assertEqual((ran.status, ran.err), (0, ""))
                self.assertEqual(ran.out, f"kojak {version}\n")

    def test_unknown_option_is_wrong_usage(self):
        for name in COMMANDS:
            with self.subTest(name):
                ran = self.run_command(*name.split(), "--no-such-option")
                self.assert_fails(ran, 1, f"{name}: error", "--no-such-option", f"{name} --help")
                self.assertEqual(ran.out, "")

    def test_one_word_too_many_is_named(self):
        """A command that takes one input names the second."""
        for name in COMMANDS:
            with self.subTest(name):
                usage = self.run_command(*name.split(), "--help").lines[0]
                if not re.search(r" (TRACE|REPORT|ARCHIVE|\S*\|TRACE)$", usage):
                    continue
                ran = self.run_command(*name.split(), "first", "-q", "second", "third")
                self.assert_fails(ran, 1, "only one ", '"second" is another', f"{name} --help")

    def test_no_escape_sequences_in_a_pipe(self):
        for name in COMMANDS:
            with self.subTest(name):
                ran = self.run_command(*name.split(), "--no-such-option", env={"TERM": "xterm"})
                self.assertNotIn("\033", ran.err)


if __name__ == "__main__":
    unittest.main()
