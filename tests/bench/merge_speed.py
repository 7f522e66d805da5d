#!/usr/bin/env python3
"""Speed and memory of elg_merge on made-up traces, and its time against copying the same bytes.

usage: merge_speed.py --bin DIR --make-traces PROGRAM [--dir DIR] [--events N] [--runs N]
                      [--ranks N [N ...]] [--kinds KIND [KIND ...]]

For each kind of trace and number of ranks: events per second of CPU time (user and system, the whole
process), CPU nanoseconds an event for each doubling of the ranks, median wall time against
`cat local/* > file` on the same file system, both from the page cache, and peak memory.
Nothing here passes or fails. The system counts the memory of this script, before it becomes the command,
as the command's: peaks below some 16 MB cannot be seen.
"""
import argparse
import itertools
import math
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

KINDS = ("fence", "lock", "p2p", "one")


def events_of(path):
    """NUM_EVENTS of a merged trace: record type 14, followed by LAST_DEF."""
    with open(path, "rb") as file:
        head = file.read(1 << 20)
    at = 10
    while True:
        length, kind = head[at], head[at + 1]
        if kind == 14:
            return struct.unpack_from("<I", head, at + 2)[0]
        at += 2 + length


def measured(command, **options):
    """CPU seconds, wall seconds and peak KiB of one run."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, **options)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--make-traces", required=True, type=pathlib.Path)
    parser.add_argument("--dir", help="where the traces are made (default: a temporary directory)")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--ranks", type=int, nargs="+", default=[4])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), metavar="KIND")
    options = parser.parse_args()

    print(f"about {options.events} events, median of {options.runs} runs")
    print(f"{'kind':8}{'ranks':>6}{'M events/s (CPU)':>18}{'ns/doubling':>13}{'wall s':>9}{'cat s':>9}"
          f"{'ratio':>8}{'peak MB':>9}")
    for kind, ranks in itertools.product(options.kinds, options.ranks):
        place = pathlib.Path(tempfile.mkdtemp(prefix="kojak-speed-", dir=options.dir))
        try:
            local = place / "local"
            measured([options.make_traces, kind, local, "--ranks", str(ranks), "--events",
                      str(options.events)])
            files = sorted(local.iterdir())
            merged, copy = place / "a.elg", place / "copy"
            runs, copies = [], []
            for _ in range(options.runs):
                with open(copy, "wb") as out:
                    copies.append(measured(["cat", *files], stdout=out)[1])
                copy.unlink()
                runs.append(measured([options.bin / "elg_merge", "-q", "-o", merged, local]))
                events = events_of(merged)
                merged.unlink()
            cpu = statistics.median(run[0] for run in runs)
            wall = statistics.median(run[1] for run in runs)
            cat = statistics.median(copies)
            peak = max(run[2] for run in runs) / 1024
            each = cpu / events * 1e9 / math.log2(max(2, ranks))
            print(f"{kind:8}{ranks:6}{events / cpu / 1e6:18.1f}{each:13.1f}{wall:9.3f}{cat:9.3f}"
                  f"{wall / cat:8.1f}{peak:9.1f}", flush=True)
        finally:
            shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
