#!/usr/bin/env python3
"""Chi-square test of the faces that `stickslip sweep studies/die.yaml --csv die.csv` has thrown: python3 chi_square.py die.csv"""
import collections
import csv
import math
import sys

rows = list(csv.DictReader(open(sys.argv[1])))
for load in sorted({r["load"] for r in rows}):
    faces = collections.Counter(round(float(r["face"])) for r in rows if r["load"] == load and r["face"])
    thrown = sum(faces[k] for k in range(1, 7))
    chi = sum((faces[k] - thrown / 6) ** 2 / (thrown / 6) for k in range(1, 7))
    # The distribution's upper tail for 5 degrees of freedom, in closed form.
    p = math.erfc(math.sqrt(chi / 2)) + math.sqrt(2 * chi / math.pi) * math.exp(-chi / 2) * (1 + chi / 3)
    print(f"load {float(load) * 1000:.3g} mm: {[faces[k] for k in range(1, 7)]} of {thrown} ({faces[0]} on edge), "
          f"chi-square {chi:.2f}, p = {p:.3g}: {'fair' if p > 0.05 else 'LOADED'}")
