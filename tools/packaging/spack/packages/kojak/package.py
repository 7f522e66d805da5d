# Recipe for Spack. From the sources:
#
#   cpack --config build/release/CPackSourceConfig.cmake   # kojak-<version>.tar.gz, in build/release/packages
#   spack repo add tools/packaging/spack
#   cd build/release/packages && spack install --no-checksum kojak
#
# or, without an archive, in a clone: spack dev-build kojak@<version>. Needs no network beyond Spack's own. Written for
# Spack's package API v1 (repo.yaml names no other), which Spack 0.23 and 1.x take.
import os

from spack.package import *


class Kojak(CMakePackage):
    """Finds out why MPI programs with one-sided communication wait: records a run, merges the
    traces, and says which calls waited, for how long, and for whom."""

    homepage = "file://" + os.path.join(os.getcwd(), "README.md")
    url = "file://" + os.path.join(os.getcwd(), "kojak-0.3.0.tar.gz")
    manual_download = True

    license("BSD-3-Clause")

    version("0.3.0")

    variant("otf2", default=True, description="Build otf2elg and elg2otf2, for archives of Score-P")
    variant("python", default=False, description="Build the Python module earl")
    variant("fortran", default=True, description="Record Fortran programs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("mpi")
    depends_on("boost@1.74: +program_options")
    depends_on("libxml2")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("elfutils")  # libdw: functions, files and lines of call sites
    depends_on("otf2@3:", when="+otf2")
    depends_on("python@3.9:", type="build")
    with when("+python"):
        extends("python")
        depends_on("python@3.11:", type=("build", "run"))
        depends_on("py-numpy", type=("build", "run"))
        depends_on("py-pybind11", type="build")

    conflicts("%gcc@:11")
    conflicts("%clang@:13")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("KOJAK_TESTS", self.run_tests),
            self.define("KOJAK_BENCH", False),
            self.define("KOJAK_MPI_COMPILERS", self.spec["mpi"].mpicc),
            self.define_from_variant("KOJAK_OTF2_TOOLS", "otf2"),
            self.define_from_variant("KOJAK_PYTHON_MODULE", "python"),
            self.define_from_variant("KOJAK_FORTRAN", "fortran"),
        ]
        if self.spec.satisfies("+python"):
            args.append(self.define("KOJAK_PYTHON", self.spec["python"].command.path))
            args.append(self.define("KOJAK_PYTHON_DIR", python_platlib))
        return args

    def setup_run_environment(self, env):
        # Programs are linked by $(elg_config --libs); kojak run preloads the library by itself.
        env.prepend_path("PKG_CONFIG_PATH", self.prefix.lib.pkgconfig)
