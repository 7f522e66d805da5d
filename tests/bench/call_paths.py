#!/usr/bin/env python3
"""What call paths cost, from the program to the report, against call sites alone.

  call_paths.py --run MPIRUN --program call_paths --library libelg_mpi.so --bin FOLDER [--rounds N] [--paths 6]
                [--repeat N] [--work FOLDER]

Records the program's loop of puts and its halo exchange with ELG_CALLSITES=site and path:N, merges and analyses both, and
prints for each the CPU time per MPI call, the sizes of the local and merged traces, the merged trace's events, and the
seconds that elg_merge and expert take (medians).
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import tempfile

RANKS = 2


def record(args, kind, rounds, setting, traces):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = [args.run] + (["--oversubscribe"] if "openmpi" in os.path.realpath(args.run) or "openmpi" in args.run else [])
    command += ["-n", str(RANKS)]
    if setting:
        shutil.rmtree(traces, ignore_errors=True)
        command += ["env", f"LD_PRELOAD={args.library}", f"ELG_DIR={traces}", f"ELG_CALLSITES={setting}"]
    ran = subprocess.run(command + [args.program, kind, str(rounds)], env=env, capture_output=True, text=True, check=True,
                         timeout=600)
    return float(ran.stdout)


def cpu_seconds(*command):
    """User and system time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(list(map(str, command)), check=True, capture_output=True, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def events_of(args, trace):
    text = subprocess.run([args.bin / "elg_stat", trace], capture_output=True, text=True, check=True, timeout=600).stdout
    return int(re.search(r"events: (\d+)", text)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5000)
    parser.add_argument("--paths", type=int, default=6)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--work", help="directory for the traces (default: a temporary one)")
    args = parser.parse_args()
    base = pathlib.Path(tempfile.mkdtemp(prefix="elg_paths_", dir=args.work))
    print(f"{'program':8}{'call sites':>12}{'ns a call':>11}{'local MB':>10}{'merged MB':>11}{'events':>12}{'merge s':>9}{'expert s':>10}")
    try:
        for kind, rounds in (("put", args.rounds), ("halo", 5 * args.rounds)):
            plain = statistics.median(record(args, kind, rounds, None, None) for _ in range(args.repeat))
            print(f"{kind:8}{'(plain)':>12}{plain:11.1f}")
            for setting in ("site", f"path:{args.paths}"):
                traces, merged = base / "run", base / "a.elg"
                took = statistics.median(record(args, kind, rounds, setting, traces) for _ in range(args.repeat))
                local = sum(path.stat().st_size for path in traces.glob("*.elg"))
                merge = statistics.median(cpu_seconds(args.bin / "elg_merge", "-o", merged, traces) for _ in range(args.repeat))
                expert = statistics.median(cpu_seconds(args.bin / "expert", "-q", "--causes=never", "-o", base / "a.cube", merged)
                                           for _ in range(args.repeat))
                print(f"{'':8}{setting:>12}{took:11.1f}{local / 1e6:10.1f}{merged.stat().st_size / 1e6:11.1f}"
                      f"{events_of(args, merged):12}{merge:9.2f}{expert:10.2f}")
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
