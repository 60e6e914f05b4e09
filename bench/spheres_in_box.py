#!/usr/bin/env python3
"""Writes a scene: spheres of two sizes, a little disordered, fall into a box with four walls and come to rest.

usage: bench/spheres_in_box.py COLUMNS LAYERS [DURATION [SCHEME]] > scene.yaml      COLUMNS^2 x LAYERS spheres
"""
import random
import sys


def main():
    columns, layers = int(sys.argv[1]), int(sys.argv[2])
    duration = sys.argv[3] if len(sys.argv) > 3 else "1"
    scheme = sys.argv[4] if len(sys.argv) > 4 else "moreau"
    random.seed(columns + 1000 * layers)
    width = 0.11 * columns
    print(f"name: {columns * columns * layers} spheres fall into a box")
    print("materials:\n  - {name: default, friction: 0.4, restitution: 0}\nworld:\n  shapes:")
    for normal, offset in (("[0, 0, 1]", 0), ("[1, 0, 0]", 0), ("[-1, 0, 0]", -width), ("[0, 1, 0]", 0), ("[0, -1, 0]", -width)):
        print(f"    - {{type: half-space, normal: {normal}, offset: {offset:g}}}")
    print("bodies:")
    for k in range(layers):
        for i in range(columns):
            for j in range(columns):
                x, y = (0.055 + 0.11 * c + random.uniform(-0.004, 0.004) for c in (i, j))
                z = 0.055 + 0.105 * k
                radius = random.choice((0.04, 0.05))
                print(f"  - {{name: s{k}_{i}_{j}, density: 2500, position: [{x:.5f}, {y:.5f}, {z:.5f}], "
                      f"shapes: [{{type: sphere, radius: {radius}}}]}}")
    print(f"simulation: {{scheme: {scheme}, step: 0.002, duration: {duration}, events: [], "
          "friction: {cone: quadratic}}")


main()
