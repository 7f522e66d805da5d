#!/usr/bin/env python3
"""Merges and analyses runs that other tests recorded, and lets check_trace look at each trace and its report: the
checks that hold on every trace, and the relations to changed traces. The independent analysis must agree."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent import compare  # noqa: E402


# 3: parts of the run are missing, as where a program pauses its recording.
def checked(command, good=(0,)):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    if done.returncode not in good:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr}")
    return done


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--bin", required=True, type=pathlib.Path, help="where elg_merge and expert are")
    options.add_argument("--check-trace", required=True)
    options.add_argument("runs", nargs="+", type=pathlib.Path, help="directories of local traces")
    options = options.parse_args()
    for run in options.runs:
        with tempfile.TemporaryDirectory() as directory:
            trace, report = pathlib.Path(directory) / "a.elg", pathlib.Path(directory) / "a.cube"
            checked([options.bin / "elg_merge", "-q", "-o", trace, run], (0, 3))
            checked([options.bin / "expert", "-q", "-o", report, trace], (0, 3))
            checked([options.check_trace, trace, report])
            compare.check(trace, report, options.bin / "elg_print")


if __name__ == "__main__":
    main()
