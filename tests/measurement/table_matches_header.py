#!/usr/bin/env python3
"""Compares functions.table with an installed mpi.h: table_matches_header.py TABLE COMPILER...

Fails on every MPI function that the header declares and the table neither lists nor exempts, and on
every listed one whose C parameters differ. COMPILER is a preprocessor command, e.g. `cc -I/path -E`.
"""

import re
import subprocess
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "epilog" / "mpi"))
from function_table import read_table  # noqa: E402


def preprocessed(compiler):
    done = subprocess.run(compiler + ["-P", "-x", "c", "-"], input="#include <mpi.h>\n", text=True,
                          capture_output=True, check=True)
    return re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", done.stdout)


def declared(text):
    """name -> list of parameter types, for every MPI_ prototype"""
    found = {}
    for match in re.finditer(r"\b([A-Za-z_][\w ]*?[\s*]+)(MPI_\w+)\s*\(([^;{}]*)\)\s*;", text, re.S):
        if "typedef" not in match[1]:
            found[match[2]] = types(match[3])
    return found


def types(parameters):
    """Types without names; an array is a pointer, a final const of a by-value parameter is nothing."""
    out = []
    for text in parameters.split(","):
        text = " ".join(text.split())
        if text in ("void", ""):
            continue
        brackets = "*" * (text.count("[") if "[3]" not in text else 1)
        text = re.sub(r"\[\d*\]", "", text)
        if text != "..." and re.search(r"[\s*]\w+$", text) and text not in ("const int",):
            text = re.sub(r"\b\w+$", "", text)
        text = text.replace(" ", "") + brackets
        out.append(re.sub(r"^const(int)$", r"\1", text))
    return out


def main():
    table = read_table(sys.argv[1])
    header = declared(preprocessed(sys.argv[2:]))
    known = {f.name: f for f in table.functions}
    if len(header) < 300:
        sys.exit(f"only {len(header)} functions found in mpi.h: the header is not understood")
    faults = []
    for name, parameters in sorted(header.items()):
        if name in known:
            ours = known[name].c_parameter_types()
            if ours != parameters:
                faults.append(f"{name}: the table says {ours}, mpi.h {parameters}")
        elif name not in table.later and table.exemption(name) is None:
            faults.append(f"{name}: declared in mpi.h, missing from the table")
    for name, function in known.items():
        if name not in header and not function.has("removed"):
            faults.append(f"{name}: in the table, not declared in mpi.h")
    for name in set(table.later) & set(known):
        faults.append(f"{name}: listed both as MPI 3.1 and as later")
    print(f"{len(known)} functions in the table, {len(header)} declared in mpi.h")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
