#!/usr/bin/env python3
"""MPI through mpi4py: each call of lines.py has the name that the comments there give it, the report has the waits of
its late process at their lines, and the program's output and exit status are the same without the measurement."""

import collections
import pathlib
import re
import sys

from reports import analyse, severity  # noqa: E402
from run_sites import HERE, Case, compare, merge, parser  # noqa: E402

PROGRAM = HERE / "lines.py"
LATE = 0.3  # seconds that the first process is late at waits_here and sums_here
THREADS = 2  # of each process; the first one is late
# Calls by mpi4py itself that no line of the program's makes, or that have no line: when the interpreter ends.
WITHOUT_LINE = {"MPI_Finalize"}


def marked(version):
    """The calls that lines.py makes for this version of the interpreter."""
    sites = set()
    for number, line in enumerate(PROGRAM.read_text().splitlines(), 1):
        if match := re.search(r"\S  # site: (\S+) (.*)", line):
            sites |= {(match[1], "lines.py", number, call) for call in match[2].split()}
    for i in range(60):  # what made() runs
        sites.add(("<module>", f"made_{i % 3}", i % 5 + 1, "MPI_Barrier"))
        sites.add(("swap", "swapped", i % 7 + 2, "MPI_Barrier"))
    if version >= (3, 12):  # the function itself runs its list comprehensions (PEP 709)
        sites = {(site[0].removesuffix(".<locals>.<listcomp>"), *site[1:]) for site in sites}
    return sites


def outcome(case, measured, settings, arguments):
    case.args.arguments = [str(PROGRAM), *map(str, arguments)]
    done = case.run(measured, settings)
    if "kojak: " in done.stderr:
        sys.exit(f"the measurement says: {done.stderr}")
    return done.returncode, sorted(done.stdout.splitlines()), done.stderr.count("ValueError: as it was told to")


def check_sites(case, name, settings):
    traces = case.work / name
    times = case.work / f"{name}.times"
    times.mkdir()
    plain = outcome(case, False, {}, [times])
    measured = outcome(case, True, {"ELG_DIR": traces, **settings}, [times])
    if plain != measured or plain[0] != 0:
        sys.exit(f"{name}: without the measurement {plain}, with it {measured}")
    trace, said = merge(case, traces)
    if said:
        sys.exit(f"{name}: elg_merge says {said}")
    version = tuple(map(int, (times / "version").read_text().split()))
    compare(name, {site for site in trace.sites if site[3] not in WITHOUT_LINE}, marked(version))
    return traces, times, trace


def check_counts(trace, ranks):
    """How often calls were made from some of the lines."""
    found = collections.Counter()
    for path, count in trace.nested.items():
        found[tuple(place for place in path if place)[-1][::3]] += count
    for place, count in {("rounds", "MPI_Barrier"): 50, ("works", "MPI_Barrier"): 50, ("threads", "MPI_Barrier"): 50,
                         ("Halo.step", "MPI_Put"): 50, ("Halo.step", "MPI_Win_fence"): 100,
                         ("swap", "MPI_Barrier"): 60, ("<module>", "MPI_Barrier"): 60, ("deep", "MPI_Barrier"): 2,
                         ("called_back.<locals>.<lambda>", "MPI_Barrier"): 3}.items():
        if found[place] != count * ranks:
            sys.exit(f"{place}: {found[place]} times, expected {count * ranks}")


def check_waits(case, traces, times):
    report = analyse(case, traces)
    for rank in range(1, case.args.ranks):
        inside = dict(line.split() for line in (times / str(rank)).read_text().splitlines())
        for function, metric in (("waits_here", "mpi_barrier_wait"), ("sums_here", "mpi_wait_nxn")):
            waited = severity(report, metric, function, THREADS * rank)
            if not LATE * 2 / 3 <= waited <= float(inside[function]):
                sys.exit(f"rank {rank} was {inside[function]} s in {function}(), and waited {waited} s for the report")


def check_failure(case):
    """An exception that nobody catches: the same status, and the trace names the line before it. In one process: mpirun
    ends the others when one has failed, some before they have said why and written their trace."""
    case.args.ranks = 1
    plain = outcome(case, False, {}, [case.work, "fail"])
    traces = case.work / "failed"
    measured = outcome(case, True, {"ELG_DIR": traces}, [case.work, "fail"])
    if plain != measured or plain[0] == 0:
        sys.exit(f"failed: without the measurement {plain}, with it {measured}")
    trace, _ = merge(case, traces)
    if ("main", "MPI_Barrier") not in {site[::3] for site in trace.sites}:
        sys.exit(f"failed: {trace.sites}")


def main():
    options = parser()
    options.add_argument("--bin", required=True, type=pathlib.Path)
    case = Case(options.parse_args())
    traces, times, trace = check_sites(case, "lines", {})
    check_counts(trace, case.args.ranks)
    check_waits(case, traces, times)
    check_failure(case)


if __name__ == "__main__":
    main()
