#!/usr/bin/env python3
"""Runs loops that poll (programs/polls.c) and compares what stands in their traces with what the program counted itself:
calls that found nothing, and those that did, what its sleeps asked for, in each of ELG_POLLS=join, all and off.

  --mode join, all, off    all stages with one thread
         threads           loops of several threads, one of which is cancelled in its sleep
         own               a program that defines such functions itself (programs/polls_own.c)
         kill              the process is killed in its loop: what it polled so far is kept
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from run_trace_case import Case, listing, parser

KINDS = {"iprobe": 2, "iprobe_any": 2, "improbe": 2, "win_test": 3}
WAITS, WORKS = 1, 3
FOUND, PROCESS_ENDED = 1, 6


def printed(case, path):
    done = subprocess.run([case.args.bin / "elg_print", path], capture_output=True, text=True, timeout=100)
    if done.returncode not in (0, 3):
        sys.exit(f"{path}: {done.stderr}")
    return [(line.split(" ", 1)[0], line) for line in done.stdout.splitlines()]


def value(line, key):
    found = re.search(rf"\b{key}=(\S+)", line)
    return float(found[1]) if found and found[1] not in ("absent", "-") else None


class Stage:
    def __init__(self):
        self.series, self.members, self.lines = [], [], []

    def add(self, name, line):
        self.lines.append((name, line))
        if name == "MPI_POLL":
            self.members.append(line)
        elif name == "MPI_POLL_CALL":
            counts = [value(m, "count") for m in self.members] + [value(line, "polls")]
            if sum(counts) != value(line, "count") or len(counts) != value(line, "members"):
                sys.exit(f"{line}\nhas members with {counts}")
            spent = sum(value(line, key) for key in ("called", "paused", "rest"))
            length = value(line, "exit") - value(line, "time")
            if spent > length + 2e-9 * value(line, "count") + 1e-9 or value(line, "asleep") > value(line, "paused") + 1e-9:
                sys.exit(f"{line}\nlasts {length} s and has {spent} s in it")
            self.series.append(line)
            self.members = []

    def sum(self, key):
        return sum(value(line, key) for line in self.series)

    def count(self, name):
        return sum(n == name for n, _ in self.lines)


def stages(records):
    """Between barriers, which are the only collective calls."""
    current = Stage()
    found = [current]
    for name, line in records:
        current.add(name, line)
        if name == "MPI_COLLEXIT":
            current = Stage()
            found.append(current)
    return found[1:]


def expected_of(case):
    for line in (case.work / "expected" / "0").read_text().splitlines():
        name, *numbers = line.split()
        yield name, [int(number) for number in numbers]


def check_joined(name, stage, failed, found, pauses, asked):
    where = f"{name}: {failed} polls, {found} finds, {pauses} pauses, {asked} ns asked for"
    series = "\n".join(stage.series)
    if stage.sum("count") != failed:
        sys.exit(f"{where}; the trace has {stage.sum('count')}\n{series}")
    if failed > 1000 and len(stage.series) > failed / 20:
        sys.exit(f"{where}, in {len(stage.series)} series")
    kinds = {value(line, "kind") for line in stage.series}
    if name != "handler" and kinds - {KINDS.get(name, 1)}:
        sys.exit(f"{where}: kinds {kinds}")
    ends = sum(value(line, "end") == FOUND for line in stage.series)
    if ends > found or (failed != 0 and found == 1 and name != "many" and ends != 1):
        sys.exit(f"{where}, and {ends} series end with one\n{series}")
    if name == "iprobe" and failed != 0 and stage.count("MPI_PROBED") != 1:
        sys.exit(f"{where}: MPI_PROBED is not there")
    if name == "in_turn" and failed > 100 and max(value(line, "members") for line in stage.series) != 2:
        sys.exit(f"{where}\n{series}")
    if name == "many" and failed > 1000 and max(value(line, "members") for line in stage.series) not in (64, 65):
        sys.exit(f"{where}\n{series}")
    if name == "works" and failed > 1 and any(value(line, "judged") == WAITS for line in stage.series):
        sys.exit(f"{where}\n{series}")
    asleep, paused = stage.sum("asleep"), stage.sum("paused")
    # The last pause lies before the find, and in no round of polls.
    least, most = 1e-9 * asked - 1e-4, 1e-9 * asked + 1.2e-4 * pauses
    if name in ("pauses", "own") and not least <= asleep <= most:
        sys.exit(f"{where}: asleep {asleep} s, not {least} to {most}\n{series}")
    if pauses == 0 and name not in ("handler", "jump", "cancelled") and paused != 0:
        sys.exit(f"{where}: paused {paused} s")
    # Twenty sleeps of 5 ms at most, the last one outside; what a handler interrupts is not known, or cut short.
    if name == "jump" and paused > 0.001:
        sys.exit(f"{where}: paused {paused} s, though no sleep came to its end")


def check_single(name, stage, failed, found, pauses, asked):
    if stage.series or stage.members:
        sys.exit(f"{name}: joined\n{stage.series}")
    singles = stage.count("MPI_TEST_CALL") + stage.count("MPI_CALL")
    if singles < failed:
        sys.exit(f"{name}: {failed} polls, {singles} calls in the trace")


def check_merged(case, directory):
    """All polls of rank 0 are in the merged trace, which is well-formed."""
    merged = case.work / "a.elg"
    for command in (["elg_merge", "-q", "-o", merged, directory], ["elg_print", "--verify", merged]):
        done = subprocess.run([case.args.bin / command[0], *command[1:]], capture_output=True, text=True, timeout=100)
        if done.returncode != 0:
            sys.exit(f"{command[0]} ended with {done.returncode}\n{done.stderr}{done.stdout}")
    count = sum(value(line, "count") for name, line in printed(case, merged) if name == "MPI_POLLED" and value(line, "lid") == 0)
    failed = sum(numbers[0] for _, numbers in expected_of(case))
    if count != failed:
        sys.exit(f"{failed} polls, the merged trace has {count}")


def kill(case):
    directory = case.work / "traces"
    process = case.start({"ELG_DIR": directory, "ELG_POLLS": "join", "KOJAK_EXPECT": case.work / "expected"}, ())
    line = ""
    for _ in range(1000):
        time.sleep(0.05)
        notes = case.work / "expected" / "0"
        line = notes.read_text() if notes.exists() else ""
        if line.endswith("\n"):
            break
    for child in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if str(case.work / "expected").encode() in (child / "environ").read_bytes() and \
                    (child / "comm").read_text().strip().startswith("polls"):
                os.kill(int(child.name), signal.SIGKILL)
        except (OSError, ValueError):
            pass
    process.communicate(timeout=60)
    for _ in range(200):  # who keeps the records may take its time
        saved = directory / "0.0.buf"
        if saved.exists() and saved.stat().st_size > 4096:
            break
        time.sleep(0.05)
    last = [line for name, line in printed(case, directory / "0.0.elg") if name == "MPI_POLL_CALL"]
    failed = int(line.split()[1])
    if not last or value(last[-1], "end") != PROCESS_ENDED or sum(value(line, "count") for line in last) < failed / 2:
        sys.exit(f"{failed} polls before it was killed; the trace has\n" + "\n".join(last))


def case_of_mode():
    """With --bin, --mode and a folder in which the program notes what it does."""
    options = parser()
    options.add_argument("--bin", required=True, type=pathlib.Path)
    options.add_argument("--mode", required=True)
    case = Case(options.parse_args())
    (case.work / "expected").mkdir()
    return case


def main():
    case = case_of_mode()
    mode = case.args.mode
    case.args.arguments = [mode if mode in ("threads", "kill") else "all"]  # polls_own has none
    if mode == "kill":
        return kill(case)
    directory = case.work / "traces"
    polls = mode if mode in ("all", "off") else "join"
    done = case.run(True, {"ELG_DIR": directory, "ELG_POLLS": polls, "KOJAK_EXPECT": case.work / "expected"})
    if done.returncode != 0 or "kojak: " in done.stderr:
        sys.exit(f"{done}")
    listing(case.args.tool, directory)  # verifies
    files = sorted(directory.glob("0.*.elg"))
    if mode == "threads":
        expected = dict(expected_of(case))
        joined = sum(value(line, "count") for file in files for name, line in printed(case, file) if name == "MPI_POLL_CALL")
        failed = sum(numbers[0] for numbers in expected.values())
        if joined != failed:
            sys.exit(f"{failed} polls, the traces have {joined}")
        return None
    found = stages(printed(case, directory / "0.0.elg"))
    for (name, numbers), stage in zip(expected_of(case), found):
        (check_joined if polls == "join" else check_single)(name, stage, *numbers)
    if polls == "join":
        check_merged(case, directory)
    return None


if __name__ == "__main__":
    main()
