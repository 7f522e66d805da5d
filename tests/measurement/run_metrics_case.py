#!/usr/bin/env python3
"""Counters (ELG_METRICS): what a report says of each region and call, held against what the program counted itself.

Modes: `fake` has a library in PAPI's place whose counters the program drives, so all values are exact; `usage` are those
of getrusage; `papi` is PAPI with events of the kernel; `none` has no PAPI; `own` is a program that uses PAPI itself.
"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from independent.cube import Cube  # noqa: E402
from run_trace_case import Case, parser  # noqa: E402

USAGE = "ru_minflt,ru_nvcsw"
SKIPPED = 77


def run(case, name, settings):
    """What the program printed, what stood on standard error, and the report."""
    traces, trace, report = (case.work / f"{name}{end}" for end in ("", ".elg", ".cube"))
    done = case.run(True, {"ELG_DIR": traces, "ELG_MPI": "all", **settings})
    if done.returncode != 0:
        sys.exit(f"{name}: the program ended with {done.returncode}\n{done.stderr}")
    words = ""
    commands = [[f"{case.args.bin}/elg_print", "--verify", traces / "0.0.elg"],
                [f"{case.args.bin}/elg_merge", "-q", "-o", trace, traces],
                [f"{case.args.bin}/elg_print", "--verify", trace],
                [f"{case.args.bin}/expert", "--full", "-o", report, trace]]
    if settings.get("ELG_CALLSITES") == "off":  # else regions stand below main, which the trace does not have
        commands.append([sys.executable, case.args.compare, "--print-tool", f"{case.args.bin}/elg_print", trace, report])
    for command in commands:
        tool = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
        if tool.returncode != 0:
            sys.exit(f"{name}: {command} ended with {tool.returncode}\n{tool.stdout}\n{tool.stderr}")
        words += tool.stdout
    return done.stdout, done.stderr, Cube(report), " ".join(words.split())


def total(cube, metric, region, rank, thread):
    """Of all calls of a region; `program` is what stands in none."""
    def wanted(path):  # (calls of known place are named by that alone)
        return path[-1][1] is None and len(path) == 1 if region == "program" else path[-1][0] == region

    return sum(value for (path, who), value in cube.values[metric].items() if who == (rank, thread) and wanted(path))


def check(name, printed, cube, metrics):
    left = set(metrics)
    if set(metrics) - set(cube.values):
        sys.exit(f"{name}: the report has no {set(metrics) - set(cube.values)}")
    for line in printed.splitlines():
        metric, rest = line.split(" ", 1)
        region, rank, thread, least, most = rest.rsplit(" ", 4)
        if metric not in metrics:
            continue
        left.discard(metric)
        value = total(cube, metric, region, int(rank), int(thread))
        if not float(least) <= value <= float(most):
            sys.exit(f"{name}: {metric} in {region} of rank {rank}, thread {thread}: the program says {least} to {most}, "
                     f"the report {value}")
    if left:
        sys.exit(f"{name}: the program says nothing of {left}:\n{printed}")


def main():
    options = parser()
    options.add_argument("--bin", required=True)
    options.add_argument("--compare", required=True)
    options.add_argument("--fake", required=True, help="the library in PAPI's place")
    options.add_argument("--mode", required=True)
    args = options.parse_args()
    case = Case(args)
    if args.mode == "usage":
        printed, errors, cube, _ = run(case, "usage", {"ELG_METRICS": USAGE})
        check("usage", printed, cube, USAGE.split(","))
    elif args.mode == "fake":
        case.args.arguments.append("fake")
        for sites in ("site", "path:3", "off"):
            printed, errors, cube, _ = run(case, sites.replace(":", "_"), {
                "ELG_METRICS": f"ru_minflt,FAKE_WORK,FAKE_OTHER,{USAGE}", "ELG_PAPI": args.fake, "ELG_CALLSITES": sites})
            check(sites, printed, cube, ["FAKE_WORK", "FAKE_OTHER", "ru_minflt"])
            if errors:
                sys.exit(errors)
        # Small buffers: flushes lie between and in calls, and none of what is counted may move.
        printed, errors, cube, _ = run(case, "small", {
            "ELG_METRICS": "FAKE_WORK,FAKE_OTHER", "ELG_PAPI": args.fake, "ELG_BUFFER_SIZE": "64K"})
        check("small", printed, cube, ["FAKE_WORK", "FAKE_OTHER"])
        printed, errors, cube, words = run(case, "unknown", {
            "ELG_METRICS": "FAKE_WORK,NO_SUCH,FAKE_TAKEN", "ELG_PAPI": args.fake})
        check("unknown", printed, cube, ["FAKE_WORK"])
        if errors.count("kojak: ") != 1 or "NO_SUCH is not counted" not in errors or "FAKE_TAKEN is not" not in errors:
            sys.exit(f"unknown: not one line about what is not counted:\n{errors}")
        if "NO_SUCH" not in words or set(cube.values) & {"NO_SUCH", "FAKE_TAKEN"}:
            sys.exit(f"the report does not say what is missing: {words}")
    elif args.mode == "none":
        printed, errors, cube, words = run(case, "none", {
            "ELG_METRICS": f"{USAGE},PAPI_TOT_INS,perf::PAGE-FAULTS", "ELG_PAPI": "/nowhere/libpapi.so"})
        check("none", printed, cube, USAGE.split(","))
        if errors.count("kojak: ") != 1 or "PAPI_TOT_INS, perf::PAGE-FAULTS: not counted, for PAPI is not there" not in errors:
            sys.exit(f"none: not one line that PAPI is missing:\n{errors}")
    elif args.mode == "own":
        args.library = f"{args.library}:{args.fake}"
        printed, errors, cube, words = run(case, "own", {"ELG_METRICS": f"{USAGE},FAKE_WORK"})
        check("own", printed, cube, USAGE.split(","))
        if "the program uses PAPI itself" not in errors:
            sys.exit(f"own: nothing says that the program uses PAPI:\n{errors}")
    elif args.mode == "papi":
        wanted = ["perf::PAGE-FAULTS", "perf::TASK-CLOCK"]
        printed, errors, cube, _ = run(case, "papi", {"ELG_METRICS": ",".join(wanted)})
        if "not counted" in errors:
            print(f"events of the kernel cannot be counted here: {errors}")
            sys.exit(SKIPPED)
        check("papi", printed, cube, wanted)
    else:
        sys.exit(f"no mode {args.mode}")


main()
