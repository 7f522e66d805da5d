#!/usr/bin/env python3
"""Checks that what is said of a program is said in one place: no text of five words or more of expert/findings stands in
a second file of it, in expert/output, in the page (its scripts too) or in a command.

Usage: check_words.py ROOT. Prints what is wrong; exit status 1 then. Small and capital letters are the same.
"""
import pathlib
import re
import sys

SAYS = "expert/findings"
ELSEWHERE = (SAYS, "expert/output", "expert/page", "tools")
SUFFIXES = {".h", ".cc", ".ts"}
FEWEST = 5
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def text_of(source):
    """Without comments; literals that follow one another are one."""
    lines = re.sub(r"(^|\s)(//|#include).*$", "", source.read_text(errors="replace"), flags=re.MULTILINE)
    return re.sub(r'"\s*\n\s*"', "", lines)


def main():
    root = pathlib.Path(sys.argv[1])
    texts = {s: text_of(s) for folder in ELSEWHERE for s in sorted((root / folder).rglob("*"))
             if s.suffix in SUFFIXES and "node_modules" not in s.parts}
    said = {}
    for source, text in texts.items():
        if source.parent != root / SAYS:
            continue
        for literal in LITERAL.findall(text):
            words = literal.strip(" .,;:").lower()
            if len(re.findall(r"[a-z]{2,}", words)) >= FEWEST:
                said.setdefault(words, set()).add(source)
    found = [f"{source.relative_to(root)}: says \"{words}\", as {sorted(by)[0].relative_to(root)} does"
             for source, text in texts.items() for words, by in said.items()
             if (by - {source} or source not in by) and words in text.lower() and source != sorted(by)[0]]
    if len(said) < 50:
        found.append(f"only {len(said)} texts found under {root}: wrong folder?")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
