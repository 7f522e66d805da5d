"""What the tables of functions (epilog/mpi, epilog/shmem, epilog/armci) and the programs that read them share.

A table has rows: a line that begins in the first column, with the indented lines below it as its text. Empty lines
and lines that begin with # are passed over.
"""

import dataclasses
import os
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
