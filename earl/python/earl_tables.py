"""Traces and reports as tables of pandas: earl.load_report, earl.load_waits, and Trace.to_pandas.

Traces come out of numpy columns, without a Python object for each event; text columns are categories.
"""
import json
import xml.etree.ElementTree as xml

import numpy

KINDS = ("events", "calls", "messages", "transfers")


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


def _of_all(trace, columns, begin, end):
    """Gives columns of all events: those that have been read, if they are of all."""
    return columns.__getitem__ if begin is None and end is None else trace.column


def to_pandas(trace, what="calls", begin=None, end=None):
    """A table of a trace: "events", "calls" (region instances), "messages" or "transfers". `begin` and `end` are numbers
    of events, as those of Trace.columns; a call, message or transfer counts where it ends."""
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
        c = trace.columns(["type", "time", "process", "thread", "enterptr", "region", "path"], begin, end)
        leaves = [types[name] for name in ("EXIT", "MPI_COLLEXIT", "MPI_WINEXIT", "MPI_WINCOLLEXIT", "OMP_COLLEXIT",
                                           "COLLEXIT", "LOG_ON", "EXIT_TRACING") if name in types]
        is_exit = numpy.zeros(256, bool)
        is_exit[leaves] = True
        rows = numpy.flatnonzero(is_exit[c["type"]] & (c["enterptr"] >= 0))
        start, stop = _of_all(trace, c, begin, end)("time")[c["enterptr"][rows]], c["time"][rows]
        return pandas.DataFrame({"process": c["process"][rows], "thread": c["thread"][rows],
                                 "region": _regions(pandas, trace, c["region"][rows]),
                                 "path": _paths(pandas, trace, c["path"][rows]),
                                 "begin": start, "end": stop, "seconds": stop - start}, copy=False)
    if what == "messages":
        c = trace.columns(["type", "sendptr", "time", "process", "bytes", "communicator", "tag"], begin, end)
        of_all = _of_all(trace, c, begin, end)
        rows = numpy.flatnonzero((c["type"] == types["MPI_RECV"]) & (c["sendptr"] >= 0))
        sends = c["sendptr"][rows]
        return pandas.DataFrame({"source": of_all("process")[sends], "destination": c["process"][rows],
                                 "communicator": c["communicator"][rows], "tag": c["tag"][rows],
                                 "bytes": of_all("bytes")[sends], "sent": of_all("time")[sends],
                                 "received": c["time"][rows]}, copy=False)
    if what == "transfers":
        c = trace.columns(["type", "startptr", "time", "process", "bytes", "window"], begin, end)
        of_all = _of_all(trace, c, begin, end)
        rows = numpy.flatnonzero(c["startptr"] >= 0)
        starts = c["startptr"][rows]
        get = numpy.isin(c["type"][rows], [types["MPI_GET_1TE"], types["GET_1TE"]])
        there = of_all("process")[starts]
        return pandas.DataFrame({"kind": pandas.Categorical.from_codes(get.astype(numpy.int8), ["put", "get"]),
                                 "origin": numpy.where(get, c["process"][rows], there),
                                 "target": numpy.where(get, there, c["process"][rows]),
                                 "window": c["window"][rows], "bytes": of_all("bytes")[starts],
                                 "begin": of_all("time")[starts], "end": c["time"][rows]}, copy=False)
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
