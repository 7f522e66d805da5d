#!/usr/bin/env python3
"""Compares the MPI functions that an installed MPI library exports with those that our library takes.

  exported_symbols.py --table functions.table --library libelg_mpi.so --compiler mpicc

mpi.h may declare less than the library has. Every symbol MPI_* and MPIX_* of the shared libraries of a C program
must be defined by our library, or stand with a reason in the table's list of what has no wrapper.

Ours must not initialise anything when it is loaded, but by its constructors: those of other libraries may have called
MPI before.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "epilog" / "mpi"))
from function_table import read_table  # noqa: E402


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ, LC_ALL="C")).stdout


def defined(path):
    """MPI's names only: MPI_Put, MPIX_Bcast_init."""
    names = (line.split()[-1] for line in run("nm", "-D", "--defined-only", path).splitlines())
    return {name for name in names if re.fullmatch(r"MPIX?_\w+", name)}


def libraries(compiler):
    with tempfile.TemporaryDirectory() as where:
        program = os.path.join(where, "empty")
        source = program + ".c"
        with open(source, "w", encoding="utf-8") as out:
            out.write("int main(void) { return 0; }\n")
        run(compiler, source, "-o", program, "-Wl,--no-as-needed")
        return re.findall(r"=> (/\S+)", run("ldd", program))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args()
    table = read_table(options.table)
    ours = defined(options.library)
    theirs = set().union(*(defined(path) for path in libraries(options.compiler)))
    faults = [f"{name}: the MPI library has it, ours has not" for name in sorted(theirs - ours)
              if table.exemption(name) is None]
    faults += [f"{name}: exempt, but our library takes it" for name in sorted(theirs & ours)
               if table.exemption(name) is not None]
    if len(theirs) < 400:
        faults.append(f"only {len(theirs)} functions found: is this the MPI's library?")
    faults += [f"{line.split()[-1]}: initialised when the library is loaded; make it constinit"
               for line in run("nm", options.library).splitlines() if "_GLOBAL__sub_I" in line]
    print(f"{len(theirs)} exported, {len(theirs & ours)} taken, {len(theirs - ours)} left to it")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
