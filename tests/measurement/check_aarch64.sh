#!/bin/sh
# What of the measurement depends on the processor, for aarch64: compiled by a cross compiler and, where qemu is there, run.
# Usage: check_aarch64.sh SOURCE_DIR BUILD_DIR WORK_DIR COMPILER [QEMU]
set -eu
source=$1 build=$2 work=$3 compiler=$4 qemu=${5-}
mkdir -p "$work"
options="-std=c++20 -O2 -Wall -Wextra -Werror -Wno-missing-field-initializers -I$source -I$build"
runtime="-fno-exceptions -fno-rtti -fPIC"
for file in clock call_path keeper own_stack elg_keep; do
  # shellcheck disable=SC2086  # lists
  "$compiler" $options $runtime -DKOJAK_KEEPER='""' -c "$source/epilog/runtime/$file.cc" -o "$work/$file.o"
done
# shellcheck disable=SC2086
"$compiler" $options -static "$source/tests/measurement/counter_check.cc" "$source/epilog/runtime/clock.cc" \
  -o "$work/counter_check"
if [ -n "$qemu" ]; then
  "$qemu" "$work/counter_check"
else
  echo "check_aarch64: compiled, not run: there is no qemu-aarch64 (Debian: qemu-user)"
fi
