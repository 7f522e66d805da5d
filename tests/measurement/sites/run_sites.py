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
LEFT_OUT = "(functions left out)"
DEEPEST = 39  # so often deep() calls itself at most
INLINED = {"inlined"}


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
    """Which call sites a merged trace enters, and which of them inside which, those that led there included."""

    def __init__(self, text):
        strings, files, regions, sites, callers = {}, {}, {}, {}, {}
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
                path = [fields["csid"]]
                while path[0] in callers:
                    path.insert(0, callers[path[0]])
                around = [site for entered in open_sites[fields["lid"]] for site in entered]
                for length, csid in enumerate(path, 1):
                    self.sites.add(sites[csid])
                    self.nested[tuple(around + [sites[site] for site in path[:length]])] += 1
                open_sites[fields["lid"]].append([sites[site] for site in path])
            elif name == "CALL_SITE_CALLER":
                callers[fields["csid"]] = fields["caller"]
            elif name in ("ENTER", "ENTER_TRACING"):
                self.plain.add(regions.get(fields.get("rid"), "TRACING"))
                open_sites[fields["lid"]].append([])
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
    for name in ("pie", "fixed", "relinked", "archive", "split"):
        program = case.args.programs / f"sites_{name}"
        traces = measure(case, name, program, preload=name not in ("relinked", "archive"))
        check_whole(case, name, traces, f"sites_{name}", sites)


def check_whole(case, name, traces, program, sites):
    trace, said = merge(case, traces)
    compare(name, trace.sites, sites)
    compare(name, trace.plain, {program, "TRACING"})
    if said:
        sys.exit(f"{name}: elg_merge says {said}")


def check_starts(case, sites):
    """Also where the dynamic linker was started with the program's name, and where there is no /proc."""
    for name, build in (("linker", "pie"), ("linker_fixed", "fixed")):
        program = case.args.programs / f"sites_{build}"
        linker = re.search(rb"/lib[^\0]*/ld-[^\0]*\.so[^\0]*", program.read_bytes())[0].decode()
        for settings in ({}, {"SITES_NO_PROC": "1"}):
            case.prefix = [linker]
            traces = measure(case, name + "".join(settings), program, settings)
            case.prefix = []
            check_whole(case, name + "".join(settings), traces, program.name, sites)
    check_whole(case, "no_proc", measure(case, "no_proc", case.args.programs / "sites_pie", {"SITES_NO_PROC": "1"}),
                "sites_pie", sites)


def check_split(case, sites):
    """Of -gsplit-dwarf what the compiler knew of functions lies in files of their own; one that is gone is named."""
    program = case.work / "sites_gone"
    program.write_bytes((case.args.programs / "sites_split").read_bytes().replace(b"sites.c.dwo", b"sites.c.dwx"))
    program.chmod(0o755)
    trace, said = merge(case, measure(case, "gone", program))
    inlined_into = {"inlined": "exchange_halo"}
    compare("gone", trace.sites, {(inlined_into.get(site[0], site[0]), *site[1:]) for site in sites})
    if "sites.c.dwx" not in said or "(.dwo) was not found" not in said:
        sys.exit(f"gone: elg_merge says {said}")


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
    if any(site[1] == "sites.c" for site in trace.sites) or "program or library is gone or has changed since the run" not in said:
        sys.exit(f"rebuilt: {trace.sites} {said}")


def chains(calls):
    """Every way from main to a function: the calls on it, outermost first. A function that calls itself does so as often
    as DEEPEST tells, but where another function than main calls it: these call it with 0."""
    def further(way):
        yield way
        at = way[-1][3] if way else "main"
        for call in sorted(call for call in calls if call[0] == at):
            itself = sum(step[0] == step[3] == at for step in way)
            if call[3] != at or (itself < DEEPEST and way[-1 - itself][0] == "main"):
                yield from further(way + (call,))
    return further(())


def expected_paths(sites, calls, most):
    """What the trace must tell with ELG_CALLSITES=path:MOST: the function that calls MPI, the outermost others."""
    expected = {}
    for way in chains(calls):
        for site in sites:
            if site[0] != (way[-1][3] if way else "main"):
                continue
            frames = tuple(step for step in way if step[3] not in INLINED)
            if len(frames) < most:
                expected[way + (site,)] = way or (site,)
                continue
            # The calls in the outermost functions, the last of which calls what was left out.
            inner = way[len(frames):]  # inlined
            outer = way[:most - 2] + ((*way[most - 2][:3], LEFT_OUT),)
            expected[outer + ((LEFT_OUT, None, None, frames[-1][3]),) + inner + (site,)] = way
    return expected


def check_paths(case, sites, calls, most):
    """The trace tells the whole path of each call, or that functions of it were left out."""
    name = f"paths{most}"
    trace, _ = merge(case, measure(case, name, case.args.programs / "sites_pie", {"ELG_CALLSITES": f"path:{most}"}))
    found = {path: count for path, count in trace.nested.items() if path[-1] in sites}
    expected = expected_paths(sites, calls, most)
    compare(name, set(found), set(expected))
    # Rounds 0 to 99 call deep() with the round's number modulo 40: it calls itself as often. Deeper than MOST tells is
    # one path.
    cut = most - 1
    rounds = collections.Counter(min(i % 40, cut) for i in range(100))
    for depth, count in rounds.items():
        paths = [path for path, way in expected.items()
                 if path[-1][0] == way[0][3] == "deep" and len(path) == depth + 2 and
                 (path[-2][0] == LEFT_OUT) == (depth == cut)]
        if len(paths) != 1 or found[paths[0]] != count * case.args.ranks:
            sys.exit(f"{name}: depth {depth}, {count} times: {[(path, found[path]) for path in paths]}")


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
    check_starts(case, sites)
    check_split(case, sites)
    check_stripped(case, sites)
    check_killed(case, sites)
    check_rebuilt(case, sites)
    for most in (2, 3, 16):
        check_paths(case, sites, calls, most)
    check_off(case)


if __name__ == "__main__":
    main()
