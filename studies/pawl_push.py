#!/usr/bin/env python3
"""The least push that inserts the pawl of scenes/pawl.yaml, by bisection, for ramps from 0 to 0.4: what studies/pawl-design.yaml
minimises over. Needs the Python package.

usage: studies/pawl_push.py [MU...]
"""
import pathlib
import sys

import stickslip

SCENE = pathlib.Path(__file__).parent.parent / "scenes" / "pawl.yaml"


def inserted(mu, ramp, push):
    sim = stickslip.Scene.load(SCENE, mu=mu, ramp=ramp, F=push).simulation(step=2e-5)
    sim.step(300)
    return sim.outputs["depth_reached"] > 2.0e-3


def least_push(mu, ramp, low=0.002, high=0.02):
    if not inserted(mu, ramp, high):
        return float("inf")
    while high - low > 2e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if inserted(mu, ramp, middle) else (middle, high)
    return high


for mu in map(float, sys.argv[1:] or ["0.1", "0.2"]):
    pushes = {ramp / 20: least_push(mu, ramp / 20) for ramp in range(9)}
    best = min(pushes, key=pushes.get)
    print(f"mu {mu:g}: least push {1000 * pushes[best]:.2f} mN at ramp {best:g};", *(f"{r:g}: {1000 * p:.2f}" for r, p in pushes.items()))
