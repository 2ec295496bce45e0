"""Rules of SciPy's own solvers: those of the functions with their names here."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.optimize

import rules_core as rc
from rules_core import (
    HasForwardsMode,
    HasReverseMode,
    RuleConfig,
    frule_via_ad,
    rrule_via_ad,
)
from rules_core.extend import (
    Opener,
    build_tangent,
    find_adapter,
    flatten,
    is_sparse,
    stand_in,
)
from rules_scipy._functions import is_traced
from rules_scipy.sparse._moves import like

__all__ = ["Declared", "but", "is_zero", "result_of", "without_formula"]

_FORWARD, _REVERSE = RuleConfig[HasForwardsMode], RuleConfig[HasReverseMode]
_field = scipy.optimize.OptimizeResult.__getattr__


class Declared(dict[Any, str]):
    """Functions of a module of SciPy, each `"covered"` or `"constant"`."""

    def constant(self, *functions: Any) -> None:
        """Declare functions without derivative."""
        for function in functions:
            self[function] = "constant"
            rc.non_differentiable(function)

    def cover(self, f: Any, own: Any, **missing: str) -> None:
        """Give SciPy's `f` the derivative of `own`, which calls primitives.

        The AD system that runs the rule differentiates `own`, which has the signature
        and the results of `f`.

        Args:
            f: The function of SciPy.
            own: That of this pack.
            **missing: By the name of an argument in which `own` takes no derivative
                although there is one, what is missing and the remedy.
        """
        self[f] = "covered"
        names = list(inspect.signature(own).parameters)
        _define(f, own, {names.index(name): text for name, text in missing.items()})

    def follow(self, f: Any, own: Any, inner: Any = None, **missing: str) -> None:
        """`cover` a function whose keyword-only arguments have derivatives in `own`.

        A rule has no cotangent for them, so the engine follows `own` itself.

        Args:
            f: The function of SciPy.
            own: That of this pack.
            inner: What rules differentiate; `own` by default.
            **missing: As for `cover`; `own` raises these errors itself.
        """
        self.cover(f, inner or own, **missing)
        stand_in(f)(own)


def _define(f: Any, own: Any, missing: dict[int, str]) -> None:
    def unknown(args: Any) -> dict[int, Any]:
        """The tangents of arguments in which the derivative is missing."""
        given = [i for i in missing if i < len(args) and args[i] is not None]
        return {i: rc.not_implemented(missing[i]) for i in given}

    @rc.rrule.define(f, config=_REVERSE)
    def solver_rrule(config: Any, *args: Any, **kw: Any) -> Any:
        y, pullback = rrule_via_ad(config, own, *args, **kw)

        def solver_pullback(dy: Any) -> Any:
            cotangents = dict(enumerate(pullback(dy)[1:]))
            return rc.NoTangent(), *(cotangents | unknown(args)).values()

        return y, solver_pullback

    @rc.frule.define(f, config=_FORWARD)
    def solver_frule(config: Any, tangents: Any, *args: Any, **kw: Any) -> Any:
        given = rc.NoTangent(), *tangents[1:]
        y, dy = frule_via_ad(config, given, own, *args, **kw)
        for i, tangent in unknown(args).items():
            if not is_zero(tangents[1 + i]):
                return y, tangent
        return y, dy


def is_zero(tangent: Any) -> bool:
    """Whether a tangent is zero, or one of a container with zeros."""
    if isinstance(tangent, rc.StructuralTangent):
        return all(map(is_zero, rc.backing(tangent).values()))
    if rc.is_array(tangent):
        return not (tangent != 0).any()
    return isinstance(tangent, rc.AbstractZero) or not np.any(tangent)


# What SciPy reports besides: numbers that depend on what the solver does.


def but(found: dict[str, Any], *own: str) -> dict[str, Any]:
    """What SciPy reports, in its order; None where a caller has a value of its own."""
    return {k: None if k in own else x for k, x in found.items()}


def without_formula(value: Any, y: Any, reason: str) -> Any:
    """A value whose numbers have no derivative in what the result `y` depends on."""
    if isinstance(value, dict):
        items = value.items()
        return type(value)({k: without_formula(x, y, reason) for k, x in items})
    if type(value) in (list, tuple):
        return type(value)([without_formula(x, y, reason) for x in value])
    if is_sparse(value):
        return like(value, without_formula(value.data, y, reason))
    return _reported(value, y, reason) if _has_numbers(value) else value


def _is_moving(x: Any) -> Any:
    return x if rc.is_array(x) and "float" in str(x.dtype) else None


_NUMBERS = Opener((float,), _is_moving)


def _has_numbers(value: Any) -> bool:
    numbers: list[Any] = []
    flatten(value, numbers, _NUMBERS)
    return bool(numbers)


def _not_a_number(value: Any) -> Any:
    """A tangent of NaN."""
    numbers: list[Any] = []
    layout = flatten(value, numbers, _NUMBERS)
    return build_tangent(layout, iter([n * float("nan") for n in numbers]))


rc.non_differentiable(_has_numbers)
rc.non_differentiable(_not_a_number)


@rc.primitive
def _reported(x: Any, y: Any, reason: str) -> Any:
    return x


@rc.frule.define(_reported)
def reported_frule(tangents: Any, x: Any, y: Any, reason: str) -> Any:
    """NaN; an error would also come for reports that are not read."""
    return _reported(x, y, reason), _not_a_number(x)


@rc.rrule.define(_reported)
def reported_rrule(x: Any, y: Any, reason: str) -> Any:
    """Not implemented for a cotangent other than zero; NaN in traced code."""

    def reported_pullback(dx: Any) -> Any:
        zero = rc.ZeroTangent()
        dy: Any = zero
        if not isinstance(dx, rc.StructuralTangent) and is_traced(dx):
            dy = y * float("nan")
        elif not is_zero(dx):
            dy = rc.not_implemented(reason)
        return rc.NoTangent(), zero, dy, rc.NoTangent()

    return _reported(x, y, reason), reported_pullback


class FewerFields(scipy.optimize.OptimizeResult):  # type: ignore[misc]  # untyped
    """The result of a solver in a framework: what SciPy reports in arrays alone."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        message = (
            f"{name}: in JAX and PyTorch the result of a solver has no messages, and "
            f"nothing of a size that only the solver knows; this one has "
            f"{', '.join(self)}. Call SciPy with the numbers of the arguments."
        )
        raise AttributeError(message, name=name, obj=self)


def result_of(fields: dict[str, Any]) -> Any:
    """The result of a solver, of the class that fits where it runs."""
    cls = FewerFields if _in_framework(fields) else scipy.optimize.OptimizeResult
    return cls(fields)


def _in_framework(fields: dict[str, Any]) -> bool:
    return find_adapter((fields,), {}) is not None


rc.non_differentiable(_in_framework)


# A rule may not call a captured function itself: the AD system that runs the rule knows
# what the function captures.


def value_forwards(config: Any, f: Any, *args: Any) -> Any:
    """`f(*args)` in a rule of forward mode."""
    none = (rc.ZeroTangent(),) * len(args)
    return frule_via_ad(config, (rc.NoTangent(), *none), f, *args)[0]


def value_backwards(config: Any, f: Any, *args: Any) -> Any:
    """`f(*args)` in a rule of reverse mode."""
    return rrule_via_ad(config, f, *args)[0]


# A field of a result is an entry of a dict.


def field(result: Any, name: str) -> Any:
    """A field as SciPy's results have it."""
    if name not in result:
        raise AttributeError(name)
    return result[name]


@rc.rrule.define(_field)
def field_rrule(result: Any, name: str) -> Any:
    """For a method, the instance comes first."""

    def field_pullback(dx: Any) -> Any:
        return rc.Tangent(type(result), {name: dx}), rc.NoTangent()

    return field(result, name), field_pullback


@rc.frule.define(_field, config=_FORWARD)
def field_frule(config: Any, tangents: Any, result: Any, name: str) -> Any:
    """For a method, the instance's tangent comes first."""
    _, dx = frule_via_ad(config, (rc.NoTangent(), *tangents), field, result, name)
    return result[name], dx
