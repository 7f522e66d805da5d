"""kojak run: what goes where, how it ends, under every MPI; kojak config."""
import csv
import datetime
import io
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from cli import BIN, MPIS, ROOT, CommandTest

OVERSUBSCRIBE = {"OMPI_MCA_rmaps_base_oversubscribe": "1"}


class RunTest(CommandTest):
    def launch(self, mpi, processes, *arguments):
        """The words that start the program under an MPI."""
        launcher, program = MPIS[mpi]
        options = ["--oversubscribe"] if mpi == "openmpi" else []
        return [launcher, *options, "-n", str(processes), program, *arguments]

    def kojak(self, *words, **more):
        return self.run_command("kojak", "run", *words, env=dict(ROOT, **more.pop("env", {})),
                                **more)

    def kojak_without(self, by_chance, *words, begin=lambda: None, **more):
        """A run that does not end by this signal, by which its launcher may end, also alone; `begin` before each try."""
        for _ in range(20):
            begin()
            ran = self.kojak(*words, **more)
            if ran.status != 128 + by_chance:
                break
        return ran

    def kojak_of_short_lives(self, *words):
        """MPICH's mpirun may end by SIGPIPE where its program has ended at once: on a full machine 17 of 60 alone."""
        return self.kojak_without(signal.SIGPIPE, *words)

    def directories(self):
        return sorted(path.name for path in self.dir.iterdir() if path.is_dir())

    def files(self, directory):
        return sorted(path.name for path in (self.dir / directory).iterdir())


class EveryMpi(RunTest):
    def test_traces_report_and_output_each_in_its_place(self):
        for mpi, (_, program) in MPIS.items():
            with self.subTest(mpi):
                ran = self.kojak("--", *self.launch(mpi, 2))
                self.assertEqual(ran.status, 0, ran.err)
                self.assertEqual(ran.out, "the sum is 1\n")
                place = f"elg_{os.path.basename(program)}_2"
                self.assertIn(place, self.directories())
                self.assertEqual(self.files(place), ["0.0.elg", "1.0.elg", "a.cube", "a.html"])
                self.assertEqual(ran.err.count(f"the report is {place}/a.cube"), 1)
                self.assertNotRegex(ran.err, "(?m)^(Report|Trace):")
                self.assertEqual(ran.err.count(f"Page: {place}/a.html; everything: expert --full {place}\n"), 1)
                page = (self.dir / place / "a.html").read_text()
                self.assertIn(f"<title>{os.path.basename(program)}: 2 processes</title>", page)
                merged = self.dir / f"{mpi}.elg"
                self.assertEqual(self.run_command("elg_merge", "-q", "-o", merged, place).status, 0)
                checked = self.run_command("elg_print", "--verify", merged)
                self.assertEqual(checked.status, 0, checked.out)
                listed = self.run_command("elg_print", "--type", "MPI_PUT_1TS", merged)
                self.assertEqual(len(listed.lines), 1 + 2)  # header, a put of each rank

    def test_source_is_found_where_the_compiler_ran(self):
        # The compiler is given "../src/lines.c" in the folder made; the program runs elsewhere.
        made, source = self.dir / "made", self.dir / "src" / "lines.c"
        run_here = self.dir / "far" / "away"
        for folder in (made, source.parent, run_here):
            folder.mkdir(parents=True)
        source.write_text("#include <mpi.h>\nint main(int n, char **v) {\n  MPI_Init(&n, &v);\n"
                          "  MPI_Barrier(MPI_COMM_WORLD);  /* all come here */\n"
                          "  MPI_Finalize();\n  return 0;\n}\n")
        for mpi, (launcher, _) in MPIS.items():
            with self.subTest(mpi):
                compiler = launcher.replace("mpirun", "mpicc").replace("mpiexec", "mpicc")
                subprocess.run([compiler, "-g", "-o", "prog", "../src/lines.c"], cwd=made, check=True)
                start = [launcher, *(["--oversubscribe"] if mpi == "openmpi" else []), "-n", "2", made / "prog"]
                ran = self.kojak("--keep", "-o", mpi, "--", *start, cwd=run_here)
                self.assertEqual(ran.status, 0, ran.err)
                out = run_here / mpi
                listed = self.run_command("elg_print", "--type", "STRING", out / "a.elg")
                self.assertIn('"source.folders"', listed.out)
                self.assertIn(f'"{made}"', listed.out)
                self.assertTrue("all come here" in (out / "a.html").read_text())
                moved = self.dir / "moved"
                made.rename(moved)
                self.run_command("kojak", "html", "-q", "--trace", out / "a.elg", "-o", "without.html", out / "a.cube")
                moved.rename(made)
                self.assertFalse("all come here" in (self.dir / "without.html").read_text())

    def test_the_report_says_what_the_run_was(self):
        library = {"openmpi": "Open MPI v", "mpich": "MPICH Version:"}
        for mpi, (_, program) in MPIS.items():
            with self.subTest(mpi):
                began = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
                ran = self.kojak("-o", mpi, "--", *self.launch(mpi, 2, "one", "two words"),
                                 env={"OMP_NUM_THREADS": "3", "ELG_BUFFER_SIZE": "1M"})
                ended = datetime.datetime.now(datetime.timezone.utc)
                self.assertEqual(ran.status, 0, ran.err)
                told = self.run_command("kojak", "info", self.dir / mpi / "a.cube").out
                fact = {m[1]: m[2] for m in re.finditer(r"(?m)^(\w+): +(.*)$", told)}
                self.assertEqual(fact["command"], f"{program} one two words")
                start = datetime.datetime.fromisoformat(fact["start"].replace("Z", "+00:00"))
                self.assertTrue(began <= start <= ended, (began, start, ended))
                self.assertIn(library[mpi], fact["mpi"])
                self.assertEqual(fact["hosts"], f"{os.uname().nodename} (2 processes)")
                self.assertIn("environment: OMP_NUM_THREADS=3\n", told)
                self.assertIn("environment: ELG_BUFFER_SIZE=1M\n", told)
                self.assertNotIn("ELG_DIR", told)
                page = (self.dir / mpi / "a.html").read_text()
                self.assertIn(f'["command","{program} one two words"]', page)

    def test_a_long_command_is_cut(self):
        mpi = next(iter(MPIS))
        ran = self.kojak("-o", "long", "--", *self.launch(mpi, 2, "x" * 5000))
        self.assertEqual(ran.status, 0, ran.err)
        told = self.run_command("kojak", "info", self.dir / "long" / "a.cube").out
        command = re.search(r"(?m)^command: +(.*)$", told)[1]
        self.assertTrue(command.endswith("xxx..."), command)
        self.assertEqual(len(command), 240)

    def test_the_status_is_the_programs(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                ran = self.kojak("-q", "--", *self.launch(mpi, 2, "exit", "42"))
                self.assertEqual(ran.status, 42, ran.err)
                self.assertEqual(ran.out, "the sum is 1\n")

    def test_a_killed_program_is_analysed_too(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                place = f"killed_{mpi}"
                # MPICH's launcher gives one status or another when processes die, so it notes what it gave.
                launcher, *words = self.launch(mpi, 2, "kill", "9")
                noting = self.file("mpirun", f'#!/bin/sh\n{launcher} "$@"\nstatus=$?\necho $status > noted\nexit $status\n')
                noting.chmod(0o755)
                for _ in range(20 if mpi == "mpich" else 1):  # that of MPICH 4.2 gives 0 now and then
                    shutil.rmtree(self.dir / place, ignore_errors=True)
                    ran = self.kojak("-o", place, "--", noting, *words)
                    if ran.status != 0:
                        break
                self.assertEqual(ran.status, int((self.dir / "noted").read_text()), ran.err)
                self.assertNotEqual(ran.status, 0)
                self.assertIn(f"mpirun ended with status {ran.status}", ran.err)
                if ran.status in (9, 137):
                    self.assertIn("(as after signal 9, SIGKILL)", ran.err)
                self.assertIn("a.cube", self.files(place))

    def test_several_programs_in_one_command_line(self):
        for mpi, (_, program) in MPIS.items():
            with self.subTest(mpi):
                words = self.launch(mpi, 1) + [":", "-n", "2", program]
                alone = subprocess.run(words, capture_output=True, env=dict(os.environ, **ROOT), check=False)
                if mpi == "openmpi" and alone.returncode in (-signal.SIGSEGV, 128 + signal.SIGSEGV):
                    self.skipTest("this mpirun ends by SIGSEGV, measured or not (Open MPI 5.0.7, its issue 13303)")
                ran = self.kojak("-o", f"several_{mpi}", "--no-analysis", "--", *words)
                self.assertEqual(ran.status, 0, ran.err)
                self.assertEqual(self.files(f"several_{mpi}"), ["0.0.elg", "1.0.elg", "2.0.elg"])

    def test_without_a_launcher(self):
        for mpi, (_, program) in MPIS.items():
            with self.subTest(mpi):
                ran = self.kojak("--", program, "exit", "3")
                self.assertEqual(ran.status, 3, ran.err)
                self.assertEqual(ran.out, "the sum is 0\n")
                self.assertIn(f"elg_{os.path.basename(program)}_1", self.directories())


class Places(RunTest):
    mpi = next(iter(MPIS))

    def place(self, processes=2):
        return f"elg_{os.path.basename(MPIS[self.mpi][1])}_{processes}"

    def test_a_second_run_gets_the_next_name(self):
        for _ in range(3):
            self.kojak("-q", "--no-analysis", "--", *self.launch(self.mpi, 2))
        self.assertEqual(self.directories(),
                         [self.place(), self.place() + ".2", self.place() + ".3"])

    def test_named_by_option_or_environment(self):
        self.kojak("-o", "by/option", "--", *self.launch(self.mpi, 2), env={"ELG_DIR": "not"})
        self.assertIn("a.cube", self.files("by/option"))
        self.kojak("--", *self.launch(self.mpi, 2), env={"ELG_DIR": "environment"})
        self.assertIn("a.cube", self.files("environment"))
        self.assertEqual(self.directories(), ["by", "environment"])

    def test_never_into_a_directory_with_traces(self):
        self.kojak("-q", "-o", "here", "--", *self.launch(self.mpi, 2))
        before = {path.name: path.read_bytes() for path in (self.dir / "here").iterdir()}
        ran = self.kojak("-o", "here", "--", *self.launch(self.mpi, 2))
        self.assert_fails(ran, 4, "here: holds traces already")
        self.assertEqual(ran.out, "", "the program did not run")
        after = {path.name: path.read_bytes() for path in (self.dir / "here").iterdir()}
        self.assertEqual(after, before)
        self.file("plain", "a file")
        self.assert_fails(self.kojak("-o", "plain", "--", "true"), 4, "plain: is no directory")

    def test_recording_only(self):
        ran = self.kojak("--no-analysis", "--", *self.launch(self.mpi, 2))
        self.assertEqual(self.files(self.place()), ["0.0.elg", "1.0.elg"])
        self.assertIn(f"traces in {self.place()}", ran.err)

    def test_samples_and_causes_are_in_the_report(self):
        self.kojak("--sample=1ms", "-o", "sampled", "--", *self.launch(self.mpi, 2))
        listing = self.run_command("elg_print", self.dir / "sampled" / "0.0.elg").out
        self.assertIn('str="sample.interval"', listing)
        self.assertIn('str="0.001"', listing)
        self.assertIn("Delay Costs", (self.dir / "sampled" / "a.cube").read_text())
        for words in (["--causes"], []):  # this trace is small: causes are told without being asked for
            place = "".join(["causes", *words])
            self.kojak(*words, "-o", place, "--", *self.launch(self.mpi, 2))
            self.assertNotIn("sample.interval", self.run_command("elg_print", self.dir / place / "0.0.elg").out)
            self.assertIn("Delay Costs", (self.dir / place / "a.cube").read_text())
        self.kojak("--no-causes", "-o", "neither", "--", *self.launch(self.mpi, 2))
        self.assertNotIn("Delay Costs", (self.dir / "neither" / "a.cube").read_text())

    def test_local_traces_can_go(self):
        self.kojak("--discard-local", "--", *self.launch(self.mpi, 2))
        self.assertEqual(self.files(self.place()), ["a.cube", "a.elg", "a.html"])

    def test_other_formats_beside_the_report(self):
        if not os.path.exists(os.path.join(os.environ["KOJAK_BIN"], "elg2otf2")):
            self.assert_fails(self.kojak("--otf2", "--", "true"), 1, "libotf2-trace-dev")
            return
        ran = self.kojak("-q", "--otf2", "--perfetto", "--", *self.launch(self.mpi, 2))
        self.assertEqual(ran.status, 0, ran.err)
        self.assertEqual(self.files(self.place()),
                         ["0.0.elg", "1.0.elg", "a.cube", "a.html", "a.otf2", "a.pftrace"])
        self.assertIn("traces.otf2", self.files(self.place() + "/a.otf2"))
        self.assert_fails(self.kojak("--no-analysis", "--otf2", "--", "true"), 1, "--no-analysis")

    def test_the_merged_trace_is_kept_if_wanted(self):
        """It is what elg_merge makes of the run, and expert's report of it is the run's."""
        ran = self.kojak("--keep", "--no-source", "-o", "kept", "--", *self.launch(self.mpi, 2))
        self.assertEqual(self.files("kept"), ["0.0.elg", "1.0.elg", "a.cube", "a.elg", "a.html"])
        self.assertIn("the trace kept/a.elg", " ".join(ran.err.split()))
        self.run_command("elg_merge", "-q", "-o", "merged.elg", "kept")
        self.assertEqual((self.dir / "merged.elg").read_bytes(), (self.dir / "kept/a.elg").read_bytes())
        self.run_command("expert", "-q", "-o", "again.cube", "merged.elg")
        self.assertEqual((self.dir / "again.cube").read_bytes(), (self.dir / "kept/a.cube").read_bytes())
        ran = self.kojak("--otf2" if (BIN / "elg2otf2").exists() else "--perfetto", "--keep", "-o", "both", "--",
                         *self.launch(self.mpi, 2))
        self.assertIn("a.elg", self.files("both"), ran.err)
        self.assert_fails(self.kojak("--no-analysis", "--keep", "--", "true"), 1, "--no-analysis")

    def test_the_kept_trace_is_compressed_if_wanted(self):
        """It is what elg_merge makes of the run with the same option."""
        ran = self.kojak("--keep", "--zstd", "-o", "kept", "--", *self.launch(self.mpi, 2))
        self.assertEqual(self.files("kept"), ["0.0.elg", "1.0.elg", "a.cube", "a.elg.zst", "a.html"], ran.err)
        self.assertIn("the trace kept/a.elg.zst", " ".join(ran.err.split()))
        self.run_command("elg_merge", "-q", "--zstd", "-o", "merged.elg.zst", "kept")
        self.assertEqual((self.dir / "merged.elg.zst").read_bytes(), (self.dir / "kept/a.elg.zst").read_bytes())
        ran = self.kojak("--discard-local", "--gzip", "--perfetto", "-o", "alone", "--", *self.launch(self.mpi, 2))
        self.assertEqual(self.files("alone"), ["a.cube", "a.elg.gz", "a.html", "a.pftrace"], ran.err)
        self.assert_fails(self.kojak("--zstd", "--", "true"), 1, "that --keep or --discard-local keeps")
        self.assert_fails(self.kojak("--keep", "--zstd", "--gzip", "--", "true"), 1, "--zstd or --gzip, not both")

    def test_a_script_may_start_it(self):
        script = " ".join(self.launch(self.mpi, 2)) + "; echo done; exit 5"
        ran = self.kojak("--", "sh", "-c", script)
        self.assertEqual(ran.status, 5, ran.err)
        self.assertEqual(ran.out, "the sum is 1\ndone\n")
        self.assertIn("a.cube", self.files(self.place()))

    def test_spawned_processes_are_a_run_of_their_own(self):
        for mpi, (_, program) in MPIS.items():
            with self.subTest(mpi):
                ran = self.kojak("--", *self.launch(mpi, 1, "spawn"))
                # Not every MPI can spawn everywhere; ours changes nothing about that. Where it cannot, mpirun.mpich ends
                # with 1 or 15 by chance.
                alone = self.run_command(*self.launch(mpi, 1, "spawn"), env=ROOT)
                self.assertEqual(ran.status == 0, alone.status == 0, ran.err)
                place = f"elg_{os.path.basename(program)}_1"
                for directory in [place] + [place + ".2"] * (alone.status == 0):
                    self.assertIn("a.cube", self.files(directory))

    def test_quiet_and_verbose(self):
        quiet = self.kojak("-q", "--", *self.launch(self.mpi, 2))
        self.assertEqual((quiet.out, quiet.err), ("the sum is 1\n", ""))
        verbose = self.kojak("-v", "--", *self.launch(self.mpi, 2))
        self.assertEqual(verbose.out, "the sum is 1\n")
        self.assertIn("libelg_mpi.so", verbose.err)
        self.assertEqual(len(re.findall(r"running \S*/expert ", verbose.err)), 1)
        self.assertNotIn("elg_merge", verbose.err)

    def test_settings_go_to_every_node(self):
        """Open MPI hands only those variables to other nodes that it is told."""
        for mpi, option in (("openmpi", "-x ELG_CALLSITES=off"), ("mpich", "-genv ELG_CALLSITES off")):
            if mpi not in MPIS:
                continue
            with self.subTest(mpi):
                ran = self.kojak("-v", "--", *self.launch(mpi, 1), env={"ELG_CALLSITES": "off"})
                self.assertIn(option, ran.err)
                self.assertNotIn("ELG_MPI", ran.err)

    def test_an_interrupt_ends_the_program_and_not_the_analysis(self):
        words = [str(BIN / "kojak"), "run", "-o", "stopped", "--",
                 *self.launch(self.mpi, 2, "wait", "waiting")]
        running = subprocess.Popen(words, cwd=self.dir, env=dict(os.environ, **ROOT),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        for _ in range(600):
            if (self.dir / "waiting").exists() or running.poll() is not None:
                break
            time.sleep(0.1)
        os.killpg(running.pid, signal.SIGINT)  # as the terminal does
        _, err = running.communicate(timeout=100)
        self.assertNotEqual(running.returncode, 0)
        self.assertIn("a.cube", self.files("stopped"), err.decode())


class Preloads(RunTest):
    """What must reach the program's processes, whatever else the command says."""

    SHOWS = ["sh", "-c", 'echo "preload=$LD_PRELOAD colour=$COLOUR"; exec "$0"']

    def remove_runs(self):
        for left in self.dir.glob("run*"):
            shutil.rmtree(left)

    def recorded(self, *words, env=None, by_chance=0):
        """A run of two processes: its output. Its launcher may end by this signal."""
        ran = self.kojak_without(by_chance, "-o", "run", "--", *words, begin=self.remove_runs,
                                 env=dict(OVERSUBSCRIBE, **(env or {})))
        self.assertEqual(ran.status, 0, ran.err)
        self.assertIn("the sum is 1", ran.out, ran.err)
        self.assertLessEqual({"0.0.elg", "1.0.elg", "a.cube"}, set(self.files("run")), ran.err)
        return ran.out

    def test_address_sanitizer_linked_dynamically(self):
        """It wants to be the first library; errors are found as without the measurement."""
        source = self.file("wrong.c", "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
                           "#include <string.h>\nint main(int n, char **v) {\n  char *text = malloc(8);\n"
                           "  MPI_Init(&n, &v);\n  memset(text, 0, n > 1 ? 9 : 8);\n"
                           "  printf(\"the sum is %d\\n\", 1 + text[0]);\n  free(text);\n  MPI_Finalize();\n"
                           "  return 0;\n}\n")
        for mpi, (launcher, _) in MPIS.items():
            with self.subTest(mpi):
                compiler = launcher.replace("mpirun", "mpicc").replace("mpiexec", "mpicc")
                made = subprocess.run([compiler, "-g", "-fsanitize=address", "-o", self.dir / mpi, source],
                                      stderr=subprocess.DEVNULL)
                if made.returncode != 0 or b"libasan" not in subprocess.run(
                        ["readelf", "-d", self.dir / mpi], capture_output=True).stdout:
                    self.skipTest("no AddressSanitizer that is linked dynamically")
                option = ["-x", "ASAN_OPTIONS=detect_leaks=0"] if mpi == "openmpi" else [
                    "-genv", "ASAN_OPTIONS", "detect_leaks=0"]
                self.recorded(launcher, "-n", "2", self.dir / mpi, env={"ASAN_OPTIONS": "detect_leaks=0"})
                self.recorded(launcher, *option, "-n", "2", self.dir / mpi)
                wrong = self.kojak("--", launcher, "-n", "1", self.dir / mpi, "x",
                                   env={"ASAN_OPTIONS": "detect_leaks=0"})
                self.assertNotEqual(wrong.status, 0)
                self.assertRegex(wrong.err, r"heap-buffer-overflow(.|\n)*wrong\.c:8")

    def test_a_preload_of_the_users_own_comes_behind_ours(self):
        for mpi, (launcher, program) in MPIS.items():
            option = (lambda *words: ["-x", "=".join(words)]) if mpi == "openmpi" else (
                lambda *words: ["-env", *words])
            with self.subTest(mpi):
                for value, shown in (("libm.so.6", "libelg_mpi.so:libm.so.6 "), ("", "libelg_mpi.so ")):
                    out = self.recorded(launcher, *option("LD_PRELOAD", value), "-n", "2", *self.SHOWS, program)
                    self.assertEqual(out.count(shown), 2, out)
        if "openmpi" in MPIS:
            launcher, program = MPIS["openmpi"]
            out = self.recorded(launcher, "-x", "LD_PRELOAD", "-n", "2", *self.SHOWS, program,
                                env={"LD_PRELOAD": "libm.so.6"})
            self.assertEqual(out.count("libelg_mpi.so:libm.so.6 "), 2, out)

    def test_the_programs_own_words_stay(self):
        for mpi, (launcher, _) in MPIS.items():
            with self.subTest(mpi):
                words = ["-x", "LD_PRELOAD=a"] if mpi == "openmpi" else ["-env", "LD_PRELOAD", "a"]
                ran = self.kojak("--", launcher, "-n", "1", "echo", *words)
                self.assertEqual(ran.out, " ".join(words) + "\n", ran.err)

    def test_a_list_of_programs(self):
        """Open MPI ignores all other options then."""
        if "openmpi" not in MPIS:
            self.skipTest("no Open MPI")
        launcher, program = MPIS["openmpi"]
        text = f"# a comment\n-np 1 {program}\n\n-np 1 -x LD_PRELOAD=libm.so.6 {program}\n"
        programs = self.file("programs", text)
        # Open MPI 5.0's mpirun ends by SIGSEGV with a list of two lines, also alone. A comment counts as one.
        alone = [self.run_command(launcher, "--app", "programs", env=dict(OVERSUBSCRIBE, **ROOT)).status
                 for _ in range(3)]
        if 0 not in alone:
            text = f"-np 2 -x LD_PRELOAD=libm.so.6 {program}\n"
            programs.write_text(text)
        self.recorded(launcher, "--app", "programs", by_chance=signal.SIGSEGV)
        self.assertEqual(programs.read_text(), text)

    def test_an_environment_list(self):
        """Beside one Open MPI refuses -x."""
        if "openmpi" not in MPIS:
            self.skipTest("no Open MPI")
        launcher, program = MPIS["openmpi"]
        words = ["-n", "2", *self.SHOWS, program]
        for options, env in ((["--mca", "mca_base_env_list", "COLOUR=blue"], {}),
                             ([], {"OMPI_MCA_mca_base_env_list": "COLOUR=blue"})):
            with self.subTest(options=options):
                out = self.recorded(launcher, *options, *words, env=env)
                self.assertEqual(out.count("colour=blue"), 2, out)

    def test_a_preload_that_is_lost_is_told(self):
        for mpi, (launcher, program) in MPIS.items():
            with self.subTest(mpi):
                ran = self.kojak("--", launcher, "-n", "1", "env", "-u", "LD_PRELOAD", program)
                self.assertEqual((ran.status, ran.out), (0, "the sum is 0\n"))
                self.assertIn(f"{program} was not started with the measurement library", ran.err)
                self.assertIn("sets or unsets LD_PRELOAD", ran.err)
                self.assertNotIn("MPI_Init", ran.err)


class Failures(RunTest):
    def test_commands_that_cannot_be_run(self):
        self.assert_fails(self.kojak("--", "no-such-program"), 127, "no-such-program")
        script = self.file("not-executable", "#!/bin/sh\n")
        self.assert_fails(self.kojak("--", str(script)), 126, "not-executable")
        self.assertEqual(self.directories(), [])

    def test_programs_without_mpi_run_and_are_missed(self):
        ran = self.kojak("--", "sh", "-c", "echo hello; exit 9")
        self.assertEqual((ran.status, ran.out), (9, "hello\n"))
        self.assertIn("no trace was written", ran.err)
        self.assertIn("not linked with an MPI library", ran.err)
        self.assertEqual(self.kojak("--", "sh", "-c", "kill -9 $$").status, 128 + 9)
        self.assertEqual(self.directories(), [])

    def test_why_nothing_was_recorded(self):
        """In the words of what was found: static, SHMEM, a script."""
        source = self.file("p.c", "int shmem_init(void); const char name[] = \"MPI_Init\";\n"
                                  "int main(void) { return name[0] == 'x'; }\n")
        subprocess.run(["gcc", "-static", "-o", self.dir / "static_mpi", source], check=True)
        ran = self.kojak("--", str(self.dir / "static_mpi"))
        self.assertEqual(ran.status, 0)
        self.assertIn("static_mpi is linked statically", ran.err)
        self.assertIn("elg_config --static", ran.err)
        shmem = self.file("s.c", "const char name[] = \"shmem_init\";\nint main(void) { return name[0] == 'x'; }\n")
        subprocess.run(["gcc", "-o", self.dir / "shmem_only", shmem], check=True)
        self.assertIn("has its OpenSHMEM linked in, or opens it while it runs", self.kojak("--", str(self.dir / "shmem_only")).err)
        script = self.file("script", "#!/bin/sh\necho hello\n")
        script.chmod(0o755)
        ran = self.kojak("--", str(script))
        self.assertEqual((ran.status, ran.out), (0, "hello\n"))
        self.assertIn("names no program file", ran.err)

    def test_refused_before_the_start_where_no_trace_can_be_written(self):
        """On a full disk and below a file; nothing is run."""
        self.file("plain", "a file")
        ran = self.kojak("-o", "plain/below", "--", "echo", "ran")
        self.assert_fails(ran, 4, "plain is no directory")
        self.assertEqual(ran.out, "")
        ran = self.kojak("-o", "/proc/kojak/run", "--", "echo", "ran")  # a file system that takes no files
        self.assert_fails(ran, 4, "traces cannot be written in /proc", "nothing was run")
        self.assertEqual(ran.out, "")
        # 32 KB may be written: the first part of what is tried, and then it is the limit that says no.
        kojak = str(BIN / "kojak")
        limited = subprocess.run(["bash", "-c", f"ulimit -f 32; exec {kojak} run -o limited -- echo ran"], cwd=self.dir,
                                 capture_output=True, text=True, timeout=60)
        self.assertEqual((limited.returncode, limited.stdout), (4, ""))
        self.assertIn("File too large", limited.stderr)
        self.assertEqual(self.directories(), [])

    def test_usage(self):
        self.assert_fails(self.kojak(), 1, "give a command to run")
        self.assert_fails(self.kojak("--mpi", "other", "--", "true"), 1, "other", "--mpi")
        self.assert_fails(self.run_command("kojak"), 1, "kojak run")
        self.assert_fails(self.run_command("kojak", "dif", "a", "b"), 1, "no command \"dif\"")

    def test_options_of_the_program_are_its_own(self):
        ran = self.kojak("echo", "-o", "x", "--help", "--", "y")
        self.assertEqual(ran.out, "-o x --help -- y\n")


class Config(CommandTest):
    def test_settings_with_their_values(self):
        ran = self.run_command("kojak", "config", "--csv", env={"ELG_BUFFER_SIZE": "3M"})
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO(ran.out))}
        for name in ("ELG_DIR", "ELG_BUFFER_SIZE", "ELG_MPI", "ELG_RECORD", "ELG_VERBOSE",
                     "ELG_VT_MODE"):
            self.assertIn(name, rows)
        self.assertEqual(rows["ELG_BUFFER_SIZE"]["now"], "3M")
        text = self.run_command("kojak", "config", env={"ELG_BUFFER_SIZE": "3M"}).out
        self.assertIn("ELG_BUFFER_SIZE = 3M\n", text)
        self.assertIn("ELG_RECORD = 1  (default)\n", text)


if __name__ == "__main__":
    unittest.main()
