#!/usr/bin/env python3
"""Functions of MPI that the program imports and nobody records go by name into the trace and to the report's findings;
those that are recorded, or only compute, do not (programs/unrecorded.c). What is called takes the patterns away that
are found by counting such calls; what is only imported does not."""
import pathlib
import re
import sys

from run_trace_case import Case, parser
from run_waits_case import run

IMPORTED = {"MPI_Kojak_future", "MPI_Kojak_uncalled", "PMPI_Allreduce", "PMPI_Send", "PMPI_Recv", "PMPI_Win_fence"}
# By the program's argument: what it calls, and of these metrics the ones that are left out, because the calls that they
# pair were not all counted.
CASES = {
    "nothing": (set(), set()),
    "coll": ({"PMPI_Allreduce"}, {"mpi_barrier_wait", "mpi_barrier_completion", "mpi_wait_nxn"}),
    "p2p": ({"PMPI_Send", "PMPI_Recv"}, {"mpi_latesender", "mpi_latereceiver"}),
    "rma": ({"PMPI_Win_fence"}, {"mpi_rma_fence_wait", "mpi_rma_latepost", "mpi_rma_sync_lock_contention"}),
    "future": ({"MPI_Kojak_future"}, {"mpi_barrier_wait", "mpi_barrier_completion", "mpi_wait_nxn", "mpi_latesender",
                                      "mpi_latereceiver", "mpi_rma_fence_wait", "mpi_rma_latepost",
                                      "mpi_rma_sync_lock_contention"}),
}
PATTERNS = set().union(*(patterns for _, patterns in CASES.values()))


def check(case, name, called, left_out):
    case.args.arguments = [name]
    traces = case.work / name
    plain = case.run(False)
    measured = case.run(True, {"ELG_DIR": traces})
    if (measured.returncode, measured.stderr) != (0, "") or sorted(measured.stdout) != sorted(plain.stdout):
        sys.exit(f"{name}: status {measured.returncode}\n{measured.stdout}{measured.stderr}")
    tools = pathlib.Path(case.args.bin)
    trace, report = case.work / f"{name}.elg", case.work / f"{name}.cube"
    run(tools / "elg_merge", "-o", trace, traces)
    text = run(tools / "elg_print", trace)
    for key, expected in (("unrecorded", IMPORTED), ("unrecorded_called", called)):
        if (found := set(re.findall(rf'str="{key}\.(\w+)"', text))) != expected:
            sys.exit(f"{name}: the trace names as {key} {sorted(found)}, expected {sorted(expected)}")
    said = " ".join(run(tools / "expert", "--full", "-o", report, trace).split())
    program = re.escape(pathlib.Path(case.args.program).name)
    for words, expected in (("can call", IMPORTED - called), ("calls", called)):
        if (found := set(re.findall(program + rf" {words} (\w+), which is not recorded", said))) != expected:
            sys.exit(f"{name}: the report names {sorted(found)}, expected {sorted(expected)}:\n{said}")
    if ("left out are patterns of" in said) != bool(called):
        sys.exit(f"{name}: {said}")
    shown = set(re.findall(r"<uniq_name>(\w+)</uniq_name>", report.read_text()))
    if PATTERNS - shown != left_out:
        sys.exit(f"{name}: left out are {sorted(PATTERNS - shown)}, expected {sorted(left_out)}")


def main():
    options = parser()
    options.add_argument("--bin", required=True)
    case = Case(options.parse_args())
    for name, (called, left_out) in CASES.items():
        check(case, name, called, left_out)


if __name__ == "__main__":
    main()
