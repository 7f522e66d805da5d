#!/usr/bin/env python3
"""Runs programs with injected waits through the whole pipeline and compares the report with the truth.

For each program: record it with the measurement library preloaded, compute the truth from the program's
own times (make_truth), merge, analyse, compare (check_truth); then the same from the basic model, whose
severities must be the same. Of operations that are begun and completed later, the controlled logical clock
(elg_merge --clock clc) must check every one, and find none backwards, because the processes share one clock.
Both traces pass what holds between every trace, its report and changed traces (check_trace), and the
independent analysis agrees with the report; no two groups of causes have equal words. With --load, two busy loops keep the machine's cores away from the
programs.

A process can lose its core between the program's reading of the clock and the wrapper's next to it; that
moves a time by more than the 2 ms that are allowed. What is wrong in the tools is wrong in every run, so a
program whose report misses the truth runs again, up to 12 times in all (--runs), until each metric has been
right at each call path, for all processes, in one run at least; each miss is printed. In the second half of
these runs a time may be 2 % off, too: a sum of some hundred calls misses 2 ms in every run where the machine
is full, and a wait that is forgotten or counted twice is more than that of each sum. What holds in every
report must hold in every run.

What a run leaves is removed if all is well; otherwise it is kept and its place is printed.
Exit status: 0 all good, 1 something is wrong.
"""
import argparse
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent import compare, words  # noqa: E402

STEP_SECONDS = 90
ALLOWED_SECONDS = "0.002"
ALLOWED_SHARE = "0.02"
SHOWN_LINES = 60
BURNER = "import time\nend = time.monotonic() + 290\nwhile time.monotonic() < end: pass"


# Their truth is made of single calls: others' locks and transfers get on in each MPI_Iprobe.
POLLS_ONE_BY_ONE = ("locks", "nothing_issued", "progress", "rma_requests", "sleeper")


class Failure(Exception):
    """Something is wrong; `output` is all that the failed command printed."""

    output = ""


class Miss(Failure):
    """The report differs from the truth: `values` are the metrics and call paths with a wrong number."""

    values = frozenset()


# What check_truth prints of a number. Its other lines are of things that no lost core explains.
WRONG_VALUE = re.compile(r".*?: (?P<value>\S+ \S+) rank \d+: expected ")


def check_truth(command, environment):
    try:
        run("check_truth", command, environment, failure=Miss)
    except Miss as miss:
        found = [WRONG_VALUE.match(line) for line in miss.output.splitlines()]
        if not found or None in found:
            raise Failure(str(miss)) from None
        miss.values = frozenset(line["value"] for line in found)
        raise


def run(what, command, environment, quiet=False, failure=Failure):
    """Runs one command and returns its output, which is shown only if something is wrong with it."""
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", start_new_session=True)
    try:
        out, err = process.communicate(timeout=STEP_SECONDS)
    except subprocess.TimeoutExpired:
        # mpirun starts its processes in groups of their own, and ends them when it is told to end.
        process.terminate()
        try:
            out, err = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        raise Failure(f"{what} did not end within {STEP_SECONDS} s\n{out}{err}")
    if process.returncode != 0:
        lines = (out + err).splitlines()
        shown = lines[:SHOWN_LINES]
        if len(lines) > len(shown):
            shown.append(f"... and {len(lines) - len(shown)} lines more")
        failed = failure("\n".join([f"{what}: exit status {process.returncode}",
                                    f"  {' '.join(command)}"] + shown))
        failed.output = out + err
        raise failed
    if quiet and out:
        raise Failure(f"{what} printed, although the program prints nothing:\n{out}")
    return out


def launcher(options, ranks, variables):
    """The command that starts `ranks` processes with the environment variables set in them only."""
    if options.mpi == "openmpi":
        command = [options.mpirun, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        for setting in options.mca.split():
            command += ["--mca"] + setting.split("=", 1)
        command += ["-n", ranks]
        for name, value in variables.items():
            command += ["-x", f"{name}={value}"]
    else:
        command = [options.mpirun, "-n", ranks]
        for name, value in variables.items():
            command += ["-genv", name, value]
    return command


def check(options, program, ranks, directory, share):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    for name in list(environment):  # the test decides how it is measured
        if name.startswith("ELG_") or name == "LD_PRELOAD":
            del environment[name]
    notes, traces, truth = directory / "notes", directory / "traces", directory / "truth"
    variables = {"LD_PRELOAD": str(options.library), "ELG_DIR": str(traces), "KOJAK_TRUTH": str(notes), "KOJAK_OSC": options.osc}
    if program.name in POLLS_ONE_BY_ONE:
        variables["ELG_POLLS"] = "off"
    run(program.name, launcher(options, ranks, variables) + [str(program)], environment, quiet=True)
    run("make_truth", [options.make_truth, str(notes), "-o", str(truth)], environment)
    reports = []
    for model in ("extended", "basic"):
        trace, report = directory / f"{model}.elg", directory / f"{model}.cube"
        run("elg_merge", [str(options.bin / "elg_merge"), "--model", model, "-o", str(trace),
                          str(traces)], environment)
        said = run("expert", [str(options.bin / "expert"), "--full", "--causes=never", "-o", str(report), str(trace)], environment)
        for title in options.no_advice:
            if f"{title} takes" in said.split("What to look at first")[1]:
                # On a machine that others use somebody may wait in truth.
                miss = Miss(f"expert advises about {title}, for which nobody waits:\n{said}")
                miss.values = frozenset([title])
                raise miss
        run("check_trace", [options.check_trace, str(trace), str(report)], environment)
        try:
            compare.check(trace, report, options.bin / "elg_print")
            words.check(options.bin / "expert", trace, directory / "causes.cube")
        except AssertionError as disagreement:
            raise Failure(str(disagreement)) from None
        reports.append(str(report))
    check_clocks(options, traces, directory, environment)
    check_truth([options.check_truth, reports[0], str(truth), ALLOWED_SECONDS, share], environment)
    run("check_truth", [options.check_truth, "--same"] + reports, environment)


def check_clocks(options, traces, directory, environment):
    said = run("elg_merge", [str(options.bin / "elg_merge"), "--clock", "clc", "--summary", "-o",
                             str(directory / "clc.elg"), str(traces)], environment)
    if "MPI_COLL_BEGIN" not in said:
        return
    found = re.search(r"clocks: (\d+) of (\d+) dependencies ran backwards", said)
    begun = int(re.search(r"MPI_COLL_BEGIN +(\d+)", said)[1])
    if found is None or found[1] != "0" or int(found[2]) < begun / 2 or "could not be checked" in said:
        raise Failure(f"{begun} begins of operations, and the controlled logical clock says:\n{said}")


def check_repeatedly(options, program, ranks):
    wrong_in_every_run = None
    for attempt in range(1, options.runs + 1):
        directory = pathlib.Path(tempfile.mkdtemp(prefix=f"{program.name}.", dir=options.work))
        try:
            check(options, program, ranks, directory, "0" if 2 * attempt <= options.runs else ALLOWED_SHARE)
            shutil.rmtree(directory)
            return True
        except Failure as failure:
            print(f"{program.name} with {ranks}, run {attempt}: {failure}\nkept: {directory}", flush=True)
            if not isinstance(failure, Miss):
                return False
            wrong_in_every_run = failure.values & (wrong_in_every_run or failure.values)
            if not wrong_in_every_run:
                return True
            time.sleep(0.5 * attempt)  # whatever else is going on may be over then
    return False


@contextlib.contextmanager
def load(wanted):
    burners = [subprocess.Popen([sys.executable, "-c", BURNER]) for _ in range(2 if wanted else 0)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", required=True, choices=["openmpi", "mpich"])
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("--mca", default="", help="Open MPI settings NAME=VALUE, with blanks between")
    parser.add_argument("--osc", required=True, help="what the programs are told it is")
    parser.add_argument("--library", required=True, type=pathlib.Path, help="libelg_mpi.so")
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where elg_merge and expert are")
    parser.add_argument("--make-truth", required=True)
    parser.add_argument("--check-truth", required=True)
    parser.add_argument("--check-trace", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path, help="folder for temporary folders")
    parser.add_argument("--runs", type=int, default=12, help="of a program whose report misses the truth")
    parser.add_argument("--no-advice", action="append", default=[], metavar="TITLE",
                        help="a pattern that expert's summary must not advise about")
    parser.add_argument("--load", action="store_true", help="keep two cores busy meanwhile")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM:RANKS")
    options = parser.parse_args()

    if not options.library.is_file():
        print(f"{options.library} is missing: build it first")
        return 1
    options.work.mkdir(parents=True, exist_ok=True)
    status = 0
    with load(options.load):
        for argument in options.programs:
            path, ranks = argument.rsplit(":", 1)
            if not check_repeatedly(options, pathlib.Path(path), ranks):
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
