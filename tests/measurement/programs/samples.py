"""Process 1 computes longer in relax(), all compute alike in smooth(), which calls a module of Python's own. Each prints
how much processor time it used in each. What made() runs is freed and made again before its samples are written."""
import fractions
import math
import sys
import time

from mpi4py import MPI

comm = MPI.COMM_WORLD


def relax(x, rounds):
    for k in range(rounds):
        x = math.exp(-math.sqrt(abs(math.sin(x) + math.cos(x)))) + math.log1p(math.atan(x) ** 2) + 1e-9 * k  # in relax
    return x


def smooth(x, rounds):
    for k in range(1, rounds):
        x = 0.5 * x + float(fractions.Fraction(1, k) + fractions.Fraction(k, k + 1))  # in smooth
    return x


def repeat(function, seconds, x, rounds):
    begin = now = time.thread_time()
    while now - begin < seconds:
        x = function(x, rounds)
        now = time.thread_time()
    return x, now - begin


def made(x):
    for i in range(200):
        names = {"x": x}
        exec(compile(f"def f(x):\n{chr(10) * (i % 5)}    for k in range(200): x = .5 * x + k\n    return x\nx = f(x)",
                     f"made_{i % 3}", "exec"), names)
        x = names["x"] % 1
    return x


value, relaxed, smoothed = 0.5, 0.0, 0.0
comm.Barrier()
for _ in range(4):
    value, used = repeat(relax, 0.3 if comm.rank == 1 else 0.05, value, 1000)
    relaxed += used
    value, used = repeat(smooth, 0.1, value % 1, 200)
    smoothed += used
    value = made(value)
    comm.Barrier()
sys.stdout.write(f"rank {comm.rank} relax {relaxed:.6f} smooth {smoothed:.6f}\n")  # (print would end the line by a second write)
