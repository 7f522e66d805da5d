#!/usr/bin/env python3
"""Makes C++ from functions.table. Run by the build; every output goes into the build tree.

  generate.py --table functions.table --rows OUT          rows of epilog/format/mpi_functions.cc
  generate.py --table functions.table --slots OUT         number of the chain's slots
  generate.py --table functions.table --slot-rows OUT     a row of each slot
  generate.py --table functions.table --args OUT          argument structs of the measured calls
  generate.py --table functions.table --wrappers OUT --part F      C entry points of one family
  generate.py --table functions.table --wrappers OUT --part F_large     its forms with large counts
  generate.py --table functions.table --below OUT         PMPI_X of what takes a communicator
  generate.py --table functions.table --hook-checks OUT   that the compiler sees the hooks that are found here
"""

import dataclasses
import pathlib
import re

from function_table import read_table
from table_file import FAMILIES, REGION_TYPES, camel, run

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
    return "#include \"epilog/mpi/mpi.h\"\n#if MPI_VERSION >= 4\n" if part.endswith("_large") else ""


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


def next_name(name):
    return "next_" + name


def c_type(f, p):
    """A parameter's type in the generated code: types of callbacks that not every mpi.h has are no types here."""
    return "void*" if p.kind == "callback" and f.since >= WEAK_SINCE else p.c_type()


def word_parameters(f):
    """Parameters of an entry point: a handle passed by value is a word."""
    return ", ".join(p.declared("Word" if p.is_handle() else c_type(f, p)) for p in f.parameters)


def slots(table):
    """Names of the places in the chain, in their order: the functions', then other names of the same functions, then
    what only we ask. Each with the place of the function that stands for it where the MPI does not have it."""
    found = [(f.name, None) for f in table.functions]
    found += [(name, index) for index, f in enumerate(table.functions) for name in f.c_names()[1:]]
    return found + [(name, None) for _, name, _ in ASKED]


def calls_slot(f_returns, types, passed, kind, slot):
    return f"return reinterpret_cast<{f_returns} (*)({types})>(the_chain.{kind}[{slot}])({passed});"


def forwards(f, names):
    """What calls the next one behind us, and what asks the MPI itself."""
    out = []
    if f.name == "MPI_Pcontrol":
        return ""  # by hand: its further arguments
    words = ", ".join("Word" if p.is_handle() else c_type(f, p) for p in f.parameters)
    types = ", ".join(c_type(f, p) for p in f.parameters)
    passed = ", ".join(p.name for p in f.parameters)
    for name in f.c_names():
        out.append(f"[[gnu::always_inline]] inline {f.returns} {next_name(name)}({word_parameters(f)}) {{\n"
                   f"  {calls_slot(f.returns, words, passed, 'next', names[name])}\n}}\n")
    if f.name.startswith("MPI_"):
        declared = ", ".join(p.declared(c_type(f, p)) for p in f.parameters)
        out.append(f"namespace mpi {{\n[[gnu::always_inline]] inline {f.returns} {f.name[4:]}({declared}) {{\n"
                   f"  {calls_slot(f.returns, types, passed, 'own', names[f.name])}\n}}\n}}\n")
    return "".join(out)


# What the measurement asks and nobody records; where mpi.h has macros of these names, they do.
ASKED = [(f"MPI_{kind}", f"MPI_{kind}_f2c", "MPI_Fint handle") for kind in
         ("Comm", "Group", "Request", "Op", "Info", "File", "Errhandler", "Message", "Win")]
ASKED += [("MPI_Datatype", "MPI_Type_f2c", "MPI_Fint handle"),
          ("int", "MPI_Status_f2c", "const MPI_Fint* from, MPI_Status* to")]


def asks(returns, name, parameters, slot):
    words = [re.fullmatch(r"(.*?)(\w+)", p.strip()) for p in parameters.split(",")]
    types, passed = (", ".join(w[i].strip() for w in words) for i in (1, 2))
    return (f"namespace mpi {{\n[[gnu::always_inline]] inline {returns} {name[4:]}({parameters}) {{\n"
            f"#if defined(P{name})\n  return P{name}({passed});\n#else\n"
            f"  {calls_slot(returns, types, passed, 'own', slot)}\n#endif\n}}\n}}\n")


def slots_header(table):
    found = slots(table)
    out = [BANNER, "#pragma once\n\nnamespace kojak::measure {\n\n"
           f"inline constexpr unsigned kSlots = {len(found)};\n\n}}  // namespace kojak::measure\n"]
    return "".join(out)


def slot_rows(table):
    """A row of each slot: its name, the slot that stands for it, and whether every MPI has it (HANDLE: a macro in some)."""
    asked = {name for returns, name, _ in ASKED if returns != "int"}
    since = {name: f.since for f in table.functions for name in f.c_names()}
    out = [BANNER]
    for name, stands_for in slots(table):
        word = "kNoSlot" if stands_for is None else str(stands_for)
        always = since.get(name, 0) < WEAK_SINCE and name.startswith("MPI_")
        strength = "HANDLE" if name in asked else "ALWAYS" if always else "PERHAPS"
        out.append(f"KOJAK_SLOT({name}, {word}, {strength})\n")
    return "".join(out)


# Calls that begin something, or move data: they are not meant to wait, but may. Those that only ask are left out: programs
# call them in loops.
ONLY_ASKS = {"test", "testall", "testany", "testsome", "request_get_status", "request_free", "cancel", "iprobe", "improbe",
        "parrived", "win_test", "win_sync", "irecv", "imrecv",
        "recv_init", "send_init", "psend_init", "precv_init", "persistent_collective"}


def begins(f):
    asks = f.role in ONLY_ASKS or (f.role == "other" and f.cls != "io")
    return f.has("progress") and not f.has("blocks") and not asks


# Given back to the MPI, whoever does it.
FREES = ["MPI_Comm_free", "MPI_Comm_disconnect"]


def comm_of(f):
    """The communicator that a call is on, where a library between may pass on another one."""
    found = [p.name for p in f.parameters if p.kind == "comm" and p.is_handle()]
    return found[0] if found and f.returns == "int" else None


def partner_of(f, *names):
    """The parameter that is the call's destination, root or source."""
    found = [p.name for p in f.parameters if p.kind == "rank" and p.name in names and p.array is None]
    return found[0] if found else None


def below_arguments(f):
    values = [f".comm = {comm_of(f)}"]
    values += [f".{member} = {name}" for member, name in
               (("to", partner_of(f, "dest", "root")), ("from", partner_of(f, "source"))) if name]
    return "{" + ", ".join(values) + "}"


def takes(f):
    """What reached the MPI takes the place of what the program gave."""
    of = next(p for p in f.parameters if p.name == comm_of(f))
    out = [f"  void take(const BelowArguments& below) {{\n    {of.name} = handle<{of.c_type()}>(below.comm);\n"]
    for member, name in (("to", partner_of(f, "dest", "root")), ("from", partner_of(f, "source"))):
        if name:
            out.append(f"    if (below.{member} != kNoRank) {name} = below.{member};\n")
    words = {"comm": f"word({of.name})"}
    words.update({member: name for member, name in
                  (("to", partner_of(f, "dest", "root")), ("from", partner_of(f, "source"))) if name})
    asked = ", ".join(f".{member} = {value}" for member, value in words.items())
    return "".join(out) + f"  }}\n  BelowArguments asked() const {{ return {{{asked}}}; }}\n"


def below_entry(f, name, slot):
    """PMPI_X of a function that takes a communicator."""
    raw = ", ".join(p.name for p in f.parameters)
    types = ", ".join("Word" if p.is_handle() else c_type(f, p) for p in f.parameters)
    typed = ", ".join(f"handle<{p.c_type()}>({p.name})" if p.is_handle() else p.name for p in f.parameters)
    structure = f"args::{f.struct_name()}"
    out = [f'\nKOJAK_WRAPPER {f.returns} kojak_P{name}({word_parameters(f)}) __asm__("P{name}");\n'
           f"{f.returns} kojak_P{name}({word_parameters(f)}) {{\n"
           f"  const void* const caller = __builtin_return_address(0);\n"
           f"  const auto go_on = [&] {{\n    return reinterpret_cast<{f.returns} (*)({types})>(below({slot}, caller))"
           f"({raw});\n  }};\n"]
    if f.name in FREES:
        return "".join(out) + f"  return free_below({typed}, go_on);\n}}\n"
    # Not those that end with a request, of whose completion nobody tells.
    kinds = {p.kind for p in f.parameters if p.direction == "out"}
    if "comm" in kinds and "request" not in kinds:
        out.append(f"  if (is_own_call_below({structure}::kBase, caller)) [[unlikely]] {{\n"
                   f"    return make_below({structure}{{{typed}}}, go_on);\n  }}\n")
    out.append(f"  const int kojak_result = go_on();\n"
               f"  if (kojak_result == MPI_SUCCESS && the_recorder.below != nullptr) [[unlikely]] {{\n"
               f"    note_below({structure}::kBase, {structure}::kFamily, {below_arguments(f)}, caller);\n  }}\n"
               f"  return kojak_result;\n}}\n")
    return "".join(out)


def below_entries(table):
    names = {name: index for index, (name, _) in enumerate(slots(table))}
    functions = [f for f in table.functions if comm_of(f) or f.name in FREES]
    out = [BANNER, '#include "epilog/mpi/below_calls.h"\n',
           "\nnamespace kojak::measure {\n",
           '#define KOJAK_WRAPPER extern "C" __attribute__((visibility("default"), used))\n']
    for large in (False, True):
        if large:
            out.append("\n#if MPI_VERSION >= 4\n")
        for f in functions:
            if bool(f.int_form) == large:
                out.append(below_entry(f, f.name, names[f.name]))
        if large:
            out.append("#endif\n")
    out.append("\n}  // namespace kojak::measure\n")
    return "".join(out)


def argument_struct(f, numbers):
    group = "carries_time" if f.has("blocks") or f.has("progress") else "carries_none"
    passed = ", ".join(f"word({p.name})" if p.is_handle() else p.name
                       for p in f.parameters if p.kind != "varargs")
    out = [f"\n// {f.name}\nstruct {f.struct_name()} {{\n"
           f"  using Result = {f.returns};\n"
           f"  static constexpr unsigned kFunction = {numbers[f.name]};\n"
           f"  static constexpr unsigned kBase = {numbers[f.int_form or f.name]};\n"
           f"  static constexpr MpiFamily kFamily = MpiFamily::k{camel(f.family)};\n"
           f"  static constexpr std::uint32_t kGroup = {group}({FAMILY_NUMBERS[f.family]});\n"
           f"  static constexpr bool kBlocks = {str(f.has('blocks')).lower()};\n"
           f"  static constexpr bool kBegins = {str(begins(f)).lower()};\n"
           f"  static constexpr bool kReturnsCode = {str(f.returns == 'int').lower()};\n"]
    if f.int_form:
        out.insert(1, f"  using IntForm = {f.struct_name()[:-1]};\n")
    out += [f"  {p.declared(c_type(f, p))};\n" for p in f.parameters if p.kind != "varargs"]
    if f.name == "MPI_Pcontrol":
        return "".join(out) + "};\n"
    if comm_of(f):
        out.append(takes(f))
    out.append(f"  [[gnu::always_inline]] Result call() const {{ "
               f"return {next_name(f.name)}({passed}); }}\n}};\n")
    for name in f.c_names()[1:]:
        other = dataclasses.replace(f, name=name).struct_name()
        out.append(f"struct {other} : {f.struct_name()} {{\n  using IntForm = {f.struct_name()};\n"
                   f"  [[gnu::always_inline]] Result call() const {{ return {next_name(name)}({passed}); }}\n}};\n")
    return "".join(out)


def arguments_header(table):
    out = [BANNER, "#pragma once\n\n", '#include "epilog/mpi/below.h"\n', '#include "epilog/mpi/handles.h"\n',
           '#include "epilog/runtime/config.h"\n\n', "namespace kojak::measure {\n\n"]
    numbers = {f.name: index for index, f in enumerate(table.functions)}
    names = {name: index for index, (name, _) in enumerate(slots(table))}
    plain = [f for f in table.functions if not f.int_form]
    large = [f for f in table.functions if f.int_form]
    out += [forwards(f, names) for f in plain]
    out += [asks(*asked, names[asked[1]]) for asked in ASKED]
    out.append("\nnamespace args {\n")
    out += [argument_struct(f, numbers) for f in plain]
    out.append("\n}  // namespace args\n\n#if MPI_VERSION >= 4\n")
    out += [forwards(f, names) for f in large]
    out.append("\nnamespace args {\n")
    out += [argument_struct(f, numbers) for f in large]
    out.append("\n}  // namespace args\n#endif\n}  // namespace kojak::measure\n")
    return "".join(out)


def entry_point(f, name, slot):
    raw = ", ".join(p.name for p in f.parameters)
    typed = ", ".join(f"handle<{p.c_type()}>({p.name})" if p.is_handle() else p.name
                      for p in f.parameters)
    made = f"args::{f.struct_name()}{{{typed}}}"
    if name != f.name:
        made = f"args::{dataclasses.replace(f, name=name).struct_name()}{{{{{typed}}}}}"
    return (f'\nKOJAK_WRAPPER {f.returns} kojak_{name}({word_parameters(f)}) __asm__("{name}");\n'
            f"{f.returns} kojak_{name}({word_parameters(f)}) {{\n"
            f"  if (!is_live()) [[unlikely]] {{\n    need_next({slot}, __builtin_return_address(0));\n    return {next_name(name)}({raw});\n  }}\n"
            f"  return measured({made}, __builtin_return_address(0));\n}}\n")


def wrappers(table, part):
    functions = [f for f in table.functions if in_part(f, part) and f.name not in OWN_WRAPPERS]
    names = {name: index for index, (name, _) in enumerate(slots(table))}
    out = [BANNER, part_begins(part), '#include "epilog/mpi/call.h"\n', hook_headers(functions),
           "\nnamespace kojak::measure {\n",
           '#define KOJAK_WRAPPER extern "C" __attribute__((visibility("default"), used))\n']
    for f in functions:
        out.append(entry_point(f, f.name, names[f.name]))
        for name in f.c_names()[1:]:
            out.append("\n#if defined(OPEN_MPI)" + entry_point(f, name, names[name]) + "#endif\n")
    out += ["\n}  // namespace kojak::measure\n", part_ends(part)]
    return "".join(out)


def main():
    run(__doc__, read_table, {
        "rows": lambda table, _: rows(table),
        "slots": lambda table, _: slots_header(table),
        "slot-rows": lambda table, _: slot_rows(table),
        "args": lambda table, _: arguments_header(table),
        "below": lambda table, _: below_entries(table),
        "hook-checks": lambda table, _: hook_checks(table),
        "wrappers": wrappers,
    }, choices=PARTS)


if __name__ == "__main__":
    main()
