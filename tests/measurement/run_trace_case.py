#!/usr/bin/env python3
"""Runs an MPI program with and without the measurement library and compares what it recorded with what the
program says that its trace must show (programs/expect.h).

Checked: exit status and sorted standard output are the same with and without the library, nothing on standard error;
one complete local trace for each rank, well-formed by verify; each call once, in order, with its events.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

class Case:
    def __init__(self, args):
        self.args = args
        self.wrapper = []  # a command in front of the launcher's
        self.prefix = []  # a command in front of the program
        self.work = pathlib.Path(args.work) / args.name
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)

    def run(self, *arguments, **how):
        command, env = self.command(*arguments, **how)
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=150, cwd=self.work)

    def measured(self, traces, **settings):
        """A run that ends well and says nothing of its own on standard error."""
        done = self.run(True, {"ELG_DIR": traces, **settings})
        if done.returncode != 0 or done.stderr:
            sys.exit(f"the program ended with {done.returncode}\n{done.stderr}")
        return done

    def start(self, extra, launcher):
        """The measured program, without waiting for its end."""
        command, env = self.command(True, extra, launcher=launcher)
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.work)

    def analyse(self, traces, *options):
        """Merges and analyses a run: what expert said, its lines joined."""
        trace, report = self.work / "a.elg", self.work / "a.cube"
        for command in ([f"{self.args.bin}/elg_merge", "-q", "-o", trace, traces],
                        [f"{self.args.bin}/expert", "-o", report, *options, trace]):
            tool = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60)
            if tool.returncode != 0:
                sys.exit(f"{command} ended with {tool.returncode}\n{tool.stderr}")
        return " ".join(tool.stdout.split())

    def is_mpich_4_1(self):
        """MPICH 4.1 or later."""
        if self.args.mpi != "mpich":
            return False
        told = subprocess.run([self.args.mpirun, "--version"], capture_output=True, text=True, check=False).stdout
        version = re.search(r"Version:\s+(\d+)\.(\d+)", told)
        return version is not None and (int(version[1]), int(version[2])) >= (4, 1)

    def noted(self, name, measured, extra, by_signal):
        """Runs the program with each process noting how it ended: outcome, rank -> "exit 3"; not if it was killed first.
        The signals of the launcher count only in the ranks `by_signal`, which end so by themselves."""
        self.prefix = [self.args.note_status, str(self.work / name)]
        done = self.run(measured, extra)
        self.prefix = []
        ends = {rank: (self.work / f"{name}.{rank}").read_text().strip() for rank in range(self.args.ranks)
                if (self.work / f"{name}.{rank}").exists()}
        ends = {rank: end for rank, end in ends.items() if end}  # not those killed while they noted it
        return done, {rank: end for rank, end in ends.items() if rank in by_signal or end not in ("signal 9", "signal 15")}

    def check_status(self, done, ends):
        """Where processes died mpirun of MPICH 4.1 and later tells, by chance and measured or not, the number of how one of
        them ended, of a signal by which it ended the others itself, or 0."""
        allowed = {0, 9, 15, *(int(end.split()[1]) for end in ends.values())}
        if done.returncode not in allowed:
            sys.exit(f"exit status {done.returncode}, not one of {sorted(allowed)}: {ends}\n{done.stderr}")

    def command(self, measured, extra=None, program=None, ranks=None, launcher=()):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ELG_") and k != "LD_PRELOAD"}
        env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        env.setdefault("MPIR_CVAR_POLLS_BEFORE_YIELD", "10")  # MPICH's processes poll, here on few processors
        if self.is_mpich_4_1():
            # There UCX puts by process_vm_writev, and ends the program, measured or not, where the system refuses: after
            # setuid, and in some containers.
            env.setdefault("UCX_TLS", "^cma")
        command = [self.args.mpirun]
        if self.args.mpi == "openmpi":
            command.append("--oversubscribe")
            for setting in self.args.mca.split():
                command += ["--mca"] + setting.split("=", 1)
        settings = dict(extra or {})
        if measured and self.args.library:
            settings["LD_PRELOAD"] = self.args.library
        command += [*launcher, "-n", str(ranks or self.args.ranks)]
        command += ["env"] + [f"{key}={value}" for key, value in settings.items()]
        command += self.prefix + [program or self.args.program] + self.args.arguments
        return self.wrapper + command, env


def listing(tool, directory, option=None):
    """file name -> (lines, end line)"""
    done = subprocess.run([tool] + ([option] if option else []) + [str(directory)], capture_output=True,
                          text=True, timeout=60)
    if done.returncode != 0:
        sys.exit(f"{directory}: {done.stderr}")
    files = {}
    for line in done.stdout.splitlines():
        if line.startswith("file "):
            lines = files[line.split()[1]] = []
        else:
            lines.append(line)
    return files

def differences(expected, found):
    """Compares expected lines (with `*` and `?` repeats) with found ones; None if they agree."""
    i = 0
    for number, line in enumerate(expected, 1):
        if line.startswith("*"):
            while i < len(found) and found[i] == line[1:]:
                i += 1
        elif line.startswith("?"):
            i += i < len(found) and found[i] == line[1:]
        elif i < len(found) and found[i] == line:
            i += 1
        else:
            have = found[i] if i < len(found) else "the end"
            return f"line {number}: expected '{line}', the trace has '{have}' as call {i + 1}"
    return None if i == len(found) else f"more calls than expected, first '{found[i]}'"

def calls_of(lines):
    """The calls at depth 1, without the measurement's own work."""
    return [line[2:] for line in lines if re.match(r"  \S", line) and not line.startswith("  TRACING")]

def check_expected(case, directory, expectations):
    files = listing(case.args.tool, directory)
    if sorted(files) != sorted(f"{rank}.0.elg" for rank in range(case.args.ranks)):
        sys.exit(f"{directory} holds {sorted(files)}")
    # session.0 is how the processes of a program without MPI_Init found each other.
    left = [name for name in os.listdir(directory) if not re.fullmatch(r".*\.elg|session\.\d+", name)]
    if left:
        sys.exit(f"left behind: {left}")
    runs = set()
    for rank in range(case.args.ranks):
        lines = files[f"{rank}.0.elg"]
        expected = (expectations / str(rank)).read_text().splitlines()
        expected = [line for line in expected if re.fullmatch(case.args.only, line.lstrip("*?"))]
        wrong = differences(expected, calls_of(lines))
        if wrong:
            sys.exit(f"rank {rank}: {wrong}")
        end = lines[-1]
        if "open=0 lost=0" not in end:
            sys.exit(f"rank {rank}: {end}")
        runs.add(re.search(r"run=(\w+)", end)[1])
    if len(runs) != 1:
        sys.exit(f"different runs: {runs}")

def parser():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--name", required=True)
    options.add_argument("--mpi", required=True)
    options.add_argument("--mpirun", required=True)
    options.add_argument("--mca", default="", help="Open MPI settings NAME=VALUE, with blanks between")
    options.add_argument("--library", help="preload it; without, the program is linked with it")
    options.add_argument("--plain-program", help="the program without the library, if --program has it")
    options.add_argument("--tool", required=True, help="local_events")
    options.add_argument("--work", required=True)
    options.add_argument("--ranks", type=int, default=2)
    options.add_argument("--env", action="append", default=[], help="NAME=VALUE for the measured run")
    options.add_argument("--only", default=".*", help="expected calls that the settings leave, as a pattern")
    options.add_argument("program")
    options.add_argument("arguments", nargs="*")
    return options

def main():
    case = Case(parser().parse_args())
    expectations = case.work / "expected"
    expectations.mkdir()
    plain = case.run(False, program=case.args.plain_program)
    traces = case.work / "traces"
    settings = dict(setting.split("=", 1) for setting in case.args.env)
    # Each call by itself; series of polls are run_polls_case.py's.
    measured = case.run(True, {"ELG_DIR": traces, "KOJAK_EXPECT": expectations, "ELG_POLLS": "off", **settings})
    if plain.returncode != 0 or measured.returncode != 0:
        sys.exit(f"status {plain.returncode} and {measured.returncode}\n{plain.stderr}\n{measured.stderr}")
    if sorted(plain.stdout.splitlines()) != sorted(measured.stdout.splitlines()):
        sys.exit(f"output differs:\n{plain.stdout}\n---\n{measured.stdout}")
    if measured.stderr != plain.stderr:
        sys.exit(f"standard error differs:\n{measured.stderr}")
    check_expected(case, traces, expectations)

if __name__ == "__main__":
    main()
