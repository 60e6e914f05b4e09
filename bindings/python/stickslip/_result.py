"""What a run has recorded."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._motion import PARTS, Motions, unknown

if TYPE_CHECKING:
    from ._scene import Scene, Simulation

MOTION = ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")
ENERGY = (
    "kinetic",
    "potential",
    "elastic",
    "total",
    "work",
    "friction_loss",
    "impact_loss",
    "damping_loss",
    "remainder",
    "stabilization",
)
#: More bodies than these share the datasets /motion/position and so on.
BODIES_APART = 256
JOINT = ("position", "speed", "force", "fx", "fy", "fz", "mx", "my", "mz")

Array = npt.NDArray[np.float64]


def _texts(file: Any, path: str, texts: list[str] | str) -> None:
    """Texts of fixed size with room for their end, as the program's readers want them."""
    import h5py

    coded = [text.encode() for text in ([texts] if isinstance(texts, str) else texts)]
    kind = h5py.string_dtype("utf-8", max(map(len, coded), default=0) + 1)
    file.create_dataset(path, data=np.array(coded[0] if isinstance(texts, str) else coded, dtype=kind))


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")


def _quoted(name: str) -> str:
    """A field of a CSV file."""
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"\r\n') else name


class Result(Motions):
    """A run: `time`, columns by the names of CSV files (`result["hand.x"]`, `"energy.total"`, outputs, `"elbow.position"`), and the
    dictionaries of `run --json`. In a notebook it shows the page."""

    def __init__(
        self, scene: Scene, sim: Simulation, rows: Array, options: Mapping[str, Any], inputs: Mapping[str, float]
    ) -> None:
        self.scene = scene
        self._rows = rows
        self._options = dict(options)
        self._inputs = dict(inputs)
        self.certificate = sim.certificate
        self.energy = sim.energy
        self.events = sim.events
        self.steps = sim.steps
        self._made_with: dict[str, Any] = sim._core.options | {"version": _core.version()}
        self.columns: dict[str, int] = {"t": 0}
        for body in scene.bodies:
            self._name(f"{body}.{part}" for part in MOTION)
        self._name(f"energy.{part}" for part in ENERGY)
        self._name(scene.outputs)
        for joint, has_position, has_motor in scene._joints:
            for part in JOINT:
                there = has_position if part in ("position", "speed") else has_motor if part == "force" else True
                self._name([f"{joint}.{part}"] if there else [None])

    def _name(self, names: Any) -> None:
        for name in names:
            index = self._next = getattr(self, "_next", 0) + 1
            if name is not None:
                self.columns[name] = index

    @property
    def time(self) -> Array:
        return self._rows[:, 0]

    def __getitem__(self, name: str) -> Array:
        try:
            return self._rows[:, self.columns[name]]
        except KeyError:
            group = str(name).split(".")[0]  # of a body, a joint or the energy: all that there is of it
            its = [column for column in self.columns if column.startswith(group + ".")]
            raise (KeyError(f"there is no column '{name}' (there are {', '.join(its)})") if its else
                   unknown("column", name, list(self.columns))) from None

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def keys(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def _motions_of(self, body: str) -> Array:
        if body not in self.scene.bodies:
            raise unknown("body", body, self.scene.bodies)
        first = self.columns[f"{body}.x"]
        return self._rows[:, first : first + len(MOTION)]

    def to_xarray(self) -> Any:
        """An xarray.Dataset with the coordinate t."""
        import xarray

        data = {name: ("t", self[name]) for name in self.columns if name != "t"}
        return xarray.Dataset(data, coords={"t": self.time}, attrs={"scene": self.scene.name})

    def to_pandas(self) -> Any:
        """A pandas.DataFrame whose index is t."""
        import pandas

        data = {name: self[name] for name in self.columns if name != "t"}
        return pandas.DataFrame(data, index=pandas.Index(self.time, name="t"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes what the name's end says: .h5 or .hdf5 in the layout of `stickslip run -o` (needs h5py), .csv, or .html, the page."""
        end = os.path.splitext(path)[1].lower()
        if end == ".html":
            with open(path, "w", encoding="utf-8") as page:
                page.write(self.page())
            return
        if end == ".csv":
            header = ",".join(_quoted(name) for name in self.columns)
            np.savetxt(path, self._rows[:, list(self.columns.values())], "%.17g", ",", header=header, comments="")
            return
        if end not in (".h5", ".hdf5", ".hdf"):
            raise ValueError(f"results are saved as .h5, .csv or .html, not as {end or 'a file without an ending'}: {os.fspath(path)}")
        import h5py

        with h5py.File(path, "w") as file:
            self._write(file)

    def _write(self, file: Any) -> None:
        attributes = {"format": "stickslip result 1", "scene_name": self.scene.name, "complete": 1} | self._made_with
        for name, value in attributes.items():
            file.attrs[name] = value
        run = json.dumps({key: self._made_with[key] for key in ("scheme", "solver", "version")})
        for name, text in (("scene", self.scene.text), ("model", self.scene._model.json()), ("run", run)):
            _texts(file, name, text)
        file["time"] = self.time
        bodies = self.scene.bodies
        _texts(file, "body_names", bodies)
        apart = bodies if len(bodies) <= BODIES_APART else []
        for index, body in enumerate(apart):
            group = file.create_group("bodies/" + _escaped(body))
            group.attrs["name"] = body
            group.attrs["index"] = index
            for part in PARTS:
                group[part] = self._part(body, part)
        if not apart:
            motions = self._rows[:, 1 : 1 + len(MOTION) * len(bodies)].reshape(len(self), len(bodies), len(MOTION))
            for part, (first, width) in PARTS.items():
                file[f"motion/{part}"] = motions[:, :, first : first + width]
        for part in ENERGY:
            file[f"energy/{part}"] = self[f"energy.{part}"]
        certificate = file.create_group("certificate")
        for name, value in self.certificate.items():
            if name != "doubts":
                certificate.attrs[name] = value if isinstance(value, float) else int(value)
        doubts = certificate.create_group("doubts")
        for doubt in self.certificate["doubts"]:
            doubts.attrs[doubt["code"]] = doubt["number"]
        listed = self.events["list"]
        number = {name: i for i, name in enumerate(bodies)}
        file["events/t"] = np.array([event["t"] for event in listed], dtype=np.float64)
        file["events/kind"] = np.array([event["kind"].encode() for event in listed], dtype="S16")
        for side, name in enumerate("ab"):
            file[f"events/{name}"] = np.array([number.get(event["between"][side], -1) for event in listed], dtype=np.intc)
        if self.scene.outputs:
            _texts(file, "output_names", self.scene.outputs)
        for name in self.scene.outputs:
            file["outputs/" + _escaped(name)] = self[name]
        if self.scene.joints:
            _texts(file, "joint_names", self.scene.joints)
        for joint in self.scene.joints:
            group = file.create_group("joints/" + _escaped(joint))
            for part in ("position", "speed", "force"):
                if f"{joint}.{part}" in self:
                    group[part] = self[f"{joint}.{part}"]
            first = self.columns[f"{joint}.fx"]
            group["reaction"] = self._rows[:, first : first + 3]
            group["moment"] = self._rows[:, first + 3 : first + 6]

    def _again(self) -> Simulation:
        """The same run, from the start: it is deterministic."""
        from ._scene import Simulation, options_text

        sim = Simulation(self.scene, _core.Sim(self.scene._model, options_text(self._options), False), self._options)
        for name, value in self._inputs.items():
            sim.inputs[name] = value
        return sim

    def page(self) -> str:
        """The page of this run as HTML; the run is done again for it."""
        from ._scene import page_of

        return page_of(self._again(), True)

    def _repr_html_(self) -> str:
        from ._scene import page_frame

        return page_frame(self._again(), True)

    def __repr__(self) -> str:
        certified = "certified" if self.certificate["certified"] else "not certified"
        return f"<stickslip.Result of {self.scene.name!r}: {len(self)} rows to t = {self.time[-1]:g}, {certified}>"
