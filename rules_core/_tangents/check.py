"""Checks of tangents in the form in which authors return them.

Each check returns None if all is well, otherwise the path and the problem. The values
of tracers are not checked, only their shapes and dtypes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rules_core._base.arrays import array_namespace, is_array
from rules_core._base.errors import NoTangentError, ProjectionError

from .canonical import has_own_tangent, has_tangent, tangent_type
from .containers import StructuralTangent
from .leaves import is_complex, is_float0, is_number
from .project import entries_of, missing_entry
from .structure import entry_path, structure
from .thunks import AbstractThunk, InplaceableThunk, unthunk
from .zeros import AbstractZero, NoTangent, NotImplementedTangent

__all__ = [
    "check_dy",
    "check_finite",
    "check_same",
    "check_tangent",
    "leaves",
    "refuse_no_tangent",
    "snapshot",
    "whole_numbers",
]


_PLAIN = (int, float, complex, str, bytes)


def leaves(x: Any, path: str = "", seen: frozenset[int] = frozenset()) -> Iterator[Any]:
    """`(path, leaf)` of everything in a container; cycles are walked once."""
    level = None if id(x) in seen else structure(x)
    if level is None:
        yield path, x
        return
    seen |= {id(x)}
    for sub, value in zip(level.paths(path), level.values, strict=True):
        yield from leaves(value, sub, seen)


def snapshot(x: Any) -> dict[str, tuple[Any, Any]]:
    """The contents of `x`, with copies of its writable arrays, for comparison."""
    return {path: (leaf, _copied(leaf)) for path, leaf in leaves(x)}


def _copied(leaf: Any) -> Any:
    if hasattr(leaf, "_version"):  # a tensor counts the writes itself
        return leaf._version  # noqa: SLF001  the documented counter of in-place writes
    if is_array(leaf) and hasattr(leaf, "flags") and hasattr(leaf, "copy"):
        return leaf.copy()
    return None


def check_same(before: dict[str, tuple[Any, Any]], x: Any) -> str | None:
    """The path of the first entry that differs from its snapshot."""
    now = dict(leaves(x))
    for path in before | now:
        there = path in before and path in now
        if not there or _changed(*before[path], now[path]):
            return path
    return None


def _changed(old: Any, copied: Any, leaf: Any) -> bool:
    if type(old) is not type(leaf):
        return True
    if hasattr(leaf, "_version"):
        return leaf is not old or bool(leaf._version != copied)  # noqa: SLF001  see above
    if copied is None:  # JAX arrays are read-only
        return isinstance(leaf, _PLAIN) and leaf is not old and leaf != old
    if copied.shape != leaf.shape or copied.dtype != leaf.dtype:
        return True
    return bool(copied.tobytes() != leaf.tobytes())


def _has_nan(leaf: Any) -> bool:
    if isinstance(leaf, (float, complex)):
        return leaf != leaf  # noqa: PLR0124  NaN is the value that differs from itself
    if not is_array(leaf):
        return False
    try:
        xp = array_namespace(leaf)
        floating = xp.isdtype(leaf.dtype, ("real floating", "complex floating"))
        return bool(floating and xp.any(xp.isnan(leaf)))
    except Exception:
        return False


def check_finite(x: Any, inputs: list[Any]) -> str | None:
    """The first NaN of an output, unless an input has a NaN."""
    bad = [path for path, leaf in leaves(_forced(x)) if _has_nan(leaf)]
    if not bad or any(_has_nan(leaf) for x in inputs for _, leaf in leaves(x)):
        return None
    return f"{bad[0]} has a NaN, and no input has one"


def _forced(x: Any) -> Any:
    while isinstance(x, AbstractThunk):
        x = unthunk(x)
    return x


def check_dy(y: Any, dy: Any, path: str = "") -> str | None:
    """Problems of the cotangent that a pullback receives."""
    if isinstance(dy, AbstractThunk) or dy is None:
        return f"{path} must be concrete, but is {type(dy).__name__}"
    if isinstance(dy, AbstractZero) and tangent_type(y) is not NoTangent:
        return (
            f"{path} must be concrete, but is {dy!r}: materialise(y, dy) first, or "
            "define the rule with symbolic_zeros=True"
        )
    return check_tangent(y, dy, path)


def check_tangent(x: Any, dx: Any, path: str = "") -> str | None:
    """Problems of a tangent of `x` that a rule returned.

    Zeros, None, thunks, plain containers and Python scalars for 0-d arrays are valid.
    """
    broken = _broken_promise(x, dx, path)
    dx = _forced(dx)
    if broken is not None:
        return broken
    if dx is None or isinstance(dx, NotImplementedTangent):
        return None
    kind = tangent_type(x)
    if isinstance(dx, AbstractZero):
        wrong = isinstance(dx, NoTangent) and kind is not NoTangent
        cure = f"but {type(x).__name__} has tangents; return ZeroTangent() for zero"
        return f"{path} is NoTangent(), {cure}" if wrong else None
    if kind is NoTangent:
        return f"{path} must be NoTangent(), but is {_brief(dx)}"
    level = structure(x)
    return (
        _check_leaf(x, dx, path) if level is None else _check_entries(level, dx, path)
    )


def refuse_no_tangent(rule: Any, x: Any, dx: Any, what: str) -> None:
    """Raise an error if a rule gave `NoTangent()` for a value that has a tangent.

    For AD systems, for the tangents that they need: this zero would be mistaken for a
    derivative. `ZeroTangent()` and None are the author's zeros; a rule declared
    `non_differentiable` is allowed.

    Args:
        rule: The rule.
        x: The primal.
        dx: The rule's tangent or cotangent; thunks are not computed.
        what: Its name in the error, such as `"the cotangent of argument 1"`.

    Raises:
        NoTangentError: `dx` or an entry is `NoTangent()`, and its primal has a tangent.
        ProjectionError: A plain container leaves out an entry that has a tangent.
    """
    if rule.constant or dx is None or is_array(dx) or isinstance(dx, _PLAIN):
        return
    try:
        path = _misplaced(x, dx, "", frozenset())
    except ProjectionError as error:
        at = what.removeprefix("the cotangent of ") + error.path
        raise missing_entry(at) from None
    if path is not None:
        raise NoTangentError(rule, f"{what}{path}")


def whole_numbers(x: Any, dx: Any) -> str | None:
    """The dtype of a tangent that holds integers or truth values, for floats.

    They carry no derivative: a truncated slope, or a comparison, was meant to be
    another value. Python's integers are numbers that an author wrote, such as 0 and 1.

    Args:
        x: The primal.
        dx: The rule's tangent or cotangent.

    >>> import numpy as np
    >>> from rules_core.extend import whole_numbers
    >>> (
    ...     whole_numbers(1.5, np.asarray(2)),
    ...     whole_numbers(1.5, 2.0),
    ...     whole_numbers(1.5, 2),
    ... )
    ('int64', None, None)
    """
    if isinstance(dx, bool):
        found = "bool"
    elif is_array(dx) and not is_float0(dx):
        found = str(dx.dtype).rpartition(".")[2]
        if not found.startswith(_WHOLE):
            return None
    else:
        return None
    return found if is_number(x) else None


_WHOLE = ("bool", "int", "uint")


def _misplaced(x: Any, dx: Any, path: str, seen: frozenset[int]) -> str | None:
    """The path of the first `NoTangent()` for a primal that has a tangent.

    An object that contains itself, such as a recursive function, is checked once: what
    is reached by way of it has its tangent there.
    """
    if isinstance(dx, NoTangent):
        return path if has_own_tangent(x, seen) else None
    if is_array(dx) or isinstance(dx, (AbstractZero, AbstractThunk, *_PLAIN)):
        return None
    if dx is None or id(x) in seen or (level := structure(x)) is None:
        return None
    try:
        given = entries_of(level, dx, path)
    except ProjectionError:
        return None  # projection raises it
    for name, value in zip(level.names, level.values, strict=True):
        sub = entry_path(path, level.keyed, name)
        left_out = name not in given and not isinstance(dx, StructuralTangent)
        if left_out and has_tangent(value):
            raise missing_entry(sub)
        place = _misplaced(value, given.get(name), sub, seen | {id(x)})
        if place is not None:
            return place
    return None


def _check_leaf(x: Any, dx: Any, path: str) -> str | None:
    shape = getattr(x, "shape", ())
    if is_complex(dx) and not is_complex(x):
        return f"{path} must be real, like its primal, but is complex"
    if isinstance(dx, (bool, int, float, complex)):
        return (
            None if shape == () else f"{path} must have shape {shape}, but is a number"
        )
    if not is_array(dx):
        return f"{path} must be like {_brief(x)}, but is {_brief(dx)}"
    if tuple(dx.shape) != tuple(shape):
        return f"{path} must have shape {tuple(shape)}, but has {tuple(dx.shape)}"
    if is_array(x) and dx.dtype != x.dtype:
        return f"{path} must have dtype {x.dtype}, but has {dx.dtype}"
    return None


def _check_entries(level: Any, dx: Any, path: str) -> str | None:
    try:
        given = entries_of(level, dx, path)
    except ProjectionError as error:
        return str(error).removeprefix("the tangent of ")
    for name, value in zip(level.names, level.values, strict=True):
        sub = entry_path(path, level.keyed, name)
        if name not in given and not isinstance(dx, StructuralTangent):
            return f"{sub} is missing in {_brief(dx)}"
        problem = check_tangent(value, given.get(name), sub)
        if problem is not None:
            return problem
    return None


def _broken_promise(x: Any, dx: Any, path: str) -> str | None:
    """Whether the in-place half of an `InplaceableThunk` adds another value."""
    if not isinstance(dx, InplaceableThunk) or not hasattr(x, "flags"):
        return None
    xp = array_namespace(x)
    value = unthunk(dx)
    start = xp.ones_like(x)
    added = dx.add(xp.ones_like(x)) - start
    scale = 1e-6 + 1e-4 * abs(value)
    if bool(xp.all(abs(added - value) <= scale)):
        return None
    return f"{path}: InplaceableThunk.add adds something other than its value"


def _brief(x: Any) -> str:
    if is_array(x):
        return f"an array of shape {tuple(x.shape)} and dtype {x.dtype}"
    return (
        f"{type(x).__name__} {x!r}"
        if isinstance(x, (int, float, complex))
        else (type(x).__name__)
    )
