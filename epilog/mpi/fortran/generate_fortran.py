#!/usr/bin/env python3
"""Makes the Fortran entry points of one part (generate.py) from functions.table. Run by the build.

  generate_fortran.py --table functions.table --library openmpi --part p2p --out OUT

An entry point calls the MPI library's own Fortran function with the caller's arguments, untouched, as a
measured call; only what the hooks look at is converted to C (convert.h). That keeps choice
buffers, array descriptors, sentinels, callbacks, strings and optional arguments exactly what they are.

Where the library's function calls MPI_* in C (in MPICH all of mpif.h, and what has a choice buffer in mpi_f08), our
C wrapper finds that Fortran has the call in hand and only passes it on; where it calls PMPI_* (Open MPI, the
rest of MPICH's mpi_f08) nothing else sees it. Either way it is recorded once, with the address of the user's call.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from function_table import HANDLES, read_table  # noqa: E402
from generate import BANNER, OWN_WRAPPERS, PARTS, hook_headers, in_part, part_begins, part_ends  # noqa: E402
from table_file import TableError, write  # noqa: E402

BANNER = BANNER.replace("epilog/mpi/generate.py", "epilog/mpi/fortran/generate_fortran.py")
LIBRARIES = ["openmpi", "mpich"]
# `use mpi` has procedures of their own for the same functions with TYPE(C_PTR); in MPICH since 4.1.
WITH_C_PTR = ["MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"]
# C functions that mpi_f08 binds directly.
C_IN_F08 = {"openmpi": ["MPI_Wtime", "MPI_Wtick"], "mpich": []}
# Deprecated since MPI-2: not in mpi_f08, though not removed.
NOT_IN_F08 = ["MPI_Attr_delete", "MPI_Attr_get", "MPI_Attr_put", "MPI_Keyval_create", "MPI_Keyval_free"]

KINDS = {"comm": "CommKind", "type": "TypeKind", "request": "RequestKindOf", "win": "WinKind", "group": "GroupKind",
         "op": "OpKind", "info": "InfoKind", "file": "FileKind", "errhandler": "ErrhandlerKind",
         "message": "MessageKind"}
VALUES = {"count": "int", "int": "int", "rank": "int", "tag": "int", "aint": "MPI_Aint", "offset": "MPI_Offset",
          "bigcount": "MPI_Count"}
STRINGS = ["string", "strings"]
HOOKED_STRINGS = ["stringtag", "comm_name", "win_name"]  # that a hook looks at


def has_choice_buffer(f):
    return any(p.kind == "buffer" for p in f.parameters)


def interfaces(f, library):
    """Suffix of the name, and interface, of each entry point of the function. Large counts are in mpi_f08 only."""
    if f.int_form:
        return [("_f08ts", "kF08Described") if library == "mpich" and has_choice_buffer(f) else ("_f08", "kF08")]
    found = [("", "kMpifH")]
    if f.name in WITH_C_PTR:
        found.append(("_cptr", "kMpifH"))
    if f.has("removed") or f.name in NOT_IN_F08 or f.name in C_IN_F08[library]:
        return found
    if library == "mpich" and has_choice_buffer(f):
        return found + [("_f08ts", "kF08Described")]
    return found + [("_f08", "kF08")]


class Argument:
    """What is generated for one parameter. Steps after the call come in the order of their numbers: 0 is what says how
    much the call completed, 1 and 2 are results, 3 is what needs those."""

    def __init__(self, f, p, library, places):
        self.name = p.name
        user = places[p.name]
        count = places.get(p.array)
        self.passed = user  # what the Fortran function gets
        self.given = None  # what the hooks get; None: the member stays null
        self.declaration = None  # of the object that converts it
        self.needs_memory = False
        self.after = []  # (order, statement) after a call that succeeded
        self.always = None  # statement after every call
        self.failed = []  # (order, statement) after a call that failed
        array = p.array is not None
        c = f"{p.name}_c"
        if p.kind in VALUES:
            scalar_in = p.direction == "in" and not array
            self.given = (f"as_value<kUsed, {VALUES[p.kind]}>({user})" if scalar_in
                          else f"static_cast<{p.c_type()}>({user})")
        elif p.kind == "baseptr":
            self.given = user
        elif p.kind == "buffer":
            self.given = f"as_buffer<kUsed>({user}, interface)"
        elif p.kind == "logical" and p.direction == "in" and not array:
            self.given = f"as_logical<kUsed>({user})"
        elif p.kind == "logical" and not array:
            self._object("OutLogical<kUsed>", user, (0, f"{c}.take();"))
        elif p.kind == "index" and not array:
            self._object("OutIndex<kUsed>", f"{user}, interface", (1, f"{c}.take();"))
        elif p.kind == "index":
            self._object("Indices<kUsed>", f"{user}, {count}, interface", (2, f"{c}.take(found);"))
            self.failed = [(2, f"{c}.take(told_of(b.outcount, b.incount));")]
            self.needs_memory = True
        elif p.kind == "status" and p.direction == "out":
            self.passed = f"{c}.passed(b.{p.name})"
            if array:
                self._object("Statuses<kUsed>", f"{user}, {count}, interface",
                             (3, f"if (!{c}.take(b.{p.name}, found)) seen = kNotSeen;"))
                self.failed = [(3, f"b.{p.name} = {c}.told(b.{p.name}, {told_count(f, p)});")]
                self.needs_memory = True
            else:
                self._object("Status<kUsed>", f"{user}, interface", (3, f"if (found != 0) {c}.take(b.{p.name});"))
                self.failed = [(3, f"{c}.take(b.{p.name});")]
                if library == "openmpi" and f.name == "MPI_Request_get_status":
                    self.passed = user  # it says .false. without looking where the status is ignored
        elif p.kind == "request" and array:
            told = [q.name for q in f.parameters if q.kind == "index"]
            took = f"{c}.take(b.{told[0]}, found);" if told else f"if (found != 0) {c}.take();"
            self._object("Requests<kUsed>", f"{user}, {count}", (3 if told else 1, took))
            self.always = f"{c}.take();"
            self.needs_memory = True
        elif p.kind == "type" and p.array == "" and p.direction == "in":
            self._types(f, p, c, places)
        elif p.kind in ("session", "stream"):
            pass  # no hook looks at it
        elif p.kind == "string" and p.direction == "in" and p.name in HOOKED_STRINGS:
            self._object("InString<kUsed>", f"{user}, {p.name}_length")
            self.needs_memory = True
        elif p.kind in HANDLES and not array and p.direction == "in":
            self.given = f"as_handle<kUsed, {KINDS[p.kind]}>({user})"
        elif p.kind in HANDLES and not array:
            has_value = p.direction == "inout"
            self._object(f"OutHandle<kUsed, {KINDS[p.kind]}>", f"{user}, {str(has_value).lower()}",
                         (1, f"if (found != 0) {c}.take();" if p.kind == "message" else f"{c}.take();"))
            if has_value:
                self.always = f"{c}.take();"

    def _object(self, cls, arguments, *after):
        self.declaration = f"{cls} {self.name}_c({arguments});"
        self.given = f"{self.name}_c.given()"
        self.after = list(after)

    def _types(self, f, p, c, places):
        """The datatypes of an alltoallw: one for each process that it sends to, or receives from."""
        side = p.name.removesuffix("types")
        of = "kMembers"
        if "eighbor" in f.name:
            of = "kDestinations" if side == "send" else "kSources"
        self._object("Types<kUsed>", f"{places[p.name]}, is_in_place({places[side + 'buf']}, interface)",
                     (3, f"if (!{c}.take(b.comm, Types<kUsed>::Of::{of})) seen = kNotSeen;"),
                     (3, f"b.{p.name} = {c}.given();"))


def told_count(f, p):
    """How many statuses a call that failed has filled in, at most."""
    some = any(q.name == "outcount" for q in f.parameters)
    return "told_of(b.outcount, b.incount)" if some else f"b.{p.array}"


def found_count(f):
    """How many requests the call completed, or how many messages it found."""
    flags = [p.name for p in f.parameters if p.kind == "logical" and p.direction == "out"]
    arrays = [p.array for p in f.parameters if p.kind == "status" and p.array]
    if any(p.name == "outcount" for p in f.parameters):
        return "*b.outcount == MPI_UNDEFINED ? 0 : *b.outcount"
    count = f"b.{arrays[0]}" if arrays else "1"
    return f"*b.{flags[0]} == 0 ? 0 : {count}" if flags else count


def call_body(f, arguments, lengths):
    """The measured call: the Fortran function, then C's side of the arguments."""
    passed = ", ".join([a.passed for a in arguments] + ["&error"] + lengths)
    steps = sorted((step for a in arguments for step in a.after), key=lambda step: step[0])
    after = [text for _, text in steps]
    always = [a.always for a in arguments if a.always]
    always += [text for _, text in sorted((step for a in arguments for step in a.failed), key=lambda step: step[0])]
    out = [f"forward({passed});"]
    if not after:
        return out + ["return error;"]
    out += ["if (error != MPI_SUCCESS) {"] + [f"  {text}" for text in always] + ["  return error;", "}"]
    if any("found" in text for text in after):
        after.insert(sum(order == 0 for order, _ in steps), f"const int found = {found_count(f)};")
    if any("seen" in text for text in after):
        return out + ["int seen = MPI_SUCCESS;"] + after + ["return seen;"]
    return out + after + ["return MPI_SUCCESS;"]


def body(f, library):
    """The function that all entry points of an MPI function share, and its parameters. It gets the caller's arguments
    as an array, so that they are on the stack once."""
    parameters = [p for p in f.parameters if p.kind not in ("varargs", "argc", "argv")]
    lengths = [f"{p.name}_length" for p in parameters if p.kind in STRINGS]
    struct = f.struct_name()
    if f.returns != "int":
        text = (f"[[gnu::noinline]] {f.returns} {struct}_in_fortran(Entry& entry, const void* caller) {{\n"
                f"  auto* const forward = entry.get<{f.returns}()>(caller);\n"
                f"  if (forward == nullptr) [[unlikely]] return next_{f.name}();\n"
                f"  if (!is_live()) [[unlikely]] return forward();\n"
                f"  return measured_in_fortran(entry, caller, args::{struct}{{}}, [&](args::{struct}&) {{ return forward(); }});\n}}\n")
        return text, [], [], f.returns
    names = [p.name for p in parameters] + ["ierror"]
    places = {name: f"at[{i}]" for i, name in enumerate(names)}
    types = ", ".join(["void*"] * len(names) + ["std::size_t"] * len(lengths))
    head = (f"[[gnu::noinline]] void {struct}_in_fortran("
            f"{', '.join(['Entry& entry', 'const void* caller', 'void* const* at'] + ['std::size_t ' + n for n in lengths])}) {{\n"
            f"  auto* const forward = entry.get<void({types})>(caller);\n")
    forwarded = ", ".join(list(places.values()) + lengths)
    arguments = [Argument(f, p, library, places) for p in parameters]
    memory = " || ".join(f"!{a.name}_c.ok()" for a in arguments if a.needs_memory)
    given = ", ".join(f".{a.name} = {a.given}" for a in arguments if a.given is not None)
    short = f.name.lower().removeprefix("mpi_")
    ierror = places["ierror"]
    out = [f'if (forward == nullptr) [[unlikely]] return say_missing({ierror}, "{short}");',
           f"if (!is_live()) [[unlikely]] return forward({forwarded});",
           f"using Args = args::{struct};",
           "[[maybe_unused]] constexpr bool kUsed = kHooked<Args>;",
           "[[maybe_unused]] const Interface interface = entry.interface();"]
    out += [a.declaration for a in arguments if a.declaration]
    if memory:
        out.append(f"if ({memory}) [[unlikely]] return forward({forwarded});")
    out += ["MPI_Fint error = MPI_SUCCESS;",
            f"measured_in_fortran(entry, caller, Args{{{given}}}, [&]([[maybe_unused]] Args& b) -> int {{"]
    out += [f"  {line}" for line in call_body(f, arguments, lengths)]
    out += ["});", f"give_error({ierror}, error);"]
    return head + "".join(f"  {line}\n" for line in out) + "}\n", names, lengths, "void"


def entry_points(f, library, names, lengths, result):
    """Each in the spellings of all compilers."""
    out = []
    declared = ", ".join([f"void* {n}" for n in names] + [f"std::size_t {n}" for n in lengths])
    given = f"  void* const at[] = {{{', '.join(names)}}};\n" if names else ""
    forwarded = "".join(", " + n for n in (["at"] if names else []) + lengths)
    for base, suffix, interface in entry_names(f, library):
        looked_up = base + ("_cptr" if suffix == "_cptr" else "")
        large = ", true" if f.int_form else ""
        for name in spelled(f, base, suffix):
            out.append(f"KOJAK_FORTRAN {result} {name}_({declared}) {{\n{given}"
                       f'  static constinit Entry entry{{"{looked_up}", Interface::{interface}{large}}};\n'
                       f"  return {f.struct_name()}_in_fortran(entry, __builtin_return_address(0){forwarded});\n}}\n")
            for spelling in (f"{name}__", name, name.upper()):
                out.append(f'KOJAK_FORTRAN {result} {spelling}({declared}) __attribute__((alias("{name}_")));\n')
    return "".join(out)


def spelled(f, base, suffix):
    """An entry point's names: with large counts MPICH says mpi_put_f08ts_large before version 4.1, mpi_put_c_f08ts since."""
    return [f"{base}{suffix}_large", f"{base}_c{suffix}"] if f.int_form else [base + suffix]


def entry_names(f, library):
    """Of each entry point the name without suffixes, the interface's suffix and the interface."""
    names = f.c_names() if library == "openmpi" else [f.name]
    return [(name.removesuffix("_c").lower() if f.int_form else name.lower(), suffix, interface)
            for name in names for suffix, interface in interfaces(f, library)]


def source(table, library, part):
    functions = [f for f in table.functions if in_part(f, part) and f.name not in OWN_WRAPPERS]
    out = [BANNER, part_begins(part),
           '#include "epilog/mpi/fortran/convert.h"\n#include "epilog/mpi/fortran/entry.h"\n',
           hook_headers(functions), '\n#define KOJAK_FORTRAN extern "C" __attribute__((visibility("default"), used))\n\n',
           "namespace kojak::measure::fortran {\nnamespace {\n"]
    exported = []
    for f in functions:
        text, names, lengths, result = body(f, library)
        out.append(f"\n// {f.name}\n{text}")
        exported.append(entry_points(f, library, names, lengths, result))
    out.append("\n}  // namespace\n\n")
    out += exported
    out += ["\n}  // namespace kojak::measure::fortran\n", part_ends(part)]
    return "".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True)
    parser.add_argument("--library", required=True, choices=LIBRARIES)
    parser.add_argument("--part", required=True, choices=PARTS)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    try:
        table = read_table(args.table)
    except TableError as error:
        sys.exit(str(error))
    write(args.out, source(table, args.library, args.part))


if __name__ == "__main__":
    main()
