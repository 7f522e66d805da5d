#!/usr/bin/env python3
"""Regions of the user, by API, in Fortran and by instrumented functions: the merged trace has what the sources say."""

import collections
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from run_trace_case import Case, parser  # noqa: E402


def regions_of(case, traces):
    """Regions of each location in the order of entering, indented by depth, those of the measurement itself left out;
    where regions begin; and who calls the MPI functions."""
    output = f"{traces}.elg"
    merged = subprocess.run([case.args.bin / "elg_merge", "-o", output, traces], capture_output=True, text=True, timeout=60)
    if merged.returncode != 0 or merged.stderr:
        sys.exit(f"{traces}: elg_merge ended with {merged.returncode}: {merged.stderr}")
    text = subprocess.run([case.args.bin / "elg_print", output], capture_output=True, text=True, timeout=60, check=True).stdout
    strings, files, regions, sites, callers = {}, {}, {}, {}, collections.defaultdict(set)
    lines, stacks, lines_of = collections.defaultdict(list), collections.defaultdict(list), {}
    parts = None
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        fields = dict(part.split("=", 1) for part in rest.split() if "=" in part)
        if name == "STRING":
            parts = fields["strid"]
            strings[parts] = rest.split('str="', 1)[1][:-1]
        elif name == "STRING_CNT":
            strings[parts] += rest.split('str="', 1)[1][:-1]
        elif name == "FILE":
            files[fields["fid"]] = pathlib.Path(strings[fields["fnid"]]).name
        elif name == "REGION":
            regions[fields["rid"]] = strings[fields["rnid"]]
            lines_of[strings[fields["rnid"]]] = (files.get(fields["fid"]), fields["begln"])
        elif name == "CALL_SITE":
            sites[fields["csid"]] = regions[fields["erid"]]
            callers[regions[fields["erid"]]].add(regions[fields["lrid"]])
        elif "lid" not in fields or name in ("LOCATION", "LOST"):
            continue
        elif name.startswith("ENTER") or name == "LOG_OFF":
            entered = {"ENTER": lambda f=fields: regions[f["rid"]], "ENTER_CS": lambda f=fields: sites[f["csid"]],
                       "LOG_OFF": lambda: "PAUSING", "ENTER_TRACING": lambda: "TRACING"}[name]()
            if entered != "TRACING":
                lines[fields["lid"]].append("  " * len(stacks[fields["lid"]]) + entered)
            stacks[fields["lid"]].append(entered)
        elif "EXIT" in name or name == "LOG_ON":
            stacks[fields["lid"]].pop()
    if any(stacks.values()):
        sys.exit(f"{traces}: left open: {stacks}")
    return lines, lines_of, callers


def measure(case, name, program, settings=None):
    traces = case.work / name
    done = case.run(True, {"ELG_DIR": traces, "ELG_MPI": "all", **(settings or {})}, program=program)
    if done.returncode != 0 or "kojak: " in done.stderr:
        sys.exit(f"{name}: exit status {done.returncode}\n{done.stderr}")
    return traces


def compare(name, found, expected):
    expected = [line for line in expected.splitlines() if line]
    if found != expected:
        sys.exit(f"{name}: expected\n" + "\n".join(expected) + "\nfound\n" + "\n".join(found))


API = f"""
PROGRAM
  since before MPI_Init
    MPI_Init_thread
    outer
      inner
        MPI_Comm_rank
      function
        MPI_Comm_rank
      left in the pause
        PAUSING
      entered in the pause
        MPI_Comm_rank
      jumped out of
        and of this
      MPI_Op_create
      MPI_Allreduce
      MPI_Op_free
      {'n' * 300}
      excluded
        MPI_Comm_rank
      still open at the end
        MPI_Finalize
"""


def check_api(case):
    program = case.args.programs / "regions_api"
    lines, places, _ = regions_of(case, measure(case, "api", program))
    expected = API.replace("PROGRAM", program.name)
    compare("api", lines["0"], expected)
    compare("api, thread", lines["1"], f"{program.name} (thread)\n  thread's work\n")
    source = (pathlib.Path(__file__).parent / "regions.c").read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(source) if 'START("inner")' in text)
    if places["inner"] != ("regions.c", str(line)):
        sys.exit(f"api: inner is at {places['inner']}")
    # With the filter one region less; what it encloses is there. The first line that fits decides.
    rules = case.work / "rules"
    rules.write_text("# of the test\ninclude ex*ed in*\nexclude excl*\ninclude excluded\n")
    lines, _, _ = regions_of(case, measure(case, "filtered", program, {"ELG_FILTER": rules}))
    compare("filtered", lines["0"], expected.replace("      excluded\n        MPI_Comm_rank\n", "      MPI_Comm_rank\n"))
    # Off from the beginning: what is open when the recording starts is entered then.
    lines, _, _ = regions_of(case, measure(case, "off", program, {"ELG_RECORD": "0"}))
    start = expected.index("      entered in")
    compare("off", lines["0"], f"{program.name}\n  PAUSING\n  since before MPI_Init\n    outer\n" + expected[start:])
    lines, _, _ = regions_of(case, measure(case, "disabled", case.args.programs / "regions_disabled"))
    if any("since" in line for line in lines["0"]) or "1" in lines:
        sys.exit(f"disabled: {lines}")


FUNCTIONS = """
PROGRAM
  main
    MPI_Init
    solver::step
      solver::smooth
      solver::Grid::exchange
        solver::Grid::exchange
          MPI_Barrier
        MPI_Barrier
      solver::fails
      solver::smooth
    solver::step
      solver::smooth
      solver::Grid::exchange
        solver::Grid::exchange
          MPI_Barrier
        MPI_Barrier
      solver::fails
      solver::smooth
    MPI_Finalize
"""


def check_functions(case):
    program = case.args.programs / "regions_functions"
    expected = FUNCTIONS.replace("PROGRAM", program.name)
    lines, places, _ = regions_of(case, measure(case, "functions", program))
    compare("functions", lines["0"], expected)
    if places["solver::fails"][0] != "functions.cc":
        sys.exit(f"functions: {places}")
    # By the readable name and by the symbol.
    for rule in ("exclude solver::smooth*", "exclude _ZN6solver6smooth*"):
        rules = case.work / "rules"
        rules.write_text(f"{rule}\n")
        lines, _, _ = regions_of(case, measure(case, rule.split()[1].strip("*").replace(":", ""), program, {"ELG_FILTER": rules}))
        compare(rule, lines["0"], expected.replace("      solver::smooth\n", ""))


def check_fortran(case):
    program = case.args.programs / "regions_fortran"
    step = "  step {}\n    solve\n      MPI_Comm_rank\n"
    lines, _, callers = regions_of(case, measure(case, "fortran", program))
    compare("fortran", lines["0"], f"{program.name}\n  MPI_Init\n" + step.format(1) + step.format(2)
            + "  MPI_Barrier\n  MPI_Finalize\n")
    # The main program by its name, not by what the compiler calls it; an internal procedure likewise.
    if callers["MPI_Init"] != {"regions"} or callers["MPI_Barrier"] != {"internal"}:
        sys.exit(f"fortran: called by {callers}")


def main():
    options = parser()
    options.add_argument("--bin", required=True, type=pathlib.Path)
    options.add_argument("--programs", required=True, type=pathlib.Path)
    case = Case(options.parse_args())
    # Without the library nothing happens.
    plain = case.run(False)
    if plain.returncode != 0 or plain.stdout != "sum 1\n" * case.args.ranks:
        sys.exit(f"{plain}")
    check_api(case)
    check_functions(case)
    if (case.args.programs / "regions_fortran").exists():
        check_fortran(case)


if __name__ == "__main__":
    main()
