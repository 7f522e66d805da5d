#!/usr/bin/env python3
"""Speed and memory of expert, whole process: CPU seconds, events a second, peak memory.

Usage: expert_speed.py BIN_DIR TESTS_DIR [--events N] [--ranks N] [--runs N] [--causes] [--only-run] [TRACE...]

Without traces it has make_traces write local traces of each kind and elg_merge merge them; with merged
traces it measures those. Beside each figure stands what reading the same file takes `cat` on this
machine in the same minute. Then follows the way from the end of a run of 4 processes to report and page: merge and
analysis in two commands, in one (`expert DIR`), with the page, with root causes, with both; wall and CPU time,
and the CPU time as a multiple of what `cat` takes to read the local traces. --only-run leaves out all but that way.
Peak memory is at least that of this script (some 14 MB). It reports; it
never fails for being slow.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

KINDS = {"one-sided, fences": "fence", "one-sided, locks": "lock", "locks, contended": "contend",
         "locks beside a holder": "hold", "origins far ahead": "ahead", "point-to-point": "p2p"}


def measured(command):
    """CPU seconds and peak memory in MB of a command, its children included."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def from_the_run(options, kind, folder):
    """From the local traces of 4 processes to the report: two commands, and one, with more and more made of it."""
    local = folder / "run"
    subprocess.run([options.tests_dir / "make_traces", kind, local, "--ranks", "4", "--events", str(options.events)], check=True)
    traces = sorted(local.iterdir())
    reading = min(measured(["cat", *traces])[0] for _ in range(options.runs))
    print(f"  from the run of 4 processes, {sum(t.stat().st_size for t in traces) / 1e6:.0f} MB, to the report:")
    def timed(*commands):
        begin = time.perf_counter()
        runs = [measured(command) for command in commands]
        return time.perf_counter() - begin, sum(run[0] for run in runs), max(run[1] for run in runs)
    merged, expert = folder / "again.elg", [options.bin_dir / "expert", "-q", "--causes=never", "-o", folder / "report.cube"]
    with_causes = ["--causes" if word == "--causes=never" else word for word in expert]
    ways = {"elg_merge, expert": [[options.bin_dir / "elg_merge", "-q", "-o", merged, local], [*expert, merged]],
            "expert DIR": [[*expert, local]],
            "  --html": [[*expert, "--html", folder / "page.html", local]],
            "  --causes": [[*with_causes, local]],
            "  --causes --html": [[*with_causes, "--html", folder / "page.html", local]]}
    for name, commands in ways.items():
        runs = [timed(*commands) for _ in range(options.runs)]
        merged.unlink(missing_ok=True)
        print(f"  {name:20} {min(run[0] for run in runs):7.3f} s wall  {min(run[1] for run in runs):7.3f} s CPU  "
              f"{max(run[2] for run in runs):6.1f} MB peak  {min(run[1] for run in runs) / max(reading, 1e-3):6.1f} x cat",
              flush=True)
    subprocess.run(["rm", "-rf", local], check=True)


def events_of(bin_dir, trace):
    out = subprocess.run([bin_dir / "elg_stat", trace], capture_output=True, text=True, check=True)
    return int(re.match(r"events: (\d+)", out.stdout).group(1))


def report(options, name, trace, folder):
    events = events_of(options.bin_dir, trace)
    report_file = folder / "report.cube"
    def measure(*extra):
        how = extra if "--causes" in extra else ("--causes=never", *extra)
        runs = [measured([options.bin_dir / "expert", "-q", *how, "-o", report_file, trace])
                for _ in range(options.runs)]
        return min(run[0] for run in runs), max(run[1] for run in runs)
    seconds, memory = measure()
    reading = min(measured(["cat", trace])[0] for _ in range(options.runs))
    size = os.path.getsize(trace) / 1e6
    print(f"{name:22} {events:12,} events {size:8.0f} MB  {seconds:7.3f} s CPU  "
          f"{events / seconds / 1e6:7.1f} M events/s  {memory:6.1f} MB peak  "
          f"{seconds / max(reading, 1e-3):6.1f} x cat", flush=True)
    if options.causes:
        with_causes, memory = measure("--causes")
        print(f"{'  with root causes':22} {'':12}        {'':8}     {with_causes:7.3f} s CPU  "
              f"{with_causes / seconds:7.2f} x without    {memory:6.1f} MB peak", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("tests_dir", type=pathlib.Path)
    parser.add_argument("traces", nargs="*", type=pathlib.Path)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--causes", action="store_true", help="also with root causes")
    parser.add_argument("--only-run", action="store_true", help="only the way from a run to report and page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kojak-bench-") as name:
        folder = pathlib.Path(name)
        for trace in options.traces:
            report(options, trace.name, trace, folder)
        if options.traces:
            return
        for title, kind in KINDS.items():
            if options.only_run:
                if kind in ("fence", "lock", "p2p"):
                    print(title)
                    from_the_run(options, kind, folder)
                continue
            local, merged = folder / kind, folder / f"{kind}.elg"
            subprocess.run([options.tests_dir / "make_traces", kind, local,
                            "--ranks", str(options.ranks), "--events", str(options.events)],
                           check=True)
            subprocess.run([options.bin_dir / "elg_merge", "-q", "-o", merged, local], check=True)
            report(options, title, merged, folder)
            subprocess.run(["rm", "-rf", local, merged], check=True)
            from_the_run(options, kind, folder)


if __name__ == "__main__":
    main()
