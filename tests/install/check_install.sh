#!/bin/sh
# Installs kojak into an empty folder, then uses it from outside as a user would: find_package,
# pkg-config for the measurement library, programs and manual pages.
# Usage: check_install.sh BUILD_DIR SOURCE_DIR MPICC MPIRUN
set -eu
build=$1 source=$2 mpicc=$3 mpirun=$4
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d "$build/install-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() { echo "check_install: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || fail "cmake --install failed"
for program in elg_config elg_merge elg_print elg_stat expert kojak; do
  "$work/prefix/bin/$program" --version >/dev/null || fail "$program --version failed"
  [ -f "$work/prefix/share/man/man1/$program.1" ] || fail "no manual page for $program"
done

for command in html info stat diff; do
  "$work/prefix/bin/kojak" "$command" --version >/dev/null || fail "kojak $command --version failed"
  [ -f "$work/prefix/share/man/man1/kojak-$command.1" ] || fail "no manual page for kojak $command"
done
"$work/prefix/bin/cube_html" --version >/dev/null || fail "the link cube_html does not work"
for program in cube_info cube_stat cube_diff; do
  [ ! -e "$work/prefix/bin/$program" ] || fail "$program is a name of CUBE's own commands"
done

# Every chapter and picture that README.md names is installed beside it.
readme=$(find "$work/prefix" -name README.md -path '*doc/kojak/README.md')
[ -n "$readme" ] || fail "README.md is not installed"
links=$(grep -o '](docs/[^)#]*' "$readme" | cut -c 3-)
[ -n "$links" ] || fail "README.md names no chapter"
for link in $links; do
  [ -s "$(dirname "$readme")/$link" ] || fail "README.md names $link, which is not installed"
done

cmake -S "$source/tests/install/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_C_COMPILER="$mpicc" \
  >"$work/consumer.log" 2>&1 || { cat "$work/consumer.log"; fail "find_package(kojak) failed"; }
cmake --build "$work/consumer" >>"$work/consumer.log" 2>&1 || { cat "$work/consumer.log"; fail "the outside project does not build"; }
events=$("$work/consumer/count_events" "$source/tests/reference/fence.elg")
expected=$(sed -n 's/.*<NUM_EVENTS>.*eventc : *//p' "$source/tests/reference/fence.print.txt")
[ "$events" = "$expected" ] || fail "counted $events events, the file says $expected"
calls=$("$work/consumer/count_calls" "$source/tests/reference/fence.elg")
expected_calls=$(grep -c '<ENTER' "$source/tests/reference/fence.print.txt")
[ "$calls" = "$expected_calls" ] || fail "EARL counted $calls calls, the file has $expected_calls"

pc=$(find "$work/prefix" -name epilog-mpi.pc)
[ -n "$pc" ] || fail "epilog-mpi.pc is not installed"
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$work/prefix" --libs epilog-mpi)
# shellcheck disable=SC2086  # flags are several words
"$mpicc" -o "$work/ring" "$source/tests/install/consumer/ring.c" $flags || fail "relinking failed"
library=$(dirname "$(find "$work/prefix" -name libelg_mpi.so | grep -v mpich | head -n 1)")
cd "$work"
LD_LIBRARY_PATH=$library ELG_DIR=$work/run timeout 60 "$mpirun" --oversubscribe -n 2 ./ring || fail "the relinked program failed"
"$work/prefix/bin/elg_merge" -o a.elg run || fail "the merge failed"
"$work/prefix/bin/elg_print" a.elg | grep -q '^MPI_PUT_1TE ' || fail "the merged trace has no put"
"$work/prefix/bin/expert" a.elg >/dev/null || fail "the analysis failed"
[ -s a.cube ] || fail "there is no report"
# The report looks for the patterns' documentation where it was installed, not where it was built.
documents=$(sed -n 's|.*<murl>file://\(.*\)</murl>.*|\1|p' a.cube)
[ -f "${documents}patterns.html" ] || fail "the report's documentation, $documents, is not there"
case $documents in "$work/prefix/"*) ;; *) fail "the report looks for documentation in $documents" ;; esac

# The same by kojak::elg_mpi of the CMake package, which finds the library without LD_LIBRARY_PATH.
ELG_DIR=$work/cmake_run timeout 60 "$mpirun" --oversubscribe -n 2 "$work/consumer/measured_ring" \
  || fail "the program linked with kojak::elg_mpi failed"
"$work/prefix/bin/elg_merge" -o cmake.elg cmake_run || fail "the merge of the CMake program's run failed"
"$work/prefix/bin/elg_print" cmake.elg | grep -q '^MPI_PUT_1TE ' || fail "kojak::elg_mpi recorded no put"

# The same by elg_config, from where it is installed, with a region of the user.
config=$work/prefix/bin/elg_config
printf '#include <elg_user.h>\n#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); ELG_USER_START("mine");%s' \
  ' ELG_USER_END("mine"); MPI_Finalize(); return 0; }' >region.c
# shellcheck disable=SC2046  # flags are several words
"$mpicc" -o region $("$config" --cflags) region.c $("$config" --libs) || fail "linking as elg_config says failed"
ELG_DIR=$work/region_run timeout 60 "$mpirun" --oversubscribe -n 1 ./region || fail "the program linked by elg_config failed"
"$work/prefix/bin/elg_print" region_run/0.0.elg | grep -q '"mine"' || fail "the trace has no region of the user"

timeout 60 "$work/prefix/bin/kojak" run --output "$work/preloaded" -- "$mpirun" --oversubscribe -n 2 ./ring \
  >"$work/kojak.log" 2>&1 || { cat "$work/kojak.log"; fail "kojak run from the installed place failed"; }
[ -s "$work/preloaded/a.cube" ] || fail "kojak run left no report"
[ -s "$work/preloaded/a.html" ] || fail "kojak run left no page"

# An installation under a path with a blank and a colon: preloaded through a link; flags are quoted for a shell.
blank="$work/a place: with blanks"
mkdir "$blank"
mv "$work/prefix" "$blank/prefix"
timeout 60 "$blank/prefix/bin/kojak" run --output "$work/from blank" -- "$mpirun" --oversubscribe -n 2 ./ring \
  >"$work/kojak.log" 2>&1 || { cat "$work/kojak.log"; fail "kojak run from a path with blanks failed"; }
[ -s "$work/from blank/a.cube" ] || { cat "$work/kojak.log"; fail "kojak run from a path with blanks recorded nothing"; }
mv "$blank" "$work/a place"  # a colon cannot stand in a run path
eval "$mpicc -o region2 $("$work/a place/prefix/bin/elg_config" --cflags) region.c $("$work/a place/prefix/bin/elg_config" --libs)" \
  || fail "linking as elg_config says failed where the path has a blank"
ELG_DIR=$work/blank_run timeout 60 "$mpirun" --oversubscribe -n 1 ./region2 || fail "the program linked from a path with a blank failed"
[ -s "$work/blank_run/0.0.elg" ] || fail "the program linked from a path with a blank recorded nothing"
pc=$(dirname "$(find "$work/a place" -name epilog-mpi.pc)")
eval "$mpicc -o region3 $("$work/a place/prefix/bin/elg_config" --cflags) region.c $(PKG_CONFIG_PATH=$pc pkg-config --libs epilog-mpi)" \
  || fail "linking as pkg-config says failed where the path has a blank"
mv "$work/a place/prefix" "$work/prefix"
for name in $(find "$(dirname "$(find "$work/prefix" -name epilog-mpi.pc)")" -name 'epilog-*.pc'); do
  grep -qx "Name: $(basename "$name" .pc)" "$name" || fail "$name has another Name"
done
# The Python module, where it was built, with its type hints.
module=$(find "$work/prefix" -name 'earl.*.so')
if [ -n "$module" ]; then
  [ -s "$(dirname "$module")/earl-stubs/__init__.pyi" ] || fail "the type hints are not installed"
  counted=$(PYTHONPATH=$(dirname "$module") /usr/bin/python3 -c \
    'import earl, sys; print(len(earl.open(sys.argv[1])))' "$source/tests/reference/fence.elg") || fail "import earl failed"
  [ "$counted" = "$expected" ] || fail "the Python module counted $counted events, the file says $expected"
fi
echo "installed, found, linked, ran, merged and analysed"
