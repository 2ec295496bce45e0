"""The derivative of a host function as two host primitives, run by the engine.

    pull(x, ȳ) = f'(x)* ȳ          push(x, ẋ) = f'(x) ẋ

They have no rules of their own. For a higher derivative a framework uses a derived
rule, which runs the engine on its own derivative.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from rules_autodiff._boundary.array_places import Path, arrays_of, at, each_assembled
from rules_autodiff._boundary.leave import like_number
from rules_autodiff._front.jvp import forward
from rules_autodiff._python.errors import UnsupportedProgram
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._python.values import is_number
from rules_autodiff._tape.recording import Recording
from rules_autodiff._transforms.derived_function import on_plain
from rules_core import Primitive, ShapeDtype, batch_rule, shape_rule, structure
from rules_core.extend import CHOSEN, check_expected

__all__ = ["Form", "Held", "pull_of", "push_of"]


@final
@dataclass(frozen=True)
class Form:
    """The static part of a linear map: the places of its arguments and results.

    Attributes:
        given: Places of the known (co)tangents, among results or arguments of `f`.
        wanted: Places of the needed ones.
        types: Shape and dtype of each needed one; empty if `x` has them.
    """

    given: tuple[Path, ...]
    wanted: tuple[Path, ...]
    types: tuple[tuple[tuple[int, ...], str], ...] = ()

    def __tangent_structure__(self) -> None:
        """It is not a container: frameworks treat it as a constant of the call."""


@final
class Held:
    """A static argument: a framework must not search it for arrays."""

    def __init__(self, value: Any):
        self.value = value

    def __tangent_structure__(self) -> None:
        """It is not a container."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def bare(args: Any) -> tuple[Any, ...]:
    return tuple([x.value if type(x) is Held else x for x in args])


def positions(paths: tuple[Path, ...]) -> list[int]:
    return sorted({path[0] for path in paths})


@on_plain
def pulled(below: Any, f: Any, form: Form, dys: Any, args: Any, kwargs: Any) -> Any:
    """The needed cotangents, from the known ones."""
    return pulled_rows(below, f, form, [dys], args, kwargs)[0]


def pulled_rows(
    below: Any, f: Any, form: Form, rows: Any, args: Any, kwargs: Any
) -> list[list[Any]]:
    """One pass forward, and one back for each row of cotangents."""
    active, before = positions(form.wanted), CHOSEN.count
    recording = Recording(below, f, bare(args), kwargs, active, callables=True)
    chosen = CHOSEN.count != before
    if below is PLAIN and not chosen:
        results = map(np.asarray, arrays_of(recording.output).values())
        check_expected(f, results, partial(alike, noise=rounding_of(args)))
    pulled = [pull_row(below, recording, form, active, dys) for dys in rows]
    if chosen:
        check_value(f, recording.output, deepcopy(bare(args)), deepcopy(kwargs))
    return pulled


def alike(x: Any, y: Any, *, noise: float) -> bool:
    """Whether arrays are equal up to rounding, also of another kernel."""
    atol = 1e-5 * size(x) + noise
    return bool(np.allclose(x, y, rtol=1e-3, atol=atol, equal_nan=True))


def rounding_of(args: Any) -> float:
    """How far a result may be from zero whose terms cancel."""
    arrays = [np.asarray(x) for x in arrays_of(bare(args)).values()]
    sizes = [np.finfo(x.dtype).eps * size(x) for x in arrays if x.dtype.kind in "fc"]
    return float(OPERATIONS * max(sizes, default=0.0))


# Rounding errors of so many operations may add up.
OPERATIONS = 100.0


def size(x: Any) -> Any:
    """The largest finite number of an array."""
    return np.max(np.abs(x[np.isfinite(x)]), initial=0.0)


def check_value(f: Any, output: Any, args: Any, kwargs: Any) -> None:
    """Raise an error if the framework uses another value than this pass computed."""
    theirs = arrays_of(f(*args, **kwargs))
    for path, mine in arrays_of(output).items():
        if not np.allclose(mine, theirs[path], rtol=1e-5, atol=1e-8, equal_nan=True):
            message = (
                f"the result of {getattr(f, '__qualname__', f)} must not depend on the "
                "choice of vectors of equal eigenvalues or singular values, but does: "
                "the framework uses LAPACK's, a derivative needs others. Return a "
                "result that does not depend on the choice, such as a projector."
            )
            raise UnsupportedProgram(message)


def pull_row(
    below: Any, recording: Recording, form: Form, active: Any, dys: Any
) -> list[Any]:
    if not recording.done:
        recording.again(recording.output, below)
    for path, dy in zip(form.given, dys, strict=True):
        y = at(recording.output, path)
        recording.seed(y, like_number(y, dy, below) if is_number(y) else dy, below)
    cotangents = dict(zip(active, recording.run_back(below), strict=True))
    return [at(cotangents[i], path) for i, *path in form.wanted]


@on_plain
def pushed(below: Any, f: Any, form: Form, dxs: Any, args: Any, kwargs: Any) -> Any:
    """The needed tangents, from the known ones."""
    return pushed_rows(below, f, form, [dxs], args, kwargs)[0]


def pushed_rows(
    below: Any, f: Any, form: Form, rows: Any, args: Any, kwargs: Any
) -> list[list[Any]]:
    """One pass that carries every row of tangents."""
    args = bare(args)
    lanes = [
        each_assembled(args, dict(zip(form.given, dxs, strict=True))) for dxs in rows
    ]

    def call(*args: Any) -> Any:
        return f(*args, **kwargs)

    _, dys = forward(below, call, args, lanes, callables=True)
    return [[at(dy, path) for path in form.wanted] for dy in dys]


def pull_of(f: Any) -> Primitive:
    def pull(form: Form, dys: Any, args: Any, kwargs: Any) -> Any:
        return pulled(f, form, dys, args, kwargs)

    @shape_rule.define(named(pull, "pullback", f))
    def pull_shapes(form: Form, dys: Any, args: Any, kwargs: Any) -> Any:
        return [at(args, path) for path in form.wanted]

    batch_rule.define(pull)(batch_of(f, pulled_rows))
    return handle(pull, f)


def push_of(f: Any) -> Primitive:
    def push(form: Form, dxs: Any, args: Any, kwargs: Any) -> Any:
        return pushed(f, form, dxs, args, kwargs)

    @shape_rule.define(named(push, "pushforward", f))
    def push_shapes(form: Form, dxs: Any, args: Any, kwargs: Any) -> Any:
        return [ShapeDtype(shape, np.dtype(name)) for shape, name in form.types]

    batch_rule.define(push)(batch_of(f, pushed_rows))
    return handle(push, f)


def batch_of(f: Any, run: Callable[..., Any]) -> Callable[..., Any]:
    """The batch rule of a linear map: many (co)tangents at one point."""

    def batch(
        size: int, batched: Any, form: Form, ds: Any, args: Any, kwargs: Any
    ) -> Any:
        _, own, *point = batched
        if size == 0 or not form.wanted or any(map(flagged, point)):
            return NotImplemented
        flags = [own] * len(ds) if isinstance(own, bool) else own
        rows = [
            [d[i] if flag else d for d, flag in zip(ds, flags, strict=True)]
            for i in range(size)
        ]
        try:
            results = run(PLAIN, f, form, rows, args, kwargs)
        except UnsupportedProgram:  # with several tangents at once
            return NotImplemented
        return [np.stack(column) for column in zip(*results, strict=True)], True

    return batch


def flagged(flags: Any) -> bool:
    """Whether any part of an argument is batched."""
    if isinstance(flags, bool):
        return flags
    level = structure(flags)
    return level is not None and any(map(flagged, level.values))


def named(made: Callable[..., Any], what: str, f: Any) -> Callable[..., Any]:
    name = getattr(f, "__name__", type(f).__name__)
    made.__name__ = made.__qualname__ = f"{what} of {name}"
    return made


def handle(made: Callable[..., Any], f: Any) -> Primitive:
    primitive = Primitive(made, host=True)
    primitive.__dict__["of"] = f
    return primitive
