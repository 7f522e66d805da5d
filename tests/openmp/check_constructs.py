#!/usr/bin/env python3
"""Runs a part of constructs.c by `kojak run`: it does what it does without, and the report counts what it did.

check_constructs.py --bin FOLDER --mpirun FILE --program FILE --folder FOLDER --part NAME --threads N [--openmp]
Held: the program's output and its end, with and without the measurement; the trace's soundness, and the report against
the independent analysis; for each region that the program names its visits, in each process; and where the program
noted times, that tasks last as long as it says, and that iterations wait as long for their turn. Every function in the
report has a name. Calls of all threads of a team stand below the region of its master. Of
tasks it says who created them, and who executed how many. late_program.c is run alike: its
part is a library.
"""
import json
import os
import subprocess
import sys
import xml.etree.ElementTree

import kojak_run

sys.path.insert(0, str(kojak_run.pathlib.Path(__file__).resolve().parents[1]))
from independent.cube import Cube  # noqa: E402

TOLERANCE, TRIES = 0.004, 6
SETTINGS = {"cancellation": {"OMP_CANCELLATION": "true"}}
# What is noted, as metric and the region at which it stands.
NOTED = {"task": ("time", "omp task"), "ordered": ("omp_ordered", None)}


def results(output):
    return sorted(line for line in output.splitlines() if line.startswith("result "))


def processes(options):
    return 2 if options.part == "multiple" else 1


def plain(options):
    """What the program does by itself."""
    command = [options.mpirun, *(["--oversubscribe"] if options.oversubscribe else []), "-n", str(processes(options)),
               options.program, options.part, str(options.threads)]
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       **SETTINGS.get(options.part, {}))
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def calls_of(report, function):
    """{names of the call path, outermost first: visits of each thread} of the calls of a function."""
    root = xml.etree.ElementTree.parse(report).getroot()
    names = {region.get("id"): region.findtext("name") for region in root.iter("region")}
    paths = {}

    def follow(node, above):
        path = (*above, names[node.get("calleeId")])
        if path[-1] == function:
            paths[node.get("id")] = path
        for child in node.findall("cnode"):
            follow(child, path)

    for node in root.find("program").findall("cnode"):
        follow(node, ())
    visits = next(m.get("id") for m in root.iter("metric") if m.findtext("uniq_name") == "visits")
    found = {}
    for matrix in root.find("severity").findall("matrix"):
        for row in matrix.findall("row"):
            if matrix.get("metricId") == visits and row.get("cnodeId") in paths:
                found[paths[row.get("cnodeId")]] = [float(value) for value in row.text.split()]
    return found


def check_paths(options, attempt):
    """Where the report has the puts of all threads, and that OpenMP's own functions lie on no path."""
    program = options.program.name
    where = (program, "main", "multiple", "omp parallel", "put_all", "MPI_Put")
    found = calls_of(options.folder / f"multiple.{attempt}" / "run/a.cube", "MPI_Put")
    wrong = [] if found == {where: [10.0] * (2 * options.threads)} else [f"puts are at {found}"]
    folder = options.folder / f"multiple.{attempt}.paths"
    kojak_run.run(options, folder, options.part, options.threads, processes=2, settings={"ELG_CALLSITES": "path:8"})
    for path, visits in calls_of(folder / "run/a.cube", "MPI_Put").items():
        if path[:4] != where[:4] or any("kmp" in name or "libomp" in name for name in path) or visits != [10.0] * len(visits):
            wrong.append(f"with ELG_CALLSITES=path:8 puts are at {path}: {visits}")
    return wrong


def check_tasks(options, folder, cube, noted):
    """Who created the tasks, who executed how many: `noted`, by thread, if the program says so."""
    said = subprocess.run([options.bin / "expert", "--full", "-o", "again.cube", "--json", "a.json", "a.elg"], cwd=folder / "run",
                          capture_output=True, text=True, check=True).stdout
    report = json.loads((folder / "run/a.json").read_text())
    threads = [(thread["rank"], thread["thread"]) for thread in report["threads"]]
    creators = {place for (path, place), value in cube.values["visits"].items() if path[-1][0] == "omp single" and value}
    wrong = []
    found = {threads[tasks["created_by"]] for tasks in report["tasks"]}
    if len(creators) != 1 or found != creators:
        wrong.append(f"tasks were created by {creators}, the report says {found}")
    executed = {}
    for tasks in report["tasks"]:
        for share in tasks["executed_by"]:
            executed[share["thread"]] = executed.get(share["thread"], 0) + share["count"]
    visits = sum(value for (path, _), value in cube.values["visits"].items() if path[-1][0] == "omp task")
    if sum(executed.values()) != visits or (noted and sorted(executed.values()) != sorted(noted.values())):
        wrong.append(f"threads executed {noted or visits} tasks, the report says {executed}")
    # (Of a taskloop LLVM 14 tells no place in the program.)
    place = " at constructs.c:" if options.part == "dependences" else ""
    if "\nTasks\n" not in said or f"omp task{place}" not in said.split("\nTasks\n")[1]:
        wrong.append(f"the summary does not tell of tasks:\n{said}")
    return wrong


def check(options, expected, attempt):
    folder = options.folder / f"{os.path.basename(options.part)}.{attempt}"
    done = kojak_run.run(options, folder, options.part, options.threads, extra=["--keep"], processes=processes(options),
                         settings=SETTINGS.get(options.part), status=expected.returncode)
    kojak_run.check_trace(options, folder)
    wrong = []
    if results(done.stdout) != results(expected.stdout):
        wrong.append(f"{results(done.stdout)} and not {results(expected.stdout)}")
    cube = Cube(folder / "run/a.cube")
    ranks = sorted({rank for rank, _ in cube.threads})
    for line in set(done.stdout.splitlines()):
        if not line.startswith("count "):
            continue
        region, number = line[6:].split("|")
        for rank in ranks:
            found = sum(value for (path, place), value in cube.values["visits"].items()
                        if place[0] == rank and path[-1][0] == region)
            if found != int(number):
                wrong.append(f"rank {rank}: {found} visits of {region} and not {number}")
    if any(name == "" for path, _ in cube.values["visits"] for name, *_ in path):
        wrong.append("a function of the report has no name")
    if options.part == "multiple":
        wrong += check_paths(options, attempt)
    lasted, tasks = {}, {}
    for line in done.stdout.splitlines():
        if line.startswith("note "):
            where, times = line[5:].split("|")
            thread, begin, end = times.split()
            place = where.split(" ", 1)[1]
            if place == "task":
                tasks[thread] = tasks.get(thread, 0) + 1
            lasted[place] = lasted.get(place, 0) + float(end) - float(begin)
    if options.part in ("dependences", "taskloop"):
        wrong += check_tasks(options, folder, cube, tasks)
    for place, seconds in lasted.items():
        metric, region = NOTED[place]
        found = sum(value for (path, _), value in cube.values[metric].items() if region is None or path[-1][0] == region)
        if abs(found - seconds) > TOLERANCE:
            wrong.append(f"{place}: {seconds:.4f} s by the program, {found:.4f} s in the report")
    return wrong


def main():
    parser = kojak_run.parser(__doc__)
    parser.add_argument("--part", required=True)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    expected = plain(options)
    if expected.returncode == 0 and not results(expected.stdout):
        sys.exit(f"the program says nothing:\n{expected.stdout}{expected.stderr}")
    for attempt in range(TRIES):
        wrong = check(options, expected, attempt)
        if not wrong:
            return 0
        print(f"attempt {attempt}:", *wrong, sep="\n  ")
    return 1


sys.exit(main())
