"""Pullbacks with tangents by generated code: what a derivative of a derivative asks.

With `t(x, ẋ) = J(x) ẋ` the code in forward mode, differentiated backward once more,
gives the tangent of `x̄ = J* ȳ`, for a cotangent `ȳ` that moves along `ẏ̄`:

    t_x* ȳ + t_ẋ* ẏ̄ = (∂(J ẋ)/∂x)* ȳ + J* ẏ̄
"""

from typing import Any

from numpy import ndarray

from .called_back import CalledBack, found
from .entries import tangent_at
from .forward import tangent_program
from .left import INNER
from .signatures import leave
from .tier import Pass, check_cotangent

__all__ = ["PushedBack"]


class PushedBack:
    """One run of `f(*args)` with tangents, for any number of backward passes.

    Args:
        f: The function.
        args: Its arguments.
        lanes: For each direction the tangents `(df, dx1, …)`.

    Attributes:
        output: The value.
        tangents: Its tangents, one for each direction.

    Raises:
        Left: The tape has to do it.
    """

    def __init__(self, f: Any, args: Any, lanes: list[Any]) -> None:
        self.plain = CalledBack(f, args)  # values are those of a run without tangents
        entry, self.leaves, self.caps = found(f, args, "forward")
        self.entry, self.output = entry, self.plain.output
        if type(self.output) is tuple:
            leave("it returns several values")
        pairs = [*zip(entry.code.paths, entry.code.active, strict=True)]
        self.passes = [
            self.pass_along([tangent_at(dx, path, self.leaves[i]) for path, i in pairs])
            for dx in lanes
        ]
        self.tangents = [in_class_of(self.output, p.output) for p in self.passes]

    def pass_along(self, dots: list[Any]) -> Pass:
        """A run of the code in forward mode, to be differentiated."""
        program = tangent_program(self.entry.written, len(self.leaves), len(dots))
        args = (*self.leaves, self.caps, *dots)
        return Pass(program, args, {}, tuple(self.entry.code.active), now=INNER)

    def back(self, dy: Any, lanes: list[Any]) -> tuple[Any, list[Any]]:
        """The cotangents of leaves, and for each direction their tangents.

        Args:
            dy: The cotangent of the value.
            lanes: Its tangents; None where there is none.

        Raises:
            Left: The tape has to do it.
        """
        check_cotangent(self.output, dy)
        found, rows = self.plain.raw(dy), []
        for one, ddy in zip(self.passes, lanes, strict=True):
            row = [*one.back(dy)]
            if ddy is not None:
                check_cotangent(self.output, ddy)
                row = [a + b for a, b in zip(row, self.plain.raw(ddy), strict=True)]
            rows.append(row)
        return found, rows

    def shaped(self, raw: Any) -> tuple[Any, ...]:
        """Cotangents of leaves in the form of the function and of each argument."""
        result: tuple[Any, ...] = self.entry.code.given(self.leaves, raw)
        return result

    def in_class(self, raw: Any) -> list[Any]:
        """Cotangents of leaves, numbers in the classes of these."""
        leaves = [self.leaves[i] for i in self.entry.code.active]
        return [in_class_of(x, c) for x, c in zip(leaves, raw, strict=True)]


def in_class_of(x: Any, number: Any) -> Any:
    """A number in the class of another; arrays are as they are."""
    return number if type(x) is ndarray else type(x)(number)
