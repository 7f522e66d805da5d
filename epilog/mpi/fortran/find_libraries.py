#!/usr/bin/env python3
"""Writes libraries.h: the names of the shared libraries that hold an MPI's Fortran functions.

  find_libraries.py --compiler mpifort --out libraries.h

Links an empty program with the MPI's Fortran compiler and looks which of the libraries that it then needs
define mpi_init and mpi_f08's mpi_init_f08. A name stays null where there is none (a static library).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir))
from table_file import write  # noqa: E402

TEXT = """// Made by epilog/mpi/fortran/find_libraries.py. Do not edit.
#pragma once

namespace kojak::measure::fortran {{

inline constexpr const char* kMpifHLibrary = {mpif_h};
inline constexpr const char* kF08Library = {f08};

}}  // namespace kojak::measure::fortran
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, LC_ALL="C"), check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def libraries(compiler, file="empty.f90", text="end program\n"):
    """Name and path of each shared library of a program."""
    with tempfile.TemporaryDirectory() as where:
        source = os.path.join(where, file)
        with open(source, "w", encoding="utf-8") as out:
            out.write(text)
        program = os.path.join(where, "empty")
        run(compiler, source, "-o", program, "-Wl,--no-as-needed")
        return re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", program), re.MULTILINE)


def defining(found, symbol):
    pattern = re.compile(rf"^[0-9a-f]+ [TWV] {symbol}_{{0,2}}$", re.MULTILINE | re.IGNORECASE)
    for name, path in found:
        if pattern.search(run("nm", "-D", "--defined-only", path)):
            return f'"{name}"'
    return "nullptr"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    found = libraries(args.compiler)
    write(args.out, TEXT.format(mpif_h=defining(found, "mpi_init"), f08=defining(found, "mpi_init_f08")))


if __name__ == "__main__":
    main()
