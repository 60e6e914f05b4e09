"""Scenes and simulations."""

from __future__ import annotations

import json
import operator
import os
import tempfile
from collections.abc import Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import Error
from ._motion import PARTS, unknown
from ._result import Result

Vector = npt.ArrayLike
Array = npt.NDArray[np.float64]

#: The type of `Simulation.contacts()`: `force` is `impulse` over the length of the last step, both on `body[0]`; -1 is the world.
CONTACT = np.dtype(
    [
        ("body", "<i4", 2),
        ("point", "<f8", 3),
        ("normal", "<f8", 3),
        ("gap", "<f8"),
        ("force", "<f8", 3),
        ("impulse", "<f8", 3),
        ("friction", "<f8"),
        ("stuck", "?"),
        ("padding", "u1", 7),
    ]
)


def options_text(options: Mapping[str, Any]) -> str:
    """Keys of `simulation` as the library reads them."""

    def plain(value: Any) -> Any:
        if isinstance(value, (np.generic, np.ndarray)):
            return value.tolist()
        if isinstance(value, (set, frozenset)):
            return sorted(value)
        raise TypeError(f"{type(value).__name__} is no number, text, list or mapping: {value!r}")

    for name, value in options.items():
        if value is None:
            raise TypeError(f"{name} must not be None: leave it out for what the scene says")
    return json.dumps(dict(options), default=plain)


def count(n: Any, least: int, what: str) -> int:
    """A whole number from `least` on."""
    number = operator.index(n)
    if number < least:
        raise ValueError(f"{what} must be at least {least}, not {number}")
    return number


class Scene:
    """A scene, compiled, which nothing changes any more. `Scene.load("x.yaml", mu=0.3)` reads a file, `Scene.from_text(text, mu=0.3)`
    a text; what follows are values of declared parameters and defaults of inputs, numbers or expressions."""

    name: str
    text: str
    settings: Mapping[str, Any]
    bodies: list[str]
    joints: list[str]
    inputs: Mapping[str, float]
    outputs: list[str]
    parameters: Mapping[str, float]
    step: float
    duration: float
    _model: _core.Model
    _joints: list[tuple[str, bool, bool]]
    _file: str
    _title: str

    def __init__(self, model: _core.Model, text: str, settings: Mapping[str, Any], file: str = "", name: str = "") -> None:
        names = model.names()
        self.__dict__.update(
            _model=model,
            _file=file,
            _title=name,
            _joints=names["joints"],
            text=text,
            settings=MappingProxyType(dict(settings)),
            name=names["name"],
            bodies=names["bodies"],
            joints=[joint for joint, _, _ in names["joints"]],
            inputs=MappingProxyType(dict(names["inputs"])),
            outputs=names["outputs"],
            parameters=MappingProxyType(dict(names["parameters"])),
            step=names["step"],
            duration=names["duration"],
        )

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"a scene does not change: load it with other parameters, or give options to simulation() and run(), not {name}"
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], /, **settings: Any) -> Scene:
        file = os.fsdecode(path)
        if "\n" in file:
            raise ValueError("a path is expected, not a text: Scene.from_text reads texts")
        model = _core.Model(file, file, True, _settings(settings))
        with open(file, encoding="utf-8") as stream:
            return cls(model, stream.read(), settings, file=file)

    @classmethod
    def from_text(cls, text: str, /, name: str = "scene", **settings: Any) -> Scene:
        if not isinstance(text, str):
            raise TypeError(f"a scene's text is a str, not {type(text).__name__}; files are read by Scene.load")
        if text.endswith((".yaml", ".yml", ".json")) and "\n" not in text:
            raise ValueError("a text is expected, not a path: Scene.load reads files")
        return cls(_core.Model(text, name, False, _settings(settings)), text, settings, name=name)

    def __reduce__(self) -> tuple[Any, ...]:  # for processes of a pool: compiled again there, files are read again
        if self._file:
            return _load, (os.path.abspath(self._file), dict(self.settings))
        return _from_text, (self.text, self._title, dict(self.settings))

    def simulation(self, **options: Any) -> Simulation:
        """A simulation, with any key of the section `simulation` instead of the scene's. Without `duration` it has no end."""
        return Simulation(self, _core.Sim(self._model, options_text(options), "duration" not in options), options)

    def run(self, *, every: int = 1, inputs: Mapping[str, float] | None = None, **options: Any) -> Result:
        """Simulates to the end (`duration`) and returns what happened, every n-th step of it. Where no certified step is possible, the
        error's `result` is what there is so far."""
        sim = Simulation(self, _core.Sim(self._model, options_text(options), False), options)
        for name, value in (inputs or {}).items():
            sim.inputs[name] = value

        def result(numbers: bytes, width: int) -> Result:
            rows = np.frombuffer(numbers, dtype=np.float64).reshape(-1, width)
            return Result(self, sim, rows, options, dict(inputs or {}))

        try:
            return result(*sim._core.record(count(every, 1, "every")))
        except Error as error:
            recorded = vars(error).pop("recorded", None)
            if recorded:
                error.result = result(*recorded)
            raise

    def _repr_html_(self) -> str:
        return page_frame(self.simulation(), False)

    def __repr__(self) -> str:
        return f"<stickslip.Scene {self.name!r}: {len(self.bodies)} bodies, {len(self.joints)} joints>"


def _load(file: str, settings: Mapping[str, Any]) -> Scene:
    return Scene.load(file, **settings)


def _from_text(text: str, name: str, settings: Mapping[str, Any]) -> Scene:
    return Scene.from_text(text, name=name, **settings)


def _settings(settings: Mapping[str, Any]) -> list[str]:
    def text(name: str, value: Any) -> str:
        if isinstance(value, str):
            return value
        try:
            return format(float(value), ".17g")
        except (TypeError, ValueError):
            raise TypeError(f"{name} must be a number or an expression, not {value!r}") from None

    return [f"{name}={text(name, value)}" for name, value in settings.items()]


def page_frame(sim: Simulation, steps: bool) -> str:
    """The page in a frame, for notebooks; where the library has no viewer, a line that says so."""
    import html

    try:
        return f'<iframe srcdoc="{html.escape(page_of(sim, steps))}" style="width:100%;height:560px;border:0"></iframe>'
    except Error as error:
        return f"<pre>{html.escape(repr(sim.scene))}\n{html.escape(error.message)}</pre>"


def page_of(sim: Simulation, steps: bool) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        sim._core.page(path, steps)
        with open(path, encoding="utf-8") as stream:
            return stream.read()


class Inputs(MutableMapping[str, float]):
    """The inputs of a simulation by name. A value holds until it is changed."""

    def __init__(self, names: list[str], core: _core.Sim) -> None:
        self._index = {name: i for i, name in enumerate(names)}
        self._core = core

    def __getitem__(self, name: str) -> float:
        try:
            return self._core.input(self._index[name])
        except KeyError:
            raise unknown("input", name, list(self._index)) from None

    def __setitem__(self, name: str, value: float) -> None:
        try:
            self._core.set_input(self._index[name], value)
        except KeyError:
            raise unknown("input", name, list(self._index)) from None

    def __delitem__(self, name: str) -> None:
        raise TypeError("inputs cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return repr(dict(self))


class Outputs(Mapping[str, float]):
    """The outputs of a simulation by name, at the present state."""

    def __init__(self, names: list[str], core: _core.Sim) -> None:
        self._index = {name: i for i, name in enumerate(names)}
        self._core = core

    def __getitem__(self, name: str) -> float:
        try:
            return self._core.output(self._index[name])
        except KeyError:
            raise unknown("output", name, list(self._index)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return repr(dict(self))


class Body:
    """A body's own frame (not its centre of mass), in the world's axes. Setting a property puts the body there, if its joints hold
    then and nothing overlaps; several bodies at once: `Simulation.place`."""

    __slots__ = ("_index", "_sim", "name")

    def __init__(self, sim: Simulation, index: int, name: str) -> None:
        self._sim = sim
        self._index = index
        self.name = name

    def _motion(self) -> Array:
        return np.frombuffer(self._sim._core.motion(self._index), dtype=np.float64)

    def _part(self, part: str) -> Array:
        first, width = PARTS[part]
        return self._motion()[first : first + width]

    def _place(self, part: str, value: Vector) -> None:
        self._sim.place({self.name: {part: value}})

    @property
    def position(self) -> Array:
        return self._part("position")

    @position.setter
    def position(self, value: Vector) -> None:
        self._place("position", value)

    @property
    def orientation(self) -> Array:
        """Unit quaternion w, x, y, z."""
        return self._part("orientation")

    @orientation.setter
    def orientation(self, value: Vector) -> None:
        self._place("orientation", value)

    @property
    def velocity(self) -> Array:
        return self._part("velocity")

    @velocity.setter
    def velocity(self, value: Vector) -> None:
        self._place("velocity", value)

    @property
    def angular_velocity(self) -> Array:
        return self._part("angular_velocity")

    @angular_velocity.setter
    def angular_velocity(self, value: Vector) -> None:
        self._place("angular_velocity", value)

    def apply(self, force: Vector = (0, 0, 0), torque: Vector = (0, 0, 0)) -> None:
        """A force at the frame's origin and a torque, in the next step only."""
        self._sim._core.apply(self._index, *_vector(force, 3), *_vector(torque, 3))

    def __repr__(self) -> str:
        return f"<stickslip.Body {self.name!r} at {self.position}>"


def _vector(value: Vector, width: int) -> Array:
    numbers = np.asarray(value, dtype=np.float64)
    if numbers.shape != (width,):
        raise ValueError(f"expected {width} numbers, not an array of shape {numbers.shape}")
    return numbers


class Joint:
    """A joint. `position` and `speed` are NAN for types without such a coordinate; `force` is its motor's."""

    __slots__ = ("_core", "_index", "name")

    def __init__(self, sim: Simulation, index: int, name: str) -> None:
        self._core = sim._core
        self._index = index
        self.name = name

    @property
    def position(self) -> float:
        return self._core.joint(self._index, 0)

    @property
    def speed(self) -> float:
        return self._core.joint(self._index, 1)

    @property
    def force(self) -> float:
        return self._core.joint(self._index, 2)

    @property
    def reaction(self) -> Array:
        """Force on the first body, mean over the last step."""
        return np.array(self._core.reaction(self._index)[0])

    @property
    def moment(self) -> Array:
        """Moment on the first body about the joint's anchor, mean over the last step."""
        return np.array(self._core.reaction(self._index)[1])

    def __repr__(self) -> str:
        return f"<stickslip.Joint {self.name!r}>"


class Simulation:
    """A simulation that is stepped from here. `q` and `v` are read-only views of the state (7 numbers per body: centre of mass,
    orientation w x y z; velocity coordinates), valid as long as the simulation or the view lives."""

    __slots__ = ("__weakref__", "_core", "_inputs", "_options", "_outputs", "_q", "_scene", "_v")

    def __init__(self, scene: Scene, core: _core.Sim, options: Mapping[str, Any]) -> None:
        self._scene = scene
        self._core = core
        self._options = dict(options)
        q, v = core.views()
        self._q: Array = np.asarray(memoryview(q))
        self._v: Array = np.asarray(memoryview(v))
        self._inputs = Inputs(list(scene.inputs), core)
        self._outputs = Outputs(scene.outputs, core)

    @property
    def scene(self) -> Scene:
        return self._scene

    @property
    def q(self) -> Array:
        return self._q

    @property
    def v(self) -> Array:
        return self._v

    @property
    def inputs(self) -> Inputs:
        return self._inputs

    @property
    def outputs(self) -> Outputs:
        return self._outputs

    def step(self, n: int = 1) -> None:
        """Advances by n steps. The GIL is released meanwhile; Ctrl-C ends it with the state before the step that was begun."""
        self._core.step(n)

    def __reduce__(self) -> tuple[Any, ...]:
        return _resume, (self.scene, self._options, self.save())

    @property
    def t(self) -> float:
        return self._core.t

    @property
    def steps(self) -> int:
        """Steps done."""
        return self._core.steps

    @property
    def done(self) -> bool:
        """Whether the duration is reached."""
        return self._core.done

    def body(self, name: str) -> Body:
        try:
            return Body(self, self.scene.bodies.index(name), name)
        except ValueError:
            raise unknown("body", name, self.scene.bodies) from None

    def joint(self, name: str) -> Joint:
        try:
            return Joint(self, self.scene.joints.index(name), name)
        except ValueError:
            raise unknown("joint", name, self.scene.joints) from None

    def place(self, bodies: Mapping[str, Mapping[str, Vector]]) -> None:
        """Puts bodies elsewhere, all at once: {"arm": {"position": ..., "orientation": ..., "velocity": ...,
        "angular_velocity": ...}}; what is left out stays. Error, and nothing has changed, where joints would not hold or shapes
        would overlap."""
        indices, motions = [], []
        for name, changes in bodies.items():
            body = self.body(name)
            motion = body._motion().copy()
            for part, value in changes.items():
                if part not in PARTS:
                    raise unknown("part of a motion", part, list(PARTS))
                first, width = PARTS[part]
                motion[first : first + width] = _vector(value, width)
            indices.append(body._index)
            motions.append(motion)
        self._core.place(np.array(indices, dtype=np.intc).tobytes(), np.array(motions, dtype=np.float64).tobytes())

    def contacts(self) -> np.ndarray:
        """The contacts with the forces of the last step, as an array of type `stickslip.CONTACT`."""
        return np.frombuffer(self._core.contacts(), dtype=CONTACT)

    def save(self) -> bytes:
        """The state, with everything that is needed to go on bit by bit as if nothing had happened."""
        return self._core.save()

    def restore(self, state: bytes | bytearray | memoryview) -> None:
        """Goes back to a state that this simulation, or one of the same scene, scheme and step, has saved."""
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise TypeError(f"a state is what save() returns, not {type(state).__name__}")
        self._core.restore(bytes(state))

    @property
    def certificate(self) -> dict[str, Any]:
        return self._core.certificate

    @property
    def energy(self) -> dict[str, float]:
        return self._core.energy

    @property
    def events(self) -> dict[str, Any]:
        return self._core.events

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(repr(self))}</pre>"

    def __repr__(self) -> str:
        return f"<stickslip.Simulation of {self.scene.name!r} at t = {self.t:g}, {self.steps} steps>"


def _resume(scene: Scene, options: Mapping[str, Any], state: bytes) -> Simulation:
    sim = scene.simulation(**options)
    sim.restore(state)
    return sim
