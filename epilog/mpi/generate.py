#!/usr/bin/env python3
"""Makes C++ from functions.table. Run by the build; every output goes into the build tree.

  generate.py --table functions.table --rows OUT          rows of epilog/format/mpi_functions.cc
  generate.py --table functions.table --args OUT          argument structs of the measured calls
  generate.py --table functions.table --wrappers OUT --part F      C entry points of one family
  generate.py --table functions.table --wrappers OUT --part F_large     its forms with large counts
  generate.py --table functions.table --hook-checks OUT   that the compiler sees the hooks that are found here
"""

import argparse
import pathlib
import re
import sys

from function_table import read_table
from table_file import FAMILIES, REGION_TYPES, TableError, camel, write

BANNER = "// Made by epilog/mpi/generate.py from epilog/mpi/functions.table. Do not edit.\n"


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
OWN_WRAPPERS = ["MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Pcontrol", "MPI_Session_init",
                "MPI_Session_finalize"]
# Parts that are compiled each by itself.
PARTS = FAMILIES + [f"{family}_large" for family in ("p2p", "coll", "rma", "io", "misc")]
# From this version on the MPI library at hand may lack a function, and the MPI at run time may have it.
WEAK_SINCE = 40
FAMILY_NUMBERS = {name: number for number, name in enumerate(FAMILIES)}


def in_part(f, part):
    return f.family == part.removesuffix("_large") and bool(f.int_form) == part.endswith("_large")


def part_begins(part):
    """An MPI without forms with large counts has none of them."""
    return "#include <mpi.h>\n#if MPI_VERSION >= 4\n" if part.endswith("_large") else ""


def part_ends(part):
    return "#endif\n" if part.endswith("_large") else ""


def hooked_structs(folder=pathlib.Path(__file__).parent):
    """Which hooks_*.h has the hook of an argument struct, by its name: written out, or by a macro of the header."""
    found = {}
    for header in sorted(folder.glob("hooks_*.h")):
        text = re.sub(r"^#define (?:.*\\\n)*.*\n", "", header.read_text(), flags=re.M)
        names = re.findall(r"\bHook<args::(\w+)>", text)
        for arguments in re.findall(r"^KOJAK_\w+\(([^)]*)\)", text, re.M):
            names += re.split(r",\s*", arguments)
        for name in names:
            found.setdefault(name, header.name)
    return found


def hooked_form(f):
    """The argument struct whose hook a function has: a form with large counts has its int form's."""
    return f.struct_name()[:-1] if f.int_form else f.struct_name()


def hook_headers(functions):
    """Includes of what a part's hooks are in, and nothing else: less to compile."""
    headers = hooked_structs()
    needed = {headers[hooked_form(f)] for f in functions if hooked_form(f) in headers}
    return "".join(f'#include "epilog/mpi/{name}"\n' for name in sorted(needed))


def hook_checks(table):
    """Compiled where all hooks are known: one that is not found here would be missing from its wrapper, which then would
    record a plain call without a word."""
    headers = hooked_structs()
    out = [BANNER]
    for f in table.functions:
        if f.int_form:
            continue
        negation = "" if hooked_form(f) in headers else "!"
        out.append(f'static_assert({negation}kHooked<args::{f.struct_name()}>, "{f.name}");\n')
    return "".join(out)


def forward_name(f):
    return "kojak_P" + f.name


def c_type(f, p):
    """A parameter's type in the generated code: types of callbacks that not every mpi.h has are no types here."""
    return "void*" if p.kind == "callback" and f.since >= WEAK_SINCE else p.c_type()


def word_parameters(f):
    """Parameters of an entry point: a handle passed by value is a word."""
    return ", ".join(p.declared("Word" if p.is_handle() else c_type(f, p)) for p in f.parameters)


def forwards(f):
    """Declares the MPI library's own function: as a weak symbol where it may be missing."""
    parameters = word_parameters(f)
    if f.since < WEAK_SINCE:
        return f'extern "C" {f.returns} {forward_name(f)}({parameters}) __asm__("P{f.name}");\n'
    passed = ", ".join(p.name for p in f.parameters)
    out = [f'extern "C" [[gnu::weak]] {f.returns} weak_P{name}({parameters}) __asm__("P{name}");\n'
           for name in f.c_names()]
    out.append(f"[[gnu::always_inline]] inline {f.returns} {forward_name(f)}({parameters}) {{\n")
    out += [f"  if (weak_P{name} != nullptr) return weak_P{name}({passed});\n" for name in f.c_names()]
    out.append(f'  return missing_function("{f.name}");\n}}\n')
    return "".join(out)


# Calls that begin something, or move data: they are not meant to wait, but may. Those that only ask are left out: programs
# call them in loops.
ASKS = {"test", "testall", "testany", "testsome", "request_get_status", "request_free", "cancel", "iprobe", "improbe",
        "parrived", "win_test", "win_sync", "irecv", "imrecv",
        "recv_init", "send_init", "psend_init", "precv_init", "persistent_collective"}


def begins(f):
    asks = f.role in ASKS or (f.role == "other" and f.cls != "io")
    return f.has("progress") and not f.has("blocks") and not asks


def argument_struct(f, numbers):
    group = "carries_time" if f.has("blocks") or f.has("progress") else "carries_none"
    passed = ", ".join(f"word({p.name})" if p.is_handle() else p.name
                       for p in f.parameters if p.kind != "varargs")
    out = [f"\n// {f.name}\nstruct {f.struct_name()} {{\n"
           f"  using Result = {f.returns};\n"
           f"  static constexpr unsigned kFunction = {numbers[f.name]};\n"
           f"  static constexpr unsigned kBase = {numbers[f.int_form or f.name]};\n"
           f"  static constexpr std::uint32_t kGroup = {group}({FAMILY_NUMBERS[f.family]});\n"
           f"  static constexpr bool kBlocks = {str(f.has('blocks')).lower()};\n"
           f"  static constexpr bool kBegins = {str(begins(f)).lower()};\n"
           f"  static constexpr bool kReturnsCode = {str(f.returns == 'int').lower()};\n"]
    if f.int_form:
        out.insert(1, f"  using IntForm = {f.struct_name()[:-1]};\n")
    out += [f"  {p.declared(c_type(f, p))};\n" for p in f.parameters if p.kind != "varargs"]
    out.append(f"  [[gnu::always_inline]] Result call() const {{ "
               f"return {forward_name(f)}({passed}); }}\n}};\n")
    return "".join(out)


def arguments_header(table):
    out = [BANNER, "#pragma once\n\n", '#include "epilog/mpi/handles.h"\n',
           '#include "epilog/runtime/config.h"\n\n', "namespace kojak::measure {\n\n"]
    numbers = {f.name: index for index, f in enumerate(table.functions)}
    plain = [f for f in table.functions if not f.int_form]
    large = [f for f in table.functions if f.int_form]
    out += [forwards(f) for f in plain]
    out.append("\nnamespace args {\n")
    out += [argument_struct(f, numbers) for f in plain]
    out.append("\n}  // namespace args\n\n#if MPI_VERSION >= 4\n")
    out += [forwards(f) for f in large]
    out.append("\nnamespace args {\n")
    out += [argument_struct(f, numbers) for f in large]
    out.append("\n}  // namespace args\n#endif\n}  // namespace kojak::measure\n")
    return "".join(out)


def entry_point(f, name):
    raw = ", ".join(p.name for p in f.parameters)
    typed = ", ".join(f"handle<{p.c_type()}>({p.name})" if p.is_handle() else p.name
                      for p in f.parameters)
    return (f'\nKOJAK_WRAPPER {f.returns} kojak_{name}({word_parameters(f)}) __asm__("{name}");\n'
            f"{f.returns} kojak_{name}({word_parameters(f)}) {{\n"
            f"  if (!is_live()) [[unlikely]] return {forward_name(f)}({raw});\n"
            f"  return measured(args::{f.struct_name()}{{{typed}}}, __builtin_return_address(0));\n}}\n")


def wrappers(table, part):
    functions = [f for f in table.functions if in_part(f, part) and f.name not in OWN_WRAPPERS]
    out = [BANNER, part_begins(part), '#include "epilog/mpi/call.h"\n', hook_headers(functions),
           "\nnamespace kojak::measure {\n",
           '#define KOJAK_WRAPPER extern "C" __attribute__((visibility("default"), used))\n']
    for f in functions:
        out.append(entry_point(f, f.name))
        for name in f.c_names()[1:]:
            out.append("\n#if defined(OPEN_MPI)" + entry_point(f, name) + "#endif\n")
    out += ["\n}  // namespace kojak::measure\n", part_ends(part)]
    return "".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True)
    parser.add_argument("--rows", metavar="OUT")
    parser.add_argument("--args", metavar="OUT", dest="arguments")
    parser.add_argument("--wrappers", metavar="OUT")
    parser.add_argument("--hook-checks", metavar="OUT")
    parser.add_argument("--part", choices=PARTS)
    args = parser.parse_args()
    try:
        table = read_table(args.table)
    except TableError as error:
        sys.exit(str(error))
    if args.rows:
        write(args.rows, rows(table))
    if args.arguments:
        write(args.arguments, arguments_header(table))
    if args.hook_checks:
        write(args.hook_checks, hook_checks(table))
    if args.wrappers:
        write(args.wrappers, wrappers(table, args.part))


if __name__ == "__main__":
    main()
