#!/usr/bin/env python3
"""What must not harm a measured program (programs/guard.c), what is kept when it is killed, and what is said.

In every case exit status and output are those without the library. Where a case needs a file system of its own it
mounts one from a file or from memory; where this machine allows no loop devices, it says so, and the same case runs
on tmpfs, which also takes no write when it is full.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from check_runs import checked
from run_stop_case import compare, compare_output, expect_puts, one_line, our_lines, silent, traces
from run_trace_case import Case, calls_of, listing, parser

CALLS = 1000
PAUSES = 20  # as in guard.c


def mounted(case, kind, megabytes):
    """A command that mounts a small file system of that kind in a namespace of its own and runs another in it, keeps
    the traces, and passes the status on; and where. Without loop devices: tmpfs."""
    mount = case.work / "small"
    mount.mkdir()
    kept = case.work / "kept"
    image = case.work / "image"
    source = f"-t tmpfs -o size={megabytes}m tmpfs"
    if kind != "tmpfs":
        with open(image, "wb") as file:
            file.truncate(megabytes << 20)
        make = {"btrfs": ["mkfs.btrfs", "-q", "-f"], "ext4": ["mkfs.ext4", "-q", "-F"]}[kind]
        loop = f"-o loop {image}"
        made = shutil.which(make[0], path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin")
        if made:
            subprocess.run([made, *make[1:], image], check=True, capture_output=True)
        probe = f"mount {loop} {mount} && umount {mount}"
        if made and subprocess.run(["unshare", "-m", "sh", "-c", probe], capture_output=True).returncode == 0:
            source = loop
        else:
            print(f"note: no {kind} can be mounted here; the case runs on tmpfs")
    case.wrapper = ["unshare", "-m" if source.startswith("-o loop") else "-rm", "sh", "-c",
                    f'mount {source} {mount} && "$@"; status=$?; sleep 0.5; cp -r {mount}/traces {kept}; umount {mount}; '
                    "exit $status", "sh"]
    return mount, kept


def run_both(case, extra=None, environment=None):
    wrapper, case.wrapper = case.wrapper, []
    plain = case.run(False, environment)
    case.wrapper = wrapper
    directory = (extra or {}).get("ELG_DIR", case.work / "traces")
    measured = case.run(True, {"ELG_DIR": directory, **(environment or {}), **(extra or {})})
    case.wrapper = []
    return plain, measured, directory


def finished(case, directory):
    """All is there and nothing is left."""
    left = [name for name in os.listdir(directory) if not name.endswith(".elg")]
    found = traces(case, directory)
    expect_puts(found["0.0.elg"], 2 * case.calls)
    if left or found["0.0.elg"][-1] != "MPI_Finalize":
        sys.exit(f"left {left}, the end is {found['0.0.elg'][-1]}")
    return found


def cut(case):
    """Somebody cuts the buffer files while the program runs: nothing happens."""
    plain, measured, directory = run_both(case)
    compare(plain, measured)
    silent(measured)
    finished(case, directory)


def full(case, kind, megabytes):
    """The disk becomes full: recording stops, the program does not, and what the buffer held is kept, too."""
    case.args.arguments = ["fill", "70000"]
    mount, kept = mounted(case, kind, megabytes)
    plain, measured, _ = run_both(case, {"ELG_DIR": mount / "traces", "KOJAK_FILL": mount / "filler",
                                         "ELG_BUFFER_SIZE": "64K"})
    compare(plain, measured)
    # Rank 1's file may be begun after rank 0 has filled the disk: then it says so, too.
    told = our_lines(measured)
    if len(told) > case.args.ranks or "0.0.elg" not in " ".join(told) or not all(
            "cannot be written" in line and "No space left" in line for line in told):
        sys.exit(f"{told}\n{measured.stderr}")
    lines = listing(case.args.tool, kept)["0.0.elg"]
    puts = calls_of(lines).count("MPI_Put put:1:8")
    # The program fills the disk after half of the puts; a buffer more fits into what was reserved: of 64 KB, 65,536 puts
    # at most, however few bytes one takes.
    if not 70000 <= puts < 140000 or "lost=1" not in lines[-1]:
        sys.exit(f"{puts} puts, {lines[-1]}")


def killed(case, kind=None):
    """One process is killed, on any file system: all that it recorded is kept."""
    if kind:
        mount, kept = mounted(case, kind, 128 if kind == "btrfs" else 16)
        directory = mount / "traces"
    else:
        kept = directory = case.work / "traces"
    plain, measured, _ = run_both(case, {"ELG_DIR": directory})
    # MPICH 4.2's mpirun tells or does not, by chance.
    if not case.is_mpich_4_1() and (plain.returncode == 0) != (measured.returncode == 0):
        sys.exit(f"exit status {measured.returncode}, without the library {plain.returncode}")
    compare_output(plain, measured)
    silent(measured)
    merged = checked([case.args.bin / "elg_merge", "-o", case.work / "a.elg", kept], (3,))
    found = traces(case, kept)
    expect_puts(found["0.0.elg"], 2 * case.calls)
    if "MPI_Barrier coll:-:0:0" not in found["1.0.elg"]:
        sys.exit(f"the barrier of rank 1 is missing: {found['1.0.elg']}")
    if "memory only" in merged.stderr:
        sys.exit(f"elg_merge: {merged.stderr}")


def nobody_keeps(case):
    """Without a process that keeps the records they are lost, and the merge says whose."""
    case.args.arguments = ["kill", str(CALLS)]
    plain, measured, directory = run_both(case, {"ELG_KEEP": "0"})
    compare_output(plain, measured)
    silent(measured)
    merged = checked([case.args.bin / "elg_merge", "-o", case.work / "a.elg", directory], (2, 3))
    if "memory only" not in merged.stderr or ".0.buf" not in merged.stderr:
        sys.exit(f"elg_merge: {merged.stderr}")


def keepers():
    """Processes that keep records now: number -> the process that they belong to."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"/elg_keep"):
            found[int(entry.name)] = int(words[1])
    return found


def children(case):
    """The program has no child and gets no signal, and nothing runs on when it has ended."""
    plain, measured, directory = run_both(case)
    compare(plain, measured)
    silent(measured)
    finished(case, directory)
    for _ in range(100):
        orphans = [n for n, process in keepers().items() if not os.path.exists(f"/proc/{process}")]
        if not orphans:
            return
        time.sleep(0.1)
    sys.exit(f"still there: {orphans}")


def handlers(case):
    """Regions and calls in signal handlers: whole or not at all, and nothing else is harmed."""
    counts = case.work / "counts"
    plain, measured, directory = run_both(case, {"KOJAK_COUNTS": counts, "ELG_MPI": "all"})
    compare(plain, measured)
    silent(measured)
    with_calls = case.args.arguments[0] == "handler_calls"
    for rank in range(2):
        lines = listing(case.args.tool, directory)[f"{rank}.0.elg"]
        text = "\n".join(lines)
        if "open=0 lost=0" not in lines[-1]:
            sys.exit(f"rank {rank}: {lines[-1]}")
        number = {name: len(re.findall(rf"^ *{name}$", text, re.M))
                  for name in ("work", "part", "handler", "inner of the handler")}
        handled = int(pathlib.Path(f"{counts}.{rank}").read_text())
        if number["work"] != case.calls or number["part"] != case.calls:
            sys.exit(f"rank {rank}: {number}")
        # Those that interrupt what the program does by itself are recorded, the pauses at the end at least. Under MPICH 4.2
        # all others may interrupt puts.
        if not PAUSES <= number["handler"] <= handled or number["handler"] != number["inner of the handler"]:
            sys.exit(f"rank {rank}: {number}, {handled} handled")
        ranks = len(re.findall(r"^ *MPI_Comm_rank$", text, re.M))
        if not (number["handler"] if with_calls else 1) <= ranks <= (handled + 1 if with_calls else 1):
            sys.exit(f"rank {rank}: {ranks} calls of MPI_Comm_rank, {handled} handled")
        puts = len(re.findall(r"MPI_Put put:1:8", text))
        if puts != (3 * case.calls if rank == 0 else 0):
            sys.exit(f"rank {rank}: {puts} puts")


def names(case):
    """Names that come to be at run time are told apart by their texts."""
    plain, measured, directory = run_both(case)
    compare(plain, measured)
    silent(measured)
    text = "\n".join(listing(case.args.tool, directory)["0.0.elg"])
    expected = {"literal": case.calls, "made 0": (case.calls + 1) // 2, "made 1": case.calls // 2}
    for i, name in enumerate(("first", "second", "third")):
        expected[name] = (case.calls + 2 - i) // 3
    found = {name: len(re.findall(rf"^ *{name}$", text, re.M)) for name in expected}
    if found != expected:
        sys.exit(f"{found}, not {expected}")


def settings(case):
    """One line for all that is not understood, whatever the number of processes."""
    plain, measured, directory = run_both(case, {"ELG_BUFER_SIZE": "1M", "ELG_CALLSITES": "paths:3"})
    compare(plain, measured)
    one_line(measured, "ELG_CALLSITES=paths:3 is not understood", "did you mean ELG_BUFFER_SIZE?")
    finished(case, directory)


def filters(case):
    """A filter that cannot be read, or not all of it, changes what is recorded: that is said."""
    plain, measured, _ = run_both(case, {"ELG_FILTER": case.work / "none"})
    compare(plain, measured)
    one_line(measured, "ELG_FILTER", "No such file", "nothing is filtered")
    rules = case.work / "rules"
    rules.write_text("exclude a\nexlude b\ninclude\n")
    measured = case.run(True, {"ELG_FILTER": rules, "ELG_DIR": case.work / "second"})
    one_line(measured, f"{rules}:2", "begins with include or exclude", "1 other")


def directory_is_file(case):
    (case.work / "traces").write_text("a file")
    plain, measured, directory = run_both(case)
    compare(plain, measured)
    one_line(measured, str(directory), "it is a file", "ELG_DIR")
    if directory.read_text() != "a file":
        sys.exit("the file was touched")


def max_size(case):
    """A process writes no more than it may: recording stops, that is said and counted."""
    case.args.arguments = ["end", "150000"]
    plain, measured, directory = run_both(case, {"ELG_MAX_SIZE": "512K"})
    compare(plain, measured)
    one_line(measured, "ELG_MAX_SIZE", "rank 0")
    sizes = {name: (directory / name).stat().st_size for name in os.listdir(directory)}
    if sorted(sizes) != ["0.0.elg", "1.0.elg"] or sizes["0.0.elg"] > 512 * 1024 or sizes["0.0.elg"] < 256 * 1024:
        sys.exit(f"{sizes}")
    lines = listing(case.args.tool, directory)["0.0.elg"]
    puts = calls_of(lines).count("MPI_Put put:1:8")
    if not 1000 < puts < 300000 or "lost=1" not in lines[-1]:
        sys.exit(f"{puts} puts, {lines[-1]}")
    checked([case.args.bin / "elg_merge", "-o", case.work / "a.elg", directory], (3,))
    text = checked([case.args.bin / "elg_print", case.work / "a.elg"], (0, 3)).stdout
    lost = re.search(r"^LOST lid=0 what=7 count=(\d+)", text, re.M)
    # What is not in the trace is counted: puts, and the six calls after them.
    if not lost or not 0 <= int(lost[1]) - (300000 - puts) <= 6:
        sys.exit(f"{lost and lost[0]}, {puts} puts")


def from_handle(case):
    """MPI taken from a handle: nothing can be recorded, and that is said."""
    needed = subprocess.run(["ldd", case.args.program], capture_output=True, text=True, check=True).stdout
    case.args.arguments = [re.search(r"libmpi(ch)?\.so\S* => (\S+)", needed)[2]]
    plain = case.run(False, program=case.args.handle)
    measured = case.run(True, {"ELG_DIR": case.work / "traces"}, program=case.args.handle)
    compare(plain, measured)
    one_line(measured, "nothing was recorded", "MPI_Init")


def other_tool(case):
    """Another tool in front keeps MPI_Init to itself: that is said."""
    plain = case.run(False)
    case.args.library = f"{case.args.other_tool}:{case.args.library}"
    measured = case.run(True, {"ELG_DIR": case.work / "traces"})
    compare(plain, measured)
    one_line(measured, "nothing is recorded", pathlib.Path(case.args.other_tool).name + " is in front of this library")


CASES = {
    "cut": (cut, "cut"), "full_btrfs": (lambda case: full(case, "btrfs", 128), "fill"),
    "full_ext4": (lambda case: full(case, "ext4", 16), "fill"), "full_tmpfs": (lambda case: full(case, "tmpfs", 8), "fill"),
    "killed": (killed, "kill"), "killed_btrfs": (lambda case: killed(case, "btrfs"), "kill"),
    "killed_tmpfs": (lambda case: killed(case, "tmpfs"), "kill"), "nobody_keeps": (nobody_keeps, "kill"),
    "children": (children, "children"), "handlers": (handlers, "handler"), "handler_calls": (handlers, "handler_calls"),
    "handler_stack": (handlers, "handler_stack"), "names": (names, "names"), "settings": (settings, "end"),
    "filters": (filters, "end"), "directory_is_file": (directory_is_file, "end"), "max_size": (max_size, "end"),
    "from_handle": (from_handle, "end"), "other_tool": (other_tool, "end"),
}


def main():
    options = parser()
    options.add_argument("--bin", required=True, type=pathlib.Path, help="where elg_merge is")
    options.add_argument("--case", required=True, choices=CASES)
    options.add_argument("--handle", help="the program that takes MPI from a handle")
    options.add_argument("--other-tool", help="a library that keeps MPI_Init to itself")
    case = Case(options.parse_args())
    run, mode = CASES[case.args.case]
    case.calls = CALLS
    case.args.arguments = [mode, str(CALLS)]
    run(case)


if __name__ == "__main__":
    main()
