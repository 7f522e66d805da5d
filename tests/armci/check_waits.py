#!/usr/bin/env python3
"""Runs waits.c on the stand-in of ARMCI under `kojak run`, and compares the report with the program's own times; and
every_call.c, of which each function must be recorded once or more.

A busy machine may stop a process between its clock and the call: what is wrong by more than 5 ms is tried again.
"""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "epilog/armci")]
from function_table import read_table  # noqa: E402
from independent.cube import Cube  # noqa: E402

MODELS = {"armci_mpi": [], "comex": ["-DCOMEX"], "service": ["-DCOMEX", "-DSERVICE"],
          "thread": ["-DCOMEX", "-DTHREAD", "-pthread"],
          "two_sided": ["-DCOMEX", "-DONE_QUEUE"]}
TOLERANCE, TRIES = 0.005, 6
METRIC = {"ARMCI_Lock": "armci_lock_contention", "ARMCI_Barrier": "armci_barrier_wait",
          "armci_notify_wait": "armci_late_notification"}


def output(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=150, **more)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


class Case:
    def __init__(self, args):
        self.args, self.work, self.flags = args, pathlib.Path(args.work), MODELS[args.model]
        self.work.mkdir(parents=True, exist_ok=True)
        self.front = shlex.split(output([args.bin / "elg_config", "--armci"]).stdout)

    def program(self, source, front=True):
        library, program = self.work / "fake.o", self.work / (source if front else f"{source}_alone")
        compiler = [self.args.mpicc, "-std=gnu11", "-g", "-O1", *self.flags]
        output([*compiler, "-c", "-o", library, HERE / "fake_armci.c"])
        archive = self.work / "libfake.a"
        archive.unlink(missing_ok=True)
        output(["ar", "rcs", archive, library])
        output([*compiler, "-o", program, HERE / f"{source}.c", *(self.front if front else []), archive])
        return program

    def recorded(self, program, processes, *options, arguments=()):
        folder = self.work / f"{program.name}.run"
        shutil.rmtree(folder, ignore_errors=True)
        ran = output([self.args.bin / "kojak", "run", "--keep", *options, "-o", folder, "--", self.args.mpirun, "--oversubscribe",
                      "-n", processes, program, *arguments], env={k: v for k, v in os.environ.items() if k != "ELG_DIR"} | {"ELG_MPI": "all"})
        return folder, ran

    def waits(self):
        program, wrong = self.program("waits"), []
        for _ in range(TRIES):
            folder, ran = self.recorded(program, 2)
            cube = Cube(folder / "a.cube")
            truth = {words[1]: float(words[2]) for words in map(str.split, ran.stdout.splitlines()) if words[:1] == ["wait"]}
            found = {}
            for function in truth:
                metric = METRIC.get(function, "armci_rma_wait_for_progress")
                found[function] = sum(value for (path, place), value in cube.values.get(metric, {}).items()
                                      if path[-1][0] == function and place[0] == 0)
            wrong = [f"{name}: {value:.4f} s by the program's clock, {found[name]:.4f} reported"
                     for name, value in truth.items() if name != "ARMCI_Barrier" and abs(value - found[name]) > TOLERANCE]
            # (Others of its barriers wait a little.)
            wrong += [f"ARMCI_Barrier: {found['ARMCI_Barrier']}"] * (found["ARMCI_Barrier"] < truth["ARMCI_Barrier"] - TOLERANCE)
            if len(truth) < 7 or not all(value > 0.05 for value in truth.values()):
                raise SystemExit(f"the program waited for {truth}")
            if not wrong:
                return
            print("again:", *wrong, sep="\n  ")
        raise SystemExit(1)

    def polls(self):
        """The library polls while it waits for the target. Behind the front that is one region, and Wait for Progress; without
        it the series of polls is one item, which ends with what it looks for, and the one that computes is the cause."""
        for front, metric in ((True, "armci_rma_wait_for_progress"), (False, "mpi_latesender")):
            program, wrong = self.program("polls", front), []
            for _ in range(TRIES):
                folder, ran = self.recorded(program, 2, arguments=("7", "0.4"))
                values = Cube(folder / "a.cube").values
                truth, whole = map(float, re.search(r"^wait (\S+) of (\S+)$", ran.stdout, re.M).groups())
                found = sum(value for (path, place), value in values.get(metric, {}).items()
                            if place[0] == 0 and "ARMCI_Get" in (name for name, *_ in path))
                caused = sum(value for (_, place), value in values["delay"].items() if place[0] == 1)
                events = int(re.search(r"^NUM_EVENTS eventc=(\d+)", output([self.args.bin / "elg_print", folder / "a.elg"]).stdout,
                                       re.M)[1])
                wrong = [f"front {front}: {truth:.4f} s by the program's clock, {found:.4f} reported, {caused:.4f} made by rank 1"]
                # (The answer may come later than rank 1 is in the library: that is waited for, too, where messages are what is seen.)
                most = truth if front else whole
                wrong *= not truth - 7 * TOLERANCE < found < most + 7 * TOLERANCE or caused < 0.9 * truth
                # All of it is at the begin of the first allocation, which is named.
                text = output([self.args.bin / "elg_print", folder / "a.elg"]).stdout
                places = set(re.findall(r"^SHMEM_PLACE .* offset=(\d+)", text, re.M))
                if places != ({str(1 << 40)} if front else set()):
                    raise SystemExit(f"front {front}: places {places}")
                made = next(n for n, line in enumerate((HERE / "polls.c").read_text().splitlines(), 1) if "ARMCI_Malloc(at" in line)
                said = f"allocation 1 (ARMCI_Malloc at polls.c:{made})"
                told = output([self.args.bin / "expert", "--full", folder / "a.elg"]).stdout
                if front and said not in " ".join(told.split()):
                    raise SystemExit(f"not said: {said}:\n{told}")
                if events > 5000:
                    raise SystemExit(f"front {front}: {events} events")
                if not wrong:
                    break
                print("again:", *wrong)
            else:
                raise SystemExit(1)

    def one_queue(self):
        """Answers and requests come by one queue, as in ComEx's MPI-TS, and process 0 asks two others for seven answers each, more
        than half of its life: who would be a dispatcher by what it finds and sends waits for what it asked for, and those who compute
        are the cause."""
        program, wrong = self.program("polls", front=False), []
        for _ in range(TRIES):
            folder, ran = self.recorded(program, 3, arguments=("7", "0.2"))
            values = Cube(folder / "a.cube").values
            truth, whole = map(float, re.search(r"^wait (\S+) of (\S+)$", ran.stdout, re.M).groups())
            found = {metric: sum(value for (path, place), value in values.get(metric, {}).items()
                                 if place[0] == 0 and "ARMCI_Get" in (name for name, *_ in path))
                     for metric in ("mpi_latesender", "mpi_polling", "mpi_polling_idle")}
            made = [sum(value for (_, place), value in values["delay"].items() if place[0] == rank) for rank in (1, 2)]
            wrong = [f"{truth:.4f} of {whole:.4f} s by the program's clock, {found} reported, {made} made by rank 1 and 2"]
            wrong *= (found["mpi_polling_idle"] != 0 or not truth - 14 * TOLERANCE < found["mpi_latesender"] < whole + 14 * TOLERANCE
                      or not all(m > 0.9 * truth for m in made))  # (the third one waits for it, too, in the barrier)
            if not wrong:
                return
            print("again:", *wrong)
        raise SystemExit(1)

    def served(self):
        """A thread in each process answers at once: gets from one that computes take no time. With the front and without it the
        thread serves from its start to its end, and nobody waits for a message of it."""
        for front in (True, False):
            program, wrong = self.program("polls", front), []
            for _ in range(TRIES):
                folder, ran = self.recorded(program, 2, arguments=("7", "0.2"))
                values = Cube(folder / "a.cube").values
                _, whole = map(float, re.search(r"^wait (\S+) of (\S+)$", ran.stdout, re.M).groups())
                total = {metric: sum(values.get(metric, {}).values())
                         for metric in ("mpi_latesender", "armci_rma_wait_for_progress", "service")}
                served = {place for (_, place), value in values.get("service", {}).items() if value}
                # What computes does so 1.4 s, and the threads are there from before that to behind it.
                wrong = [f"front {front}: {whole:.4f} s in gets, {total}, {served} serve: {ran.stderr}"]
                wrong *= (total["mpi_latesender"] + total["armci_rma_wait_for_progress"] > whole + TOLERANCE
                          or total["service"] < 2 * 1.4 or served != {(0, 1), (1, 1)}
                          or re.search("receive without|send without", ran.stderr) is not None)
                if not wrong:
                    break
                print("again:", *wrong)
            else:
                raise SystemExit(1)

    def every_call(self):
        folder, ran = self.recorded(self.program("every_call"), 3)
        if "found" not in ran.stdout:
            raise SystemExit(f"the program said {ran.stdout!r}")
        text = output([self.args.bin / "elg_print", folder / "a.elg"]).stdout
        names = dict(re.findall(r'^REGION rid=(\d+) .*?name="([^"]*)"', text, re.M))
        names = names or dict((i, n) for n, i in re.findall(r'^REGION .*?name="([^"]*)".*? rid=(\d+)', text, re.M))
        entered = set(re.findall(r'\bARMCI_\w+|\barmci_\w+', text))
        table = read_table(HERE.parents[1] / "epilog/armci/functions.table")
        mine = {"armci_mpi": "armci_mpi"}.get(self.args.model, "comex")
        wanted = {f.name for f in table.functions if f.library in ("both", mine)}
        if wanted - entered:
            raise SystemExit(f"not recorded: {sorted(wanted - entered)}")
        for kind, count in (("SHMEM_QUIET", 10), ("COLLEXIT", 20), ("ALOCK", 2), ("PUT_1TS", 30), ("GET_1TS", 15)):
            if len(re.findall(rf"^{kind} ", text, re.M)) < count:
                raise SystemExit(f"less than {count} of {kind}")
        # The one that never comes back from ARMCI_Init serves; its calls of MPI are inside that.
        strings = dict(re.findall(r'^STRING strid=(\d+) .*str="(.*)"$', text, re.M))
        serves = {(strings[key], int(rank)) for key, rank in re.findall(r"^RUN_PROPERTY key=(\d+) value=\d+ pid=(\d+)", text, re.M)
                  if strings[key].startswith("service.since")}
        wanted = {"service": {("service.since", 2)}, "thread": {("service.since.1", rank) for rank in range(3)}}
        if serves != wanted.get(self.args.model, set()):
            raise SystemExit(f"{serves} serve")
        said = " ".join(output([self.args.bin / "expert", "--full", folder / "a.elg"]).stdout.split())
        words = {"service": r"rank 2 serves the others \(it is in ARMCI_Init\w*, every_call\.c:\d+, from ",
                 "thread": r"thread 1 serves the others \(a library has started it, from "}.get(self.args.model, "")
        if not re.search(words, said) or (not words and "serves the others" in said):
            raise SystemExit(f"who serves is not said: {said}")
        # Nor is anything of the library's inside told of, or left without its other end.
        inside = set(re.findall(r"^(MPI_SEND|MPI_RECV|MPI_COLLEXIT) ", text, re.M))
        unpaired = re.search("receive without|send without", ran.stderr)
        if unpaired or (self.args.model == "thread" and "MPI_SEND" in inside):
            raise SystemExit(f"of the inside: {inside}, {ran.stderr}")


    def without_front(self):
        """A shared ARMCI has the front preloaded; a static one without it is told of."""
        compiler = [self.args.mpicc, "-std=gnu11", "-g", "-O1", *self.flags]
        shared, program = self.work / "libarmci.so", self.work / "with_shared"
        output([*compiler, "-shared", "-fPIC", "-o", shared, HERE / "fake_armci.c"])
        output([*compiler, "-o", program, HERE / "every_call.c", shared])
        folder, ran = self.recorded(program, 2, "--verbose")
        text = output([self.args.bin / "elg_print", folder / "a.elg"]).stdout
        if ", ARMCI (libelg_armci " not in ran.stderr or "SHMEM_PLACE" not in text or "--armci" in ran.stderr:
            raise SystemExit(f"a shared ARMCI: {ran.stderr}")
        program = self.work / "unnamed"
        output([*compiler, "-o", program, HERE / "every_call.c", HERE / "fake_armci.c"])
        folder, ran = self.recorded(program, 2)
        text = output([self.args.bin / "elg_print", folder / "a.elg"]).stdout
        if ran.stderr.count("$(elg_config --armci)") != 1 or "SHMEM_PLACE" in text:
            raise SystemExit(f"a static ARMCI without the front: {ran.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    for name in ("case", "model", "mpicc", "mpirun", "work"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    getattr(Case(args), args.case)()


if __name__ == "__main__":
    main()
