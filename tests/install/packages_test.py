"""The packages: made by cpack, installed by dpkg into a root that holds nothing but what they say they need, run there.

The root is put together of this machine's own packages: those that the Depends fields of kojak's packages lead to, and
Debian's essential ones; so a library or program that no field names is missing there. The archive of the sources is
unpacked and configured. The recipe for Spack is run with a stand-in for Spack's module.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import types
import unittest

BUILD = pathlib.Path(os.environ["KOJAK_BUILD"])
SOURCE = pathlib.Path(os.environ["KOJAK_SOURCE"])
VERSION = re.search(r"project\(kojak VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
# What a user installs beside the packages: the launcher of the MPI, and a shell's tools.
BESIDE = ["openmpi-bin", "dash", "coreutils", "dpkg", "base-files", "libc-bin"]


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=500, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def as_root(*command):
    """With the rights to install below a folder and to change the root, which a namespace of our own gives."""
    maps = [] if os.geteuid() == 0 else ["--map-root-user"]
    return run("unshare", "--mount", *maps, *command)


class Debian:
    """The packages that are installed on this machine."""

    def __init__(self):
        self.depends, self.provides, self.essential = {}, {}, []
        form = "${Package}\t${Status}\t${Pre-Depends}, ${Depends}\t${Provides}\t${Essential}\n"
        for line in run("dpkg-query", "-W", "-f", form).splitlines():
            name, status, depends, provides, essential = line.split("\t")
            if status != "install ok installed":
                continue
            self.depends[name] = depends
            for other in [name, *self.names(provides)]:
                self.provides.setdefault(other, name)
            self.provides[name] = name
            if essential == "yes":
                self.essential.append(name)

    @staticmethod
    def names(field):
        """The names in a field, without versions and architectures: of alternatives, too."""
        return [re.sub(r"[:(\[].*", "", word).strip() for word in re.split("[,|]", field) if word.strip()]

    def closure(self, wanted):
        """All packages that these lead to; of alternatives the first that is there."""
        found, left = set(), [self.provides[name] for name in wanted]
        while left:
            name = left.pop()
            if name in found:
                continue
            found.add(name)
            for clause in self.depends[name].split(","):
                there = [self.provides[n] for n in self.names(clause) if n in self.provides]
                left += there[:1]
        return found


def field(package, name):
    return run("dpkg-deb", "-f", package, name).strip()


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(dir=BUILD, prefix="packages-test."))
        run("cpack", "-G", "DEB", "-B", cls.work / "made", cwd=BUILD)
        cls.debs = {p.name.split("_")[0]: p for p in (cls.work / "made").glob("*.deb")}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work)

    def make_root(self, debian, names):
        """A root of the files of these packages, with dpkg's records of them."""
        root = self.work / "root"
        database = root / "var/lib/dpkg"
        for folder in ("info", "updates", "triggers"):
            (database / folder).mkdir(parents=True)
        for link in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            if os.path.islink("/" + link):
                (root / "usr" / os.path.basename(os.readlink("/" + link))).mkdir(parents=True, exist_ok=True)
                (root / link).symlink_to(os.readlink("/" + link))
        for folder in ("proc", "dev", "tmp", "root", "sys"):
            (root / folder).mkdir()
        unneeded = re.compile("/usr/share/(doc|man|locale|info|zoneinfo|lintian)/")
        files = {path for path in run("dpkg", "-L", *sorted(names)).splitlines()
                 if path.startswith("/") and not unneeded.match(path) and os.path.lexists(path)
                 and (os.path.islink(path) or not os.path.isdir(path))}
        for name in ("dev", "proc", "sys"):
            files = {path for path in files if not path.startswith(f"/{name}/")}
        listed = self.work / "files"
        listed.write_text("".join(path.lstrip("/") + "\n" for path in sorted(files)))
        packed = self.work / "root.tar"
        run("tar", "-C", "/", "-cf", packed, "--no-recursion", "-T", listed)
        run("tar", "-C", root, "-xf", packed, "--no-same-owner")
        packed.unlink()
        (database / "status").write_text(run("dpkg-query", "-s", *sorted(names)).replace("\n---\n", "\n\n") + "\n")
        for name in ("available", "diversions", "statoverride", "arch"):
            (database / name).write_text("")
        (database / "arch").write_text(run("dpkg", "--print-architecture"))
        (root / "etc").mkdir(exist_ok=True)
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
        (root / "etc/group").write_text("root:x:0:\n")
        (root / "etc/hosts").write_text("127.0.0.1 localhost\n")
        return root

    def inside(self, root, script):
        (root / "tmp/script").write_text("set -eu\nexport PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root TMPDIR=/tmp\n"
                                         "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n"
                                         "cd /tmp\n" + script)
        return as_root("sh", "-c", "mount --rbind /proc $0/proc && mount --rbind /dev $0/dev && exec chroot $0 "
                       "/usr/bin/env -i /bin/sh /tmp/script", root)

    def test_names_version_and_dependencies(self):
        expected = {"kojak", "kojak-openmpi", "kojak-dev"} | {"kojak-" + m for m in os.environ["KOJAK_MPIS"].split(",")}
        self.assertLessEqual(expected, set(self.debs))
        for name, deb in self.debs.items():
            self.assertTrue(deb.name.startswith(f"{name}_{VERSION}-1_"), deb.name)
            self.assertEqual(field(deb, "Version"), f"{VERSION}-1")
        self.assertRegex(field(self.debs["kojak"], "Depends"), r"libboost-program-options.*libxml2")
        self.assertNotRegex(field(self.debs["kojak"], "Depends"), "mpi")  # reports are read without an MPI
        # The measurement libraries load without an MPI or a SHMEM library.
        self.assertNotRegex(field(self.debs["kojak-openmpi"], "Depends"), "libopenmpi")
        self.assertRegex(field(self.debs["kojak-openmpi"], "Recommends"), "libopenmpi(3|40)")
        self.assertNotRegex(field(self.debs["kojak-openmpi"], "Depends"), "mpich")
        if "kojak-mpich" in self.debs:
            self.assertRegex(field(self.debs["kojak-mpich"], "Recommends"), "libmpich12")
            self.assertNotRegex(field(self.debs["kojak-mpich"], "Depends"), "openmpi")

    def test_no_file_is_in_two_packages_and_none_of_the_build_folder(self):
        owner = {}
        for name, deb in self.debs.items():
            for line in run("dpkg-deb", "-c", deb).splitlines():
                path = line.split(None, 5)[5].split(" -> ")[0]
                if path.endswith("/"):
                    continue
                self.assertNotIn(path, owner, f"{path} is in {name} and in {owner.get(path)}")
                owner[path] = name
                self.assertTrue(path.startswith("./usr/"), path)
        self.assertEqual(owner["./usr/bin/expert"], "kojak")
        self.assertEqual(owner["./usr/include/kojak/earl/trace.h"], "kojak-dev")

    def test_they_install_and_work_where_nothing_else_is(self):
        debian = Debian()
        chosen = [name for name in self.debs if name != "kojak-dev"]
        wanted = [*debian.essential, *BESIDE]
        for name in chosen:
            for clause in field(self.debs[name], "Depends").split(","):
                there = [n for n in debian.names(clause) if n in debian.provides]
                own = [n for n in debian.names(clause) if n in self.debs]
                self.assertTrue(there or own, f"{name} needs {clause}, which is not installed here")
                wanted += there[:1]
        root = self.make_root(debian, debian.closure(wanted))
        run("cp", BUILD / "tests/cli/prog_openmpi", root / "tmp/prog")
        # Without the packages there is nothing of kojak, and dpkg sees that what they need is there.
        self.assertFalse(list(root.glob("usr/bin/elg_*")))
        env = dict(os.environ, PATH="/usr/sbin:/usr/bin:/sbin:/bin")
        options = ["--root=" + str(root), "--force-not-root", "--no-triggers"]
        run("dpkg", *options, "--install", *[self.debs[name] for name in chosen], env=env)
        status = (root / "var/lib/dpkg/status").read_text()
        for name in chosen:
            self.assertRegex(status, rf"Package: {name}\nStatus: install ok installed\n")
        # Nothing that a file of the packages is linked with is missing in the root.
        printed = self.inside(root, f"""
for file in /usr/bin/elg* /usr/bin/expert /usr/bin/kojak /usr/lib/elg_keep /usr/lib/libelg*.so; do
  if ldd $file 2>&1 | grep 'not found'; then echo "missing for $file"; exit 1; fi
done
for program in elg_merge elg_print elg_stat elg_filter elg_config expert kojak cube_html; do
  [ "$($program --version)" = "kojak {VERSION}" ] || {{ echo "$program: $($program --version)"; exit 1; }}
done
kojak run --keep -o measured -- mpirun.openmpi --oversubscribe -n 2 ./prog
elg_print measured/a.elg | grep -c '^MPI_PUT_1TE '
kojak info measured/a.cube | grep 'processes: *2'
[ -s measured/a.html ]
[ -s /usr/share/man/man1/kojak.1 ]
python3 -c 'import earl; print("events:", len(earl.open("measured/a.elg")))'
echo all done
""")
        self.assertIn("all done", printed)
        self.assertRegex(printed, r"(?m)^[1-9]\d*$")
        self.assertRegex(printed, r"events: [1-9]\d*")

    def test_a_package_without_what_it_needs_is_refused(self):
        root = self.work / "bare"
        (root / "var/lib/dpkg/info").mkdir(parents=True)
        (root / "var/lib/dpkg/updates").mkdir()
        (root / "var/lib/dpkg/status").write_text("")
        done = subprocess.run(["dpkg", f"--root={root}", "--force-not-root", "--no-triggers", "--install",
                               self.debs["kojak-openmpi"]], text=True, capture_output=True, timeout=100)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"kojak-openmpi depends on kojak (= {VERSION}-1)", done.stderr)


class Sources(unittest.TestCase):
    def test_archive_is_complete_and_can_be_configured(self):
        with tempfile.TemporaryDirectory(dir=BUILD) as work:
            run("cpack", "--config", BUILD / "CPackSourceConfig.cmake", "-B", work, cwd=BUILD)
            with tarfile.open(f"{work}/kojak-{VERSION}.tar.gz") as archive:
                names = archive.getnames()
            run("tar", "-xf", f"{work}/kojak-{VERSION}.tar.gz", "-C", work, cwd=BUILD)
            top = f"kojak-{VERSION}/"
            self.assertTrue(all(name.startswith(top) for name in names if name != top[:-1]))
            for name in names:
                self.assertNotRegex(name + "/", r"/(build|\.git|node_modules|__pycache__)/")
            for name in ("CMakeLists.txt", "LICENSE", "README.md", "tools/check", "docs/man/kojak.1", "tests/CMakeLists.txt",
                         "epilog/mpi/functions.table", "tools/packaging/spack/packages/kojak/package.py"):
                self.assertIn(top + name, names)
            unpacked = pathlib.Path(work) / top
            for folder in ("epilog", "merge", "earl", "expert", "tools", "docs", "tests"):
                here = {p.relative_to(SOURCE) for p in (SOURCE / folder).rglob("*")
                        if p.is_file() and not {"__pycache__", "node_modules", "build"} & set(p.parts)
                        and p.suffix != ".swp"}
                there = {p.relative_to(unpacked) for p in (unpacked / folder).rglob("*") if p.is_file()}
                self.assertEqual(here, there)
            self.assertTrue(os.access(unpacked / "tools/check", os.X_OK))
            run("cmake", "-G", "Ninja", "-S", unpacked, "-B", f"{work}/build", "-DKOJAK_TESTS=OFF", "-DKOJAK_BENCH=OFF")


class Recipe(unittest.TestCase):
    PATH = SOURCE / "tools/packaging/spack/packages/kojak/package.py"

    def load(self):
        """The recipe with what it told Spack: each directive by name, with its arguments."""
        told = []
        module = types.ModuleType("spack.package")

        class When:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                return False

        def directive(name):
            def call(*words, **options):
                told.append((name, words, options))
                return When()
            return call

        for name in ("version", "variant", "depends_on", "extends", "conflicts", "generator", "license", "when"):
            setattr(module, name, directive(name))
        module.CMakePackage = type("CMakePackage", (), {
            "define": lambda self, name, value: f"-D{name}={value}",
            "define_from_variant": lambda self, name, variant: f"-D{name}=<{variant}>"})
        module.python_platlib = "lib/python3/site-packages"
        sys.modules["spack"] = types.ModuleType("spack")
        sys.modules["spack.package"] = module
        scope = {"__name__": "recipe"}
        exec(compile(self.PATH.read_text(), self.PATH, "exec"), scope)  # noqa: S102
        return scope["Kojak"], told

    def test_says_what_the_build_says(self):
        recipe, told = self.load()
        self.assertEqual([words for name, words, _ in told if name == "version"], [(VERSION,)])
        self.assertTrue(recipe.url.endswith(f"/kojak-{VERSION}.tar.gz"))
        top = (SOURCE / "CMakeLists.txt").read_text()
        needs = [words[0] for name, words, _ in told if name == "depends_on"]
        self.assertIn("cmake@" + re.search(r"VERSION (3\.\d+)\)", top).group(1) + ":", needs)
        self.assertIn("boost@" + re.search(r"Boost ([\d.]+)", top).group(1) + ": +program_options", needs)
        found = {"Threads": None, "ZLIB": "zlib-api", "Boost": "boost", "LibXml2": "libxml2", "Python3": "python",
                 "GTest": None}  # tests alone need it
        for name in re.findall(r"find_package\((\w+)", top):
            self.assertTrue(found[name] is None or any(need.startswith(found[name]) for need in needs), name)
        # Libraries without a find module of CMake, and the Spack packages that they are in.
        parts = {"dw": "elfutils", "otf2": "otf2", "zstd": "zstd"}
        for path in (p for folder in ("epilog", "merge", "earl", "expert", "tools")
                     for p in (SOURCE / folder).rglob("CMakeLists.txt")):
            for library in re.findall(r"find_library\(\w+ (?:NAMES )?(\w+)", path.read_text()):
                self.assertTrue(any(need.startswith(parts[library]) for need in needs), (library, path))
        # Words of Spack's version 1 of the package API, which every directive here must be.
        api = {"version", "variant", "depends_on", "extends", "conflicts", "generator", "license", "when"}
        self.assertLessEqual({name for name, _, _ in told}, api)
        for name, _, options in told:
            self.assertLessEqual(set(options), {"default", "description", "type", "when", "checked_by"}, name)

    def test_options_are_those_of_the_build(self):
        recipe, told = self.load()
        variants = {words[0] for name, words, _ in told if name == "variant"}

        class Spec:
            def __getitem__(self, name):
                return types.SimpleNamespace(mpicc="/mpi/bin/mpicc", command=types.SimpleNamespace(path="/bin/python3"))

            def satisfies(self, what):
                return what.lstrip("+") in variants

        package = recipe()
        package.spec, package.run_tests = Spec(), False
        given = package.cmake_args()
        self.assertIn("-DKOJAK_MPI_COMPILERS=/mpi/bin/mpicc", given)
        texts = "".join(path.read_text() for pattern in ("CMakeLists.txt", "*.cmake")
                        for folder in ("epilog", "earl", "tools") for path in (SOURCE / folder).rglob(pattern))
        texts += (SOURCE / "CMakeLists.txt").read_text()
        for word in given:
            name, value = re.fullmatch(r"-D(\w+)=(.*)", word).groups()
            self.assertRegex(texts, rf"(option|set|find_program)\({name}\b", word)
            if value.startswith("<"):
                self.assertIn(value[1:-1], variants)


class Version(unittest.TestCase):
    def test_stands_in_one_place(self):
        changes = (SOURCE / "docs/CHANGELOG.md").read_text()
        self.assertEqual(re.search(r"(?m)^## ([\d.]+)", changes).group(1), VERSION)

    def test_says_its_changes_in_sixty_lines(self):
        versions = re.split(r"(?m)^## ", (SOURCE / "docs/CHANGELOG.md").read_text())[1:]
        self.assertGreaterEqual(len(versions), 2)
        for version in versions:
            lines = version.rstrip().count("\n") + 1
            self.assertLessEqual(lines, 60, f"{version.split()[0]}: {lines} lines")


if __name__ == "__main__":
    unittest.main()
