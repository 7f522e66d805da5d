#!/usr/bin/env python3
"""kojak run with a SHMEM library that nobody knows, and with one that is known by its name.

Of both the run and its waits are recorded, and the local buffers are gone; only of the known one the comparisons are,
and of the other ELG_VERBOSE says so. The report's head names what calls itself something.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys


def main():
    options = argparse.ArgumentParser(description=__doc__)
    for name in ("bin", "launch", "folder", "unknown", "known"):
        options.add_argument(f"--{name}", type=pathlib.Path, required=True)
    args = options.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    args.folder.mkdir(parents=True)

    def run(program):
        place = args.folder / program.name
        done = subprocess.run([args.bin / "kojak", "run", "--keep", "-o", place, "--", args.launch, "-n", "2", program],
                              env=dict(os.environ, ELG_VERBOSE="1"), capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            sys.exit(f"{program}: {done}")
        files = sorted(path.name for path in place.iterdir())
        if files != ["0.0.elg", "1.0.elg", "a.cube", "a.elg", "a.html"]:
            sys.exit(f"{program}: {files}")
        for word in ("early", "outside of", "no end", "earlier time"):
            if word in done.stderr:
                sys.exit(f"{program}: {done.stderr}")
        printed = subprocess.run([args.bin / "elg_print", "--verify", place / "a.elg"], capture_output=True, text=True, check=False)
        if printed.returncode != 0:
            sys.exit(f"{program}: {printed.stdout}{printed.stderr}")
        waits = subprocess.run([args.bin / "elg_print", "--type", "SHMEM_WAIT", place / "a.elg"], capture_output=True, text=True,
                               check=True)
        return done.stderr, re.findall(r"\bcmp=(\d+)", waits.stdout), place / "a.html"

    said, comparisons, page = run(args.unknown)
    if "is no SHMEM library whose comparisons are known" not in said or set(comparisons) != {"0"}:
        sys.exit(f"unknown: {said} {comparisons}")
    if "Small SHMEM (OpenSHMEM 1.5)" not in page.read_text(encoding="utf-8"):
        sys.exit("unknown: the page does not name the library")
    said, comparisons, page = run(args.known)
    if "comparisons are known" in said or comparisons != ["1", "3", "1", "1"]:  # EQ, GT, and EQ of two variables
        sys.exit(f"known: {said} {comparisons}")
    if "libsma.so (OpenSHMEM)" not in page.read_text(encoding="utf-8"):
        sys.exit("known: the page does not name the library")


if __name__ == "__main__":
    main()
