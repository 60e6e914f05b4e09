#!/usr/bin/env python3
"""Writes the table "data x solver" as Markdown: residual of every complementarity solver on every problem file.

usage: bench/solver_table.py BUILD_DIR FILE...
"""
import json
import os
import subprocess
import sys


def solve(program, path):
    done = subprocess.run([program, "solve", path, "--all-solvers", "--json"], capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def cell(row):
    if row["status"] == "not-admitted":
        return ""
    if row["status"] == "solved":
        return f"{row['residual']:.0e}"
    return row["status"]


def main():
    program = os.path.join(sys.argv[1], "stickslip")
    header = None
    for path in sys.argv[2:]:
        rows = solve(program, path)
        if not rows:
            continue
        if header is None:
            header = [row["solver"] for row in rows]
            print("| problem | kind | rows | " + " | ".join(header) + " |")
            print("|---" * (len(header) + 3) + "|")
        cells = [cell(row) for row in rows]
        print(f"| {os.path.basename(path)} | {rows[0]['kind']} | {rows[0]['n']} | " + " | ".join(cells) + " |", flush=True)


main()
