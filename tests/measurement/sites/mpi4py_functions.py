#!/usr/bin/env python3
"""Compares the MPI functions that mpi4py needs with functions.table: mpi4py_functions.py TABLE PYTHON

mpi4py needs all of its MPI, called or not. What the table has not is told of as not recorded, and every mpi4py program
would lose its patterns and causes.
"""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "epilog" / "mpi"))
from function_table import read_table  # noqa: E402


def main():
    table = read_table(sys.argv[1])
    folder = subprocess.run([sys.argv[2], "-c", "import mpi4py; print(mpi4py.__path__[0])"], capture_output=True, text=True,
                            check=True).stdout.strip()
    needed = set()
    for module in pathlib.Path(folder).glob("MPI*.so"):
        listed = subprocess.run(["nm", "-D", "--undefined-only", module], capture_output=True, text=True, check=True).stdout
        needed |= {line.split()[-1].split("@")[0] for line in listed.splitlines()}
    functions = sorted(name for name in needed if re.fullmatch(r"MPIX?_\w+", name))
    if len(functions) < 200:
        sys.exit(f"mpi4py in {folder} needs {len(functions)} MPI functions: it is not understood")
    known = {name for function in table.functions for name in function.c_names()}
    missing = [name for name in functions if name not in known
               and "not recorded" in (table.exemption(name) or "not recorded")]
    print(f"mpi4py needs {len(functions)} MPI functions")
    if missing:
        sys.exit(f"missing from the table: {missing}")


if __name__ == "__main__":
    main()
