"""Runs the cells of every notebook, in order, as a reader would."""

import json
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "notebooks"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebook(path, monkeypatch):
    monkeypatch.chdir(FOLDER)
    names = {"__name__": "__main__"}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), str(path), "exec"), names)  # noqa: S102
