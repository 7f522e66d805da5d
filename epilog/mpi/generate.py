#!/usr/bin/env python3
"""Makes C++ from functions.table. Run by the build; every output goes into the build tree.

  generate.py --table functions.table --rows OUT          rows of epilog/format/mpi_functions.cc
"""

import argparse
import os
import sys

from function_table import REGION_TYPES, TableError, read_table

BANNER = "// Made by epilog/mpi/generate.py from epilog/mpi/functions.table. Do not edit.\n"


def camel(word):
    return "".join(part.capitalize() for part in word.split("_"))


def rows(table):
    out = [BANNER]
    out.append("constexpr MpiFunction kFunctions[] = {\n")
    for f in table.functions:
        out.append(
            f'    {{"{f.name}", MpiFamily::k{camel(f.family)}, MpiClass::k{camel(f.cls)}, '
            f"MpiRole::k{camel(f.role)}, {REGION_TYPES[f.region_type]}, "
            f"{str(f.has('progress')).lower()}, {str(f.has('blocks')).lower()}, {f.since}}},\n")
    out.append("};\n")
    out.append("// Positions in kFunctions, in the order of the names in lower case.\n")
    out.append("constexpr std::uint16_t kByLowerCase[] = {\n")
    order = sorted(range(len(table.functions)), key=lambda i: table.functions[i].name.lower())
    for start in range(0, len(order), 16):
        out.append("    " + ", ".join(str(i) for i in order[start:start + 16]) + ",\n")
    out.append("};\n")
    return "".join(out)


def write(path, text):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(temporary, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True)
    parser.add_argument("--rows", metavar="OUT")
    args = parser.parse_args()
    try:
        table = read_table(args.table)
    except TableError as error:
        sys.exit(str(error))
    if args.rows:
        write(args.rows, rows(table))


if __name__ == "__main__":
    main()
