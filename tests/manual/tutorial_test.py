"""docs/tutorial.md and docs/hybrid.md, followed word by word: their commands run in order in a new folder, and print what
the chapter says.

Times and ranks of a run differ from day to day; what must stand in the output of a command is the list of words under
it in MUST, which the chapter shows, too.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["KOJAK_SOURCE"])
BIN = pathlib.Path(os.environ["KOJAK_BIN"])
CHAPTER = SOURCE / "docs/tutorial.md"
HYBRID = SOURCE / "docs/hybrid.md"
# The beginning of a command, and what it prints each time.
MUST = {
    "kojak run --sample -o slow": ["       waits      gain  who          where", "reaction_rate() grid.c:",
                                   "Page: slow/a.html; everything: expert --full slow", "the report is slow/a.cube"],
    "expert --full slow": ["reaction_rate", "grid.c:", "Wait at Fence", "Late Post", "halo.c:", "Shares are of"],
    "kojak info slow/a.cube": ["command:", "start:", "mpi:", "hosts:"],
    "kojak run --sample -o fixed": ["the report is fixed/a.cube"],
    "kojak diff": ["faster than slow/a.cube", "it waits"],
}
HYBRID_MUST = {
    "export OMP_NUM_THREADS=2; kojak run --full --openmp --metrics ru_utime -o slow": [
        "Root causes", "hybrid.c:23", "Wait at", "ru_utime", "the report is slow/a.cube"],
    "export OMP_NUM_THREADS=2; kojak run --full --openmp --metrics ru_utime -o fixed": ["the report is fixed/a.cube"],
    "kojak diff": ["Wait at"],
}


def commands(chapter):
    """Every command of the chapter with the output that the chapter shows."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", chapter.read_text(), re.S):
        for part in re.split(r"(?m)^\$ ", block)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


class Tutorial(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kojak-tutorial-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def test_commands_do_what_the_chapter_says(self):
        self.follow(CHAPTER, MUST, 6, "checksum")

    @unittest.skipUnless(os.path.exists(os.environ.get("KOJAK_LIBOMP", "")), "no OpenMP library of LLVM")
    def test_commands_of_the_chapter_on_openmp(self):
        self.follow(HYBRID, HYBRID_MUST, 5, "heat")

    def test_the_classic_way_of_the_readme(self):
        """Its last command opens a window: that its report is there is enough."""
        told = [command for command, _ in commands(SOURCE / "README.md")]
        self.assertEqual([command.split()[0] for command in told], ["mpicc", "ELG_DIR=run1", "elg_merge", "expert", "cube"])
        (self.folder / "prog.c").write_text(
            "#include <mpi.h>\n#include <unistd.h>\nint main(int n, char **v) {\n  int rank;\n  MPI_Init(&n, &v);\n"
            "  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  MPI_Barrier(MPI_COMM_WORLD);\n  if (rank == 1) usleep(200000);\n"
            "  MPI_Barrier(MPI_COMM_WORLD);\n  MPI_Finalize();\n  return 0;\n}\n")
        env = self.environment()
        for command in told[:-1]:
            done = subprocess.run(["sh", "-c", command], text=True, capture_output=True, cwd=self.folder, env=env, timeout=100)
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        # Three wait 0.2 s each for the one that sleeps.
        self.assertIn("rank 1", done.stdout)
        self.assertIn("main() prog.c:7-9", done.stdout)
        self.assertTrue((self.folder / told[-1].split()[1]).exists())

    def environment(self):
        """Under the names that documents use: this build's commands, and the MPI that it is for."""
        wrappers = self.folder / "bin"
        wrappers.mkdir()
        (wrappers / "mpicc").symlink_to(os.environ["KOJAK_MPICC"])
        launcher = os.environ["KOJAK_MPIRUN"]
        version = subprocess.run([launcher, "--version"], text=True, capture_output=True).stdout
        more = " --oversubscribe" if "Open MPI" in version or "OpenRTE" in version else ""
        (wrappers / "mpirun").write_text(f'#!/bin/sh\nexec {launcher}{more} "$@"\n')
        (wrappers / "mpirun").chmod(0o755)
        return dict(os.environ, PATH=f"{wrappers}:{BIN}:{os.environ['PATH']}", OMPI_ALLOW_RUN_AS_ROOT="1",
                    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", KOJAK=str(SOURCE))

    def follow(self, chapter, must, fewest, result):
        told = commands(chapter)
        self.assertGreaterEqual(len(told), fewest)
        env = self.environment()
        used = set()
        for command, shown in told:
            with self.subTest(command):
                done = subprocess.run(["sh", "-c", command], text=True, capture_output=True, cwd=self.folder, env=env,
                                      timeout=200)
                output = done.stdout + done.stderr
                self.assertEqual(done.returncode, 0, output)
                for start, words in must.items():
                    if command.startswith(start):
                        used.add(start)
                        for word in words:
                            self.assertIn(word, output)
                            if shown:
                                self.assertIn(word, shown, "the chapter shows another output")
        self.assertEqual(used, set(must))
        # Both programs computed the same.
        results = [re.search(r"heat [\d.]+(, checksum \d+)?", shown)[0] for _, shown in told if result in shown]
        self.assertGreaterEqual(len(results), 2)
        self.assertEqual(len(set(results)), 1)

    def test_pictures_and_chapters_are_there(self):
        for name in ("tutorial.md", "findings.md", "cluster.md", "hybrid.md"):
            text = (SOURCE / "docs" / name).read_text()
            links = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
            self.assertGreater(len(links), 1)
            for link in links:
                self.assertTrue((SOURCE / "docs" / link).exists(), f"{name}: {link}")


if __name__ == "__main__":
    unittest.main()
