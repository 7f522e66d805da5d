#!/usr/bin/env python3
"""Records a program, merges and analyses its traces, and compares the report with what the program itself measured.

programs/waits.c prints how long each process was in MPI_Win_allocate_c, to which process 0 came late five times by
0.2 s, how many bytes it put, and how long it waited for a partitioned message whose last part process 0 gave away late
in the same way. The others waited for process 0: at least 0.8 s each (five times 0.2 s, less what a busy machine may
take of it), and never longer than they were inside. With --no-waits only this is checked:
the merge and the report end with 0 and the traces are complete.
"""
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

from run_trace_case import Case, parser


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def severities(report, metric, function):
    """location -> sum over all call paths that end in the function"""
    root = xml.parse(report).getroot()
    number = next(m.get("id") for m in root.iter("metric") if m.findtext("uniq_name") == metric)
    regions = {r.get("id") for r in root.iter("region") if r.findtext("name", "").startswith(function)}
    nodes = {c.get("id") for c in root.iter("cnode") if c.get("calleeId") in regions}
    if not regions or not nodes:
        sys.exit(f"no call path of the report ends in {function}")
    found = {}
    for matrix in root.iter("matrix"):
        if matrix.get("metricId") != number:
            continue
        for row in matrix.iter("row"):
            if row.get("cnodeId") in nodes:
                for place, value in enumerate(row.text.split()):
                    found[place] = found.get(place, 0) + float(value)
    return found


def main():
    options = parser()
    options.add_argument("--bin", required=True)
    options.add_argument("--no-waits", action="store_true")
    case = Case(options.parse_args())
    traces = case.work / "traces"
    measured = case.run(True, {"ELG_DIR": traces})
    if measured.returncode != 0 or measured.stderr:
        sys.exit(f"status {measured.returncode}\n{measured.stderr}")
    tools = pathlib.Path(case.args.bin)
    trace, report = case.work / "a.elg", case.work / "a.cube"
    run(tools / "elg_merge", "-o", trace, traces)
    run(tools / "expert", "-o", report, trace)
    if case.args.no_waits:
        return
    waits = severities(report, "mpi_rma_wait_window_create", "MPI_Win_allocate_c")
    put = severities(report, "bytes_put", "MPI_Put_c")
    parts = severities(report, "mpi_latesender", "MPI_Wait")
    lines = re.findall(r"rank (\d+) inside (\S+) put (\d+) parts (\S+)", measured.stdout)
    if len(lines) != case.args.ranks:
        sys.exit(f"unexpected output:\n{measured.stdout}")
    for rank, inside, sent, waited in ((int(a), float(b), int(c), float(d)) for a, b, c, d in lines):
        part = parts.get(rank, 0)
        if part > waited + 1e-3 or (rank == 1 and part < 0.8):
            sys.exit(f"rank {rank} waited {waited} s for parts, the report says {part} s")
        wait = waits.get(rank, 0)
        if wait > inside + 1e-3 or (rank != 0 and wait < 0.8) or (rank == 0 and wait > inside):
            sys.exit(f"rank {rank} was {inside} s in MPI_Win_allocate_c, the report says that it waited {wait} s")
        if put.get(rank, 0) != sent:
            sys.exit(f"rank {rank} put {sent} bytes, the report says {put.get(rank, 0)}")


if __name__ == "__main__":
    main()
