#!/usr/bin/env python3
"""Runs pages.c by `kojak run --metrics`: what each thread of a team counts, against its own numbers.

check_pages.py --bin FOLDER --mpirun FILE --program FILE --folder FOLDER --threads N [--openmp] [--oversubscribe]
What a thread counts from its enter into the parallel region to its coming to the barrier is the region's: the faults of
its pages, and at most some of its stack and of what is recorded. Threads are numbered by their first events, so values
are compared in order of size.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent.cube import Cube  # noqa: E402

MORE = 200  # the threads' numbers lie 900 apart


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bin", "mpirun", "program", "folder"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--openmp", action="store_true")
    parser.add_argument("--oversubscribe", action="store_true")
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = [options.bin / "kojak", "run", "--keep", "-o", options.folder / "run", "--metrics", "ru_minflt,ru_utime",
               *(["--openmp"] if options.openmp else []), "--", options.mpirun,
               *(["--oversubscribe"] if options.oversubscribe else []), "-n", "2", options.program, str(options.threads)]
    program = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if program.returncode != 0 or not (options.folder / "run/a.cube").exists():
        sys.exit(f"kojak run ended with {program.returncode}:\n{program.stdout}{program.stderr}")
    compare = pathlib.Path(__file__).resolve().parents[1] / "independent" / "compare.py"
    for check in ([options.bin / "elg_print", "--verify", "a.elg"],
                  [sys.executable, compare, "--print-tool", options.bin / "elg_print", "a.elg", "a.cube"]):
        done = subprocess.run(check, cwd=options.folder / "run", capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{check[0]} found something wrong:\n{done.stdout}{done.stderr}")
    own = {}
    for line in program.stdout.splitlines():
        if line.startswith("note "):
            rank, thread, faults = map(int, line[5:].split())
            own.setdefault(rank, []).append(faults)
    cube = Cube(options.folder / "run/a.cube")
    wrong = [] if sorted(own) == [0, 1] else [f"the program noted {own}"]
    for rank, noted in own.items():
        found = {}
        for (path, (process, thread)), value in cube.values["ru_minflt"].items():
            if process == rank and path[-1][0] == "omp parallel":
                found[thread] = found.get(thread, 0) + value
        pairs = list(zip(sorted(noted), sorted(found.values())))
        if len(found) != options.threads or not all(o <= f <= o + MORE for o, f in pairs):
            wrong.append(f"rank {rank}: page faults of the threads {sorted(noted)}, reported {sorted(found.values())}")
    if any("critical" in path[-1][0] for path, _ in cube.values["ru_minflt"]):
        wrong.append("critical sections count nothing of their own")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


sys.exit(main())
