#!/usr/bin/env python3
"""Records random MPI programs under random faults for a given time, and compares what the tools make of the traces
with what the programs counted by themselves.

    soak.py --build BUILD_DIRECTORY --minutes 60 --keep DIRECTORY

Each round draws programs (soak_program.c), settings, and faults: processes killed, aborted or ended early, a full
disk, forks, several jobs at once in one directory. Whatever happens, the measured program must say and return what
it does by itself, the traces must merge, and every call, message and transfer that a process had finished must be
in the merged trace, and none that it had not begun. A round that shows something else is kept: its directory holds
the traces, the ledgers, what every command said, and `repeat`, which runs the round again. The exit status is 1 then.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time

FLOWS = ("sent", "received", "put", "got")


class Wrong(Exception):
    """A counterexample."""


# ---- what a process counted

class Ledger:
    """ledger.h: a head of four numbers, names, then a page for each thread; here the threads are added up."""

    def __init__(self, path):
        data = path.read_bytes()
        functions, threads, ranks, flows = struct.unpack_from("=4Q", data)
        names = [data[32 + 32 * i:64 + 32 * i].split(b"\0")[0].decode() for i in range(functions)]
        at = 32 + 32 * functions
        self.calls = {name: [0, 0] for name in names}
        self.operations = {(kind, peer): [0, 0] for kind in FLOWS[:flows] for peer in range(ranks)}
        self.bytes = {key: [0, 0] for key in self.operations}
        for _ in range(threads):
            for name in names:
                self.add(self.calls[name], data, at)
                at += 16
            for kind in FLOWS[:flows]:
                for peer in range(ranks):
                    self.add(self.operations[kind, peer], data, at)
                    self.add(self.bytes[kind, peer], data, at + 16)
                    at += 32

    @staticmethod
    def add(count, data, at):
        begun, done = struct.unpack_from("=2Q", data, at)
        count[0] += done
        count[1] += begun


# ---- what a merged trace holds, counted from elg_print's lines

class Counted:
    def __init__(self, text):
        strings, regions, sites, ranks = {}, {}, {}, {}
        self.calls = collections.Counter()
        self.operations = collections.Counter()
        self.bytes = collections.Counter()
        self.ends = collections.Counter()
        wide = {}
        self.events = 0
        for line in text.splitlines():
            name, *words = line.split(" ")
            if name in ("STRING", "STRING_CNT"):
                if name == "STRING":
                    found = re.match(r'STRING strid=(\d+) cntc=\d+ str="(.*)"', line)
                    strings[found[1]] = found[2]
                continue
            if name in ("#", "EPILOG"):
                continue
            field = dict(word.split("=", 1) for word in words if "=" in word)
            if name == "REGION":
                regions[field["rid"]] = strings.get(field["rnid"], "")
            elif name == "CALL_SITE":
                sites[field["csid"]] = field["erid"]
            elif name == "LOCATION":
                ranks[field["lid"]] = int(field["pid"])
            elif name == "ATTR_UI8":
                wide[field["kind"]] = int(field["value"])
            elif "time" in field and "lid" in field:
                self.events += 1
                rank = ranks[field["lid"]]
                if name in ("ENTER", "ENTER_CS"):
                    region = field["rid"] if name == "ENTER" else sites[field["csid"]]
                    self.calls[rank, regions[region]] += 1
                elif name == "MPI_SEND":
                    self.flow(rank, "sent", field["dlid"], field["sent"])
                elif name == "MPI_RECV":
                    self.flow(rank, "received", field["slid"], field["recvd"])
                elif name == "MPI_PUT_1TS":
                    self.flow(rank, "put", field["dlid"], field["sent"])
                elif name == "MPI_GET_1TS":  # at the target, of the origin dlid
                    self.flow(int(field["dlid"]), "got", rank, field["sent"])
                elif name in ("MPI_PUT_1TE", "MPI_GET_1TE"):
                    self.ends["put" if name == "MPI_PUT_1TE" else "got"] += 1
                if name != "RMA_MARK":
                    wide = {}

    def flow(self, rank, kind, peer, count):
        self.operations[rank, kind, int(peer)] += 1
        self.bytes[rank, kind, int(peer)] += int(count)


# ---- one round

class Round:
    def __init__(self, options, seed, work):
        self.options = options
        self.work = work
        self.seed = seed
        self.chance = random.Random(seed)
        self.log = open(work / "log", "w")

    def say(self, text):
        print(text, file=self.log, flush=True)

    def run(self, command, good=None, timeout=900, cwd=None, silent=False):
        command = [str(word) for word in command]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=cwd or self.work,
                                  errors="replace")
        except subprocess.TimeoutExpired as stuck:
            raise Wrong(f"{shlex.join(command)} does not end") from stuck
        self.say(f"$ {shlex.join(command)}\nstatus {done.returncode}\n{done.stderr}")
        if good is not None and done.returncode not in good:
            raise Wrong(f"{shlex.join(command)} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
        if silent and done.stderr:
            raise Wrong(f"{shlex.join(command)} said: {done.stderr.strip()[-400:]}")
        return done

    def tool(self, name):
        return self.options.build / "bin" / name

    def draw(self):
        """The jobs of this round."""
        chance = self.chance
        jobs = []
        count = chance.choice((1, 1, 1, 1, 2, 3))
        for number in range(count):
            mpi = chance.choice(self.options.mpis)
            steps = chance.choice((3, 10, 30, 60))
            fault = chance.choice(("none", "none", "none", "kill", "kill-at", "kill-at", "term-at", "segv", "abort",
                                   "exit", "_exit", "return", "full", "full"))
            ranks = chance.choice((2, 2, 3, 4))
            job = {"mpi": mpi, "ranks": ranks, "seed": chance.randrange(1, 1 << 31), "steps": steps, "fault": fault,
                   "rank": chance.randrange(ranks),
                   "when": chance.randrange(0, 200000) if fault.endswith("-at") else chance.randrange(steps),
                   "osc": chance.choice(("", self.options.second_osc)) if mpi == "openmpi" else "",
                   "threads": chance.choice((0, 1)),
                   "settings": {"ELG_MPI": "all", "ELG_CALLSITES": chance.choice(("off", "site", "path:3"))}}
            if chance.random() < 0.5:
                job["settings"]["ELG_BUFFER_SIZE"] = chance.choice(("64K", "65K", "100K", "256K"))
            if fault == "full":
                job["room"] = chance.choice((200, 300, 500, 900, 1500, 3000))  # KiB
                job["settings"].setdefault("ELG_BUFFER_SIZE", "64K")
            jobs.append(job)
        return jobs

    def command(self, job, measured):
        launcher = ["mpirun." + job["mpi"]]
        if job["mpi"] == "openmpi":
            launcher += ["--oversubscribe", "--mca", "btl_base_warn_component_unused", "0"]
            if job["osc"]:  # whose pt2pt has no windows where several threads may call
                launcher += ["--mca", "osc", job["osc"]]
        launcher += ["-n", str(job["ranks"])]
        settings = dict(job["settings"]) if measured else {}
        if measured:
            settings["LD_PRELOAD"] = str(self.options.libraries[job["mpi"]])
            if "directory" in job:
                settings["ELG_DIR"] = str(job["directory"])
        launcher += ["env"] + [f"{name}={value}" for name, value in settings.items()]
        program = [self.options.programs[job["mpi"]], job["ledgers"] if measured else job["ledgers"] / "plain",
                   job["seed"], job["steps"], 0 if job["osc"] else job["threads"]]
        if job["fault"] not in ("none", "full"):
            program += [job["fault"], job["rank"], job["when"]]
        return [str(word) for word in launcher + program]

    def start(self, job, number):
        place = self.work / f"job{number}"
        job["ledgers"] = place / "ledgers"
        (job["ledgers"] / "plain").mkdir(parents=True)
        wrapper = []
        if job["fault"] == "full":  # a small file system, in a name space of its own
            small, kept = place / "small", place / "traces"
            small.mkdir()
            job["directory"] = small / "traces"
            wrapper = ["unshare", "-rm", "sh", "-c",
                       f'mount -t tmpfs -o size={job["room"]}k tmpfs {small} && "$@"; status=$?; '
                       f"if [ -e {small}/traces ]; then cp -r {small}/traces {kept}; fi; exit $status", "sh"]
        elif self.chance.random() < 0.7:
            job["directory"] = place / "traces"
        command = wrapper + self.command(job, True)
        self.say(f"$ {shlex.join(command)}")
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("ELG_") and name != "LD_PRELOAD"}
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        (place / "run").mkdir()
        with open(place / "stdout", "w") as out, open(place / "stderr", "w") as err:
            return subprocess.Popen(command, cwd=self.work / "job0" / "run" if self.together else place / "run",
                                    stdout=out, stderr=err, env=environment, start_new_session=True)

    def go(self):
        jobs = self.draw()
        self.together = len(jobs) > 1
        (self.work / "jobs.json").write_text(json.dumps(jobs, indent=1))
        processes = [self.start(job, number) for number, job in enumerate(jobs)]
        for number, (job, process) in enumerate(zip(jobs, processes)):
            try:
                job["status"] = process.wait(timeout=self.options.patience)
            except subprocess.TimeoutExpired:
                for other in processes:
                    if other.poll() is None:
                        os.killpg(other.pid, signal.SIGKILL)
                raise Wrong(f"job {number} ({job['fault']}) does not end") from None
        # Jobs without a directory of their own find free names beside each other.
        found = {}
        for place in sorted(self.work.glob("job*/run/*")):
            if not place.is_dir() or not place.name.startswith("elg_"):
                if place.name.startswith("core"):
                    continue
                raise Wrong(f"{place} was left in the working directory")
            found[place] = None
        unnamed = [job for job in jobs if "directory" not in job]
        for number, job in enumerate(jobs):
            place = self.work / f"job{number}"
            self.behaves(job, place)
            if "directory" in job:
                directory = place / "traces"
                self.check(job, directory, [job])
        if unnamed:
            self.check_unnamed(unnamed, list(found))
        elif found:
            raise Wrong(f"nobody asked for {sorted(found)}")

    def check_unnamed(self, jobs, directories):
        """Which default directory is whose is known by size and counts only: each job fits one, each another."""
        left = list(directories)
        if len(left) > len(jobs):
            raise Wrong(f"{len(jobs)} jobs made {left}")
        # A job that was ended in MPI_Init has no traces.
        for directory in left:
            reasons = []
            for job in jobs:
                try:
                    self.check(job, directory, jobs)
                    jobs = [other for other in jobs if other is not job]
                    break
                except Wrong as wrong:
                    reasons.append(str(wrong))
            else:
                raise Wrong(f"{directory} fits no job: " + "; ".join(reasons))
        for job in jobs:
            if self.any_calls(job):
                raise Wrong(f"no traces of job with seed {job['seed']}")

    @staticmethod
    def any_calls(job):
        return any(count[0] for path in job["ledgers"].glob("*.ledger") for count in Ledger(path).calls.values())

    def behaves(self, job, place):
        """Status and output are those that the program has by itself; the library says nothing that is not true."""
        out = (place / "stdout").read_text(errors="replace")
        err = (place / "stderr").read_text(errors="replace")
        said = [line for line in err.splitlines() if "kojak: " in line or "ELG_" in line]
        healthy = job["fault"] in ("none", "full")
        if healthy:
            if job["status"] != 0:
                raise Wrong(f"status {job['status']} under measurement: {err.strip()[-400:]}")
            if not re.fullmatch(rf"soak {job['seed']}: [0-9a-f]+\n", out):
                raise Wrong(f"output: {out!r}")
        elif job["status"] == 0 and not job["fault"].endswith("-at") and job["fault"] != "return":
            raise Wrong(f"{job['fault']}, but status 0")
        # (What a receive from a process that was killed says of it is left to the MPI library.)
        if "soak: rank" in err and (healthy or "soak: rank" not in self.plain_errors(job, place / "run")):
            raise Wrong(f"the program found {err.strip()[-400:]}")
        if job["fault"] == "full":
            if len(said) > job["ranks"]:
                raise Wrong(f"more than one line from a process: {said}")
        elif said:
            raise Wrong(f"the library said {said}")
        elif healthy and err:
            raise Wrong(f"standard error: {err.strip()[-400:]}")

    def plain_errors(self, job, directory):
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run([str(word) for word in self.command(job, False)], cwd=directory, env=environment,
                              capture_output=True, text=True, errors="replace", check=False,
                              timeout=self.options.patience).stderr

    def ledgers(self, job):
        return {int(path.stem): Ledger(path) for path in job["ledgers"].glob("*.ledger")}

    def check(self, job, directory, _):
        ledgers = self.ledgers(job)
        files = sorted(directory.glob("*")) if directory.exists() else []
        if not any(path.suffix == ".elg" for path in files):
            if job["fault"] != "full" and any(c[0] for ledger in ledgers.values() for c in ledger.calls.values()):
                raise Wrong(f"{directory} holds {[p.name for p in files]}")
            return
        complete = job["fault"] == "none"
        if complete:
            odd = [path.name for path in files if not re.fullmatch(r"\d+\.\d+\.elg", path.name)]
            if odd:
                raise Wrong(f"left in {directory}: {odd}")
            for path in files:
                self.run([self.tool("elg_print"), "--verify", "-q", path], (0,), silent=True)
        merged = directory.parent / (directory.name + ".elg")
        counts = self.merged(job, ledgers, directory, merged, [], complete)
        variants = ([], ["--model", "basic"], ["--locks", "granted"], ["--clock", "clc"])
        variant = self.chance.choice(variants)
        if variant:
            other = directory.parent / (directory.name + ".other.elg")
            self.merged(job, ledgers, directory, other, variant, complete)
        self.analysed(merged, counts, complete)

    def pauses(self, text):
        return "LOG_OFF" in text

    def merged(self, job, ledgers, directory, trace, options, complete):
        done = self.run([self.tool("elg_merge"), "-q", "-o", trace] + options + [directory], (0, 3))
        text = self.run([self.tool("elg_print"), trace], (0, 3)).stdout
        paused = self.pauses(text)
        if complete and not paused and (done.returncode != 0 or done.stderr):
            raise Wrong(f"the merge of a whole run ended with {done.returncode}: {done.stderr.strip()[-400:]}")
        checked = self.run([self.tool("elg_print"), "--verify", trace], (0, 3) if not complete or paused else (0,))
        if complete and not paused and " 0 findings" not in checked.stdout:
            raise Wrong(f"verify: {checked.stdout.strip()[-400:]}")
        counted = Counted(text)
        self.compare(job, ledgers, counted)
        return counted

    def compare(self, job, ledgers, counted):
        """Done <= in the trace <= begun; nothing is missing below where recording stopped for lack of room."""
        stopped = job["fault"] == "full"
        wrong = []

        def within(what, found, count):
            low, high = (0 if stopped else count[0]), count[1]
            if not low <= found <= high:
                wrong.append(f"{what}: {found} in the trace, {count[0]} done, {count[1]} begun")

        known = set()
        for rank, ledger in ledgers.items():
            known |= set(ledger.calls)
            for name, count in ledger.calls.items():
                within(f"rank {rank} {name}", counted.calls[rank, name], count)
            for (kind, peer), count in ledger.operations.items():
                if kind == "received":  # known when it has arrived; at most what was sent
                    sent = ledgers[peer].operations["sent", rank] if peer in ledgers else [0, 0]
                    count = [count[0], max(count[1], sent[1])]
                within(f"rank {rank} {kind} {peer}", counted.operations[rank, kind, peer], count)
            for (kind, peer), count in ledger.bytes.items():
                if kind != "received":
                    within(f"rank {rank} bytes {kind} {peer}", counted.bytes[rank, kind, peer], count)
        for (rank, name), count in counted.calls.items():
            if name.startswith("MPI_") and name not in known and name not in (
                    "MPI_Init_thread", "MPI_Finalize", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Buffer_attach",
                    "MPI_Buffer_detach", "MPI_Pcontrol", "MPI_Abort"):
                wrong.append(f"rank {rank} {name}: {count} in the trace, which the program does not call")
        for kind in ("put", "got"):
            starts = sum(count for (_, k, _), count in counted.operations.items() if k == kind)
            if counted.ends[kind] != starts:
                wrong.append(f"{starts} transfers {kind} begin, {counted.ends[kind]} end")
        if wrong:
            raise Wrong("; ".join(wrong[:8]))

    def analysed(self, trace, counts, complete):
        """Every other tool takes the merged trace, and counts as many events as it has."""
        report = trace.with_suffix(".cube")
        whole = complete and not self.pauses(self.run([self.tool("elg_print"), "-t", "LOG_OFF", trace]).stdout)
        # What is missing in the trace makes every tool say the same.
        good = (self.run([self.tool("elg_print"), trace], (0,) if whole else (0, 3)).returncode,)
        said = self.run([self.tool("expert"), "-q", "-o", report, trace], good if whole or good == (3,) else (0, 3))
        if whole and said.stderr:
            raise Wrong(f"expert said of a whole run: {said.stderr.strip()[-400:]}")
        profile = json.loads(self.run([self.tool("elg_stat"), "--json", trace], good).stdout)
        if profile["events"] != counts.events:
            raise Wrong(f"elg_stat counts {profile['events']} events, elg_print {counts.events}")
        calls = collections.Counter()
        for (_, name), count in counts.calls.items():
            calls[name] += count
        for region in profile["regions"]:
            name = region["name"]
            if name.startswith("MPI_") and region["calls"] != calls[name]:
                raise Wrong(f"elg_stat counts {region['calls']} of {name}, elg_print {calls[name]}")
        # A part of it is a trace, too.
        times = (profile["time"] * self.chance.random(), profile["time"] * self.chance.random())
        part = trace.with_suffix(".part.elg")
        self.run([self.tool("elg_filter"), "-q", "--from", min(times), "--to", max(times), "-o", part, trace], good)
        self.run([self.tool("elg_print"), "--verify", "-q", part], (0,) if whole else (0, 3))
        self.run([self.tool("expert"), "-q", "-o", trace.with_suffix(".part.cube"), part], (0, 3))


def programs(options):
    """Compiles soak_program.c for each MPI that this build has a library for."""
    here = pathlib.Path(__file__).resolve().parent
    launcher = shutil.which("mpirun.openmpi")
    version = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False).stdout if launcher else ""
    options.second_osc = "sm,pt2pt" if "(OpenRTE)" in version else ""  # gone in version 5
    options.programs, options.libraries, options.mpis = {}, {}, []
    for mpi, library in (("openmpi", "lib/libelg_mpi.so"), ("mpich", "lib/mpich/libelg_mpi.so")):
        if not (options.build / library).exists() or shutil.which("mpicc." + mpi) is None:
            continue
        program = options.keep / f"soak_{mpi}"
        subprocess.run(["mpicc." + mpi, "-O1", "-g", "-Wall", "-Wextra", "-Werror", here / "soak_program.c", "-o", program,
                        "-lpthread"], check=True)
        options.programs[mpi] = program
        options.libraries[mpi] = options.build / library
        options.mpis.append(mpi)
    if not options.mpis:
        sys.exit(f"{options.build} has no measurement library: build elg_mpi_openmpi or elg_mpi_mpich")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="build directory: its bin/ and lib/")
    parser.add_argument("--minutes", type=float, default=60, help="how long (60)")
    parser.add_argument("--rounds", type=int, help="stop after so many rounds")
    parser.add_argument("--patience", type=float, default=900, help="seconds after which a job counts as stuck (900)")
    parser.add_argument("--keep", required=True, type=pathlib.Path, help="where counterexamples are kept")
    parser.add_argument("--seed", type=int, help="number of the first round; else the time")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.keep = options.keep.resolve()
    options.keep.mkdir(parents=True, exist_ok=True)
    programs(options)
    seed = options.seed if options.seed is not None else int(time.time()) << 16
    end = time.time() + 60 * options.minutes
    done = wrong = 0
    while time.time() < end and (options.rounds is None or done < options.rounds):
        work = options.keep / f"round{seed}"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        one = Round(options, seed, work)
        try:
            one.go()
        except Wrong as found:
            wrong += 1
            (work / "finding").write_text(f"{found}\n")
            again = [sys.executable, pathlib.Path(__file__).resolve(), "--build", options.build, "--rounds", 1, "--seed",
                     seed, "--keep", work / "again"]
            (work / "repeat").write_text("#!/bin/sh\nexec " + shlex.join(map(str, again)) + "\n")
            (work / "repeat").chmod(0o755)
            print(f"round {seed}: {found}\n  kept in {work}", flush=True)
        else:
            shutil.rmtree(work)
        done += 1
        seed += 1
    print(f"{done} rounds, {wrong} with findings", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
