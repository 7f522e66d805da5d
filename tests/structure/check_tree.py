#!/usr/bin/env python3
"""Checks the layout of the tree: the fixed top-level folders, that a source file above 500 lines
says in its opening comment why ("long because ..."), that a folder of rooms holds at most 20 things
(a header and its source are one), and that the analysis stays a list of who listens and who finds.

Usage: check_tree.py ROOT. Prints what is wrong; exit status 1 then.
"""
import pathlib
import sys

TOP = {"CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "epilog", "merge", "earl",
       "expert", "tools", "tests", "docs", "build"}
ROOMS = {"expert", "merge"}
MOST = 20
MOST_LINES = {"expert/analysis.cc": 350, "expert/pass.h": 350}
SOURCES = {".cc", ".h", ".c", ".py", ".ts", ".f90", ".F90"}


def main():
    root = pathlib.Path(sys.argv[1])
    found = [f"{entry.name}: the top level holds only {', '.join(sorted(TOP))}"
             for entry in sorted(root.iterdir())
             if entry.name not in TOP and not entry.name.startswith(".")]
    checked = 0
    for folder in sorted(TOP - {"build"}):
        for source in sorted((root / folder).rglob("*")) if (root / folder).is_dir() else []:
            if source.suffix not in SOURCES or "node_modules" in source.parts:
                continue
            checked += 1
            lines = source.read_text(errors="replace").splitlines()
            if len(lines) > 500 and "long because" not in "\n".join(lines[:30]).lower():
                found.append(f"{source.relative_to(root)}: {len(lines)} lines and no reason given")
    for name, most in MOST_LINES.items():
        lines = len((root / name).read_text().splitlines())
        if lines > most:
            found.append(f"{name}: {lines} lines, more than {most}: what finds waits or listens has files of its own")
    for folder in ROOMS:
        for room in [root / folder, *sorted((root / folder).rglob("*"))]:
            things = {source.stem for source in room.glob("*") if source.suffix in {".cc", ".h"}} if room.is_dir() else ()
            if len(things) > MOST:
                found.append(f"{room.relative_to(root)}: {len(things)} things, more than {MOST}: make rooms")
    if checked < 50:
        found.append(f"only {checked} source files found under {root}: wrong folder?")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
