#!/usr/bin/env python3
"""A control group that may use half a processor: what the report says of it, held against the group's own counts."""
import json
import os
import pathlib
import sys

from run_trace_case import Case, parser

SKIPPED = 77
QUOTA, PERIOD = 50000, 100000


def make_group():
    """A group with the limit; None where that is not allowed."""
    name = f"kojak_test_{os.getpid()}"
    for mounted, files in (("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": PERIOD, "cpu.cfs_quota_us": QUOTA}),
                           ("/sys/fs/cgroup", {"cpu.max": f"{QUOTA} {PERIOD}"})):
        group = pathlib.Path(mounted) / name
        made = False
        try:
            group.mkdir()
            made = True
            for file, value in files.items():
                if not (group / file).exists():
                    raise OSError(f"{file} is not there")
                (group / file).write_text(str(value))
            return group
        except OSError as error:
            print(f"{group}: {error}")
            if made:
                group.rmdir()
    return None


def counts(group):
    numbers = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    seconds = int(numbers["throttled_usec"]) * 1e-6 if "throttled_usec" in numbers else int(numbers["throttled_time"]) * 1e-9
    return int(numbers["nr_throttled"]), seconds


def limited_run(case, group, number):
    """The program's run in that group; its traces."""
    case.wrapper = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
    traces = case.work / f"traces{number}"
    case.measured(traces)
    words = case.analyse(traces, "--full", "--json", case.work / "a.json")
    return words, json.loads((case.work / "a.json").read_text())["processors"]["limits"]


def main():
    options = parser()
    options.add_argument("--bin", required=True)
    case = Case(options.parse_args())
    group = make_group()
    if group is None:
        sys.exit(SKIPPED)
    try:
        # Where others take the processors the group may get less than it may have: then nobody stops it.
        for number in range(10):
            before = counts(group)
            words, limits = limited_run(case, group, number)
            stops, stopped = (after - earlier for after, earlier in zip(counts(group), before))
            if limits:
                break
    finally:
        group.rmdir()
    if len(limits) != 1 or limits[0]["group"] != f"/{group.name}" or limits[0]["processors"] != QUOTA / PERIOD:
        sys.exit(f"the report says of the limit: {limits}")
    # The launcher's processes ran before the measurement began and after it ended.
    if not (0 < limits[0]["stops"] <= stops and 0 < limits[0]["stopped"] <= stopped + 1e-5):
        sys.exit(f"the group was stopped {stops} times, {stopped} s; the report says {limits[0]}")
    if f"allows 0.5 processors and stopped its processes {limits[0]['stops']} time" not in words:
        sys.exit(f"the terminal does not say what the limit did:\n{words}")


main()
