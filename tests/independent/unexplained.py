"""Not explained: long calls, or what of them no pattern claims, less the usual duration of their function.

Claims that depend on evidence from the whole trace (whether progress needs calls of the target) are taken off the sum
of their call path and location, whatever the single calls lasted.
"""
from bisect import bisect_right

from independent.functions import LOOKED_AT
from independent.intervals import length

LONG, FEW = 1e-3, 10
# Steps of durations, ten to a decade from 1 ns on: the median is the upper end of the step that it is in.
STEPS = [10.0 ** (i % 10 / 10) * 10.0 ** (i // 10 - 9) for i in range(1, 162)]


def usual(durations):
    """The median of a function's calls, as coarse as the steps are; with few calls nobody knows it."""
    if len(durations) < FEW:
        return 0.0
    return STEPS[bisect_right(STEPS, sorted(durations)[(len(durations) - 1) // 2])]


def not_explained(trace, severities):
    """Adds mpi_unexplained of calls whose claims are all known."""
    durations = {}
    for call in trace.calls:
        if call.function is not None and call.function.role != "init" and not call.joined and not call.serves:
            durations.setdefault(call.function.name, []).append(length(call.exclusive()))
    median = {name: usual(all_of_it) for name, all_of_it in durations.items()}
    left = {}
    for call in trace.calls:
        if call.function is None or call.function.role == "init" or call.joined or call.serves:
            continue
        whole = length(call.exclusive())
        rest = whole - severities.claimed.get(call, 0)
        least = median[call.function.name] * (10 if call.function.role in LOOKED_AT else 1)
        if whole > LONG and rest > LONG and rest >= least * (1 - 1e-9):
            key = call.path, call.location
            left[key] = left.get(key, 0) + rest - median[call.function.name]
    for (path, location), value in left.items():
        value -= severities.claimed_late.get((path, location), 0)
        if value > 0:
            severities.add_at("mpi_unexplained", path, location, value)
