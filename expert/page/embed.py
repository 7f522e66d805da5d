#!/usr/bin/env python3
"""Turns the built front end into a C++ source file: assets.h declares what it defines.

Usage: embed.py SCRIPT STYLE OUTPUT
"""
import base64
import hashlib
import pathlib
import sys


def literal(data):
    # Pieces, because compilers limit the length of one string literal; octal escapes of three digits
    # cannot run into what follows.
    lines = []
    for at in range(0, len(data), 100):
        piece = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}"
                        for b in data[at:at + 100])
        lines.append(f'    "{piece}"')
    return "\n".join(lines)


def main():
    script, style, output = (pathlib.Path(word) for word in sys.argv[1:4])
    parts = ['#include "expert/page/assets.h"', "", "namespace kojak::html {", ""]
    for name, path in (("kScript", script), ("kStyle", style)):
        data = path.read_bytes().rstrip(b"\n")
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        parts.append(f"const std::string_view {name}(\n{literal(data)},\n    {len(data)});")
        parts.append(f'const std::string_view {name}Digest("{digest}");')
    parts += ["", "}  // namespace kojak::html", ""]
    output.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
