#!/usr/bin/env python3
"""Compares functions.table with an installed mpi.h: table_matches_header.py TABLE COMPILER...

Fails on every MPI function that the header declares and the table neither lists nor exempts, and on
every listed one whose C parameters differ or that the header's version should have. COMPILER is a preprocessor command, e.g. `cc -I/path -E`.
"""

import re
import subprocess
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "epilog" / "mpi"))
from function_table import read_table  # noqa: E402


# Open MPI's persistent collective operations are declared apart.
HEADERS = """#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
int kojak_version = MPI_VERSION * 10 + MPI_SUBVERSION;
"""


def preprocessed(compiler):
    done = subprocess.run(compiler + ["-P", "-x", "c", "-"], input=HEADERS, text=True,
                          capture_output=True, check=True)
    return re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", done.stdout)


def declared(text):
    """name -> list of parameter types, for every MPI_ prototype"""
    found = {}
    for match in re.finditer(r"\b([A-Za-z_][\w ]*?[\s*]+)(MPIX?_\w+)\s*\(([^;{}]*)\)\s*;", text, re.S):
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


def without_const(types_):
    return [re.sub(r"^const", "", text) for text in types_]


def main():
    table = read_table(sys.argv[1])
    text = preprocessed(sys.argv[2:])
    header = declared(text)
    tens, ones = re.search(r"kojak_version = (\d+) \* 10 \+ (\d+)", text).groups()
    version = int(tens) * 10 + int(ones)
    known = {name: f for f in table.functions for name in f.c_names()}
    if len(header) < 300:
        sys.exit(f"only {len(header)} functions found in mpi.h: the header is not understood")
    faults = []
    for name, parameters in sorted(header.items()):
        if name in known:
            ours = known[name].c_parameter_types()
            # MPICH declares some of what MPI 4 added without the const of the standard and of Open MPI.
            later = known[name].since >= 40
            if ours != parameters and not (later and without_const(ours) == without_const(parameters)):
                faults.append(f"{name}: the table says {ours}, mpi.h {parameters}")
        elif table.exemption(name) is None:
            faults.append(f"{name}: declared in mpi.h, missing from the table")
    for name, function in known.items():
        expected = function.since <= version and not function.has("removed") and name.startswith("MPI_")
        if name not in header and expected:
            faults.append(f"{name}: in the table, not declared in mpi.h")
    for name in known:
        if table.exemption(name) is not None and name in header:
            faults.append(f"{name}: both in the table and exempt")
    print(f"{len(known)} functions in the table, {len(header)} declared in mpi.h")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
