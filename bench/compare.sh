#!/bin/sh
# Our ladder beside the solvers of Siconos, as Markdown: random piles of bench/contacts.py, summed up by size; the contact problems of
# bench/piles.py and the given files one by one.
# usage: bench/compare.sh BUILD_DIR [FILE...] > docs/siconos-comparison.md
#        SEEDS, CONTACTS: of the random piles, default 1:2 and 2,8,32,100,200
set -e
here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/piles.py" "$work" 4 8 quadratic
names="box-4 stack-2 box-16 wall-2 heap-2 stack-10 loose-3 heap-3 wall-4 wall-6 stack-50"
piles=
for cone in 4 8 quadratic; do
  for name in $names; do
    problem=$work/$name-$cone.cp
    "$build/stickslip" run "$work/$name-$cone.yaml" --duration 0.02 --dump-problem "$problem" >/dev/null 2>&1
    piles="$piles $problem"
  done
done
cat <<END
# Beside Siconos

Written by \`bench/compare.sh BUILD_DIR FILE...\`. Both solve the same problem from zero, in the same run, memory and options at hand;
processor time, the shortest within 0.1 s (in batches of at least 50 us, because the clock itself takes half a microsecond); a solver of Siconos may take ${SICONOS_SECONDS:-30} s. Every answer is judged by \`src/cp/judge.c\`. All solvers of Siconos for the kind of problem
are tried; those that reach 1e-9 are listed. The last columns are the times of the fastest of them and of its Lemke over ours: above 1 we are faster. Polyhedral friction (names that end in 4 or 8, the
number of directions) is an LCP for Siconos: contacts times directions plus two variables. Its solvers are asked for 1e-10; ours go on to
rounding level where that is cheap. Residuals stand beside the times; no time of ours is for a residual above 1e-9. Problems that
the simulator lists by rows are given to Siconos as dense matrices.

## Random piles, by size

Walls, loose bricks and heaps of balls between walls (\`bench/contacts.py\`, seeds ${SEEDS:-1:2}) at rest, pushed and struck, friction 0.1 to 0.8: nine of each
size, cone and seed. Ratios are over the problems that a solver of Siconos brings to 1e-9; "of the sums" compares the times of all of them.

END
mkdir "$work/random"
python3 "$here/contacts.py" "$work/random" "${SEEDS:-1:2}" --contacts "${CONTACTS:-2,8,32,100,200}"
sh "$here/siconos.sh" "$build" "$work"/random/*.cp | python3 "$here/summary.py"
cat <<END

## One by one

END
# shellcheck disable=SC2086
sh "$here/siconos.sh" "$build" $piles "$@"
