"""The annotations are complete and hold together, and a user's script is checked against them."""

import pathlib

import pytest

import stickslip

SCRIPT = """
import stickslip
sim = stickslip.Scene.load("x.yaml", mu=0.3).simulation(step=1e-3)
x: float = sim.body("hand").position[0] + sim.joint("elbow").speed + sim.inputs["grip"] + sim.outputs["reach"]
sim.stp()
"""


def test_types(tmp_path, monkeypatch):
    api = pytest.importorskip("mypy.api")
    folder = pathlib.Path(stickslip.__file__).parent
    (tmp_path / "user.py").write_text(SCRIPT)
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = true\n[mypy-h5py,pandas,xarray,gymnasium.*]\nignore_missing_imports = true\n")
    monkeypatch.setenv("MYPYPATH", str(folder.parent))
    arguments = ["--config-file", str(tmp_path / "mypy.ini"), "--cache-dir", str(tmp_path / "cache"), "--no-error-summary"]
    files = [str(path) for path in folder.glob("_*.py")]
    said, trouble, _ = api.run([*arguments, *files, str(tmp_path / "user.py")])
    assert trouble == "" and [line.split("error: ")[1] for line in said.splitlines() if "error: " in line] == [
        '"Simulation" has no attribute "stp"; maybe "step"?  [attr-defined]'
    ]
