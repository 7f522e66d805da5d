"""kojak run: what stands in for MPI in a program is no MPI that is known, and the program runs alone."""
import subprocess
import unittest

from kojak_run_test import RunTest

STUB = """#ifdef FIRST
int PMPI_Init(int* n, char*** v) { return !n || !v; }
#endif
int MPI_Init(int* n, char*** v) { return !n || !v; }
"""
PROGRAM = """#include <stdio.h>
#include <stdlib.h>
int MPI_Init(int*, char***);
int main(int n, char** v) {
  MPI_Init(&n, &v);
  puts(getenv("LD_PRELOAD") ? "preload" : "alone");
  return 3;
}
"""


class StandIns(RunTest):
    def test_the_interface_of_mpi_5_is_no_mpi_that_is_known(self):
        """Its library has both names of each function, and one that needs an MPI of today behind it is no other."""
        stub, program = self.file("stub.c", STUB), self.file("prog.c", PROGRAM)
        gcc = lambda *words: subprocess.run(["gcc", *words], cwd=self.dir, check=True)
        gcc("-fPIC", "-shared", "-DFIRST", "-o", "libmpi_abi.so.0", stub, "-Wl,-soname,libmpi_abi.so.0")
        gcc("-o", "abi", program, "./libmpi_abi.so.0", "-Wl,-rpath,$ORIGIN")
        ran = self.kojak("--", "./abi")
        self.assertEqual((ran.status, ran.out), (3, "alone\n"), ran.err)
        self.assertIn("./abi is built for the interface of MPI 5 (libmpi_abi.so.0)", ran.err)
        self.assertEqual(len(ran.err.splitlines()), 1, ran.err)
        self.assertEqual(self.directories(), [])


if __name__ == "__main__":
    unittest.main()
