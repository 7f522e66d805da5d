#!/usr/bin/env python3
"""Libraries between the program and MPI (library.c says which): the program computes and prints what it does without us,
whatever the order; what is recorded is what reached the MPI; where nothing can be recorded, one line says why.

The expected waits are the differences of the times at which the processes came to the calls, as the program noted them
(program.c), each of 0.1 s or more. Between a note and the call a process may lose its processor: 50 ms are allowed."""

import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from run_trace_case import Case, listing, parser  # noqa: E402

SLACK = 0.05
NOTED = {"mpi_rma_fence_wait": "fence", "mpi_barrier_wait": "barrier", "mpi_latesender": "message"}


def sorted_lines(text):
    return sorted(text.splitlines())


class Between:
    def __init__(self, case):
        self.case = case
        self.folder = pathlib.Path(case.args.folder)
        self.runs = 0

    def library(self, kind):
        return str(self.folder / f"lib{kind}_{self.case.args.mpi}.so")

    def program(self, kind):
        return str(self.folder / f"{kind}_{self.case.args.mpi}")

    def run(self, measured, program, preload=(), ranks=None, **env):
        """Preloads `us` where it stands among the libraries; a plain run goes without."""
        words = [self.case.args.library if word == "us" else word for word in preload if measured or word != "us"]
        if words:
            env["LD_PRELOAD"] = ":".join(words)
        self.directory = self.case.work / f"traces{self.runs}"
        self.runs += measured
        if measured:
            env["ELG_DIR"] = str(self.directory)
        for path in self.case.work.glob("times.*"):
            path.unlink()
        done = self.case.run(False, env, program=program, ranks=ranks)
        if done.returncode != 0:
            sys.exit(f"{program} {env}: {done}")
        self.times = {}
        for path in self.case.work.glob("times.*"):
            self.times[int(path.suffix[1:])] = {name: float(at) for name, at in
                                                (line.split() for line in path.read_text().splitlines())}
        return done

    def both(self, program, preload, plain=None, **how):
        """What the measured run said on standard error; standard output and status are those of the plain one."""
        alone = self.run(False, plain or program, preload, **how)
        measured = self.run(True, program, preload, **how)
        if sorted_lines(measured.stdout) != sorted_lines(alone.stdout):
            sys.exit(f"{program} {preload}: alone\n{alone.stdout}measured\n{measured.stdout}{measured.stderr}")
        return [line for line in measured.stderr.splitlines() if line.startswith("kojak")]

    def recorded(self, program, preload, plain=None, **how):
        said = self.both(program, preload, plain, **how)
        if said:
            sys.exit(f"{program} {preload}: {said}")
        files = listing(self.case.args.tool, self.directory)
        for name, lines in files.items():
            if "open=0 lost=0" not in lines[-1]:
                sys.exit(f"{program} {preload}: {name} ends {lines[-1]}")
        return files

    def not_recorded(self, words, program, preload, plain=None, **how):
        said = self.both(program, preload, plain, **how)
        if len(said) != 1 or not all(word in said[0] for word in words):
            sys.exit(f"{program} {preload}: {said}, expected {words}")
        if self.directory.exists():
            sys.exit(f"{program} {preload}: {self.directory} was made")

    def severities(self, ranks):
        """metric -> seconds of each process."""
        self.case.analyse(self.directory)
        root = xml.parse(self.case.work / "a.cube").getroot()
        names = {m.get("id"): m.findtext("uniq_name") for m in root.iter("metric")}
        found = {name: [0.0] * ranks for name in NOTED}
        for matrix in root.iter("matrix"):
            name = names[matrix.get("metricId")]
            for row in matrix.iter("row") if name in found else ():
                found[name] = [a + float(b) for a, b in zip(found[name], row.text.split())]
        return found

    def expect(self, ranks, worlds, metrics=NOTED):
        """In each world rank 0 is late to the fence and to the message, rank 1 to the barrier. Its ranks are given as those
        that the launcher gave them. What else waits does so for what comes before: less than the slack."""
        found = self.severities(ranks)
        for metric in metrics:
            expected = [0.0] * ranks
            for world in worlds:
                last, others = (world[1], world) if metric == "mpi_barrier_wait" else (world[0], world)
                if metric == "mpi_latesender":
                    others = [world[-1]]
                for rank in others:
                    expected[rank] = max(0.0, self.times[last][NOTED[metric]] - self.times[rank][NOTED[metric]])
            if any(abs(a - b) > SLACK for a, b in zip(found[metric], expected)):
                sys.exit(f"{metric} {found[metric]}, expected {expected}")


def order(between):
    """The table of docs/measurement.md: the library counts the calls that it gets."""
    counts, alone = between.library("counts"), between.program("between")
    for program, preload, plain in ((alone, ["us", counts], None), (between.program("linked"), ["us"], None),
                                    (between.program("us_linked"), [], between.program("linked"))):
        files = between.recorded(program, preload, plain, ranks=2)
        if len(files) != 2:
            sys.exit(f"{program}: {files}")
        between.expect(2, [[0, 1]])
    name = pathlib.Path(counts).name
    between.not_recorded([name, "is in front"], alone, [counts, "us"], ranks=2)
    between.not_recorded([name, "is in front"], between.program("linked_us"), [], between.program("linked"), ranks=2)
    between.not_recorded(["an MPI_Init of its own"], between.program("object"), ["us"], ranks=2)
    between.not_recorded([name, "stands between", "elg_config --libs"], between.program("archive"), [],
                         between.program("linked"), ranks=2)
    # Without an MPI_Init of its own it is named; what would pair such calls is left out.
    part = pathlib.Path(between.library("part")).name
    said = between.both(alone, [between.library("part"), "us"], ranks=2)
    if len(said) != 1 or not all(words in said[0] for words in (part, "MPI_Barrier and 1 more", "in front")):
        sys.exit(f"part: {said}")
    # Without a library between, an archive and a preloaded copy of us are one measurement.
    between.recorded(between.program("only_archive"), ["us"], alone, ranks=2)
    between.expect(2, [[0, 1]])


def clients(between):
    """A server that never returns from MPI_Init, as the last and the first process; two worlds in one run."""
    library, program = between.library("clients"), between.program("between")
    for server, worlds in (("last", [[0, 1]]), ("first", [[1, 2]])):
        between.recorded(program, ["us", library], ranks=3, SERVER=server)
        between.expect(3, worlds)
    between.recorded(program, ["us", library], ranks=5, WORLDS="2", SERVER="last")
    between.expect(5, [[0, 2], [1, 3]])
    # A clock of its own makes the server a node: the exchanges at both ends are between nodes.
    between.recorded(program, ["us", library], ranks=3, SERVER="last", ELG_TEST_CLOCK="2:5:20")
    between.expect(3, [[0, 1]])


def kinds(between):
    program = between.program("between")
    # One barrier is recorded of the three; the message is rank 0's: the library means nothing for its communicator.
    files = between.recorded(program, ["us", between.library("pairs")], ranks=4)
    for name, lines in files.items():
        if sum(line.lstrip().startswith("MPI_Barrier") for line in lines) != 1:
            sys.exit(f"{name}: not one MPI_Barrier: {lines}")
    between.expect(4, [[0, 1, 2, 3]], ["mpi_latesender"])
    # Of the call that a library makes of others one is recorded.
    files = between.recorded(program, ["us", between.library("names")], ranks=2)
    between.expect(2, [[0, 1]])
    calls = [re.match(r"MPI_\w+", line.strip()) for line in files["0.0.elg"]]
    called = [call[0] for call in calls if call]
    if called.count("MPI_Ssend") != 1 or "MPI_Issend" in called or "MPI_Wait" in called:
        sys.exit(f"names: {called}")
    between.recorded(program, ["us", between.library("alias")], ranks=2)
    between.expect(2, [[0, 1]])
    between.recorded(program, ["us", between.library("late")], ranks=2)
    between.expect(2, [[0, 1]])
    between.not_recorded([pathlib.Path(between.library("unseen")).name, "cannot be seen"], program,
                         ["us", between.library("unseen")], ranks=2)


def copies(between):
    """A library that uses a communicator of its own for each of the program's, and very many libraries."""
    program = between.program("between")
    for own in ({}, {"OWN": "1"}):
        between.recorded(program, ["us", between.library("shadow")], ranks=3, **own)
        between.expect(3, [[0, 1, 2]])
    many = [str(path) for path in sorted(between.folder.glob(f"libone_*_{between.case.args.mpi}.so"))]
    between.recorded(program, ["us", *many], ranks=2, OWN="1")
    between.expect(2, [[0, 1]])
    named = subprocess.run([f"{between.case.args.bin}/elg_print", "-t", "STRING", between.case.work / "a.elg"],
                           capture_output=True, text=True, timeout=60).stdout
    names = sum(pathlib.Path(path).name in named for path in many)  # as many as there is room for
    if len(many) != 12 or names < 5 or f"and {12 - names} more" not in named:
        sys.exit(f"{many}: {names} are named in {named}")


def local(between):
    """The program, the library and the MPI are seen by nobody else (Python's modules are so)."""
    between.case.args.arguments = [between.library("program")]
    between.recorded(between.program("loader"), ["us"], ranks=2)
    between.expect(2, [[0, 1]])
    between.not_recorded(["did not come to this library", "RTLD_DEEPBIND"], between.program("loader"), ["us"], ranks=2,
                         DEEP="1")


def shim(between):
    mpi = between.case.args.mpi_library
    between.not_recorded(["libshim", "no MPI that this"], between.program("shim"), ["us"], ranks=2, SHIM_MPI=mpi,
                         SHIM_INNER=between.library("inner"))
    between.not_recorded(["libstub", "no MPI that this"], between.program("stub"), ["us"], ranks=1)


def fortran(between):
    files = between.recorded(between.program("names"), ["us"], ranks=2)
    for name, lines in files.items():
        if sum(line.lstrip().startswith("MPI_Barrier") for line in lines) != 3:
            sys.exit(f"{name}: not three barriers: {lines}")
    if between.case.args.mpi == "mpich":
        # Its Fortran library calls C's names, and so a library that has only these: the barriers are the clients', and
        # nothing tells of a member that never came. (The server's library is C's; rank 2 never leaves MPI_Init.)
        files = between.recorded(between.program("plain_names"), ["us", between.library("clients")], ranks=3, SERVER="last")
        called = [sum(line.lstrip().startswith("MPI_Barrier") for line in files[f"{rank}.0.elg"]) for rank in range(3)]
        if called != [3, 3, 0]:
            sys.exit(f"barriers of the ranks: {called}")
        said = between.case.analyse(between.directory)
        if "never began" in said:
            sys.exit(said)


CASES = {"order": order, "clients": clients, "kinds": kinds, "copies": copies, "local": local, "shim": shim, "fortran": fortran}


def main():
    options = parser()
    options.add_argument("--bin", required=True)
    options.add_argument("--folder", required=True)
    options.add_argument("--case", required=True, choices=CASES)
    options.add_argument("--mpi-library", required=True, help="its path")
    case = Case(options.parse_args())
    CASES[case.args.case](Between(case))


if __name__ == "__main__":
    main()
