#!/usr/bin/env python3
"""Speed and memory of elg_merge on made-up traces, and its time against copying the same bytes.

usage: merge_speed.py --bin DIR --make-traces PROGRAM [--dir DIR] [--events N] [--runs N]
                      [--ranks N [N ...]] [--kinds KIND [KIND ...]]

For each kind of trace and number of ranks: events per second of CPU time (user and system, the whole
process), CPU nanoseconds an event for each doubling of the ranks, median wall time with one thread and with as many as there
are processors, and how many times faster that is; the latter against `cat local/* > file` on the same file system, both from the
page cache; bytes of the merged trace for each event, and peak memory.
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
    """NUM_EVENTS of a compact merged trace: whole records, each behind 0x7F, in blocks with heads of 10 bytes."""
    with open(path, "rb") as file:
        head = file.read(1 << 20)
    at = 10
    while True:
        if head[at] == 0xFF:
            at += 10
            continue
        length, kind = head[at + 1], head[at + 2]
        if kind == 14:
            return struct.unpack_from("<I", head, at + 3)[0]
        at += 3 + length


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
    print(f"{'kind':8}{'ranks':>6}{'M events/s (CPU)':>18}{'ns/doubling':>13}{'1 thread s':>12}{'wall s':>9}{'faster':>8}"
          f"{'cat s':>9}{'ratio':>8}{'bytes/event':>13}{'peak MB':>9}")
    for kind, ranks in itertools.product(options.kinds, options.ranks):
        place = pathlib.Path(tempfile.mkdtemp(prefix="kojak-speed-", dir=options.dir))
        try:
            local = place / "local"
            measured([options.make_traces, kind, local, "--ranks", str(ranks), "--events",
                      str(options.events)])
            files = sorted(local.iterdir())
            merged, copy = place / "a.elg", place / "copy"
            runs, alone, copies = [], [], []
            for _ in range(options.runs):
                with open(copy, "wb") as out:
                    copies.append(measured(["cat", *files], stdout=out)[1])
                copy.unlink()
                alone.append(measured([options.bin / "elg_merge", "-q", "--threads", "1", "-o", merged, local])[1])
                runs.append(measured([options.bin / "elg_merge", "-q", "-o", merged, local]))
                events, size = events_of(merged), os.path.getsize(merged)
                merged.unlink()
            cpu = statistics.median(run[0] for run in runs)
            wall = statistics.median(run[1] for run in runs)
            one = statistics.median(alone)
            cat = statistics.median(copies)
            peak = max(run[2] for run in runs) / 1024
            each = cpu / events * 1e9 / math.log2(max(2, ranks))
            print(f"{kind:8}{ranks:6}{events / cpu / 1e6:18.1f}{each:13.1f}{one:12.3f}{wall:9.3f}"
                  f"{one / wall:8.2f}{cat:9.3f}{wall / cat:8.1f}{size / events:13.1f}{peak:9.1f}", flush=True)
        finally:
            shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
