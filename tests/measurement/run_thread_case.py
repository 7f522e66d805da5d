#!/usr/bin/env python3
"""Counts what the threads of programs/threads.c recorded: every call of every thread once, in its own file."""

import re
import sys

from run_trace_case import Case, calls_of, listing, parser

THREADS, ROUNDS = 4, 200


def main():
    case = Case(parser().parse_args())
    directory = case.work / "traces"
    plain = case.run(False, program=case.args.plain_program)
    measured = case.run(True, {"ELG_DIR": directory, "ELG_BUFFER_SIZE": "64K"})
    if measured.returncode != 0 or sorted(measured.stdout.split()) != sorted(plain.stdout.split()):
        sys.exit(f"{measured}")
    if "kojak: " in measured.stderr:
        sys.exit(measured.stderr)
    files = listing(case.args.tool, directory)
    ranks = case.args.ranks
    wanted = sorted(f"{rank}.{thread}.elg" for rank in range(ranks) for thread in range(THREADS + 1))
    if sorted(files) != wanted:
        sys.exit(f"files {sorted(files)}")
    for rank in range(ranks):
        following, previous = (rank + 1) % ranks, (rank - 1) % ranks
        for thread in range(1, THREADS + 1):
            name = f"{rank}.{thread}.elg"
            calls = calls_of(files[name])
            of_round = len(calls) // ROUNDS
            if len(calls) != of_round * ROUNDS:
                sys.exit(f"{name}: {len(calls)} calls")
            for i in range(ROUNDS):
                receive, send, *waits, put = calls[of_round * i:of_round * (i + 1)]
                received = f"recv:{previous}:{i}:8#"
                wanted = ([f"MPI_Waitall {received} sent"], [f"MPI_Waitany {received}", "MPI_Waitany sent"])
                good = (receive == f"MPI_Irecv posted:{previous}:{i}" and send == f"MPI_Isend send:{following}:{i}:8#"
                        and put == f"MPI_Put put:{following}:8" and sorted(waits) in wanted)
                if not good:
                    sys.exit(f"{name}: round {i}: {calls[of_round * i:of_round * (i + 1)]}")
            if "open=0 lost=0" not in files[name][-1] or "(thread)" not in files[name][-2]:
                sys.exit(f"{name}: {files[name][-2:]}")


if __name__ == "__main__":
    main()
