#!/usr/bin/env python3
"""The names of communicators and windows in a merged trace are those that the program gave (programs/object_names.c), with
all groups of calls recorded, and with none of those that name, make or free communicators."""

import re
import subprocess
import sys

from run_trace_case import Case, parser

LONGEST = {"mpich": 127, "openmpi": 63}


def names(case, folder, record, field):
    trace = case.work / "a.elg"
    tool = f"{case.args.bin}/elg_merge"
    subprocess.run([tool, "-q", "-o", trace, case.work / folder], check=True, timeout=60)
    text = subprocess.run([f"{case.args.bin}/elg_print", trace], check=True, capture_output=True, text=True, timeout=60).stdout
    strings = dict(re.findall(r'^STRING strid=(\d+) cntc=\d+ str="((?:\\.|[^"\\])*)"', text, re.M))
    found = re.findall(rf"^{record} \w+=(\d+) {field}=(\d+)", text, re.M)
    assert len({number for number, _ in found}) == len(found), f"{record} names an object twice"
    return sorted(strings[string] for _, string in found)


def main():
    extra = parser()
    extra.add_argument("--bin", required=True)
    case = Case(extra.parse_args())
    case.args.ranks = 2
    longest = "x" * LONGEST[case.args.mpi]
    comms = ["  halo of blanks", "third", "of rank 1", "lowest", r"tab\tline\nescape\033[31m \"quoted\" \\ end", longest,
             "by the other thread", "loop 0", "loop 2", "MPI_COMM_WORLD"]
    for folder, settings in (("all", {}), ("all_groups", {"ELG_MPI": "all"}), ("no_comm", {"ELG_MPI": "coll"})):
        done = case.run(True, {"ELG_DIR": case.work / folder, **settings})
        if done.returncode != 0:
            sys.exit(f"{folder}: status {done.returncode}: {done.stderr}")
        for record, field, expected in (("COMM_NAME", "cnid", comms), ("WIN_NAME", "wnid", ["field"])):
            if settings.get("ELG_MPI") == "coll" and record == "WIN_NAME":
                expected = []  # no call on it is recorded
            found = names(case, folder, record, field)
            if found != sorted(expected):
                sys.exit(f"{folder}: {record} has {found}, not {sorted(expected)}")


if __name__ == "__main__":
    main()
