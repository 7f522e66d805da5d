#!/usr/bin/env python3
"""Checks that the files which docs/contributing.md names exist, and that its three ways are no longer than
they promise: a put through the merge in 14 files, an event to a severity in 12 steps,
a wait to its cause to the page in 16.

A path in backquotes is one from the root of the tree; `.cc` alone is the one beside the header before it. A
name without a folder must be that of some file.

Usage: check_maps.py ROOT. Prints what is wrong; exit status 1 then.
"""
import pathlib
import re
import sys

NAMED = re.compile(r"`([\w./-]*\.(?:h|cc|py|def|table|ts|md|txt))`")
WAYS = {"## The way of a put": 14, "## From an event to a severity": 12,
        "## From a wait to its cause to the page": 16}


def main():
    root = pathlib.Path(sys.argv[1])
    text = (root / "docs/contributing.md").read_text()
    names = {path.name for folder in ("epilog", "merge", "earl", "expert", "tools", "tests", "docs")
             for path in (root / folder).rglob("*.*")}
    found, before, seen = [], "", 0
    for name in NAMED.findall(text):
        path = pathlib.PurePath(before).with_suffix(name).as_posix() if name in (".cc", ".h") and before else name
        before = path
        seen += 1
        if not ((root / path).is_file() if "/" in path else path in names):
            found.append(f"docs/contributing.md names {name}, which does not exist")
    for title, most in WAYS.items():
        if title not in text:
            found.append(f"docs/contributing.md has no chapter {title!r}")
            continue
        way = text.split(title + "\n")[1].split("\n## ")[0].split("Around it:")[0]
        rows = [row for row in way.splitlines() if row.startswith("| `")]
        if not 5 <= len(rows) <= most:
            found.append(f"{title!r} has {len(rows)} rows, not up to {most}")
    if seen < 40:
        found.append(f"only {seen} names of files found: another way of writing them?")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
