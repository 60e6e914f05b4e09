"""What a run has recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

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
JOINT = ("position", "speed", "force", "fx", "fy", "fz", "mx", "my", "mz")

Array = npt.NDArray[np.float64]


class Result:
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
            from ._scene import _unknown

            raise _unknown("column", name, list(self.columns)) from None

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def position(self, body: str) -> Array:
        """[N, 3]"""
        first = self.columns[f"{body}.x"]
        return self._rows[:, first : first + 3]

    def orientation(self, body: str) -> Array:
        """[N, 4], w x y z"""
        first = self.columns[f"{body}.qw"]
        return self._rows[:, first : first + 4]

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

    def save(self, path: str) -> None:
        """Writes an HDF5 file in the layout of `stickslip run -o` (needs h5py), or a CSV file where the name ends with .csv."""
        if str(path).endswith(".csv"):
            header = ",".join(f'"{n}"' if "," in n else n for n in self.columns)
            np.savetxt(path, self._rows[:, list(self.columns.values())], "%.17g", ",", header=header, comments="")
            return
        import h5py

        with h5py.File(path, "w") as file:
            file.attrs["format"] = "stickslip result 1"
            file.attrs["scene_name"] = self.scene.name
            file.attrs["complete"] = 1
            file["scene"] = self.scene.text
            file["time"] = self.time
            file.create_dataset("body_names", data=self.scene.bodies, dtype=h5py.string_dtype())
            parts = {"position": (0, 3), "orientation": (3, 4), "velocity": (7, 3), "angular_velocity": (10, 3)}
            for index, body in enumerate(self.scene.bodies):
                group = file.create_group("bodies/" + body.replace("%", "%25").replace("/", "%2F"))
                group.attrs["name"] = body
                group.attrs["index"] = index
                first = self.columns[f"{body}.x"]
                for part, (start, width) in parts.items():
                    group[part] = self._rows[:, first + start : first + start + width]
            for part in ENERGY:
                file[f"energy/{part}"] = self[f"energy.{part}"]
            if self.scene.outputs:
                file.create_dataset("output_names", data=self.scene.outputs, dtype=h5py.string_dtype())
            for name in self.scene.outputs:
                file["outputs/" + name.replace("%", "%25").replace("/", "%2F")] = self[name]
            if self.scene.joints:
                file.create_dataset("joint_names", data=self.scene.joints, dtype=h5py.string_dtype())
            for joint in self.scene.joints:
                group = file.create_group("joints/" + joint.replace("%", "%25").replace("/", "%2F"))
                for part in ("position", "speed", "force"):
                    if f"{joint}.{part}" in self:
                        group[part] = self[f"{joint}.{part}"]
                first = self.columns[f"{joint}.fx"]
                group["reaction"] = self._rows[:, first : first + 3]
                group["moment"] = self._rows[:, first + 3 : first + 6]

    def _again(self) -> Simulation:
        """The same run, from the start: it is deterministic."""
        from . import _core
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
