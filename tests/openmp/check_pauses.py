#!/usr/bin/env python3
"""Runs pauses.c by `kojak run`: what is recorded of OpenMP where recording pauses.

check_pauses.py --bin FOLDER --mpirun FILE --program FILE --folder FOLDER --threads N [--openmp] [--oversubscribe]
Regions balance in every thread, the independent analysis agrees with the report, a barrier that a pause leaves open
ends as a barrier, and the master's visits are those that the program makes while recording is on. With ELG_RECORD=0
recording begins at the first MPI_Pcontrol(1).
"""
import pathlib
import subprocess
import sys

import kojak_run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent.cube import Cube  # noqa: E402
from independent.trace import Trace  # noqa: E402

# Parallel regions that a step enters with recording on or has open when it goes on: all but the one that lies in a
# pause; and pauses.
REGIONS, PAUSES = 5, 5
BARRIERS = {"omp barrier", "omp implicit barrier"}


def run(options, name, settings):
    folder = options.folder / name
    program = kojak_run.run(options, folder, options.threads, extra=["--keep"], settings=settings)
    kojak_run.check_trace(options, folder)
    printed = subprocess.run([options.bin / "elg_print", "-q", "a.elg"], cwd=folder / "run", capture_output=True, text=True,
                             check=True).stdout
    steps = int(program.stdout.split("steps ")[1].split()[0])
    return steps, Cube(folder / "run/a.cube"), Trace(printed.split("\n"))


def visits(cube, region, place):
    return sum(value for (path, who), value in cube.values["visits"].items() if who == place and path[-1][0] == region)


def main():
    parser = kojak_run.parser(__doc__)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    wrong = []
    steps, cube, trace = run(options, "on", {})
    for rank in (0, 1):
        for region, count in (("omp parallel", REGIONS), ("PAUSING", PAUSES)):
            found = visits(cube, region, (rank, 0))
            if found != steps * count:
                wrong.append(f"rank {rank}: {found} visits of {region} in {steps} steps, and not {count} in each")
    threads = {who for who in cube.threads if who[0] == 0}
    if len(threads) != options.threads:
        wrong.append(f"{len(threads)} threads of rank 0 and not {options.threads}")
    # Ends of barriers: none is a plain exit.
    plain = [call for call in trace.calls if call.region.name in BARRIERS and call.end is not None
             and call.end.kind == "EXIT"]
    barriers = [call for call in trace.calls if call.region.name in BARRIERS]
    if plain or not barriers:
        wrong.append(f"{len(plain)} of {len(barriers)} barriers end by EXIT")
    # Off at first: the first step's first region lies before recording.
    steps, cube, _ = run(options, "off", {"ELG_RECORD": "0"})
    found = visits(cube, "omp parallel", (0, 0))
    if found != steps * REGIONS - 1:
        wrong.append(f"ELG_RECORD=0: {found} visits of omp parallel and not {steps * REGIONS - 1}")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


sys.exit(main())
