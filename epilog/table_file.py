"""What the tables of functions (epilog/mpi, epilog/shmem, epilog/armci) and the programs that read them share.

A table has rows: a line that begins in the first column, with the indented lines below it as its text. Empty lines
and lines that begin with # are passed over.
"""

import argparse
import dataclasses
import os
import re
import sys
import typing

FAMILIES = ["p2p", "coll", "rma", "io", "init", "comm", "misc"]
REGION_TYPES = {
    "function": 1, "barrier": 4, "one_to_all": 5, "all_to_one": 6, "all_to_all": 7,
    "other_collective": 8,
}


class TableError(Exception):
    pass


@dataclasses.dataclass
class Row:
    number: int  # of its first line
    head: str  # that line
    text: str  # the indented lines, joined by blanks
    fail: typing.Callable  # fail(reason) raises TableError with file and line

    def named(self, word):
        """The two parts of a row `word NAME: REST`."""
        name, colon, rest = self.head[len(word):].partition(":")
        if not colon:
            self.fail(f"expected {word} NAME: TEXT")
        return name.strip(), rest.strip()


def read_rows(path, exempt):
    """The rows of a table, in its order; what `exempt NAME: REASON` says goes into that dictionary.

    An indented line above the first row raises TableError."""
    for row in all_rows(path):
        if row.head.split()[0] == "exempt":
            name, reason = row.named("exempt")
            exempt[name] = reason
        else:
            yield row


def all_rows(path):
    row = None
    with open(path, encoding="utf-8") as lines:
        for number, raw in enumerate(lines, 1):
            def fail(reason, number=number):
                raise TableError(f"{path}:{number}: {reason}")

            line = raw.rstrip()
            if not line or line.startswith("#"):
                continue
            if line[0] != " ":
                if row is not None:
                    yield row
                row = Row(number, line, "", fail)
            elif row is None:
                fail("this line continues a row, and there is none above it")
            else:
                row.text = f"{row.text} {line.strip()}".strip()
    if row is not None:
        yield row


def read_flags(text, known, fail):
    """What a row's head says in one word: flags with commas between, or -."""
    flags = [] if text == "-" else text.split(",")
    for flag in flags:
        if flag not in known:
            fail(f"unknown flag '{flag}'")
    return flags


@dataclasses.dataclass
class Parameter:
    """Of a prototype of C."""
    c_type: str
    name: str


def read_prototype(text, names, typed, fail):
    """`RESULT (TYPE NAME, ...)`: the result's type and the parameters, each type by way of typed()."""
    match = re.fullmatch(r"(.+?) \((.*)\)", text)
    if not match:
        fail("a prototype is RESULT (TYPE NAME, ...)")
    read = []
    for part in filter(None, (part.strip() for part in match[2].split(","))):
        c, _, name = part.rpartition(" ")
        if name not in names:
            fail(f"unknown parameter '{name}'")
        read.append(Parameter(typed(c), name))
    return typed(match[1]), read


def in_order(functions, path):
    """By their names, of which none may be there twice."""
    functions = sorted(functions, key=lambda f: f.name)
    for one, other in zip(functions, functions[1:]):
        if one.name == other.name:
            raise TableError(f"{path}: {one.name} twice")
    return functions


def shmem_rows(banner, functions, rest):
    """Rows of a table of ShmemFunction; `rest` are the fields behind the common ones, of a function."""
    out = [banner, "constexpr ShmemFunction kFunctions[] = {\n"]
    for f in functions:
        out.append(f'    {{"{f.name}", MpiFamily::k{camel(f.family)}, ShmemRole::k{camel(f.role)}, '
                   f"{REGION_TYPES[f.region_type]}, {str(f.has('progress')).lower()}, "
                   f"{str(f.has('blocks')).lower()}, {rest(f)}}},\n")
    out.append("};\n")
    return "".join(out)


def camel(word):
    return "".join(part.capitalize() for part in word.split("_"))


def c_type(text):
    """In generated code an address is an address: it may be one of a type that is not known there."""
    return "const void*" if text.endswith("*") and text.startswith("const ") else \
        "void*" if text.endswith("*") else text


def parameters(f):
    return ", ".join(f"{c_type(p.c_type)} {p.name}" for p in f.parameters)


def passed(f):
    return ", ".join(p.name for p in f.parameters)


def write(path, text):
    """Writes a whole file or none; its folder is made."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(temporary, path)


def run(doc, read_table, outputs, **part):
    """The program of a table: --table FILE, an option with a file's name for each output (-: standard output), and --part,
    as argparse has it. An output is a function of the table and the part that makes the file's text."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True)
    for option in outputs:
        parser.add_argument(f"--{option}", metavar="OUT")
    parser.add_argument("--part", **part)
    args = parser.parse_args()
    try:
        table = read_table(args.table)
    except TableError as error:
        sys.exit(str(error))
    for option, text in outputs.items():
        path = getattr(args, option.replace("-", "_"))
        if path == "-":
            print(text(table, args.part))
        elif path:
            write(path, text(table, args.part))
