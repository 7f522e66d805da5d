#!/usr/bin/env python3
"""What the measurement library adds to an MPI call, in nanoseconds of CPU time.

  measurement_cost.py --run MPIRUN --program measurement_cost [--program many_cost] --library libelg_mpi.so
                      [--start PROGRAM] [--repeat N] [--calls N]

Runs the programs in turn without and with the library (traces go to a directory that is removed) and prints
for each kind of call the medians of both, their difference, what is left of that without the two readings of the
clock that each call costs in any case (rput_wait is two calls, isend_recv_wait three), and the bytes of its records.
Without --run the program makes its two processes itself.
Flushes are included. ELG_* settings hold, so
ELG_CALLSITES=off tells what call sites cost. --start is the program that times MPI_Init and MPI_Finalize (with 4
processes, by the clock on the wall). The last line is about a process that never calls MPI (sh, timeout), into which
the preload comes as well: milliseconds of CPU time from its start to its end.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import tempfile


# Calls of a kind, if there are several.
CALLS = {"notify_wait": 2, "rput_wait": 2, "lock_unlock": 2, "isend_recv_wait": 3, "put_flush": 2, "get_flush": 2, "yield": 0}


def launch(args, directory, preload, ranks, program):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = [args.run, "-n", str(ranks)] if args.run else []
    if args.run and "openmpi" in os.path.realpath(args.run) + args.run:
        command.insert(1, "--oversubscribe")
    if preload:
        shutil.rmtree(directory, ignore_errors=True)
        command += ["env", f"LD_PRELOAD={args.library}", f"ELG_DIR={directory}"]
    command += program
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=600, check=True).stdout


def run(args, directory, preload):
    out = "".join(launch(args, directory, preload, 2, [program, str(args.calls)]) for program in args.program)
    return {name: float(value) for name, value in (line.split() for line in out.splitlines())}


def without_mpi(args):
    """Milliseconds of a process that does nothing, without and with the library."""
    processes = 50
    samples = [[], []]
    for _ in range(args.repeat):
        for preload in (False, True):
            env = dict(os.environ, **({"LD_PRELOAD": args.library} if preload else {}))
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            for _ in range(processes):
                subprocess.run(["/bin/true"], env=env, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            samples[preload].append(used / processes * 1000)
    return [statistics.median(sample) for sample in samples]


def start_and_end(args, directory):
    """Milliseconds of MPI_Init and MPI_Finalize together, without and with the library."""
    samples = [[], []]
    for _ in range(args.repeat):
        for preload in (False, True):
            words = launch(args, directory, preload, 4, [args.start]).split()
            samples[preload].append(float(words[0]) + float(words[1]))
    return [statistics.median(sample) for sample in samples]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run")
    parser.add_argument("--program", required=True, action="append")
    parser.add_argument("--library", required=True)
    parser.add_argument("--start")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--calls", type=int, default=100000)
    parser.add_argument("--traces", help="directory for the traces (default: a temporary one)")
    args = parser.parse_args()
    base = tempfile.mkdtemp(prefix="elg_cost_", dir=args.traces)
    plain, measured = [], []
    try:
        for _ in range(args.repeat):
            plain.append(run(args, os.path.join(base, "run"), False))
            measured.append(run(args, os.path.join(base, "run"), True))
        alone = without_mpi(args)
        ends = start_and_end(args, os.path.join(base, "run")) if args.start else None
    finally:
        shutil.rmtree(base, ignore_errors=True)
    def median(samples, name):
        return statistics.median(sample[name] for sample in samples)

    print(f"{'call':18}{'plain ns':>10}{'measured ns':>13}{'added ns':>10}{'ratio':>8}{'above clock':>13}{'bytes':>8}")
    clock = median(plain + measured, "clock") if "clock" in plain[0] else None
    for name in plain[0]:
        if name.endswith(".bytes"):
            continue
        before, after = median(plain, name), median(measured, name)
        line = f"{name:18}{before:10.1f}{after:13.1f}{after - before:10.1f}{after / before:8.2f}"
        counted = f"{name}.bytes" in measured[0]
        if clock is not None and name != "clock" and (counted or not args.run):
            line += f"{after - before - 2 * CALLS.get(name, 1) * clock:13.1f}"
        if counted:
            line += f"{median(measured, name + '.bytes'):8.1f}"
        print(line)

    if ends:
        print(f"MPI_Init and MPI_Finalize, 4 processes: {ends[0]:.1f} ms plain, {ends[1]:.1f} ms measured")
    print(f"a process without MPI: {alone[0]:.2f} ms plain, {alone[1]:.2f} ms with the preload, "
          f"{alone[1] - alone[0]:.2f} ms more")


if __name__ == "__main__":
    main()
