#!/usr/bin/env python3
"""Checks that a measurement library has every Fortran entry point that the installed MPI has.

  check_symbols.py --table functions.table --library libelg_mpi.so --compiler mpifort

In each interface and in every spelling that the MPI's Fortran libraries offer. Further: our library needs no
Fortran library, and every function of the table can be called from Fortran somewhere.
"""
import argparse
import collections
import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "epilog" / "mpi"), str(ROOT / "epilog" / "mpi" / "fortran")]
from find_libraries import libraries  # noqa: E402
from function_table import read_table  # noqa: E402



def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True,
                          env=dict(os.environ, LC_ALL="C")).stdout


def defined(path):
    return {line.split()[-1] for line in run("nm", "-D", "--defined-only", path).splitlines()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args()
    table = read_table(options.table)
    ours = defined(options.library)
    wrong = []

    theirs = set()
    for _, path in libraries(options.compiler):
        names = defined(path)
        if any(re.fullmatch(r"mpi_(put|init)_f08_|mpi_init_", name) for name in names):
            theirs |= names
    by_name = {name.lower(): function for function in table.functions for name in function.c_names()}
    exempt = [pattern.lower() for pattern in table.exempt]

    checked = collections.Counter()
    reached = set()
    for symbol in sorted(theirs):
        match = re.fullmatch(r"(mpix?_\w+?)(_cptr|_f08ts|_f08|)(_large|)_", symbol)
        if not match or symbol.endswith("__"):
            continue
        function = by_name.get(match[1] + ("_c" if match[3] else ""))
        if function is None:
            if not any(fnmatch.fnmatchcase(match[1], pattern) for pattern in exempt):
                wrong.append(f"{symbol}: the MPI library has it, the table has not")
            continue
        reached.add(function.name)
        checked[match[2] + match[3]] += 1
        name = match[1] + match[2] + match[3]
        for spelling in {name, f"{name}_", f"{name}__", name.upper()} & theirs:
            if spelling not in ours:
                wrong.append(f"{spelling}: the MPI library has it, ours has not")
    for function in table.functions:
        if function.name not in reached and function.since < 40:
            wrong.append(f"{function.name}: no Fortran entry point was found in the MPI's libraries")

    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", options.library))
    for name in needed:
        if re.search("fort|mpifh|usempi|stdc", name):
            wrong.append(f"{options.library} needs {name}")
    for suffix, count in sorted(checked.items()):
        print(f"mpi_*{suffix}_: {count}")
    if sum(checked.values()) < 600:
        wrong.append("too few entry points found: are these the MPI's Fortran libraries?")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
