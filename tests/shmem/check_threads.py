#!/usr/bin/env python3
"""What the threads of threads.c recorded: every call of every thread once, in its own file; merged, every transfer ends
once, in what its PE calls to complete it, whichever thread does."""

import sys

from check_calls import Listing, analyse, options_of, said
from run_trace_case import Case, calls_of, listing

THREADS, TIMES = 3, 200


def main():
    case = Case(options_of().parse_args())
    directory = case.work / "traces"
    plain = case.run(False)
    if plain.returncode == 77:
        print("the SHMEM library grants no threads")
        sys.exit(77)
    measured = case.run(True, {"ELG_DIR": directory, "ELG_BUFFER_SIZE": "64K"})
    if plain.returncode != 0 or measured.returncode != 0 or said(plain.stdout) != said(measured.stdout) or measured.stderr:
        sys.exit(f"{plain}\n{measured}")
    files = listing(case.args.tool, directory)
    ranks = case.args.ranks
    if sorted(files) != sorted(f"{rank}.{thread}.elg" for rank in range(ranks) for thread in range(THREADS + 1)):
        sys.exit(f"files {sorted(files)}")
    for rank in range(ranks):
        quiet = 0
        for thread in range(1, THREADS + 1):
            calls = calls_of(files[f"{rank}.{thread}.elg"])
            expected = []
            for i in range(TIMES):
                expected += [f"shmem_long_p put:{(rank + 1) % ranks}:8"] + ["shmem_long_atomic_add put:0:8"] * (i % 20 == 0)
            quiet += calls[-1] == "shmem_quiet quiet:0"
            if calls[:len(expected)] != expected or len(calls) > len(expected) + 1:
                sys.exit(f"PE {rank}, thread {thread}: {len(calls)} calls, {calls[:5]} ...")
        if quiet != THREADS - 1:
            sys.exit(f"PE {rank}: {quiet} threads call shmem_quiet")
    found = Listing(analyse(case, directory))
    for rank in range(ranks):
        found.lines(rank)
    wanted = ranks * THREADS * (TIMES + TIMES // 20)
    if len(found.starts) != wanted:
        sys.exit(f"{len(found.starts)} transfers start, not {wanted}")
    found.check_ends(by_process=True)
    if found.wrong:
        sys.exit("\n".join(found.wrong[:10]))


if __name__ == "__main__":
    main()
