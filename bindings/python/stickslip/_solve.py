"""Complementarity problems alone: w = G z + g, each block of (z, w) in its declared relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core

_KINDS = {"free": 0, "nonnegative": 1, "box": 2, "friction": 3}
#: What the numbers of ("box", 0, 1) and so on mean.
_NUMBERS = {"box": ("lower", "upper"), "friction": ("size", "mu")}
_NEEDED = {"box": ("lower", "upper"), "friction": ("mu",)}
_CONES = {"polyhedral": 0, "pyramid": 1, "quadratic": 2}

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Solution:
    """`status` is "solved" only if the judge, which shares no code with any solver, accepts z; `residual` is what it says."""

    z: Array
    w: Array
    status: str
    residual: float
    solver: str
    iterations: int
    seconds: float
    no_solution: bool

    @property
    def solved(self) -> bool:
        return self.status == "solved"


def _block(block: Any) -> tuple[int, int, float, float, int, int, float, float]:
    if isinstance(block, str):
        block = {"kind": block}
    if isinstance(block, Sequence) and block:
        kind, *numbers = block
        more = dict(numbers.pop()) if numbers and isinstance(numbers[-1], Mapping) else {}
        words = _NUMBERS.get(kind, ("size",))
        if len(numbers) > len(words):
            raise ValueError(f"too many numbers in {block!r}: a block of kind {kind} has {', '.join(words)}")
        block = {"kind": kind} | dict(zip(words, numbers)) | more
    if not isinstance(block, Mapping) or block.get("kind") not in _KINDS:
        raise ValueError(f"a block is one of {', '.join(_KINDS)} with a size, not {block!r}")
    unknown = set(block) - {"kind", "size", "lower", "upper", "cone", "directions", "mu", "extra"}
    if unknown:
        raise ValueError(f"a block has no {', '.join(sorted(unknown))}")
    kind = str(block["kind"])
    for word in _NEEDED.get(kind, ()):
        if word not in block:
            raise ValueError(f"a block of kind {kind} needs {word}: {block!r}")
    cone = str(block.get("cone", "quadratic"))
    if cone not in _CONES:
        raise ValueError(f"a cone is one of {', '.join(_CONES)}, not {cone!r}")
    size = block.get("size", 3 if kind == "friction" else 1)
    if not isinstance(size, (int, float, np.number)) or size != int(size) or size < 1:
        raise ValueError(f"the size of a block is a whole number from 1 on, not {size!r}")
    return (
        _KINDS[kind],
        int(size),
        float(block.get("lower", -np.inf)),
        float(block.get("upper", np.inf)),
        _CONES[cone],
        int(block.get("directions", 8)),
        float(block.get("mu", 0)),
        float(block.get("extra", 0)),
    )


def solve(
    G: Any,
    g: npt.ArrayLike,
    blocks: Sequence[Any] | None = None,
    *,
    solver: str = "auto",
    tolerance: float | None = None,
    iteration_limit: int = 0,
    guess: npt.ArrayLike | None = None,
) -> Solution:
    """Solves w = G z + g. G is a matrix of numpy or of scipy.sparse. Blocks follow one another over all rows; without any the problem
    is a linear complementarity problem. A block is ("free", n), ("nonnegative", n), ("box", lower, upper), ("friction", n, mu) or
    ("friction", n, mu, {"cone": "polyhedral", "directions": 8}), or a dictionary with these words as keys."""
    if np.iscomplexobj(G) or np.iscomplexobj(g):
        raise TypeError("G and g must be real")
    if isinstance(blocks, (str, Mapping)) or (isinstance(blocks, Sequence) and len(blocks) > 1 and blocks[0] in ("box", "friction")):
        raise ValueError(f"blocks are a list of blocks, as [('friction', 3, 0.5)], not {blocks!r}")
    if solver not in _core.solvers():
        raise ValueError(f"there is no solver {solver!r} (there are {', '.join(_core.solvers())})")
    vector = np.ascontiguousarray(g, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError("g must be a vector")
    n = len(vector)
    indptr = indices = b""
    if hasattr(G, "tocsr"):
        matrix = G.tocsr().astype(np.float64)
        matrix.sum_duplicates()
        matrix.sort_indices()
        shape, values = matrix.shape, np.ascontiguousarray(matrix.data)
        if shape == (n, n) and (len(matrix.indptr) != n + 1 or not 0 <= matrix.indptr[-1] <= min(len(values), len(matrix.indices))):
            raise ValueError("G is no sound sparse matrix: its index pointers do not fit its numbers")
        indptr = np.ascontiguousarray(matrix.indptr, dtype=np.intc).tobytes()
        indices = np.ascontiguousarray(matrix.indices, dtype=np.intc).tobytes()
    else:
        values = np.ascontiguousarray(G, dtype=np.float64)
        shape = values.shape
    if shape != (n, n):
        raise ValueError(f"G must be {n} x {n}, as g has {n} numbers, not of shape {shape}")
    rows = [("nonnegative", n)] if blocks is None else list(blocks)
    parsed = [_block(block) for block in rows] if n else []
    if sum(block[1] for block in parsed) != n:
        raise ValueError(f"the blocks have {sum(block[1] for block in parsed)} rows together, the problem has {n}")
    start = np.zeros(0) if guess is None else np.ascontiguousarray(guess, dtype=np.float64)
    if guess is not None and (start.shape != (n,) or not np.isfinite(start).all()):
        raise ValueError(f"the guess must be {n} finite numbers")
    if tolerance is not None and not 0 < tolerance < np.inf:
        raise ValueError(f"the tolerance must be positive and finite, not {tolerance}")
    if iteration_limit < 0:
        raise ValueError(f"the iteration limit must not be negative, not {iteration_limit}")
    answer = _core.solve(
        n, values.tobytes(), indptr, indices, vector.tobytes(), parsed, solver, tolerance or 0.0, iteration_limit, start.tobytes()
    )
    z = np.frombuffer(answer.pop("z"), dtype=np.float64)
    w = np.frombuffer(answer.pop("w"), dtype=np.float64)
    return Solution(z=z, w=w, **answer)
