"""Choices between numbers or arrays, entry by entry: extremes, `where`, `clip`."""

from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import BOOL, INT, REAL, Kind, array
from rules_autodiff.straight._program.written import Call, Written

from .adjoints import pulls_by_adjoint
from .arithmetic import binary, broadcast, is_mixed, prefix_of, reduced
from .elementwise import by_reals
from .forms import NUMBERS, only
from .formulas import pulls_of, pulls_of_code
from .table import Operation, function, method

__all__: list[str] = []


# extremes: ties share


def extreme(f: Any) -> Operation:
    """The larger or smaller of two values."""

    def write_extreme(call: Call) -> Written | None:
        if not only(call, 2) or is_mixed(call):
            return None
        return binary(call, *pulls_of(f, prefix_of(call), 2))

    return write_extreme


for _f in (np.maximum, np.minimum, np.fmax, np.fmin):
    function(_f)(extreme(_f))


@function(max, min)
def write_extreme_of_numbers(call: Call) -> Written | None:
    """The builtins, for separate numbers."""
    kinds = call.kinds
    if call.options or len(kinds) < 2 or not all(k in (REAL, INT) for k in kinds):
        return None
    if all(k is INT for k in kinds):
        return Written(INT, None, (None,) * len(kinds))
    from rules_numpy.python.builtins import extreme_partials

    pulls = pulls_of_code(extreme_partials, "math", len(kinds))
    return Written(REAL, None, by_reals(kinds, pulls))


# choices


@function(np.where)
def write_where(call: Call) -> Written | None:
    """Entries of one or the other array."""
    if not only(call, 3) or call.kinds[0].is_real or call.kinds[0].name == "row":
        return None
    condition, x, y = call.kinds
    kind = broadcast((x, y))
    ndim = max(k.ndim for k in call.kinds)
    if kind is None or not kind.is_real or not ndim or BOOL in (x, y):
        return None
    if condition.name not in NUMBERS and condition.name != "array":
        return None
    text = "floats(np_where({0}, {1}, {2}))" if is_mixed(call) else None
    pulls = pulls_by_adjoint(np.where, call.kinds)
    pulls = tuple(
        [p if k.is_real else None for k, p in zip(call.kinds, pulls, strict=True)]
    )
    pushes = None, "np_where({0}, {dz}, 0.0)", "np_where({0}, 0.0, {dz})"
    return Written(array(ndim), text, pulls, pushes=pushes)


@function(np.clip)
@method("clip")
def write_clip(call: Call) -> Written | None:
    """Clipping; the bounds are inside."""
    kinds = tuple(k for k in call.kinds if k.name != "none")
    if call.options or not 2 <= len(call.kinds) <= 3 or len(kinds) < 2:
        return None
    kind = broadcast(kinds)
    if kind is None or any(k.dtype == "?" or k is BOOL for k in kinds):
        return None
    if not kind.is_real:
        return Written(kind, None, (None,) * len(call.kinds))
    if not kinds[0].is_real or any(k.dtype == "l" for k in kinds):
        return None
    texts = clip_texts(call)
    own = tuple(k if k.name != "none" else INT for k in call.kinds)
    pulls = tuple([of_choice(text, i, own) for i, text in enumerate(texts)])
    if kind.name == "array":
        return Written(kind, None, pulls, pushes=texts)
    # `numpy.where` of numbers gives an array without axes.
    return Written(kind, None, pulls, pushes=tuple([f"{text}[()]" for text in texts]))


def clip_texts(call: Call) -> tuple[str, ...]:
    """The cotangents of an array or number and of its optional bounds, not reduced."""
    kinds = call.kinds
    fields = [f"{{{i}}}" if k.name != "none" else "None" for i, k in enumerate(kinds)]
    bounds = ", ".join([*fields, "None"][:3])
    names = ("clipped", "clipped_low", "clipped_high")[: len(kinds)]
    texts = [f"{f}({{dz}}, {bounds})" for f in names]
    if kinds[0].name == "array" and is_interval(call.constants[1:]):
        texts[0] = "np_where(({0} < {1}) | ({0} > {2}), 0.0, {dz})"
    return tuple(texts)


def is_interval(bounds: tuple[Any, ...]) -> bool:
    """Whether a literal lower bound is below a literal upper one."""
    numbers = len(bounds) == 2 and all(type(b) in (int, float) for b in bounds)
    return numbers and bool(bounds[0] <= bounds[1])


def of_choice(text: str, place: int, kinds: tuple[Kind, ...]) -> Any:
    """The cotangent of `numpy.where`; for numbers it must become a number."""
    if all(k.name != "array" for k in kinds):
        return f"float({text})" if kinds[place].is_real else None
    return reduced(text, place, kinds)
