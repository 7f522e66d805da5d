#!/usr/bin/env python3
"""Counts what the threads of programs/threads.c recorded: every call of every thread once, in a trace of its own.

Threads that recorded little share a file. A process that is killed leaves what all of its threads have recorded.
"""

import re
import subprocess
import sys
import time

from run_trace_case import Case, calls_of, listing, parser

THREADS, ROUNDS = 4, 200
TASKS, ALIVE = 100, 20
# How often the threads that come later call: most of them once.
CALLS = sorted([1] * (TASKS + ALIVE - 2) + [2000, 12000])


def check_tasks(files, rank):
    """All threads behind the first ones."""
    counts = []
    for thread in range(THREADS + 1, THREADS + TASKS + ALIVE + 1):
        calls = calls_of(files[f"{rank}.{thread}.elg"])
        polls = [re.fullmatch(r"MPI_Iprobe(?: polls:(\d+))?", call) for call in calls]
        if not calls or not all(polls):
            sys.exit(f"rank {rank}, thread {thread}: {calls[:5]}")
        counts.append(sum(int(found[1] or 1) for found in polls))
    if sorted(counts) != CALLS:
        sys.exit(f"rank {rank}: threads called {sorted(counts)[-5:]} times")


def check_merged(case, directory):
    """The merge has every thread, by its own name."""
    if case.args.bin is None:
        return
    trace = case.work / "a.elg"
    subprocess.run([f"{case.args.bin}/elg_merge", "-q", "-o", trace, directory], check=True, timeout=60)
    printed = subprocess.run([f"{case.args.bin}/elg_print", trace], check=True, timeout=60, capture_output=True, text=True)
    strings = dict(re.findall(r'^STRING strid=(\d+) cntc=0 str="(.*)"$', printed.stdout, re.MULTILINE))
    threads = re.findall(r"^THREAD tid=(\d+) pid=(\d+) tnid=(\d+)$", printed.stdout, re.MULTILINE)
    wanted = {(rank, thread) for rank in range(case.args.ranks) for thread in range(1 + THREADS + TASKS + ALIVE)}
    if {(int(rank), int(thread)) for thread, rank, _ in threads} != wanted or len(threads) != len(wanted):
        sys.exit(f"{len(threads)} threads, not {len(wanted)}")
    if any(strings[name] != f"Thread {thread}" for thread, _, name in threads):
        sys.exit(f"names of threads: {strings}")
    locations = len(re.findall(r"^LOCATION ", printed.stdout, re.MULTILINE))
    if locations != len(wanted):
        sys.exit(f"{locations} locations")


def check_killed(case):
    directory = case.work / "killed"
    case.args.arguments = ["dies"]
    # Of a series of polls the last millisecond is lost with its process.
    done, ends = case.noted("ended", True, {"ELG_DIR": directory, "ELG_BUFFER_SIZE": "64K", "ELG_POLLS": "off"}, (0,))
    # Rank 1 may lose its connection and end by itself before the launcher ends it, and rank 0's note then.
    if ends.get(0, "signal 9") != "signal 9" or not ends:
        sys.exit(f"processes ended with {ends}\n{done.stderr}")
    if case.is_mpich_4_1():
        case.check_status(done, ends)
    elif done.returncode == 0:
        sys.exit(f"status 0 of a run that was killed\n{done.stderr}")
    if "rank 0 done" in done.stdout:
        sys.exit(f"nothing was killed: {done.stdout}")
    # The keeper makes the files within milliseconds; a busy machine may take its time.
    wanted = {f"0.{thread}.elg" for thread in range(THREADS + TASKS + ALIVE + 1)}
    for _ in range(200):
        if (directory / "0.0.elg").exists() and wanted <= set(listing(case.args.tool, directory)):
            break
        time.sleep(0.1)
    files = listing(case.args.tool, directory)
    if not wanted <= set(files):
        sys.exit(f"no trace of {sorted(wanted - set(files))}")
    check_tasks(files, 0)


def main():
    options = parser()
    options.add_argument("--bin", help="where elg_merge and elg_print are")
    options.add_argument("--note-status", required=True, help="note_status")
    case = Case(options.parse_args())
    directory = case.work / "traces"
    plain = case.run(False, program=case.args.plain_program)
    measured = case.run(True, {"ELG_DIR": directory, "ELG_BUFFER_SIZE": "64K"})
    if measured.returncode != 0 or sorted(measured.stdout.split()) != sorted(plain.stdout.split()):
        sys.exit(f"{measured}")
    if "kojak: " in measured.stderr:
        sys.exit(measured.stderr)
    files = listing(case.args.tool, directory)
    ranks = case.args.ranks
    wanted = {f"{rank}.{thread}.elg" for rank in range(ranks) for thread in range(THREADS + TASKS + ALIVE + 1)}
    if set(files) != wanted:
        sys.exit(f"traces missing {sorted(wanted - set(files))}, others {sorted(set(files) - wanted)}")
    # One of the process, at most one of each of the first threads and of the one that called most, a shared one.
    names = [path.name for path in directory.iterdir()]
    if any(not name.endswith(".elg") for name in names) or len(names) > ranks * (THREADS + 3):
        sys.exit(f"files {sorted(names)}")
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
        check_tasks(files, rank)
        for thread in range(1, THREADS + TASKS + ALIVE + 1):
            name = f"{rank}.{thread}.elg"
            if "open=0 lost=0" not in files[name][-1] or "(thread)" not in files[name][-2]:
                sys.exit(f"{name}: {files[name][-2:]}")
    check_merged(case, directory)
    check_killed(case)


if __name__ == "__main__":
    main()
