#!/usr/bin/env python3
"""Functions of MPI that the program imports and nobody records go by name into the trace and to the report's findings;
those that are recorded, or only compute, do not (programs/unrecorded.c)."""
import pathlib
import re
import sys

from run_trace_case import Case, parser
from run_waits_case import run

UNRECORDED = {"MPI_Kojak_future", "MPI_Kojak_uncalled", "PMPI_Allreduce"}


def main():
    options = parser()
    options.add_argument("--bin", required=True)
    case = Case(options.parse_args())
    traces = case.work / "traces"
    plain = case.run(False)
    measured = case.run(True, {"ELG_DIR": traces})
    if (measured.returncode, measured.stderr) != (0, "") or sorted(measured.stdout) != sorted(plain.stdout):
        sys.exit(f"status {measured.returncode}\n{measured.stdout}{measured.stderr}")
    tools = pathlib.Path(case.args.bin)
    trace = case.work / "a.elg"
    run(tools / "elg_merge", "-o", trace, traces)
    text = run(tools / "elg_print", trace)
    in_trace = set(re.findall(r'str="unrecorded\.(\w+)"', text))
    if in_trace != UNRECORDED:
        sys.exit(f"the trace names {sorted(in_trace)}, expected {sorted(UNRECORDED)}")
    report = " ".join(run(tools / "expert", "-o", case.work / "a.cube", trace).split())
    program = pathlib.Path(case.args.program).name
    said = set(re.findall(re.escape(program) + r" can call (\w+), which is not recorded", report))
    if said != UNRECORDED:
        sys.exit(f"the report names {sorted(said)}, expected {sorted(UNRECORDED)}:\n{report}")


if __name__ == "__main__":
    main()
