#!/usr/bin/env python3
"""Makes C++ and C from functions.table. Run by the build; every output goes into the build tree.

  generate.py --table functions.table --rows OUT               rows of epilog/format/shmem_functions.cc
  generate.py --table functions.table --forwards OUT           the library's own functions, for the wrappers
  generate.py --table functions.table --own OUT                their names, as a static SHMEM library has them
  generate.py --table functions.table --wrappers OUT --part P  entry points of one part
"""

from function_table import read_table
from table_file import FAMILIES, c_type, camel, parameters, passed, run, shmem_rows

BANNER = "// Made by epilog/shmem/generate.py from epilog/shmem/functions.table. Do not edit.\n"
FAMILY_NUMBERS = {name: number for number, name in enumerate(FAMILIES)}
# Parts that are compiled each by itself.
PARTS = ["put", "get", "atomic", "wait", "coll", "rest"]


def rows(table):
    return shmem_rows(BANNER, table.functions, lambda f: f.since)


def part_of(f):
    if f.role.startswith("put"):
        return "put"
    if f.role.startswith("get"):
        return "get"
    if f.role.startswith("atomic"):
        return "atomic"
    if f.role.startswith(("wait", "test")) and f.role != "test_lock":
        return "wait"
    return "coll" if f.family == "coll" else "rest"


def forward(number, f):
    """The library's own function, which is looked up when it is called first: which version of OpenSHMEM the library has
    is known when it runs."""
    result = c_type(f.returns)
    types = ", ".join(c_type(p.c_type) for p in f.parameters)
    missing = f'missing_shmem_function("{f.name}")'
    fail = f"return {missing};" if result == "void" else \
        f"return {missing}, static_cast<{result}>(0);" if "*" not in result else f"return {missing}, nullptr;"
    return (f"[[gnu::always_inline]] inline {result} kojak_p{f.name}({parameters(f)}) {{\n"
            f"  void* own = the_shmem_own[{number}].load(std::memory_order_acquire);\n"
            f'  if (own == nullptr) [[unlikely]] own = find_own_shmem({number}, "{f.name}");\n'
            f"  if (own == nullptr) [[unlikely]] {fail}\n"
            f"  return reinterpret_cast<{result} (*)({types})>(own)({passed(f)});\n}}\n")


def next_call(number, f):
    """What the program's call goes on to: another library's function between it and SHMEM, else the library's own."""
    result = c_type(f.returns)
    types = ", ".join(c_type(p.c_type) for p in f.parameters)
    return (f"[[gnu::always_inline]] inline {result} next_{f.name}({parameters(f)}) {{\n"
            f"  void* next = the_shmem_chain[{number}].load(std::memory_order_acquire);\n"
            f'  if (next == nullptr) [[unlikely]] next = find_next_shmem({number}, "{f.name}", '
            f"reinterpret_cast<void*>(static_cast<{result} (*)({types})>(&kojak_p{f.name})));\n"
            f"  return reinterpret_cast<{result} (*)({types})>(next)({passed(f)});\n}}\n")


def own(table):
    return "".join([BANNER] + [f"KOJAK_OWN({f.name})\n" for f in table.functions])


def forwards(table):
    out = [BANNER, "#pragma once\n\n", '#include "epilog/shmem/chain.h"\n', '#include "epilog/shmem/handles.h"\n\n',
           "namespace kojak::measure {\n\n",
           f"static_assert({len(table.functions)} <= kShmemSlots);\n"]
    out += [forward(number, f) + next_call(number, f) for number, f in enumerate(table.functions)]
    out.append("\n// What hand-written wrappers are called by.\n")
    for number, f in enumerate(table.functions):
        if f.has("own"):
            out.append(f"inline constexpr ShmemEntry k{camel(f.name.strip('_'))}{entry(number, f)};\n")
    out.append("\n}  // namespace kojak::measure\n")
    return "".join(out)


def entry(number, f):
    group = "carries_time" if f.has("blocks") or f.has("progress") else "carries_none"
    return (f"{{kFirstShmemFunction + {number}, {group}({FAMILY_NUMBERS[f.family]}), "
            f"{str(f.has('blocks')).lower()}}}")


def context(f):
    return "ctx" if f.takes("ctx") else "nullptr"


def transfer(f, address, kind, more=""):
    count = "nelems * " if f.takes("nelems") else ""
    return f"call.{kind}({context(f)}, {address}, {count}{f.element_bytes()}, pe{more});"


def members(f):
    if f.takes("team"):
        return "TeamMembers{team}"
    return "ActiveSet{start, log_stride, size}" if f.takes("start") else "AllMembers{}"


def collective(f):
    """Bytes as coll_bytes.h has them for MPI's: what this process gives and gets, its own part included."""
    root = "root" if f.takes("root") else "-1"
    count = f"static_cast<std::uint64_t>(nelems) * {f.element_bytes()}" if f.takes("nelems") else "0"
    shape = {"broadcast": "Shape::kBroadcast", "collect": "Shape::kCollect", "fcollect": "Shape::kFcollect",
             "alltoall": "Shape::kAlltoall", "reduce": "Shape::kReduce"}.get(f.role, "Shape::kNone")
    completes = "true" if f.role == "barrier" else "false"
    return f"call.collective({members(f)}, {root}, {shape}, {count}, {completes});"


def wait(f):
    """Of functions for several variables those that have the value are looked at one by one."""
    each = f.takes("cmp_values")
    value = "cmp_values" if each else "&cmp_value"
    shape = f"WaitShape{{{f.element_bytes()}, {'cmp' if f.takes('cmp') else 'kNotEqual'}, {value}, {str(each).lower()}}}"
    found = "result != 0" if f.role.startswith("test") else "true"
    if f.takes("ivar"):
        return f"call.waited({shape}, ivar, {found});"
    if f.role.endswith("_all"):
        return f"call.waited_all({shape}, ivars, nelems, static_cast<const int*>(status), {found});"
    if f.role.endswith("_any"):
        return f"call.waited_any({shape}, ivars, nelems, result);"
    return f"call.waited_some({shape}, ivars, nelems, static_cast<const std::size_t*>(indices), result);"


def ending(f):
    """What is recorded when the call has returned."""
    role = f.role
    if role.startswith("put_signal"):
        nbi = str(role.endswith("nbi")).lower()
        return transfer(f, "dest", "put_signal", f", sig_addr, {nbi}")
    if role in ("put", "put_nbi", "put_strided"):
        return transfer(f, "dest", "put", f", TransferMode::k{camel(role[4:] or 'plain')}")
    if role in ("get", "get_nbi", "get_strided"):
        return transfer(f, "source", "get", f", TransferMode::k{camel(role[4:] or 'plain')}")
    if role == "atomic_put":
        return transfer(f, "dest", "put", ", TransferMode::kAtomic")
    if role in ("atomic_get", "atomic_get_nbi"):
        mode = "kAtomicNbi" if role.endswith("nbi") else "kAtomic"
        return transfer(f, "source", "get", f", TransferMode::{mode}")
    if role in ("atomic_get_put", "atomic_get_put_nbi"):
        mode = "kAtomicNbi" if role.endswith("nbi") else "kAtomic"
        return transfer(f, "dest", "get_and_put", f", TransferMode::{mode}")
    if role.startswith(("wait", "test")) and role != "test_lock":
        return wait(f)
    if f.family == "coll":
        return collective(f)
    return {
        "quiet": f"call.completed({context(f)});", "fence": "call.end();",
        "set_lock": "call.locked(lock);", "clear_lock": "call.unlocked(lock);",
        "test_lock": "call.tested_lock(lock, result == 0);",
        "malloc": "call.allocated(result, " + ("count * bytes" if f.takes("count") else "bytes") + ");",
        "realloc": "call.allocated(result, bytes);", "free": "call.freed();",
    }.get(role, "call.end();")


def about(f):
    """What is noted of a call while it may wait."""
    if not f.has("blocks"):
        return ""
    if f.family == "coll":
        return f"call.about_set({members(f)}, {'root' if f.takes('root') else '-1'});"
    if f.role in ("malloc", "realloc", "free"):
        return "call.about_set(AllMembers{}, -1);"
    if f.takes("pe"):
        return "call.about(pe);"
    if f.takes("ivar"):
        return "call.about(-1, place_of(ivar));"
    if f.takes("lock"):
        return "call.about(-1, raw(lock_of(lock)));"
    return ""


def wrapper(number, f):
    polls = ", ShmemCall::Polls{}" if f.role.startswith("test") else ""
    result = c_type(f.returns)
    keeps = "" if result == "void" else f"const {result} result = " if "*" not in result else f"{result} const result = "
    out = [f'\nKOJAK_WRAPPER {result} kojak_{f.name}({parameters(f)}) __asm__("{f.name}");\n',
           f"{result} kojak_{f.name}({parameters(f)}) {{\n",
           f"  if (!is_live()) [[unlikely]] return next_{f.name}({passed(f)});\n",
           f"  constexpr ShmemEntry kEntry{entry(number, f)};\n",
           f"  ShmemCall call(kEntry, __builtin_return_address(0){polls});\n"]
    if f.role == "exit":
        out.append("  call.end();\n")
        return "".join(out) + f"  next_{f.name}({passed(f)});\n}}\n"
    if about(f):
        out.append(f"  {about(f)}\n")
    out += [f"  {keeps}next_{f.name}({passed(f)});\n", f"  {ending(f)}\n"]
    if keeps:
        out.append("  return result;\n")
    out.append("}\n")
    return "".join(out)


def wrappers(table, part):
    out = [BANNER, '#include "epilog/shmem/call.h"\n', '#include "epilog/shmem/forwards.h"\n\n',
           "namespace kojak::measure {\n",
           '#define KOJAK_WRAPPER extern "C" __attribute__((visibility("default"), used))\n']
    out += [wrapper(number, f) for number, f in enumerate(table.functions) if part_of(f) == part and not f.has("own")]
    out.append("\n}  // namespace kojak::measure\n")
    return "".join(out)


def main():
    run(__doc__, read_table, {
        "rows": lambda table, _: rows(table),
        "forwards": lambda table, _: forwards(table),
        "own": lambda table, _: own(table),
        "wrappers": wrappers,
    }, choices=PARTS)


if __name__ == "__main__":
    main()
