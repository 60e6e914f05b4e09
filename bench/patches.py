#!/usr/bin/env python3
"""Measures compliant patches: processor time per step and memory for balls on a plane, and writes the table into a page.

usage: bench/patches.py BUILD_DIR PAGE.md

The table stands between the lines <!-- patches --> and <!-- end of patches -->. Times are the shortest of three runs of
200 steps less runs of 100 steps, so that what happens once does not count; memory is the largest resident set.
"""
import os
import re
import subprocess
import sys
import tempfile

TEMPLATE = """\
materials: [{{name: default, friction: 0.3}}]
world: {{shapes: [{{type: half-space, normal: [0, 0, 1], offset: 0}}]}}
bodies:
{bodies}
compliance: {{young: 1e8, poisson: 0.3, elements: {elements}, spacing: {spacing}}}
simulation: {{scheme: compliant-theta, theta: 0, step: 1e-3, duration: 1, friction: {{cone: quadratic}}}}
"""


def scene(balls, elements):
    lines = []
    for i in range(balls):
        speed = f"[{((7 * i) % 11 - 5) * 0.05}, {((3 * i) % 7 - 3) * 0.05}, 0]"
        lines.append(f"  - {{name: ball {i}, mass: 0.1, position: [{0.2 * (i % 10)}, {0.2 * (i // 10)}, 0.05], "
                     f"velocity: {speed}, shapes: [{{type: sphere, radius: 0.05}}]}}")
    return TEMPLATE.format(bodies="\n".join(lines), elements=elements, spacing=2.5e-4 / elements)


def measure(program, path, steps):
    """Processor time and memory of one run."""
    process = subprocess.Popen([program, "run", path, "--duration", str(steps * 1e-3), "--json"],
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{path}: the run failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def row(program, balls, elements):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as stream:
        stream.write(scene(balls, elements))
        stream.flush()
        short = min(measure(program, stream.name, 100)[0] for _ in range(3))
        runs = [measure(program, stream.name, 200) for _ in range(3)]
    seconds = min(run[0] for run in runs) - short
    return f"| {balls} | {elements} x {elements} | {3 * balls * elements**2} | {10 * seconds:.2f} | {runs[0][1]:.0f} |"


def main():
    program = os.path.join(sys.argv[1], "stickslip")
    lines = ["| patches | elements | unknowns | ms per step | MB |", "|---|---|---|---|---|"]
    for balls, elements in [(1, 5), (10, 5), (100, 3), (100, 5), (1, 11)]:
        lines.append(row(program, balls, elements))
        print(lines[-1], flush=True)
    with open(sys.argv[2], encoding="utf-8") as stream:
        text = stream.read()
    table = "<!-- patches -->\n\n" + "\n".join(lines) + "\n\n<!-- end of patches -->"
    text, count = re.subn(r"<!-- patches -->.*?<!-- end of patches -->", lambda _: table, text, flags=re.S)
    if count != 1:
        sys.exit(f"{sys.argv[2]} has no place for the table")
    with open(sys.argv[2], "w", encoding="utf-8") as stream:
        stream.write(text)


main()
