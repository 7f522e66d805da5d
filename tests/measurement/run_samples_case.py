#!/usr/bin/env python3
"""Samples of what a program computes (ELG_SAMPLE), held against the program's own processor times.

work: as many samples lie in relax() and in smooth() as the program says that it used intervals there, at the lines that
the source marks, and the report names relax() as what made the others wait, with no region instrumented.
disturb, cancel: the program's output and exit status are the same with and without.
"""
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

from run_trace_case import Case, parser

INTERVAL = 0.01
# A processor's timers are looked at once in a tick (up to 10 ms) and say how many intervals it was; calls of the clock
# and of work() itself lie in neither function. Where others want the processor, a tick often finds the thread in MPI.
SLACK, PART = 0.12, 0.15


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def samples_of(report, function):
    """location -> samples in the function and what it calls (a nested procedure has a longer name)"""
    root = xml.parse(report).getroot()
    number = next(m.get("id") for m in root.iter("metric") if m.findtext("uniq_name") == "samples")
    regions = {r.get("id") for r in root.iter("region") if re.fullmatch(rf"(.*\W)?{function}", r.findtext("name", ""))}
    nodes = {n.get("id") for c in root.iter("cnode") if c.get("calleeId") in regions for n in c.iter("cnode")}
    found = {}
    for matrix in root.iter("matrix"):
        if matrix.get("metricId") == number:
            for row in matrix.iter("row"):
                for place, value in enumerate(row.text.split() if row.get("cnodeId") in nodes else []):
                    found[place] = found.get(place, 0) + float(value)
    return found


def line_of(source, function):
    lines = pathlib.Path(source).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if f"in {function}" in line and "print" not in line
                and re.search(r"[!/]\W*in ", line))


def check_work(case, traces, stdout, source):
    tools = pathlib.Path(case.args.bin)
    trace, report = case.work / "a.elg", case.work / "a.cube"
    run(tools / "elg_merge", "-o", trace, traces)
    text = run(tools / "expert", "--causes", "-o", report, trace)
    lines = re.findall(r"rank (\d+) relax (\S+) smooth (\S+)", stdout)
    if len(lines) != case.args.ranks:
        sys.exit(f"unexpected output:\n{stdout}")
    for rank, *times in lines:
        for function, seconds in zip(("relax", "smooth"), map(float, times)):
            found = INTERVAL * samples_of(report, function).get(int(rank), 0)
            if abs(found - seconds) > SLACK + PART * seconds:
                sys.exit(f"rank {rank} used {seconds} s in {function}, its samples say {found} s\n{text}")
    words = " ".join(text.split())  # they may be wrapped
    if case.args.stripped:
        if not re.search(r"rank 1 computes \S+ s longer in (relax|\S*exp\S*), ", words):
            sys.exit(f"the terminal names no function:\n{text}")
        return
    causes = json.loads(run(tools / "expert", "-q", "--causes", "-o", report, "--json", "-", trace))["root_causes"]["causes"]
    first = causes[0]["sampled"][0]
    if not re.fullmatch(r"(.*\W)?relax", first["function"]) or first["line"] != line_of(source, "relax"):
        sys.exit(f"the first cause is {causes[0]['words']}: {first}")
    place = f"{pathlib.Path(source).name}:{first['line']}"
    if not re.search(rf"rank 1 computes \S+ s longer in \S*relax \({re.escape(place)}\)", words):
        sys.exit(f"the terminal does not name relax at {place}:\n{text}")


def main():
    options = parser()
    options.add_argument("--bin", required=True)
    options.add_argument("--source", required=True)
    options.add_argument("--mode", default="work", choices=("work", "disturb", "cancel"))
    options.add_argument("--stripped", action="store_true", help="the program has names but no lines")
    case = Case(options.parse_args())
    case.args.arguments = [case.args.mode]
    traces = case.work / "traces"
    interval = "10ms" if case.args.mode == "work" else "1ms"
    measured = case.run(True, {"ELG_DIR": traces, "ELG_SAMPLE": interval})
    said = measured.stderr.splitlines()
    if case.args.mode == "cancel":
        said = [line for line in said if "ended threads" not in line]
        if len(measured.stderr.splitlines()) != 1:
            sys.exit(f"that samples ended is not said once:\n{measured.stderr}")
    if measured.returncode != 0 or said:
        sys.exit(f"status {measured.returncode}\n{measured.stdout}{measured.stderr}")
    if case.args.mode == "work":
        return check_work(case, traces, measured.stdout, case.args.source)
    plain = case.run(False)
    if (plain.returncode, sorted(plain.stdout.splitlines())) != (0, sorted(measured.stdout.splitlines())):
        sys.exit(f"output differs:\n{plain.stdout}\n---\n{measured.stdout}")
    if "wrong" in measured.stdout or "deep: 0" not in measured.stdout and case.args.mode == "disturb":
        sys.exit(measured.stdout)
    for line in ("signals while all are blocked: 0", "ended early: 0", "otherwise: 0"):
        if case.args.mode == "disturb" and line not in measured.stdout:
            sys.exit(f"missing: {line}\n{measured.stdout}")


if __name__ == "__main__":
    main()
