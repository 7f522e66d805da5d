#!/usr/bin/env python3
"""Programs that call MPI through a library (armci.c, global_arrays.c): their comments say by which line and operation
a call is named, and in which function the others wait for the late process. What the report says of that wait is at
least two thirds of what was injected (a busy machine may take some of it), and never more than the process was in the
call."""

import collections
import pathlib
import re
import sys

from reports import analyse, severity  # noqa: E402
from run_sites import Case, merge, parser  # noqa: E402

LATE = 0.3


def marked(source):
    """Paths of names, and the metric of each function that waits, as the comments tell them."""
    paths, metrics = set(), {}
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if match := re.search(r"; /\* through: (\w+) (\w+) (MPI_\w+) \*/", line):
            paths.add(((match[1], number, match[2]), (match[2], match[3])))
        if match := re.search(r"; /\* site: (\w+) (MPI_\w+) \*/", line):
            paths.add(((match[1], number, match[2]),))
        if match := re.search(r" (\w+)\(.*/\* waits: (\w+) \*/", line):
            metrics[match[1]] = match[2]
    return paths, metrics


def paths_of(trace, source):
    """The same of a merged trace; where in the library the call stands is its own business."""
    found = set()
    for path in trace.nested:
        places = [place for place in path if place]
        if places[0][1] != source.name:
            continue
        function, _, line, entered = places[0]
        found.add(((function, line, entered), *((place[0], place[3]) for place in places[1:])))
    return found


def main():
    options = parser()
    options.add_argument("--bin", required=True, type=pathlib.Path)
    options.add_argument("--source", required=True, type=pathlib.Path)
    case = Case(options.parse_args())
    paths, metrics = marked(case.args.source)
    plain = case.run(False)
    traces = case.work / "traces"
    done = case.run(True, {"ELG_DIR": traces})
    said = {name: sorted(line for line in run.stdout.splitlines() if " has " in line)
            for name, run in (("plain", plain), ("measured", done))}
    # What the library itself warns of, it warns of without us as well (ARMCI of Open MPI 5).
    if plain.returncode != 0 or done.returncode != 0 or done.stderr != plain.stderr or said["plain"] != said["measured"]:
        sys.exit(f"exit status {plain.returncode}, measured {done.returncode}\n{said}\n{done.stderr}")
    trace, _ = merge(case, traces)
    found = paths_of(trace, case.args.source)
    if not paths or paths - found:
        sys.exit(f"missing {sorted(map(str, paths - found))}, found {sorted(map(str, found))}")
    inside = collections.defaultdict(dict)
    for line in done.stdout.splitlines():
        if match := re.fullmatch(r"process (\d+) (\w+) (\d+\.\d{6})", line):
            inside[match[2]][int(match[1])] = float(match[3])
    if set(inside) != set(metrics):
        sys.exit(f"the program waits in {sorted(inside)}, its comments say {sorted(metrics)}")
    report = analyse(case, traces)
    for function, seconds in inside.items():
        for rank in range(1, case.args.ranks):
            waited = severity(report, metrics[function], function, rank)
            if not LATE * 2 / 3 <= waited <= seconds[rank]:
                sys.exit(f"process {rank} was {seconds[rank]} s in {function}(), and waited {waited} s for the report")


if __name__ == "__main__":
    main()
