#!/usr/bin/env python3
"""A thread that a communication library starts in each process (serving_thread.c, serving_thread_armci.c): the report says
who it is and counts nothing of it. The program's own thread that does the same is one that waits."""

import pathlib
import re
import subprocess
import sys

from reports import analyse  # noqa: E402
from run_serving import GET, run, words  # noqa: E402
from run_sites import Case, parser  # noqa: E402


def told(case, traces):
    """The merged trace's words on which threads serve."""
    text = subprocess.run([case.args.bin / "elg_print", f"{traces}.elg"], capture_output=True, text=True, check=True).stdout
    strings = dict(re.findall(r'^STRING strid=(\d+) .*str="(.*)"$', text, re.MULTILINE))
    rows = re.findall(r"^RUN_PROPERTY key=(\d+) value=\d+ pid=(\w+)", text, re.MULTILINE)
    if "library.thread" in strings.values():
        sys.exit(f"{traces}: what the measurement tells the merge stands in its trace")
    return {(int(rank), strings[key]) for key, rank in rows if strings[key].startswith("service.since")}


def severities(case, traces):
    """By metric, process and thread, over all call paths."""
    csv, of = pathlib.Path(f"{traces}.csv"), {}
    subprocess.run([case.args.bin / "expert", "-q", "-o", "/dev/null", "--csv", csv, f"{traces}.elg"], check=True)
    for row in csv.read_text().splitlines()[1:]:
        metric = row.split(",", 1)[0]
        process, thread, value = row.rsplit(",", 3)[1:]
        key = metric, int(process), int(thread)
        of[key] = of.get(key, 0) + float(value)
    return of


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
    of = severities(case, traces)
    wrong = {key: value for key, value in of.items()
             if key[2] == 1 and value > 0.001 and re.match(r"mpi_(late|wait|unexplained|finalize_wait|polling)", key[0])}
    if wrong:
        sys.exit(f"it waits: {wrong}")
    if of["service", 2, 1] < 2 * GET:
        sys.exit(f"it serves {of['service', 2, 1]} s")
    # One of the two waits while the other is answered.
    waited = sum(of.get(("mpi_latesender", rank, 0), 0) for rank in (0, 1))
    if waited < 2 * GET:
        sys.exit(f"they wait {waited} s for the one that serves")
    subprocess.run([sys.executable, case.args.compare, "--print-tool", case.args.bin / "elg_print", f"{traces}.elg", report],
                   check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
