#!/usr/bin/env python3
"""Runs pauses.c by `kojak run`: what is recorded of OpenMP where recording pauses.

check_pauses.py --bin FOLDER --mpirun FILE --program FILE --folder FOLDER --threads N [--openmp] [--oversubscribe]
Regions balance in every thread, the independent analysis agrees with the report, a barrier that a pause leaves open
ends as a barrier, and the master's visits are those that the program makes while recording is on. With ELG_RECORD=0
recording begins at the first MPI_Pcontrol(1).
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent.cube import Cube  # noqa: E402
from independent.trace import Trace  # noqa: E402

# Parallel regions that a step enters with recording on or has open when it goes on: all but the one that lies in a
# pause; and pauses.
REGIONS, PAUSES = 5, 5
BARRIERS = {"omp barrier", "omp implicit barrier"}


def run(options, name, settings):
    folder = options.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **settings)
    command = [options.bin / "kojak", "run", "--keep", "-o", folder / "run", *(["--openmp"] if options.openmp else []),
               "--", options.mpirun, *(["--oversubscribe"] if options.oversubscribe else []), "-n", "2",
               options.program, str(options.threads)]
    program = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if program.returncode != 0 or not (folder / "run/a.cube").exists():
        sys.exit(f"kojak run ended with {program.returncode}:\n{program.stdout}{program.stderr}")
    compare = pathlib.Path(__file__).resolve().parents[1] / "independent" / "compare.py"
    for check in ([options.bin / "elg_print", "--verify", "a.elg"],
                  [sys.executable, compare, "--print-tool", options.bin / "elg_print", "a.elg", "a.cube"]):
        done = subprocess.run(check, cwd=folder / "run", capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{name}: {check[0]} found something wrong:\n{done.stdout}{done.stderr}")
    printed = subprocess.run([options.bin / "elg_print", "-q", "a.elg"], cwd=folder / "run", capture_output=True, text=True,
                             check=True).stdout
    steps = int(program.stdout.split("steps ")[1].split()[0])
    return steps, Cube(folder / "run/a.cube"), Trace(printed.split("\n"))


def visits(cube, region, place):
    return sum(value for (path, who), value in cube.values["visits"].items() if who == place and path[-1][0] == region)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bin", "mpirun", "program", "folder"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--openmp", action="store_true")
    parser.add_argument("--oversubscribe", action="store_true")
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
