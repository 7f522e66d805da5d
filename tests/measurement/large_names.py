#!/usr/bin/env python3
"""Writes a header that turns a C program's calls into those with large counts: large_names.py TABLE OUT.

With it, #define MPI_Send MPI_Send_c and its like, the programs of this folder call the other forms and
expect the same records of them; is_large() says whether a name has such a form.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "epilog" / "mpi"))
from function_table import read_table  # noqa: E402


def main():
    names = [f.int_form for f in read_table(sys.argv[1]).functions if f.int_form and f.since == 40]
    out = ["/* Made by tests/measurement/large_names.py. */\n#define KOJAK_LARGE_COUNTS\n#include <mpi.h>\n#include <string.h>\n",
           "static inline int is_large(const char* name, int length) {\n  static const char* const kNames[] = {\n"]
    out += [f'      "{name}",\n' for name in names]
    out.append("  };\n  for (unsigned i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {\n"
               "    if ((int)strlen(kNames[i]) == length && strncmp(kNames[i], name, (size_t)length) == 0) return 1;\n"
               "  }\n  return 0;\n}\n")
    out += [f"#define {name} {name}_c\n" for name in names]
    pathlib.Path(sys.argv[2]).write_text("".join(out), encoding="utf-8")


if __name__ == "__main__":
    main()
