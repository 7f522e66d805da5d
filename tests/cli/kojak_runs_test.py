"""kojak run: several runs in one command, one folder for one run, and how a run ended."""
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
import unittest

from cli import BIN
from kojak_run_test import MPIS, ROOT, RunTest

MPI = next(iter(MPIS))


class SeveralRuns(RunTest):
    def job(self, *commands):
        """A script that runs these one after the other."""
        script = self.file("job", "#!/bin/sh\n" + "".join(shlex.join(map(str, words)) + "\n" for words in commands))
        script.chmod(0o755)
        return script

    def rows(self, ran):
        """Of the list at the end: waiting, time, processes, folder, command."""
        rows = re.findall(r"(?m)^ *([\d.]+) s +([\d.]+) s +(\d+)  (\S+) +(.*)$", ran.err)
        return [(float(waiting), float(time), int(processes), folder, command.strip())
                for waiting, time, processes, folder, command in rows]

    def test_each_has_a_folder_and_a_report(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                words = [self.launch(mpi, 2, "late", "1"), self.launch(mpi, 3, "late", "300")]
                analysis = [] if mpi == MPI else ["--no-analysis"]
                ran = self.kojak("-o", mpi, "--mpi", mpi, *analysis, "--", self.job(*words))
                self.assertEqual((ran.status, ran.out), (0, "the sum is 1\nthe sum is 3\n"), ran.err)
                self.assertNotRegex(ran.err, "(?m)^kojak: ")
                self.assertIn("2 runs of MPI in this command", ran.err)
                if analysis:
                    self.assertLessEqual({mpi, mpi + ".2"}, set(self.directories()))
                    continue
                rows = self.rows(ran)
                self.assertEqual([waiting for waiting, *_ in rows], sorted((row[0] for row in rows), reverse=True))
                self.assertEqual(sorted((folder, processes) for _, _, processes, folder, _ in rows),
                                 [(mpi, 2), (mpi + ".2", 3)])
                for folder, words in ((mpi, "late 1"), (mpi + ".2", "late 300")):
                    told = self.run_command("kojak", "info", self.dir / folder / "a.cube").out
                    self.assertRegex(told, rf"(?m)^command: .* {words}$")
                # Of each run all is said, the most waiting first.
                said = re.findall(r"(?m)everything: expert --full (\S+)$", ran.err)
                self.assertEqual(said, [row[3] for row in rows])

    def test_a_run_within_a_rank(self):
        """It takes the name that it would have had alone."""
        for mpi, (_, program) in MPIS.items():
            with self.subTest(mpi):
                # The launcher's variables would make the inner one a part of the outer one.
                inner = ("for name in $(env | sed -n 's/^\\(OMPI_[^=]*\\|PMIX\\?_[^=]*\\|PRTE_[^=]*\\)=.*/\\1/p'); do "
                         "unset $name; done; export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; "
                         + shlex.join(self.launch(mpi, 2, "late", "100")))
                ran = self.kojak("--no-analysis", "--", *self.launch(mpi, 3, "system", inner))
                self.assertEqual((ran.status, sorted(ran.out.split())), (0, sorted("the sum is 1 the sum is 3".split())),
                                 ran.err)
                self.assertIn("2 runs of MPI in this command, in the order in which they began", ran.err)
                name = f"elg_{os.path.basename(program)}"
                self.assertEqual(self.directories(), [name + "_2", name + "_3"])
                for place, ranks in ((name + "_2", 2), (name + "_3", 3)):
                    self.assertEqual(self.files(place), [f"{rank}.0.elg" for rank in range(ranks)])
                    shutil.rmtree(self.dir / place)

    def test_kojak_run_within_kojak_run(self):
        """The inner one records, into a folder of its own."""
        ran = self.kojak("-o", "outer", "--", self.job([BIN / "kojak", "run", "-q", "--", *self.launch(MPI, 2)]))
        self.assertEqual((ran.status, ran.out), (0, "the sum is 1\n"), ran.err)
        place = f"elg_{os.path.basename(MPIS[MPI][1])}_2"
        self.assertIn(f"recorded by another kojak run in this one: {place}", ran.err)
        self.assertEqual(self.directories(), [place])


class OneOwner(RunTest):
    """A folder is one run's, from before its program starts."""

    def started(self, *words):
        """A kojak run that goes on meanwhile; its lock file is there."""
        running = subprocess.Popen([str(BIN / "kojak"), "run", *map(str, words)], cwd=self.dir,
                                   env=dict(os.environ, **ROOT), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lock = self.dir / "d.lock"
        self.wait_for(lambda: running.poll() is not None or (lock.exists() and "since" in lock.read_text()))
        return running, lock.read_text()

    def wait_for(self, condition):
        for _ in range(600):
            if condition():
                return
            time.sleep(0.1)
        self.fail("nothing happened")

    def test_a_reader_who_stops_early_leaves_no_lock(self):
        """`kojak run ... | head -1`: what is said last finds nobody who reads it."""
        words = [os.path.join(BIN, "kojak"), "run", "--", *self.launch(next(iter(MPIS)), 2)]
        with subprocess.Popen(words, cwd=self.dir, env={**os.environ, **ROOT}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.wait(timeout=100), -signal.SIGPIPE)
        self.assertEqual([path.name for path in self.dir.glob("*.lock")], [])

    def test_the_second_is_told_before_its_program_starts(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                running, lock = self.started("-o", "d", "--", *self.launch(mpi, 2, "until", f"go_{mpi}"))
                self.assertIn(f"host {os.uname().nodename}\n", lock)
                self.assertIn(f"process {running.pid} ", lock)
                before = sorted(os.listdir(self.dir))
                ran = self.kojak("-o", "d", "--", *self.launch(mpi, 2))
                self.assert_fails(ran, 4, f"d: taken by the run of process {running.pid} on {os.uname().nodename}, since ",
                                  "name another place with -o")
                self.assertEqual((ran.out, sorted(os.listdir(self.dir))), ("", before))
                self.file(f"go_{mpi}", "")
                out, err = running.communicate(timeout=100)
                self.assertEqual((running.returncode, out.decode()), (0, "the sum is 1\n"), err.decode())
                told = self.run_command("kojak", "info", self.dir / "d" / "a.cube").out
                self.assertRegex(told, rf"(?m)^command: .* until go_{mpi}$")
                self.assertFalse((self.dir / "d.lock").exists())
                self.assert_fails(self.kojak("-o", "d", "--", *self.launch(mpi, 2)), 4, "d: holds traces already")
                shutil.rmtree(self.dir / "d")

    def test_the_claim_of_one_that_is_gone_is_taken_over(self):
        running, lock = self.started("-o", "d", "--", "sh", "-c", "echo $$ > child; exec sleep 100")
        self.wait_for((self.dir / "child").exists)
        self.wait_for((self.dir / "child").read_text)
        running.kill()
        os.kill(int((self.dir / "child").read_text()), signal.SIGKILL)
        running.communicate()
        # That of another machine may be alive.
        self.file("d.lock", lock.replace(f"host {os.uname().nodename}", "host elsewhere"))
        self.assert_fails(self.kojak("-o", "d", "--", *self.launch(MPI, 2)), 4, "on elsewhere, since", "d.lock")
        self.file("d.lock", lock)
        ran = self.kojak("-o", "d", "--", *self.launch(MPI, 2))
        self.assertEqual((ran.status, ran.out), (0, "the sum is 1\n"), ran.err)
        self.assertIn(f"d: taken over from the run of process {running.pid} on ", ran.err)
        self.assertIn("a.cube", self.files("d"))
        self.assertFalse((self.dir / "d.lock").exists())

    def test_beside_a_folder_where_nothing_can_be_made(self):
        if os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
            self.skipTest("root may write everywhere, and mount nothing here")
        (self.dir / "above" / "d").mkdir(parents=True)
        command = ["sh", "-c", "ls -a ..; cat run.lock"]
        words = [BIN / "kojak", "run", "-q", "-o", ".", "--", *command]
        if os.geteuid() == 0:  # the folder above is read only, this one is not
            words = ["unshare", "-m", "sh", "-c", 'mount --bind above above && mount --bind above/d above/d && '
                     'mount -o remount,bind,ro above && cd above/d && exec "$@"', "sh", *words]
        else:
            (self.dir / "above").chmod(0o555)
            words = ["sh", "-c", 'cd above/d && exec "$@"', "sh", *words]
        ran = self.run_command(*words)
        self.assertEqual(ran.status, 0, ran.err)
        self.assertEqual(ran.lines[:3], [".", "..", "d"])
        self.assertIn(f"host {os.uname().nodename}", ran.lines)
        self.assertEqual(self.files("above/d"), [])
        (self.dir / "above").chmod(0o755)

    def test_without_kojak_run_too(self):
        """Of two that find one folder empty, and begin at the same time, one records."""
        library = BIN.parent / "lib" / "libelg_mpi.so"
        (self.dir / "d").mkdir()
        options = ["-x", f"LD_PRELOAD={library}", "-x", f"ELG_DIR={self.dir / 'd'}"]
        if MPI != "openmpi":
            options = ["-genv", "LD_PRELOAD", str(library), "-genv", "ELG_DIR", str(self.dir / "d")]
        launcher, *words = self.launch(MPI, 2, "until", "go")
        both = [subprocess.Popen([launcher, *options, *words], cwd=self.dir, env=dict(os.environ, **ROOT),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
        self.file("go", "")
        ends = [running.communicate(timeout=100) for running in both]
        self.assertEqual([out for out, _ in ends], [b"the sum is 1\n"] * 2, ends)
        self.assertEqual([err.count(b"it holds traces already") for _, err in sorted(ends, key=lambda e: len(e[1]))], [0, 1])
        self.assertEqual(self.run_command("elg_merge", "-q", "-o", "a.elg", "d").status, 0)


class Ends(RunTest):
    """How a program ended, in words that are true."""

    def test_a_status_is_no_signal(self):
        for mpi in MPIS:
            launcher = os.path.basename(self.launch(mpi, 1)[0])
            for words, told in ((("exit", "140"), "ended with status 140"),
                                (("abort", "140"), "ended with status 140: rank 1 called MPI_Abort(140)")):
                with self.subTest(mpi=mpi, words=words):
                    ran = self.kojak("--no-analysis", "--", *self.launch(mpi, 1 + (words[0] == "abort"), *words))
                    self.assertEqual(ran.status, 140, ran.err)
                    self.assertIn(f"warning: {launcher} {told}\n", ran.err)
                    ours = [line for line in ran.err.splitlines() if line.startswith("kojak")]
                    self.assertNotIn("signal", " ".join(ours))  # launchers speak of signals themselves
        ran = self.kojak("--", "sh", "-c", "exit 140")
        self.assertEqual(ran.status, 140)
        self.assertIn("sh ended with status 140\n", ran.err)
        self.assertIn("sh was ended by signal 15, SIGTERM", self.kojak("--", "sh", "-c", "kill $$").err)

    def test_a_program_that_is_not_there(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                words = [word for word in self.launch(mpi, 2) if word != MPIS[mpi][1]]
                ran = self.kojak_of_short_lives("--", *words, "./missing")
                self.assertNotEqual(ran.status, 0)
                self.assertEqual(len(re.findall(r"ended with status", ran.err)), 1, ran.err)
                self.assertRegex(ran.err, rf"no trace was written: {os.path.basename(words[0])} ended with status \d+ "
                                          "before a process with the measurement library had started")
                self.assertNotIn("MPI function", ran.err)
                self.assertNotIn("MPI_Init", ran.err)

    def test_processes_that_could_not_write(self):
        """Of a run that was ended nothing is missing that could be copied; of one that ended well it is."""
        for mpi in MPIS:
            with self.subTest(mpi):
                self.kojak("--no-analysis", "-o", f"ended_{mpi}", "--", *self.launch(mpi, 3, "abort", "5"))
                self.kojak("--no-analysis", "-o", f"well_{mpi}", "--", *self.launch(mpi, 3))
                for name, words, other in (("ended", "1 process was ended before it could write a trace (rank 0; rank 1 "
                                            "called MPI_Abort)", "copy the missing files"),
                                           ("well", "copy the missing files", "could write")):
                    for file in (self.dir / f"{name}_{mpi}").glob("0.0.*"):
                        file.unlink()
                    ran = self.run_command("expert", "--full", f"{name}_{mpi}")
                    self.assertEqual(ran.status, 3, ran.err)
                    self.assertIn(words, ran.err)
                    self.assertNotIn(other, ran.err)
                    self.assertIn("2 of 3 processes, on 1 node", ran.out)
                    self.assertIn("(2 processes)", self.run_command("kojak", "info", f"{name}_{mpi}/a.cube").out)

    def test_the_reason_that_the_library_gave(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                ran = self.kojak("-o", "gone", "--", *self.launch(mpi, 2, "remove", self.dir / "gone"))
                self.assertEqual((ran.status, ran.out), (0, "the sum is 1\n"), ran.err)
                self.assertRegex(ran.err, "(?m)^kojak: .*gone/[01].0.elg cannot be written: No such file or directory; recording "
                                          "stops here")
                self.assertRegex(ran.err, r"no trace was written: \S*gone/[01].0.elg cannot be written: No such file or "
                                          r"directory \(rank [01]\)")
                self.assertNotIn("MPI_Init", ran.err)
                # Nobody else may write in its place.
                ran = self.kojak("-o", f"limit_{mpi}", "--", *self.launch(mpi, 2, "limit", "1000"), env={"ELG_KEEP": "0"})
                self.assertEqual((ran.status, ran.out), (0, "the sum is 1\n"), ran.err)
                self.assertRegex(ran.err, r"the recording of rank 1 stopped before the program's end: \S*/1.0.elg cannot be "
                                          "written: File too large\n")
                self.assertNotIn("killed early", ran.err)
                # Who keeps the records saves them, where it could not be asked to.
                ran = self.kojak("-o", f"files_{mpi}", "--", *self.launch(mpi, 2, "files", "3"))
                # MPICH complains of it on standard output.
                self.assertEqual((ran.status, ran.out.startswith("the sum is 1\n")), (0, True), ran.err)
                self.assertNotIn("warning", ran.err)
                listed = self.run_command("elg_stat", "--csv", f"files_{mpi}/1.0.elg")
                self.assertEqual(listed.out.count("MPI_Finalize"), 1, listed.out)


if __name__ == "__main__":
    unittest.main()
