#!/usr/bin/env python3
"""Makes C++ from functions.table. Run by the build; every output goes into the build tree.

  generate.py --table functions.table --rows OUT          rows of epilog/format/mpi_functions.cc
  generate.py --table functions.table --args OUT          argument structs of the measured calls
  generate.py --table functions.table --wrappers OUT --family F    C entry points of one family
"""

import argparse
import os
import sys

from function_table import FAMILIES, REGION_TYPES, TableError, read_table

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


# Written by hand in lifecycle.cc.
OWN_WRAPPERS = ["MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Pcontrol"]
FAMILY_NUMBERS = {name: number for number, name in enumerate(FAMILIES)}


def forward_name(f):
    return "kojak_P" + f.name


def word_parameters(f):
    """Parameters of an entry point: a handle passed by value is a word."""
    return ", ".join(p.declared("Word" if p.is_handle() else None) for p in f.parameters)


def arguments_header(table):
    out = [BANNER, "#pragma once\n\n", '#include "epilog/mpi/handles.h"\n',
           '#include "epilog/runtime/config.h"\n\n', "namespace kojak::measure {\n\n"]
    for f in table.functions:
        out.append(f'extern "C" {f.returns} {forward_name(f)}({word_parameters(f)}) '
                   f'__asm__("P{f.name}");\n')
    out.append("\nnamespace args {\n")
    for index, f in enumerate(table.functions):
        group = "carries_time" if f.has("blocks") or f.has("progress") else "carries_none"
        passed = ", ".join(f"word({p.name})" if p.is_handle() else p.name
                           for p in f.parameters if p.kind != "varargs")
        out.append(f"\n// {f.name}\nstruct {f.struct_name()} {{\n"
                   f"  using Result = {f.returns};\n"
                   f"  static constexpr unsigned kFunction = {index};\n"
                   f"  static constexpr std::uint32_t kGroup = {group}({FAMILY_NUMBERS[f.family]});\n"
                   f"  static constexpr bool kBlocks = {str(f.has('blocks')).lower()};\n")
        out += [f"  {p.declared()};\n" for p in f.parameters if p.kind != "varargs"]
        out.append(f"  [[gnu::always_inline]] Result call() const {{ "
                   f"return {forward_name(f)}({passed}); }}\n}};\n")
    out.append("\n}  // namespace args\n}  // namespace kojak::measure\n")
    return "".join(out)


def wrappers(table, family):
    out = [BANNER, '#include "epilog/mpi/hooks.h"\n\n', "namespace kojak::measure {\n",
           '#define KOJAK_WRAPPER extern "C" __attribute__((visibility("default"), used))\n']
    for f in table.functions:
        if f.family != family or f.name in OWN_WRAPPERS:
            continue
        raw = ", ".join(p.name for p in f.parameters)
        typed = ", ".join(f"handle<{p.c_type()}>({p.name})" if p.is_handle() else p.name
                          for p in f.parameters)
        out.append(f'\nKOJAK_WRAPPER {f.returns} kojak_{f.name}({word_parameters(f)}) __asm__("{f.name}");\n'
                   f"{f.returns} kojak_{f.name}({word_parameters(f)}) {{\n"
                   f"  if (!is_live()) [[unlikely]] return {forward_name(f)}({raw});\n"
                   f"  return measured(args::{f.struct_name()}{{{typed}}}, __builtin_return_address(0));\n}}\n")
    out.append("\n}  // namespace kojak::measure\n")
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
    parser.add_argument("--args", metavar="OUT", dest="arguments")
    parser.add_argument("--wrappers", metavar="OUT")
    parser.add_argument("--family", choices=FAMILIES)
    args = parser.parse_args()
    try:
        table = read_table(args.table)
    except TableError as error:
        sys.exit(str(error))
    if args.rows:
        write(args.rows, rows(table))
    if args.arguments:
        write(args.arguments, arguments_header(table))
    if args.wrappers:
        write(args.wrappers, wrappers(table, args.family))


if __name__ == "__main__":
    main()
