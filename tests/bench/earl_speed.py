#!/usr/bin/env python3
"""Speed and memory of EARL on merged traces of ten million events, and of the Python module's columns.

Usage: earl_speed.py BIN_DIR TESTS_DIR [--events N] [--ranks N] [--module DIR --python PYTHON] [TRACE...]

Without traces it has make_traces write local traces of each kind and elg_merge merge them. The kind
"one" has all transfers in one epoch: there pointers reach back over the whole trace. CPU times; it
reports, it never fails for being slow.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile

KINDS = ("fence", "lock", "p2p", "one")
COLUMNS = """
import sys, time, earl
trace = earl.open(sys.argv[1])
begin = time.process_time()
columns = trace.columns(["time", "type", "location", "region"])
print(f"  four numpy columns   {time.process_time() - begin:7.2f} s for {len(trace):,} events")
"""


def report(options, name, trace):
    print(f"{name}: {os.path.getsize(trace) / 1e6:.0f} MB", flush=True)
    subprocess.run([options.tests_dir / "earl_speed", trace], check=True)
    if options.module:
        subprocess.run([options.python, "-c", COLUMNS, trace], check=True,
                       env=dict(os.environ, PYTHONPATH=str(options.module)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("tests_dir", type=pathlib.Path)
    parser.add_argument("traces", nargs="*", type=pathlib.Path)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--module", type=pathlib.Path)
    parser.add_argument("--python", default="python3")
    options = parser.parse_args()
    for trace in options.traces:
        report(options, trace.name, trace)
    if options.traces:
        return
    with tempfile.TemporaryDirectory(prefix="kojak-bench-") as folder:
        for kind in KINDS:
            local, merged = pathlib.Path(folder) / kind, pathlib.Path(folder) / f"{kind}.elg"
            subprocess.run([options.tests_dir / "make_traces", kind, local, "--ranks",
                            str(options.ranks), "--events", str(options.events)], check=True)
            subprocess.run([options.bin_dir / "elg_merge", "-q", "-o", merged, local], check=True)
            report(options, kind, merged)
            subprocess.run(["rm", "-rf", local, merged], check=True)


if __name__ == "__main__":
    main()
