#!/usr/bin/env python3
"""Reports of runs analysed by one process and by several are equal, byte for byte: CUBE, CSV, JSON, what is printed,
exit status.

slices.py BUILD [--processes N,N] [--at LIST] [--least N] RUN ...
                                   RUN is a folder with local traces; BUILD has bin/expert

Each run is analysed by one process, by the numbers of processes given, and cut at the meetings of the list ("all":
those at rest). Which were not cut, and why, is said; they give the same report, too. Exit status: 0 all are equal, and
at least N were cut.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

ALONE = "expert: one process analyses all: "
FEWER = " processes analyse"


def report_of(expert, run, folder, *options):
    """(exit status, printed, messages, CUBE, CSV, JSON), and why it was not cut"""
    files = [folder / name for name in ("report.cube", "report.csv", "report.json")]
    for file in files:
        file.unlink(missing_ok=True)
    cube, csv, json = files
    done = subprocess.run([expert, "--full", "--instances=5", "--send-modes", "--causes=always", "--doc-url=pages", "-o", cube,
                           "--csv", csv, "--json", json, *options, run],
                          capture_output=True, check=False, env={**os.environ, "NO_COLOR": "1"})
    messages, why = [], None
    for line in done.stderr.decode(errors="replace").splitlines():
        if line.startswith(ALONE):
            why = line[len(ALONE):]
        elif not line.endswith(FEWER):
            messages.append(line)
    return (done.returncode, done.stdout, messages, *(file.read_bytes() if file.exists() else None for file in files)), why


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--at", default="all")
    parser.add_argument("--processes", default="")
    parser.add_argument("--least", type=int, default=1)
    parser.add_argument("runs", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    expert = arguments.build / "bin" / "expert"
    why, cut, wrong = collections.Counter(), 0, []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for run in arguments.runs:
            ways = ["--processes=" + n for n in arguments.processes.split(",") if n] + [f"--cut-at={arguments.at}"]
            whole, _ = report_of(expert, run, folder)
            if whole[0] not in (0, 3):
                wrong.append(f"{run}: one process ends with {whole[0]}: {whole[2]}")
            for way in ways:
                parts, alone = report_of(expert, run, folder, way)
                if parts != whole:
                    wrong.append(f"{run}: with {way} the report is another one: " + ", ".join(
                        what for what, a, b in zip(("status", "printed", "messages", "CUBE", "CSV", "JSON"), whole, parts) if a != b))
                if alone is None:
                    cut += 1
                else:
                    why[alone] += 1
    for line in wrong:
        print(line)
    for reason, count in why.most_common():
        print(f"{count} not cut: {reason}")
    print(f"{cut} cut, {len(wrong)} different")
    return 1 if wrong or cut < arguments.least else 0


if __name__ == "__main__":
    sys.exit(main())
