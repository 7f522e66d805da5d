#!/usr/bin/env python3
"""Checks that a measurement library has every Fortran entry point that the installed MPI has.

  check_symbols.py --table functions.table --library libelg_mpi.so --compiler mpifort

In each interface and in every spelling that the MPI's Fortran libraries offer. Further: our library needs no
Fortran library, and every function of the table can be called from Fortran somewhere.
"""
import argparse
import collections
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

# What a Fortran library defines besides the table's functions; the last are extensions.
NO_CALLS = re.compile(r"mpi_(sizeof|f_sync_reg|aint_add|aint_diff|.*_fn$|.*_fn_null$|status_|fortran_|delete_error_)")


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
    by_name = {function.name.lower(): function for function in table.functions}

    checked = collections.Counter()
    reached = set()
    for symbol in sorted(theirs):
        match = re.fullmatch(r"(mpi_\w+?)(_cptr|_f08ts|_f08|)(_large)?_", symbol)
        if not match or symbol.endswith("__") or match[3]:
            continue
        function = by_name.get(match[1])
        if function is None:
            later = any(name.lower() == match[1] for name in table.later)
            if not later and not NO_CALLS.match(match[1]) and not match[1].startswith(("mpi_dup_fn", "mpi_null")):
                wrong.append(f"{symbol}: the MPI library has it, the table has not")
            continue
        reached.add(function.name)
        checked[match[2]] += 1
        name = match[1] + match[2]
        for spelling in {name, f"{name}_", f"{name}__", name.upper()} & theirs:
            if spelling not in ours:
                wrong.append(f"{spelling}: the MPI library has it, ours has not")
    for function in table.functions:
        if function.name not in reached:
            wrong.append(f"{function.name}: no Fortran entry point was found in the MPI's libraries")

    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", options.library))
    for name in needed:
        if re.search("fort|mpifh|usempi|stdc", name):
            wrong.append(f"{options.library} needs {name}")
    for suffix, count in sorted(checked.items()):
        print(f"mpi_*{suffix}_: {count}")
    if sum(checked.values()) < len(table.functions):
        wrong.append("too few entry points found: are these the MPI's Fortran libraries?")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
