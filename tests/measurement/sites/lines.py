"""MPI from Python in every way that lines are run. Comments name the places of calls:

    # site: FUNCTION MPI_FUNCTION ...    this line of FUNCTION calls it

run_python.py reads them and looks for them in the merged trace. Each process writes how long it was in the calls that
it had to wait in to the file DIRECTORY/RANK, and the first one its version to DIRECTORY/version. The output is the
same each time. Usage: lines.py DIRECTORY [fail]
"""

import array
import asyncio
import pathlib
import sys
import threading
import time

from mpi4py import MPI  # site: <module> MPI_Init_thread

ROUNDS = 50
comm = MPI.COMM_WORLD
inside = {}


def late(name, wait):
    """The first process is late; how long this one waits."""
    if comm.rank == 0:
        time.sleep(0.3)
    began = time.perf_counter()
    wait()
    inside[name] = time.perf_counter() - began


class Halo:
    def __init__(self, size):
        self.memory = array.array("d", [0.0]) * size
        self.window = MPI.Win.Create(self.memory, comm=comm)  # site: Halo.__init__ MPI_Win_create

    def step(self):
        self.window.Fence()  # site: Halo.step MPI_Win_fence
        self.window.Put(  # site: Halo.step MPI_Put
            array.array("d", [comm.rank]),
            (comm.rank + 1) % comm.size)
        self.window.Fence()  # site: Halo.step MPI_Win_fence

    def close(self):
        self.window.Free()  # site: Halo.close MPI_Win_free


def waits_here():
    comm.Barrier()  # site: waits_here MPI_Barrier


def sums_here():
    total = array.array("i", [0])
    comm.Allreduce(array.array("i", [comm.rank]), total)  # site: sums_here MPI_Allreduce
    return total[0]


def rounds():
    for i in range(ROUNDS):
        comm.Barrier()  # site: rounds MPI_Barrier
        yield i


def größe():
    comm.Barrier()  # site: größe MPI_Barrier


async def later():
    await asyncio.sleep(0)
    comm.Barrier()  # site: later MPI_Barrier


async def both():
    await later()
    comm.Barrier()  # site: both MPI_Barrier


def deep(depth):
    if depth == 0:
        comm.Barrier()  # site: deep MPI_Barrier
    else:
        deep(depth - 1)


def fails():
    try:
        comm.Send(array.array("d", [1.0]), dest=comm.size + 7)  # site: fails MPI_Send
    except MPI.Exception:
        comm.Barrier()  # site: fails MPI_Barrier
        return True
    finally:
        comm.Barrier()  # site: fails MPI_Barrier
    return False


def works(other):
    for _ in range(ROUNDS):
        other.Barrier()  # site: works MPI_Barrier


def threads():
    other = comm.Dup()  # site: threads MPI_Comm_dup
    thread = threading.Thread(target=works, args=(other,))
    thread.start()
    for _ in range(ROUNDS):
        comm.Barrier()  # site: threads MPI_Barrier
    thread.join()
    other.Free()  # site: threads MPI_Comm_free


def called_back():
    return sorted(range(3), key=lambda i: comm.Barrier() or -i)  # site: called_back.<locals>.<lambda> MPI_Barrier


def made():
    """Code objects that are freed, so that others lie where they were: the same names, other lines and files."""
    for i in range(60):
        text = "\n" * (i % 5) + "comm.Barrier()"
        exec(compile(text, f"made_{i % 3}", "exec"), {"comm": comm})
        text = "def swap():\n" + " 0\n" * (i % 7) + " comm.Barrier()\nswap()\ndel swap\n"
        exec(compile(text, "swapped", "exec"), {"comm": comm})


def main():
    if len(sys.argv) > 2:
        comm.Barrier()  # the last call, in main
        raise ValueError("as it was told to")
    late("waits_here", waits_here)
    late("sums_here", sums_here)
    halo = Halo(16)
    for _ in range(ROUNDS):
        halo.step()
    halo.close()
    total = sum(rounds())
    größe()
    asyncio.run(both())
    deep(30)
    deep(3)
    sys.stdout.write(f"{comm.rank} total {total} memory {halo.memory[0]} failed {fails()} sorted {called_back()}\n")
    sys.stdout.flush()
    threads()
    made()
    values = [comm.Barrier() for _ in range(4)]  # site: main.<locals>.<listcomp> MPI_Barrier
    sys.stdout.write(f"{comm.rank} values {values} initialized {MPI.Is_initialized()}\n")
    (pathlib.Path(sys.argv[1]) / str(comm.rank)).write_text("".join(f"{k} {v}\n" for k, v in inside.items()))
    if comm.rank == 0:
        (pathlib.Path(sys.argv[1]) / "version").write_text(f"{sys.version_info.major} {sys.version_info.minor}\n")


main()
