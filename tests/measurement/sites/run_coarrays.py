#!/usr/bin/env python3
"""Coarrays under OpenCoarrays: image 1 comes late to `sync all`, `sync images` and `co_sum`.

The merged trace names each statement by its line in coarrays.F90 and by itself, and the report has the waits of the
other images there: at least two thirds of what was injected (0.4 s; a busy machine may take some of it), and never
more than the image was in the statement.
"""

import pathlib
import sys

from reports import analyse, severity  # noqa: E402
from run_sites import Case, merge, parser  # noqa: E402

SOURCE = "coarrays.F90"
# By the order of the program's output: what the statement is called, and the metric that its wait belongs to.
STATEMENTS = [("sync all", "mpi_barrier_wait"), ("sync images", "mpi_latesender"), ("co_sum", "mpi_wait_nxn"),
              ("coarray put", None), ("coarray get", None), ("event wait", None), ("event post", None),
              ("lock, critical", None)]
INJECTED = 2 * 0.2


def check(case, name, program):
    traces = case.work / name
    done = case.run(True, {"ELG_DIR": traces}, program=program)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{name}: exit status {done.returncode}\n{done.stderr}")
    images = {int(line.split()[1]): line.split()[2:] for line in done.stdout.splitlines() if line.startswith("image")}
    if sorted(images) != list(range(1, case.args.ranks + 1)):
        sys.exit(f"{name}: unexpected output:\n{done.stdout}")
    lines = [int(line) for line in images[1][0::2]]
    trace, _ = merge(case, traces)
    entered = {(place[2], place[3]) for place in trace.sites if place[1] == SOURCE}
    for (statement, _), line in zip(STATEMENTS, lines):
        if (line, statement) not in entered:
            sys.exit(f"{name}: no '{statement}' in line {line} of {SOURCE}, but {sorted(entered)}")
    report = analyse(case, traces)
    for number, (statement, metric) in enumerate(STATEMENTS):
        for image in range(2, case.args.ranks + 1) if metric else ():
            waited = severity(report, metric, statement, image - 1)
            inside = float(images[image][2 * number + 1])
            # Other lines with the same statement add what little is waited there.
            most = inside + (0.3 if statement == "sync all" else 1e-3)
            if not INJECTED * 2 / 3 <= waited <= most:
                sys.exit(f"{name}: image {image} was {inside} s in '{statement}', and waited {waited} s for the report")


def main():
    options = parser()
    options.add_argument("--bin", required=True, type=pathlib.Path)
    options.add_argument("--linked-in", required=True, help="the program with the library's archive")
    case = Case(options.parse_args())
    check(case, "shared", case.args.program)
    check(case, "linked_in", case.args.linked_in)


if __name__ == "__main__":
    main()
