#!/usr/bin/env python3
"""Every function since MPI 4.0 that the MPI library has is called by a test program:

  all_called.py --table functions.table --compiler mpicc PROGRAM...

MPIX_* are left out: they are extensions that the installed libraries may only declare (MPICH's for failed processes
end the program).
"""
import argparse
import subprocess
import sys

from exported_symbols import defined, libraries, read_table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    theirs = set().union(*(defined(path) for path in libraries(options.compiler)))
    called = set()
    for program in options.programs:
        done = subprocess.run(["nm", "-D", "--undefined-only", program], capture_output=True, text=True, check=True)
        called |= {line.split()[-1] for line in done.stdout.splitlines()}
    wanted = {f.name for f in read_table(options.table).functions if f.since >= 40 and f.name.startswith("MPI_")}
    missing = sorted((wanted & theirs) - called)
    print(f"{len(wanted & theirs)} functions since MPI 4.0, {len(missing)} not called")
    if missing:
        sys.exit("\n".join(missing))


if __name__ == "__main__":
    main()
