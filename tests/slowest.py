#!/usr/bin/env python3
"""Says what took most time of a build and its tests: from ninja's log and ctest's JUnit file.

usage: slowest.py NINJA_LOG [JUNIT_XML]

Times are by the clock. Ninja keeps no processor time; a step that had to share its core looks longer than it is.
"""
import pathlib
import sys
import xml.etree.ElementTree

MOST = 10


def steps(log):
    """[(seconds, name)] of the last run of each step; a step with several outputs counts once."""
    last = {}
    for line in log.read_text(errors="replace").splitlines():
        fields = line.split("\t")
        if len(fields) != 5:
            continue  # the heading
        begin, end, _, output, _ = fields
        last[output] = (int(begin), int(end))
    names = {}
    for output, when in last.items():
        names.setdefault(when, output)
    return [((end - begin) / 1000, name) for (begin, end), name in names.items()]


def tests(junit):
    """[(seconds, name)]"""
    return [(float(case.get("time", 0)), case.get("name"))
            for case in xml.etree.ElementTree.parse(junit).iter("testcase")]


def say(what, rows):
    print(f"{what}: {len(rows)}, {sum(seconds for seconds, _ in rows):.0f} s added up; the longest:")
    for seconds, name in sorted(rows, reverse=True)[:MOST]:
        print(f"  {seconds:7.1f} s  {name}")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.split("\n\n")[1])
    say("build steps", steps(pathlib.Path(sys.argv[1])))
    if len(sys.argv) == 3:
        say("tests", tests(pathlib.Path(sys.argv[2])))


main()
