"""Many copies of one scene, stepped on several threads."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._motion import Motions, unknown
from ._scene import Scene, count, options_text

Array = npt.NDArray[np.float64]


def _column(kind: str, name: str, names: list[str]) -> int:
    try:
        return names.index(name)
    except ValueError:
        raise unknown(kind, name, names) from None


class Batch(Motions):
    """n copies of a scene, without an end unless `duration` is given. `t` [n], `q`, `v`, `outputs` [n, ...] are views that every step renews; `inputs` [n, inputs] is written to
    before a step. Results do not depend on the number of threads. A copy whose step fails is marked in `failed` and stands still until
    it is reset; the others go on."""

    def __init__(self, scene: Scene, n: int, threads: int | None = None, **options: Any) -> None:
        if not isinstance(scene, Scene):
            raise TypeError(f"a batch is made of a stickslip.Scene, not of {type(scene).__name__}")
        self.scene = scene
        self.n = count(n, 1, "the number of copies")
        self.threads = count((os.cpu_count() or 1) if threads is None else threads, 1, "threads")
        self._core = _core.Batch(scene._model, options_text(options), n, "duration" not in options)
        self._views = [np.asarray(memoryview(view)) for view in self._core.views()]
        self.input_names = list(scene.inputs)
        self.output_names = list(scene.outputs)

    @property
    def t(self) -> Array:
        return self._views[0]

    @property
    def q(self) -> Array:
        return self._views[1]

    @property
    def v(self) -> Array:
        return self._views[2]

    @property
    def inputs(self) -> Array:
        """[n, inputs], to be written to; `batch.inputs = array` copies the numbers of an array that fits."""
        return self._views[3]

    @inputs.setter
    def inputs(self, values: npt.ArrayLike) -> None:
        self._views[3][...] = values

    @property
    def outputs(self) -> Array:
        return self._views[4]

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        return self._views[5]

    def step(self, n: int = 1, threads: int | None = None) -> None:
        """Advances all copies by n steps, with the inputs as they stand. Raises the first copy's error where one fails anew."""
        self._core.step(count(n, 0, "n"), count(self.threads if threads is None else threads, 1, "threads"))

    def input(self, name: str) -> Array:
        """The column of `inputs` with this name, to be written to."""
        return self.inputs[:, _column("input", name, self.input_names)]

    def output(self, name: str) -> Array:
        return self.outputs[:, _column("output", name, self.output_names)]

    @property
    def motions(self) -> Array:
        """[n, bodies, 13]: position, orientation (w x y z), velocity, angular velocity of the bodies' frames."""
        return np.frombuffer(self._core.motions(), dtype=np.float64).reshape(self.n, len(self.scene.bodies), 13)

    def _motions_of(self, body: str) -> Array:
        return self.motions[:, _column("body", body, self.scene.bodies)]

    def place(self, motions: npt.ArrayLike) -> None:
        """Puts the bodies of all copies where `motions` [n, bodies, 13] says. Refused like `Simulation.place`, with the copy's number;
        the copies before it have been placed then."""
        numbers = np.ascontiguousarray(motions, dtype=np.float64)
        if numbers.shape != (self.n, len(self.scene.bodies), 13):
            raise ValueError(f"motions must have the shape {(self.n, len(self.scene.bodies), 13)}, not {numbers.shape}")
        for i in range(self.n):
            self._core.place(i, numbers[i].tobytes())

    def reset(self, which: npt.ArrayLike | None = None) -> None:
        """Back to the scene's start: all copies, those of a mask, or those with these numbers."""
        chosen = np.arange(self.n) if which is None else np.atleast_1d(np.asarray(which))
        if chosen.dtype == bool and chosen.shape != (self.n,):
            raise ValueError(f"a mask of copies must have the shape ({self.n},), not {chosen.shape}")
        if chosen.dtype != bool and chosen.size and not np.issubdtype(chosen.dtype, np.integer):
            raise TypeError(f"copies are whole numbers or a mask, not of type {chosen.dtype}")
        for i in np.flatnonzero(chosen) if chosen.dtype == bool else chosen.ravel():
            self._core.reset(int(i))

    def certificate(self, copy: int) -> dict[str, Any]:
        return self._core.certificate(copy)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a batch cannot be copied or pickled: make another one of its scene, and place it")

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"<stickslip.Batch of {self.n} copies of {self.scene.name!r}, {self.threads} threads>"


def batch(scene: Scene, n: int, threads: int | None = None, **options: Any) -> Batch:
    """n copies of a scene, with any key of `simulation`."""
    return Batch(scene, n, threads, **options)
