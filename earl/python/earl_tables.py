"""Traces and reports as tables of pandas: earl.load_report, earl.load_waits, and Trace.to_pandas.

Traces come out of numpy columns, without a Python object for each event; text columns are categories.
"""
import json
import xml.etree.ElementTree as xml

import numpy

KINDS = ("events", "calls", "messages", "transfers", "polls")


def _pandas():
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tables need pandas: install Debian's package python3-pandas") from error
    return pandas


def _category(pandas, codes, names):
    """Numbers as categories by name; -1 is none."""
    names = list(names)
    unique = list(dict.fromkeys(names))
    if len(unique) != len(names):  # several of one name are one category
        place = {name: i for i, name in enumerate(unique)}
        codes = numpy.append([place[name] for name in names], -1)[codes]
    return pandas.Categorical.from_codes(codes, unique)


def _regions(pandas, trace, codes):
    count = max(trace.regions, default=-1) + 1
    return _category(pandas, codes, [trace.regions[i].name if i in trace.regions else f"region {i}"
                                     for i in range(count)])


def _paths(pandas, trace, codes):
    return _category(pandas, codes, [str(path.path) if isinstance(path.path, str) else "/".join(path.path)
                                     for path in trace.call_tree])


def _types(pandas, trace_types, codes):
    names = [f"type {i}" for i in range(256)]
    for name, number in trace_types.items():
        names[number] = name
    return _category(pandas, codes.astype(numpy.int64), names)


def _columns(trace, of_all, of_ends, types, begin, end):
    """Columns of all events, which other events point to, and of those of some types, in one pass. `begin` and `end` are
    about the second ones only."""
    import earl
    known = [earl.TYPES[name] for name in types if name in earl.TYPES]
    whole = begin is None and end is None
    all_, ends, rows = trace._selected(of_all if whole else [], of_ends, known, begin, end)
    if not whole:
        all_ = {name: trace.column(name) for name in of_all}
    return all_, {name: column[:rows] for name, column in ends.items()}


def _with(columns, pointer):
    """The rows whose pointer is one."""
    known = columns[pointer] >= 0
    return columns if known.all() else {name: column[known] for name, column in columns.items()}


def to_pandas(trace, what="calls", begin=None, end=None):
    """A table of a trace: "events", "calls" (region instances), "messages", "transfers" or "polls" (series). `begin` and
    `end` are numbers of events, as those of Trace.columns; a call, message or transfer counts where it ends."""
    import earl
    pandas = _pandas()
    types = earl.TYPES
    if what == "events":
        c = trace.columns(["pos", "time", "type", "location", "process", "thread", "region", "path", "peer", "window",
                           "communicator", "tag", "bytes"], begin, end)
        c["type"] = _types(pandas, types, c["type"])
        c["region"], c["path"] = _regions(pandas, trace, c["region"]), _paths(pandas, trace, c["path"])
        return pandas.DataFrame(c, copy=False)
    if what == "calls":
        every, c = _columns(trace, ["time"], ["time", "process", "thread", "enterptr", "region", "path"],
                            ("EXIT", "MPI_COLLEXIT", "MPI_WINEXIT", "MPI_WINCOLLEXIT", "OMP_COLLEXIT", "COLLEXIT", "LOG_ON",
                             "EXIT_TRACING"), begin, end)
        c = _with(c, "enterptr")
        start = every["time"][c["enterptr"]]
        return pandas.DataFrame({"process": c["process"], "thread": c["thread"],
                                 "region": _regions(pandas, trace, c["region"]), "path": _paths(pandas, trace, c["path"]),
                                 "begin": start, "end": c["time"], "seconds": c["time"] - start}, copy=False)
    if what == "messages":
        every, c = _columns(trace, ["process", "bytes", "time"],
                            ["sendptr", "time", "process", "communicator", "tag"], ("MPI_RECV",), begin, end)
        c = _with(c, "sendptr")
        sends = c["sendptr"]
        return pandas.DataFrame({"source": every["process"][sends], "destination": c["process"],
                                 "communicator": c["communicator"], "tag": c["tag"], "bytes": every["bytes"][sends],
                                 "sent": every["time"][sends], "received": c["time"]}, copy=False)
    if what == "transfers":
        # An end names the process at the other side; in a classic trace it does not say how many bytes.
        every, c = _columns(trace, ["time", "bytes"], ["type", "startptr", "time", "process", "peer", "window"],
                            ("MPI_PUT_1TE", "MPI_GET_1TE", "PUT_1TE", "GET_1TE"), begin, end)
        c = _with(c, "startptr")
        is_get = numpy.zeros(256, bool)
        is_get[[types[name] for name in ("MPI_GET_1TE", "GET_1TE") if name in types]] = True
        get = is_get[c["type"]]
        return pandas.DataFrame({"kind": pandas.Categorical.from_codes(get.astype(numpy.int8), ["put", "get"]),
                                 "origin": numpy.where(get, c["process"], c["peer"]),
                                 "target": numpy.where(get, c["peer"], c["process"]), "window": c["window"],
                                 "bytes": every["bytes"][c["startptr"]], "begin": every["time"][c["startptr"]],
                                 "end": c["time"]},
                                copy=False)
    if what == "polls":
        _, c = _columns(trace, [], ["pos", "process", "thread", "region", "path"], ("MPI_POLLED",), begin, end)
        series = [trace[int(pos)].series for pos in c["pos"]]

        def of_all(value, dtype=float):
            return numpy.array([value(one) for one in series], dtype)

        return pandas.DataFrame({"process": c["process"], "thread": c["thread"],
                                 "region": _regions(pandas, trace, c["region"]), "path": _paths(pandas, trace, c["path"]),
                                 "begin": of_all(lambda s: s.begin), "end": of_all(lambda s: s.time),
                                 "polls": of_all(lambda s: s.count, numpy.int64), "called": of_all(lambda s: s.called),
                                 "paused": of_all(lambda s: s.paused), "asleep": of_all(lambda s: s.asleep),
                                 "rest": of_all(lambda s: s.rest), "waits": of_all(lambda s: s.judged == "waits", bool),
                                 "found": of_all(lambda s: s.end == "found", bool)}, copy=False)
    raise ValueError(f"to_pandas: {what!r} is none of {', '.join(KINDS)}; waits come from a report: earl.load_waits")


def load_report(path):
    """A report of expert (CUBE 3) as a table: metric, title, unit, call_path, process, thread, value.

    Values are as CUBE keeps them: of a metric with all metrics below it ("time" has all seconds), of a call path without
    the calls below it. So sums over call paths, processes and threads of one metric count nothing twice."""
    pandas = _pandas()
    root = xml.parse(path).getroot()
    if root.tag != "cube":
        raise ValueError(f"{path}: this is no CUBE report (its first element is {root.tag})")
    metrics = {}
    for metric in root.find("metrics").iter("metric"):
        metrics[metric.get("id")] = tuple((metric.findtext(tag) or "").strip()
                                          for tag in ("uniq_name", "disp_name", "uom"))
    program = root.find("program")
    regions = {region.get("id"): (region.findtext("name") or "").strip() for region in program.iter("region")}
    sites = {site.get("id"): site.findtext("callee") or site.get("calleeId") for site in program.iter("csite")}
    paths = {}

    def add_path(node, above):
        callee = node.get("calleeId")
        if callee is None:
            callee = sites.get(node.get("csiteId"))
        name = regions.get((callee or "").strip(), "?")
        paths[node.get("id")] = f"{above}/{name}" if above else name
        for inner in node.findall("cnode"):
            add_path(inner, paths[node.get("id")])

    for node in program.findall("cnode"):
        add_path(node, "")
    threads = []
    for process in root.find("system").iter("process"):
        rank = int(process.findtext("rank"))
        threads += [(rank, int(thread.findtext("rank"))) for thread in process.iter("thread")]
    rows = {"metric": [], "call_path": [], "values": []}
    for matrix in root.find("severity").findall("matrix"):
        for row in matrix.findall("row"):
            rows["metric"].append(matrix.get("metricId"))
            rows["call_path"].append(row.get("cnodeId"))
            rows["values"].append(numpy.array((row.text or "").split(), float))
    count = len(threads)
    if any(len(values) != count for values in rows["values"]):
        raise ValueError(f"{path}: a row of severities has not one value for each of {count} threads")

    def spread(ids, names):
        """A category for each value of a row."""
        place = {id_: i for i, id_ in enumerate(names)}
        return _category(pandas, numpy.repeat([place[id_] for id_ in ids], count).astype(numpy.int64), names.values())

    values = numpy.concatenate(rows["values"]) if rows["values"] else numpy.empty(0)
    table = {name: spread(rows["metric"], {id_: m[i] for id_, m in metrics.items()})
             for i, name in enumerate(("metric", "title", "unit"))}
    table["call_path"] = spread(rows["call_path"], paths)
    for i, name in enumerate(("process", "thread")):
        table[name] = numpy.tile(numpy.array([thread[i] for thread in threads], numpy.int64), len(rows["values"]))
    return pandas.DataFrame(table | {"value": values})


def load_waits(path):
    """The waits that `expert --json` names: one row for each thread that waited in one of the worst instances, and whose
    call ended the wait. Threads have their numbers in the report."""
    pandas = _pandas()
    with open(path, encoding="utf8") as file:
        report = json.load(file)
    paths = []
    for path_ in report["call_paths"]:
        above = path_["parent"]
        paths.append(path_["region"] if above is None else f"{paths[above]}/{path_['region']}")

    def row(metric, wait):
        until = wait.get("until") or {}
        return {"metric": metric, "thread": wait["thread"], "call_path": paths[wait["call_path"]], "enter": wait["enter"],
                "exit": wait["exit"], "waiting": wait["waiting"], "until": until.get("time"),
                "by_thread": until.get("thread"),
                "by_call_path": paths[until["call_path"]] if until.get("call_path") is not None else None}

    return pandas.DataFrame([row(instance["metric"], wait) for instance in report["instances"]
                             for wait in instance["waits"]],
                            columns=["metric", "thread", "call_path", "enter", "exit", "waiting", "until", "by_thread",
                                     "by_call_path"])
