#!/bin/sh
# Random packings of bench/heap.h, from 300 to 30,000 contacts, solved by "auto": rows of a Markdown table. Each kind of load at
# each size has SECONDS_EACH seconds of processor time. SIZES: other numbers of spheres.
# usage: bench/heaps.sh BUILD_DIR [sparse]
# sparse: without the factors J and A, as a sparse matrix G
here=$(cd "$(dirname "$0")" && pwd)
build=$1
cc -std=gnu17 -O2 -I"$here/../include" -I"$here/../src" "$here/heaps.c" -o "$build/bench_heaps" "$build/libstickslip.a" \
  $(pkg-config --libs yaml-0.1 jansson cminpack expat) -lhdf5_serial -lm || exit 1
echo "| spheres | load | contacts | iterations | seconds | microseconds per contact | peak MB | outcome | residual |"
echo "|---|---|---|---|---|---|---|---|---|"
for spheres in ${SIZES:-100 300 1000 3000 10000}; do
  for load in "mu=0.4" "mu=0.3 spread=3" "mu=1" "density=100" "slenderness=0.1" "shaking=0.3" "shaking=1" "rate=10 mu=0.2"; do
    (ulimit -t "${SECONDS_EACH:-100}" && "$build/bench_heaps" $spheres $load $2) ||
      echo "| $spheres | $load | | | more than ${SECONDS_EACH:-100} | | | | |"
  done
done
