#!/bin/sh
# What digits cost: processor seconds over the residual that is asked for, as a Markdown table. Walls and pyramids: their first step, cold; packings: one
# problem, cold; balls: a run of four seconds. At most LIMIT seconds each.
# usage: bench/residuals.sh BUILD_DIR
set -e
here=$(cd "$(dirname "$0")" && pwd)
build=$1
residuals="1e-2 1e-3 1e-4 1e-6 1e-8 1e-10"
cc -std=gnu17 -O2 -I"$here/../include" "$here/large.c" -o "$build/bench_large" "$build/libstickslip.a" \
  $(pkg-config --libs yaml-0.1 jansson cminpack expat) -lhdf5_serial -lm

first_step() { # SCENE RESIDUAL
  timeout "${LIMIT:-60}" "$build/crowds" "$1" --residual "$2" --seconds 0.004 | sed 's/.* first \([^ ]*\) ms.*/\1/' | awk '{printf "%.3f", $1 / 1000}'
}

run() { # SCENE RESIDUAL
  timeout "${LIMIT:-60}" "$build/crowds" "$1" --residual "$2" 2>/dev/null | sed 's/.* cpu\/s \([^ ]*\) .*/\1/' | awk '{printf "%.3f", 4 * $1}'
}

packing() { # SHAKING RESIDUAL
  timeout "${LIMIT:-60}" "$build/bench_large" 9 9 9 quadratic 0.4 "$1" auto "$2" | awk -F'|' '$10 ~ /solved/ {print $7}' | tr -d ' \n'
}

row() { # NAME FUNCTION ARGUMENT
  printf '| %s |' "$1"
  for r in $residuals; do
    seconds=$($2 "$3" "$r" || true)
    printf ' %s |' "${seconds:-not in ${LIMIT:-60} s}"
  done
  echo
}

printf '| |'
printf ' %s |' $residuals
echo
echo "|---|---|---|---|---|---|---|"
row "wall 20 x 10, 1,520 contacts" first_step wall20x10
row "wall 40 x 20, 6,240 contacts" first_step wall40x20
row "pyramid 20, 1,600 contacts" first_step pyramid20
row "packing of 729 balls, 3,851 contacts" packing 0
row "the same shaken by 0.3 g" packing 0.3
row "64 balls fall into a bin, 4 s" run balls64
