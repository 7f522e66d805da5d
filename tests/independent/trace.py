"""A merged trace as elg_print prints it: definitions, the list of events, and the calls (region instances).

Only what the text says is used: nothing of EARL's states or pointers.
"""
import re
import struct

STRING = re.compile(r' str="((?:[^"\\]|\\.)*)"$')
ESCAPE = re.compile(r'((?:\\[0-7]{3})+)|\\(.)')
ENTERS = {"ENTER", "ENTER_CS", "LOG_OFF", "ENTER_TRACING"}
EXITS = {"EXIT", "MPI_COLLEXIT", "OMP_COLLEXIT", "MPI_WINEXIT", "MPI_WINCOLLEXIT", "COLLEXIT", "LOG_ON",
         "EXIT_TRACING"}
DEFINITIONS = {
    "STRING", "STRING_CNT", "MACHINE", "NODE", "PROCESS", "THREAD", "LOCATION", "FILE", "REGION", "METRIC",
    "MPI_COMM", "MPI_COMM_CNT", "OFFSET", "LAST_DEF", "NUM_EVENTS", "CALL_SITE", "CART_TOPOLOGY", "CART_COORDS",
    "MPI_WIN", "CALL_PATH", "CALL_SITE_CALLER", "MPI_GROUP", "MPI_GROUP_CNT", "MPI_COMM_REF", "EPILOG", "MERGED_RUN",
    "COMM_IDENTITY", "WIN_IDENTITY", "EVENT_COUNT64", "CLOCK_ERROR", "LOST", "COMM_REMOTE", "FUNCTIONS_OFF",
    "RUN_PROPERTY", "COMM_NAME", "WIN_NAME", "SHMEM_LOCK_NAME"}
ATTRIBUTES = {"ATTR_UI1", "ATTR_UI4", "ATTR_UI8"}
REQUEST, SENT, RECEIVED = 2, 5, 6  # kinds of attributes
PAUSING, TRACING = "PAUSING", "TRACING"


class Event:
    """One event record; its fields are attributes, absent ones None. `call` is the call that it lies in."""

    def __init__(self, kind, pos, fields, attributes):
        self.__dict__.update(fields)
        self.kind_ = fields.get("kind")  # of what an MPI_REQUEST_COMPLETE tells
        self.kind, self.pos, self.attributes, self.call = kind, pos, attributes, None

    @property
    def request(self):
        return self.attributes.get(REQUEST)

    def bytes(self, attribute, field):
        return self.attributes.get(attribute, getattr(self, field, None) or 0)


class Call:
    """A region instance: from its enter record to its exit record."""

    def __init__(self, location, process, region, path, enter, parent):
        self.location, self.process, self.region, self.path = location, process, region, path
        self.begin, self.enter, self.parent = enter, enter.time, parent
        self.end, self.exit = None, None  # the exit record, None if the trace does not close the region
        self.children, self.events = [], []
        self.passed = []  # call paths of functions that are entered with it
        self.name = region.function
        self.assertion = 0
        self.function = None  # of MPI
        self.leaf = None  # the metric that its time belongs to

    @property
    def exit_pos(self):
        return self.end.pos if self.end is not None else float("inf")

    def exclusive(self):
        """The times in it that are in none of the calls within it."""
        at, result = self.enter, []
        for child in self.children:
            if child.enter > at:
                result.append((at, child.enter))
            at = max(at, child.exit)
        if self.exit > at:
            result.append((at, self.exit))
        return result


class Region:
    def __init__(self, name, kind):
        self.name, self.kind, self.function = name, kind, None


class Trace:
    def __init__(self, lines):
        self.definitions = {}
        self.events = []
        self.native = False
        self._read(lines)
        self._define()
        self._open_calls()

    # ---- reading

    def _read(self, lines):
        attributes, known = {}, {}
        for line in lines:
            if not line or line[0] == "#":
                continue
            if line.startswith("EPILOG"):
                self.native = not line.split()[1].startswith("1.")
                continue
            if line.startswith("STRING"):
                text = STRING.search(line)
                line = line[:text.start()]
                words = line.split(" ")
                fields = {"str": ESCAPE.sub(_unescaped, text.group(1))}
            else:
                words = line.split(" ")
                fields = {}
            for word in words[1:]:
                field = known.get(word)
                if field is None:
                    name, _, value = word.partition("=")
                    if name == "time":  # no other event has it
                        fields["time"] = float(value)
                        continue
                    field = known[word] = (name, value if name == "grpv" else _value(value))
                fields[field[0]] = field[1]
            if "time" in fields:
                self.events.append(Event(words[0], len(self.events), fields, attributes))
                attributes = {}
            elif words[0] in ATTRIBUTES:
                attributes[fields["kind"]] = fields["value"]
            else:
                self.definitions.setdefault(words[0], []).append(fields)

    def _rows(self, name):
        return self.definitions.get(name, [])

    def _define(self):
        strings = self._strings()
        self.strings = strings
        self.process_of = {d["lid"]: d["pid"] for d in self._rows("LOCATION")}
        self.thread_of = {d["lid"]: d["tid"] for d in self._rows("LOCATION")}
        self.node_of = {d["pid"]: d["nid"] for d in self._rows("LOCATION")}
        self.files = {d["fid"]: strings.get(d["fnid"], "") for d in self._rows("FILE")}
        self.regions = {d["rid"]: Region(strings.get(d["rnid"], ""), d["rtype"]) for d in self._rows("REGION")}
        self.sites = {d["csid"]: d for d in self._rows("CALL_SITE")}
        self.callers = {d["csid"]: d["caller"] for d in self._rows("CALL_SITE_CALLER")}
        self.clock_error = {}
        for d in self._rows("CLOCK_ERROR"):
            self.clock_error[d["nid"]] = max(d["bound"], self.clock_error.get(d["nid"], 0))
        self.functions_off = self._rows("FUNCTIONS_OFF")
        self.run = (self._rows("MERGED_RUN") or [{}])[0]
        self.properties = {(strings[d["key"]], d["pid"]): strings[d["value"]] for d in self._rows("RUN_PROPERTY")}
        self._define_comms()
        self.windows = {d["wid"]: d["cid"] for d in self._rows("MPI_WIN")}
        window_identity = {d["wid"]: d for d in self._rows("WIN_IDENTITY")}
        self.unpaired_windows = {w for w, d in window_identity.items() if d["flags"] & 1}
        self.shared_windows = {w for w, d in window_identity.items() if d["flavour"] == 4}

    def _strings(self):
        strings, at, left = {}, None, 0
        for name in ("STRING", "STRING_CNT"):
            assert all("str" in row for row in self._rows(name))
        parts = iter(self._rows("STRING_CNT"))
        for row in self._rows("STRING"):
            at, left = row["strid"], row["cntc"]
            strings[at] = row["str"]
            for _ in range(left):
                strings[at] += next(parts)["str"]
        return strings

    def _define_comms(self):
        groups, parts = {}, iter(self._rows("MPI_GROUP_CNT"))
        world = sorted(self.node_of)
        for row in self._rows("MPI_GROUP"):
            ranks = list(row["ranks"])
            while len(ranks) < row["count"] and not row["mode"] & 1:
                ranks += next(parts)["ranks"]
            groups[row["gid"]] = world[:row["count"]] if row["mode"] & 1 else ranks
        self.members = {row["cid"]: groups[row["gid"]] for row in self._rows("MPI_COMM_REF")}
        self.remote = {row["cid"]: groups[row["gid"]] for row in self._rows("COMM_REMOTE")}
        more = iter(self._rows("MPI_COMM_CNT"))
        for row in self._rows("MPI_COMM"):
            bits, count = row["grpv"], row["grpc"] * 8
            while len(bits) < count:
                bits += next(more)["grpv"]
            self.members[row["cid"]] = [i for i, bit in enumerate(bits) if bit == "1"]
        self.unpaired_comms = {row["cid"] for row in self._rows("COMM_IDENTITY") if row["flags"] & 1}

    def property_of(self, name, process):
        """What was said of one process goes before what was said of the whole run."""
        return self.properties.get((name, process), self.properties.get((name, None)))

    def serves_since(self, location):
        """When a location begins to serve the others; never: infinity."""
        thread = self.thread_of[location]
        key = "service.since" if thread == 0 else f"service.since.{thread}"
        said = self.properties.get((key, self.process_of[location]))
        return float("inf") if said is None else float(said)

    def _with_callers(self, csid):
        """A call site and those that led to it, outermost first."""
        path = [csid]
        while path[0] in self.callers:
            path.insert(0, self.callers[path[0]])
        return path

    def paths_from(self, path, csid):
        """The call paths that a call from this site in `path` enters, its own last."""
        paths = []
        for site in map(self.sites.get, self._with_callers(csid)):
            place = (self.files.get(site["fid"], ""), -1 if site["lno"] is None else site["lno"])
            path += ((self.regions[site["erid"]].name, place),)
            paths.append(path)
        return paths

    # ---- calls

    def _open_calls(self):
        self.calls, stacks, self.open_calls = [], {}, []
        pseudo = {"LOG_OFF": Region(PAUSING, 0), "ENTER_TRACING": Region(TRACING, 0)}
        last = {}
        for event in self.events:
            stack = stacks.setdefault(event.lid, [])
            if event.kind in ENTERS:
                parent = stack[-1] if stack else None
                path = parent.path if parent else ()
                passed = []  # the call paths of functions that are entered with the call
                if event.kind == "ENTER":
                    region = self.regions[event.rid]
                    path += ((region.name, None),)
                elif event.kind == "ENTER_CS":
                    region = self.regions[self.sites[event.csid]["erid"]]
                    *passed, path = self.paths_from(path, event.csid)
                else:
                    region = pseudo[event.kind]
                    path += ((region.name, None),)
                call = Call(event.lid, self.process_of[event.lid], region, path, event, parent)
                call.passed = passed
                event.call = call
                if parent:
                    parent.children.append(call)
                self.calls.append(call)
                stack.append(call)
            else:
                event.call = stack[-1] if stack else None
                if event.call is not None:
                    event.call.events.append(event)
                if event.kind in EXITS and stack:
                    call = stack.pop()
                    call.end, call.exit = event, event.time
            last[event.lid] = event.time
        for stack in stacks.values():
            for call in stack:  # what the trace leaves open ends with the location's last event
                call.exit = last[call.location]
                self.open_calls.append(call)
        self.pauses = {}
        for call in self.calls:
            if call.region.name == PAUSING:
                self.pauses.setdefault(call.process, []).append((call.enter, call.exit))
        self.spans = {}
        for event in self.events:
            process = self.process_of[event.lid]
            first, _ = self.spans.get(process, (event.time, None))
            self.spans[process] = (first, event.time)

    @staticmethod
    def number(value, kind):
        """The value of a hardware counter: an integer, or the bits of a double."""
        return struct.unpack("<d", struct.pack("<Q", value))[0] if kind == 1 else value

    def delta(self, first, second):
        """How far the clocks of two processes may disagree."""
        first, second = self.node_of[first], self.node_of[second]
        if first == second:
            return 0.0
        return self.clock_error.get(first, 0.0) + self.clock_error.get(second, 0.0)


def _unescaped(match):
    if match.group(1):  # bytes
        return bytes(int(code, 8) for code in match.group(1).split("\\")[1:]).decode(errors="replace")
    return {"n": "\n", "t": "\t", "r": "\r"}.get(match.group(2), match.group(2))


def _value(text):
    if text == "absent":
        return None
    if text.startswith("["):
        inner = text[1:-1]
        return [_value(part) for part in inner.split(",")] if inner else []
    if text.startswith("0x"):
        return int(text, 16)
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text
