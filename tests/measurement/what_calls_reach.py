#!/usr/bin/env python3
"""What a recorded call reaches in the measurement library: no arithmetic with floating-point numbers, and little of
the caller's stack.

  what_calls_reach.py --objdump OBJDUMP [--most BYTES] [--list] LIBRARY...

Disassembles each library (x86-64) and follows its direct calls from every function that the program, or a library
of its, can reach: all that is exported, and what only pointers lead to.

Floating point: an instruction that computes, compares or converts sets flags of the program's and may trap. Such a
function must be reached through one only that keeps the program's state (epilog/runtime/program_floats.h), which is
told by the instruction that gives it back, ldmxcsr. Copies are no matter.

Stack: what the tables for unwinding say that functions push and reserve, added up along the deepest chain of calls.
What runs on a stack of our own is called by pointer, which ends a chain, and so do calls of other libraries. What
starts and ends MPI or SHMEM is left out, since that needs far more of the stack itself.
"""

import argparse
import re
import subprocess
import sys

COMPUTES = re.compile(
    r"v?(add|sub|mul|div|sqrt|rsqrt|rcp|min|max|round|cmp\w*|u?comi|addsub|hadd|hsub|dp|fn?m(add|sub)\w*)[sp][sdh]$"
    r"|v?cvt\w+$|v?(add|sub|mul|div)[sp][sd]\w*$"
    r"|f(i?add|i?sub|i?mul|i?div|sub|div)\w*$|f(i?ld|i?st|ild|bld|bstp)\w*$|fu?com\w*$"
    r"|f(chs|abs|sqrt|prem1?|yl2xp?1?|2xm1|patan|ptan|scale|rndint|sin|cos|sincos)$")
# What belongs to the state, and copies of a long double, also from the stack of registers, and constants.
STATE = re.compile(r"f(n?stenv|ldenv|n?stcw|ldcw|n?stsw|n?clex|n?init|ldt|stpt?|ldz|ld1)$")
KEEPS = "ldmxcsr"
# Functions of the C library that compute.
COMPUTING_CALLS = {"strtod", "strtof", "strtold", "atof", "ldexp", "frexp", "pow", "exp", "log", "floor", "ceil"}
# Start and end, whatever they are called in Fortran, and what they have called. What runs Python has a stack for it.
LEFT_OUT = re.compile(
    r"p?mpi_(init|finalize|session_init|session_finalize)|kojak_MPI_(Init|Finalize|Session)|shmem_(init|finalize)"
    r"|shmemx?_init|start_pes|ompt_start_tool|::(join_run_in|end_at_exit|say_at_exit|end_measurement|look_into|tell_program|say_if_passed_by)\(", re.IGNORECASE)
ON_OWN_STACK = re.compile(r"(\w+ )?kojak::measure::on_own_stack<")
PYTHON = "kojak::measure::define_python_site("
# Starts the measurement: where UPC's threads begin, or all of them meet for the first time.
STARTS = "kojak::measure::(anonymous namespace)::join(kojak::measure::GaspThread&)"


class Function:
    def __init__(self, name):
        self.name = name
        self.computes = None  # the first instruction that does
        self.keeps = False
        self.frame = 8  # its return address
        self.calls = set()
        self.jumps = set()
        self.outside = set()  # functions of other libraries


def demangled(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return dict(zip(names, text.split("\n")))


def disassemble(objdump, library):
    """Functions by name."""
    listing = subprocess.run([objdump, "-d", "--no-show-raw-insn", library], capture_output=True, text=True,
                             check=True).stdout
    functions, current = {}, None
    frames = frames_of(objdump, library)
    begins = re.compile(r"^([0-9a-f]+) <(.+)>:$")
    instruction = re.compile(r"^\s+([0-9a-f]+):\s+(?:(?:bnd|notrack|rep\w*|lock|data16|cs) )*(\S+)\s*(.*)$")
    target = re.compile(r"<([^>+]+)(\+0x[0-9a-f]+)?>")
    for line in listing.splitlines():
        if match := begins.match(line):
            name, frame = match[2], frames.get(int(match[1], 16))
            # Local functions of several files may have one name.
            while name in functions:
                name += "'"
            current = functions[name] = Function(name)
            counted = frame is None  # then by its instructions
            if frame is not None:
                current.frame = frame
            continue
        match = instruction.match(line)
        if match is None or current is None:
            continue
        operation, operands = match[2], match[3]
        if operation.startswith(("call", "j")):
            to = target.search(operands)
            if to is None or operands.startswith("*"):
                continue
            name = to[1]
            if name.endswith("@plt"):
                current.outside.add(name[:-4])
            elif name != current.name or operation.startswith("call"):
                (current.calls if operation.startswith("call") else current.jumps).add(name)
        elif operation == "push":
            current.frame += 8 if counted else 0
        elif operation == "sub" and operands.endswith(",%rsp"):
            amount = re.match(r"\$0x([0-9a-f]+),", operands)
            if amount is None:
                current.frame += 1 << 20  # as much as a variable says
            elif counted:
                current.frame += int(amount[1], 16)
        elif operation == KEEPS:
            current.keeps = True
        elif COMPUTES.match(operation) and not STATE.match(operation) and current.computes is None:
            current.computes = f"{operation} at {match[1]}"
    return functions


def frames_of(objdump, library):
    """What the function at an address has on the stack at most, its return address with it."""
    listing = subprocess.run([objdump, "--dwarf=frames-interp", library], capture_output=True, text=True,
                             check=True).stdout
    frames, at = {}, None
    for line in listing.splitlines():
        if " FDE " in line:
            at = int(re.search(r"pc=([0-9a-f]+)\.\.", line)[1], 16)
            frames[at] = 0
        elif " CIE " in line:
            at = None
        elif at is not None and frames[at] is not None and (match := re.match(r"[0-9a-f]{8,} (\S+)", line)):
            to = re.match(r"rsp\+(\d+)$", match[1])
            frames[at] = max(frames[at], int(to[1])) if to else None
    return {at: frame for at, frame in frames.items() if frame}


def roots_of(functions, objdump, library):
    """What the program can call: exported, or led to by pointers alone."""
    symbols = subprocess.run([objdump, "-T", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1] for line in symbols.splitlines() if " .text" in line}
    called = {name for f in functions.values() for name in f.calls | f.jumps}
    linker = {"_init", "_fini", "_start", "deregister_tm_clones", "register_tm_clones", "__do_global_dtors_aux",
              "frame_dummy"}
    return [name for name in functions if (name in exported or name not in called) and name not in linker]


def computing(functions, roots):
    """Chains from a root to a function that computes."""
    came_from = {}
    todo = [root for root in roots if not functions[root].keeps]
    for root in todo:
        came_from[root] = None
    found = []
    for name in todo:  # grows
        function = functions[name]
        wrong = function.computes
        for call in sorted(function.outside & COMPUTING_CALLS):
            wrong = wrong or f"calls {call}"
        if wrong:
            chain, at = [], name
            while at is not None:
                chain.append(at)
                at = came_from[at]
            found.append((list(reversed(chain)), wrong))
        for callee in sorted(function.calls | function.jumps):
            if callee in functions and callee not in came_from and not functions[callee].keeps:
                came_from[callee] = name
                todo.append(callee)
    return found


class Stacks:
    """The deepest chain from a function on."""

    def __init__(self, functions, names):
        self.functions, self.names, self.known = functions, names, {}

    def depth(self, name, above=()):
        if name in self.known:
            return self.known[name]
        if name in above:
            return 0, []  # a recursion, whose depth only the program knows
        function = self.functions[name]
        deepest = (function.frame, [name])
        # Where it jumps to another function its frame is gone, or is that one's, too.
        for callees, frame in ((function.calls, function.frame), (function.jumps, 0)):
            for callee in sorted(callees):
                if self.names.get(callee, callee).startswith((PYTHON, STARTS)) or callee not in self.functions:
                    continue
                more, chain = self.depth(callee, above + (name,))
                if frame + more > deepest[0]:
                    deepest = (frame + more, [name] + chain)
        self.known[name] = deepest
        return deepest


# What ELG_POLLS=join looks at more closely: whether a flag has changed, a swap has changed memory.
READS = re.compile(r"P?MPI_(R?GET|R?GET_ACCUMULATE|FETCH_AND_OP|COMPARE_AND_SWAP|WIN_(UNLOCK|FLUSH)(_LOCAL)?(_ALL)?)"
                   r"(_C|_LARGE|_F08|_F08TS|_C_F08TS|_F08TS_LARGE)?_*$", re.IGNORECASE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("--most", type=int, default=1024, help="bytes of the caller's stack (default: 1024)")
    parser.add_argument("--most-of-reads", type=int, default=1536,
                        help="of calls that read small values, and of those that complete these (default: 1536)")
    parser.add_argument("--list", action="store_true", help="print the deepest chains of all")
    parser.add_argument("libraries", nargs="+")
    args = parser.parse_args()
    sys.setrecursionlimit(10000)
    bad = False
    for library in args.libraries:
        functions = disassemble(args.objdump, library)
        names = demangled(list(functions))
        roots = roots_of(functions, args.objdump, library)
        if not any(f.computes for f in functions.values()) or not any(f.keeps for f in functions.values()):
            sys.exit(f"{library}: nothing in it computes, or nothing keeps the state: this test sees nothing")
        for chain, wrong in computing(functions, roots):
            bad = True
            print(f"{library}: computes with floating-point numbers ({wrong}), reached by\n  "
                  + "\n  ".join(names[name] for name in chain))
        stacks = Stacks(functions, names)
        depths = sorted(((stacks.depth(root), root) for root in roots
                         if not LEFT_OUT.search(names[root]) and not ON_OWN_STACK.match(names[root])), reverse=True)
        for (depth, chain), root in depths[:20] if args.list else depths:
            good = depth <= (args.most_of_reads if READS.match(names[root]) else args.most)
            if good and not args.list:
                continue
            bad = bad or not good
            print(f"{library}: {names[root]} takes {depth} bytes of its caller's stack:")
            for name in chain:
                print(f"  {functions[name].frame:6} {names[name]}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
