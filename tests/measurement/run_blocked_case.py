#!/usr/bin/env python3
"""Why a late process was late: it sleeps, waits for files, computes or has no processor, in words and numbers.

The numbers are held against what the program read of the kernel itself (programs/blocked.c). The readings of the library
lie around its own, with a send or a receive between; so each part may differ by a few milliseconds.
"""

import json
import re
import sys

from run_trace_case import Case, parser

WITHIN = 0.03  # of a second, in 0.45
WORDS = {
    "sleep": r"rank 1 is blocked 0\.\d+ s(?: of 0\.\d+ s)? \(sleeps\)",
    "wait": r"rank 1 is blocked 0\.\d+ s(?: of 0\.\d+ s)?(?! \()",
    "files": r"rank 1 is blocked 0\.\d+ s(?: of 0\.\d+ s)? \(reads or writes files\)",
    "spin": r"rank 1 computes 0\.\d+ s",
    "share": r"rank 1 had no processor for 0\.\d+ s of 0\.\d+ s",
}
PARTS = ("ran", "blocked", "no_processor")


def main():
    options = parser()
    options.add_argument("--bin", required=True)
    case = Case(options.parse_args())
    how = case.args.arguments[0]
    traces = case.work / "traces"
    done = case.measured(traces, ELG_CALLSITES="path:4", KOJAK_FILE=case.work / "file")
    length, ran, without = (float(n) for n in re.search(r"late (\S+) ran (\S+) without (\S+)", done.stdout).groups())
    words = case.analyse(traces, "--causes=always", "--full", "--json", case.work / "a.json")
    found = json.loads((case.work / "a.json").read_text())
    causes = [c for c in found["root_causes"]["causes"] if found["threads"][c["thread"]]["rank"] == 1 and "ran" in c]
    if not causes:
        sys.exit(f"rank 1 is no cause\n{words}")
    late = max(causes, key=lambda c: c["longer"])
    if abs(sum(late[part] for part in PARTS) - late["longer"]) > 1e-6:
        sys.exit(f"the parts are not what it took longer: {late}")
    own = {"ran": ran, "blocked": max(length - ran - without, 0), "no_processor": without}
    most = max(own, key=own.get)
    # On a machine that others use it may have had no processor where it would have computed: the words follow.
    wanted = {"spin": "ran", "share": "no_processor"}.get(how, "blocked")
    if how == "files" and most != wanted:
        print(f"SKIP: nothing waits for this file: {own}")
        sys.exit(77)
    for part in PARTS:
        if abs(late[part] - own[part]) > WITHIN + 0.1 * own[part]:
            sys.exit(f"{part}: the program says {own[part]} s, the report {late[part]} s\n{late}\n{own}\n{words}")
    said = WORDS[how] if most == wanted else WORDS[{"ran": "spin", "no_processor": "share", "blocked": "wait"}[most]]
    if own[most] > 1.2 * sorted(own.values())[-2] and not re.search(said, words):
        sys.exit(f"nothing says {said}:\n{words}")
    bar = found["bar"]
    for part, key in (("blocked", "blocked"), ("no_processor", "no_processor")):
        if bar[key] < own[part] - WITHIN - 0.1 * own[part]:
            sys.exit(f"the bar has {bar[key]} s of {key}, rank 1 alone {own[part]}\n{bar}")


main()
