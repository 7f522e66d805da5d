#!/usr/bin/env python3
"""Compares how much memory loops over MPI objects take with and without the library (programs/loops.c)."""

import sys

from run_trace_case import Case, listing, parser

# What may differ by chance: pages of the allocator and of MPI's pools.
SLACK_KIB = 512


def growth(case, measured, directory):
    notes = case.work / ("measured" if measured else "plain")
    notes.mkdir()
    # Open MPI 5 yields by itself no more where processors are few.
    done = case.run(measured, {"ELG_DIR": directory, "KOJAK_EXPECT": notes, "OMPI_MCA_mpi_yield_when_idle": "1"})
    if done.returncode != 0 or "kojak: " in done.stderr:
        sys.exit(f"{done}")
    found = {}
    for rank in range(case.args.ranks):
        for line in (notes / str(rank)).read_text().splitlines():
            words = line.split()
            if len(words) == 2:
                found[words[0]] = max(found.get(words[0], 0), int(words[1]))
    return found


def main():
    case = Case(parser().parse_args())
    directory = case.work / "traces"
    plain, measured = growth(case, False, directory), growth(case, True, directory)
    if set(plain) != {"windows", "communicators", "requests", "types", "spinning"}:
        sys.exit(f"{plain}")
    print("KiB grown without and with the library:", {name: (plain[name], measured[name]) for name in plain})
    for name in plain:
        if measured[name] > plain[name] + SLACK_KIB:
            sys.exit(f"{name}: memory grew by {measured[name]} KiB, without the library by {plain[name]}")
    listing(case.args.tool, directory)


if __name__ == "__main__":
    main()
