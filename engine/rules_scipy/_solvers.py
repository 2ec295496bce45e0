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

__all__ = ["Declared", "is_zero"]

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
    return isinstance(tangent, rc.AbstractZero) or not np.any(tangent)


# A field of a result is an entry of a dict.


def field(result: Any, name: str) -> Any:
    """A field as SciPy's results have it."""
    if name not in result:
        raise AttributeError(name)
    return result[name]


@rc.rrule.define(_field, config=_REVERSE)
def field_rrule(config: Any, result: Any, name: str) -> Any:
    """For a method, the instance comes first."""
    x, pullback = rrule_via_ad(config, field, result, name)

    def field_pullback(dx: Any) -> Any:
        return pullback(dx)[1:]

    return x, field_pullback


@rc.frule.define(_field, config=_FORWARD)
def field_frule(config: Any, tangents: Any, result: Any, name: str) -> Any:
    """For a method, the instance's tangent comes first."""
    _, dx = frule_via_ad(config, (rc.NoTangent(), *tangents), field, result, name)
    return result[name], dx
