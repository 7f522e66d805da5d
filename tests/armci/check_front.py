#!/usr/bin/env python3
"""The front of ARMCI in programs without a measurement library: it is linked in whatever order, and passes calls on."""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MODELS = {"armci_mpi": [], "comex": ["-DCOMEX"], "service": ["-DCOMEX", "-DSERVICE"],
          "thread": ["-DCOMEX", "-DTHREAD", "-pthread"]}
PROCESSES = 3


def fail(text):
    sys.exit(f"FAILED: {text}")


class Front:
    def __init__(self, args):
        self.args, self.work = args, pathlib.Path(args.work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.flags = shlex.split(self.output([args.config, "--armci"]))
        self.library = pathlib.Path(self.flags[1].removeprefix("-L")) / "libelg_armci.so"

    def output(self, command, env=None, status=0):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=100,
                              env=os.environ | (env or {}))
        self.err = done.stderr
        if done.returncode != status:
            fail(f"{shlex.join(map(str, command))} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def cc(self, name, *words):
        self.output([self.args.mpicc, "-std=gnu11", "-g", "-O1", "-o", self.work / name, *words])
        return self.work / name

    def archive(self, name, *objects):
        target = self.work / f"lib{name}.a"
        target.unlink(missing_ok=True)
        self.output(["ar", "rcs", target, *objects])
        return target

    def fake(self, model):
        return self.archive(f"fake_{model}", self.cc(f"fake_{model}.o", "-c", *MODELS[model], HERE / "fake_armci.c"))

    def run(self, program, env=None):
        words = [word for name, value in (env or {}).items() for word in ("-x", f"{name}={value}")]
        return self.output([self.args.mpirun, "--oversubscribe", "-n", PROCESSES, *words, program])

    def symbols(self, program):
        lines = self.output(["nm", program]).splitlines()
        return {line.split()[-1]: line.split()[-2] for line in lines}

    def forwards(self):
        """Every function, in both libraries and with a process that never comes back: the same results."""
        for model, flags in MODELS.items():
            library = self.fake(model)
            plain = self.run(self.cc(f"plain_{model}", *flags, HERE / "every_call.c", library))
            front = self.run(self.cc(f"front_{model}", *flags, HERE / "every_call.c", *self.flags, library))
            if plain != front or "found" not in plain:
                fail(f"{model}: {plain!r} without the front, {front!r} with it")

    def link_orders(self):
        """A program that calls ARMCI through another library alone; what comes first in the line."""
        fake = self.fake("armci_mpi")
        user = self.archive("user", self.cc("user.o", "-c", "-DUSER_LIBRARY", HERE / "through_library.c"))
        main = self.cc("main.o", "-c", HERE / "through_library.c")
        orders = {"right before ARMCI": [user, *self.flags, fake], "before the user": [*self.flags, user, fake],
                  "without": [user, fake]}
        found = {}
        for name, order in orders.items():
            program = self.cc(name.replace(" ", "_"), main, *order)
            found[name] = self.run(program)
            symbols = self.symbols(program)
            for wanted in ("ARMCI_Get", "ARMCI_Init", "ARMCI_Barrier"):
                kind = "W" if name == "without" else "T"
                if symbols.get(wanted) != kind:
                    fail(f"{name}: {wanted} is {symbols.get(wanted)}, not {kind}")
            if ("__wrap_ARMCI_Malloc_group" in symbols) != (name != "without"):
                fail(f"{name}: functions that are wrapped")
            if "elg_armci_table" in symbols and "ARMCI_GroupFence" in symbols:
                fail(f"{name}: a function that this library has not was taken")
        if len(set(found.values())) != 1:
            fail(f"results differ: {found}")

    def preloaded(self):
        """A shared ARMCI behind a preloaded front."""
        library = self.cc("libarmci.so", "-shared", "-fPIC", HERE / "fake_armci.c")
        program = self.cc("with_shared", HERE / "every_call.c", library, f"-Wl,-rpath,{self.work}")
        plain, front = self.run(program), self.run(program, {"LD_PRELOAD": self.library})
        if plain != front or "found" not in plain:
            fail(f"{plain!r} without the front, {front!r} with it")

    def versions(self):
        """A measurement library of another version: one line, and calls are passed on."""
        other = self.cc("libother.so", "-shared", "-fPIC", "-DOTHER_VERSION", HERE / "through_library.c")
        fake = self.fake("armci_mpi")
        program = self.cc("front_of_other", HERE / "every_call.c", *self.flags, fake)
        plain, front = self.run(program), self.run(program, {"LD_PRELOAD": other})
        said = self.err.count("is of another version (its table is 99, ours 2)")
        if plain != front or said != PROCESSES:
            fail(f"{plain!r}, {front!r}; said {said} times: {self.err}")


def main():
    parser = argparse.ArgumentParser()
    for option in ("case", "mpicc", "mpirun", "config", "work"):
        parser.add_argument(f"--{option}", required=True)
    args = parser.parse_args()
    getattr(Front(args), args.case)()


if __name__ == "__main__":
    main()
