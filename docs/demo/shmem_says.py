#!/usr/bin/env python3
"""The demo's SHMEM program computes what the MPI program does, and `kojak run --sample` says where its imbalance is hidden.

  shmem_says.py KOJAK OSHRUN HALO_SHMEM MPIRUN HALO FOLDER
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys


def run(*command, **more):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", COLUMNS="200", **more)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=150)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def lines_with(source, text):
    return {str(number) for number, line in enumerate(source.read_text().splitlines(), 1) if text in line}


def main():
    kojak, oshrun, halo_shmem, mpirun, halo, folder = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    said = run(kojak, "run", "--sample", "-o", folder, "--", oshrun, "--oversubscribe", "-n", "2", halo_shmem)
    more = ["--oversubscribe"] if "Open" in run(mpirun, "--version") else []
    expected = run(mpirun, *more, "-n", "2", halo).splitlines()[0]
    if expected not in said.splitlines():
        sys.exit(f"halo computes '{expected}', halo_shmem:\n{said}")
    # Of two PEs the first has all hot rows: the other waits for its flags, and the cause is the function of these rows.
    here = pathlib.Path(__file__).resolve().parent
    text = " ".join(said.split())
    waits = lines_with(here / "halo_shmem.c", "shmem_long_wait_until")
    worst = re.search(r"([\d.]+) [\d.]+ % Late Notification worst: rank 1, [\d.]+ s \S*_with_flags halo_shmem\.c:(\d+) / "
                      r"shmem_long_wait_until", text)
    cause = re.search(r"rank 0 computes ([\d.]+) s longer in reaction_rate \(grid\.c:\d+\), between halo_shmem\.c:(\d+) and "
                      r"halo_shmem\.c:(\d+): the others wait ([\d.]+) s for it", text)
    # The next call after the rows are computed is the quiet in tell().
    if not worst or worst[2] not in waits or float(worst[1]) < 0.1:
        sys.exit(f"no Late Notification of rank 1 at lines {sorted(waits)}:\n{said}")
    if not cause or cause[2] not in waits or cause[3] not in lines_with(here / "halo_shmem.c", "shmem_quiet()"):
        sys.exit(f"the cause is not named:\n{said}")


if __name__ == "__main__":
    main()
