#!/usr/bin/env python3
"""Runs waits.c under libelg_shmem, and compares expert's report with what the program's own times say.

check_waits.py --bin FOLDER --library FILE --program FILE --folder FOLDER --processes N [--kojak]
A wait is overlap(call, until who it is for came), as in the manual; all times are the program's own. A machine that
is busy may stop a process between its clock and the call: what is wrong by more than 2 ms is tried again.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent.cube import Cube  # noqa: E402

TOLERANCE, TRIES = 0.002, 3
FUNCTION = {"barrier": "shmem_barrier_all", "reduce": "shmem_long_sum_to_all", "broadcast": "shmem_broadcast64",
            "malloc": "shmem_malloc", "free": "shmem_free", "wait": "shmem_long_wait_until",
            "lock": "shmem_set_lock", "get": "shmem_getmem", "atomic": "shmem_long_atomic_fetch_add"}
TOGETHER = {"barrier": "shmem_barrier_wait", "reduce": "shmem_wait_nxn", "malloc": "shmem_memory_wait",
            "free": "shmem_memory_wait"}


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

    def add(metric, key, process, call, until):
        at = metric, FUNCTION[key], process
        truth[at] = truth.get(at, 0) + max(0, min(call[1], until) - call[0])

    for key, metric in TOGETHER.items():
        for n in range(len(calls[key][0])):
            latest = max(each[n][0] for each in calls[key])
            for process in range(processes):
                add(metric, key, process, calls[key][process][n], latest)
    root = calls["broadcast"][0][0][0]
    for process in range(1, processes):
        add("shmem_latebroadcast", "broadcast", process, calls["broadcast"][process][0], root)
    add("shmem_late_notification", "wait", 1, calls["wait"][1][0], calls["write"][0][0][0])
    # Who gets the lock has waited until it was released, at the latest while that call lasted.
    add("shmem_lock_contention", "lock", 1, calls["lock"][1][0], calls["release"][0][0][1])
    back = [enter for enter, _ in calls["barrier"][1]]
    for key in ("get", "atomic"):
        call = calls[key][0][0]
        came_back = min(time for time in back if time > call[0])
        add("shmem_rma_wait_for_progress", key, 0, call, came_back if came_back <= call[1] else call[0])
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
        ["oshrun", "--oversubscribe", "-n", str(options.processes), "-x", "OMPI_MCA_memory", "-x", "ELG_DIR",
         "-x", f"LD_PRELOAD={preload}", str(options.program)],
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
        [options.bin / "kojak", "run", "-o", folder / "run", "--", "oshrun", "--oversubscribe", "-n",
         str(options.processes), options.program],
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
    return calls_of(output, options.processes), Cube(folder / "a.cube")


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
    parser.add_argument("--processes", type=int, required=True)
    options = parser.parse_args()
    wrong = []
    for attempt in range(TRIES):
        calls, cube = run(options, attempt)
        truth, found = truth_of(calls, options.processes), reported(cube)
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
