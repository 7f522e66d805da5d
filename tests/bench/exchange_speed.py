#!/usr/bin/env python3
"""Speed and memory of the programs that exchange traces with other tools, whole processes.

Usage: exchange_speed.py BIN_DIR TESTS_DIR [--events N] [--ranks N] [--runs N] [--module DIR]

make_traces writes local traces with fences and puts, elg_merge merges them, each program converts the
result. An archive as Score-P writes it is made with OTF2's Python module, if that is there; tables of
pandas are measured if --module names the folder of the module earl. Beside CPU seconds stand user
instructions an event, where perf counts them. It reports; it never fails for being slow.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "otf2"))
TABLES = """
import sys, time
sys.path.insert(0, sys.argv[1])
import earl
trace = earl.open(sys.argv[2])
for kind in ("events", "calls", "messages", "transfers"):
    taken = []
    for _ in range(int(sys.argv[3])):
        begin = time.process_time()
        rows = len(trace.to_pandas(kind))
        taken.append(time.process_time() - begin)
    seconds = min(taken)
    if rows:
        print(f"{'to_pandas ' + kind:34} {rows:12,} rows          {seconds:7.3f} s CPU  {rows / seconds / 1e6:7.2f} M rows/s")
"""


def measured(command):
    """CPU seconds and peak memory in MB of a command, its children included."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        sys.exit(f"{' '.join(map(str, command))} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def instructions(command):
    """None if they cannot be counted here."""
    if shutil.which("perf") is None:
        return None
    ran = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", *map(str, command)], capture_output=True,
                         text=True, check=False)
    counted = re.search(r"^(\d+),", ran.stderr, re.MULTILINE)
    return int(counted.group(1)) if counted else None


def report(options, title, count, unit, *command):
    runs = [measured(command) for _ in range(options.runs)]
    seconds, memory = min(run[0] for run in runs), max(run[1] for run in runs)
    executed = instructions(command)
    each = f"{executed / count:8.0f} instructions each" if executed else ""
    print(f"{title:34} {count:12,} {unit:12}  {seconds:7.3f} s CPU  {count / seconds / 1e6:7.2f} M {unit}/s  "
          f"{memory:6.1f} MB peak{each}", flush=True)


def of_scorep(folder, ranks, events):
    """An archive of fences with eight puts between each two, as Score-P writes them; its events."""
    from scorep_run import ScorepRun
    run = ScorepRun(folder, ranks)
    written = 2 * ranks
    fence, done = run.fence(), run.done(1)
    puts = [run.put(target, 800, 1) for target in range(ranks)]
    for rank in range(ranks):
        run.call(rank, 10, 20, "MPI_Win_create", run.created())
        run.call(rank, 30, 40, "MPI_Win_fence", fence)
        written += 5 + 4
    tick = 100
    while written < events:
        for rank in range(ranks):
            for i in range(8):
                run.call(rank, tick + 10 * i, tick + 10 * i + 5, "MPI_Put", puts[(rank + 1) % ranks])
            run.call(rank, tick + 90, tick + 99, "MPI_Win_fence", done, fence)
            written += 8 * 3 + 5
        tick += 100
    run.close(tick)
    return written


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("tests_dir", type=pathlib.Path)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--module", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kojak-bench-") as name:
        folder = pathlib.Path(name)
        local, trace, archive = folder / "local", folder / "a.elg", folder / "a.otf2"
        subprocess.run([options.tests_dir / "make_traces", "fence", local, "--ranks", str(options.ranks),
                        "--events", str(options.events)], check=True)
        subprocess.run([options.bin_dir / "elg_merge", "-q", "-o", trace, local], check=True)
        shutil.rmtree(local)
        stat = subprocess.run([options.bin_dir / "elg_stat", trace], capture_output=True, text=True, check=True).stdout
        events = int(re.match(r"events: (\d+)", stat).group(1))
        def run(title, *command, count=events, unit="events"):
            report(options, title, count, unit, options.bin_dir / command[0], *command[1:])
        run("elg2otf2", "elg2otf2", "-q", "-o", archive, trace)
        run("otf2elg, our archive", "otf2elg", "-q", "-o", folder / "b.elg", archive)
        shutil.rmtree(archive)
        (folder / "b.elg").unlink()
        run("elg2perfetto", "elg2perfetto", "-q", "--waits", 0, "-o", folder / "a.pftrace", trace)
        run("elg2perfetto --json", "elg2perfetto", "-q", "--json", "--waits", 0, "-o", folder / "a.json", trace)
        print(f"{'':34} {os.path.getsize(folder / 'a.pftrace') / 1e6:.0f} and "
              f"{os.path.getsize(folder / 'a.json') / 1e6:.0f} MB")
        (folder / "a.json").unlink()
        run("elg2paje", "elg2paje", "-q", "-o", folder / "a.paje", trace)
        (folder / "a.paje").unlink()
        run("elg2prv", "elg2prv", "-q", "-o", folder / "a.prv", trace)
        if options.module is not None:
            subprocess.run([options.python, "-c", TABLES, options.module, trace, str(options.runs)], check=False)
        try:
            import otf2  # noqa: F401
        except ImportError:
            print("no module otf2 here: otf2elg of an archive of Score-P is not measured")
            return
        written = of_scorep(folder / "scorep", options.ranks, options.events // 5)
        run("otf2elg, as Score-P writes", "otf2elg", "-q", "-o", folder / "c.elg", folder / "scorep", count=written)


if __name__ == "__main__":
    main()
