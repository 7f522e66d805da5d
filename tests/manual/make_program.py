#!/usr/bin/env python3
"""Writes a GoogleTest file with the C++ examples of the EARL manual, a test for each.

Usage: make_program.py DOCS_FOLDER OUTPUT
"""
import pathlib
import re
import sys

from chapters import examples

HEAD = """// Made by tests/manual/make_program.py from the examples of the EARL manual.
#include "tests/manual/manual.h"

// The examples name things as they like.
#pragma GCC diagnostic ignored "-Wshadow"

using namespace kojak;
using namespace kojak::earl;
using test::print;
"""
TEST = """
TEST(Manual, {name}) {{
  test::run_example(R"trace({trace})trace", R"expected({expected})expected",
      [&]([[maybe_unused]] Archive& archive, [[maybe_unused]] Trace& trace) {{ {{
#line {line} "docs/{chapter}"
{code}  }} }});
}}
"""


def main():
    docs, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    found = examples(docs, "cpp")
    includes, tests = set(), []
    for example in found:
        includes.update(re.findall(r"(?m)^#include .*$", example.code))
        code = re.sub(r"(?m)^#include .*$", "", example.code)
        tests.append(TEST.format(name=example.name, trace=example.trace, code=code,
                                 expected="\n".join(example.expected), line=example.line,
                                 chapter=example.chapter))
    head = HEAD.replace("\n\n// The", "\n" + "\n".join(sorted(includes)) + "\n\n// The", 1)
    output.write_text(head + "".join(tests))


if __name__ == "__main__":
    main()
