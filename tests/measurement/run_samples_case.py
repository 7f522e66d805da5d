#!/usr/bin/env python3
"""Samples of what a program computes (ELG_SAMPLE), held against the program's own processor times.

work: as many samples lie in relax() and in smooth() as the program says that it used intervals there, at the lines that
the source marks, and the report names relax() as what made the others wait, with no region instrumented.
disturb, cancel, signals: the program's output and exit status are the same with and without; the signals of the process
reach the thread that they reach without, and what has no samples for want of stack is said.
leaps: of the samples that a program sends itself as many are there as it sent.
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
# Where others want the processor it may have had none for most of it.
LATE = r"rank 1 (?:computes \S+ s longer|had no processor for \S+ s(?: of \S+ s)?)"


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
                and re.search(r"[!/#]\W*in ", line))


def check_work(case, traces, stdout, source):
    tools = pathlib.Path(case.args.bin)
    trace, report = case.work / "a.elg", case.work / "a.cube"
    run(tools / "elg_merge", "-o", trace, traces)
    text = run(tools / "expert", "--full", "-o", report, trace)
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
        # Debian 13's libm has no names of its inner functions.
        if not re.search(LATE + r" in (relax|\S*exp\S*|libm\S*), ", words):
            sys.exit(f"the terminal names no function:\n{text}")
        return
    causes = json.loads(run(tools / "expert", "-q", "--causes", "-o", report, "--json", "-", trace))["root_causes"]["causes"]
    first = causes[0]["sampled"][0]
    if not re.fullmatch(r"(.*\W)?relax", first["function"]) or first["line"] != line_of(source, "relax"):
        sys.exit(f"the first cause is {causes[0]['words']}: {first}")
    place = f"{pathlib.Path(source).name}:{first['line']}"
    if not re.search(LATE + rf" in \S*relax \({re.escape(place)}\)", words):
        sys.exit(f"the terminal does not name relax at {place}:\n{text}")


def analysed(case, traces):
    trace, report = case.work / "a.elg", case.work / "a.cube"
    run(pathlib.Path(case.args.bin) / "elg_merge", "-q", "-o", trace, traces)
    run(pathlib.Path(case.args.bin) / "expert", "-q", "-o", report, trace)
    return report


def check_signals(case, traces, measured):
    said = [line for line in measured.stderr.splitlines() if line.startswith("kojak: ")]
    if len(said) != 2 or not any("alternate signal stack of less than" in line for line in said) or not any(
            "threads with a stack of less than 65536 bytes" in line for line in said):
        sys.exit(f"what has no samples is not said once:\n{measured.stderr}")
    for signal, count in re.findall(r"signal (\d+) in another thread: (\d+)", measured.stdout):
        if int(count) > 5:  # of 50; one or two come to another thread without samples, too
            sys.exit(f"signal {signal} came to another thread {count} times")
    found = samples_of(analysed(case, traces), "after_all")
    times = re.findall(r"rank (\d+) after_all (\S+)", measured.stderr)
    threads = len(found) // case.args.ranks
    for rank, seconds in times:
        if 0.001 * found.get(threads * int(rank), 0) < 0.3 * float(seconds):
            sys.exit(f"rank {rank} used {seconds} s in after_all, its samples of a millisecond are {found}")
    if len(times) != case.args.ranks:
        sys.exit(measured.stderr)


def check_leaps(case, traces, measured):
    if sorted(measured.stdout.split("\n")) != sorted(
            ["", *(f"rank {rank} counted 711 many 5000" for rank in range(case.args.ranks))]):
        sys.exit(measured.stdout)
    report = analysed(case, traces)
    counted, many = samples_of(report, "counted"), samples_of(report, "many")
    ranks = range(case.args.ranks)
    if any((counted.get(rank), many.get(rank)) != (711, 5000) for rank in ranks):
        sys.exit(f"not 711 and 5000 samples: {counted} {many}")


def main():
    options = parser()
    options.add_argument("--bin", required=True)
    options.add_argument("--source", required=True)
    options.add_argument("--mode", default="work", choices=("work", "disturb", "cancel", "signals", "leaps"))
    options.add_argument("--stripped", action="store_true", help="the program has names but no lines")
    case = Case(options.parse_args())
    case.args.arguments = [case.args.source if case.args.source.endswith(".py") else case.args.mode]
    traces = case.work / "traces"
    interval = {"work": "10ms", "leaps": "10s"}.get(case.args.mode, "1ms")
    measured = case.run(True, {"ELG_DIR": traces, "ELG_SAMPLE": interval})
    said = measured.stderr.splitlines()
    if case.args.mode == "signals":
        said = []
    if case.args.mode == "cancel":
        said = [line for line in said if "ended threads" not in line]
        if len(measured.stderr.splitlines()) != 1:
            sys.exit(f"that samples ended is not said once:\n{measured.stderr}")
    if measured.returncode != 0 or said:
        sys.exit(f"status {measured.returncode}\n{measured.stdout}{measured.stderr}")
    if case.args.mode == "work":
        return check_work(case, traces, measured.stdout, case.args.source)
    if case.args.mode == "leaps":
        return check_leaps(case, traces, measured)
    if case.args.mode == "signals":
        check_signals(case, traces, measured)
    plain = case.run(False)

    def lines(text):
        return sorted(line for line in text.splitlines() if "in another thread" not in line)
    if (plain.returncode, lines(plain.stdout)) != (0, lines(measured.stdout)):
        sys.exit(f"output differs:\n{plain.stdout}\n---\n{measured.stdout}")
    if case.args.mode == "signals" and measured.stdout.count(", 0 bytes beside it changed") != 4 * case.args.ranks:
        sys.exit(measured.stdout)
    if "wrong" in measured.stdout or "deep: 0" not in measured.stdout and case.args.mode == "disturb":
        sys.exit(measured.stdout)
    for line in ("signals while all are blocked: 0", "ended early: 0", "otherwise: 0"):
        if case.args.mode == "disturb" and line not in measured.stdout:
            sys.exit(f"missing: {line}\n{measured.stdout}")


if __name__ == "__main__":
    main()
