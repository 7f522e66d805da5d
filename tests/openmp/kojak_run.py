"""What the checks of OpenMP programs share: their options, a run by `kojak run`, and what must hold of every trace."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys


def parser(description):
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bin", "mpirun", "program", "folder"):
        options.add_argument(f"--{name}", type=pathlib.Path, required=True)
    options.add_argument("--openmp", action="store_true", help="the program is linked with GCC's OpenMP")
    options.add_argument("--oversubscribe", action="store_true", help="the launcher must be told that cores are few")
    return options


def run(options, folder, *arguments, extra=(), processes=2, settings=None, status=0):
    """Runs the program in a new folder, whose run/ then has trace and report: what the program and kojak said."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **(settings or {}))
    command = [options.bin / "kojak", "run", "-o", folder / "run", *extra, *(["--openmp"] if options.openmp else []), "--",
               options.mpirun, *(["--oversubscribe"] if options.oversubscribe else []), "-n", str(processes),
               options.program, *map(str, arguments)]
    program = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if program.returncode != status or not all((folder / "run" / name).exists() for name in ("a.cube", "a.html")):
        sys.exit(f"kojak run ended with {program.returncode}:\n{program.stdout}{program.stderr}")
    return program


def check_trace(options, folder):
    """The merged trace is sound, and the analysis written a second time agrees with the report."""
    compare = pathlib.Path(__file__).resolve().parents[1] / "independent" / "compare.py"
    for check in ([options.bin / "elg_print", "--verify", "a.elg"],
                  [sys.executable, compare, "--print-tool", options.bin / "elg_print", "a.elg", "a.cube"]):
        done = subprocess.run(check, cwd=folder / "run", capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{folder}: {check[0]} found something wrong:\n{done.stdout}{done.stderr}")
