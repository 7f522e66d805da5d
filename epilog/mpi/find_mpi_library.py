#!/usr/bin/env python3
"""Writes mpi_library.h: name and path of the shared library that holds the MPI.

  find_mpi_library.py --compiler mpicc --out mpi_library.h
  find_mpi_library.py --compiler mpicc --print            the path alone

Links an empty program with the MPI's C compiler and looks which of the libraries that it then needs defines
PMPI_Get_library_version. Both stay null where there is none (a static library).
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "fortran"))
from find_libraries import defining, libraries  # noqa: E402
from table_file import write  # noqa: E402

TEXT = """// Made by epilog/mpi/find_mpi_library.py. Do not edit.
#pragma once

namespace kojak::measure {{

inline constexpr const char* kMpiName = {name};
inline constexpr const char* kMpiPath = {path};

}}  // namespace kojak::measure
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--out")
    parser.add_argument("--print", action="store_true")
    args = parser.parse_args()
    found = libraries(args.compiler, "empty.c", "int main(void) { return 0; }\n")
    name = defining(found, "PMPI_Get_library_version")
    path = next((f'"{path}"' for other, path in found if f'"{other}"' == name), "nullptr")
    if args.print:
        print(path.strip('"'))
    if args.out:
        write(args.out, TEXT.format(name=name, path=path))


if __name__ == "__main__":
    main()
