#!/usr/bin/env python3
"""`kojak run --sample` says where the demo's imbalance is hidden: function, line, who waits, and where.

  says.py KOJAK FOLDER MPIRUN HALO [OSHRUN HALO_SHMEM]

Of two processes the first has all hot rows, which call reaction_rate(): the other waits for it. The SHMEM program
computes what the MPI program does.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **more):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", COLUMNS="200", **more)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=150)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def lines_with(source, text):
    return {str(number) for number, line in enumerate((HERE / source).read_text().splitlines(), 1) if text in line}


def lines_of_rate():
    """The lines of reaction_rate(), from its head to its closing brace."""
    lines = (HERE / "grid.c").read_text().splitlines()
    first = next(i for i, line in enumerate(lines, 1) if line.startswith("static double reaction_rate("))
    last = next(i for i, line in enumerate(lines, 1) if i > first and line == "}")
    return {str(number) for number in range(first, last + 1)}


def check_words(said, program, victim, before, after):
    """`victim`: what the summary says of the worst wait; the cause computes between the lines `before` and `after`."""
    text = " ".join(said.split())
    verdict = re.search(r"rank 0, reaction_rate\(\) at grid\.c:(\d+), makes rank 1 wait[;.]", text)
    if not verdict or verdict[1] not in lines_of_rate():
        sys.exit(f"the verdict does not name the cause:\n{said}")
    if not re.search(victim, text):
        sys.exit(f"the one that waits is not named ({victim}):\n{said}")
    cause = re.search(r"rank 0 (?:computes|had no processor for [\d.]+ s of) ([\d.]+) s(?: longer)? in reaction_rate \(grid\.c:(\d+)\), between "
                      rf"{program}:(\d+) and {program}:(\d+): the others wait ([\d.]+) s for it", text)
    if not cause or cause[2] not in lines_of_rate() or cause[3] not in before or cause[4] not in after:
        sys.exit(f"the cause is not named:\n{said}")
    if min(float(cause[1]), float(cause[5])) < 0.1:
        sys.exit(f"the cause is named with hardly any time:\n{said}")


def main():
    kojak, folder, mpirun, halo, *shmem = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    more = ["--oversubscribe"] if "Open" in run(mpirun, "--version") else []
    said = run(kojak, "run", "--full", "--sample", "-o", f"{folder}/mpi", "--", mpirun, *more, "-n", "2", halo)
    heat = said.splitlines()[0]
    # The first fence of a step comes after the rows are computed, the second before that.
    fences = {after: number for after in ("NOPRECEDE", "NOSUCCEED") for number in lines_with("halo.c", after)}
    check_words(said, r"halo\.c", rf"Wait at Fence worst: rank 1, [\d.]+ s .{{1,60}}? / steps_with_fences halo\.c:{fences['NOPRECEDE']} ",
                {fences["NOSUCCEED"]}, {fences["NOPRECEDE"]})
    if shmem:
        oshrun, halo_shmem = shmem
        said = run(kojak, "run", "--full", "--sample", "-o", f"{folder}/shmem", "--", oshrun, "--oversubscribe", "-n", "2", halo_shmem)
        if heat not in said.splitlines():
            sys.exit(f"halo computes '{heat}', halo_shmem:\n{said}")
        # The next call after the rows are computed is the quiet in tell().
        waits = lines_with("halo_shmem.c", "shmem_long_wait_until")
        check_words(said, r"halo_shmem\.c", r"Late Notification worst: rank 1, [\d.]+ s .{0,60}?_with_flags halo_shmem\.c:"
                    rf"(?:{'|'.join(sorted(waits))}) / shmem_long_wait_until", waits, lines_with("halo_shmem.c", "shmem_quiet()"))


if __name__ == "__main__":
    main()
