#!/usr/bin/env python3
"""Numbers of requests and one-sided operations have 32 bits and begin again: a run in which they do so is merged and
analysed as one in which they do not."""

import json
import re
import sys

from check_runs import checked
from run_trace_case import Case, parser

LAST = 0xFFFFFFFE  # the next one says "none"
BEFORE = 3  # so many numbers are left


def findings(case, first):
    """What the trace of a run says of itself, and the numbers in it."""
    traces = case.work / f"traces.{first}"
    run = case.run(True, {"ELG_DIR": traces, "ELG_TEST_IDS": str(first), "KOJAK_EXPECT": case.work})
    if run.returncode != 0 or run.stderr:
        sys.exit(f"status {run.returncode} from number {first} on\n{run.stderr}")
    merged, report = case.work / f"{first}.elg", case.work / f"{first}.json"
    bin = case.args.bin
    checked([f"{bin}/elg_merge", "-o", merged, traces], (0, 3))
    checked([f"{bin}/elg_print", "--verify", merged])
    checked([f"{bin}/expert", "-o", case.work / "a.cube", "--json", report, merged], (0, 3))
    text = checked([f"{bin}/elg_print", merged]).stdout
    numbers = {int(n) for n in re.findall(r"\b(?:reqid|rmaid)=(\d+)", text)}
    found = json.loads(report.read_text())
    counts = {m["name"]: m["total"] for m in found["metrics"] if m["unit"] == "bytes"}
    suspect = sorted((f["what"], f["count"]) for f in found["findings"] if f["severity"] == "suspect")
    return numbers, suspect, counts


def main():
    arguments = parser()
    arguments.add_argument("--bin", required=True)
    case = Case(arguments.parse_args())
    plain = findings(case, 0)
    again = findings(case, LAST + 1 - BEFORE)
    if len(plain[0]) <= 2 * BEFORE:
        sys.exit(f"the program has {len(plain[0])} numbers only")
    if not {LAST, 0} <= again[0] or LAST + 1 in again[0]:
        sys.exit(f"numbers do not go on at 0 behind {LAST}: {sorted(again[0])[:5]} ... {sorted(again[0])[-5:]}")
    if plain[1:] != again[1:]:
        sys.exit(f"{plain[1:]}\nis not\n{again[1:]}")


if __name__ == "__main__":
    main()
