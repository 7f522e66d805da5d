#!/bin/sh
# MPI libraries that are named at configuration: a compiler anywhere is taken for what its mpi.h says, and what cannot
# serve is refused with the reason.
# Usage: check_other_mpi.sh WORK_DIR SOURCE_DIR MPICC
set -eu
work=$1 source=$2 mpicc=$3

fail() {
  echo "check_other_mpi: $*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work/vendor/bin" "$work/second/bin" "$work/unknown/bin" "$work/unknown/include"
for vendor in vendor second; do
  printf '#!/bin/sh\nexec %s "$@"\n' "$mpicc" >"$work/$vendor/bin/mpicc"
done
printf '#!/bin/sh\nexec cc -I%s "$@"\n' "$work/unknown/include" >"$work/unknown/bin/mpicc"
printf 'typedef long MPI_Comm;\n' >"$work/unknown/include/mpi.h"
chmod +x "$work"/*/bin/mpicc

configure() {  # folder, compilers
  cmake -G Ninja -S "$source" -B "$work/$1" -DKOJAK_TESTS=OFF -DKOJAK_BENCH=OFF "-DKOJAK_MPI_COMPILERS=$2" \
    >"$work/$1.log" 2>&1
}
refused() {  # folder, compilers, words
  if configure "$1" "$2"; then fail "$2 was taken"; fi
  tr '\n' ' ' <"$work/$1.log" | tr -s ' ' | grep -q "$3" || fail "$2: no word of '$3': $(cat "$work/$1.log")"
}

configure build "$work/vendor/bin/mpicc" || fail "$(cat "$work/build.log")"
grep -q "MPI libraries: mpich (default mpich)" "$work/build.log" || fail "$(cat "$work/build.log")"
grep -q "KOJAK_mpich_CC:FILEPATH=$work/vendor/bin/mpicc" "$work/build/CMakeCache.txt" || fail "another compiler is used"
# What asks the library for its name compiles.
object=epilog/mpi/CMakeFiles/elg_mpi_objects_mpich.dir/startup.cc.o
cmake --build "$work/build" --target $object >"$work/build.log" 2>&1 || fail "$(cat "$work/build.log")"
[ -f "$work/build/$object" ] || fail "$object was not compiled"

refused missing "$work/nowhere/bin/mpicc" "nowhere/bin/mpicc, which is not there"
refused twice "$work/vendor/bin/mpicc;$work/second/bin/mpicc" "has the same interface (mpich)"
refused unknown "$work/unknown/bin/mpicc" "neither Open MPI's nor MPICH's"
refused plain "$(command -v cc)" "does not find mpi.h"
