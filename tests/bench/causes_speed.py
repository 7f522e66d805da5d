#!/usr/bin/env python3
"""What root causes cost: CPU time and peak memory of `expert --causes` against `expert` without.

Usage: causes_speed.py BIN_DIR TESTS_DIR [--events N] [--ranks N] [--runs N] [--chain N] [KIND...]

make_traces writes a run of each kind. The last row, kind `chain`, has a chain of waits through --chain processes (4,096), all of whose
waiting must go back to rank 0 (see make_traces.cc); status 1 if it does not. Nothing else can fail.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from expert_speed import measured

KINDS = {"fence": "fences, one call in 130 waits", "gats": "post, start, complete, wait", "p2p": "messages, each receive waits",
         "contend": "contended locks, each waits for all others",
         "served": "the same, but grants need no target", "barrier": "barriers only, each call waits",
         "lock": "locks, nobody waits", "hold": "locks beside a holder, nobody waits", "ahead": "origins far ahead"}


def make(options, kind, folder, events, ranks):
    local, merged = folder / "local", folder / f"{kind}.elg"
    subprocess.run([options.tests_dir / "make_traces", kind, local, "--ranks", str(ranks), "--events", str(events)],
                   check=True)
    subprocess.run([options.bin_dir / "elg_merge", "-q", "-o", merged, local], check=True)
    subprocess.run(["rm", "-rf", local], check=True)
    return merged


def compare(options, title, trace, folder):
    times = {}
    for extra in ["--causes=never"], ["--causes"]:
        runs = [measured([options.bin_dir / "expert", "-q", *extra, "-o", folder / "a.cube", trace])
                for _ in range(options.runs)]
        times[extra == ["--causes"]] = min(run[0] for run in runs), max(run[1] for run in runs)
    (without, memory), (causes, more) = times[False], times[True]
    print(f"{title:44} {without:7.2f} s {causes:7.2f} s CPU  {causes / without:5.2f} times  "
          f"{memory:6.1f} {more:6.1f} MB peak", flush=True)


def chain(options, folder):
    ranks, iterations = options.chain, max(1, options.events // options.chain // 8)
    trace = make(options, "chain", folder, options.events, ranks)
    compare(options, f"a chain through {ranks:,} processes", trace, folder)
    out, report = folder / "a.json", folder / "a.cube"
    subprocess.run([options.bin_dir / "expert", "-q", "--causes", "--json", out, "-o", report, trace], check=True)
    causes = json.loads(out.read_text())["root_causes"]
    # Each rank but the first waits 0.05 of an iteration (1 ms) because of rank 0; nobody waits longer for anybody else.
    expected = iterations * (ranks - 1) * 0.05e-3
    late = sum(c["seconds"] for c in causes["causes"] if c["thread"] == 0)
    print(f"  behind rank 0: {late:.6f} s, by arithmetic {expected:.6f} s")
    return 0 if abs(late / expected - 1) < 1e-3 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("tests_dir", type=pathlib.Path)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, "chain", []], metavar="KIND")
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--chain", type=int, default=4096)
    options = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory(prefix="kojak-bench-") as name:
        folder = pathlib.Path(name)
        status = 0
        for kind in options.kinds or [*KINDS, "chain"]:
            if kind == "chain":
                status = chain(options, folder)
                continue
            trace = make(options, kind, folder, options.events, options.ranks)
            compare(options, KINDS[kind], trace, folder)
            trace.unlink()
        return status


if __name__ == "__main__":
    sys.exit(main())
