#!/bin/sh
# Writes docs/large-problems.md: "auto" on sphere packings from 1,000 to 30,000 contacts, as box-shaped heaps and as wide beds.
# usage: bench/large.sh BUILD_DIR > docs/large-problems.md
set -e
here=$(cd "$(dirname "$0")" && pwd)
build=$1
cc -std=gnu17 -O2 -I"$here/../include" "$here/large.c" -o "$build/bench_large" "$build/libstickslip.a" \
  $(pkg-config --libs yaml-0.1 jansson cminpack expat) -lhdf5_serial -lm
echo "# Large problems: measurements"
echo
echo "Written by \`bench/large.sh\`: sphere packings of \`bench/packing.h\` (friction 0.4), tolerance 1e-8, processor time on a busy machine."
echo
echo "| spheres | cone | shaking | contacts | iterations | seconds | microseconds per contact | peak MB | outcome | residual |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for cone in quadratic facets; do
  for shaking in 0 0.3; do
    for size in "6 6 6" "9 9 9" "13 13 13" "18 18 18" "11 11 2" "30 30 2" "60 60 2"; do
      timeout "${LIMIT:-600}" "$build/bench_large" $size $cone 0.4 $shaking || echo "| $size | $cone | $shaking | | | more than the limit | | | | |"
    done
  done
done

echo
echo "Packings that are shaken (discs), up to those on which sweeps stop, by \`large\` and by \`interior-point\` alone; at most ${SECONDS_EACH:-60} seconds of processor time each."
for solver in large interior-point; do
  echo
  echo "$solver:"
  echo
  echo "| spheres | cone | shaking | contacts | iterations | seconds | microseconds per contact | peak MB | outcome | residual |"
  echo "|---|---|---|---|---|---|---|---|---|---|"
  for shaking in 0.5 1 2; do
    for size in "3 3 3" "4 3 4" "3 5 3" "3 4 5" "4 4 4" "5 5 4" "6 6 6"; do
      (ulimit -t "${SECONDS_EACH:-60}" && "$build/bench_large" $size quadratic 0.4 $shaking $solver) ||
        echo "| $size | disc | $shaking | | | more than the limit | | | | |"
    done
  done
done
