#!/usr/bin/env python3
"""Writes random contact problems of the kinds of bench/piles.py to DIRECTORY, without a simulation: brick walls, loose
bricks, heaps of balls, boxes on many feet, stacks; at rest, pushed or falling.

usage: bench/contacts.py DIRECTORY SEEDS [CONE...]        CONE: quadratic, mixed, or a number of directions; default: all
       bench/contacts.py DIRECTORY FROM:TO --contacts N,... [CONE...]

SEEDS: so many of each kind; FROM:TO: walls, loose bricks and heaps with these seeds, N contacts each, moved in all three ways.

Each is w = G z + g with G = J M^-1 J^T and g = J v, v the velocity at the end of a step without impulses.
"""
import math
import os
import random
import sys

STEP, GRAVITY = 0.01, 9.81


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


class World:
    """Bodies (mass, moments of inertia about the axes, position) and contacts (body, other body or None, point, normal)."""

    def __init__(self, rng):
        self.rng, self.bodies, self.contacts = rng, [], []

    def brick(self, position, size, density=1000.0):
        a, b, c = size
        m = density * a * b * c
        self.bodies.append((m, [m * (b * b + c * c) / 12, m * (a * a + c * c) / 12, m * (a * a + b * b) / 12], position))
        return len(self.bodies) - 1

    def ball(self, position, radius, density=1000.0):
        m = density * 4 / 3 * math.pi * radius**3
        self.bodies.append((m, [0.4 * m * radius * radius] * 3, position))
        return len(self.bodies) - 1

    def touch(self, body, other, point, normal):
        self.contacts.append((body, other, point, normal))

    def rows(self):
        """Per contact the Jacobian blocks {body: 3 x 6}, the tangents at a random angle."""
        out = []
        for body, other, point, n in self.contacts:
            axis = [1.0, 0, 0] if abs(n[0]) < 0.6 else [0, 1.0, 0]
            t = cross(n, axis)
            length = math.sqrt(sum(x * x for x in t))
            t = [x / length for x in t]
            b = cross(n, t)
            angle = self.rng.uniform(0, 2 * math.pi)
            c, s = math.cos(angle), math.sin(angle)
            frame = [n, [c * x + s * y for x, y in zip(t, b)], [c * y - s * x for x, y in zip(t, b)]]
            blocks = {}
            for which, sign in ((body, 1), (other, -1)):
                if which is None:
                    continue
                arm = [p - q for p, q in zip(point, self.bodies[which][2])]
                blocks[which] = [[sign * x for x in d + cross(arm, d)] for d in frame]
            out.append(blocks)
        return out


def wall(rng, rows, columns, jitter):
    w = World(rng)
    last, sx, sy, sz = [], 0.2, 0.1, 0.1
    for r in range(rows):
        row = []
        for c in range(columns - r % 2):
            x = (c + 0.5 * (r % 2)) * (sx + 0.004 * (jitter > 0)) + rng.uniform(-jitter, jitter)
            y = rng.uniform(-jitter, jitter)
            row.append((w.brick([x, y, sz * (r + 0.5)], [sx, sy, sz]), x, y))
        for body, x, y in row:
            if not last:
                for dx in (-sx / 2, sx / 2):
                    for dy in (-sy / 2, sy / 2):
                        w.touch(body, None, [x + dx, y + dy, 0], [0.0, 0, 1.0])
            for under, ux, uy in last:
                lo, hi = max(x, ux) - sx / 2, min(x, ux) + sx / 2
                front, back = max(y, uy) - sy / 2, min(y, uy) + sy / 2
                if hi - lo < 1e-6 or back - front < 1e-6:
                    continue
                for px in (lo, hi):
                    for py in (front, back):
                        w.touch(body, under, [px, py, sz * r], [0.0, 0, 1.0])
        if jitter == 0:  # neighbours touch with their faces
            for (a, x, y), (b, _, _) in zip(row, row[1:]):
                for dy in (-sy / 2, sy / 2):
                    for dz in (-sz / 2, sz / 2):
                        w.touch(b, a, [x + sx / 2, y + dy, sz * (r + 0.5) + dz], [1.0, 0, 0])
        last = row
    return w


def feet(rng, side):
    w = World(rng)
    w.brick([0, 0, 0.1], [0.2, 0.2, 0.2])
    for i in range(side):
        for j in range(side):
            w.touch(0, None, [0.2 * (i / (side - 1) - 0.5), 0.2 * (j / (side - 1) - 0.5), 0], [0.0, 0, 1.0])
    return w


def stack(rng, count, ratio):
    w = World(rng)
    for k in range(count):
        w.brick([0, 0, 0.1 + 0.2 * k], [0.2, 0.2, 0.2], 1000 * ratio ** (k / max(count - 1, 1)))
        for dx in (-0.1, 0.1):
            for dy in (-0.1, 0.1):
                w.touch(k, k - 1 if k else None, [dx, dy, 0.2 * k], [0.0, 0, 1.0])
    return w


def heap(rng, base, jitter):
    w, balls = World(rng), []
    for level in range(base):
        for i in range(base - level):
            for j in range(base - level):
                p = [0.05 * level + 0.1 * i, 0.05 * level + 0.1 * j, 0.05 + 0.1 * level * math.sqrt(0.5)]
                p = [x + rng.uniform(-jitter, jitter) for x in p]
                balls.append((w.ball(p, 0.05), p))
    for k, (a, p) in enumerate(balls):
        for axis, sign, offset in ((2, 1.0, 0.0), (0, 1.0, -0.05), (0, -1.0, 0.1 * base - 0.05), (1, 1.0, -0.05),
                                   (1, -1.0, 0.1 * base - 0.05)):
            if sign * (p[axis] - offset) - 0.05 < 1e-3:
                point = list(p)
                point[axis] = offset
                normal = [0.0, 0.0, 0.0]
                normal[axis] = sign
                w.touch(a, None, point, normal)
        for b, q in balls[:k]:
            d = [x - y for x, y in zip(p, q)]
            length = math.sqrt(sum(x * x for x in d))
            if length < 0.1 + 1e-3:
                w.touch(a, b, [(x + y) / 2 for x, y in zip(p, q)], [x / length for x in d])
    return w


def kinds(rng):
    return {
        "box-4": lambda: feet(rng, 2), "box-16": lambda: feet(rng, 4), "box-100": lambda: feet(rng, 10),
        "stack-2": lambda: stack(rng, 2, 1), "stack-5": lambda: stack(rng, 5, 1), "stack-10": lambda: stack(rng, 10, 1),
        "stack-10-ratio": lambda: stack(rng, 10, 1e3), "stack-50": lambda: stack(rng, 50, 1),
        "wall-2": lambda: wall(rng, 2, 2, 0), "wall-3": lambda: wall(rng, 3, 3, 0), "wall-4": lambda: wall(rng, 4, 3, 0),
        "wall-6": lambda: wall(rng, 6, 4, 0),
        "loose-2": lambda: wall(rng, 2, 2, 1e-3), "loose-3": lambda: wall(rng, 3, 3, 1e-3),
        "loose-4": lambda: wall(rng, 4, 4, 1e-3), "loose-6": lambda: wall(rng, 6, 5, 1e-3),
        "heap-2": lambda: heap(rng, 2, 1e-4), "heap-3": lambda: heap(rng, 3, 1e-4), "heap-4": lambda: heap(rng, 4, 1e-4),
    }


def cut(world, count):
    """Its first contacts, from the ground up, and the bodies that have some."""
    del world.contacts[count:]
    used = sorted({b for contact in world.contacts for b in contact[:2] if b is not None})
    number = {b: k for k, b in enumerate(used)}
    world.bodies = [world.bodies[b] for b in used]
    world.contacts = [(number[a], None if b is None else number[b], *rest) for a, b, *rest in world.contacts]
    return world


def sized(rng, name, count):
    """Of the given number of contacts: low and wide or narrow and tall."""
    columns, rows = rng.randint(2, 6), 2
    while True:
        world = heap(rng, rows, 1e-4) if name == "heap" else wall(rng, rows, columns, 1e-3 if name == "loose" else 0)
        if len(world.contacts) >= count:
            return cut(world, count)
        rows += 1


def motion(rng, world, how):
    v = []
    for _ in world.bodies:
        push = {"rest": 0.0, "pushed": 0.02, "hit": 1.0}[how]
        v.append([rng.uniform(-push, push) for _ in range(3)] + [5 * rng.uniform(-push, push) for _ in range(3)])
        v[-1][2] -= STEP * GRAVITY
    if how == "pushed":
        for k in range(len(v)):
            v[k][0] += 0.06
    return v


def problem(rng, world, how, cone, mu):
    rows, v = world.rows(), motion(rng, world, how)
    count = len(rows)
    meets = {}
    for k, blocks in enumerate(rows):
        for b in blocks:
            meets.setdefault(b, []).append(k)
    G = [[0.0] * (3 * count) for _ in range(3 * count)]
    g = [0.0] * (3 * count)
    for k, blocks in enumerate(rows):
        for b, J in blocks.items():
            m, inertia, _ = world.bodies[b]
            inverse = [1 / m] * 3 + [1 / x for x in inertia]
            A = [[x * y for x, y in zip(line, inverse)] for line in J]
            for i in range(3):
                g[3 * k + i] += sum(x * y for x, y in zip(J[i], v[b]))
            for l in meets[b]:
                other = rows[l][b]
                for i in range(3):
                    for j in range(3):
                        G[3 * k + i][3 * l + j] += sum(x * y for x, y in zip(A[i], other[j]))
    lines = ["stickslip-problem 1", f"rows {3 * count}", f"blocks {count}"]
    for k in range(count):
        own = rng.choice(["quadratic", "4", "8", "12"]) if cone == "mixed" else cone
        kind = "quadratic 8" if own == "quadratic" else f"polyhedral {own}"
        lines.append(f"friction 3 {kind} {(rng.uniform(0, 2) if mu is None else mu).hex()} 0x0p+0")
    lines.append("G")
    lines += [" ".join(x.hex() for x in line) for line in G]
    lines += ["g", " ".join(x.hex() for x in g)]
    return "\n".join(lines) + "\n"


def write(directory, name, text):
    with open(os.path.join(directory, f"{name}.cp"), "w", encoding="utf-8") as file:
        file.write(text)


def write_kinds(directory, seeds, cones):
    for seed in range(seeds):
        for name in kinds(None):
            for cone in cones or ["4", "8", "12", "quadratic", "mixed"]:
                rng = random.Random(f"{name} {cone} {seed}")
                how = rng.choice(["rest", "pushed", "hit"])
                mu = rng.choice([0.0, 0.1, 0.3, 0.5, 0.8, 2.0, None])
                write(directory, f"{name}-{how}-{seed}-{cone}", problem(rng, kinds(rng)[name](), how, cone, mu))


def write_sized(directory, seeds, counts, cones):
    for seed in seeds:
        for count in counts:
            for name in ("wall", "loose", "heap"):
                for how in ("rest", "pushed", "hit"):
                    for cone in cones or ["4", "8", "quadratic"]:
                        rng = random.Random(f"{count} {name} {how} {cone} {seed}")
                        mu = rng.choice([0.1, 0.3, 0.5, 0.8])
                        world = sized(rng, name, count)
                        write(directory, f"{count}-{name}-{how}-{seed}-{cone}", problem(rng, world, how, cone, mu))


def main():
    directory, seeds, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(directory, exist_ok=True)
    if rest[:1] == ["--contacts"]:
        first, last = (int(x) for x in seeds.split(":"))
        write_sized(directory, range(first, last + 1), [int(x) for x in rest[1].split(",")], rest[2:])
    else:
        write_kinds(directory, int(seeds), rest)


main()
