#!/usr/bin/env python3
"""The starts of `stickslip sweep studies/rocking-block.yaml --csv block.csv`, integrated independently: Housner's equation of a block
that rocks about its corners, Runge-Kutta steps, at every impact the angular velocity times 1 - 3/2 sin(alpha)^2.

    python3 rocking_block.py block.csv          (needs numpy)"""
import csv
import math
import sys

import numpy as np

WIDTH, HEIGHT, GRAVITY, DURATION, STEPS = 0.2, 1.0, 9.81, 4.0, 40000
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["toppled"]]
tilt, spin, toppled = (np.array([float(r[name]) for r in rows]) for name in ("theta0", "omega", "toppled"))
alpha, radius = math.atan2(WIDTH, HEIGHT), math.hypot(WIDTH, HEIGHT) / 2
k = GRAVITY * radius / ((WIDTH**2 + HEIGHT**2) / 12 + radius**2)
left = 1 - 1.5 * math.sin(alpha) ** 2
over = np.zeros(len(rows), bool)
h = DURATION / STEPS


def acceleration(x):
    return -k * np.sin(alpha - x)


for _ in range(STEPS):
    a1 = acceleration(tilt)
    a2 = acceleration(tilt + h / 2 * spin)
    a3 = acceleration(tilt + h / 2 * (spin + h / 2 * a1))
    a4 = acceleration(tilt + h * (spin + h / 2 * a2))
    tilt, spin = tilt + h * spin + h * h / 6 * (a1 + a2 + a3), spin + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    hit = (tilt < 0) & (spin < 0)
    tilt, spin = np.where(hit, -left * tilt, tilt), np.where(hit, -left * spin, spin)
    over |= tilt > 1.2 * alpha
    tilt, spin = np.where(over, 2 * alpha, tilt), np.where(over, 0, spin)
different = int((over != (toppled > 0.5)).sum())
print(f"{len(rows)} starts: {toppled.mean():.4f} topple in the study, {over.mean():.4f} in the integration, {different} differ")
