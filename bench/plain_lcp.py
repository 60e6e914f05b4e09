#!/usr/bin/env python3
"""Writes a problem with polyhedral friction (our format) as a plain LCP (Stewart & Trinkle), in the format of Siconos.

usage: bench/plain_lcp.py FORM PROBLEM OUT

FORM: contacts   all rows nonnegative, contact by contact: normal, directions, lambda
      grouped    all normals, then all directions, then all lambdas
      shuffled   the rows in random order, each scaled by a power of two
      mixed      a mixed LCP: velocities as free rows in front, then `grouped`
"""
import random
import sys

import numpy as np


def read(path):
    """G, g, [(first, size, directions, mu)] of a problem that has friction blocks of three rows only."""
    words = iter(open(path, encoding="utf-8").read().split())
    number = lambda: float.fromhex(next(words))
    assert [next(words) for _ in range(3)] == ["stickslip-problem", "1", "rows"]
    n, blocks = int(next(words)), []
    next(words)
    first = 0
    for _ in range(int(next(words))):
        assert next(words) == "friction"
        size, cone, directions = int(next(words)), next(words), int(next(words))
        assert cone == "polyhedral" and size == 3
        blocks.append((first, directions, number()))
        number()
        first += size
    G = np.zeros((n, n))
    if next(words) == "G":
        G[:] = [[number() for _ in range(n)] for _ in range(n)]
    else:
        for _ in range(int(next(words))):
            i, j = int(next(words)), int(next(words))
            G[i, j] = number()
    next(words)
    return G, np.array([number() for _ in range(n)]), blocks


def expansion(n, blocks):
    """z = E x with x = (normal, beta..., lambda) per contact, and the constant part of the matrix."""
    m = sum(2 + b[1] for b in blocks)
    E, K, x = np.zeros((n, m)), np.zeros((m, m)), 0
    groups = [[], [], []]
    for first, k, mu in blocks:
        turn = 2 * np.pi / k
        E[first, x] = 1
        beta = np.arange(x + 1, x + 1 + k)
        E[first + 1, beta], E[first + 2, beta] = np.cos(turn * np.arange(k)), np.sin(turn * np.arange(k))
        if k % 4 == 0:
            E[first + 1 : first + 3, beta[:: k // 4]] = np.round(E[first + 1 : first + 3, beta[:: k // 4]])
        last = x + k + 1
        K[last, x], K[last, beta], K[beta, last] = mu, -1, 1
        groups[0].append(x)
        groups[1].extend(beta)
        groups[2].append(last)
        x = last + 1
    return E, K, groups[0] + groups[1] + groups[2]


def write(path, head, M, q):
    with open(path, "w", encoding="utf-8") as file:
        rows, columns = M.shape
        file.write(f"{head}\n0\n{rows}\n{columns}\n{rows} {columns}\n")
        for column in M.T:
            file.write("\n".join(repr(float(x)) for x in column) + "\n")
        file.write("\n".join(repr(float(x)) for x in q) + "\n")


def main():
    form, source, out = sys.argv[1:]
    G, g, blocks = read(source)
    E, K, grouped = expansion(len(g), blocks)
    M, q = E.T @ G @ E + K, E.T @ g
    if form == "grouped":
        M, q = M[np.ix_(grouped, grouped)], q[grouped]
    if form == "shuffled":
        source = random.Random(1)
        order = list(range(len(q)))
        source.shuffle(order)
        scale = np.array([2.0 ** source.randint(-2, 2) for _ in order])
        M, q = scale[:, None] * M[np.ix_(order, order)], scale * q[order]
    if form != "mixed":
        write(out, f"{len(q)}", M, q)
        return
    left, values, right = np.linalg.svd(G)  # G = J K^T: masses of one, as many velocities as the rank
    keep = values > 1e-12 * values[0]
    J, K_t = left[:, keep] * np.sqrt(values[keep]), np.sqrt(values[keep])[:, None] * right[keep]
    order = np.ix_(grouped, grouped)
    M = np.block([[np.eye(len(K_t)), -(K_t @ E)[:, grouped]], [(E.T @ J)[grouped], K[order]]])
    v, m = len(K_t), len(q)
    write(out, f"0 1\n{v} {m}\n0 {v} {v + m}\n0 1", M, np.concatenate([np.zeros(v), q[grouped]]))


main()
