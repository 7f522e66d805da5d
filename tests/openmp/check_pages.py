#!/usr/bin/env python3
"""Runs pages.c by `kojak run --metrics`: what each thread of a team counts, against its own numbers.

check_pages.py --bin FOLDER --mpirun FILE --program FILE --folder FOLDER --threads N [--openmp] [--oversubscribe]
What a thread counts from its enter into the parallel region to its coming to the barrier is the region's: the faults of
its pages, and at most some of its stack and of what is recorded. Threads are numbered by their first events, so values
are compared in order of size.
"""
import pathlib
import sys

import kojak_run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent.cube import Cube  # noqa: E402

MORE = 200  # the threads' numbers lie 900 apart


def main():
    parser = kojak_run.parser(__doc__)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    program = kojak_run.run(options, options.folder, options.threads, extra=["--keep", "--metrics", "ru_minflt,ru_utime"])
    kojak_run.check_trace(options, options.folder)
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
