#!/usr/bin/env python3
"""What names.c calls its locks, and what the set of all PEs is called."""

import re
import subprocess
import sys

from check_calls import analyse, options_of
from run_trace_case import Case


def main():
    case = Case(options_of().parse_args())
    directory = case.work / "traces"
    done = case.run(True, {"ELG_DIR": directory})
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{done}")
    analyse(case, directory)
    trace = case.work / "a.elg"
    text = subprocess.run([f"{case.args.bin}/elg_print", trace], check=True, capture_output=True, text=True, timeout=60).stdout
    strings = dict(re.findall(r'^STRING strid=(\d+) cntc=\d+ str="(.*)"', text, re.M))
    files = {number: strings[string] for number, string in re.findall(r"^FILE fid=(\d+) fnid=(\d+)", text, re.M)}
    locks = sorted((strings[string], files.get(file, "none").split("/")[-1]) for string, file in
                   re.findall(r"^SHMEM_LOCK_NAME lkid=\d+ lknid=(\d+) fid=(\w+)", text, re.M))
    expected = [(name, "names.c") for name in ("of_main", "of_rows[2]", "queue.lock", "table_lock")]
    if locks != expected:
        sys.exit(f"locks {locks}, not {expected}")
    comms = [strings[string] for string in re.findall(r"^COMM_NAME cid=\d+ cnid=(\d+)", text, re.M)]
    if comms != ["SHMEM_TEAM_WORLD"]:
        sys.exit(f"sets of PEs {comms}")


if __name__ == "__main__":
    main()
