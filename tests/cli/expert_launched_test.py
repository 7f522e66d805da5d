"""expert started by mpirun: processes with the same task are one analysis, others are each their own."""
import gzip
import os
import re
import shutil
import signal
import subprocess
import unittest

from cli import BIN, MPIS, REFERENCE, ROOT, CommandTest, wait_until

ENVIRONMENT = {**ROOT, "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
RANK = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"


class LaunchedTest(CommandTest):
    def setUp(self):
        super().setUp()
        for name in ("run0", "run1"):
            shutil.copy(REFERENCE / "gats.elg", self.dir / f"{name}.elg")

    def launch(self, mpi, processes, *words):
        return self.run_command(MPIS[mpi][0], "-n", str(processes), *words, env=ENVIRONMENT)

    def test_one_of_them_analyses(self):
        alone = self.run_command("expert", "run0.elg", env={"NO_COLOR": "1"})
        self.assertEqual(alone.status, 0, alone.err)
        report = (self.dir / "run0.cube").read_bytes()
        for mpi in MPIS:
            for processes in (2, 5):
                with self.subTest(mpi=mpi, processes=processes):
                    (self.dir / "run0.cube").unlink()
                    ran = self.launch(mpi, processes, BIN / "expert", "run0.elg")
                    self.assertEqual(ran.status, 0, ran.err)
                    self.assertEqual(ran.out.replace("\r\n", "\n"), alone.out)
                    self.assertEqual((self.dir / "run0.cube").read_bytes(), report)
                    self.assertEqual(ran.err.count("expert: one process analyses all: the trace is merged already"), 1, ran.err)

    def test_several_analyse_a_folder(self):
        for kind in ("fence", "barrier", "all"):
            self.make(kind, 20_000, folder=kind)
            names = ("a.json", "a.cube", "a.html")
            words = [BIN / "expert", "--full", "--json", "a.json", "--html", "a.html", "-o", "a.cube", kind]
            alone = self.run_command(*words, env={"NO_COLOR": "1"})
            self.assertEqual(alone.status, 0, alone.err)
            outputs = [(self.dir / name).read_bytes() for name in names]
            for mpi in MPIS:
                for processes in (2, 3, 5):
                    with self.subTest(kind=kind, mpi=mpi, processes=processes):
                        for name in names:
                            (self.dir / name).unlink()
                        ran = self.launch(mpi, processes, *words)
                        self.assertEqual(ran.status, 0, ran.err)
                        self.assertEqual(ran.out.replace("\r\n", "\n"), alone.out)
                        self.assertEqual([(self.dir / name).read_bytes() for name in names], outputs)
                        self.assertNotIn("one process analyses all", ran.err)

    def one_does_it(self, why, processes, *words):
        """What several say is what one says, and once why one of them does it."""
        command = [BIN / "expert", "-o", "a.cube", "run"]
        alone = self.run_command(*command, env={"NO_COLOR": "1"})
        for mpi in MPIS:
            with self.subTest(mpi):
                ran = self.launch(mpi, processes, *command, *words)
                self.assertEqual((ran.status, ran.out.replace("\r\n", "\n")), (alone.status, alone.out), ran.err)
                self.assertEqual(ran.err.count(f"one process analyses all: {why}"), 1, ran.err)

    def test_several_that_cannot_divide_it(self):
        self.make("p2p", 2000)
        self.one_does_it("no meeting is at rest", 3)

    def test_more_parts_than_processes(self):
        self.make("barrier", 2000)
        self.one_does_it("it is cut into more parts than there are processes", 2, "--cut-at=all")

    def make(self, kind, events, *words, folder="run"):
        made = self.run_command(BIN.parent / "tests" / "make_traces", kind, self.dir / folder, "--ranks", "4", "--events", str(events), *words)
        self.assertEqual(made.status, 0, made.err)

    # What it reads, and those that it has waited for, as the system counts (Linux, proc(5)).
    @unittest.skipUnless(os.path.exists("/proc/self/io"), "nobody counts what is read")
    def test_each_trace_is_read_once_to_find_the_cuts(self):
        self.make("fence", 1_000_000, "--ranks", "6")
        size = sum(file.stat().st_size for file in (self.dir / "run").iterdir())
        reading = f"{BIN / 'expert'} -q --causes=never -o a.cube run; grep rchar /proc/$$/io"
        # All twice, the second time for the analysis.
        alone = self.run_command("sh", "-c", reading)
        self.assertAlmostEqual(int(alone.out.split()[1]) / size, 2, delta=0.3)
        for mpi in MPIS:
            for processes in (2, 3):
                with self.subTest(mpi=mpi, processes=processes):
                    ran = self.launch(mpi, processes, "sh", "-c", reading)
                    self.assertEqual((ran.status, ran.err), (0, ""))
                    read = [int(n) / size for n in re.findall(r"rchar: (\d+)", ran.out)]
                    self.assertEqual(len(read), processes)
                    # Its share of both; by all of the first, it would be one more than the second.
                    for each in read:
                        self.assertAlmostEqual(each, 2 / processes, delta=0.25)

    def test_damage_is_told_as_by_one(self):
        self.make("fence", 20_000)
        files = sorted((self.dir / "run").glob("*.elg"))
        whole = files[2].read_bytes()
        words = [BIN / "expert", "--full", "--json", "a.json", "-o", "a.cube", "run"]
        outputs = ("a.json", "a.cube")

        def told(ran):
            return [line for line in ran.err.replace("\r\n", "\n").splitlines()
                    if line.startswith("expert: ") and "one process analyses all" not in line and " processes analyse" not in line]
        for what, content in (("whole", whole), ("cut", whole[:len(whole) // 2]), ("bad", whole[:9000] + b"\xff" * 40 + whole[9040:]),
                              ("empty", b""), ("gone", None), ("of another run", None)):
            if content is None:
                files[2].unlink(missing_ok=True)
            else:
                files[2].write_bytes(content)
            if what == "of another run":
                self.make("gats", 2_000, folder="other")
                shutil.copy(self.dir / "other" / files[2].name, files[2])
            for name in outputs:
                (self.dir / name).unlink(missing_ok=True)
            one = self.run_command(*words, env={"NO_COLOR": "1"})
            written = [(self.dir / name).read_bytes() for name in outputs if (self.dir / name).exists()]
            for mpi in MPIS:
                for processes in (2, 7) if what == "cut" else (3,):
                    with self.subTest(what=what, mpi=mpi, processes=processes):
                        for name in outputs:
                            (self.dir / name).unlink(missing_ok=True)
                        ran = self.launch(mpi, processes, *words)
                        self.assertEqual(ran.status, one.status, ran.err)
                        self.assertEqual(told(ran), told(one))
                        if one.status == 0:
                            self.assertEqual(ran.out.replace("\r\n", "\n"), one.out)
                        self.assertEqual([(self.dir / name).read_bytes() for name in outputs if (self.dir / name).exists()], written)

    def test_what_was_killed_goes_on(self):
        self.make("fence", 20_000)
        words = ["--full", "--causes=never", "-o", "a.cube", "--restart", "kept", "run"]
        alone = self.run_command("expert", *words[:-3], "run", env={"NO_COLOR": "1"})
        report = (self.dir / "a.cube").read_bytes()
        kept = self.dir / "kept"
        # (Who is to keep an answer where there is a pipe waits for whoever reads that.)
        for mpi in MPIS:
            for at, when, there in (("survey-1", ["survey-0", "survey-2"], 0), ("part-0", ["part-1", "sums-1"], 1),
                                    ("sums-0", ["part-1", "sums-1"], 1)):
                with self.subTest(mpi=mpi, at=at):
                    (self.dir / "a.cube").unlink()
                    kept.mkdir(exist_ok=True)
                    os.mkfifo(kept / f"{at}.kept")
                    with subprocess.Popen([MPIS[mpi][0], "-n", "3", "sh", "-c", f'echo $$ > pid.{RANK}; exec "$0" "$@"', BIN / "expert", *words],
                                          cwd=self.dir, env={**os.environ, **ENVIRONMENT}, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True) as ran:
                        wait_until(lambda: all((kept / f"{name}.kept").is_file() for name in when), ran)
                        os.kill(int((self.dir / "pid.1").read_text(encoding="ascii")), signal.SIGKILL)
                        err = ran.communicate()[1]
                    self.assertNotEqual(ran.returncode, 0, err)
                    self.assertFalse((self.dir / "a.cube").exists())
                    (kept / f"{at}.kept").unlink()
                    ran = self.launch(mpi, 3, BIN / "expert", *words)
                    self.assertEqual((ran.status, ran.out.replace("\r\n", "\n")), (0, alone.out), ran.err)
                    self.assertEqual((self.dir / "a.cube").read_bytes(), report)
                    self.assertEqual(ran.err.count("1 of 3 parts were there"), there, ran.err)
                    self.assertEqual(list(kept.iterdir()), [])

    def test_wrong_use_is_said_once(self):
        for mpi in MPIS:
            for words, why in ((["--processes", "2"], "--processes starts processes of its own: not under a launcher"),
                               (["--processes", "2000"], "--processes is a number from 1 to 1024")):
                with self.subTest(mpi=mpi, why=why):
                    ran = self.launch(mpi, 3, BIN / "expert", *words, "run0.elg")
                    self.assertEqual((ran.status, ran.err.count(why)), (1, 1), ran.err)

    def test_traces_that_one_process_reads(self):
        self.make("fence", 20_000)
        file = next((self.dir / "run").glob("*.elg"))
        with gzip.open(f"{file}.gz", "wb") as packed:
            packed.write(file.read_bytes())
        file.unlink()
        self.one_does_it("the local traces cannot be read from their midst", 3)

    def test_notes_are_said_once(self):
        self.make("fence", 200)
        for mpi in MPIS:
            with self.subTest(mpi):
                ran = self.launch(mpi, 5, BIN / "expert", "run")
                self.assertEqual(ran.status, 0, ran.err)
                self.assertEqual(ran.err.count("expert: note:"), 1, ran.err)
                self.assertRegex(ran.err, r"(\d) parts, the longest has \d+ % of the trace: \1 of 5 processes analyse")

    def test_who_has_no_memory_says_so(self):
        self.make("fence", 2000, "--ranks", "512")
        why = "expert: error: process 1 of 2 could not analyse its part: there is not enough memory"
        for mpi in MPIS:
            with self.subTest(mpi):
                # (With less it cannot even begin.)
                for megabytes in range(100, 400, 10):
                    ran = self.launch(mpi, 2, "sh", "-c", f"test {RANK} = 0 || ulimit -v {megabytes * 1024}; "
                                                          f"{BIN / 'expert'} -o a.cube run")
                    if ran.status == 0 or why in ran.err:
                        break
                self.assertEqual(ran.err.count(why), 1, ran.err)
                self.assertEqual(ran.status, 4)
                self.assertFalse((self.dir / "a.cube").exists())

    def test_help_is_printed_once(self):
        for word in ("--help", "--version", "--list-patterns"):
            alone = self.run_command("expert", word)
            for mpi in MPIS:
                with self.subTest(word=word, mpi=mpi):
                    ran = self.launch(mpi, 3, BIN / "expert", word)
                    self.assertEqual((ran.status, ran.out.replace("\r\n", "\n")), (0, alone.out), ran.err)

    def test_what_goes_wrong_is_said_once(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                ran = self.launch(mpi, 3, BIN / "expert", "nowhere.elg")
                self.assertEqual(ran.status, 2, ran.err)
                self.assertEqual(ran.err.count("expert: error: nowhere.elg: cannot be opened"), 1, ran.err)

    def test_another_task_is_another_analysis(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                ran = self.launch(mpi, 2, "sh", "-c", f"{BIN / 'expert'} run{RANK}.elg")
                self.assertEqual(ran.status, 0, ran.err)
                self.assertEqual(sorted(re.findall(r"Report: (run\d.cube)", ran.out)), ["run0.cube", "run1.cube"])
                self.assertNotIn("analyses all", ran.err)

    def test_the_same_name_in_two_folders_is_two_tasks(self):
        runs = [self.dir / folder / "run" for folder in ("0", "1")]
        runs[0].parent.mkdir()
        self.make("fence", 2000, "--ranks", "2", folder=runs[0])
        shutil.copytree(*runs)  # with the times of the files
        for mpi in MPIS:
            with self.subTest(mpi):
                ran = self.launch(mpi, 2, "sh", "-c", f"cd {RANK}; {BIN / 'expert'} run")
                self.assertEqual(ran.status, 0, ran.err)
                self.assertEqual(ran.out.count("Report: run/a.cube"), 2)
                for run in runs:
                    (run / "a.cube").unlink()

    def test_alone_asks_nobody(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                ran = self.launch(mpi, 2, "sh", "-c", f"test {RANK} = 0 || exit 0; {BIN / 'expert'} --alone run0.elg")
                self.assertEqual(ran.status, 0, ran.err)
                self.assertEqual(ran.out.count("Report: run0.cube"), 1)

    def test_who_waits_for_the_others_says_so(self):
        mpi = next(iter(MPIS))
        ran = self.launch(mpi, 2, "sh", "-c", f"test {RANK} = 0 || sleep 11; {BIN / 'expert'} run0.elg")
        self.assertEqual(ran.status, 0, ran.err)
        self.assertRegex(ran.err, r"waits for the other processes of this mpi\w+; --alone does not")
        self.assertEqual(ran.out.count("Report: run0.cube"), 1)

    def test_an_installation_without_this_mpi_writes_nothing(self):
        (self.dir / "bin").mkdir()
        shutil.copy(BIN / "expert", self.dir / "bin" / "expert")
        for mpi in MPIS:
            with self.subTest(mpi):
                ran = self.launch(mpi, 2, self.dir / "bin" / "expert", "run0.elg")
                self.assertEqual(ran.status, 4, ran.err)
                self.assertEqual(ran.err.count("this installation has no libexpert_mpi.so for " + mpi), 1, ran.err)
                self.assertFalse((self.dir / "run0.cube").exists())


if __name__ == "__main__":
    unittest.main()
