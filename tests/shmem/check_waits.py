#!/usr/bin/env python3
"""Runs waits.c, more_waits.c or polls.c under libelg_shmem, and compares expert's report with what the program's own times
say.

check_waits.py --bin FOLDER --library FILE --program FILE --folder FOLDER --processes N [--kojak] [--each-poll]
A wait is overlap(call, until who it is for came), as in the manual; all times are the program's own. A machine that
is busy may stop a process between its clock and the call: what is wrong by more than 2 ms is tried again. Of loops of
tests (polls.c), each of which waits for PE 0, every call counts as a visit; --each-poll: they are recorded one by one,
and wait for nobody.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent.cube import Cube  # noqa: E402

TOLERANCE, TRIES = 0.002, 8
FUNCTION = {"barrier": "shmem_barrier_all", "reduce": "shmem_long_sum_to_all", "broadcast": "shmem_broadcast64",
            "malloc": "shmem_malloc", "free": "shmem_free", "wait": "shmem_long_wait_until",
            "test_int": "shmem_int_test", "test_long": "shmem_long_test", "test_any": "shmem_int_test_any",
            "test_lock": "shmem_test_lock",
            "lock": "shmem_set_lock", "get": "shmem_getmem", "atomic": "shmem_long_atomic_fetch_add",
            "set_barrier": "shmem_barrier", "set_broadcast": "shmem_broadcast32", "sync": "shmem_sync_all",
            "collect": "shmem_collect64", "fcollect": "shmem_fcollect64", "alltoall": "shmem_alltoall32",
            "max": "shmem_double_max_to_all", "align": "shmem_align", "realloc": "shmem_realloc",
            "wait_4": "shmem_int_wait", **{f"wait_{i}": "shmem_int_wait_until" for i in (0, 1, 2, 3, 5)},
            "iget": "shmem_long_iget", "ctx_get": "shmem_ctx_getmem", "swap": "shmem_long_atomic_swap", "quiet": "shmem_quiet",
            "signal_wait": "shmem_signal_wait_until", "wait_any": "shmem_int_wait_until_any",
            "wait_vector": "shmem_long_wait_until_all_vector", "team_sync": "shmem_team_sync",
            "team_reduce": "shmem_int_sum_reduce", "team_broadcast": "shmem_long_broadcast", "hints": "shmem_malloc_with_hints"}
# All who call it wait until the last one comes.
TOGETHER = {"barrier": "shmem_barrier_wait", "reduce": "shmem_wait_nxn", "malloc": "shmem_memory_wait",
            "free": "shmem_memory_wait", "set_barrier": "shmem_barrier_wait", "sync": "shmem_barrier_wait",
            "collect": "shmem_wait_nxn", "fcollect": "shmem_wait_nxn", "alltoall": "shmem_wait_nxn", "max": "shmem_wait_nxn",
            "align": "shmem_memory_wait", "realloc": "shmem_memory_wait", "team_sync": "shmem_barrier_wait",
            "team_reduce": "shmem_wait_nxn", "hints": "shmem_memory_wait"}
# PE 1 waits for a variable until PE 0 calls what writes it; PE 0 for PE 1, which computes, until that calls SHMEM again.
WRITTEN = {"wait": "write", "test_int": "write_int", "test_long": "write_long", "test_any": "write_any",
           "signal_wait": "signal", "wait_any": "write_any", "wait_vector": "write_last",
           **{f"wait_{i}": f"write_{i}" for i in range(6)}}
# Loops of polls.c that wait for nobody.
UNAWAITED = ("shmem_longlong_test", "shmem_uint_test", "shmem_ulonglong_test", "shmem_ulong_test")
PROGRESS = {"get": "shmem_rma_wait_for_progress", "atomic": "shmem_rma_wait_for_progress",
            "iget": "shmem_rma_wait_for_progress", "ctx_get": "shmem_rma_wait_for_progress",
            "swap": "shmem_rma_wait_for_progress", "quiet": "shmem_quiet_wait_for_progress"}


def calls_of(output, processes):
    """key -> for each process its calls: (enter, exit)"""
    calls = {}
    for line in output.splitlines():
        words = line.split()
        if words[:1] == ["call"]:
            of_key = calls.setdefault(words[2], [[] for _ in range(processes)])
            of_key[int(words[1])].append((float(words[3]), float(words[4])))
    return calls


def truth_of(calls, processes):
    """(metric, function, process) -> seconds"""
    truth = {}
    for function in UNAWAITED if "test_int" in calls else ():
        truth["shmem_late_notification", function, 1] = 0

    def add(metric, key, process, call, until):
        at = metric, FUNCTION[key], process
        truth[at] = truth.get(at, 0) + max(0, min(call[1], until) - call[0])

    for key, metric in TOGETHER.items():
        members = [process for process in range(processes) if calls.get(key, [[]] * processes)[process]]
        for n in range(len(calls[key][members[0]]) if members else 0):
            latest = max(calls[key][process][n][0] for process in members)
            for process in members:
                add(metric, key, process, calls[key][process][n], latest)
    for key in {"broadcast", "team_broadcast"} & calls.keys():
        for process in range(1, processes):
            if calls[key][process]:
                add("shmem_latebroadcast", key, process, calls[key][process][0], calls[key][0][0][0])
    if "set_broadcast" in calls:
        add("shmem_latebroadcast", "set_broadcast", 0, calls["set_broadcast"][0][0], calls["set_root"][processes // 2][0][0])
    for key, written in WRITTEN.items():
        if key in calls:
            call, (wrote, _) = calls[key][1][0], calls[written][0][0]
            add("shmem_late_notification", key, 1, call, wrote if wrote < call[1] else call[0])
    for key in {"lock", "test_lock"} & calls.keys():
        # Who gets the lock has waited until it was released, at the latest while that call lasted.
        add("shmem_lock_contention", key, 1, calls[key][1][0], calls["release"][0][0][1])
    back = [enter for enter, _ in calls["barrier"][1]]
    for key, metric in PROGRESS.items():
        if key in calls and (of_key := calls[key][0]):
            call = of_key[0]
            came_back = min((time for time in back if time > call[0]), default=call[0])
            add(metric, key, 0, call, came_back if came_back <= call[1] else call[0])
    return truth


def run(options, attempt):
    folder = options.folder / f"{options.processes}.{attempt}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if options.kojak:
        return run_by_kojak(options, folder)
    preload = ":".join(filter(None, [os.environ.get("KOJAK_PRELOAD_BEFORE"), str(options.library)]))
    environment = dict(os.environ, OMPI_MCA_memory="^patcher", ELG_DIR=str(folder / "run"))
    program = subprocess.run(
        [*options.launcher.split(), "-n", str(options.processes), "-x", "OMPI_MCA_memory", "-x", "ELG_DIR",
         "-x", f"LD_PRELOAD={preload}", *options.program_line],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if program.returncode != 0:
        raise SystemExit(f"the program ended with {program.returncode}:\n{program.stdout}{program.stderr}")
    traces = [path for path in folder.glob("*") if path.is_dir()]
    for command in ([options.bin / "elg_merge", "-q", "-o", "a.elg", traces[0]],
                    [options.bin / "expert", "-q", "-o", "a.cube", "a.elg"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            raise SystemExit(f"{command[0].name} ended with {done.returncode}: {done.stderr}")
    return found_in(options, folder, program.stdout)


def run_by_kojak(options, folder):
    """As a user would: `kojak run` finds the library, and what the SHMEM library needs to end well."""
    environment = {name: value for name, value in os.environ.items() if name not in ("OMPI_MCA_memory", "ELG_DIR")}
    program = subprocess.run(
        [options.bin / "kojak", "run", "--keep", "-o", folder / "run", "--", *options.launcher.split(), "-n",
         str(options.processes), *options.program_line],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if program.returncode != 0 or not (folder / "run/a.html").exists():
        raise SystemExit(f"kojak run ended with {program.returncode}:\n{program.stdout}{program.stderr}")
    return found_in(options, folder / "run", program.stdout)


def found_in(options, folder, output):
    compare = pathlib.Path(__file__).resolve().parents[1] / "independent" / "compare.py"
    done = subprocess.run([sys.executable, compare, "--print-tool", options.bin / "elg_print", "a.elg", "a.cube"],
                          cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the independent analysis says otherwise:\n{done.stdout}{done.stderr}")
    cube = Cube(folder / "a.cube")
    check_polls(options, folder, output, cube)
    return calls_of(output, options.processes), cube


def check_polls(options, folder, output, cube):
    """Each call of a loop is a visit, is part of a series or is not, and waits for PE 0 if for anybody."""
    made = [(words[2], int(words[1]), int(words[3])) for line in output.splitlines() if (words := line.split())[:1] == ["polls"]]
    if not made:
        return
    found = reported(cube)
    wrong = [f"{function}: {calls} calls of PE {pe}, {found.get(('visits', function, pe), 0)} in the trace"
             for function, pe, calls in made if found.get(("visits", function, pe), 0) != calls]
    trace = subprocess.run([options.bin / "elg_print", "a.elg"], cwd=folder, capture_output=True, text=True, check=True).stdout
    series = [line for line in trace.splitlines() if line.startswith("MPI_POLLED ")]
    joined = sum(int(line.partition(" count=")[2].split()[0]) for line in series)
    if joined != 0 if options.each_poll else not 0.9 * sum(calls for _, _, calls in made) < joined:
        wrong.append(f"{joined} calls are part of {len(series)} series")
    subprocess.run([options.bin / "expert", "-q", "-o", "who.cube", "--json", "who.json", "a.elg"], cwd=folder, check=False)
    report = json.loads((folder / "who.json").read_text())
    for metric in ("shmem_late_notification", "shmem_lock_contention"):
        ranks = {report["threads"][waited["thread"]]["rank"] for partner in report["partners"]
                 if partner["metric"] == metric for waited in partner["waited_for"]}
        if ranks != (set() if options.each_poll else {0}):
            wrong.append(f"{metric}: for PEs {ranks}")
    if wrong:
        raise SystemExit("\n".join(wrong))


def reported(cube):
    """(metric, function, process) -> seconds, of all call paths and threads"""
    found = {}
    for metric, rows in cube.values.items():
        for (path, place), value in rows.items():
            at = metric, path[-1][0], place[0]
            found[at] = found.get(at, 0) + value
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("bin", "library", "program", "folder"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--kojak", action="store_true", help="let kojak run record and analyse")
    parser.add_argument("--launcher", default="oshrun --oversubscribe", help="by which kojak run starts the program")
    parser.add_argument("--each-poll", action="store_true", help="record tests one by one; the program pauses in its loops")
    parser.add_argument("--processes", type=int, required=True)
    options = parser.parse_args()
    options.program_line = [str(options.program)] + ["pauses"] * options.each_poll
    if options.each_poll:
        os.environ["ELG_POLLS"] = "off"
    wrong = []
    for attempt in range(TRIES):
        calls, cube = run(options, attempt)
        truth, found = truth_of(calls, options.processes), reported(cube)
        if options.each_poll:
            truth = {at: 0 if "_test" in at[1] else value for at, value in truth.items()}
        wrong = [f"{at}: expected {value:.4f}, reported {found.get(at, 0):.4f}"
                 for at, value in sorted(truth.items()) if abs(found.get(at, 0) - value) > TOLERANCE]
        if not wrong:
            for at, value in sorted(truth.items()):
                print(f"{value:.4f} {found.get(at, 0):.4f}", *at)
            return 0
        print(f"attempt {attempt}:", *wrong, sep="\n  ")
    return 1


if __name__ == "__main__":
    sys.exit(main())
