#!/usr/bin/env python3
"""Two processes read a flag until a third one sets it (programs/flag_readers.c): it alone is who they waited for, and
not each other. How long is held against the program's own times: never longer than from the first read to the setting,
and at least half of that (the first reads count as calls of their own).
"""

import json
import re
import sys

from run_trace_case import Case, parser

METRIC = "mpi_rma_late_notification"
SETS = 2


def main():
    options = parser()
    options.add_argument("--bin", required=True)
    case = Case(options.parse_args())
    traces = case.work / "traces"
    done = case.measured(traces)
    set_at = [float(at) for at in re.findall(r"rank 2 set (\S+)", done.stdout)]
    waited = {0: 0.0, 1: 0.0}
    for rank in waited:
        reads = re.findall(rf"rank {rank} read (\S+) (\S+)", done.stdout)
        for at, (begin, _) in zip(set_at, reads, strict=True):
            waited[rank] += max(0, at - float(begin))
    words = case.analyse(traces, "--causes=always", "--json", case.work / "a.json")
    found = json.loads((case.work / "a.json").read_text())
    partners = [p for p in found["partners"] if p["metric"] == METRIC]
    who = {found["threads"][w["thread"]]["rank"] for p in partners for w in p["waited_for"]}
    seconds = sum(w["seconds"] for p in partners for w in p["waited_for"])
    print(f"they waited {waited}; in all {sum(waited.values())}, the report says {seconds}, for {who}")
    if who != {SETS}:
        sys.exit(f"they waited for {who}\n{words}")
    if not 0.5 * sum(waited.values()) <= seconds <= sum(waited.values()) + 1e-3:
        sys.exit(f"they waited {waited}, the report says {seconds}\n{words}")


main()
