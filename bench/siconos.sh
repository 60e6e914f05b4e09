#!/bin/sh
# Builds and runs the comparison with Siconos numerics (Debian: libsiconos-numerics-dev) on the given problem files.
# usage: bench/siconos.sh BUILD_DIR FILE...      SICONOS_PREFIX: where it is installed, default /usr
#                                                SICONOS_SECONDS: of processor time for one of its solvers, default 30
set -e
here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
prefix=${SICONOS_PREFIX:-/usr}
lib=$prefix/lib/$(cc -dumpmachine)
cc -std=gnu17 -O2 -I"$here/../include" -I"$prefix/include/siconos" -I"$prefix/include/siconos/numerics" \
  "$here/siconos.c" -o "$build/bench_siconos" "$build/libstickslip.a" \
  -L"$lib" -Wl,-rpath-link,"$lib" -lsiconos_numerics $(pkg-config --libs yaml-0.1 jansson) -lhdf5_serial -lm
OPENBLAS_NUM_THREADS=1 LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$build/bench_siconos" "$@"
