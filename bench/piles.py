#!/usr/bin/env python3
"""Writes scenes with many contacts, most of them redundant, to DIRECTORY: one file per name below.

usage: bench/piles.py DIRECTORY [CONE...]        CONE: quadratic, 4, 8 (directions); default 4
"""
import math
import os
import sys

GROUND = "world:\n  shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]\n"


def box(name, position, size, density=1000, velocity=None, angle=None):
    text = f"  - name: {name}\n    density: {density}\n    position: {position}\n"
    if velocity:
        text += f"    velocity: {velocity}\n"
    if angle:
        text += f"    orientation: {{axis: [0, 1, 0], angle: {angle}}}\n"
    return text + f"    shapes: [{{type: box, size: {size}}}]\n"


def ball(name, position, radius=0.05, density=1000):
    return (f"  - name: {name}\n    density: {density}\n    position: {position}\n"
            f"    shapes: [{{type: sphere, radius: {radius}}}]\n")


def feet(count):
    side = round(math.sqrt(count))
    at = [0.2 * (i / (side - 1) - 0.5) for i in range(side)]
    points = "".join(f"      - {{type: point, position: [{x}, {y}, -0.1]}}\n" for x in at for y in at)
    return ("  - name: box\n    mass: 8\n    inertia: [0.05, 0.05, 0.05]\n    position: [0, 0, 0.1]\n"
            f"    shapes:\n{points}")


def stack(count, density=lambda k: 1000):
    return "".join(box(f"b{k}", [0, 0, round(0.1 + 0.2 * k, 6)], [0.2, 0.2, 0.2], density(k)) for k in range(count))


def wall(rows, columns, gap=0.0):
    bricks = ""
    for r in range(rows):
        for c in range(columns - r % 2):
            x = round((c + 0.5 * (r % 2)) * (0.2 + gap), 6)
            bricks += box(f"r{r}c{c}", [x, 0, round(0.05 + 0.1 * r, 6)], [0.2, 0.1, 0.1])
    return bricks


def dominoes(count):
    tiles = box("d0", [0.006, 0, 0.1008], [0.02, 0.08, 0.2], 600, None, "7 deg")
    return tiles + "".join(box(f"d{k}", [round(0.08 * k, 6), 0, 0.1], [0.02, 0.08, 0.2], 600) for k in range(1, count))


def heap(base):
    """A pyramid of balls between four walls."""
    balls = ""
    for level in range(base):
        n = base - level
        start = 0.05 * level
        for i in range(n):
            for j in range(n):
                x, y = start + 0.1 * i, start + 0.1 * j
                z = 0.05 + 0.1 * level * math.sqrt(0.5)
                balls += ball(f"l{level}i{i}j{j}", [round(x, 9), round(y, 9), round(z, 9)])
    return balls


def scatter(count):
    """Balls dropped into a box: an irregular heap."""
    balls, seed = "", 12345
    for k in range(count):
        seed = (1103515245 * seed + 12345) % 2**31
        dx = 0.006 * (seed / 2**31 - 0.5)
        seed = (1103515245 * seed + 12345) % 2**31
        dy = 0.006 * (seed / 2**31 - 0.5)
        x, y, z = 0.01 + 0.115 * (k % 3) + dx, 0.01 + 0.115 * (k // 3 % 3) + dy, 0.06 + 0.11 * (k // 9)
        balls += ball(f"s{k}", [round(x, 6), round(y, 6), round(z, 6)])
    return balls


def walls(width):
    lo, hi = -0.05, width - 0.05
    return ("world:\n  shapes:\n    - {type: half-space, normal: [0, 0, 1], offset: 0}\n"
            f"    - {{type: half-space, normal: [1, 0, 0], offset: {lo}}}\n"
            f"    - {{type: half-space, normal: [-1, 0, 0], offset: {-hi}}}\n"
            f"    - {{type: half-space, normal: [0, 1, 0], offset: {lo}}}\n"
            f"    - {{type: half-space, normal: [0, -1, 0], offset: {-hi}}}\n")


SCENES = {
    "box-4": (feet(4), GROUND, 0.5),
    "box-16": (feet(16), GROUND, 0.5),
    "stack-2": (stack(2), GROUND, 0.5),
    "stack-10": (stack(10), GROUND, 0.5),
    "stack-50": (stack(50), GROUND, 0.1),
    "stack-50-heavy-top": (stack(50, lambda k: 1e9 if k == 49 else 1000), GROUND, 0.1),
    "stack-50-heavy-bottom": (stack(50, lambda k: 1e9 if k == 0 else 1000), GROUND, 0.1),
    "stack-2-1e12": (stack(2, lambda k: 1e15 if k == 1 else 1000), GROUND, 0.05),
    "stack-10-1e12": (stack(10, lambda k: 1e15 if k == 9 else 1000), GROUND, 0.05),
    "wall-2": (wall(2, 2), GROUND, 0.3),
    "wall-4": (wall(4, 3), GROUND, 0.3),
    "wall-6": (wall(6, 4), GROUND, 0.2),
    "loose-3": (wall(3, 3, 0.004), GROUND, 0.3),
    "loose-5": (wall(5, 4, 0.004), GROUND, 0.2),
    "dominoes-8": (dominoes(8), GROUND, 1),
    "dominoes-20": (dominoes(20), GROUND, 1.5),
    "heap-2": (heap(2), walls(0.2), 0.3),
    "heap-3": (heap(3), walls(0.3), 0.3),
    "heap-4": (heap(4), walls(0.4), 0.2),
    "scatter-9": (scatter(9), walls(0.36), 1),
    "scatter-27": (scatter(27), walls(0.36), 1),
    "scatter-54": (scatter(54), walls(0.36), 1),
}


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    for cone in sys.argv[2:] or ["4"]:
        friction = "{cone: quadratic}" if cone == "quadratic" else f"{{cone: polyhedral, directions: {cone}}}"
        for name, (bodies, world, duration) in SCENES.items():
            with open(os.path.join(directory, f"{name}-{cone}.yaml"), "w", encoding="utf-8") as file:
                file.write(f"name: {name}\nmaterials:\n  - {{name: default, friction: 0.5, restitution: 0}}\n{world}"
                           f"bodies:\n{bodies}simulation:\n  scheme: anitescu-potra\n  step: 0.01\n"
                           f"  duration: {duration}\n  friction: {friction}\n")


main()
