#!/usr/bin/env python3
"""Runs late_threads.c by `kojak run`: the causes of its waiting against the program's own times.

check_causes.py --bin FOLDER --mpirun FILE --program FILE --folder FOLDER [--openmp]
The slow thread of the last process is the cause: it computes longer than its master by the difference of their own
times, summed over the phases, and its master waits for that. The waiting of the other process's master behind it adds to
its cost. It is no cause that its thread began with the first region. A busy machine may stop a thread, so a run that
is wrong is tried again.
"""
import json
import subprocess
import sys

import kojak_run

TRIES, TOLERANCE = 5, 0.02  # seconds


def run(options, attempt):
    folder = options.folder / str(attempt)
    program = kojak_run.run(options, folder)
    subprocess.run([options.bin / "expert", "--quiet", "--causes", "--json", "a.json", "-o", "b.cube", "."], cwd=folder / "run",
                   check=True)
    notes = {}
    for line in program.stdout.splitlines():
        if line.startswith("note "):
            where, rest = line[5:].split("|")
            phase, thread, begin, end = rest.split()
            notes[int(where), int(phase), int(thread)] = float(end) - float(begin)
    return notes, json.loads((folder / "run/a.json").read_text())


def faults_of(notes, report):
    phases = {phase for _, phase, _ in notes}
    longer = sum(notes[1, phase, 1] - notes[1, phase, 0] for phase in phases)
    if len(notes) != 2 * 2 * len(phases) or not longer > 0:
        raise SystemExit("the program noted too little")
    causes = report["root_causes"]["causes"]

    def who(cause):
        return tuple(report["threads"][cause["thread"]][key] for key in ("rank", "thread"))

    computes = [c for c in causes if who(c) == (1, 1) and c["kind"] == "computing"]
    found = sum(c["longer"] for c in computes)
    cost = sum(c["seconds"] for c in computes)
    print(f"computes longer: {longer:.4f} s, reported {found:.4f} s; the others wait {cost:.4f} s for it")
    faults = []
    if abs(found - longer) > TOLERANCE:
        faults.append(f"the slow thread computes {longer:.4f} s longer, reported are {found:.4f} s")
    # Its master waits for all of it, and the other process's for its master.
    if cost < longer - TOLERANCE:
        faults.append(f"{cost:.4f} s of waiting for {longer:.4f} s of computing")
    if not any(p["long_term"] > 0 for c in computes for p in c["patterns"]):
        faults.append("nobody is said to wait behind the master")
    if not causes or who(causes[0]) != (1, 1):
        faults.append(f"the first cause is another: {causes[:1]}")
    if any(c["kind"] == "before_recording" and who(c)[1] != 0 for c in causes):
        faults.append("that a thread began with its first region is said to be a cause")
    return faults


def main():
    options = kojak_run.parser(__doc__).parse_args()
    for attempt in range(TRIES):
        faults = faults_of(*run(options, attempt))
        if not faults:
            return 0
        print(f"attempt {attempt}:", *faults, sep="\n  ")
    return 1


if __name__ == "__main__":
    sys.exit(main())
