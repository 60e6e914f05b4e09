"""Gymnasium environments over scenes: actions are inputs, observations are outputs (pip install stickslip[gym])."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector.utils import batch_space

from ._batch import Batch, _column
from ._scene import Scene, count

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
#: From observations [n, outputs] to a number, or to true and false, for each copy.
Judgement = Callable[[Array], npt.NDArray[Any]]


class VectorEnv(gymnasium.vector.VectorEnv):
    """n copies of a scene as one vector environment. Actions [n, inputs] become inputs, clipped to `limits`; a step of the environment is
    `substeps` of the simulation; observations [n, outputs] are outputs. `reward` and `terminated` are functions of the observations, or names
    of outputs; an episode is cut after `most_steps`. `start(rng, motions)` may change the motions [n, bodies, 13] that episodes begin with. Copies
    that end (a step without a certified solution ends one, too) begin anew with the step that follows."""

    def __init__(
        self,
        scene: Scene,
        n: int = 1,
        *,
        limits: Mapping[str, tuple[float, float]],
        reward: Judgement | str,
        terminated: Judgement | str | None = None,
        observe: Sequence[str] | None = None,
        substeps: int = 1,
        most_steps: int = 1000,
        start: Callable[[np.random.Generator, Array], Array] | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        if "duration" in options:
            raise TypeError("an environment has no duration: its episodes end after most_steps")
        self.batch = Batch(scene, n, threads, **options)
        self.num_envs = n
        self._acts = [_column("input", name, list(scene.inputs)) for name in limits]
        self._sees = [_column("output", name, scene.outputs) for name in (scene.outputs if observe is None else observe)]
        self._reward = self._judgement(reward)
        self._terminated = self._judgement(terminated) if terminated is not None else lambda o: np.zeros(len(o), bool)
        self._substeps, self._most = count(substeps, 1, "substeps"), count(most_steps, 1, "most_steps")
        self._start = start
        low, high = (np.array([pair[side] for pair in limits.values()], dtype=np.float64) for side in (0, 1))
        self._low, self._high = low, high
        self.single_action_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (len(self._sees),), dtype=np.float64)
        self.action_space = batch_space(self.single_action_space, n)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}
        self._age = np.zeros(n, dtype=np.int64)
        self._over = np.zeros(n, dtype=bool)
        self._rng = np.random.default_rng()

    def _judgement(self, what: Judgement | str) -> Judgement:
        if callable(what):
            return what
        column = _column("output", what, self.batch.output_names)
        return lambda _: self.batch.outputs[:, column]

    def _observe(self) -> Array:
        return self.batch.outputs[:, self._sees].copy()

    def _begin(self, which: npt.NDArray[np.bool_]) -> None:
        self.batch.reset(which)
        self._age[which] = 0
        self._over[which] = False
        if self._start and which.any():
            motions = self._start(self._rng, self.batch.motions.copy())
            for i in np.flatnonzero(which):
                self.batch._core.place(int(i), np.ascontiguousarray(motions[i]).tobytes())

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._begin(np.ones(self.num_envs, dtype=bool))
        return self._observe(), {}

    def step(self, actions: npt.ArrayLike) -> tuple[Array, Array, Flags, Flags, dict[str, Any]]:
        begun = self._over.copy()
        clipped = np.clip(np.asarray(actions, dtype=np.float64).reshape(self.num_envs, -1), self._low, self._high)
        if not np.isfinite(clipped).all():
            raise ValueError("actions must be finite")
        self.batch.inputs[:, self._acts] = clipped
        before = self.batch.failed.copy()
        try:
            self.batch.step(self._substeps)
        except ValueError:  # a copy without a certified step: its episode ends
            if not (self.batch.failed & ~before).any():
                raise
        self._begin(begun)  # what they did in this step is nobody's: they show how they begin
        observations = self._observe()
        rewards = np.asarray(self._reward(observations), dtype=np.float64).copy()
        rewards[begun] = 0
        self._age += ~begun
        terminated = (np.asarray(self._terminated(observations)).astype(bool) | self.batch.failed) & ~begun
        truncated = (self._age >= self._most) & ~terminated
        self._over = terminated | truncated
        return observations, rewards, terminated, truncated, {"failed": self.batch.failed.copy()}


class Env(gymnasium.Env):
    """One copy as an ordinary environment; the arguments are those of VectorEnv."""

    def __init__(self, scene: Scene, **options: Any) -> None:
        self._many = VectorEnv(scene, 1, threads=1, **options)
        self.action_space = self._many.single_action_space
        self.observation_space = self._many.single_observation_space

    @property
    def batch(self) -> Batch:
        return self._many.batch

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        observations, info = self._many.reset(seed=seed)
        return observations[0], info

    def step(self, action: npt.ArrayLike) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        o, r, terminated, truncated, info = self._many.step(np.asarray(action)[None])
        self._many._over[:] = False  # whoever steps it resets it
        return o[0], float(r[0]), bool(terminated[0]), bool(truncated[0]), {"failed": bool(info["failed"][0])}
