#!/usr/bin/env python3
"""Ends or disturbs a measured program and checks that nothing changed for it and what was recorded is kept.

The program is programs/stop.c; with --shmem one of SHMEM, which ends in the same ways (tests/shmem/stop.c). In every
case its exit status and its output are those that it has without the library; each case says what the traces hold,
and what the library says on standard error (at most one line).
"""

import dataclasses
import os
import pathlib
import re
import shutil
import signal
import sys
import time

from check_runs import checked
from check_runs import compare as second_analysis
from run_trace_case import Case, calls_of, listing, parser

CALLS = 1000
LOCKS = 50


@dataclasses.dataclass
class Names:
    """What the program's calls are in a listing."""
    put: str
    barrier: str
    lock: str
    last: str


MPI = Names("MPI_Put put:1:8", "MPI_Barrier coll:-:0:0", "MPI_Win_lock lock:1:0", "MPI_Finalize")
SHMEM = Names("shmem_long_p put:1:8", "shmem_barrier_all quiet:0 coll:-:0:0", "shmem_set_lock lock",
              "shmem_finalize quiet:- coll:-:0:0")
# Lines of the launchers about processes that died.
OURS = "kojak: "


def our_lines(done):
    return [line for line in done.stderr.splitlines() if line.startswith(OURS)]


def traces(case, directory):
    return {name: calls_of(lines) for name, lines in listing(case.args.tool, directory).items()}


def expect_puts(calls, number=CALLS, names=MPI):
    puts = calls.count(names.put)
    if puts != number:
        sys.exit(f"{puts} puts in the trace, not {number}")


def same_as_plain(case, extra=None, **how):
    plain = case.run(False, **how)
    directory = case.work / "traces"
    measured = case.run(True, {"ELG_DIR": directory, **(extra or {})}, **how)
    compare(plain, measured)
    return measured, directory


def same_ends(case):
    """Where processes die under MPICH: its mpirun gives the status of whichever it saw first, also without us.

    So the processes' own ends count. The launcher kills those that are left, sooner or later: then they have none.
    """
    directory = case.work / "traces"
    by_signal = (1,) if case.args.case in ("kill", "segv", "term") else ()
    plain, expected = case.noted("plain", False, None, by_signal)
    measured, found = case.noted("measured", True, {"ELG_DIR": directory}, by_signal)
    if case.is_mpich_4_1():
        case.check_status(plain, expected)
        case.check_status(measured, found)
    elif (plain.returncode == 0) != (measured.returncode == 0):
        sys.exit(f"exit status {measured.returncode}, without the library {plain.returncode}\n{measured.stderr}")
    if not found or any(found[rank] != expected[rank] for rank in found if rank in expected):
        sys.exit(f"processes ended with {found}, without the library {expected}\n{measured.stderr}")
    compare_output(plain, measured)
    return measured, directory


def compare(plain, measured):
    if plain.returncode != measured.returncode:
        sys.exit(f"exit status {measured.returncode}, without the library {plain.returncode}\n{measured.stderr}")
    compare_output(plain, measured)


def compare_output(plain, measured):
    # Launchers add lines with process numbers when a process dies.
    # Lines of several ranks reach the launcher in any order, and an end of line after the next line's beginning.
    outputs = [sorted(re.findall(r"(?:rank \d+|end|child|jumped)[^\n]*?(?=rank |end |child |jumped|\n|$)", done.stdout))
               for done in (plain, measured)]
    if outputs[0] != outputs[1]:
        sys.exit(f"output differs: {outputs}")


def silent(measured):
    if our_lines(measured):
        sys.exit(f"the library said: {our_lines(measured)}")


def one_line(measured, *words):
    lines = our_lines(measured)
    if len(lines) != 1 or not all(word in lines[0] for word in words):
        sys.exit(f"expected one line with {words}: {lines}\n{measured.stderr}")


def ends_early(case):
    """Nothing is flushed, so all stands in the buffers; the merge reads them."""
    # MPI_Abort tells the launcher which status to give; nothing races there.
    racing = case.args.mpi == "mpich" and case.args.case != "abort"
    measured, directory = (same_ends if racing else same_as_plain)(case)
    silent(measured)
    found = traces(case, directory)
    expect_puts(found["0.0.elg"], names=case.names)
    if case.names.barrier not in found["1.0.elg"]:
        sys.exit(f"the barrier of rank 1 is missing: {found['1.0.elg']}")
    if not any(name.endswith(".buf") for name in os.listdir(directory)):
        sys.exit("no buffer was left")


def runs_through(case):
    measured, directory = same_as_plain(case)
    silent(measured)
    found = traces(case, directory)
    expect_puts(found["0.0.elg"], names=case.names)
    if sorted(os.listdir(directory)) != ["0.0.elg", "1.0.elg"]:
        sys.exit(f"left: {os.listdir(directory)}")
    if found["0.0.elg"][-1] != case.names.last or found["0.0.elg"].count(case.names.lock) != LOCKS:
        sys.exit("the end is missing")
    return found


def jumps(case):
    found = runs_through(case)
    for rank in "01":
        for call in ("MPI_Send", "MPI_Isend", "MPI_Put"):
            if found[f"{rank}.0.elg"].count(call) != 6:
                sys.exit(f"six calls of {call} were left by longjmp; the trace must have six that ended")


def directory_exists(case):
    directory = case.work / "traces"
    directory.mkdir()
    (directory / "0.0.elg").write_bytes(b"another run's")
    measured, _ = same_as_plain(case)
    one_line(measured, str(directory), "ELG_DIR")
    if os.listdir(directory) != ["0.0.elg"] or (directory / "0.0.elg").read_bytes() != b"another run's":
        sys.exit("the other run's trace was touched")


def directory_empty(case):
    (case.work / "traces").mkdir()
    runs_through(case)


def directory_impossible(case):
    (case.work / "traces").write_text("a file")
    measured, _ = same_as_plain(case)
    one_line(measured, str(case.work / "traces"))


def default_names(case):
    plain = case.run(False)
    for _ in range(2):
        measured = case.run(True)
        compare(plain, measured)
        silent(measured)
    name = f"elg_{os.path.basename(case.args.program)}_2"
    if sorted(d for d in os.listdir(case.work)) != [name, name + ".2"]:
        sys.exit(f"directories: {os.listdir(case.work)}")
    for directory in (name, name + ".2"):
        expect_puts(traces(case, case.work / directory)["0.0.elg"], names=case.names)


def file_too_large(case):
    """Files may grow to 200 KiB (SHMEM's program: 256), which 87,382 puts fill at the latest, for one takes 3 bytes at
    least: its code, and when it began and ended. No other process writes in the program's place: recording stops, what
    was recorded stays."""
    case.args.arguments = ["limit", "100000", "204800"]
    plain = case.run(False)
    directory = case.work / "traces"
    measured = case.run(True, {"ELG_DIR": directory, "ELG_BUFFER_SIZE": "64K", "ELG_KEEP": "0"})
    compare(plain, measured)
    one_line(measured, "0.0.elg", "cannot be written", "File too large")
    check_stopped(case, directory, 100000)


def out_of_reach(case):
    """The program has another root, is another user, or may write no large files, soon after MPI_Init: the process
    that keeps its buffers writes in its place, and nothing is lost, of a thread that begins then either."""
    modes = ["limit", "root", "user"] if os.geteuid() == 0 else ["limit"]  # others need root's rights
    calls = 20000  # more than a buffer
    empty = case.work / "empty"
    empty.mkdir()
    for mode in modes:
        case.args.arguments = [mode, str(calls), "16384" if mode == "limit" else str(empty)]
        directory = case.work / f"traces_{mode}"
        # UCX ends a program that closes a connection by TCP with another root, measured or not, which MPICH's launcher
        # tells or does not: MPICH 4.2 gets shared memory alone.
        memory = {"UCX_TLS": "posix,sysv,self"} if mode == "root" and case.is_mpich_4_1() else {}
        plain = case.run(False, memory)
        measured = case.run(True, {"ELG_DIR": directory, "ELG_BUFFER_SIZE": "64K", **memory})
        compare(plain, measured)
        silent(measured)
        if mode != "limit" and "rank 0 is out" not in measured.stdout:
            sys.exit(f"{mode}: {measured.stdout}")
        for _ in range(100):  # the keeper ends a little later than the process
            left = sorted(os.listdir(directory))
            if not any(name.endswith(".buf") for name in left):
                break
            time.sleep(0.1)
        if left != ["0.0.elg", *(["0.1.elg"] if mode != "limit" else []), "1.0.elg"] or os.listdir(empty):
            sys.exit(f"{mode}: left: {left}, {os.listdir(empty)}")
        found = traces(case, directory)
        expect_puts(found["0.0.elg"], calls, case.names)
        if found["0.0.elg"][-1] != case.names.last or found["0.0.elg"].count(case.names.lock) != LOCKS:
            sys.exit(f"{mode}: the end is missing")
        if mode != "limit" and not any("MPI_Iprobe" in call for call in found["0.1.elg"]):
            sys.exit(f"{mode}: the thread's call is missing: {found['0.1.elg']}")
        if mode != modes[-1]:
            shutil.rmtree(directory)  # one is analysed
    shutil.rmtree(empty)


def check_stopped(case, directory, calls):
    lines = listing(case.args.tool, directory)["0.0.elg"]
    puts = calls_of(lines).count(case.names.put)
    if not 1000 < puts < calls or "lost=1" not in lines[-1]:
        sys.exit(f"{puts} puts, {lines[-1]}")


def disk_full(case):
    """A tmpfs of 400 KiB, in a namespace of our own: the buffers fit, not all that is recorded, for 136,534 puts of 3
    bytes fill it at the latest."""
    case.args.arguments = ["end", "160000"]
    plain = case.run(False)
    mount = case.work / "small"
    mount.mkdir()
    kept = case.work / "kept"
    case.wrapper = ["unshare", "-rm", "sh", "-c",
                    f'mount -t tmpfs -o size=400k tmpfs {mount} && "$@"; status=$?; cp -r {mount}/traces {kept}; exit $status',
                    "sh"]
    measured = case.run(True, {"ELG_DIR": mount / "traces", "ELG_BUFFER_SIZE": "64K"})
    compare(plain, measured)
    one_line(measured, "cannot be written", "No space left")
    check_stopped(case, kept, 160000)


def no_room_for_buffers(case):
    """The file system has not even room for the buffers: nothing is recorded, nothing is left."""
    mount = case.work / "small"
    mount.mkdir()
    kept = case.work / "kept"
    plain = case.run(False)
    case.wrapper = ["unshare", "-rm", "sh", "-c",
                    f'mount -t tmpfs -o size=200k tmpfs {mount} && "$@"; status=$?; cp -r {mount}/traces {kept}; exit $status',
                    "sh"]
    measured = case.run(True, {"ELG_DIR": mount / "traces"})
    compare(plain, measured)
    one_line(measured, "cannot be written", "No space left")
    if os.listdir(kept):
        sys.exit(f"left: {os.listdir(kept)}")


def small_buffer(case):
    """Many flushes in the middle of an epoch lose nothing."""
    case.args.arguments = ["end", "50000"]
    measured, directory = same_as_plain(case, {"ELG_BUFFER_SIZE": "64K"})
    silent(measured)
    lines = listing(case.args.tool, directory)["0.0.elg"]
    expect_puts(calls_of(lines), 50000, case.names)
    # No more than a buffer is written at once, and the last of it at the end.
    flushes = (directory / "0.0.elg").stat().st_size // 65536
    if flushes < 1 or sum(line.startswith("  TRACING") for line in lines) < flushes:
        sys.exit(f"not the {flushes} flushes that the file's size tells of")


def two_nodes(case):
    """Rank 1's clock goes 5 per mille too fast: it is a node of its own, and its two offsets say so.

    Between them lie at least the 0.3 s that the program sleeps: the offset shrinks by 0.005 of the time between, as
    the two error bounds allow.
    """
    case.args.arguments = ["sleep", str(CALLS)]
    plain = case.run(False)
    directory = case.work / "traces"
    measured = case.run(True, {"ELG_DIR": directory, "ELG_TEST_CLOCK": "1:5:5000"})
    compare(plain, measured)
    silent(measured)
    clocks = listing(case.args.tool, directory, "--clocks")
    numbers = [[float(word) for word in re.findall(r"-?\d+\.\d+", line)] for line in clocks["1.0.elg"]]
    nodes = {line.split()[1] for name in clocks for line in clocks[name] if line.startswith("node")}
    if nodes != {"0", "1"}:
        sys.exit(f"nodes {nodes}")
    bound = next(n[0] for n, line in zip(numbers, clocks["1.0.elg"]) if line.startswith("node"))  # the larger of two
    (first, first_at), (last, last_at) = [n for n, line in zip(numbers, clocks["1.0.elg"]) if line.startswith("offset")]
    apart = last_at - first_at
    drift = (first - last) - apart * 0.005 / 1.005
    if apart < 0.3 or not 0 < bound < 1 or abs(drift) > 2 * bound + 1e-3:
        sys.exit(f"{clocks['1.0.elg']}: the offsets change by {first - last}")


def record_off(case):
    """ELG_RECORD=0: only PAUSING, and the program says when to begin."""
    directory = case.work / "traces"
    measured = case.run(True, {"ELG_DIR": directory, "ELG_RECORD": "0"})
    compare(case.run(False), measured)
    silent(measured)
    found = traces(case, directory)
    if any(calls != ["PAUSING"] for calls in found.values()) or len(found) != 2:
        sys.exit(f"{found}")


def wrong_library(case):
    """Preloaded is the library for the other MPI: one message, then nothing but forwarding."""
    directory = case.work / "traces"
    plain = case.run(False)
    measured = case.run(True, {"ELG_DIR": directory})
    compare(plain, measured)
    one_line(measured, "nothing is recorded")
    if directory.exists():
        sys.exit("a directory was made")


def moved(case):
    """The library was copied elsewhere, together with the program that keeps its records, and alone."""
    library = pathlib.Path(case.args.library)
    for name, files in (("together", [library, library.parent / "elg_keep"]), ("alone", [library])):
        folder = case.work / name
        folder.mkdir()
        for file in files:
            if file.exists():
                shutil.copy(file, folder)
        case.args.library = str(folder / library.name)
        shutil.rmtree(case.work / "traces", ignore_errors=True)
        runs_through(case)


def helper_programs(case):
    """Programs without MPI under the preload stay as they are."""
    directory = case.work / "traces"
    case.args.arguments = ["-c", "echo out; echo err >&2; exit 3"]

    def run(*more):
        # MPICH's mpirun may die by SIGPIPE where its program ends at once.
        for _ in range(20):
            done = case.run(*more, program="sh", ranks=1)
            if done.returncode != -signal.SIGPIPE:
                break
        return done
    plain, measured = run(False), run(True, {"ELG_DIR": directory})
    if (plain.returncode, plain.stdout) != (measured.returncode, measured.stdout):
        sys.exit(f"sh: {measured}")
    silent(measured)
    case.args.arguments = ["20", case.args.program, "end"]
    measured = case.run(True, {"ELG_DIR": directory}, program="timeout")
    silent(measured)
    if measured.returncode != 0:
        sys.exit(f"timeout: {measured}")
    expect_puts(traces(case, directory)["0.0.elg"], names=case.names)


CASES = {
    "exit": ends_early, "exit_handlers": ends_early, "kill": ends_early, "segv": ends_early, "term": ends_early,
    "abort": ends_early, "close": ends_early, "end": runs_through, "fork": runs_through, "chdir": runs_through,
    "jump": jumps, "directory_exists": directory_exists, "directory_empty": directory_empty,
    "directory_impossible": directory_impossible, "default_names": default_names, "file_too_large": file_too_large,
    "disk_full": disk_full, "no_room_for_buffers": no_room_for_buffers, "small_buffer": small_buffer,
    "two_nodes": two_nodes, "record_off": record_off, "wrong_library": wrong_library, "helper_programs": helper_programs,
    "moved": moved, "out_of_reach": out_of_reach,
}


def closes_at_exit(case):
    """A SHMEM program need not call shmem_finalize: at its exit all is written."""
    measured, directory = same_as_plain(case)
    silent(measured)
    found = traces(case, directory)
    expect_puts(found["0.0.elg"], names=case.names)
    if sorted(os.listdir(directory)) != ["0.0.elg", "1.0.elg"] or found["1.0.elg"][-1] != case.names.barrier:
        sys.exit(f"left: {os.listdir(directory)}, the end is {found['1.0.elg'][-1]}")


# Where SHMEM programs are another case: its library keeps SIGTERM from ending a process.
SHMEM_CASES = {**CASES, "exit_handlers": closes_at_exit, "term": runs_through}

# What these leave is not all of the run; merge and analysis say so. Those leave nothing.
INCOMPLETE = ["exit", "exit_handlers", "kill", "segv", "term", "abort", "close", "file_too_large", "disk_full"]
NOTHING = ["directory_exists", "directory_impossible", "no_room_for_buffers", "wrong_library"]


def analyse(case):
    """Whatever happened: what was recorded is merged and analysed, with a statement of what is missing."""
    if case.args.case in NOTHING:
        return
    directories = [path for path in case.work.iterdir() if path.is_dir() and list(path.glob("*.elg"))]
    if not directories:
        sys.exit("nothing was recorded")
    complete = case.args.case not in INCOMPLETE or CASES[case.args.case] is not case.cases[case.args.case]
    expected = 0 if complete else 3
    for directory in directories:
        trace = f"{directory}.elg"
        merged = checked([case.args.bin / "elg_merge", "-o", trace, directory], (expected,))
        if expected == 3 and "elg_merge:" not in merged.stderr:
            sys.exit(f"elg_merge {directory} does not say what is missing: {merged.stderr}")
        report = f"{directory}.cube"
        checked([case.args.bin / "expert", "-o", report, trace], (0, 3))
        checked([case.args.check_trace, trace, report])
        second_analysis.check(trace, report, case.args.bin / "elg_print")


def main():
    options = parser()
    options.add_argument("--bin", required=True, type=pathlib.Path, help="where elg_merge and expert are")
    options.add_argument("--check-trace", required=True, help="check_trace")
    options.add_argument("--case", required=True, choices=CASES)
    options.add_argument("--note-status", required=True, help="note_status")
    options.add_argument("--shmem", action="store_true", help="the program is one of SHMEM")
    case = Case(options.parse_args())
    case.names, case.cases = (SHMEM, SHMEM_CASES) if case.args.shmem else (MPI, CASES)
    modes = ("exit", "exit_handlers", "kill", "segv", "term", "abort", "close", "fork", "chdir", "jump")
    case.args.arguments = [case.args.case if case.args.case in modes else "end", str(CALLS)]
    case.cases[case.args.case](case)
    analyse(case)


if __name__ == "__main__":
    main()
