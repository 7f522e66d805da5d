#!/usr/bin/env python3
"""Runs loops that read a value until it changes (programs/values.c) and compares what stands in their traces with what
the program counted itself: reads, joined or not, and what was found, in each of ELG_POLLS=join and off (--mode)."""

import subprocess
import sys

from run_polls_case import case_of_mode, printed, stages, value
from run_trace_case import listing

READ, SWAP, SYNC, LONG, FOUND = 4, 5, 6, 8, 1  # kinds of members (LONG: no other poll); an end
JOINED = ("get", "fetch", "local", "accumulate", "by_request", "with_request", "sum", "bits", "same", "both", "freed",
          "swap", "replace", "alone")
KEEP = ("sum", "bits", "same")  # leave what is there: gets, where somebody looks
GET, GET_AND_PUT = 2, 3  # kinds of operations
FIRST_BYTE = 12  # the third int


def check(name, stage, reads, finds, found, join):
    swaps = name in ("swap", "replace")
    kind = GET_AND_PUT if swaps or (name in KEEP and not join) else GET
    lines = "\n".join(line for _, line in stage.lines[:40])
    joined = [line for n, line in stage.lines if n in ("MPI_POLL", "MPI_POLL_CALL") and value(line, "kind") != LONG]
    in_series = sum(value(line, "polls" if line.startswith("MPI_POLL_CALL") else "count") for line in joined)
    small = {value(line, "rmaid") for n, line in stage.lines if n == "MPI_RMA_PLACE" and value(line, "kind") == kind}
    if any(value(line, "kind") != (SWAP if swaps else READ) for line in joined):
        sys.exit(f"{name}: polls of another kind\n{lines}")
    if in_series + len(small) != reads:
        sys.exit(f"{name}: {reads} reads, {in_series} in series and {len(small)} alone\n{lines}")
    calls = {value(line, "rmaid") for n, line in stage.lines if n == "MPI_RMA_CALL" and value(line, "kind") == kind}
    if not small <= calls:
        sys.exit(f"{name}: places without their operations\n{lines}")
    if name == "between" and stage.count("MPI_WIN_FLUSH") != reads:
        sys.exit(f"{name}: {reads} reads, {stage.count('MPI_WIN_FLUSH')} calls that complete them\n{lines}")
    values = [line for n, line in stage.lines if n == "MPI_VALUE"]
    if not join or name not in JOINED:
        if joined or values:
            sys.exit(f"{name}: joined\n{lines}")
        return
    if reads > 1000 and in_series < reads / 2:
        sys.exit(f"{name}: {reads} reads, {in_series} of them in series\n{lines}")
    if name == "alone" and reads > 2 and in_series != reads - 2:  # the first one, and the one that finds
        sys.exit(f"{name}: {reads} reads, each under a lock, {in_series} in series\n{lines}")
    if not in_series:
        return
    low = [int(value(line, "value")) & 0xFFFFFFFF for line in values]  # the first four bytes
    if low != [found] * finds:
        sys.exit(f"{name}: found {found}, the trace has {values}\n{lines}")
    if value(stage.series[-1], "end") != FOUND or any(value(line, "value") != swaps for line in joined):
        sys.exit(f"{name}: {stage.series}")


def check_idle(name, stage, syncs, join):
    """The first one stands alone, and those behind it are a series that finds nothing."""
    alone = stage.count("MPI_WIN_SYNC" if name == "idle_sync" else "MPI_WIN_FLUSH")
    wanted = [syncs - 1] if join else []
    counts = [value(line, "count") for line in stage.series]
    if alone != (1 if join else syncs) or sum(counts) != sum(wanted):
        sys.exit(f"{name}: {syncs} calls, {alone} alone, series of {counts}")
    if any(value(line, "kind") != SYNC or value(line, "end") == FOUND for line in stage.series):
        sys.exit(f"{name}: {stage.series}")


def main():
    case = case_of_mode()
    directory = case.work / "traces"
    mode = case.args.mode
    done = case.run(True, {"ELG_DIR": directory, "ELG_POLLS": mode, "KOJAK_EXPECT": case.work / "expected"})
    if done.returncode != 0 or "kojak: " in done.stderr or "".join(done.stdout.split()) != "readread":
        sys.exit(f"{done}")
    listing(case.args.tool, directory)  # verifies
    # Between two barriers is a stage; before the first one are the window and its epoch.
    found = stages(printed(case, directory / "0.0.elg"))
    expected = [line.split() for line in (case.work / "expected" / "0").read_text().splitlines()]
    timed = [s for s in found if any(n in ("MPI_RMA_CALL", "MPI_POLL_CALL") for n, _ in s.lines) or
             s.count("MPI_WIN_SYNC") + s.count("MPI_WIN_FLUSH") > 100]
    for (name, *numbers), stage in zip(expected, timed, strict=True):
        if name.startswith("idle"):
            check_idle(name, stage, int(numbers[0]), mode == "join")
            continue
        check(name, stage, *map(int, numbers), mode == "join")
    merged = case.work / "a.elg"
    for command in (["elg_merge", "-q", "-o", merged, directory], ["elg_print", "--verify", merged]):
        ended = subprocess.run([case.args.bin / command[0], *command[1:]], capture_output=True, text=True, timeout=100)
        if ended.returncode != 0:
            sys.exit(f"{command[0]} ended with {ended.returncode}\n{ended.stderr}{ended.stdout}")
    places = [line for name, line in printed(case, merged) if name == "MPI_RMA_PLACE"]
    at = {value(line, "disp") for line in places}
    if not at or FIRST_BYTE not in at or None in at or any(byte % 4 for byte in at):
        sys.exit(f"places {at}")
    polls = [line for name, line in printed(case, merged) if name == "MPI_POLL" and value(line, "kind") != SYNC]
    # A long call with nothing to complete has no place.
    members = {value(line, "disp") for line in polls if value(line, "kind") != LONG or value(line, "bytes") != 0}
    if not members <= {8, FIRST_BYTE}:
        sys.exit(f"members read {members}")


if __name__ == "__main__":
    main()
