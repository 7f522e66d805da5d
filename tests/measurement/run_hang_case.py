#!/usr/bin/env python3
"""Ends a program that hangs (programs/hang.c; with --shmem tests/shmem/hang.c) from outside, and checks what the report says about it: in which call each
process was standing, since when, and for whom; who is in a deadlock.

The program writes between which times each process came to stand still; this script knows when it ended them, and when
their traces had been saved. What the report says lies between these.
"""

import contextlib
import json
import os
import pathlib
import signal
import sys
import time

from check_runs import checked
from check_runs import compare as second_analysis
from run_trace_case import Case, parser

LOCK_CALLS = ("MPI_Win_lock", "MPI_Win_flush", "MPI_Win_unlock")
OUTSIDE = (None, "", [])
IN_BARRIER = ("MPI_Barrier", "MPI_Barrier of ranks 0 and 1", [0, 1])


def without_rank_1(function):
    return {0: (function, f"{function} of rank 1", [1]), 1: OUTSIDE, 2: (function, f"{function} of rank 1", [1])}


# By case: rank -> function (or several), for what it waits, of whom; and deadlocks.
CASES = {
    "wait": ({0: ("MPI_Win_wait", "MPI_Win_complete of rank 1", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "start": ({0: (("MPI_Win_start", "MPI_Win_complete"), "MPI_Win_post of rank 1", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "recv": ({0: ("MPI_Recv", "a message from rank 1 (tag 7)", [1]), 1: OUTSIDE,
              2: ("MPI_Recv", "a message from any other process (tag 7)", [0, 1])}, []),
    "poll": ({0: ("MPI_Recv", "a message from rank 1 (tag 7)", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "compute": ({0: ("MPI_Recv", "a message from rank 1 (tag 7)", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "send": ({0: ("MPI_Ssend", "a receive of rank 1 (tag 9)", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "lock": ({0: (LOCK_CALLS, "MPI_Win_unlock of rank 1, with the lock at rank 2", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    # Reads under locks, joined: in the next lock of them (where it waits for it, in what follows); and under one of them.
    "asks": ({0: (LOCK_CALLS + ("MPI_Get",), "MPI_Win_unlock of rank 1, with the lock at rank 2", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "holds": ({0: OUTSIDE, 1: (LOCK_CALLS + ("MPI_Put",), "MPI_Win_unlock of rank 0, with the lock at rank 2", [0]), 2: IN_BARRIER}, []),
    "barrier": ({0: ("MPI_Barrier", "MPI_Barrier of rank 1", [1]), 1: OUTSIDE,
                 2: ("MPI_Barrier", "MPI_Barrier of rank 1", [1])}, []),
    "fence": ({0: ("MPI_Win_fence", "MPI_Win_fence of rank 1", [1]), 1: OUTSIDE,
               2: ("MPI_Win_fence", "MPI_Win_fence of rank 1", [1])}, []),
    "begun": ({0: ("MPI_Wait", "rank 1 to begin the same collective operation", [1]), 1: OUTSIDE,
               2: ("MPI_Wait", "rank 1 to begin the same collective operation", [1])}, []),
    "waitall": ({0: ("MPI_Waitall", "a message from rank 1 (tag 5)", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "deadlock": ({0: ("MPI_Recv", "a message from rank 1 (tag 7)", [1]), 1: ("MPI_Recv", "a message from rank 0 (tag 7)", [0]),
                  2: IN_BARRIER}, [[0, 1]]),
    # Where the transfer itself does not wait, the call behind it does.
    "put": ({0: (("MPI_Put", "MPI_Win_start", "MPI_Win_complete"), "MPI_Win_post of rank 1", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "get": ({0: (("MPI_Get", "MPI_Win_start", "MPI_Win_complete"), "MPI_Win_post of rank 1", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "locked": ({0: (("MPI_Get", "MPI_Win_lock", "MPI_Win_unlock"), "MPI_Win_unlock of rank 1, with the lock at rank 2", [1]),
             1: OUTSIDE, 2: IN_BARRIER}, []),
    "begin": ({0: ("MPI_Comm_idup", "progress of the operation that it begins with ranks 1 and 2", []),
               1: ("MPI_Barrier", "MPI_Barrier of rank 0", [0]), 2: ("MPI_Barrier", "MPI_Barrier of rank 0", [0])}, []),
    # The library stands in a call that only begins something.
    "in_isend": ({0: ("MPI_Isend", "progress at rank 1, to which it sends", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "in_start": ({0: ("MPI_Start", "progress at rank 1, to which it sends", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "in_ibcast": ({0: ("MPI_Ibcast", "progress of the operation that it begins with ranks 1 and 2", []), 1: OUTSIDE,
                   2: IN_BARRIER}, []),
    # It has begun, and what it began does not come to its end.
    "isend": ({0: ("MPI_Wait", "a receive of rank 1", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "started": ({0: ("MPI_Wait", "a receive of rank 1", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "ibcast": ({0: ("MPI_Wait", "rank 1 to begin the same collective operation", [1]), 1: OUTSIDE,
                2: ("MPI_Wait", "rank 1 to begin the same collective operation", [1])}, []),
    "open": (without_rank_1("MPI_File_open"), []),
    "close": (without_rank_1("MPI_File_close"), []),
    "view": (without_rank_1("MPI_File_set_view"), []),
    "given": ({0: ("MPI_Wait", "all parts of a message from rank 1", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "taken": ({0: ("MPI_Wait", "rank 1 to receive all parts of its message", [1]), 1: OUTSIDE, 2: IN_BARRIER}, []),
    "kept": ({0: ("MPI_Wait", "its own MPI_Pready for a message to rank 1", [0]), 1: OUTSIDE, 2: IN_BARRIER}, [[0]]),
}


IN_SHMEM_BARRIER = ("shmem_barrier_all", "shmem_barrier_all of ranks 0 and 1", [0, 1])
SHMEM_CASES = {
    "barrier": (without_rank_1("shmem_barrier_all"), []),
    "poll": (without_rank_1("shmem_barrier_all"), []),
    "wait": ({0: ("shmem_long_wait_until", "a write of any other process to its variable", [1, 2]), 1: OUTSIDE,
              2: IN_SHMEM_BARRIER}, []),
    "lock": ({0: ("shmem_set_lock", "shmem_clear_lock of rank 1", [1]), 1: OUTSIDE, 2: IN_SHMEM_BARRIER}, []),
    "heap_lock": ({0: ("shmem_set_lock", "shmem_clear_lock of rank 1", [1]), 1: OUTSIDE, 2: IN_SHMEM_BARRIER}, []),
    "broadcast": ({0: ("shmem_broadcast64", "shmem_broadcast64 of rank 1, the root", [1]), 1: OUTSIDE,
                   2: ("shmem_broadcast64", "shmem_broadcast64 of rank 1, the root", [1])}, []),
}


ENTERED_BEFORE = ("begin", "in_isend", "in_start", "in_ibcast")


def stand_still(case, process):
    """Of each process: a time before its last call, when it came to stand still, and its number."""
    ready = {}
    begun = time.time()
    while len(ready) < case.args.ranks:
        if process.poll() is not None or time.time() - begun > 60:
            process.kill()
            sys.exit(f"the program did not hang: {process.communicate()}")
        for rank in range(case.args.ranks):
            path = case.work / f"ready.{rank}"
            if rank not in ready and path.exists() and (line := path.read_text()).endswith("\n"):
                noted, moment, number = line.split()
                ready[rank] = (float(noted), float(moment), int(number))
        time.sleep(0.02)
    return ready


def alive(number):
    try:
        return pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def end(case, process, ready, how):
    """Ends all processes; when that began."""
    time.sleep(1)
    first = time.time()
    if how == "kill":
        for _, _, number in ready.values():
            with contextlib.suppress(ProcessLookupError):  # the launcher kills the others
                os.kill(number, signal.SIGKILL)
    elif how in ("term", "int"):
        process.send_signal(signal.SIGTERM if how == "term" else signal.SIGINT)
    while any(alive(number) for _, _, number in ready.values()):
        time.sleep(0.02)
        if time.time() - first > 60:
            sys.exit("the processes did not end")
    process.communicate(timeout=60)
    return first


def check(case, ready, first):
    bin = case.args.bin
    checked([bin / "elg_merge", "-o", case.work / "a.elg", case.work / "traces"], (0, 3))
    last = time.time()  # what the processes had not written themselves has been saved
    said = checked([bin / "expert", "--full", "-o", case.work / "a.cube", "--json", case.work / "a.json", case.work / "a.elg"], (0, 3)).stdout
    checked([case.args.check_trace, case.work / "a.elg", case.work / "a.cube"])
    second_analysis.check(case.work / "a.elg", case.work / "a.cube", bin / "elg_print")
    report = json.loads((case.work / "a.json").read_text())
    expected, deadlocks = (SHMEM_CASES if case.args.shmem else CASES)[case.args.case]
    calls = {call["rank"]: call for call in report["last_calls"]}
    if sorted(calls) != sorted(expected):
        sys.exit(f"last calls of {sorted(calls)}, not of {sorted(expected)}\n{said}")
    for rank, (functions, awaits, ranks) in expected.items():
        call = calls[rank]
        region = report["call_paths"][call["call_path"]]["region"]
        functions = functions if isinstance(functions, tuple) else (functions,)
        if rank == 0 and case.args.in_call is not None:
            functions = (case.args.in_call,)
        found = region if call["in_mpi"] else None
        if found not in functions or call["awaits"] != awaits or call["ranks"] != ranks:
            sys.exit(f"rank {rank} stands in {found}, waits for '{call['awaits']}' of {call['ranks']}; expected {expected[rank]}\n{said}")
        stood = call["until"] - call["since"]
        noted, moment, _ = ready[rank]
        # Into the call that it stands in a process goes at once after that moment, unless it loses its core there.
        # Outside of MPI, and where something called back stands, it has left or entered its last call before.
        earlier = found is None or rank == 0 and case.args.case in ENTERED_BEFORE
        unseen = rank == 0 and case.args.case == "asks"  # it stood still at some time between these two
        least = first - moment - (0.01 if earlier else 0.5)
        most = last - (noted if earlier or unseen else moment) + 0.01
        if not least <= stood <= most:
            sys.exit(f"rank {rank} stood still for {stood} s, not {least} to {most}\n{said}")
        if (calls[rank].get("polls_for") is not None) != (case.args.case == "poll" and rank == 1):
            sys.exit(f"rank {rank} polls for {calls[rank].get('polls_for')}\n{said}")
        if "polls_for" in call:
            asked = "a write to its variable (shmem_long_test" if case.args.shmem else "a message from rank 0 (tag 3) (MPI_Test"
            if f"rank 1 polls for {asked}" not in " ".join(said.split()):
                sys.exit(f"what it polls for is not said:\n{said}")
            continue
        for word in [awaits, found or "outside of SHMEM" if case.args.shmem else found or "outside of MPI"]:
            if word not in " ".join(said.split()):
                sys.exit(f"'{word}' is not said:\n{said}")
    if case.args.case == "compute":
        computes = calls[1].get("computes", {})
        lines = pathlib.Path(__file__).with_name("programs").joinpath("hang.c").read_text().splitlines()
        line = next(n for n, text in enumerate(lines, 1) if "in stuck" in text)
        place = f"stuck (hang.c:{line})"
        words = " ".join(said.split())
        if (computes.get("function"), computes.get("line")) != ("stuck", line) or any(word not in words for word in (
                f"rank 1 is outside of MPI calls that can wait, in {place} since",
                f"waits for a message from rank 1 (tag 7), which computes in {place}.")):
            sys.exit(f"{place} is not what rank 1 computes: {computes}\n{said}")
    found = [deadlock["ranks"] for deadlock in report["deadlocks"]]
    named = "Deadlock of rank" + ("s 0 and 1: " if deadlocks == [[0, 1]] else " 0: ")
    if found != deadlocks or (named in said) != bool(deadlocks) or ("Deadlock" in said) != bool(deadlocks):
        sys.exit(f"deadlocks {report['deadlocks']}, not {deadlocks}\n{said}")
    if deadlocks:  # the time of the hang is waiting, and nothing contradicts that
        totals = {metric["name"]: metric["total"] for metric in report["metrics"]}
        for metric, ranks in (("mpi_latesender", deadlocks[0]), ("mpi_barrier_wait", report["deadlocks"][0]["behind"])):
            stood = sum(calls[rank]["until"] - calls[rank]["since"] for rank in ranks)
            if totals.get(metric, 0) < stood - 1e-6:
                sys.exit(f"{metric} has {totals.get(metric, 0)} s, the calls that did not return took {stood} s\n{said}")
        for word in ("No pattern of waiting", "No process waited", "Without it the run", "without it the run"):
            if word in said:
                sys.exit(f"'{word}' stands beside a deadlock:\n{said}")


def main():
    arguments = parser()
    arguments.add_argument("--bin", type=pathlib.Path, required=True)
    arguments.add_argument("--check-trace", required=True)
    arguments.add_argument("--case", required=True, choices=sorted({**CASES, **SHMEM_CASES}))
    arguments.add_argument("--shmem", action="store_true", help="the program is one of SHMEM")
    arguments.add_argument("--in-call", help="the call in which rank 0 must stand here")
    arguments.add_argument("--how", choices=("kill", "term", "int", "launcher"), default="kill")
    args = arguments.parse_args()
    args.arguments = [args.case]
    case = Case(args)
    environment = {"ELG_DIR": case.work / "traces"}
    if args.case == "compute":
        environment["ELG_SAMPLE"] = "10ms"
    if args.how == "launcher" and args.mpi == "mpich":
        os.environ["MPIEXEC_TIMEOUT"] = "6"
    process = case.start(environment, ["--timeout", "6"] if args.how == "launcher" and args.mpi == "openmpi" else [])
    ready = stand_still(case, process)
    check(case, ready, end(case, process, ready, args.how))


if __name__ == "__main__":
    main()
