"""How SciPy integrates numbers and vectors: calls of its adaptive rules.

In runs of derivatives (`of_derivative`) the function's vector begins with numbers that
are integrated for their intervals alone.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.integrate as _sp

import rules_core as rc
from rules_scipy._functions import Run

from ._boxes import SEEN, by_box, nodes_of
from ._regions import faces_run, region_run
from ._resolved import (
    REACHED,
    edges,
    edges_of_vector,
    halves,
    integrated,
    remembered,
)

__all__ = [
    "ROOM", "SEEN", "Form", "box_run", "face_run", "of_derivative", "places_of",
    "quad_vec_run", "scalar_run", "seen_in", "vector_run",
]  # fmt: skip


def scalar_run(**settings: Any) -> Run:
    """Integrates a number by `scipy.integrate.quad`."""
    return Run(_by_quad, 1, None, **settings)


def _by_quad(settings: Any, functions: Any, a: Any, b: Any) -> Any:
    fun, shown = functions[0], settings["full_output"]
    given = {k: v for k, v in settings.items() if k != SEEN} | {"full_output": 1}

    def number(x: float) -> float:
        return float(np.asarray(fun(x)).reshape(()))

    if SEEN in settings:
        y, error, *rest = _derivative(settings, given, fun, float(a), float(b))
        if len(rest) > 1 and not error <= ROOM * _tolerance(settings, y):
            y = np.nan
    else:
        y, error, *rest = _sp.quad(number, float(a), float(b), **given)
    success = len(rest) < 2  # else there is a message
    if not (success or shown):
        warnings.warn(rest[1], _sp.IntegrationWarning, stacklevel=2)
    return np.float64(y), int(success), (error,), {"rest": rest if shown else ()}


def _derivative(settings: Any, given: Any, fun: Any, a: float, b: float) -> Any:
    """The integral of the last number of a vector, and what `quad` adds to it."""
    if b < a:
        y, *rest = _derivative(settings, given, fun, b, a)
        return -y, *rest
    parts = remembered(lambda x: np.asarray(fun(x)))
    given, inner = _inside(given, a, b)

    def part(i: int) -> Any:
        return lambda x: float(parts(x)[i])

    for i in range(settings[SEEN]):
        inner = edges(part(i), a, b, given, inner)
    return integrated(part(-1), a, b, given, inner)


def _inside(given: Any, a: float, b: float) -> tuple[Any, list[float]]:
    """Options without points, and the points between the limits."""
    given = dict(given)
    points = given.pop("points", None)
    places: Any = [] if points is None else np.ravel(points)
    return given, sorted(float(x) for x in places if a < x < b)


# A derivative with a message of QUADPACK counts up to this multiple of the tolerance.
ROOM = 1e3


def _tolerance(settings: Any, y: float) -> float:
    return float(max(settings["epsabs"], settings["epsrel"] * abs(y)))


def seen_in(run: Run) -> int:
    return int(run.settings.get(SEEN, 0))


def of_derivative(run: Run, seen: int) -> Run:
    return Run(run.f, run.counts, run.dtype, **(run.settings | {SEEN: seen}))


def vector_run(run: Run) -> Run:
    """Integrates vectors to the precision of another run."""
    if run.f is not _by_quad:
        return run if (own := run.settings.get("vectors")) is None else own
    names = ("epsabs", "epsrel", "points", "maxp1", "limlst")
    # It halves intervals where quad extrapolates, so it needs more of them.
    given = {k: run.settings[k] for k in names} | {"limit": 4 * run.settings["limit"]}
    return Run(_by_vector, 1, None, own=1, **given)


def _by_vector(settings: Any, functions: Any, a: Any, b: Any) -> Any:
    names = ("epsabs", "epsrel", "limit")
    given = {k: settings[k] for k in names if settings[k] is not None}
    parts, seen = remembered(lambda x: np.asarray(functions[0](x))), settings[SEEN]
    low, high = sorted((float(a), float(b)))
    options, inner = _inside(settings, low, high)
    if settings["own"] == 1:
        options = {k: v for k, v in options.items() if k not in (SEEN, "own")}
        options["full_output"] = 1
        inner = edges(lambda x: float(parts(x)[0]), low, high, options, inner)
    else:
        own = settings["own"]
        inner = edges_of_vector(lambda x: parts(x)[:own], low, high, given, inner)
    total, error, success = np.float64(0.0), 0.0, True
    for start, stop in halves(low, high):
        points = [
            x for x in inner if start < x < stop
        ]  # in order, as quad_vec reads them
        y, own_error, info = _sp.quad_vec(
            lambda x: parts(x)[seen:], start, stop, full_output=True, norm="max",
            **given | {"points": points or None, "limit": given["limit"] + len(points)},
        )  # fmt: skip
        total, error = total + y, error + own_error
        success = success and info.status in REACHED
    total = total if float(a) <= float(b) else -total
    return total if success else total * np.nan, int(success), (error,), {}


# of a user's vector


class Form(NamedTuple):
    """What a function of a number returns.

    Attributes:
        shape: Of the array.
        is_complex: Whether it is complex.
        is_number: Whether it is a number of Python, in NumPy.
    """

    shape: tuple[int, ...]
    is_complex: bool
    is_number: bool = False

    @property
    def size(self) -> int:
        """How many real numbers it has."""
        return math.prod(self.shape) * (2 if self.is_complex else 1)

    def array(self, numbers: Any) -> Any:
        """The array of a vector of real numbers: complex ones have two parts."""
        if self.is_complex:
            half = self.size // 2
            numbers = numbers[:half] + 1j * numbers[half:]
        return numbers.reshape(self.shape)

    def result(self, numbers: Any) -> Any:
        """What SciPy returns for them: numbers in NumPy for functions with numbers."""
        y = self.array(numbers)
        if self.is_number:
            return complex(y) if self.is_complex else float(y)
        return y if self.shape or not isinstance(y, np.ndarray) else y[()]


def quad_vec_run(form: Form, **settings: Any) -> Run:
    """Integrates vectors of a form by `scipy.integrate.quad_vec`."""
    names = ("epsabs", "epsrel", "points")
    given = {k: settings[k] for k in names}
    vectors = Run(
        _by_vector, 1, None, own=form.size, maxp1=50, limlst=50,
        limit=4 * int(settings["limit"]), **given,
    )  # fmt: skip
    own = {"name": "quad_vec", "vectors": vectors}
    return Run(_by_quad_vec, 1, None, form=form, **own, **settings)


_OWN = ("form", "name", "vectors")


def _by_quad_vec(settings: Any, functions: Any, a: Any, b: Any) -> Any:
    fun, form = functions[0], settings["form"]
    given = {k: v for k, v in settings.items() if k not in _OWN}

    def value(x: float) -> Any:
        y = form.array(np.asarray(fun(x)))
        return y if form.shape else y[()]  # SciPy measures numbers by their size

    y, error, info = _sp.quad_vec(value, float(a), float(b), full_output=True, **given)
    y = np.ravel(y)
    y = np.concatenate([y.real, y.imag]) if form.is_complex else y
    return y, int(info.status in REACHED), (error,), {"info": info}


# over boxes


def box_run(dimensions: int, form: Form, **options: Any) -> Run:
    """Integrates over boxes by `scipy.integrate.cubature`."""
    own = {"name": "cubature", "jumps": region_run(options["rtol"]),
           "ends": faces_run()}  # fmt: skip
    given = {"dimensions": dimensions, "form": form, "options": options}
    return Run(by_box, 1, None, **given, **own)


def face_run(run: Run) -> Run:
    """Integrates over the faces of the boxes of a run."""
    options = run.settings["options"] | {"points": None}
    given = {"dimensions": run.settings["dimensions"] - 1, "options": options}
    return Run(run.f, run.counts, run.dtype, **(run.settings | given))


def places_of(run: Run, lower: Any) -> tuple[Any, ...]:
    """Arrays like those with which a run calls its function."""
    dimensions = run.settings.get("dimensions")
    if dimensions is None:
        return (lower,)
    count = len(nodes_of(run.settings["options"]["rule"], dimensions)[0])
    xp = rc.array_namespace(lower)
    rows = xp.zeros((count, dimensions), dtype=lower.dtype)
    return rows, rows[:, 0]
