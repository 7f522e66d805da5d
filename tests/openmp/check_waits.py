#!/usr/bin/env python3
"""Runs a part of waits.c (or waits.F90) by `kojak run`, and compares the report with the program's own times.

check_waits.py --bin FOLDER --mpirun FILE --program FILE --folder FOLDER --part NAME --threads N [--openmp]
What a thread waits at a barrier is from its own coming to that of the last thread of its team; at a critical section
or lock, all from asking to having it, of which another thread's having it is contention; and so on: truth_of() has
the formulas. All times are the program's own. The numbers of threads in the trace follow from when each first did
something, so values are compared in order of size. A machine that is busy may stop a thread between its clock and the
construct: what is wrong by more than 3 ms is tried again.
"""
import os
import pathlib
import sys

import kojak_run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent.cube import Cube  # noqa: E402

TOLERANCE, TRIES = 0.003, 8
# What is noted of asking for a lock: the metric of all that time, and what is noted of having it.
LOCKS = {"critical": ("omp_lock_critical", "hold"), "lock": ("omp_lock_api", "hold"),
         "nest": ("omp_lock_api", "hold nest")}


def notes_of(output):
    """(rank, place) -> [(thread, begin, end)], in the order of the notes"""
    notes = {}
    for line in output.splitlines():
        if line.startswith("note "):
            where, times = line[5:].split("|")
            rank, place = where.split(" ", 1)
            thread, begin, end = times.split()
            notes.setdefault((int(rank), place), []).append((int(thread), float(begin), float(end)))
    return notes


def truth_of(notes, all_implicit):
    """`all_implicit`: to LLVM's library each barrier of a program of GCC is an implicit one. (metric, function or None, rank) -> {thread: seconds}"""
    truth = {}

    def add(metric, function, rank, thread, seconds):
        of_threads = truth.setdefault((metric, function, rank), {})
        of_threads[thread] = of_threads.get(thread, 0) + seconds

    for (rank, place), found in notes.items():
        kind = place.split()[0]
        if kind in ("explicit", "implicit"):
            latest = max(begin for _, begin, _ in found)
            for thread, begin, _ in found:
                add("omp_ibarrier_wait" if all_implicit else f"omp_{kind[0]}barrier_wait", None, rank, thread, latest - begin)
        elif kind in LOCKS:
            metric, holds = LOCKS[kind]
            for thread, begin, end in found:
                add(metric, None, rank, thread, end - begin)
                others = [(b, e) for other, b, e in notes[rank, holds] if other != thread]
                add(f"{metric}_wait", None, rank, thread, sum(max(0, min(end, e) - max(begin, b)) for b, e in others))
        elif kind == "taskwait":
            for thread, begin, end in found:
                tasks = notes[rank, "task"]
                last = max((e for other, _, e in tasks if other != thread and begin < e <= end), default=begin)
                own = sum(max(0, min(last, e) - max(begin, b)) for doer, b, e in tasks if doer == thread)
                add("omp_taskwait_wait", None, rank, thread, last - begin - own)
        elif kind == "fence":
            # While the master is in MPI the other threads have nothing to do.
            _, begin, end = found[0]
            for thread in {thread for thread, _, _ in notes[rank, "implicit 1"]} - {0}:
                add("omp_idle_threads", "MPI_Win_fence", rank, thread, end - begin)
            latest = max(notes[other, place][0][1] for other, at in notes if at == place)
            add("mpi_rma_fence_wait", "MPI_Win_fence", rank, 0, max(0, latest - begin))
    return truth


def run(options, attempt):
    folder = options.folder / f"{options.part}.{options.threads}.{attempt}"
    program = kojak_run.run(options, folder, options.part, options.threads, extra=["--keep"],
                            processes=2 if options.part == "fences" else 1)
    said = program.stdout + program.stderr
    kojak_run.check_trace(options, folder)
    return notes_of(program.stdout), Cube(folder / "run/a.cube"), said


def reported(cube, metric, function, rank):
    """The values of all threads, in order of size."""
    found = {place: 0.0 for place in cube.threads if place[0] == rank}
    for (path, place), value in cube.values[metric].items():
        if place[0] == rank and (function is None or path[-1][0] == function):
            found[place] += value
    return sorted(found.values(), reverse=True)


def compare_with_truth(truth, cube):
    wrong, shown = [], []
    for (metric, function, rank), of_threads in sorted(truth.items(), key=str):
        expected = sorted(of_threads.values(), reverse=True)
        found = reported(cube, metric, function, rank)
        expected += [0.0] * (len(found) - len(expected))
        line = f"{metric} {function or ''} rank {rank}: " + ", ".join(
            f"{e:.4f} {f:.4f}" for e, f in zip(expected, found, strict=False))
        shown.append(line)
        if len(expected) != len(found) or any(abs(e - f) > TOLERANCE for e, f in zip(expected, found, strict=True)):
            wrong.append(f"{line} (expected, reported)")
    return wrong, shown


def check_unrecorded(options):
    """The program runs as ever, its MPI is recorded, nothing is said of OpenMP but why."""
    name, value = options.setting.split("=", 1)
    os.environ[name] = value
    notes, cube, said = run(options, 0)
    faults = []
    if not notes:
        faults.append("the program noted nothing")
    if "omp" in cube.values or cube.threads != [(0, 0)]:
        faults.append(f"OpenMP was recorded: threads {cube.threads}")
    if name != "ELG_OPENMP" and (name not in said or "OpenMP is not recorded" not in said):
        faults.append(f"kojak run does not say why:\n{said}")
    print(*faults, sep="\n")
    return 1 if faults else 0


def main():
    parser = kojak_run.parser(__doc__)
    parser.add_argument("--part", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--setting", help="OMP_TOOL=disabled or its like: OpenMP is not recorded, and that is said")
    options = parser.parse_args()
    if options.setting:
        return check_unrecorded(options)
    for attempt in range(TRIES):
        notes, cube, _ = run(options, attempt)
        truth = truth_of(notes, options.openmp)
        if not truth:
            raise SystemExit("the program noted nothing")
        wrong, shown = compare_with_truth(truth, cube)
        if not wrong:
            print(*shown, sep="\n")
            return 0
        print(f"attempt {attempt}:", *wrong, sep="\n  ")
    return 1


if __name__ == "__main__":
    sys.exit(main())
