"""Completion in the real shells: bash's function as bash calls it, fish's own engine, zsh at a terminal."""
import os
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest

from cli import BIN, CommandTest

FOLDER = BIN.parent / "completion"
COMMANDS = sorted(name for name in os.environ["KOJAK_COMMANDS"].split(",") if name)


class Completion(CommandTest):
    def options_of(self, name):
        """All options, from the help text."""
        text = self.run_command(*name.split(), "--help").out
        return set(re.findall(r"(?m)^  (?:-\w \[ )?(--[\w-]+)", text))

    def bash(self, *words):
        """What bash offers for the last word."""
        program = words[0]
        split = [part for word in words for part in re.split("(=)", word) if part or not word]
        script = (f'source "{FOLDER}/bash/{program}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  f'compopt() {{ :; }}; _kojak_{program}; printf "%s\\n" "${{COMPREPLY[@]}}"')
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", *split], text=True, capture_output=True,
                              cwd=self.dir, timeout=30)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return set(done.stdout.split())

    def fish(self, *words):
        home = tempfile.TemporaryDirectory()  # fish makes folders there
        self.addCleanup(home.cleanup)
        env = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")} | {"HOME": home.name}
        line = " ".join(words)
        program = words[0]
        done = subprocess.run(["fish", "--no-config", "-c", f"source {FOLDER}/fish/{program}.fish; complete -C '{line}'"],
                              text=True, capture_output=True, cwd=self.dir, env=env, timeout=30)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {row.split("\t")[0] for row in done.stdout.splitlines()}

    def zsh(self, line, awaited):
        """What zsh shows at a terminal after `line` and the tabulator, until it has the awaited text."""
        env = dict(os.environ, TERM="dumb", HOME=str(self.dir), PROMPT="> ", PATH=f"{BIN}:{os.environ['PATH']}")
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.dir)
            os.execvpe("zsh", ["zsh", "-f", "-i"], env)
        shown = ""

        def read_until(text, seconds):
            nonlocal shown
            shown, end = "", time.monotonic() + seconds
            while time.monotonic() < end:
                if select.select([terminal], [], [], 0.2)[0]:
                    shown += os.read(terminal, 65536).decode(errors="replace")
                if text in shown:
                    return True
            return False

        try:
            setup = f"fpath=({FOLDER}/zsh $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=0; print rea''dy\n"
            os.write(terminal, setup.encode())
            self.assertTrue(read_until("ready\r\n", 30), shown)
            read_until("> ", 1)
            os.write(terminal, line.encode() + b"\t")
            self.assertTrue(read_until(awaited, 20), shown)
        finally:
            os.kill(process, 9)
            os.close(terminal)
            os.waitpid(process, 0)

    def setUp(self):
        super().setUp()
        (self.dir / "run1.elg").write_text("")
        (self.dir / "traces").mkdir()

    def test_the_shells_are_there(self):
        for shell in ("bash", "fish", "zsh"):
            self.assertIsNotNone(shutil.which(shell), f"{shell} is not installed (tools/install-packages installs it)")

    def test_every_option_of_every_program(self):
        for name in COMMANDS:
            with self.subTest(name):
                options = self.options_of(name)
                self.assertGreaterEqual(len(options), 3)
                self.assertEqual({w for w in self.bash(*name.split(), "--") if w.startswith("--")}, options)
                offered = {w for w in self.fish(*name.split(), "--") if w.startswith("--")}
                self.assertLessEqual({w.rstrip("=") for w in offered}, options)
                self.assertLessEqual(options, {w.rstrip("=") for w in offered})

    def test_values_that_are_words(self):
        for shell in (self.bash, self.fish):
            with self.subTest(shell.__name__):
                self.assertEqual(shell("elg_merge", "--clock", ""), {"none", "linear", "clc"})
                self.assertEqual(shell("kojak", "stat", "--by", "r"), {"region"})
        self.assertEqual(self.bash("elg_merge", "--clock=l"), {"linear"})
        self.assertEqual(self.bash("elg_merge", "--clock="), {"none", "linear", "clc"})
        self.assertEqual(self.fish("elg_merge", "--clock=l"), {"--clock=linear"})
        self.zsh("elg_merge --format=cl", "--format=classic")
        self.zsh("elg_merge --format cl", "assic")

    def test_files_folders_and_numbers(self):
        for shell in (self.bash, self.fish):
            with self.subTest(shell.__name__):
                self.assertEqual(shell("elg_print", "ru"), {"run1.elg"})
                self.assertEqual(shell("expert", "--html", "ru"), {"run1.elg"})
                self.assertEqual({w.rstrip("/") for w in shell("kojak", "run", "-o", "")}, {"traces"})
                self.assertEqual(shell("expert", "--instances", "ru"), set())
        self.assertEqual(self.bash("kojak", "config", "ru"), set())
        self.zsh("elg_print ru", "n1.elg")

    def test_subcommands(self):
        commands = {name.split()[1] for name in COMMANDS if name.startswith("kojak ")}
        for shell in (self.bash, self.fish):
            with self.subTest(shell.__name__):
                self.assertEqual({w for w in shell("kojak", "") if not w.startswith("-")}, commands)
                self.assertEqual(shell("kojak", "in"), {"info"})
        self.zsh("kojak in", "fo ")
        self.zsh("kojak html --max", "-size=")
        self.zsh("expert --inst", "ances=")

    def test_the_command_that_is_run_is_completed_as_itself(self):
        for words in (("kojak", "run", "--", "env"), ("kojak", "run", "env"), ("kojak", "run", "-o", "x", "env"),
                      ("kojak", "run", "--output=x", "--verbose", "env")):
            self.assertIn("env", self.bash(*words), words)
        self.assertIn("env", self.fish("kojak", "run", "en"))
        self.assertEqual(self.bash("kojak", "run", "--", "env", "ru"), {"run1.elg"})
        self.assertEqual(self.bash("kojak", "run", "--", "env", "--"), set())  # its options are not ours


class Help(CommandTest):
    def test_no_option_has_a_value_without_a_name(self):
        for name in COMMANDS:
            with self.subTest(name):
                text = self.run_command(*name.split(), "--help").out
                self.assertNotRegex(text, r"(?m)^  .*\barg\b")

    def test_fits_a_narrow_terminal(self):
        for columns in (46, 80, 200):
            process, terminal = pty.fork()
            if process == 0:
                os.execvp("sh", ["sh", "-c", f"stty cols {columns} -opost; exec {BIN}/expert --help"])
            text = b""
            while True:
                try:
                    part = os.read(terminal, 65536)
                except OSError:
                    break
                if not part:
                    break
                text += part
            os.close(terminal)
            self.assertEqual(os.waitpid(process, 0)[1], 0)
            options = text.decode().split("Options:", 1)[1].split("Example:")[0]
            longest = max(len(line) for line in options.splitlines())
            self.assertLessEqual(longest, columns)
            self.assertGreater(longest, 35)


if __name__ == "__main__":
    unittest.main()
