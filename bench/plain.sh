#!/bin/sh
# Plain LCPs beside Siconos, as Markdown: contact problems of bench/piles.py written out, then random ones (needs numpy).
# usage: bench/plain.sh BUILD_DIR > docs/lcp-comparison.md
set -e
here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/piles.py" "$work" 4 8
piles=
for name in box-4 stack-2 wall-2 box-16 stack-10 loose-3 heap-3 wall-4 loose-5 heap-4 wall-6; do
  for cone in 4 8; do
    "$build/stickslip" run "$work/$name-$cone.yaml" --duration 0.02 --dump-problem "$work/problem.cp" >/dev/null 2>&1
    python3 "$here/plain_lcp.py" contacts "$work/problem.cp" "$work/$name-$cone.dat"
    piles="$piles $work/$name-$cone.dat"
  done
done
python3 "$here/random_lcp.py" "$work/random" 30 100 300 1000
cat <<END
# Plain LCPs beside Siconos

Written by \`bench/plain.sh BUILD_DIR\`. Friction problems written out as LCPs (names: pile, directions; contact by contact: normal,
directions, lambda), then random dense LCPs (\`bench/random_lcp.py\`). Both read the same file and solve from zero; processor time, shortest of up
to 1000 runs; a solver of Siconos may take ${SICONOS_SECONDS:-30} s. Every answer is judged by \`src/cp/judge.c\` as the LCP that was given. All LCP solvers of Siconos
are tried; those that reach 1e-9 are listed. The last columns are the times of the fastest of them and of its Lemke over ours: above 1 we are faster.

END
# shellcheck disable=SC2086
sh "$here/siconos.sh" "$build" $piles "$work"/random/*-30.dat "$work"/random/*-100.dat "$work"/random/*-300.dat \
  "$work"/random/*-1000.dat
