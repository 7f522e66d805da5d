#!/usr/bin/env python3
"""Time and correctness of merge and analysis on one large made-up run: fences, 10^8 events, 64 ranks.

usage: scale_speed.py --bin DIR --make-traces PROGRAM [--dir DIR] [--events N] [--ranks N]

Prints CPU and wall time, and holds the fence waits of the report against their sum from arithmetic (see
make_traces.cc). Needs about 1 GB at the default size, all of which goes away again.
"""
import argparse
import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

OPERATIONS = 64


def measured(*command):
    """Runs a command; CPU and wall seconds."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]}: exit status {process.returncode}")
    cpu = usage.ru_utime + usage.ru_stime
    print(f"{pathlib.Path(command[0]).name:12} {cpu:8.1f} s CPU {time.perf_counter() - begin:8.1f} s",
          flush=True)


def waits(events, ranks):
    """Seconds that all ranks wait in fences."""
    iterations = max(1, events // ranks // (4 * OPERATIONS + 2))
    shift = [1e-8 * (rank % 4096) for rank in range(ranks)]
    first = sum(max(shift) - s for s in shift)
    return first + iterations * sum(0.2e-3 - s for s in shift[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--make-traces", required=True, type=pathlib.Path)
    parser.add_argument("--dir", help="where the traces are made (default: a temporary directory)")
    parser.add_argument("--events", type=int, default=100_000_000)
    parser.add_argument("--ranks", type=int, default=64)
    options = parser.parse_args()
    place = pathlib.Path(tempfile.mkdtemp(prefix="kojak-scale-", dir=options.dir))
    try:
        measured(options.make_traces, "fence", place / "local", "--ranks", options.ranks, "--events",
                 options.events, "--operations", OPERATIONS)
        measured(options.bin / "elg_merge", "-q", "-o", place / "a.elg", place / "local")
        shutil.rmtree(place / "local")
        measured(options.bin / "expert", "-q", "--causes=never", "-o", place / "a.cube", place / "a.elg")
        table = subprocess.run([options.bin / "kojak", "stat", "--csv", "--by", "region", "-n", "0", "-m",
                                "mpi_rma_fence_wait", place / "a.cube"], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        found = sum(float(row["mpi_rma_fence_wait"]) for row in csv.DictReader(table.splitlines()))
        expected = waits(options.events, options.ranks)
        print(f"fence waits: {found:.9f} s, by arithmetic {expected:.9f} s")
        return 0 if abs(found / expected - 1) < 1e-6 else 1
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
