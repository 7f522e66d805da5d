#!/usr/bin/env python3
"""Reports of traces analysed whole and in slices are equal, byte for byte: CUBE and CSV, messages and exit status.

slices.py BUILD [--at LIST] [--least N] TRACE|FOLDER ...    a folder's traces are NAME.txt, as text; BUILD has
                                                            bin/expert and tests/text_trace

Each trace is cut at all meetings at rest, or at those of the list. Which were not cut, and why, is said. Exit status: 0
all are equal, and at least N were cut.
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

ALONE = "one process analyses all: "


def report_of(expert, trace, folder, *options):
    """(exit status, messages, CUBE, CSV)"""
    cube, csv = folder / "report.cube", folder / "report.csv"
    for file in cube, csv:
        file.unlink(missing_ok=True)
    done = subprocess.run([expert, "--quiet", "--causes=never", "--doc-url=pages", "-o", cube, "--csv", csv, *options, trace],
                          capture_output=True, check=False)
    return done.returncode, done.stderr.decode(errors="replace"), *(
        file.read_bytes() if file.exists() else None for file in (cube, csv))


def traces_of(names, tool, folder):
    for name in map(pathlib.Path, names):
        if not name.is_dir():
            yield name, name
            continue
        for text in sorted(name.glob("*.txt")):
            if "COLLEXIT" not in text.read_text(errors="replace"):
                continue
            trace = folder / "trace.elg"
            if subprocess.run([tool, text, trace], capture_output=True, check=False).returncode == 0:
                yield text, trace


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--at", default="all")
    parser.add_argument("--least", type=int, default=1)
    parser.add_argument("traces", nargs="+")
    arguments = parser.parse_args()
    expert = arguments.build / "bin" / "expert"
    why, cut, wrong = collections.Counter(), 0, []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, trace in traces_of(arguments.traces, arguments.build / "tests" / "text_trace", folder):
            sliced = report_of(expert, trace, folder, "--cut-at", arguments.at)
            if ALONE in sliced[1]:
                why[sliced[1].split(ALONE)[1].splitlines()[0]] += 1
                continue
            cut += 1
            if report_of(expert, trace, folder) != sliced:
                wrong.append(name)
    for name in wrong:
        print(f"{name}: the report of its slices is another one")
    for reason, count in why.most_common():
        print(f"{count} not cut: {reason}")
    print(f"{cut} cut, {len(wrong)} different")
    return 1 if wrong or cut < arguments.least else 0


if __name__ == "__main__":
    sys.exit(main())
