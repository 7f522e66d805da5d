#!/usr/bin/env python3
"""Checks that expert/page/web/dist is what the sources beside it give.

Usage: check_assets.py ROOT. The script's first line holds the digests that build.mjs computed: of the
sources, and of script and style sheet. Where node and the packages of package-lock.json are installed
the front end is built again, and both must be the same to the byte.
"""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

REMEDY = "run `npm ci && npm run build` in expert/page/web and commit dist (see docs/report.md)"


def digest(parts):
    value = hashlib.sha256()
    for part in parts:
        value.update(part)
    return value.hexdigest()


def faults(web):
    names = ["../tables.def", "build.mjs", "package-lock.json", "tables.mjs", "tsconfig.json"]
    names += [f"src/{path.name}" for path in sorted((web / "src").iterdir(), key=lambda p: p.name)]
    sources = digest(part for name in names for part in (name.encode() + b"\n", (web / name).read_bytes()))
    head, script = (web / "dist/report.js").read_bytes().split(b"\n", 1)
    found = re.search(rb"sources sha256 ([0-9a-f]{64}); output sha256 ([0-9a-f]{64})", head)
    if found is None:
        yield "dist/report.js does not begin with its digests"
        return
    if found.group(1).decode() != sources:
        yield "dist is older than src"
    if found.group(2).decode() != digest([script, (web / "dist/report.css").read_bytes()]):
        yield "dist was changed after it was made"
    node = shutil.which("node")
    if node is not None and (web / "node_modules/esbuild").is_dir():
        with tempfile.TemporaryDirectory(prefix="kojak-assets-") as folder:
            subprocess.run([node, "build.mjs", folder], cwd=web, check=True, stdout=subprocess.DEVNULL)
            for name in ("report.js", "report.css"):
                if (pathlib.Path(folder) / name).read_bytes() != (web / "dist" / name).read_bytes():
                    yield f"the sources give another {name} than dist holds"


def main():
    wrong = list(faults(pathlib.Path(sys.argv[1]) / "expert/page/web"))
    for line in wrong:
        print(f"expert/page/web: {line}: {REMEDY}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
