#!/usr/bin/env python3
"""Runs counters.F90 by `kojak run --metrics ru_utime,ru_stime`: what the counters say of each thread's loop.

check_counters.py --bin FOLDER --mpirun FILE --program FILE --folder FOLDER --threads N [--openmp]
Each thread notes the processor time that it took in its part of the loop. At the call paths of `omp loop` the report
must say the same of it, in microseconds: more only by what begins and ends the loop. Each thread's call of MPI_Put
stands below the parallel region, with counters of its own.
"""
import sys

import kojak_run

sys.path.insert(0, str(kojak_run.pathlib.Path(__file__).resolve().parents[1]))
from independent.cube import Cube  # noqa: E402

# The kernel tells whole microseconds; beginning and ending a loop takes some more.
TOLERANCE, TRIES = 0.003, 5


def check(options, attempt):
    folder = options.folder / str(attempt)
    done = kojak_run.run(options, folder, options.threads, extra=["--keep", "--metrics", "ru_utime,ru_stime"])
    kojak_run.check_trace(options, folder)
    cube = Cube(folder / "run/a.cube")
    noted = {}
    for line in done.stdout.splitlines():
        if line.startswith("processor "):
            _, rank, _, seconds = line.split()
            noted.setdefault(int(rank), []).append(float(seconds))
    if sorted(noted) != [0, 1] or any(len(of_rank) != options.threads for of_rank in noted.values()):
        sys.exit(f"the program noted {noted}")
    wrong = []
    for rank, expected in noted.items():
        counted, puts = {}, set()
        for metric in ("ru_utime", "ru_stime"):
            for (path, place), value in cube.values[metric].items():
                if place[0] == rank and path[-1][0] == "omp loop":
                    counted[place] = counted.get(place, 0) + value * 1e-6
        for (path, place), value in cube.values["visits"].items():
            names = [name for name, *_ in path]
            if place[0] == rank and names[-1] == "MPI_Put" and "omp parallel" in names and value == 1:
                puts.add(place)
        if len(puts) != options.threads:
            wrong.append(f"rank {rank}: MPI_Put in the parallel region of {len(puts)} threads")
        found = sorted(counted.values())
        found = [0.0] * (len(expected) - len(found)) + found  # what is 0 is not in the report
        if len(found) != len(expected) or any(not 0 <= f - e < TOLERANCE for f, e in zip(found, sorted(expected), strict=False)):
            wrong.append(f"rank {rank}: the program's threads took {sorted(expected)}, the counters say {found}")
    return wrong


def main():
    parser = kojak_run.parser(__doc__)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    for attempt in range(TRIES):
        wrong = check(options, attempt)
        if not wrong:
            return 0
        print(f"attempt {attempt}:", *wrong, sep="\n  ")
    return 1


sys.exit(main())
