r"""Jumps: where a function along a path has one.

The derivative of a solution of $\dot y = f(t, y, \theta)$ whose right-hand side jumps
by $[f]$ at $\tau$ contains $[f]\,\dot\tau$; so does that of an integral. Code that
tests `t < tau` does not contain it: differentiating the code leaves it out. So jumps
are looked for where a derivative is asked for, with the numbers of the call; one at a
fixed place does no harm.

A function without jumps is close to a polynomial in short intervals. Those in which it
is not are halved, down to neighbouring floating numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import rules_core as rc

from ._panels import merged, middles, roughness, thinned

__all__ = ["Jump", "jump_at_end", "jumps", "rows_of"]

# In how many intervals jumps are looked for.
_MANY = 400
# After so many halvings panels of so many places are replaced by those of half as many:
# what is smooth is close to a line in the end.
_THINNED = {17: 4, 9: 8, 5: 14}
# By then what is smooth has been recognised; and how often panels are halved at most.
_DEEP, _DEEPEST = 5, 200
# The least panel, as a part of the first one.
_GRAIN = 2.0**-52
# Of the mean of a function, the part that is a scale where the function is smaller.
_USUAL = 1e-2
# What counts as none in single precision.
_SINGLE = 3e-5
# A jump is so many times larger than the noise beside it,
_LOUD = 8.0
# and this part of what the function changes in so many spacings of numbers around it.
_SUDDEN, _AROUND = 0.25, 2.0**24
# Where a panel that is so many halvings narrower has so much of what changes in one of
# half the distance of nodes, the nodes cannot tell it from a jump,
_STEEP = {7: 0.9, 9: 0.5}
# unless it is a small part of what changes nearby. It is where its halves are lower.
_LOW, _HALF = 0.01, 0.5


class Jump(NamedTuple):
    """A place at which a function jumps, or is as steep as if it did.

    Attributes:
        before: A place before it.
        after: The next floating number, or one behind a steep place.
        size: By how much each component jumps.
        small: What counts as none.
        is_steep: Whether it is a steep place, between two nodes.
    """

    before: float
    after: float
    size: Any
    small: Any
    is_steep: bool = False


class _Panels(NamedTuple):
    """Panels in which a function may jump.

    Attributes:
        places: `(panels, places)`.
        values: `(panels, places, components)`.
        none: What counts as no jump, `(panels, components)`.
        grain: The least panel that is looked into, `(panels,)`.
        least: What is too low for a step, `(panels, components)`.
        wide: What changes in the panels of which these are parts.
        step: The height of a step that is steep; infinite where there is none.
    """

    places: Any
    values: Any
    none: Any
    grain: Any
    least: Any
    wide: Any
    step: Any

    def of(self, chosen: Any) -> _Panels:
        """Some of the panels."""
        return _Panels(*[x[chosen] for x in self])

    def height(self) -> Any:
        """How far apart the values at both ends are."""
        return np.abs(self.values[:, -1] - self.values[:, 0])

    def with_step(self) -> Any:
        """Which panels hold most of a step, `(panels, components)`."""
        return self.height() >= _HALF * self.step


_Function = Callable[[Any], Any]


@np.errstate(all="ignore")
def jumps(f: _Function, panels: Any, small: float, together: int = 64) -> list[Jump]:
    """Where a function jumps.

    Args:
        f: Returns a vector for each place of an array, as rows. It is called at the
            places, between them, and often close to a jump.
        panels: Places in order, `(panels, places)`; more of them find shorter pulses.
        small: The part of the largest number near a jump that counts as none.
        together: How many places `f` may be called with.
    """
    if not len(panels):
        return []
    f, ends = _in_parts(f, together), (np.min(panels), np.max(panels))
    at_ends = [jump_at_end(f, *pair, small) for pair in (ends, ends[::-1])]
    found = [jump for jump in at_ends if jump is not None]
    known = _begun(f, panels, small)
    for depth in range(_DEEPEST):
        known, smooth = _by_roughness(known)
        found += _steep(smooth, depth)
        known = _noted(f, known, depth)
        is_narrow = _is_narrow(known)
        found += _settled(f, known.of(is_narrow), ends)
        known = known.of(~is_narrow)
        if not len(known.places):
            break
        known = known.of(_some(len(known.places)))
        halves = _halves(f, known, depth)
        found += _steep(known.of(_is_in_neither(known, halves)), depth)
        known = halves
    return [*{jump.before: jump for jump in found}.values()]  # panels may overlap


def rows_of(f: Callable[[float], Any]) -> _Function:
    """A function of a number, whose results are vectors, of an array of numbers.

    Where it raises an error of arithmetic, as Python's division by zero, it is NaN.
    """
    size = 1

    def rows(places: Any) -> Any:
        nonlocal size
        found = [_row(f, float(x)) for x in places]
        size = next((len(x) for x in found if x is not None), size)
        none = np.full(size, np.nan)
        return np.stack([none if x is None else x for x in found])

    return rows


def _row(f: Callable[[float], Any], x: float) -> Any:
    try:
        return f(x)
    except (ArithmeticError, ValueError) as error:
        if isinstance(error, rc.RulesCoreError):
            raise
        return None


def _in_parts(f: _Function, together: int) -> _Function:
    def values(places: Any) -> Any:
        parts = [f(places[i : i + together]) for i in range(0, len(places), together)]
        found = np.concatenate(parts)
        return found if found.dtype.kind in "fc" else found.astype(float)

    return values


def _begun(f: _Function, panels: Any, small: float) -> _Panels:
    values = _values(f, panels)
    small = max(small, _SINGLE) if values.dtype in _SINGLES else small
    none = small * _scale(panels, values)
    grain = _GRAIN * (panels[:, -1] - panels[:, 0])
    change = _near(np.nanmax(values, axis=1)) + _near(-np.nanmin(values, axis=1))
    least = np.maximum(none, _LOW * np.abs(change))
    never = np.full_like(none, np.inf)
    return _Panels(panels, values, none, grain, least, never, never)


_SINGLES = (np.float16, np.float32, np.complex64)


def _scale(panels: Any, values: Any) -> Any:
    """The largest number in a panel and its neighbours, for each component."""
    own = np.nanmax(np.nan_to_num(np.abs(values)), axis=1)
    widths = panels[:, -1] - panels[:, 0]
    mean = np.tensordot(widths / np.sum(widths), own, 1)
    return np.maximum(_near(own), _USUAL * mean)


def _near(own: Any) -> Any:
    """The largest of the numbers of each panel and of its neighbours."""
    wide = np.concatenate([own[:1], own, own[-1:]])
    return np.maximum(np.maximum(wide[:-2], wide[2:]), own)


def _values(f: _Function, places: Any) -> Any:
    """The values at places, each computed once; NaN where there is none."""
    own, index = np.unique(places, return_inverse=True)
    values = f(own)
    # A formula such as x / abs(x) has no value at one place.
    holes = np.flatnonzero(~_is_finite(values))
    inside = holes[(holes > 0) & (holes < len(own) - 1)]
    if len(inside):
        values[inside] = f(np.nextafter(own[inside], np.inf))
        values[~_is_finite(values)] = np.nan
    return values[index.reshape(places.shape)]


def _is_finite(values: Any) -> Any:
    return np.all(np.isfinite(values), axis=-1)


def _by_roughness(known: _Panels) -> tuple[_Panels, _Panels]:
    """The panels that are no polynomials, or have no value somewhere; and the rest."""
    rough = np.any(roughness(known.places, known.values) > known.none, axis=-1)
    rough |= ~np.all(_is_finite(known.values), axis=-1)
    return known.of(rough), known.of(~rough)


def _noted(f: _Function, known: _Panels, depth: int) -> _Panels:
    """Panels without those of noise, and with the heights of their steps."""
    if depth == _DEEP:
        known = known.of(~_is_noise(f, known))
        return known._replace(wide=np.ptp(known.values, axis=1))
    if depth in _STEEP:
        height = known.height()
        is_step = (height >= _STEEP[depth] * known.wide) & (height > known.least)
        return known._replace(step=np.where(is_step, height, known.step))
    return known


def _is_noise(f: _Function, known: _Panels) -> Any:
    """Whether neighbouring numbers tell as much as the panel."""
    if not len(known.places):
        return np.zeros(0, bool)
    middle = known.places[:, known.places.shape[1] // 2]
    nearby = _window(middle[:, None], known.grain[:, None], np.arange(4.0))
    values = f(nearby.ravel()).reshape(*nearby.shape, -1)
    rough = roughness(known.places, known.values)
    noise = _LOUD * np.ptp(values, axis=1)
    return np.all((rough <= known.none) | (rough <= noise), axis=-1)


def _window(x: Any, grain: Any, far: Any) -> Any:
    return x + np.maximum(np.spacing(np.abs(x)), grain) * far


def _is_narrow(known: _Panels) -> Any:
    first, last = known.places[:, 0], known.places[:, -1]
    spacing = np.spacing(np.maximum(np.abs(first), np.abs(last)))
    return last - first <= 8 * np.maximum(spacing, known.grain)


def _some(count: int) -> Any:
    """Indices of as many panels as are looked into."""
    return np.unique(np.linspace(0, count - 1, min(count, _MANY)).astype(int))


def _halves(f: _Function, known: _Panels, depth: int) -> _Panels:
    if _THINNED.get(known.places.shape[1]) == depth:
        own = [thinned(x) for x in known[:2]]
    else:
        between = middles(known.places)
        pairs = (known.places, between), (known.values, _values(f, between))
        own = [merged(*pair) for pair in pairs]
    return _Panels(*own, *[np.concatenate([x, x]) for x in known[2:]])


# steps


def _is_in_neither(known: _Panels, halves: _Panels) -> Any:
    """Whether a panel holds a step that is in neither of its halves."""
    lower, upper = np.split(np.any(halves.with_step(), axis=-1), 2)
    return np.any(known.with_step(), axis=-1) & ~(lower | upper)


def _steep(known: _Panels, depth: int) -> list[Jump]:
    """The panels that hold a step."""
    if depth < min(_STEEP):
        return []
    held = known.with_step()
    size = np.where(held, known.height(), 0.0)
    rows = np.flatnonzero(np.any(held, axis=-1))
    return [
        Jump(known.places[i, 0], known.places[i, -1], size[i], known.none[i], True)
        for i in rows
    ]


# neighbouring numbers


def _settled(f: _Function, known: _Panels, ends: Any) -> list[Jump]:
    rows = zip(known.places, known.none, known.grain, strict=True)
    found = [_settle(f, x, none, grain, ends) for x, none, grain in rows]
    return [jump for jump in found if jump is not None]


def _settle(f: _Function, x: Any, none: Any, grain: Any, ends: Any) -> Jump | None:
    """The jump between neighbouring numbers, if it is one."""
    middle = x[len(x) // 2]
    far = np.array([-_AROUND, *np.arange(-12.0, 13.0), _AROUND])
    places = np.unique(np.clip(_window(middle, grain, far), *ends))
    values = f(places)
    places, values = (v[_is_finite(values)] for v in (places, values))
    if len(places) < _LEAST:
        return None
    around = np.abs(values[-1] - values[0])
    places, values = places[1:-1], values[1:-1]
    sides = values[:_SIDE], values[-_SIDE:]
    left, right = (np.median(side, axis=0) for side in sides)
    noise = np.maximum(*[np.ptp(side, axis=0) for side in sides])
    size = np.abs(right - left)
    is_jump = (size > none) & (size > _LOUD * noise) & (size >= _SUDDEN * around)
    if not np.any(is_jump):
        return None
    k = int(np.argmax(np.where(is_jump, size / none, 0.0)))
    is_left = np.abs(values[:, k] - left[k]) < 0.3 * size[k]
    before = int(np.flatnonzero(is_left)[-1])
    is_right = np.abs(values[before:, k] - right[k]) < 0.3 * size[k]
    after = before + int(np.flatnonzero(is_right)[0])
    size = np.where(is_jump, np.abs(values[after] - values[before]), 0.0)
    return Jump(places[before], places[after], size, none)


# Of how many numbers on each side there is a median, and how many there must be at all.
_SIDE, _LEAST = 4, 12


@np.errstate(all="ignore")
def jump_at_end(f: _Function, end: float, other: float, small: float) -> Jump | None:
    """The jump of a function between the end of an interval and the places inside."""
    grain = _GRAIN * abs(other - end)
    inward = np.sign(other - end)
    places = _window(end, grain, inward * np.array([0.0, 1.0, 2.0, 3.0, _AROUND]))
    values = f(places[:2])
    size = np.abs(values[1] - values[0])
    none = small * np.max(np.abs(values), axis=0)
    if not np.any(size > none) or not np.all(np.isfinite(values)):
        return None
    values = np.concatenate([values, f(places[2:])])
    noise = np.ptp(values[1:4], axis=0)
    is_jump = (size > none) & (size > _LOUD * noise)
    is_jump &= size >= _SUDDEN * np.abs(values[-1] - values[0])
    if not np.any(is_jump):
        return None
    before, after = sorted(map(float, places[:2]))
    return Jump(before, after, np.where(is_jump, size, 0.0), none)
