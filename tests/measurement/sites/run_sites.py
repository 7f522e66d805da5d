#!/usr/bin/env python3
"""Call sites of sites.c: what its comments say must be what the merged trace says, for each way to build and run it."""

import collections
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from run_trace_case import Case, parser  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = ["sites.c", "library.c", "plugin.c"]


def marked():
    """Sites (function, file, line, MPI function) and calls between functions, as the comments name them."""
    sites, calls = set(), set()
    for name in SOURCES:
        for number, line in enumerate((HERE / name).read_text().splitlines(), 1):
            if match := re.search(r";.*/\* site: (\w+) (.*) \*/", line):
                sites |= {(match[1], name, number, function) for function in match[2].split()}
            if match := re.search(r";.*/\* calls: (\w+) (\w+) \*/", line):
                calls.add((match[2], name, number, match[1]))
    return sites, calls


class Trace:
    """Which call sites a merged trace enters, and which of them inside which."""

    def __init__(self, text):
        strings, files, regions, sites = {}, {}, {}, {}
        self.sites, self.nested, self.plain = set(), collections.Counter(), set()
        open_sites = collections.defaultdict(list)
        for line in text.splitlines():
            name, _, rest = line.partition(" ")
            fields = dict(part.split("=", 1) for part in rest.split() if "=" in part)
            if name == "STRING":
                strings[fields["strid"]] = rest.split('str="', 1)[1][:-1]
            elif name == "FILE":
                files[fields["fid"]] = pathlib.Path(strings[fields["fnid"]]).name
            elif name == "REGION":
                regions[fields["rid"]] = strings[fields["rnid"]]
            elif name == "CALL_SITE":
                number = None if fields["lno"] == "absent" else int(fields["lno"])
                sites[fields["csid"]] = (regions[fields["lrid"]], files.get(fields["fid"]), number,
                                         regions[fields["erid"]])
            elif name == "ENTER_CS":
                site = sites[fields["csid"]]
                self.sites.add(site)
                self.nested[tuple(open_sites[fields["lid"]] + [site])] += 1
                open_sites[fields["lid"]].append(site)
            elif name in ("ENTER", "ENTER_TRACING"):
                self.plain.add(regions.get(fields.get("rid"), "TRACING"))
                open_sites[fields["lid"]].append(None)
            elif "EXIT" in name and open_sites[fields["lid"]]:
                open_sites[fields["lid"]].pop()


def measure(case, name, program, settings=None, arguments=(), status=0, preload=True):
    traces = case.work / name
    case.args.arguments = [str(case.args.plugin), *arguments]
    done = case.run(preload, {"ELG_DIR": traces, "ELG_MPI": "all", **(settings or {})}, program=program)
    if (done.returncode == 0) != (status == 0) or "kojak:" in done.stderr:
        sys.exit(f"{name}: exit status {done.returncode}\n{done.stderr}")
    return traces


def merge(case, traces, status=0):
    """The merged trace as text, and what the merge said."""
    output = f"{traces}.elg"
    done = subprocess.run([case.args.bin / "elg_merge", "-o", output, traces], capture_output=True, text=True, timeout=60)
    if done.returncode != status:
        sys.exit(f"{traces}: elg_merge ended with {done.returncode}: {done.stderr}")
    text = subprocess.run([case.args.bin / "elg_print", output], capture_output=True, text=True, timeout=60, check=True).stdout
    return Trace(text), done.stderr


def compare(name, found, expected):
    if found != expected:
        sys.exit(f"{name}: missing {sorted(map(str, expected - found))}, unexpected {sorted(map(str, found - expected))}")


def check_builds(case, sites):
    """However the program was built and linked, its places are the same."""
    for name in ("pie", "fixed", "relinked", "archive"):
        program = case.args.programs / f"sites_{name}"
        trace, said = merge(case, measure(case, name, program, preload=name in ("pie", "fixed")))
        compare(name, trace.sites, sites)
        compare(name, trace.plain, {f"sites_{name}", "TRACING"})
        if said:
            sys.exit(f"{name}: elg_merge says {said}")


def check_stripped(case, sites):
    """Without symbols a place is the module and an offset, still one for each call site."""
    trace, _ = merge(case, measure(case, "stripped", case.args.programs / "sites_stripped"))
    outside = {site for site in sites if site[1] != "sites.c"}
    compare("stripped", {site for site in trace.sites if site[1] is not None}, outside)
    nameless = {(site[0], site[3]) for site in trace.sites if site[1] is None}
    if not all(re.fullmatch(r"sites_stripped\+0x[0-9a-f]+", place) for place, _ in nameless):
        sys.exit(f"stripped: {nameless}")
    own = collections.Counter(site[3] for site in sites if site[1] == "sites.c")
    if collections.Counter(function for _, function in nameless) != own:
        sys.exit(f"stripped: {nameless}, expected {own}")


def check_killed(case, sites):
    done = {site for site in sites if site[3] != "MPI_Finalize"}
    trace, _ = merge(case, measure(case, "killed", case.args.programs / "sites_pie", arguments=["kill"], status=1), 3)
    compare("killed", trace.sites, done)


def check_rebuilt(case, sites):
    """A program that is another one by now names nothing, and the merge says so."""
    program = case.work / "sites_moved"
    program.write_bytes((case.args.programs / "sites_pie").read_bytes())
    program.chmod(0o755)
    traces = measure(case, "rebuilt", program)
    program.write_bytes((case.args.programs / "sites_fixed").read_bytes())
    trace, said = merge(case, traces)
    if any(site[1] == "sites.c" for site in trace.sites) or "not here as they were measured" not in said:
        sys.exit(f"rebuilt: {trace.sites} {said}")


def check_paths(case, sites, calls):
    """With three functions of each path, the trace enters the outer ones around the call."""
    trace, _ = merge(case, measure(case, "paths", case.args.programs / "sites_pie", {"ELG_CALLSITES": "path:3"}))
    compare("paths", trace.sites, sites | calls)
    callers = collections.defaultdict(set)
    for call in calls:
        callers[call[3]].add(call)
    expected = set()
    for site in sites:
        for caller in callers[site[0]] or {None}:
            outer = callers[caller[0]] if caller else set()
            for outermost in outer or {None}:
                if caller and caller[0] == "deep" and outermost[0] in ("one_way", "other_way"):
                    continue  # they call it with 0, so that it does not call itself
                expected.add(tuple(place for place in (outermost, caller, site) if place))
    found = {tuple(place for place in path if place) for path in trace.nested}
    compare("paths", {path for path in found if path[-1] in sites}, expected)
    # 100 rounds; deep() is called with i % 40: the last two of its calls on the way are deep() itself but for 0 and 1.
    below = collections.Counter()
    for path, count in trace.nested.items():
        places = [place for place in path if place]
        if places[-1][0] == "deep" and places[-1][3] == "MPI_Barrier":
            below[places[0][0]] += count
    ranks = case.args.ranks
    if below != {"main": (100 * 2 + 3 + 3) * ranks, "deep": (100 - 6) * ranks}:
        sys.exit(f"paths: {below}")


def check_off(case):
    trace, _ = merge(case, measure(case, "off", case.args.programs / "sites_pie", {"ELG_CALLSITES": "off"}))
    if trace.sites or "MPI_Allreduce" not in trace.plain:
        sys.exit(f"off: {trace.sites} {trace.plain}")


def main():
    options = parser()
    options.add_argument("--bin", required=True, type=pathlib.Path)
    options.add_argument("--programs", required=True, type=pathlib.Path)
    options.add_argument("--plugin", required=True, type=pathlib.Path)
    case = Case(options.parse_args())
    sites, calls = marked()
    check_builds(case, sites)
    check_stripped(case, sites)
    check_killed(case, sites)
    check_rebuilt(case, sites)
    check_paths(case, sites, calls)
    check_off(case)


if __name__ == "__main__":
    main()
