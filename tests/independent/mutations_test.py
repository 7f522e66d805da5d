#!/usr/bin/env python3
"""Proves that the comparison notices: mutations_test.py FOLDER, of traces (text) and reports that agree.

For each metric of the reports one value is changed by a little more than the tolerance, one is taken away, and one is
invented; each change must be named. Times of events are moved; the trace must then disagree with its report. And
every pattern must occur somewhere, or nothing is compared of it.
"""
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent.compare import NOT_COMPARED, TOLERANCE, differences  # noqa: E402
from independent.cube import Cube  # noqa: E402
from independent.functions import METRICS, PATTERNS  # noqa: E402

MOVED = 20


def named(metric, text, cube):
    return any(line.startswith(metric + " at ") for line in differences(text, cube))


def change_values(runs):
    """The metrics whose values were changed, all metrics, and what was not noticed."""
    tried, seen, wrong = set(), set(), []
    for text, path in runs:
        cube = Cube(path)
        seen |= set(cube.parent)
        for metric in cube.parent:
            if metric not in METRICS or metric in tried or not cube.values[metric]:
                continue
            if metric in NOT_COMPARED:
                continue
            tried.add(metric)
            values = cube.values[metric]
            key = next(iter(values))
            unit = TOLERANCE * 2 if cube.unit[metric] == "sec" else 1
            original = values[key]
            for changed in (original + unit, original - unit, 0):
                values[key] = changed
                if abs(changed - original) > TOLERANCE and not named(metric, text, cube):
                    wrong.append(f"{metric}: {original} changed to {changed} is not noticed")
            values[key] = original
            elsewhere = (key[0] + (("nowhere", None),), key[1])
            values[elsewhere] = unit
            if not named(metric, text, cube):
                wrong.append(f"{metric}: an invented value is not noticed")
            del values[elsewhere]
    return tried, seen, wrong


def move_events(runs):
    """Moves the time of one event by half the way to its neighbours of the same process, in MOVED traces."""
    wrong, moved = [], 0
    for text, path in runs:
        if moved == MOVED:
            break
        lines = text.split("\n")
        enters = [i for i, line in enumerate(lines) if line.startswith("ENTER")]
        random.Random(7).shuffle(enters)
        for i in enters:
            location, time = re.search(r" lid=(\d+) time=(\S+)", lines[i]).groups()
            later = [re.search(r" time=(\S+)", line).group(1) for line in lines[i + 1:]
                     if f" lid={location} time=" in line]
            gap = float(later[0]) - float(time) if later else 0
            if gap < 1e-4:
                continue
            lines[i] = lines[i].replace(f"time={time}", f"time={float(time) + gap / 2:.17g}", 1)
            moved += 1
            if not differences("\n".join(lines), Cube(path)):
                wrong.append(f"{path}: {lines[i]} was moved there, which is not noticed")
            break
    return moved, wrong


def main():
    folder = pathlib.Path(sys.argv[1])
    runs = [(path.with_suffix(".txt").read_text(errors="surrogateescape"), path) for path in
            sorted(folder.glob("*.cube"), key=lambda path: path.stat().st_size)]
    tried, seen, wrong = change_values(runs)
    moved, more = move_events(runs[len(runs) // 2:])
    wrong += more
    patterns = (seen & PATTERNS) - set(NOT_COMPARED)
    wrong += [f"{metric} occurs in no trace" for metric in sorted(patterns - tried)]
    if moved < MOVED:
        wrong.append(f"only {moved} traces had an event that could be moved")
    print("\n".join(wrong + [f"{len(tried)} metrics changed, {moved} events moved, {len(wrong)} not noticed"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
