"""kojak run: what stands in for MPI in a program is no MPI that is known, and the program runs alone."""
import subprocess
import unittest

from kojak_run_test import MPIS, RunTest

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
    def test_what_stands_in_for_mpi_runs_alone(self):
        """A library, or the program itself, that has MPI_Init and no PMPI_Init; named whatever else is."""
        stub = self.file("stub.c", "int MPI_Init(int* n, char*** v) { return !n || !v; }\n"
                         "int MPI_Comm_rank(int comm, int* rank) { return *rank = 0, comm != 1; }\n")
        prog = self.file("prog.c", "#include <stdio.h>\n#include <stdlib.h>\n"
                         "int MPI_Init(int*, char***), MPI_Comm_rank(int, int*);\n"
                         "int main(int n, char** v) {\n  int rank = -1;\n  MPI_Init(&n, &v);\n"
                         "  MPI_Comm_rank(1, &rank);\n"
                         "  printf(\"%d %s\\n\", rank, getenv(\"LD_PRELOAD\") ? \"preload\" : \"alone\");\n"
                         "  return 3;\n}\n")
        gcc = lambda *words: subprocess.run(["gcc", *words], cwd=self.dir, check=True)
        gcc("-fPIC", "-shared", "-o", "libstub.so", stub)
        gcc("-o", "outside", prog, "-L.", "-lstub", "-Wl,-rpath,$ORIGIN")
        gcc("-o", "inside", prog, stub)
        for name, whose in (("outside", "that of libstub.so"), ("inside", "its own")):
            for options in ([], ["--mpi", next(iter(MPIS))], ["-o", "out"]):
                with self.subTest(name, options=options):
                    ran = self.kojak(*options, "--", f"./{name}")
                    self.assertEqual((ran.status, ran.out), (3, "0 alone\n"), ran.err)
                    self.assertIn(f"MPI_Init of ./{name} is {whose}", ran.err)
                    self.assertIn("no PMPI_Init", ran.err)
                    self.assertEqual(len(ran.err.splitlines()), 1, ran.err)
        for launcher, _ in MPIS.values():
            ran = self.kojak_of_short_lives("--", launcher, "-n", "1", "./outside")
            self.assertEqual((ran.status, ran.out), (3, "0 alone\n"), ran.err)
        self.assertEqual(self.directories(), [])

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
