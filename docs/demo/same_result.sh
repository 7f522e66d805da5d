#!/bin/sh
# same_result.sh MPIRUN PROGRAM...: every program prints the same first line, at 4 and at 3 processes.
set -eu
mpirun=$1
shift
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
case $("$mpirun" --version 2>&1) in
  *"Open MPI"* | *OpenRTE*) more=--oversubscribe ;;
  *) more= ;;
esac
expected=
for program in "$@"; do
  for processes in 4 3; do
    result=$("$mpirun" $more -n $processes "$program" | head -n 1)
    case $result in
      "heat "[1-9]*", checksum "[1-9]*) ;;
      *) echo "$program at $processes processes printed: $result"; exit 1 ;;
    esac
    [ "${expected:=$result}" = "$result" ] || {
      echo "$program at $processes processes: $result, before: $expected"
      exit 1
    }
  done
done
