#!/usr/bin/env python3
"""Several nodes on one machine: each process has a host name and a folder /.../local of its own (namespaces), as nodes
with disks of their own have. The run's directory is made on each node; its parts are merged where they are, or when they
were copied into one folder, and say the same; a part that is missing is named; the wait across nodes is the program's."""

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

from run_trace_case import Case, parser

LATE = 0.3  # seconds


class Nodes:
    def __init__(self, case):
        self.case = case
        self.local = case.work / "local"
        self.local.mkdir()
        self.parts = [case.work / f"node{rank}" for rank in range(case.args.ranks)]
        for part in self.parts:
            part.mkdir()
        script = (f'rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; hostname node$rank && '
                  f'mount --bind "{case.work}/node$rank" "{self.local}" && exec "$@"')
        case.prefix = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "--uts", "sh", "-c", script, "sh"]

    def run(self, name, arguments, killed=False):
        self.case.args.arguments = arguments
        done = self.case.run(True, {"ELG_DIR": self.local / name})
        # The launcher of MPICH 4.1 and later gives 0 now and then for processes that were killed.
        any_status = killed and self.case.is_mpich_4_1()
        if ((done.returncode != 0) != killed and not any_status) or "kojak: " in done.stderr:
            sys.exit(f"{name}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        if any(self.local.iterdir()):
            sys.exit(f"{name}: the nodes were not apart: {list(self.local.iterdir())}")
        for rank, part in enumerate(self.parts):
            names = sorted(path.name for path in (part / name).iterdir())
            if names != [f"{rank}.0.elg"] and not (killed and names == [f"{rank}.0.buf", f"{rank}.0.elg"]):
                sys.exit(f"{name}: node {rank} holds {names}")
        return [part / name for part in self.parts], done.stdout

    def collect(self, directories, name):
        whole = self.case.work / name
        whole.mkdir()
        for directory in directories:
            for path in directory.iterdir():
                shutil.copy2(path, whole)
        return whole


def merge(case, output, inputs, status):
    done = subprocess.run([case.args.bin + "/elg_merge", "-o", output, *inputs], capture_output=True, text=True, timeout=60)
    if done.returncode != status:
        sys.exit(f"{inputs}: elg_merge ended with {done.returncode}, expected {status}: {done.stderr}")
    return done.stderr


def check_wait(case, trace, stdout):
    """On two nodes the report has the wait of the second process, no longer than it was in the barrier."""
    report = case.work / "report.cube"
    subprocess.run([case.args.bin + "/expert", "-o", report, trace], capture_output=True, timeout=60, check=True)
    root = xml.parse(report).getroot()
    names = sorted(node.findtext("name") for node in root.iter("node"))
    if names != [f"node{rank}" for rank in range(case.args.ranks)]:
        sys.exit(f"the report's nodes are {names}")
    metric = next(m.get("id") for m in root.iter("metric") if m.findtext("uniq_name") == "mpi_barrier_wait")
    waited = [0.0] * case.args.ranks
    for matrix in root.iter("matrix"):
        for row in matrix.iter("row") if matrix.get("metricId") == metric else ():
            waited = [a + float(b) for a, b in zip(waited, row.text.split())]
    inside = {int(rank): float(seconds) for rank, seconds in re.findall(r"process (\d+) ([0-9.]+)", stdout)}
    # The clocks of two nodes are known to some microseconds; 1 ms is far more.
    if len(inside) != case.args.ranks or not LATE * 2 / 3 <= waited[1] <= inside[1] + 1e-3 or waited[0] > 1e-3:
        sys.exit(f"in the barrier {inside}, waited for the report {waited}")


def main():
    options = parser()
    options.add_argument("--bin", required=True)
    case = Case(options.parse_args())
    nodes = Nodes(case)
    parts, stdout = nodes.run("run", [str(int(LATE * 1000))])
    there, collected = case.work / "there.elg", case.work / "collected.elg"
    if said := merge(case, there, parts, 0) + merge(case, collected, [nodes.collect(parts, "all")], 0):
        sys.exit(f"elg_merge says {said}")
    if there.read_bytes() != collected.read_bytes():
        sys.exit("the parts where they are and in one folder give two traces")
    check_wait(case, there, stdout)
    said = merge(case, case.work / "half.elg", [parts[0]], 3)
    if "1 process has no local trace (rank 1)" not in said:
        sys.exit(f"without one node elg_merge says {said}")
    killed, _ = nodes.run("killed", ["1", "kill"], killed=True)
    # Launchers may be back before those that they killed are gone: the merge waits for these, a copy does not.
    merge(case, case.work / "killed_there.elg", killed, 3)
    merge(case, case.work / "killed.elg", [nodes.collect(killed, "all_killed")], 3)
    listed = subprocess.run([case.args.bin + "/elg_print", case.work / "killed.elg"], capture_output=True, text=True,
                            timeout=60, check=True).stdout
    if listed.count("MPI_COLLEXIT") != case.args.ranks or listed.count("PROCESS_ENDED") < 1:
        sys.exit(f"of the killed run there is\n{listed}")
    # Parts of two runs are never one.
    mixed = nodes.collect([parts[0], killed[1]], "mixed")
    merge(case, case.work / "mixed.elg", [mixed], 2)


if __name__ == "__main__":
    main()
