#!/usr/bin/env python3
"""Compares the communicators and windows of all ranks of a run: check_objects.py TOOL DIR COMMS WINDOWS

Objects of known identity must have the same members on every rank that has them, and each of these members
must have the object; no rank may have an identity twice. COMMS and WINDOWS are how many distinct ones of known
identity there must be over all ranks.
"""

import collections
import sys

from run_trace_case import listing


def main():
    tool, directory, comms, windows = sys.argv[1:]
    wanted = {"comm": int(comms), "window": int(windows)}
    found = {"comm": collections.defaultdict(dict), "window": collections.defaultdict(dict)}
    for name, lines in listing(tool, directory, "--objects").items():
        rank = int(name.split(".")[0])
        for line in lines:
            words = line.split()
            if words[0] not in found or "group=1" in words:
                continue
            if "known=0" in words:
                sys.exit(f"rank {rank}: unknown identity: {line}")
            identity = next(word for word in words if len(word) == 32)
            members = [part.strip("[]") for part in words if part.startswith("[")]
            if rank in found[words[0]][identity]:
                sys.exit(f"rank {rank} has {identity} twice")
            found[words[0]][identity][rank] = members
    for kind, objects in found.items():
        for identity, by_rank in objects.items():
            # An intercommunicator is seen from both sides.
            views = {tuple(sorted(members)) for members in by_rank.values()}
            if len(views) != 1:
                sys.exit(f"{kind} {identity}: members differ: {by_rank}")
            everyone = {int(r) for group in views.pop() for r in group.split(",") if r}
            if everyone != set(by_rank):
                sys.exit(f"{kind} {identity}: has members {sorted(everyone)}, recorded by {sorted(by_rank)}")
        if len(objects) != wanted[kind]:
            sys.exit(f"{len(objects)} {kind} objects of known identity, expected {wanted[kind]}")


if __name__ == "__main__":
    main()
