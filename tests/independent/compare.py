#!/usr/bin/env python3
"""Compares reports of expert with the independent analysis of their traces, to a microsecond.

compare.py --print-tool ELG_PRINT TRACE REPORT [TRACE REPORT ...]
compare.py --folder FOLDER      pairs NAME.txt (a trace as text) and NAME.cube
Exit status: 0 all agree, 1 some do not, 2 unusable input.
"""
import argparse
import gc
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent.analysis import analyse  # noqa: E402
from independent.cube import Cube, cross_checks, key_of  # noqa: E402
from independent.functions import METRICS, TIME_COUNTERS  # noqa: E402
from independent.trace import Trace  # noqa: E402

TOLERANCE = 1e-6
# What this analysis computes, and what is nevertheless not compared: metric -> why. Today that is nothing. Each run
# prints it, and the metrics of the reports that this analysis does not compute.
NOT_COMPARED = {}


def not_compared(cube, trace):
    """The metrics of a report that are not compared: name -> why."""
    counters = {trace.strings[row["metnid"]] for row in trace.definitions.get("METRIC", [])}
    counters |= {name + "_waiting" for name in counters & TIME_COUNTERS}
    found = {name: why for name, why in NOT_COMPARED.items() if name in cube.parent}
    for metric in cube.parent:
        if metric not in METRICS and metric not in counters:
            found[metric] = "there is no independent analysis of it"
    return found


def text_of(trace, tool):
    if str(trace).endswith(".txt"):
        return pathlib.Path(trace).read_text(errors="surrogateescape")
    done = subprocess.run([str(tool), "-q", str(trace)], capture_output=True, check=False)
    if done.returncode not in (0, 3):
        raise ValueError(f"elg_print {trace}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode(errors="surrogateescape")


def shown(path):
    return " / ".join(name + (f" [{place[0]}:{place[1]}]" if place else "") for name, place in path)


def differences(text, cube, named=None):
    """What differs between a report and the analysis of its trace, as text; `named` gets what was not compared."""
    gc.disable()  # an event is an object: looking for garbage among millions of them takes a third of the time
    try:
        return _differences(text, cube, named)
    finally:
        gc.enable()


def ended_calls(trace):
    """The calls that processes stood in when they were ended: (path, location) -> how long."""
    ended = {}
    for event in trace.events:
        if event.kind == "PROCESS_ENDED" and event.call is not None:
            key = key_of(event.call.path), (trace.process_of[event.lid], trace.thread_of[event.lid])
            ended[key] = event.call.exit - event.call.enter
    return ended


def _differences(text, cube, named):
    trace = Trace(text.split("\n"))
    # For whom such a call waits is told by notes, which this analysis does not read: up to its whole time is a wait there,
    # and no longer unexplained.
    ended = ended_calls(trace)
    more = dict.fromkeys(ended, 0)
    found = analyse(trace)
    entered = {trace.sites[caller]["erid"] for caller in trace.callers.values() if caller in trace.sites}
    cube.entered_with_calls({(trace.regions[d["rid"]].name, str(-1 if d["begln"] is None else d["begln"]))
                             for d in trace.definitions.get("REGION", []) if d["rid"] in entered})
    wrong = cross_checks(cube, TOLERANCE) + cube.twins
    left_out = not_compared(cube, trace)
    if named is not None:
        named.update(left_out)
    for metric in cube.parent:
        if metric in left_out:
            continue
        expected = {}
        for (path, location), value in found.get(metric, {}).items():
            key = key_of(path), (trace.process_of[location], trace.thread_of[location])
            expected[key] = expected.get(key, 0) + value
        reported = cube.values[metric]
        for key in sorted(set(expected) | set(reported), key=str):
            ours, theirs = expected.get(key, 0), reported.get(key, 0)
            if key in ended and metric in ("mpi_unexplained", "mpi_polling"):
                ours = min(ours, max(theirs, ours - ended[key]))
            elif key in ended and theirs > ours:
                more[key] += theirs - ours
                ours = theirs
            # What of a counter falls to waiting is a quotient of times that are rounded to 2^-40 s: 1e-7 of 10 us.
            if abs(ours - theirs) > TOLERANCE + (1e-7 * abs(ours) if metric.endswith("_waiting") else 0):
                (path, (rank, thread)) = key
                wrong.append(f"{metric} at {shown(path)}, rank {rank}, thread {thread}: "
                             f"independent {ours:.9g}, report {theirs:.9g}")
    for key, seconds in more.items():
        if seconds > ended[key] + TOLERANCE:
            wrong.append(f"waits of {seconds:.9g} s more in the last call at {shown(key[0])}, which lasts {ended[key]:.9g} s")
    return wrong


def check(trace, report, tool):
    """Raises AssertionError where a report and the independent analysis of its trace disagree."""
    wrong = differences(text_of(trace, tool), Cube(report))
    assert not wrong, "\n".join([f"{report}: the independent analysis of {trace} disagrees"] + wrong[:20])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print-tool", help="elg_print, for traces that are no text")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=20, help="how many differences of a trace are printed")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    pairs = list(zip(options.files[::2], options.files[1::2]))
    if options.folder:
        for report in sorted(options.folder.glob("*.cube")):
            text = report.with_suffix(".txt")
            pairs.append((text if text.exists() else report.with_suffix(".elg"), report))
    bad, left_out = 0, {}
    for trace, report in pairs:
        wrong = differences(text_of(trace, options.print_tool), Cube(report), left_out)
        if wrong:
            bad += 1
            print(f"{trace}:")
            for line in wrong[:options.lines]:
                print("  " + line)
            if len(wrong) > options.lines:
                print(f"  ... and {len(wrong) - options.lines} more")
    for metric, why in sorted(left_out.items()):
        print(f"not compared: {metric}: {why}")
    print(f"{len(pairs)} traces compared, {bad} disagree")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
