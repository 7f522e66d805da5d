#!/usr/bin/env python3
"""Every function of ARMCI that can be profiled is in functions.table, and those in the table are there: by an installed
armci.h and libarmci.a (--header, --archive), else by the stand-in's object files."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "epilog/armci"))
from function_table import read_table  # noqa: E402

COUNTS = {"all": 75, "both": 55, "one": 14, "wrap": 6}


def defined(archive):
    lines = subprocess.run(["nm", "-g", "--defined-only", archive], capture_output=True, text=True, check=True).stdout
    return {line.split()[2] for line in lines.splitlines() if len(line.split()) == 3}


def main():
    table = read_table(ROOT / "epilog/armci/functions.table")
    library, archive, header = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
    counts = {"all": len(table.functions), "both": sum(f.common() for f in table.functions),
              "one": sum(f.library != "both" for f in table.functions), "wrap": sum(f.has("wrap") for f in table.functions)}
    wrong = [] if counts == COUNTS else [f"the table has {counts}, not {COUNTS}"]
    there = defined(archive)
    ours = {f.real(): f for f in table.functions if f.library in ("both", library) and not f.has("wrap")}
    profiled = {name for name in there if re.match(r"PARMCI_|parmci_", name)}
    wrong += [f"{name} is not in the table" for name in sorted(profiled - set(ours))]
    wrong += [f"the library has no {name}" for name in sorted(set(ours) - there)]
    wrong += [f"the library has no {f.name}" for f in table.functions if f.has("wrap") and f.name not in there]
    if header:
        text = re.sub(r"/\*.*?\*/", "", pathlib.Path(header).read_text(), flags=re.S)
        names = set(re.findall(r"\b(ARMCI_\w+)\s*\(", text))
        known = {f.name for f in table.functions} | set(table.exempt)
        wrong += [f"{name} of {header} is neither in the table nor exempt" for name in sorted(names - known)]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
