"""A forward pass in which a rule chose one of several valid tangents.

So it does for the vectors of equal eigenvalues or singular values. The pass runs once
more with other tangents: a program that has a derivative has the same tangent then.
"""

from typing import Any

import numpy as np

from rules_autodiff._forward.forward import ForwardRun
from rules_autodiff._forward.watched import over_leaves
from rules_autodiff._python.errors import UnsupportedProgram
from rules_autodiff._python.leaves import leaves
from rules_autodiff._refusals import name_of
from rules_core.extend import CHOSEN

from .one_pass import OnePass

__all__ = ["check_choice"]


def check_choice(one: OnePass, has_aux: bool, options: Any) -> None:
    """Raise an error if the tangents of a finished pass depend on the choice.

    The pass is taken back.
    """
    found = tangents_of(one, has_aux)
    one.take_back()
    with CHOSEN.turned(1.0):
        run = ForwardRun(one.run.below, len(one.lanes))
        again = OnePass(run, one.f, one.primals, one.lanes, **options)
    others = tangents_of(again, has_aux)
    again.take_back()
    noise = Rounding(one, has_aux)
    if len(found) == len(others) and all(map(noise.alike, found, others)):
        return
    message = (
        f"The tangent of {name_of(one.f)} must not depend on the choice of vectors "
        "that the matrix does not determine: those of equal eigenvalues or singular "
        "values, the further ones of a full decomposition, the phase of a complex one; "
        "but it does. Return a result that does not depend on the choice, such as a "
        "projector or the values, or make the values differ."
    )
    raise UnsupportedProgram(message)


def tangents_of(one: OnePass, has_aux: bool) -> list[Any]:
    """The numbers and arrays in the tangents of the result."""
    found: list[Any] = []
    main = one.out[0] if has_aux else one.out
    for lane in range(len(one.lanes)):
        over_leaves(found.append, one.run.own_tangent(main, lane))
    return [np.array(leaf) for leaf in found]


class Rounding:
    """The size of rounding errors of the tangents of a pass."""

    def __init__(self, one: OnePass, has_aux: bool):
        out = leaves(one.out[0] if has_aux else one.out)
        moves: list[Any] = []
        for lane in one.lanes:
            for dx in lane:
                over_leaves(moves.append, dx)
        self.scale = largest(moves) * (1.0 + largest(out))

    def alike(self, x: Any, y: Any) -> bool:
        """Whether two tangents are equal up to rounding."""
        eps = np.finfo(x.dtype).eps
        slack = np.sqrt(eps) * largest([x, y]) + 1e4 * eps * self.scale
        return x.shape == y.shape and bool(
            np.allclose(x, y, rtol=0.0, atol=slack, equal_nan=True)
        )


def largest(found: list[Any]) -> float:
    """The largest size of finite numbers."""
    sizes = [np.abs(np.asarray(x)) for x in found]
    finite = [float(np.max(x[np.isfinite(x)], initial=0.0)) for x in sizes]
    return max(finite, default=0.0)
