"""Panels: neighbouring places, and how far values there are from a polynomial."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["merged", "middles", "panels_between", "panels_of", "roughness", "thinned"]

# The places of a panel of nodes, and between two nodes.
_COUNT, _BETWEEN = 17, 9
# No half: what is odd at a jump, as a sign with its 0, would pass for a line.
_PART = 0.45


def panels_of(nodes: Any) -> Any:
    """Panels of neighbouring nodes, in rows; each begins where the last one ends."""
    x = np.unique(np.asarray(nodes, dtype=float))
    while 1 < len(x) < _COUNT:
        finer = np.unique(np.concatenate([x, middles(x[None])[0]]))
        if len(finer) == len(x):
            break
        x = finer
    if len(x) < _COUNT:
        return np.zeros((0, _COUNT))
    last = len(x) - _COUNT
    starts = np.unique(np.append(np.arange(0, last + 1, _COUNT - 1), last))
    return x[starts[:, None] + np.arange(_COUNT)]


def panels_between(nodes: Any) -> Any:
    """A panel between each two neighbouring nodes, in rows."""
    x = np.asarray(nodes, dtype=float)
    places = x[:-1, None] + np.diff(x)[:, None] * np.linspace(0.0, 1.0, _BETWEEN)
    places[:, -1] = x[1:]
    return places[np.all(np.diff(places) > 0, axis=1)]


def roughness(places: Any, values: Any) -> Any:
    """How large a jump may be, for each panel and component.

    It is the distance of the values from polynomials, in units of the distance of a
    step of size 1: of the step for which it is shortest. Of some degrees the one counts
    that tells most: a low one where places are uneven.

    Args:
        places: `(panels, places)`.
        values: `(panels, places, components)`.
    """
    first, last = places[:, :1], places[:, -1:]
    scaled = 2.0 * ((places - first) / (last - first)) - 1.0
    count = places.shape[1]
    most = (2 * count) // 3
    powers = np.polynomial.legendre.legvander(scaled, most - 1)
    normal = np.linalg.qr(powers, mode="complete")[0]
    parts = np.swapaxes(normal, -1, -2) @ values
    steps = np.cumsum(normal, axis=1)[:, :-1]
    found = []
    for size in {most, max(2, count // 2), max(2, count // 3)}:
        rest = np.linalg.norm(parts[:, size:], axis=1)
        least = np.min(np.linalg.norm(steps[..., size:], axis=-1), axis=1)
        found.append(rest / least[:, None])
    return np.min(found, axis=0)


def middles(places: Any) -> Any:
    """The places between those of panels."""
    return places[:, :-1] + _PART * (places[:, 1:] - places[:, :-1])


def merged(x: Any, between: Any) -> Any:
    """The two halves of panels, with what is between in each."""
    both = np.empty((x.shape[0], 2 * x.shape[1] - 1, *x.shape[2:]), dtype=x.dtype)
    both[:, ::2], both[:, 1::2] = x, between
    return thinned(both)


def thinned(x: Any) -> Any:
    """The two halves of panels."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, : half + 1], x[:, half:]])
