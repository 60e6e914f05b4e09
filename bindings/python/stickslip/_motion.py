"""Motions of bodies as 13 numbers: position, orientation, velocity, angular velocity of a body's frame, in the world's axes."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Where each part starts, and how many numbers it has.
PARTS = {"position": (0, 3), "orientation": (3, 4), "velocity": (7, 3), "angular_velocity": (10, 3)}

#: So many names are listed in a message.
MOST_NAMES = 40


def unknown(kind: str, name: Any, known: list[str]) -> KeyError:
    near = difflib.get_close_matches(str(name), known, 1)
    some = ", ".join(known[:MOST_NAMES]) + (f" and {len(known) - MOST_NAMES} more" if len(known) > MOST_NAMES else "")
    hint = f"; did you mean '{near[0]}'?" if near else f" (there are {some or 'none'})"
    return KeyError(f"there is no {kind} '{name}'{hint}")


class Motions:
    """Many motions of each body, of the rows of a result or the copies of a batch."""

    def _motions_of(self, body: str) -> Array:
        """[N, 13]"""
        raise NotImplementedError

    def _part(self, body: str, part: str) -> Array:
        first, width = PARTS[part]
        return self._motions_of(body)[:, first : first + width]

    def position(self, body: str) -> Array:
        """[N, 3]"""
        return self._part(body, "position")

    def orientation(self, body: str) -> Array:
        """[N, 4], w x y z"""
        return self._part(body, "orientation")

    def velocity(self, body: str) -> Array:
        """[N, 3]"""
        return self._part(body, "velocity")

    def angular_velocity(self, body: str) -> Array:
        """[N, 3]"""
        return self._part(body, "angular_velocity")
