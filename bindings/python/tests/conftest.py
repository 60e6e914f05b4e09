import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture
def scenes():
    return ROOT / "scenes"


@pytest.fixture
def program():
    """The command line: of the build tree (STICKSLIP_PROGRAM), or of the installed package."""
    import stickslip

    path = os.environ.get("STICKSLIP_PROGRAM") or os.path.join(os.path.dirname(stickslip.__file__), "bin", "stickslip")
    if not os.path.exists(path):
        pytest.skip("no program beside the package")
    return path
