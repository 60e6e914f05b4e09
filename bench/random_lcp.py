#!/usr/bin/env python3
"""Writes random dense LCPs of several classes to DIRECTORY, in the format of Siconos.

usage: bench/random_lcp.py DIRECTORY ROWS...
"""
import os
import sys

import numpy as np


def write(path, M, q):
    n = len(q)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{n}\n0\n{n}\n{n}\n{n} {n}\n")
        np.savetxt(file, M.T.ravel(), fmt="%.17g")
        np.savetxt(file, q, fmt="%.17g")


def solvable(source, M):
    """q of a problem that has a random solution, half of it zero."""
    z = np.where(source.random(len(M)) < 0.5, source.random(len(M)), 0)
    return np.where(z > 0, 0, source.random(len(M))) - M @ z


def classes(n, source):
    normal, one = source.standard_normal, np.eye(n)
    A, B = normal((n, n)), normal((n, n // 2))
    skew, low_rank, q = (A - A.T) / np.sqrt(n), B @ B.T / n, normal(n)
    yield "definite", A @ A.T / n + 0.1 * one, q
    yield "semidefinite", low_rank, solvable(source, low_rank)
    yield "definite-unsymmetric", one + low_rank + skew, q
    yield "semidefinite-unsymmetric", low_rank + skew, solvable(source, low_rank + skew)
    M = source.uniform(-1, 1, (n, n))
    np.fill_diagonal(M, 1.01 * np.abs(M).sum(1))
    yield "dominant-diagonal", M, q
    M = -source.random((n, n))
    np.fill_diagonal(M, 0)
    yield "z-matrix", M - np.diag(1.001 * M.sum(1) - 0.1), q
    yield "obstacle", 2 * one - np.eye(n, k=1) - np.eye(n, k=-1), 0.3 * q / n - 8 / n**2
    yield "copositive", source.random((n, n)) + 0.1 * one, -source.random(n)
    yield "copositive-sum", low_rank + 0.3 * source.random((n, n)), q
    h = 2 * n // 3
    C, D = normal((h, h)), normal((n - h, h))
    for name, Q in (("quadratic-program", C @ C.T / h), ("linear-program", np.zeros((h, h)))):
        M = np.block([[Q, -D.T], [D, np.zeros((n - h, n - h))]])
        yield name, M, solvable(source, M)
    U, _ = np.linalg.qr(A)
    M = U @ np.diag(np.logspace(-8, 0, n)) @ U.T
    yield "condition-1e8", (M + M.T) / 2, 1e-2 * q


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    for n in map(int, sys.argv[2:]):
        for name, M, q in classes(n, np.random.default_rng(n)):
            write(os.path.join(directory, f"{name}-{n}.dat"), M, q)


main()
