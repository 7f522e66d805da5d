#!/usr/bin/env python3
"""Checks that expert/html/web/dist was built from the sources that stand beside it.

Usage: check_assets.py ROOT. The script's first line holds the digest that build.mjs computed.
"""
import hashlib
import pathlib
import re
import sys


def main():
    web = pathlib.Path(sys.argv[1]) / "expert/html/web"
    digest = hashlib.sha256()
    for source in sorted((web / "src").iterdir(), key=lambda path: path.name):
        digest.update(source.name.encode() + b"\n" + source.read_bytes())
    first = (web / "dist/report.js").read_text().split("\n", 1)[0]
    found = re.search(r"sources sha256 ([0-9a-f]{64})", first)
    if found is None or found.group(1) != digest.hexdigest():
        print("expert/html/web/dist is older than src: run `npm ci && npm run build` in "
              "expert/html/web and commit dist (see docs/report.md)")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
