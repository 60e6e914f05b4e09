#!/usr/bin/env python3
"""Many bodies that hit each other: how many problems a step takes, how large they are, how long that lasts.

usage: bench/bounces.py [--stickslip BUILD/stickslip] [--seconds LIMIT] [--write DIRECTORY] [NAME...]

Runs each scene below, as `stickslip run --json`, with at most LIMIT seconds of processor time (default 60), and prints a line
of numbers. Momentum and energy are those of the motion, in parts of what moves: the error of the ledger, and in closed scenes
without friction and with restitution 1 the energy that was lost. --write keeps the scenes.
"""
import argparse
import json
import math
import os
import random
import resource
import subprocess
import tempfile

FLOOR = {"type": "half-space", "normal": [0, 0, 1], "offset": 0}


def walls(x0, x1, y0, y1):
    return [{"type": "half-space", "normal": n, "offset": o}
            for n, o in (([1, 0, 0], x0), ([-1, 0, 0], -x1), ([0, 1, 0], y0), ([0, -1, 0], -y1))]


def scene(bodies, shapes, friction, restitution, step, duration, **more):
    out = {"materials": [{"name": "default", "friction": friction, "restitution": restitution}],
           "world": {"shapes": shapes}, "bodies": bodies,
           "simulation": {"scheme": "trapezoidal", "step": step, "duration": duration,
                          "friction": {"cone": "quadratic"}}}
    simulation = out["simulation"]
    simulation.update(more.pop("simulation", {}))
    out.update(more)
    return out


def box(name, position, size, density=2000, **more):
    return {"name": name, "density": density, "position": position, "shapes": [{"type": "box", "size": size}], **more}


def ball(name, position, radius, density=2000, **more):
    return {"name": name, "density": density, "position": position, "shapes": [{"type": "sphere", "radius": radius}],
            **more}


def turned(rng):
    q = [rng.gauss(0, 1) for _ in range(4)]
    size = math.sqrt(sum(x * x for x in q))
    return [x / size for x in q]


def spheres_in_bin(columns, layers, restitution, friction=0.4, duration=1.0):
    rng = random.Random(columns + 1000 * layers)
    bodies = [ball(f"s{k}_{i}_{j}", [round(0.055 + 0.11 * i + rng.uniform(-0.004, 0.004), 5),
                                     round(0.055 + 0.11 * j + rng.uniform(-0.004, 0.004), 5), 0.055 + 0.105 * k],
                   rng.choice((0.04, 0.05)))
              for k in range(layers) for i in range(columns) for j in range(columns)]
    width = 0.11 * columns
    return scene(bodies, [FLOOR] + walls(0, width, 0, width), friction, restitution, 0.002, duration)


def wall(rows, columns, ball_at, velocity, restitution):
    bodies = [box(f"b{r}_{c}", [round((c + 0.5 * (r % 2)) * 0.4, 6), 0, round(0.1 + 0.2 * r, 6)], [0.4, 0.2, 0.2])
              for r in range(rows) for c in range(columns - r % 2)]
    bodies.append(ball("ball", ball_at, 0.2, velocity=velocity))
    return scene(bodies, [FLOOR], 0.6, restitution, 0.005, 0.5)


def dominoes(count, restitution):
    bodies = [box(f"d{k}", [round(0.02 * k, 6), 0, 0.025], [0.008, 0.025, 0.05], 1000) for k in range(count)]
    bodies[0]["angular_velocity"] = [0, 6, 0]
    return scene(bodies, [FLOOR], 0.4, restitution, 0.001, 0.5)


def billiards(rows, restitution, friction=0.0):
    radius = 0.028575
    bodies = [ball("cue", [-0.6, 0.0003, radius], radius, 1700, velocity=[4, 0, 0])]
    for r in range(rows):
        for c in range(r + 1):
            bodies.append(ball(f"b{r}_{c}", [round(r * math.sqrt(3) * 1.002 * radius, 9),
                                             round((2 * c - r) * 1.002 * radius, 9), radius], radius, 1700))
    return scene(bodies, [FLOOR] + walls(-0.7, 1.3, -0.5, 0.5), friction, restitution, 0.002, 1.0)


def cradle(count, restitution):
    radius = 0.02
    bodies, joints = [], []
    for k in range(count):
        angle = math.radians(-40) if k == 0 else 0
        pivot = [round(k * 2 * radius, 9), 0, 0]
        bodies.append(ball(f"c{k}", [pivot[0] + 0.3 * math.sin(angle), 0, -0.3 * math.cos(angle)], radius, 7800,
                           freedom=["x", "z"]))
        joints.append({"type": "distance", "between": ["world", f"c{k}"], "anchors": [pivot, [0, 0, 0]], "length": 0.3})
    return scene(bodies, [], 0, restitution, 0.002, 1.0, joints=joints)


def dice(count, restitution):
    rng = random.Random(count)
    bodies = []
    for k in range(count):
        at = [0.05 * (k % 3) - 0.05 + rng.uniform(-0.005, 0.005), 0.05 * (k // 3 % 3) - 0.05, 0.06 + 0.05 * (k // 9)]
        bodies.append(box(f"d{k}", [round(x, 5) for x in at], [0.02, 0.02, 0.02], 1200, orientation=turned(rng),
                          velocity=[rng.uniform(-1, 1), rng.uniform(-1, 1), -1],
                          angular_velocity=[rng.uniform(-20, 20) for _ in range(3)]))
    return scene(bodies, [FLOOR] + walls(-0.12, 0.12, -0.12, 0.12), 0.3, restitution, 0.002, 0.6)


def marbles(count, restitution):
    """On a bumpy floor."""
    n, width = 11, 0.6
    heights = [[round(0.02 * math.sin(1.3 * i) * math.cos(1.7 * j), 6) for j in range(n)] for i in range(n)]
    points, faces = [], []
    for i in range(n):
        for j in range(n):
            points.append([round(width * (i / (n - 1) - 0.5), 6), round(width * (j / (n - 1) - 0.5), 6), heights[i][j]])
    for i in range(n - 1):
        for j in range(n - 1):
            a, b, c, d = i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1
            faces += [[a, b, c], [a, c, d]]
    rng = random.Random(count)
    bodies = [ball(f"m{k}", [round(0.08 * (k % 5) - 0.16 + rng.uniform(-0.01, 0.01), 5),
                             round(0.08 * (k // 5 % 5) - 0.16 + rng.uniform(-0.01, 0.01), 5),
                             0.07 + 0.05 * (k // 25)], 0.015, 2500) for k in range(count)]
    ground = {"type": "mesh", "vertices": points, "triangles": faces}
    return scene(bodies, [ground] + walls(-0.25, 0.25, -0.25, 0.25), 0.3, restitution, 0.002, 0.6)


def gas(count):
    """Frictionless balls with restitution 1 in a closed box without gravity."""
    rng = random.Random(count)
    side = round(count ** (1 / 3) + 0.49)
    bodies = []
    for k in range(count):
        cell = (k % side, k // side % side, k // side ** 2)
        bodies.append(ball(f"g{k}", [round((x + 0.5) / side + rng.uniform(-0.05, 0.05) / side, 6) for x in cell],
                           round(0.3 / side, 6), velocity=[rng.uniform(-1, 1) for _ in range(3)]))
    top = {"type": "half-space", "normal": [0, 0, -1], "offset": -1}
    return scene(bodies, [FLOOR, top] + walls(0, 1, 0, 1), 0, 1, 0.01, 1.0, gravity=[0, 0, 0])


SCENES = {
    "bin27-e0": lambda: spheres_in_bin(3, 3, 0),
    "bin27-e0.3": lambda: spheres_in_bin(3, 3, 0.3),
    "bin27-e0.8": lambda: spheres_in_bin(3, 3, 0.8),
    "bin64-e0.5": lambda: spheres_in_bin(4, 4, 0.5, duration=0.5),
    "wall-hit": lambda: wall(7, 8, [1.4, -0.5, 0.7], [0, 5, 0], 0.1),
    "wall-drop": lambda: wall(7, 8, [1.4, 0, 1.7], [0, 0, -5], 0.1),
    "wall-hit-e0.5": lambda: wall(4, 5, [0.8, -0.5, 0.5], [0, 5, 0], 0.5),
    "dominoes50": lambda: dominoes(50, 0.1),
    "billiards15-e1": lambda: billiards(5, 1),
    "billiards15-e0.9": lambda: billiards(5, 0.9, 0.1),
    "cradle15-e1": lambda: cradle(15, 1),
    "dice12-e0.3": lambda: dice(12, 0.3),
    "dice27-e0.5": lambda: dice(27, 0.5),
    "marbles50-e0.3": lambda: marbles(50, 0.3),
    "gas64-e1": lambda: gas(64),
}


def run(program, path, limit):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["bash", "-c", f"ulimit -t {limit}; exec '{program}' run '{path}' --json --events 0"],
                          capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (json.loads(done.stdout) if done.returncode == 0 else None), seconds, done.stderr.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stickslip", default="build/stickslip")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--write")
    parser.add_argument("names", nargs="*", metavar="NAME", default=[])
    args = parser.parse_args()
    directory = args.write or tempfile.mkdtemp()
    os.makedirs(directory, exist_ok=True)
    print(f"{'scene':18s}{'cpu s':>8s}{'steps':>7s}{'solves/step':>12s}{'rows/solve':>11s}{'solver s':>9s}"
          f"{'impacts':>9s}{'remainder':>11s}{'created':>10s}")
    for name in args.names or SCENES:
        path = os.path.join(directory, name + ".yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(SCENES[name](), file)
        out, seconds, message = run(args.stickslip, path, args.seconds)
        if not out:
            print(f"{name:18s}{seconds:8.1f}  not done {message.splitlines()[-1] if message else ''}", flush=True)
            continue
        solves, energy, steps = out["solves"], out["energy"], out["steps"]
        rows = solves.get("rows", math.nan) / max(solves["count"], 1)
        scale = max(abs(energy["initial"]), abs(energy["final"]), energy["friction_loss"] + energy["impact_loss"], 1e-300)
        print(f"{name:18s}{seconds:8.2f}{steps:7d}{solves['count'] / steps:12.1f}{rows:11.1f}{solves['seconds']:9.2f}"
              f"{out['events']['collisions']:9d}{energy['remainder'] / scale:11.1e}"
              f"{out['certificate']['energy_created'] / scale:10.1e}", flush=True)


main()
