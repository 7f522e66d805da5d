#!/usr/bin/env python3
"""Runs a SHMEM program with and without libelg_shmem, and compares the merged trace with what the program says that its
trace must show (expect.h): each call once, in order, with partner, bytes and place of what it moves.

Exit status and output are the same with and without the library. Of the trace it is checked, too, that every transfer
ends once, with its bytes, at the other end; where the standard says so: in its call if that is a blocking get or brings
a value, else in the call that completes its context. The independent analysis agrees with expert.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "measurement"))
from check_runs import checked  # noqa: E402
from check_runs import compare as second_analysis  # noqa: E402
from run_trace_case import Case, differences, parser  # noqa: E402
from independent.trace import Trace  # noqa: E402

ALL_CONTEXTS = "all"
NON_BLOCKING = 1
PROGRAM, OFFSETS = 1 << 62, (1 << 61) - 1
CALLED = re.compile(r"shmemx?_|start_pes$|_?(my_pe|num_pes)$|sh(malloc|memalign|realloc|free)$|globalexit$|MPI_")
TRANSFERS = {"PUT_1TS": "put", "MPI_GET_1TO": "get"}
MPI_TRANSFERS = {"MPI_PUT_1TS": "put", "MPI_GET_1TO": "get"}
LAUNCHER = ("---", "Primary job", "a non-zero exit", "oshrun ", "mpirun ", "the job to be", "  Process name", "  Exit code",
            "MPI_ABORT", "SHMEM_ABORT", "prterun ", '"abort"', "terminated by signals", "calling", "termination",
            "with errorcode", "NOTE: ", "You may or may", "exactly when", "[")


def place(offset):
    return f"data+{offset & OFFSETS}" if offset & PROGRAM else f"heap+{offset}"


class Listing:
    """The calls of each PE in a merged trace as lines, and when each transfer ended."""

    def __init__(self, trace):
        self.trace, self.wrong = trace, []
        self.starts, self.ends = {}, {}  # (kind, origin, number) -> its call, bytes, flags, context, target; -> events
        for event in trace.events:
            if event.kind in ("PUT_1TE", "GET_1TE"):
                put = event.kind == "PUT_1TE"
                origin = trace.process_of[event.slid if put else event.lid]
                target = trace.process_of[event.lid if put else event.slid]
                self.ends.setdefault((event.kind[:3].lower(), origin, event.rmaid), []).append((event, target))
        self.mpi, self.mpi_got = {}, {(trace.process_of[e.dlid], e.rmaid): e for e in trace.events if e.kind == "MPI_GET_1TS"}
        self.got = {(trace.process_of[e.dlid], e.rmaid): e for e in trace.events if e.kind == "GET_1TS"}

    def lines(self, process):
        calls = [c for c in self.trace.calls if c.process == process and CALLED.match(c.region.name)]
        calls = [c for c in calls if c.parent is None or c.parent not in calls]
        return calls, [" ".join([c.region.name] + [text for e in c.events if (text := self.what(e))]) for c in calls]

    def what(self, e):
        trace = self.trace
        if e.kind in TRANSFERS and getattr(e, "wid", None) is None:
            kind, origin = TRANSFERS[e.kind], trace.process_of[e.lid]
            start = e if kind == "put" else self.got[origin, e.rmaid]
            target = trace.process_of[e.dlid if kind == "put" else start.lid]
            at = next(p for p in reversed(e.call.events[:e.call.events.index(e)]) if p.kind == "SHMEM_PLACE")
            self.starts[kind, origin, e.rmaid] = (e.call, start.sent, at.flags, at.ctx, target)
            return f"{kind}:{target}:{start.sent}:{place(at.offset)}:{at.ctx}:{at.flags}"
        if e.kind == "SHMEM_QUIET":
            return f"quiet:{ALL_CONTEXTS if e.ctx is None else e.ctx}"
        if e.kind == "COLLEXIT":
            members = trace.members[e.cid]
            stride = members[1] - members[0] if len(members) > 1 else 1
            root = "-" if e.rlid is None else trace.process_of[e.rlid]
            return f"coll:{root}:{members[0]},{stride},{len(members)}:{e.sent}:{e.recvd}"
        if e.kind == "SHMEM_WAIT":
            return f"found:{place(e.offset)}:{e.bytes}:{e.cmp}:{e.value}"
        if e.kind in ("ALOCK", "RLOCK"):
            return f"{'lock' if e.kind == 'ALOCK' else 'unlock'}:{e.lkid}"
        if e.kind in MPI_TRANSFERS:
            kind, origin = MPI_TRANSFERS[e.kind], trace.process_of[e.lid]
            start = e if kind == "put" else self.mpi_got[origin, e.rmaid]
            target = trace.process_of[e.dlid if kind == "put" else start.lid]
            self.mpi.setdefault((kind, origin, e.rmaid), (start.sent, target))
            return f"mpi_{kind}:{target}:{start.sent}"
        return ""

    def check_mpi(self):
        """Operations of MPI and of SHMEM have numbers of their own, and each of MPI's ends once, too."""
        ends = {}
        for e in self.trace.events:
            if e.kind in ("MPI_PUT_1TE", "MPI_GET_1TE"):
                put = e.kind == "MPI_PUT_1TE"
                key = ("put" if put else "get", self.trace.process_of[e.slid if put else e.lid], e.rmaid)
                ends.setdefault(key, []).append((e.recvd, self.trace.process_of[e.lid if put else e.slid]))
        if {key: [value] for key, value in self.mpi.items()} != ends:
            self.wrong.append(f"{len(self.mpi)} transfers of MPI start, {len(ends)} end")
        both = {key[1:] for key in self.mpi} & {key[1:] for key in self.starts}
        if both:
            self.wrong.append(f"operations of MPI and of SHMEM with the same number: {sorted(both)[:5]}")

    def check_ends(self, by_process=False):
        """Every transfer ends once, in the call that completes it; `by_process`: of some thread of its process, whose
        calls overlap: then in the quiet that returns first of those that began behind it."""
        completing = {}
        for event in self.trace.events:
            if event.kind == "SHMEM_QUIET":
                completing.setdefault(self.trace.process_of[event.lid], []).append((event.ctx, event.call))
        for (kind, origin, number), (call, size, flags, context, target) in self.starts.items():
            ended = self.ends.get((kind, origin, number), [])
            what = f"{kind} {number} of PE {origin} in {call.region.name}"
            if len(ended) != 1 or ended[0][1] != target or ended[0][0].recvd != size:
                self.wrong.append(f"{what}: {len(ended)} ends, {[(t, e.recvd) for e, t in ended]}, not {(target, size)}")
                continue
            brings = kind == "get" or ("get", origin, number - 1) in self.starts and self.starts["get", origin, number - 1][0] is call
            by = call if brings and not flags & NON_BLOCKING else next(
                (c for ctx, c in completing.get(origin, []) if c.enter >= call.exit and ctx in (None, context)), None)
            if by_process and not brings:  # an end stands at the time of the quiet's record
                began = [c for ctx, c in completing[origin] if ctx in (None, context) and c.begin.pos > call.begin.pos
                         and c.exit >= call.exit]
                by = min(began, key=lambda c: c.exit)
            if by is not None and not by.enter <= ended[0][0].time <= by.exit + 1e-9:
                self.wrong.append(f"{what}: ended at {ended[0][0].time}, not in {by.region.name}, {by.enter} to {by.exit}")
        if len(self.ends) != len(self.starts):
            self.wrong.append(f"{len(self.starts)} transfers start, {len(self.ends)} end")


def locks_by_number(lines, expected):
    """A lock has a number in the trace, a place in what is expected: each must be one of the other."""
    names, result = {}, []
    numbers = [w for line in lines for w in line.split() if w.startswith(("lock:", "unlock:"))]
    places = [w for line in expected for w in line.split() if w.startswith(("lock:", "unlock:"))]
    for number, at in zip(numbers, places):
        names.setdefault(number.partition(":")[2], at.partition(":")[2])
    if len(set(names.values())) != len(names):
        sys.exit(f"two locks have one number, or one has two: {names}")
    for line in lines:
        words = line.split()
        result.append(" ".join(f"{w.partition(':')[0]}:{names.get(w.partition(':')[2])}" if w in numbers else w for w in words))
    return result


def said(text):
    """What is not the launcher's own."""
    return sorted(line for line in text.splitlines() if line and not line.startswith(LAUNCHER))


def analyse(case, directory):
    trace, report = case.work / "a.elg", case.work / "a.cube"
    merged = checked([case.args.bin / "elg_merge", "-o", trace, directory], (0, 3))
    if merged.returncode != case.args.merged:
        sys.exit(f"elg_merge ended with {merged.returncode}, not {case.args.merged}: {merged.stderr}")
    checked([case.args.bin / "expert", "-o", report, trace], (0, 3))
    checked([case.args.check_trace, trace, report])
    second_analysis.check(trace, report, case.args.bin / "elg_print")
    return Trace(second_analysis.text_of(trace, case.args.bin / "elg_print").split("\n"))


def run_both(case):
    expectations = case.work / "expected"
    expectations.mkdir()
    plain = case.run(False)
    settings = dict(setting.split("=", 1) for setting in case.args.env)
    measured = case.run(True, {"ELG_DIR": case.work / "traces", "KOJAK_EXPECT": expectations, **settings})
    outputs = [(done.returncode, said(done.stdout), said(done.stderr)) for done in (plain, measured)]
    if outputs[0] != outputs[1] or plain.returncode != case.args.status:
        sys.exit(f"without the library {outputs[0]}, with it {outputs[1]}; expected status {case.args.status}\n"
                 f"{plain.stdout}{plain.stderr}---\n{measured.stdout}{measured.stderr}")
    return expectations


def options_of():
    options = parser()
    options.add_argument("--bin", required=True, type=pathlib.Path, help="where elg_merge and expert are")
    options.add_argument("--check-trace", required=True, help="check_trace")
    options.add_argument("--status", type=int, default=0, help="with which the program ends")
    options.add_argument("--merged", type=int, default=0, help="with which elg_merge ends")
    options.add_argument("--called", nargs=2, metavar=("TABLE", "OSHCC"), help="every function of the library is called")
    return options


def main():
    case = Case(options_of().parse_args())
    expectations = run_both(case)
    listing = Listing(analyse(case, case.work / "traces"))
    names = set()
    for process in range(case.args.ranks):
        calls, found = listing.lines(process)
        expected = (expectations / str(process)).read_text().splitlines()
        found = locks_by_number(found, expected)
        wrong = differences(expected, found)
        if wrong:
            sys.exit(f"PE {process}: {wrong}")
        names.update(call.region.name for call in calls)
    listing.check_ends()
    listing.check_mpi()
    if listing.wrong:
        sys.exit("\n".join(listing.wrong[:20]))
    if case.args.called:
        from make_every_call import FRAME, library_functions
        missing = sorted({f.name for f in library_functions(*case.args.called)} - names - FRAME)
        if missing or len(names) < 500:
            sys.exit(f"not called: {missing}")
    print(f"{len(names)} functions, {len(listing.starts)} transfers of SHMEM, {len(listing.mpi)} of MPI")


if __name__ == "__main__":
    main()
