#!/usr/bin/env python3
"""A process that a communication library keeps for itself (serving.c, serving_armci.c): the merge finds it, the report
says who it is and counts nothing of it; where the library keeps nobody, or ends MPI for all, nobody serves."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

from reports import analyse  # noqa: E402
from run_sites import Case, merge, parser  # noqa: E402

GET = 0.1  # the server works so long for each get


def properties(case, traces):
    """The merged trace's properties: key, value, process. It has none of what the measurement tells the merge alone."""
    text = subprocess.run([case.args.bin / "elg_print", f"{traces}.elg"], capture_output=True, text=True,
                          check=False).stdout
    strings = dict(re.findall(r'^STRING strid=(\d+) .*str="(.*)"$', text, re.MULTILINE))
    rows = [(strings[key], strings[value], process) for key, value, process in
            re.findall(r"^RUN_PROPERTY key=(\d+) value=(\d+) pid=(\w+)", text, re.MULTILINE)]
    if {"library.thread", "library.process"} & set(strings.values()):
        sys.exit(f"{traces}: what the measurement tells the merge stands in its trace")
    return rows


def told(case, traces):
    """The merged trace's words on which processes serve: rank -> since when."""
    return {int(rank): float(value) for key, value, rank in properties(case, traces) if key == "service.since"}


def severities(case, traces):
    """By metric, process and thread, over all call paths; empty cells are not there."""
    csv, of = pathlib.Path(f"{traces}.csv"), {}
    subprocess.run([case.args.bin / "expert", "-q", "-o", "/dev/null", "--csv", csv, f"{traces}.elg"], check=True)
    for row in csv.read_text().splitlines()[1:]:
        metric = row.split(",", 1)[0]
        process, thread, value = row.rsplit(",", 3)[1:]
        key = metric, int(process), int(thread)
        of[key] = of.get(key, 0) + float(value)
    return of


def check_severities(of, serves):
    """The (process, thread) that serves waits for nothing, and its time is told; another waits while one is answered."""
    wrong = {key: value for key, value in of.items() if key[1:] in serves and value > 0.001
             and re.match(r"mpi_(late|wait|unexplained|finalize_wait|polling)", key[0])}
    if wrong:
        sys.exit(f"it waits: {wrong}")
    if of["service", 2, serves[-1][1]] < 2 * GET:
        sys.exit(f"it serves {of['service', 2, serves[-1][1]]} s")
    waited = sum(of.get(("mpi_latesender", rank, 0), 0) for rank in (0, 1))
    if waited < 2 * GET:
        sys.exit(f"they wait {waited} s for the one that serves")


def run(case, mode, ranks):
    traces = case.work / f"{mode}{ranks}"
    case.args.arguments = [mode]
    case.args.ranks = ranks
    done = case.run(True, {"ELG_DIR": traces})
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{mode}: exit status {done.returncode}\n{done.stderr}")
    merge(case, traces)
    return traces


def without(case, traces, rank):
    """Who serves where a process was killed, so that nothing is known of it."""
    fewer = case.work / f"{traces.name}_without{rank}"
    shutil.copytree(traces, fewer)
    for file in fewer.glob(f"{rank}.*"):
        file.unlink()
    subprocess.run([case.args.bin / "elg_merge", "-q", "-o", f"{fewer}.elg", fewer], capture_output=True, check=False)
    return told(case, fewer)


def words(case, traces):
    said = subprocess.run([case.args.bin / "expert", "-o", "/dev/null", f"{traces}.elg"], capture_output=True, text=True,
                          check=True).stdout
    return " ".join(said.split())


def main():
    options = parser()
    options.add_argument("--bin", required=True, type=pathlib.Path)
    options.add_argument("--compare", required=True)
    options.add_argument("--source", required=True, type=pathlib.Path)
    case = Case(options.parse_args())
    for mode, ranks in (("alone", 3), ("end", 3), ("end", 1), ("loop", 3)):
        traces = run(case, mode, ranks)
        if found := told(case, traces):
            sys.exit(f"{mode}: {found} serve")
        if mode == "end" and ranks > 1 and (found := without(case, traces, 0)):
            sys.exit(f"{mode}, one killed: {found} serve")
    # A function of the program is no call of the library, though it is what main called.
    traces = run(case, "jump", 3)
    said = words(case, traces)
    if set(told(case, traces)) != {2} or "is in begin" in said:
        sys.exit(f"jump: {told(case, traces)} serve: {said}")
    traces = run(case, "serve", 3)
    found = told(case, traces)
    if set(found) != {2} or set(without(case, traces, 0)) != {2}:
        sys.exit(f"{found} serve, not process 2")
    report = analyse(case, traces)
    said = words(case, traces)
    line = next(number for number, text in enumerate(case.args.source.read_text().splitlines(), 1)
                if "ARMCI_Init(strcmp" in text)
    who = re.search(rf"rank 2 serves the others \(it is in ARMCI_Init, {case.args.source.name}:{line}, from \S+ m?s to "
                      r"the end\); its \S+ m?s are not counted\.", said)
    if not who:
        sys.exit(f"it is not said who serves: {said}")
    check_severities(severities(case, traces), [(2, 0)])
    # The second one asks while the first is answered.
    subprocess.run([case.args.bin / "expert", "-q", "-o", report, "--json", f"{traces}.json", f"{traces}.elg"], check=True)
    causes = json.loads(pathlib.Path(f"{traces}.json").read_text())["root_causes"]["causes"]
    busy = [cause for cause in causes if cause["kind"] == "answering"]
    # (On a busy machine it takes longer, and the second one comes later.)
    if sum(cause["seconds"] for cause in busy) < 0.3 * GET or any(
            not re.match(r"rank 2, which serves, was answering rank [01] for ", cause["words"]) for cause in busy):
        sys.exit(f"it is busy: {busy}")
    subprocess.run([sys.executable, case.args.compare, "--print-tool", case.args.bin / "elg_print", f"{traces}.elg", report],
                   check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
