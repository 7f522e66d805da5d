#!/usr/bin/env python3
"""Whether processes had a processor: what a report says, held against what the program read of the kernel itself.

Four processes compute on one processor. Between the readings of the library that enclose a program's own two lie no
more than the barriers beside them, in which the processes share the processor, too: so the report may say more than the
program by what one barrier takes, and never less but for the few calls between the readings.
"""
import json
import re
import sys

from run_trace_case import Case, parser

# In the barriers beside the program's readings others run as well; of its own readings nothing may be missing.
LESS, MORE = 0.02, 0.5


def main():
    options = parser()
    options.add_argument("--bin", required=True)
    case = Case(options.parse_args())
    traces = case.work / "traces"
    done = case.measured(traces)
    words = case.analyse(traces, "--json", case.work / "a.json")
    found = json.loads((case.work / "a.json").read_text())
    if "unknown" in done.stdout:
        if not any("does not tell" in finding["what"] for finding in found["findings"]):
            sys.exit(f"nothing says that the kernel does not tell:\n{words}")
        return
    own = {int(r): (float(ran), float(without)) for r, ran, without in
           re.findall(r"rank (\d+) ran (\S+) without (\S+)", done.stdout)}
    if len(own) != case.args.ranks:
        sys.exit(f"unexpected output:\n{done.stdout}")
    threads = {found["threads"][t["thread"]]["rank"]: t for t in found["processors"]["threads"]}
    for rank, (ran, without) in own.items():
        thread = threads[rank]
        for what, here, there in (("ran", thread["ran"], ran), ("without", thread["without"], without)):
            if not there - LESS <= here <= there + MORE:
                sys.exit(f"rank {rank} {what}: the program says {there} s, the report {here} s\n{words}")
        if thread["ran"] + thread["without"] > thread["time"] + LESS:
            sys.exit(f"rank {rank}: more than its time: {thread}")
    if "apart" in case.args.arguments:
        return
    shared = found["processors"]["shared"]
    if [(s["processes"], s["count"]) for s in shared] != [(case.args.ranks, 1)]:
        sys.exit(f"{case.args.ranks} processes share one processor, and the report says {shared}")
    # Each could have at most a share of the time that all computed.
    if not all(without > 0.4 for _, without in own.values()):
        sys.exit(f"the program did not lack processors: {own}")
    if "Processors were missing" not in words or f"{case.args.ranks} processes on" not in words:
        sys.exit(f"the terminal does not warn:\n{words}")


main()
