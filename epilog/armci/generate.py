#!/usr/bin/env python3
"""Makes C++ and C from functions.table. Run by the build; every output goes into the build tree.

  generate.py --table functions.table --rows OUT       rows of epilog/format/armci_functions.cc
  generate.py --table functions.table --front OUT      the front's functions that both libraries have
  generate.py --table functions.table --front OUT --part NAME   one that only one has; wrap: those of --wrap; all
  generate.py --table functions.table --others OUT     names of those that only one library has
  generate.py --table functions.table --wrapped OUT    those that the linker wraps, as strings of C++
"""

from function_table import read_table
from table_file import c_type, parameters, passed, run, shmem_rows

BANNER = "Made by epilog/armci/generate.py from epilog/armci/functions.table. Do not edit."


def rows(table):
    return shmem_rows(f"// {BANNER}\n", table.functions, lambda f: "0, PgasModel::kArmci")


def moved(f, remote):
    """The remote address and the bytes of a transfer."""
    if f.takes("darr"):
        return f"elg_armci_vector_{remote}(darr, len), elg_armci_vector_bytes(darr, len)"
    size = "elg_armci_strided_bytes(count, levels)" if f.takes("levels") else \
        f"sizeof({f.element})" if f.element else "bytes > 0 ? (unsigned long long)bytes : 0"
    return f"{remote}, {size}"


def transfer(f):
    kinds = ["ELG_FRONT_GET" if "get" in f.role else "ELG_FRONT_PUT"]
    if f.role.endswith("_nbi"):
        kinds.append("ELG_FRONT_NONBLOCKING")
    if f.role.startswith("atomic"):
        kinds.append("ELG_FRONT_ATOMIC")
    handle = "handle" if f.takes("handle") else "0"
    return f"table->transfer(&call, {' | '.join(kinds)}, {handle}, {moved(f, 'src' if 'get' in f.role else 'dst')}, proc);"


def completed(f):
    local = "ELG_FRONT_LOCAL" if f.role.startswith("local") else "ELG_FRONT_PUTS"
    handle = "handle" if f.takes("handle") else "0"
    kind = local if f.takes("handle") else f"{local} | ELG_FRONT_ANY_HANDLE"
    proc = "proc" if f.takes("proc") else "ELG_FRONT_NOBODY"
    group = "&of" if f.takes("group") else "0"
    call = f"table->completed(&call, {kind}, {handle}, {proc}, {group});"
    if f.takes("group"):
        call = f"{{ const elg_front_group of = elg_armci_group(group); {call} }}"
    return f"if (result == 0) {call} else table->end(&call);" if f.role == "local_test" else call


def met(f, completes):
    def told(group):
        if f.takes("bases"):
            return f"table->allocated(&call, {group}, bases);"
        if f.role == "free" and f.takes("ptr"):
            return f"table->freed(&call, {group}, ptr);"
        return f"table->met(&call, {group}, {completes});"

    if f.takes("group"):
        return f"{{ const elg_front_group of = elg_armci_group(group); {told('&of')} }}"
    if f.family == "init" or "mutexes" in f.name:
        return told("0")
    return f"{{ elg_front_group of; elg_armci_handle room; {told('elg_armci_default_group(&of, &room)')} }}"


def ending(f):
    """What is told when the call has returned."""
    role = f.role
    if f.name == "armci_notify":
        return "table->notified(&call, proc);"
    if role == "wait_until":
        return "table->notification_found(&call, proc, pval != 0 ? *(const int*)pval : 0);"
    if role == "put_signal":
        return f"table->put_flag(&call, {moved(f, 'dst')}, flag, proc);"
    if role == "atomic_get_put":  # the operations on a long have odd numbers in both libraries
        return ("table->transfer(&call, ELG_FRONT_PUT | ELG_FRONT_GET | ELG_FRONT_ATOMIC, 0, prem, "
                "op % 2 != 0 ? sizeof(long) : sizeof(int), proc);")
    if role.startswith(("put", "get", "atomic")):
        return transfer(f)
    if role in ("local_wait", "local_test", "quiet"):
        return completed(f)
    if role in ("barrier", "sync", "malloc", "free", "team_create", "init", "finalize"):
        completes = role in ("barrier", "finalize") or (role == "free" and "mutexes" not in f.name)
        return met(f, int(completes))
    return {"set_lock": "table->locked(&call, mutex, proc);", "clear_lock": "table->unlocked(&call, mutex, proc);"}.get(
        role, "table->end(&call);")


def real(f, shared):
    """How the library's own function is declared, or found."""
    result, types = c_type(f.returns), parameters(f) or "void"
    if not shared:
        return f"extern {result} {f.real()}({types});\n"
    name = f.name if f.has("wrap") else f.real()
    back = "" if result == "void" else "return "
    return (f"static {result} {f.real()}({types}) {{\n"
            f"  static {result} (*found)({types});\n"
            f"  {result} (*real)({types}) = __atomic_load_n(&found, __ATOMIC_RELAXED);\n"
            f"  if (real == 0) {{\n    *(void**)&real = elg_armci_next(\"{name}\");\n"
            f"    __atomic_store_n(&found, real, __ATOMIC_RELAXED);\n  }}\n"
            f"  {back}real({passed(f)});\n}}\n")


def wrapper(number, f, shared):
    result, name = c_type(f.returns), f.name if shared or not f.has("wrap") else f"__wrap_{f.name}"
    space = "" if result.endswith("*") else " "
    keeps = "" if result == "void" else f"{result}{space}const result = " if space == "" else f"const {result} result = "
    call = f"{f.real()}({passed(f)})"
    proc = "proc" if f.takes("proc") else "ELG_FRONT_NOBODY"
    begin = f"ELG_BEGIN(table, &call, {number}, {proc})"
    out = [real(f, shared),
           f"{result} {name}({parameters(f) or 'void'}) {{\n",
           "  const elg_front_table* const table = elg_armci_table();\n  elg_front_call call;\n"]
    if f.role == "init":
        out += [f"  const int begun = table != 0 && {begin};\n", f"  {keeps}{call};\n",
                "  if (table != 0) elg_armci_arrived(table);\n", f"  if (begun) {ending(f)}\n"]
    else:
        out += [f"  if (table == 0 || !{begin}) ", f"{{ {call}; return; }}\n" if result == "void" else f"return {call};\n",
                f"  {keeps}{call};\n", f"  {ending(f)}\n"]
    if keeps:
        out.append("  return result;\n")
    out.append("}\n\n")
    return "".join(out)


def front(table, part):
    out = [f"/* {BANNER} */\n", '#include "epilog/armci/front_calls.h"\n\n']
    for number, f in enumerate(table.functions):
        wanted = part == "all" or part == f.name or (part == "wrap" and f.has("wrap")) or (part == "common" and f.common())
        if wanted:
            out.append(wrapper(number, f, part == "all"))
    return "".join(out)


def main():
    run(__doc__, read_table, {
        "rows": lambda table, _: rows(table),
        "front": front,
        "wrapped": lambda table, _: "".join(f'"{f.name}",\n' for f in table.functions if f.has("wrap")),
        "others": lambda table, _: "\n".join(f.name for f in table.functions if f.library != "both"),
    }, default="common")


if __name__ == "__main__":
    main()
