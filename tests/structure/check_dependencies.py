#!/usr/bin/env python3
"""Checks that includes point one way: format <- runtime <- mpi; format <- merge;
format <- earl <- expert <- tools. The measurement library never depends on earl or expert.

Rooms inside a folder go one way, too, and nobody outside EARL names earl::detail.

Usage: check_dependencies.py ROOT. Prints each include that points the wrong way; exit status 1 then.
"""
import pathlib
import re
import sys

# What files of a folder may include, besides their own folder. tools/cli is command-line support:
# only programs (main.cc and files beside it that it names) use it, libraries never print.
ALLOWED = {
    "epilog/format": [],
    "epilog/runtime": ["epilog/format"],
    "epilog/armci": [],
    "epilog/gasp": ["epilog/format", "epilog/runtime", "epilog/armci"],
    "epilog/mpi": ["epilog/format", "epilog/model", "epilog/runtime", "epilog/armci"],
    "epilog/openmp": ["epilog/format", "epilog/runtime"],
    "epilog/shmem": ["epilog/format", "epilog/model", "epilog/runtime"],
    "epilog/model": ["epilog/format"],
    "merge": ["epilog/format", "epilog/model"],
    "earl": ["epilog/format", "epilog/model"],
    "expert": ["epilog/format", "epilog/model", "earl"],
    "tools": ["epilog/format", "epilog/model", "epilog/runtime", "epilog/armci", "merge", "earl", "expert"],
}
# Rooms inside a folder: each may include those before it.
ROOMS = {"merge": ["input", "define", "complete", "clock", "write"],
         "expert": ["metrics", "waits", "patterns", "sums", "causes", "ends", "profile", "cube",
                    "findings", "output", "page", "parallel"]}
# Where what lies in the folder itself stands above all rooms.
OWN_ROOF = {"expert"}
ABOVE = "parallel"  # uses the analysis, too
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def folder_of(path):
    for folder in ALLOWED:
        if path == folder or path.startswith(folder + "/"):
            return folder
    return None


def wrong_includes(root):
    for folder, allowed in ALLOWED.items():
        for source in sorted((root / folder).rglob("*")):
            if source.suffix not in (".h", ".cc", ".c", ".inc", ".def"):
                continue
            relative = source.relative_to(root).as_posix()
            if folder_of(relative) != folder:
                continue
            program = source.name == "main.cc" or source.stem == "input"
            for target in INCLUDE.findall(source.read_text(errors="replace")):
                to = folder_of(target)
                if to is None or to == folder or to in allowed:
                    continue
                if program and target.startswith("tools/cli/"):
                    continue
                # The merge as a library.
                if to == "merge" and (relative in ("expert/input.h", "expert/input.cc") or
                                      relative.startswith("expert/parallel/")):
                    continue
                yield f"{relative}: includes {target}, but {folder} may only use {allowed or 'itself'}"


def wrong_rooms(root):
    for folder, rooms in ROOMS.items():
        for source in sorted((root / folder).rglob("*")):
            parts = source.relative_to(root / folder).parts
            if source.suffix not in (".h", ".cc") or parts[0] not in rooms:
                continue
            for target in INCLUDE.findall(source.read_text(errors="replace")):
                to = target.split("/")
                if to[0] != folder:
                    continue
                if to[1] not in rooms and folder in OWN_ROOF and parts[0] != ABOVE:
                    yield f"{source.relative_to(root)}: includes {target}, which stands above all rooms"
                elif to[1] in rooms and rooms.index(to[1]) > rooms.index(parts[0]):
                    yield f"{source.relative_to(root)}: includes {target}, a later room than its own"
        for room in rooms:
            if not any((root / folder / room).glob("*.h")):
                yield f"{folder}/{room}: no headers: wrong name?"


def wrong_parallel(root):
    """The analysis knows nothing of other processes: only the program's main function does."""
    for source in sorted((root / "expert").rglob("*")):
        relative = source.relative_to(root).as_posix()
        if source.suffix not in (".h", ".cc") or relative.startswith("expert/parallel/") or relative == "expert/main.cc":
            continue
        for target in INCLUDE.findall(source.read_text(errors="replace")):
            if target.startswith("expert/parallel/"):
                yield f"{relative}: includes {target}, which only expert/main.cc may"


def named_details(root):
    """What is EARL's own (earl/detail, namespace earl::detail), outside of EARL."""
    for folder in ("epilog", "merge", "expert", "tools"):
        for source in sorted((root / folder).rglob("*")):
            if source.suffix not in (".h", ".cc"):
                continue
            for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
                if "earl::detail" in line or "earl/detail/" in line:
                    yield f"{source.relative_to(root)}:{number}: names what is EARL's own: {line.strip()}"


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(wrong_includes(root)) + list(wrong_rooms(root)) + list(wrong_parallel(root)) + list(named_details(root))
    seen = sum(1 for folder in ALLOWED for _ in (root / folder).rglob("*.h"))
    if seen < 10:
        found.append(f"only {seen} headers found under {root}: wrong folder?")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
