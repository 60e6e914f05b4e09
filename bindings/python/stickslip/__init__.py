"""Rigid bodies that touch, stick, slip, collide and come apart; every step certified.

    scene = stickslip.Scene.load("gripper.yaml", mu=0.3)
    sim = scene.simulation(step=1e-3)
    while sim.t < 2:
        sim.inputs["grip"] = 20 * (0.1 - sim.joint("finger").position)
        sim.step()
    print(sim.certificate["certified"], sim.outputs["reach"])
"""

from ._batch import Batch, batch
from ._core import version as _version
from ._errors import Error, Uncertified
from ._result import Result
from ._scene import CONTACT, Body, Inputs, Joint, Outputs, Scene, Simulation
from ._solve import Solution, solve

__version__ = _version()
__all__ = [
    "CONTACT",
    "Batch",
    "Body",
    "Error",
    "Inputs",
    "Joint",
    "Outputs",
    "Result",
    "Scene",
    "Simulation",
    "Solution",
    "Uncertified",
    "batch",
    "solve",
]
