#!/usr/bin/env python3
"""A library between the program and SHMEM gets the calls that it gets without us, and they are recorded."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "measurement"))
from run_trace_case import Case, listing, parser  # noqa: E402

BARRIERS = 3


def check(case, name, extra, clients):
    alone = case.run(False, extra)
    traces = case.work / name
    measured = case.run(True, {"ELG_DIR": traces, **extra})
    if alone.returncode != 0 or alone.stdout.count(f"counted {BARRIERS}") != clients:
        sys.exit(f"{name}, alone: {alone}")
    if (measured.returncode, sorted(measured.stdout.splitlines())) != (0, sorted(alone.stdout.splitlines())):
        sys.exit(f"{name}, alone\n{alone.stdout}\nmeasured\n{measured}")
    files = listing(case.args.tool, traces)
    if sorted(files) != [f"{pe}.0.elg" for pe in range(case.args.ranks)]:
        sys.exit(f"{name}: {sorted(files)}")
    for pe in range(case.args.ranks):
        lines = files[f"{pe}.0.elg"]
        barriers = sum(line.strip().startswith("shmem_barrier_all") for line in lines)
        ends = sum(line.strip().startswith("shmem_finalize") for line in lines)
        if barriers != (BARRIERS if pe < clients else 0) or ends != 1 or "open=0 lost=0" not in lines[-1]:
            sys.exit(f"{name}, PE {pe}: {barriers} barriers, {ends} ends: {lines}")
    # What a server's library makes of barriers over all PEs is not followed: they are told as incomplete.
    if clients == case.args.ranks:
        case.analyse(traces)


def main():
    options = parser()
    options.add_argument("--bin")
    options.add_argument("--check-trace")
    case = Case(options.parse_args())
    check(case, "counted", {}, case.args.ranks)
    # A server ends only when the others do; a clock of its own makes it a node: the exchanges are real.
    check(case, "server", {"SERVER": "1"}, case.args.ranks - 1)
    check(case, "clock", {"SERVER": "1", "ELG_TEST_CLOCK": f"{case.args.ranks - 1}:5:20"}, case.args.ranks - 1)


if __name__ == "__main__":
    main()
