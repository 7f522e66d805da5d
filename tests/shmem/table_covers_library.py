#!/usr/bin/env python3
"""Compares epilog/shmem/functions.table with a SHMEM library and with what libelg_shmem takes.

  table_covers_library.py TABLE LIBELG_SHMEM OSHCC

Every shmem_ function that the library exports must be in the table, or stand there as exempt with a reason; every
function of the table must be exported by our library; and those up to OpenSHMEM 1.4 must have the parameters and results
that shmem.h declares.
"""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "epilog" / "shmem"))
from function_table import read_table  # noqa: E402


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def exported(path):
    names = {line.split()[-1] for line in run("nm", "-D", "--defined-only", path).splitlines()}
    return {name for name in names if re.match(r"shmemx?_(?!internal|api)|start_pes$|_?my_pe$|_?num_pes$|sh(malloc|free|realloc|memalign)$|globalexit$", name)}


def library_of(compiler):
    folders = run(compiler, "--showme:libdirs").split() + ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"]
    return next(str(path) for folder in folders for path in [pathlib.Path(folder) / "liboshmem.so"] if path.exists())


def plain(text):
    return re.sub(r"\b(const|volatile)\b|\s+", "", text)


def declared(compiler, *options):
    """name -> types of result and parameters, as far as they can be compared: addresses are addresses."""
    text = run(compiler, *options, "-E", "-P", "-x", "c", "-std=c99", "-", text="#include <shmem.h>\n")
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|\bextern\b|\b__extension__\b", "", text)
    found = {}
    for result, name, parameters in re.findall(r"([\w \*]+?)\b(shmem_\w+)\s*\(([^()]*)\)\s*;", text):
        parts = [part.strip() for part in parameters.split(",")]
        found[name] = [plain(result)] + [plain(re.sub(r"\b\w+$", "", part)) for part in parts if part != "void"]
    return found


def comparable(text):
    return "*" if "*" in text or text.endswith(("shmem_ctx_t", "shmem_team_t")) or text in ("Context", "Team") else plain(text)


def compare_with_header(table, header, faults, in_header=None):
    """Adds to the faults what shmem.h declares and the table lacks, or has in another way; says how many it compared.
    `in_header`: first types by which a header is known to differ from the standard's, {function: (its, standard's)}."""
    known = {f.name: f for f in table.functions}
    compared = 0
    for name, types in sorted(header.items()):
        if name in table.exempt:
            continue
        if name not in known:
            faults.append(f"{name}: declared in shmem.h, missing from the table")
            continue
        f = known[name]
        mine = [comparable(f.returns)] + [comparable(p.c_type) for p in f.parameters]
        compared += 1
        told = [comparable(t) for t in types if t != "..."]  # shmem_pcontrol of Open MPI 5
        its, standard = (in_header or {}).get(name, (None, None))
        if told[0] == its:
            told[0] = standard
        if mine != told:
            faults.append(f"{name}: the table says {mine}, shmem.h {types}")
    return compared


def main():
    table_path, ours, compiler = sys.argv[1:]
    table = read_table(table_path)
    known = {f.name: f for f in table.functions}
    taken = exported(ours)
    faults = []
    theirs = exported(library_of(compiler))
    if len(theirs) < 500:
        faults.append(f"only {len(theirs)} functions found in the library: it is not understood")
    for name in sorted(theirs - known.keys() - table.exempt.keys()):
        faults.append(f"{name}: in the library, missing from the table")
    for name in sorted(known.keys() - taken):
        faults.append(f"{name}: in the table, not exported by libelg_shmem")
    compared = compare_with_header(table, declared(compiler), faults,
                                   {"shmem_team_sync": ("void", "int")})  # of Open MPI 5
    print(f"{len(known)} functions in the table, {len(theirs)} in the library, {compared} compared with shmem.h")
    if faults or compared < 800:
        sys.exit("\n".join(faults) or "shmem.h is not understood")


if __name__ == "__main__":
    main()
