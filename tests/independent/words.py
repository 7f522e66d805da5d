#!/usr/bin/env python3
"""No two groups of causes of one report have equal words: nobody could tell them apart.

Usage: words.py BINARY_DIR FOLDER    FOLDER: traces as text, as unit_metamorphic keeps them (NAME.txt)
Prints what is wrong; exit status 1 then.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter


def equal_words(result):
    """Of a report as JSON: words that two of its groups, or two parts of one, have in common."""
    groups = result.get("groups", [])
    wrong = [words for words, count in Counter(g["words"] for g in groups).items() if count > 1]
    for group in groups:
        places = Counter((p.get("caller"), p.get("caller_file"), p.get("caller_line")) for p in group["parts"])
        wrong += [f"{group['words']}: parts from {place}" for place, count in places.items() if count > 1]
    return wrong


def check(expert, trace, cube):
    """Raises AssertionError where two groups of a trace's report say the same."""
    ran = subprocess.run([expert, "-q", "--causes=always", "--json", "-", "-o", cube, trace],
                         capture_output=True, check=False)
    if ran.returncode not in (0, 3):
        raise AssertionError(f"expert ended with {ran.returncode}: {ran.stderr.decode(errors='replace')}")
    twice = equal_words(json.loads(ran.stdout))
    if twice:
        raise AssertionError(f"{trace}: two groups have the words {', '.join(twice)}")


def main():
    binary, folder = (pathlib.Path(argument) for argument in sys.argv[1:])
    texts = sorted(folder.glob("*.txt"))

    def of(text):
        with tempfile.TemporaryDirectory(prefix="kojak-words-") as place:
            trace, cube = (pathlib.Path(place) / name for name in ("a.elg", "a.cube"))
            made = subprocess.run([binary / "tests" / "text_trace", text, trace], capture_output=True, check=False)
            if made.returncode != 0:
                return f"{text.name}: {made.stderr.decode(errors='replace')}"
            try:
                check(binary / "bin" / "expert", trace, cube)
            except AssertionError as wrong:
                return f"{text.name}: {wrong}"
        return None

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [line for line in pool.map(of, texts) if line is not None]
    for line in wrong:
        print(line)
    print(f"{len(texts)} traces, {len(wrong)} with equal words")
    return 1 if wrong or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
