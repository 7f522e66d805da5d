"""Reads functions.table, the one list of SHMEM functions as templates (its head explains the format).

A malformed line raises TableError naming file and line. Used by generate.py and by the coverage tests.
"""

import dataclasses
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from table_file import FAMILIES, REGION_TYPES, Parameter, in_order, read_flags, read_prototype, read_rows  # noqa: E402

FLAGS = ["blocks", "progress", "ctx", "own"]
# The C type that a type's name stands for.
TYPES = {
    "float": "float", "double": "double", "longdouble": "long double", "char": "char", "schar": "signed char",
    "short": "short", "int": "int", "long": "long", "longlong": "long long", "uchar": "unsigned char",
    "ushort": "unsigned short", "uint": "unsigned int", "ulong": "unsigned long", "ulonglong": "unsigned long long",
    "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "uint8": "uint8_t",
    "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "size": "size_t", "ptrdiff": "ptrdiff_t",
    "complexf": "float _Complex", "complexd": "double _Complex",
}
PARAMETERS = {
    "ctx", "pe", "dest", "source", "fetch", "nelems", "value", "cond", "dst", "sst", "ivar", "ivars", "cmp", "cmp_value",
    "cmp_values", "status", "indices", "start", "log_stride", "size", "psync", "pwrk", "root", "team", "lock", "ptr",
    "bytes", "count", "alignment", "hints", "sig_addr", "signal", "sig_op", "requested", "provided", "npes", "level",
    "options", "addr", "src_team", "src_pe", "dest_team", "config_mask", "config", "stride", "new_team", "xrange",
    "xaxis_config", "xaxis_mask", "xaxis_team", "yaxis_config", "yaxis_mask", "yaxis_team",
}


@dataclasses.dataclass
class Function:
    name: str
    template: str
    family: str
    role: str
    region_type: str
    since: int
    flags: list
    element: str  # C type of an element, or a number of bits, or empty
    returns: str
    parameters: list

    def has(self, flag):
        return flag in self.flags

    def takes(self, name):
        return any(p.name == name for p in self.parameters)

    def element_bytes(self):
        """As a C++ expression."""
        if self.element.isdigit():
            return str(int(self.element) // 8)
        return f"sizeof({self.element})" if self.element else "0"


@dataclasses.dataclass
class Table:
    functions: list = dataclasses.field(default_factory=list)  # sorted by name
    exempt: dict = dataclasses.field(default_factory=dict)  # name -> reason


def _typed(text, element):
    """A prototype's type for one element: T is the type itself, N only a size."""
    if element.isdigit():
        return re.sub(r"\bN\b", "void", text)
    return re.sub(r"\bT\b", element, text) if element else text


def _expanded(row, prototype, element_name, fail):
    name, family, role, region_type, since, flags, _ = row
    element = element_name if element_name.isdigit() else TYPES.get(element_name, "")
    if element_name and not element:
        fail(f"unknown type '{element_name}'")
    returns, parameters = read_prototype(prototype, PARAMETERS, lambda text: _typed(text, element), fail)
    full = name.replace("{T}", element_name).replace("{N}", element_name)
    plain = Function(full, name, family, role, region_type, int(since), [f for f in flags if f != "ctx"], element,
                     returns, parameters)
    yield plain
    if "ctx" in flags:
        context = [Parameter("Context", "ctx")]
        yield dataclasses.replace(plain, name=full.replace("shmem_", "shmem_ctx_", 1), since=max(plain.since, 14),
                                  template=name.replace("shmem_", "shmem_ctx_", 1), parameters=context + parameters)


def read_table(path):
    table = Table()
    lists = {}
    for row in read_rows(path, table.exempt):
        words = row.head.split()
        if words[0] == "types":
            name, types = row.named("types")
            lists.setdefault(name, []).extend(types.split())
            continue
        if len(words) != 7:
            row.fail("expected NAME FAMILY ROLE REGION_TYPE SINCE FLAGS TYPES")
        if words[1] not in FAMILIES or words[3] not in REGION_TYPES:
            row.fail("unknown family or region type")
        words[5] = read_flags(words[5], FLAGS, row.fail)
        names = [] if words[6] == "-" else [n for part in words[6].split(",") for n in lists.get(part, [part])]
        for element in names or [""]:
            table.functions.extend(_expanded(words, row.text, element, row.fail))
    table.functions = in_order(table.functions, path)
    return table
