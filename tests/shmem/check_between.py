#!/usr/bin/env python3
"""A library between the program and SHMEM gets the calls that it gets without us, and they are recorded."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "measurement"))
from run_trace_case import Case, listing, parser  # noqa: E402

BARRIERS = 3


def main():
    options = parser()
    options.add_argument("--bin")
    options.add_argument("--check-trace")
    case = Case(options.parse_args())
    alone = case.run(False)
    traces = case.work / "traces"
    measured = case.run(True, {"ELG_DIR": traces})
    if alone.returncode != 0 or f"counted {BARRIERS}" not in alone.stdout:
        sys.exit(f"alone: {alone}")
    if (measured.returncode, sorted(measured.stdout.splitlines())) != (0, sorted(alone.stdout.splitlines())):
        sys.exit(f"alone\n{alone.stdout}\nmeasured\n{measured}")
    for name, lines in listing(case.args.tool, traces).items():
        if sum(line.strip().startswith("shmem_barrier_all") for line in lines) != BARRIERS:
            sys.exit(f"{name}: not {BARRIERS} barriers: {lines}")


if __name__ == "__main__":
    main()
