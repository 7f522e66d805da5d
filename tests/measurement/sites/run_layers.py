#!/usr/bin/env python3
"""Call sites of layers.c, whose comments say by which line and operation of the program each call is named."""

import collections
import pathlib
import re
import sys

from run_sites import HERE, Case, compare, merge, parser  # noqa: E402

SITE, THROUGH = "site", "through"
ROUNDS = 100


def marked(solver):
    """Paths of names as the comments tell them: ((function, line, what it enters), ...)."""
    paths = set()
    for number, line in enumerate((HERE / "layers.c").read_text().splitlines(), 1):
        match = re.search(r";.*/\* (site|through|solver): (\w+) (.*?) ?(MPI_\w+) \*/", line)
        if not match:
            continue
        kind, function, operation, called = match.groups()
        if (function == "solver_run" and solver) or (kind == "solver" and not solver):
            continue
        paths.add(((function, number, operation), (operation, None, called)) if operation else
                  ((function, number, called),))
    return paths


def paths_of(trace):
    """The same of a merged trace. Where in a library the call stands is its own business, and has no line."""
    found = collections.Counter()
    for path, count in trace.nested.items():
        places = [place for place in path if place]
        if not places[-1][3].startswith("MPI_"):
            continue
        names = [(function, line if file == "layers.c" else None, entered) for function, file, line, entered in places]
        if len(places) == 2 and places[1][1:3] != (None, None):
            sys.exit(f"a line within a library: {places}")
        found[tuple(names)] += count
    return found


def check(case, name, settings, solver):
    traces = case.work / name
    done = case.run(True, {"ELG_DIR": traces, "ELG_MPI": "all", **settings})
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{name}: exit status {done.returncode}\n{done.stderr}")
    trace, _ = merge(case, traces)
    found = paths_of(trace)
    compare(name, set(found), marked(solver))
    for path, count in found.items():
        expected = (1 if path[0][2] in ("MPI_Init", "MPI_Finalize") else ROUNDS) * case.args.ranks
        if count != expected:
            sys.exit(f"{name}: {path} {count} times, expected {expected}")


def main():
    options = parser()
    options.add_argument("--bin", required=True, type=pathlib.Path)
    case = Case(options.parse_args())
    check(case, "default", {}, False)
    check(case, "named", {"ELG_LIBRARIES": "nothing_*.so,solver_*"}, True)
    traces = case.work / "off"
    if case.run(True, {"ELG_DIR": traces, "ELG_CALLSITES": "off"}).returncode != 0:
        sys.exit("off: the program failed")
    if merge(case, traces)[0].sites:
        sys.exit("off: there are call sites")


if __name__ == "__main__":
    main()
