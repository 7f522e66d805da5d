#!/usr/bin/env python3
"""Which MPI libraries a measurement library takes: those with the binary interface that it was built for, by the names
that they give themselves; with any other nothing is recorded, which is said once, and the program is what it was."""

import sys

from run_trace_case import Case, listing, parser

# Beginnings of what MPI_Get_library_version says, and whose interface that is.
NAMES = {
    "Open MPI v4.1.4, package: Debian OpenMPI": "openmpi",
    "Open MPI v5.0.3, package: Open MPI": "openmpi",
    "MPICH Version:\t4.0.2\nMPICH Release date": "mpich",
    "Intel(R) MPI Library 2021.7 for Linux* OS": "mpich",
    "MVAPICH2 Version      :\t2.3.7": "mpich",
    "MVAPICH Version      :\t3.0": "mpich",
    "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)": "mpich",
    "Another MPI 1.0 on top of MPICH": None,
}


def main():
    options = parser()
    options.add_argument("--shim", required=True, help="library that gives MPI another name")
    case = Case(options.parse_args())
    case.args.library += f":{case.args.shim}"
    for number, (name, interface) in enumerate(NAMES.items()):
        traces = case.work / f"run{number}"
        done = case.run(True, {"ELG_DIR": traces, "OTHER_NAME": name})
        if done.returncode != 0 or done.stdout:
            sys.exit(f"{name}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        if interface == case.args.mpi:
            if done.stderr or sorted(listing(case.args.tool, traces)) != ["0.0.elg", "1.0.elg"]:
                sys.exit(f"{name}: not recorded: {done.stderr}")
        else:
            said = done.stderr.count("nothing is recorded, the program runs on")
            if traces.exists() or said != 1 or name.split(",")[0].split("\n")[0].split("\t")[0] not in done.stderr:
                sys.exit(f"{name}: said {said} times that nothing is recorded: {done.stderr}")


if __name__ == "__main__":
    main()
