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

    def follow(self, chapter, must, fewest, result):
        told = commands(chapter)
        self.assertGreaterEqual(len(told), fewest)
        wrappers = self.folder / "bin"
        wrappers.mkdir()
        # Under the names that the chapter uses: this build's commands, and the MPI that it is for.
        (wrappers / "mpicc").symlink_to(os.environ["KOJAK_MPICC"])
        launcher = os.environ["KOJAK_MPIRUN"]
        version = subprocess.run([launcher, "--version"], text=True, capture_output=True).stdout
        more = " --oversubscribe" if "Open MPI" in version or "OpenRTE" in version else ""
        (wrappers / "mpirun").write_text(f'#!/bin/sh\nexec {launcher}{more} "$@"\n')
        (wrappers / "mpirun").chmod(0o755)
        env = dict(os.environ, PATH=f"{wrappers}:{BIN}:{os.environ['PATH']}", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", KOJAK=str(SOURCE))
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
