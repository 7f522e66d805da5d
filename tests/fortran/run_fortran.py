#!/usr/bin/env python3
"""Runs a Fortran program without and with the measurement library and holds the trace against its notes.

The program (notes.f90) writes, for each rank R, result.R, calls.R and events.R. Checked is:
  1. exit status, standard output and result.R are the same without measurement, with it, and with the events of
     all but one group switched off (then bookkeeping still runs);
  2. for each process and MPI function the merged trace has exactly as many calls as calls.R;
  3. the trace has exactly the events of events.R, by the fields that tell them apart, in any order.
With --foreign LIBRARY, which is for another MPI, only this is checked: the results are the same with it preloaded,
it says so once, and there is no trace.
What a run leaves is removed if all is well; otherwise it is kept and its place is printed.
Exit status: 0 all good, 1 something is wrong.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

STEP_SECONDS = 60
# The fields that a note gives. Records that are not named here depend on timing or are not this test's.
FIELDS = {
    "MPI_SEND": ["dlid", "tag", "sent"], "MPI_RECV": ["slid", "tag", "recvd"], "MPI_RECV_REQUEST": ["slid", "tag"],
    "MPI_ERROR": ["error_class"], "MPI_SEND_COMPLETE": [], "MPI_CANCELLED": [], "MPI_REQUEST_COMPLETE": ["kind"],
    "MPI_COLLEXIT": ["rlid", "sent", "recvd"], "MPI_WINCOLLEXIT": [], "MPI_WINEXIT": ["synex"],
    "MPI_PUT_1TS": ["dlid", "sent"], "MPI_GET_1TE": ["slid", "recvd"], "MPI_RMA_COMPLETE": [],
    "MPI_WIN_LOCK": ["llid", "ltype"], "MPI_WIN_UNLOCK": ["llid"], "MPI_WIN_LOCK_ALL": [], "MPI_WIN_UNLOCK_ALL": [],
    "MPI_WIN_FLUSH": ["tlid", "local"], "MPI_WIN_SYNC": [],
}

PEERS = ["dlid", "slid", "llid", "tlid", "rlid"]  # locations; the notes give ranks
CALLS = ["ENTER", "MPI_CALL", "MPI_TEST_CALL", "MPI_RMA_CALL"]  # each is one call


class Failure(Exception):
    pass


def run(command, directory, environment):
    process = subprocess.Popen(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    try:
        out, err = process.communicate(timeout=STEP_SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()  # mpirun ends its processes
        out, err = process.communicate()
        raise Failure(f"did not end within {STEP_SECONDS} s: {' '.join(command)}\n{out}{err}") from None
    return process.returncode, out, err


def launcher(options, variables):
    command = [options.mpirun]
    if options.mpi == "openmpi":
        command += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        for setting in options.mca:
            command += ["--mca"] + setting.split("=", 1)
    command += ["-n", str(options.ranks)]
    for name, value in variables.items():
        command += ["-x", f"{name}={value}"] if options.mpi == "openmpi" else ["-genv", name, value]
    return command


def results(directory, ranks):
    found = {}
    for rank in range(ranks):
        path = directory / f"result.{rank}"
        if not path.exists():
            raise Failure(f"{path} was not written")
        found[rank] = path.read_text(errors="replace")
    return found


def execute(options, directory, variables, environment):
    directory.mkdir()
    command = launcher(options, variables) + ([options.loader] if options.loader else []) + [str(options.program)]
    status, out, err = run(command, directory, environment)
    if status != 0:
        raise Failure(f"exit status {status}: {' '.join(command)}\n{out}{err}")
    return (sorted(out.splitlines()), results(directory, options.ranks)), err


def tool(options, name, *arguments):
    command = [str(options.bin / name), *map(str, arguments)]
    status, out, err = run(command, None, dict(os.environ))
    if status != 0:
        raise Failure(f"exit status {status}: {' '.join(command)}\n{out}{err}")
    return out


def read_trace(text, ranks):
    """Calls of MPI functions and noted events of each process, whichever of its threads they are of; and the files
    that the functions were called in."""
    strings, regions, files, sites, processes, callers = {}, {}, {}, {}, {}, set()
    calls = {rank: collections.Counter() for rank in range(ranks)}
    events = {rank: collections.Counter() for rank in range(ranks)}
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if name == "STRING":
            match = re.match(r'strid=(\d+) .*str="(.*)"$', rest)
            strings[match[1]] = match[2]
            continue
        fields = dict(part.split("=", 1) for part in rest.split() if "=" in part)
        if name == "REGION":
            regions[fields["rid"]] = strings[fields["rnid"]]
        elif name == "LOCATION":
            processes[fields["lid"]] = fields["pid"]
        elif name == "FILE":
            files[fields["fid"]] = strings[fields["fnid"]]
        elif name == "CALL_SITE":
            sites[fields["csid"]] = fields
        elif name == "ENTER_CS":
            site = sites[fields["csid"]]
            calls[int(processes[fields["lid"]])][regions[site["erid"]]] += 1
            callers.add(files.get(site["fid"], "?") if site["lrid"] != "absent" else "nobody")
        elif name == "MPI_POLLED":  # its ENTER is that of the call that found something, or of the first poll
            entered = int(fields["flags"]) >> 2 & 1
        elif name == "MPI_POLL":
            calls[int(processes[fields["lid"]])][regions[fields["rid"]]] += int(fields["count"]) - entered
            entered = 0
        elif name in CALLS and regions[fields["rid"]].startswith("MPI_"):
            calls[int(processes[fields["lid"]])][regions[fields["rid"]]] += 1
        elif name in FIELDS:
            told = [f"{key}={processes.get(fields[key], fields[key]) if key in PEERS else fields[key]}"
                    for key in FIELDS[name]]
            events[int(processes[fields["lid"]])][" ".join([name] + told)] += 1
    return calls, events, callers


def compare(what, rank, expected, found, wrong):
    for key in sorted(set(expected) | set(found)):
        if expected[key] != found[key]:
            wrong.append(f"process {rank}: {key}: {expected[key]} {what}, {found[key]} in the trace")


def noted(path):
    lines = [line.rstrip() for line in path.read_text().splitlines()]
    return collections.Counter(lines)


def check_foreign(options, top, environment):
    plain, _ = execute(options, top / "plain", {}, environment)
    traces = top / "traces"
    variables = {"LD_PRELOAD": options.foreign, "ELG_DIR": str(traces)}
    with_it, errors = execute(options, top / "foreign", variables, environment)
    if with_it != plain:
        raise Failure(f"the program's results are not the same with {options.foreign}: compare {top}/*/result.*")
    if traces.exists():
        raise Failure(f"{traces} was made")
    said = [line for line in errors.splitlines() if "this measurement library is for" in line]
    if len(said) != 1:
        raise Failure(f"it was said {len(said)} times that the library is for another MPI:\n{errors}")


def check(options, top):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("ELG_") and name != "LD_PRELOAD"}
    environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    if options.foreign:
        return check_foreign(options, top, environment)
    preload = {"LD_PRELOAD": str(options.library)} if options.library else {}
    plain = None
    if options.library:
        plain, _ = execute(options, top / "plain", {}, environment)
    traces = top / "traces"
    variables = {**preload, "ELG_DIR": str(traces), "ELG_MPI": "all"}
    measured, _ = execute(options, top / "measured", variables, environment)
    variables = {**preload, "ELG_DIR": str(top / "traces2"), "ELG_MPI": "init"}
    silent, _ = execute(options, top / "silent", variables, environment)
    wrong = []
    for other, what in ((plain, "without measurement"), (silent, "with ELG_MPI=init")):
        if other is not None and other != measured:
            wrong.append(f"the program's results are not the same {what}: compare {top}/*/result.*")
    tool(options, "elg_merge", "--model", "basic", "-o", top / "a.elg", traces)
    text = tool(options, "elg_print", top / "a.elg")
    calls, events, callers = read_trace(text, options.ranks)
    if "communicators" in options.program.name and ' str="a name with blanks"\n' not in text:
        wrong.append("the trace has not the name that MPI_Comm_set_name gave, without the blanks at its end")
    # The program itself calls, not the wrappers nor the MPI library's Fortran part.
    here = {path.name for path in pathlib.Path(__file__).parent.iterdir()}
    strange = sorted(path for path in callers if pathlib.Path(path).name not in here)
    if strange or not callers:
        wrong.append(f"calls come from {strange or 'nowhere'}")
    for rank in range(options.ranks):
        compare("calls made", rank, noted(top / "measured" / f"calls.{rank}"), calls[rank], wrong)
        compare("expected", rank, noted(top / "measured" / f"events.{rank}"), events[rank], wrong)
    if not calls[0]:
        wrong.append("the trace has no calls")
    if wrong:
        raise Failure("\n".join(wrong))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", required=True, choices=["openmpi", "mpich"])
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("--mca", action="append", default=[], help="Open MPI settings NAME=VALUE, with blanks between")
    parser.add_argument("--library", help="to preload; without it the program is linked with it")
    parser.add_argument("--foreign", help="to preload: the library for another MPI")
    parser.add_argument("--loader", help="a program that is told to load the library given as program")
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where elg_merge and elg_print are")
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--ranks", required=True, type=int)
    parser.add_argument("program", type=pathlib.Path)
    options = parser.parse_args()
    options.program = options.program.resolve()
    options.mca = [setting for given in options.mca for setting in given.split()]
    options.work.mkdir(parents=True, exist_ok=True)
    top = pathlib.Path(tempfile.mkdtemp(prefix=f"{options.program.name}.", dir=options.work))
    try:
        check(options, top)
    except Failure as failure:
        print(f"{options.program}:\n{failure}\nkept: {top}")
        return 1
    shutil.rmtree(top)
    return 0


if __name__ == "__main__":
    sys.exit(main())
