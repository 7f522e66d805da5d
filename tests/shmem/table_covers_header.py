#!/usr/bin/env python3
"""Compares epilog/shmem/functions.table with a shmem.h of OpenSHMEM 1.5.

  table_covers_header.py TABLE COMPILER INCLUDE [--whole]

Every function that the header declares must be in the table, with the parameters and results that stand there, or be
exempt with a reason. --whole: the header has all of 1.5; then each of the table's templates must have a function there,
but for those that no version of the standard has any more, and other libraries' own.
"""

import sys

from table_covers_library import compare_with_header, declared, read_table

# Of SGI's library, of Open MPI's and of Sandia's; and a name that is not looked for.
NOT_OF_THE_STANDARD = {"start_pes", "shmem_swap", "shmem_wait_until", "shmem_team_ptr", "shmem_sync_deprecated",
                       "globalexit", "my_pe", "num_pes", "_my_pe", "_num_pes", "shmalloc", "shmemalign", "shrealloc", "shfree"}


def main():
    table_path, compiler, include = sys.argv[1:4]
    table = read_table(table_path)
    known = {f.name: f for f in table.functions}
    header = declared(compiler, f"-I{include}")
    faults = []
    compare_with_header(table, header, faults)
    if "--whole" in sys.argv[4:]:
        there = {known[name].template for name in header if name in known}
        for template in sorted({f.template for f in table.functions} - there):
            if template not in NOT_OF_THE_STANDARD and not template.startswith("shmemx_"):
                faults.append(f"{template}: in the table, not in shmem.h")
    print(f"{len(header)} functions in shmem.h, {len(known)} in the table")
    if faults or len(header) < 1200:
        sys.exit("\n".join(faults) or "shmem.h is not understood")


if __name__ == "__main__":
    main()
