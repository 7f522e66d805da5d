#!/usr/bin/env python3
"""Checks which Fortran entry points a measurement library has against what the installed MPI's Fortran libraries do.

  check_symbols.py --table functions.table --library libelg_mpi.so --compiler mpifort

Each call must be recorded exactly once. So an entry point of the MPI library whose code leads to the C function MPI_X
is left to our C wrapper, and each other one (it leads to PMPI_X, or past both) must be ours, in the spellings
that the MPI library offers. What leads where is read from the machine code. Further: our library needs no Fortran
library, and every function of the table can be called from Fortran somewhere.
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


def calls_of(path):
    """What the code under each label calls or jumps to."""
    calls, current, labels = collections.defaultdict(set), None, collections.defaultdict(list)
    for line in run("nm", "-D", "--defined-only", path).splitlines():
        address, _, name = line.split()
        labels[int(address, 16)].append(name)
    for line in run("objdump", "-d", "--no-show-raw-insn", path).splitlines():
        match = re.match(r"([0-9a-f]+) <", line)
        if match:
            current = labels.get(int(match[1], 16), current if "@plt" not in line else None)
            continue
        match = re.search(r"\s(?:call|jmp|j\w+)\s+[0-9a-f]+ <([^>@+]+)(?:@[^>]*)?>", line)
        if match and current:
            for name in current:
                calls[name].add(match[1])
    return calls


def leads_to(name, calls):
    seen, stack = set(), [name]
    while stack:
        for callee in calls.get(stack.pop(), ()):
            if callee not in seen:
                seen.add(callee)
                # What lies behind the C interface is no Fortran library's business.
                if not callee.startswith(("MPI_", "PMPI_")):
                    stack.append(callee)
    return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args()
    table = read_table(options.table)
    ours = defined(options.library)
    wrong = []

    theirs, calls = set(), {}
    for _, path in libraries(options.compiler):
        names = defined(path)
        if any(re.fullmatch(r"mpi_(put|init)_f08_|mpi_init_", name) for name in names):
            theirs |= names
            calls.update(calls_of(path))
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
        to = leads_to(symbol, calls)
        by_c = function.name in to
        checked[(match[2], "C wrapper" if by_c else "ours")] += 1
        spellings = [s for s in (match[1] + match[2], f"{match[1]}{match[2]}__", (match[1] + match[2]).upper())
                     if s in theirs] + [symbol]
        for spelling in spellings:
            if by_c and spelling in ours:
                wrong.append(f"{spelling}: leads to {function.name}, whose C wrapper records it too")
            if not by_c and spelling not in ours:
                wrong.append(f"{spelling}: leads to {sorted(t for t in to if 'MPI' in t)} and is not ours")
    for function in table.functions:
        if function.name not in reached:
            wrong.append(f"{function.name}: no Fortran entry point was found in the MPI's libraries")

    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", options.library))
    for name in needed:
        if re.search("fort|mpifh|usempi|stdc", name):
            wrong.append(f"{options.library} needs {name}")
    for (suffix, who), count in sorted(checked.items()):
        print(f"mpi_*{suffix}_  {who}: {count}")
    if sum(checked.values()) < len(table.functions):
        wrong.append("too few entry points found: are these the MPI's Fortran libraries?")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
