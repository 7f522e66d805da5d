#!/usr/bin/env python3
"""Checks the topologies that programs/cart.c made: check_cart.py TOOL DIR

Rank r of four stands at (r / 2, r % 2) in a grid of 2 x 2, periodic in the first dimension, and at r % 2 in its row.
"""

import sys

from run_trace_case import listing


def main():
    for name, lines in listing(sys.argv[1], sys.argv[2], "--objects").items():
        rank = int(name.split(".")[0])
        found = [line.split(":")[1].strip() for line in lines if line.startswith("topology")]
        wanted = [f"2p 2 location {rank} at {rank // 2} {rank % 2}", f"2 location {rank} at {rank % 2}"]
        if found != wanted:
            sys.exit(f"{name}: {found}, expected {wanted}")


if __name__ == "__main__":
    main()
