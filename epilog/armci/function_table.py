"""Reads functions.table, the one list of ARMCI functions (its head explains the format).

A malformed line raises TableError naming file and line. Used by generate.py and by the coverage tests.
"""

import dataclasses
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from table_file import FAMILIES, REGION_TYPES, in_order, read_flags, read_prototype, read_rows  # noqa: E402

FLAGS = ["blocks", "progress", "wrap"]
LIBRARIES = ["both", "comex", "armci_mpi"]
TYPES = {"Int": "int", "Long": "long", "Float": "float", "Double": "double"}
PARAMETERS = {
    "argc", "argv", "comm", "requested", "src", "dst", "bytes", "proc", "src_stride", "dst_stride", "count", "levels", "darr",
    "len", "value", "flag", "set", "type", "scale", "handle", "group", "op", "ploc", "prem", "bases", "size", "device", "ptr",
    "info", "memory_flag", "offset", "num", "mutex", "pval", "pids", "parent",
}


@dataclasses.dataclass
class Function:
    name: str
    family: str
    role: str
    region_type: str
    library: str
    flags: list
    element: str  # C type that {T} stands for, or empty
    returns: str
    parameters: list

    def has(self, flag):
        return flag in self.flags

    def takes(self, name):
        return any(p.name == name for p in self.parameters)

    def real(self):
        """What the front calls."""
        return f"__real_{self.name}" if self.has("wrap") else f"P{self.name}" if self.name.isupper() or \
            self.name.startswith("ARMCI") else f"p{self.name}"

    def common(self):
        return self.library == "both" and not self.has("wrap")


@dataclasses.dataclass
class Table:
    functions: list = dataclasses.field(default_factory=list)  # sorted by name
    exempt: dict = dataclasses.field(default_factory=dict)  # name -> reason


def _expanded(row, words):
    name, family, role, region_type, library, flags = words
    for word in TYPES if "{T}" in name else [""]:
        element = TYPES.get(word, "")
        typed = lambda text, element=element: re.sub(r"\bT\b", element, text) if element else text  # noqa: E731
        returns, parameters = read_prototype(row.text, PARAMETERS, typed, row.fail)
        yield Function(name.replace("{T}", word), family, role, region_type, library, flags, element, returns, parameters)


def read_table(path):
    table = Table()
    for row in read_rows(path, table.exempt):
        words = row.head.split()
        if len(words) != 6:
            row.fail("expected NAME FAMILY ROLE REGION_TYPE LIBRARY FLAGS")
        if words[1] not in FAMILIES or words[3] not in REGION_TYPES or words[4] not in LIBRARIES:
            row.fail("unknown family, region type or library")
        words[5] = read_flags(words[5], FLAGS, row.fail)
        table.functions.extend(_expanded(row, words))
    table.functions = in_order(table.functions, path)
    return table
