"""Reads functions.table, the one list of MPI functions (its head explains the format).

A function that is another form of one in the list (MPI_Put_c of MPI_Put, MPI_Bcast_init of MPI_Bcast) is made
here from that one's row.

A malformed line raises TableError naming file and line. Used by generate.py and by the coverage test.
"""

import dataclasses
import fnmatch
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from table_file import FAMILIES, REGION_TYPES, TableError, read_rows  # noqa: E402

CLASSES = [
    "point_to_point", "collective", "barrier", "rma_communication", "window_management", "fence",
    "general_active_target", "passive_target", "io", "init_exit", "management",
]
FLAGS = ["blocks", "progress", "removed", "large", "persistent"]
# C type of a value of each kind; arrays and out parameters are made from it.
C_TYPES = {
    "count": "int", "int": "int", "rank": "int", "tag": "int", "index": "int", "logical": "int",
    "aint": "MPI_Aint", "offset": "MPI_Offset", "bigcount": "MPI_Count", "comm": "MPI_Comm",
    "type": "MPI_Datatype", "request": "MPI_Request", "win": "MPI_Win", "group": "MPI_Group",
    "op": "MPI_Op", "info": "MPI_Info", "file": "MPI_File", "errhandler": "MPI_Errhandler",
    "message": "MPI_Message", "session": "MPI_Session", "stream": "MPIX_Stream",
}
HANDLES = ["comm", "type", "request", "win", "group", "op", "info", "file", "errhandler", "message", "session",
           "stream"]
OTHER_KINDS = ["buffer", "baseptr", "status", "string", "strings", "state", "attribute", "argc", "argv",
               "varargs"]


@dataclasses.dataclass
class Parameter:
    direction: str
    kind: str
    name: str
    array: str | None  # None: a scalar; else the text inside the brackets, maybe empty
    callback: str = ""
    doubly: bool = False  # [][]
    triples: bool = False  # [][3]
    large: str = ""  # its kind, or the callback's type, in the large form

    def in_large_form(self):
        if self.kind == "callback":
            return dataclasses.replace(self, callback=self.large or self.callback)
        return dataclasses.replace(self, kind=self.large or ("bigcount" if self.kind == "count" else self.kind))

    def c_type(self):
        """As a member or parameter: arrays are pointers."""
        const = "const " if self.direction == "in" else ""
        if self.kind in C_TYPES:
            base = C_TYPES[self.kind]
            if self.triples:
                return f"{base} (*)[3]"
            if self.array is not None:
                return f"{const}{base}*"
            return base if self.direction == "in" else f"{base}*"
        if self.kind == "strings":
            return "char***" if self.doubly else "char**"
        if self.kind == "callback":
            return f"{self.callback}*"
        return {
            "buffer": f"{const}void*", "status": f"{const}MPI_Status*", "string": f"{const}char*",
            "baseptr": "void*", "state": "void*", "attribute": "void*", "argc": "int*",
            "argv": "char***", "varargs": "...",
        }[self.kind]

    def is_handle(self):
        """A handle passed by value."""
        return self.kind in HANDLES and self.direction == "in" and self.array is None

    def declared(self, type_name=None):
        text = type_name or self.c_type()
        if "(*)" in text:
            return text.replace("(*)", f"(*{self.name})")
        return text if text == "..." else f"{text} {self.name}"


@dataclasses.dataclass
class Function:
    name: str
    family: str
    cls: str
    role: str
    region_type: str
    since: int
    flags: list
    returns: str
    parameters: list
    line: int
    int_form: str = ""  # of a large form: the name of the other
    operation: str = ""  # of a persistent collective operation: its blocking form

    def has(self, flag):
        return flag in self.flags

    def struct_name(self):
        """MPI_Put_c is PutC, MPIX_Comm_agree XCommAgree."""
        words = self.name.removeprefix("MPI").removeprefix("_").split("_")
        return "".join(word[:1].upper() + word[1:] for word in words)

    def c_names(self):
        """What C programs call it; Open MPI 4 has the persistent collective operations as extensions."""
        extension = self.operation and not self.int_form
        return [self.name] + ([self.name.replace("MPI_", "MPIX_")] if extension else [])

    def large_form(self):
        parameters = [p.in_large_form() for p in self.parameters]
        return dataclasses.replace(self, name=self.name + "_c", since=max(self.since, 40), parameters=parameters,
                                   flags=[flag for flag in self.flags if flag not in ("large", "persistent")],
                                   int_form=self.name)

    def persistent_form(self):
        more = [Parameter("in", "info", "info", None), Parameter("out", "request", "request", None)]
        return dataclasses.replace(self, name=self.name + "_init", cls="collective", role="persistent_collective",
                                   region_type="function", since=40, parameters=self.parameters + more,
                                   flags=[flag for flag in self.flags if flag != "persistent"],
                                   operation=self.name)

    def without_large(self):
        return dataclasses.replace(self, parameters=[p for p in self.parameters if p.kind != "-"])

    def c_parameter_types(self):
        """For comparison with mpi.h."""
        return [p.c_type().replace(" ", "").replace("(*)[3]", "*") for p in self.parameters]


@dataclasses.dataclass
class Table:
    functions: list = dataclasses.field(default_factory=list)  # sorted by name
    exempt: dict = dataclasses.field(default_factory=dict)  # name or pattern -> reason

    def exemption(self, name):
        for pattern, reason in self.exempt.items():
            if fnmatch.fnmatchcase(name, pattern):
                return reason
        return None


def _parameter(text, fail):
    words = text.split()
    direction = words.pop(0) if words and words[0] in ("in", "out", "inout") else "in"
    if len(words) != 2:
        fail(f"'{text}' is not [in|out|inout] KIND NAME")
    kind, name = words
    callback = ""
    kind, _, large = kind.partition("/")
    if kind.startswith("callback:"):
        kind, callback = kind.split(":")
    elif (kind not in C_TYPES and kind not in OTHER_KINDS and kind != "-") or large not in ("", *C_TYPES):
        fail(f"unknown kind '{words[0]}'")
    match = re.fullmatch(r"(\w+)(?:\[(\w*)\])?(\[3?\])?", name)
    if not match:
        fail(f"'{name}' is no parameter name")
    return Parameter(direction, kind, match[1], match[2], callback, match[3] == "[]", match[3] == "[3]", large)


def _function(words, line, fail):
    if len(words) != 7:
        fail("expected NAME FAMILY CLASS ROLE REGION_TYPE SINCE FLAGS")
    name, family, cls, role, region_type, since, flags = words
    for value, known in ((family, FAMILIES), (cls, CLASSES), (region_type, REGION_TYPES)):
        if value not in known:
            fail(f"unknown word '{value}'")
    returns = "int"
    kept = []
    for flag in [] if flags == "-" else flags.split(","):
        if flag.startswith("returns:"):
            returns = flag.split(":")[1]
        elif flag in FLAGS:
            kept.append(flag)
        else:
            fail(f"unknown flag '{flag}'")
    return Function(name, family, cls, role, region_type, int(since), kept, returns, [], line)


def read_table(path):
    table = Table()
    seen = set()
    for row in read_rows(path, table.exempt):
        words = row.head.split()
        function = _function(words, row.number, row.fail)
        if function.name in seen:
            row.fail(f"{function.name} twice")
        seen.add(function.name)
        for text in filter(None, (part.strip() for part in row.text.split(","))):
            function.parameters.append(_parameter(text, row.fail))
        table.functions.append(function)
    listed = table.functions + [f.persistent_form() for f in table.functions if f.has("persistent")]
    table.functions = [f.without_large() for f in listed] + [f.large_form() for f in listed if f.has("large")]
    if len({f.name for f in table.functions}) != len(table.functions):
        raise TableError(f"{path}: a function is both in the list and the other form of one")
    table.functions.sort(key=lambda f: f.name)
    return table
