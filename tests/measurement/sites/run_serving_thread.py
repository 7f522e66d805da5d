#!/usr/bin/env python3
"""A thread that a communication library starts in each process (serving_thread.c, serving_thread_armci.c): the report says
who it is and counts nothing of it. The program's own thread that does the same is one that waits."""

import pathlib
import re
import subprocess
import sys

from reports import analyse  # noqa: E402
from run_serving import check_severities, properties, run, severities, words  # noqa: E402
from run_sites import Case, parser  # noqa: E402


def told(case, traces):
    """The merged trace's words on which threads serve."""
    return {(int(rank), key) for key, _, rank in properties(case, traces) if key.startswith("service.since")}


def main():
    options = parser()
    options.add_argument("--bin", required=True, type=pathlib.Path)
    options.add_argument("--compare", required=True)
    case = Case(options.parse_args())
    for mode in ("own", "calls", "jumps"):
        traces = run(case, mode, 3)
        if found := told(case, traces):
            sys.exit(f"{mode}: {found} serve")
        of = severities(case, traces)
        if of.get(("mpi_latesender", 2, 1), 0) < 0.001 or any(key[0] == "service" for key in of):
            sys.exit(f"{mode}: the program's own thread does not wait: {of}")
    traces = run(case, "library", 3)
    # The last process alone was asked for anything but its own end.
    threads = {(rank, "service.since.1") for rank in range(3)}
    if told(case, traces) != threads:
        sys.exit(f"{told(case, traces)} serve, not {threads}")
    report = analyse(case, traces)
    said = words(case, traces)
    if not re.search(r"rank 0, thread 1 serves the others \(it is in serve_requests, from \S+ m?s to the end\), and so do 2 more; "
                     r"their \S+ m?s are not counted\.", said):
        sys.exit(f"it is not said who serves: {said}")
    check_severities(severities(case, traces), [(rank, 1) for rank in range(3)])
    subprocess.run([sys.executable, case.args.compare, "--print-tool", case.args.bin / "elg_print", f"{traces}.elg", report],
                   check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
