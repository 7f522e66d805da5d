"""elg_config: flags that exist, for every MPI, and settings with their values."""
import csv
import io
import pathlib
import shlex
import unittest

from cli import MPIS, SOURCE, CommandTest


class ElgConfig(CommandTest):
    def ask(self, *options):
        ran = self.run_command("elg_config", *options)
        self.assertEqual((ran.status, ran.err), (0, ""))
        return ran.out.strip()

    def test_libraries_are_there(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                library = pathlib.Path(self.ask("--mpi", mpi, "--preload"))
                self.assertEqual(library.name, "libelg_mpi.so")
                self.assertTrue(library.exists())
                words = shlex.split(self.ask("--mpi", mpi, "--libs"))
                self.assertIn(f"-L{library.parent}", words)
                self.assertIn(f"-Wl,-rpath,{library.parent}", words)
                self.assertLess(words.index("-Wl,--no-as-needed"), words.index("-lelg_mpi"))
                self.assertIn(str(library.with_suffix(".a")), shlex.split(self.ask("--mpi", mpi, "--static")))
        self.assertEqual(len({self.ask("--mpi", mpi, "--preload") for mpi in MPIS}), len(MPIS))

    def test_the_library_for_shmem(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                self.look_at_library_for_shmem("--shmem", "--mpi", mpi)
        self.assertEqual(len({self.ask("--shmem", "--mpi", mpi, "--preload") for mpi in MPIS}), len(MPIS))

    def look_at_library_for_shmem(self, *options):
        library = pathlib.Path(self.ask(*options, "--preload"))
        self.assertEqual(library.name, "libelg_shmem.so")
        self.assertTrue(library.exists())
        words = shlex.split(self.ask(*options, "--libs"))
        self.assertIn(f"-L{library.parent}", words)
        self.assertIn("-lelg_shmem", words)
        archive = library.with_suffix(".a")
        self.assertTrue(archive.exists())
        self.assertIn(str(archive), shlex.split(self.ask(*options, "--static")))
        self.assertIn(str(library), self.ask())

    def test_the_front_of_armci(self):
        words = shlex.split(self.ask("--armci"))
        self.assertEqual(words[0], "-Wl,-u,ARMCI_Init,-u,__wrap_ARMCI_Malloc_group")
        directory = pathlib.Path(words[1].removeprefix("-L"))
        self.assertTrue((directory / "libelg_armci.a").exists())
        self.assertTrue((directory / "libelg_armci.so").exists())
        self.assertEqual(words[2], "-l:libelg_armci.a")
        self.assertIn("--wrap=ARMCI_Group_create_child", words[3].split(","))
        self.assertIn(self.ask("--armci"), self.ask())

    def test_the_front_of_gasp(self):
        words = shlex.split(self.ask("--gasp"))
        self.assertEqual([words[0], words[2]], ["-Wl,-u,gasp_init", "-lelg_gasp"])
        directory = pathlib.Path(words[1][2:])
        self.assertTrue((directory / "libelg_gasp.a").exists())
        self.assertTrue((directory / "libelg_base.so").exists())
        source = pathlib.Path(self.ask("--gasp", "--source"))
        self.assertIn("int elg_gasp_threads(void)", source.read_text())
        self.assertIn(self.ask("--gasp"), self.ask())

    def test_headers_are_there(self):
        directory = pathlib.Path(self.ask("--cflags").removeprefix("-I"))
        for name in ("elg_user.h", "elg_user.inc"):
            self.assertTrue((directory / name).exists())
        directory = shlex.split(self.ask("--user-libs"))[0].removeprefix("-L")
        self.assertTrue((pathlib.Path(directory) / "libelg_user.so").exists())

    def test_settings_are_all_there_with_their_values(self):
        table = (SOURCE / "epilog/runtime/config_table.def").read_text()
        names = [line.split("(")[1].split(",")[0] for line in table.splitlines() if line.startswith("KOJAK_SETTING(")]
        ran = self.run_command("elg_config", "--csv", env={"ELG_CALLSITES": "path:3"})
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO(ran.out))}
        self.assertLessEqual(set(names), set(rows))
        self.assertEqual(rows["ELG_CALLSITES"]["now"], "path:3")
        self.assertEqual(rows["ELG_CALLSITES"]["default"], "site")
        self.assertEqual(rows["ELG_FILTER"]["now"], "")

    def test_everything_without_options(self):
        text = self.ask()
        for mpi in MPIS:
            self.assertIn(self.ask("--mpi", mpi, "--libs"), text)
        self.assertIn("ELG_DIR = ", text)

    def test_an_unknown_mpi_is_a_wrong_command_line(self):
        ran = self.run_command("elg_config", "--mpi", "nompi", "--libs")
        self.assertEqual((ran.status, ran.out), (1, ""))
        self.assertIn("nompi", ran.err)


if __name__ == "__main__":
    unittest.main()
