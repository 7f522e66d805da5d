#!/usr/bin/env python3
"""What several processes gain: expert --processes N on a run's folder against one process, which is kept on one processor.

Usage: parallel_speed.py BIN_DIR TESTS_DIR [--events N] [--ranks N] [--runs N] [--most N] [KIND...]

make_traces writes a run of each kind. Wall time and the processor time of all processes together, the least of --runs, as
ratios to those of the one process. Nothing can fail.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import tempfile
import time


def measured(command, processors):
    """(wall seconds, processor seconds) of a command and all its processes"""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, processors))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("tests_dir", type=pathlib.Path)
    parser.add_argument("kinds", nargs="*", default=["fence", "barrier", "gats"])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--most", type=int, default=8)
    options = parser.parse_args()
    processors = os.sched_getaffinity(0)
    one_processor = {min(processors)}
    print(f"{options.events:,} events of {options.ranks} ranks, {len(processors)} processors")
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds:
            run = pathlib.Path(folder) / kind
            subprocess.run([options.tests_dir / "make_traces", kind, run, "--ranks", str(options.ranks), "--events", str(options.events)],
                           check=True)
            command = [options.bin_dir / "expert", "-q", "--causes=never", "-o", pathlib.Path(folder) / "a.cube"]

            def least(words, where, command=command, run=run):
                times = [measured([*command, *words, run], where) for _ in range(options.runs)]
                return min(t[0] for t in times), min(t[1] for t in times)
            one = least([], one_processor)
            print(f"{kind:8} one process on one processor {one[0]:7.2f} s, {one[1]:7.2f} s of processors", flush=True)
            n = 1
            while n <= options.most:
                wall, used = least([f"--processes={n}"], processors)
                print(f"{kind:8} {n:3} {'process  ' if n == 1 else 'processes'}               {one[0] / wall:7.2f} times as fast, "
                      f"{used / one[1]:5.2f} of its processor time", flush=True)
                n *= 2


if __name__ == "__main__":
    main()
