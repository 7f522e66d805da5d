#!/usr/bin/env python3
"""Whether the measurement leaves a program's floating-point state and the stacks of its threads alone: what
programs/unharmed.c, or SHMEM's floats.c, finds is the same with and without the library, and threads take little more
of their stacks.
"""

import collections
import sys

from run_trace_case import Case, listing, parser

# Beside what a call may take, 1 KB, our thread-local variables lie on a thread's stack, and the end of the thread is
# ours for a moment. (what_calls_reach.py is exact about the calls; without optimisation they take more.)
MOST = 1536
THREADS = 4


def stacks(file):
    return [int(line) for line in file.read_text().split()]


def main():
    options = parser()
    for unused in ("--bin", "--check-trace"):
        options.add_argument(unused)
    case = Case(options.parse_args())
    directory = case.work / "traces"
    files = [case.work / "stacks_plain", case.work / "stacks"]
    plain = case.run(False, {"KOJAK_STACK": files[0]})
    if plain.returncode != 0:
        print(f"without the library the program ends with {plain.returncode}: {plain.stderr}")
        sys.exit(77)
    measured = case.run(True, {"KOJAK_STACK": files[1], "ELG_DIR": directory})
    if measured.returncode != 0 or measured.stderr != plain.stderr:
        sys.exit(f"exit status {measured.returncode}\n{measured.stdout}{measured.stderr}")
    # MPICH 4.2 sets the flag of inexact results by itself at times: what a run with us says, one without us says, too.
    said = collections.Counter(plain.stdout.splitlines())
    for _ in range(20):
        if collections.Counter(measured.stdout.splitlines()) <= said:
            break
        said |= collections.Counter(case.run(False, {"KOJAK_STACK": case.work / "stacks_again"}).stdout.splitlines())
    if len(measured.stdout.splitlines()) != len(plain.stdout.splitlines()) or \
            not collections.Counter(measured.stdout.splitlines()) <= said:
        sys.exit(f"output differs:\n{plain.stdout}\n---\n{measured.stdout}")
    found = listing(case.args.tool, directory)
    wanted = {f"{rank}.0.elg" for rank in range(case.args.ranks)}
    if files[0].exists():
        # MPI itself does not take the same of a stack each time.
        more = min(stacks(files[1])) - max(stacks(files[0]))
        print(f"{more} bytes more of a thread's stack")
        if more > MOST:
            sys.exit(f"of their stacks threads take {stacks(files[1])} bytes, without the library {stacks(files[0])}")
        wanted |= {f"{rank}.{thread}.elg" for rank in range(case.args.ranks) for thread in range(1, THREADS + 1)}
    if set(found) != wanted:
        sys.exit(f"files {sorted(found)}")


if __name__ == "__main__":
    main()
