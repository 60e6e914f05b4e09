#!/usr/bin/env python3
"""Sums up rows of bench/siconos.sh on the piles of bench/contacts.py, by contacts and cone, as Markdown.

usage: bench/summary.py < ROWS
"""
import re
import statistics
import sys

NAME = re.compile(r"(\d+)-[a-z]+-[a-z]+-\d+-(\w+)\.cp")


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def read(lines):
    """(contacts, cone) -> problems: our time and residual, the fastest of Siconos and its Lemke over ours (None: it has none)."""
    groups = {}
    for line in lines:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        name = NAME.fullmatch(cells[0])
        if not name or len(cells) != 6:
            continue
        ours = re.search(r"([\d.]+) us, ([\d.e+-]+)", cells[2])
        theirs = [float(time) for time in re.findall(r"([\d.]+) us", cells[3])]
        groups.setdefault((int(name.group(1)), name.group(2)), []).append({
            "time": float(ours.group(1)), "residual": float(ours.group(2)), "fastest": min(theirs, default=None),
            "ratio": number(cells[4]), "lemke": number(cells[5])})
    return groups


def shown(value):
    return "-" if value is None else f"{value:.3g}"


def row(key, problems):
    both = [p for p in problems if p["ratio"] is not None]
    ratios, lemkes = [p["ratio"] for p in both], [p["lemke"] for p in problems if p["lemke"] is not None]
    total = sum(p["fastest"] for p in both) / sum(p["time"] for p in both) if both else None
    cells = [key[0], {"quadratic": "disc"}.get(key[1], key[1]), len(problems), sum(p["residual"] <= 1e-9 for p in problems),
             len(both), sum(r < 1 for r in ratios), shown(min(ratios, default=None)),
             shown(statistics.median(ratios) if ratios else None), shown(total), len(lemkes), shown(min(lemkes, default=None))]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def main():
    print("| contacts | cone | problems | solved by us | by Siconos | where it is faster | its fastest / ours: least | median "
          "| of the sums | its Lemke solves | its Lemke / ours: least |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for key, problems in sorted(read(sys.stdin).items()):
        print(row(key, problems))


if __name__ == "__main__":
    main()
