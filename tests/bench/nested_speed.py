#!/usr/bin/env python3
"""Time of the tools on a run of calls that are nested very deep, and whether it grows as their number does.

usage: nested_speed.py --bin DIR [--dir DIR] [--depth N ...]

One process enters a region N times, each inside the last, and leaves them again: N call paths, each longer by one than the
one before. What takes a walk along its path for each of them takes the square. Prints CPU and wall seconds of each tool.
"""
import argparse
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time


def record(kind, body=b""):
    return bytes([len(body), kind]) + body


def trace(depth):
    absent = 0xFFFFFFFF
    definitions = [record(1, struct.pack("<IB", 0, 0) + b"descend\0"), record(9, struct.pack("<IIIIIIB", 0, 0, *[absent] * 4, 1)),
                   record(3, struct.pack("<III", 0, 1, 0)), record(4, struct.pack("<IIIId", 0, 0, 1, 0, 0)),
                   record(7, struct.pack("<IIIII", 0, 0, 0, 0, 0)), record(14, struct.pack("<I", 2 * depth)), record(13)]
    enters = (record(101, struct.pack("<IdI", 0, 1e-6 * n, 0)) for n in range(depth))
    exits = (record(102, struct.pack("<Id", 0, 1e-6 * (depth + n))) for n in range(depth))
    return b"EPILOG\0\2\0\1" + b"".join(definitions) + b"".join(enters) + b"".join(exits)


def measured(*command):
    begin = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]}: exit status {process.returncode}")
    name = " ".join([pathlib.Path(command[0]).name] + [word for word in command[1:] if word in ("html", "info", "-t")])
    print(f"  {name:16} {usage.ru_utime + usage.ru_stime:8.2f} s CPU {time.perf_counter() - begin:8.2f} s "
          f"{usage.ru_maxrss / 1024:8.0f} MB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--dir", help="where the traces are made (default: a temporary directory)")
    parser.add_argument("--depth", type=int, nargs="+", default=[100_000, 1_000_000])
    options = parser.parse_args()
    place = pathlib.Path(tempfile.mkdtemp(prefix="kojak-nested-", dir=options.dir))
    try:
        for depth in options.depth:
            print(f"{depth} nested calls", flush=True)
            (place / "a.elg").write_bytes(trace(depth))
            measured(options.bin / "elg_stat", place / "a.elg")
            measured(options.bin / "expert", "-q", "--causes=never", "-o", place / "a.cube", place / "a.elg")
            measured(options.bin / "kojak", "info", place / "a.cube")
            measured(options.bin / "kojak", "html", "-q", "-o", place / "a.html", place / "a.cube")
            measured(options.bin / "kojak", "html", "-q", "-t", place / "a.elg", "-o", place / "b.html", place / "a.cube")
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
