#!/usr/bin/env python3
"""Writes the table "data x solver" of docs/solvers.md: every complementarity solver on every problem file.

usage: bench/solver_table.py BUILD_DIR DOCUMENT FOLDER...

It replaces what stands in the document between the lines BEGIN and END.
"""
import json
import os
import subprocess
import sys

LIMIT = 20  # seconds for one solver on one problem
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
ENDINGS = (".dat", ".lcp", ".hdf5", ".problem")


def problem_files(folders):
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            # the text files of fclib_hdf5 repeat its HDF5 files
            if name.endswith(ENDINGS) or (name.endswith(".txt") and "contactbench" in folder):
                yield os.path.join(folder, name)


def solver_names(program):
    rows = json.loads(subprocess.run([program, "list", "solvers", "--json"], capture_output=True, text=True, check=True).stdout)
    return [row["name"] for row in rows["solvers"]]


def solve(program, path, solver):
    try:
        done = subprocess.run([program, "solve", path, "--solver", solver, "--tolerance", "1e-9", "--json"],
                              capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout.splitlines()[0]) if done.stdout else None


def duration(seconds):
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def cell(row):
    if row is None:
        return f"> {LIMIT} s"
    if row["status"] == "not-admitted":
        return ""
    word = f"{row['residual']:.0e}" if row["status"] == "solved" else row["status"]
    return f"{word}, {row['iterations']}, {duration(row['seconds'])}"


def table(program, folders):
    solvers = solver_names(program)
    yield "| problem | kind | rows | " + " | ".join(solvers) + " |"
    yield "|---" * (len(solvers) + 3) + "|"
    for path in problem_files(folders):
        rows = {solver: solve(program, path, solver) for solver in solvers}
        known = next((row for row in rows.values() if row), None)
        print(path, file=sys.stderr, flush=True)
        if not known:
            yield f"| {os.path.basename(path)} | not read | |" + " |" * len(solvers)
            continue
        cells = [cell(rows[solver]) for solver in solvers]
        yield f"| {os.path.basename(path)} | {known['kind']} | {known['n']} | " + " | ".join(cells) + " |"


def main():
    program, document, folders = os.path.join(sys.argv[1], "stickslip"), sys.argv[2], sys.argv[3:]
    with open(document, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    lines = list(table(program, folders))
    with open(document, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + after)


main()
