"""Forward mode by generated code, if there is some: one tangent, or several at once."""

import sys
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from rules_autodiff.straight._program.kinds import REAL
from rules_core import NoTangent

from .arguments import CONTAINERS, STAR, signature_of
from .compiling import PASS
from .left import INNER, Left
from .results import UNSHARED, is_finite
from .signatures import DOUBLE, leave
from .tier import Pass, chosen, gradient, noted, source_of

__all__ = ["Push", "directions", "tangent_program"]

FLOATS = (float, np.float64)


class Push(Pass):
    """Generated code that gives the value of a call, and tangents of it.

    Args:
        f: The function.
        args: Its positional arguments.
        kwargs: Its keyword arguments, constants.
        active: The positions of the arguments that have tangents, in ascending order.
        now: What the caller asks for.
        writing: Whether programs may write into their arguments, of which the code
            has copies.
        lanes: Whether there are several tangents, along one more axis at the end.
    """

    def __init__(
        self,
        f: Any,
        args: Any,
        kwargs: Any,
        active: tuple[int, ...],
        *,
        now: int,
        writing: bool,
        lanes: bool = False,
    ):
        self.now = now
        mode = "lanes" if lanes else "forward"
        jitted, f = source_of(f)
        code = getattr(f, "__code__", None)
        if code is not None and code.co_flags & STAR:
            leave("it has star arguments")
        choice = chosen(f, args, kwargs, active, now=now, mode=mode)
        if choice is None:
            leave("there is no code")
        self.form, self.written, self.args, self.order, self.caps = choice
        self.written.compiling.wanted |= jitted
        if self.written.unit.writes and not writing:
            leave("it writes into its arguments, and the caller is to see it")

    def push(self, dots: Any) -> tuple[Any, Any]:
        """The value, and its tangents for those of the active arguments.

        Raises:
            Left: The tape's forward mode has to do it.
        """
        found: tuple[Any, Any] = self.run(self.both, dots)
        self.form.worked()
        return found

    def pushes(self, columns: list[Any]) -> list[tuple[Any, Any]]:
        """The value and its tangents for several directions, one after the other.

        Raises:
            Left: The tape's forward mode has to do it.
        """
        found: list[Any] = self.run(self.each, columns)
        self.form.worked()
        return found

    def each(self, columns: list[Any]) -> list[Any]:
        return [self.both(dots) for dots in columns]

    def gradient(self, dots: Any) -> tuple[Any, ...]:
        """The derivatives of the tangent of a number, in the active arguments.

        They are the Hessian times the tangents of these.

        Raises:
            Left: There is no code for it.
        """
        written, unit = self.written, self.written.unit
        if unit.result is not REAL:
            leave("its result is no number")
        program = tangent_program(written, len(self.args), len(dots))
        args, now = (*self.args, self.caps, *dots), self.now or INNER
        try:
            found = gradient(program, args, {}, self.order, now=now)
        except Left as error:
            reason = f"in its second derivative, {error}"
            raise type(error)(reason) from None
        if found is None:
            leave("there is no code for its second derivative")
        return found[1]

    def both(self, dots: Any) -> tuple[Any, Any]:
        value, tangents = self.compiled_tangents(dots) or self.written.forward(
            *self.args, self.caps, *dots
        )
        rows = value if type(value) is tuple else (value,)
        ys = tuple(map(self.leaf, rows))
        lanes = dots[0].shape[-1:] if self.form.mode == "lanes" else None
        dys = own_tangents(ys, tangents, lanes)
        return (ys, dys) if type(value) is tuple else (ys[0], dys[0])

    def compiled_tangents(self, dots: Any) -> Any:
        """The value and its tangents by compiled code; or None."""
        written, now = self.written, self.now
        compiling = written.compiling
        if self.form.mode == "lanes" or not compiling.concerns(written.unit, now):
            return None
        kernel = compiling.chosen(written.unit, self.args, self.caps, dots, (), now)
        if kernel is None:
            compiling.work += PASS
            return None
        args = self.args, self.caps, dots
        again = partial(written.forward, *self.args, self.caps, *dots)
        return noted(compiling, lambda: kernel.push(*args), again, now)


def tangent_program(written: Any, arguments: int, dots: int) -> FunctionType:
    """Code in forward mode as a program, made when it is first asked for."""
    if written.tangent is None:
        # Only derivatives of derivatives need it.
        from rules_autodiff.straight._unit.reread import program_of

        written.tangent = program_of(written.unit, arguments, dots)
    found: FunctionType = written.tangent
    return found


def own_tangents(ys: Any, tangents: Any, lanes: Any) -> tuple[Any, ...]:
    """Tangents in the classes and shapes of their values, in memory of their own.

    Raises:
        Left: One is not finite: zeros are strong, and only the hooks ask for them.
    """
    found = []
    places = iter(ys)  # `zip` would hold references to the tangents
    for dy in tangents:
        y = next(places)
        if not is_finite(dy):
            leave("a derivative is not finite")
        if type(y) is not ndarray and lanes is None:
            found.append(dy if type(dy) is type(y) else type(y)(dy))
            continue
        shape = (*np.shape(y), *(lanes or ()))
        if type(dy) is not ndarray or dy.shape != shape or dy.dtype is not DOUBLE:
            leave("a tangent is not of its value's form")
        shared = dy.base is not None or sys.getrefcount(dy) > UNSHARED
        found.append(np.array(dy) if shared else dy)
    return tuple(found)


def directions(primals: Any, tangents: Any) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """The positions of the arguments with tangents, and those.

    Raises:
        Left: They are in other forms than numbers and arrays of float64.
    """
    plain = type(primals) in (tuple, list) and type(tangents) in (tuple, list)
    if not plain or len(primals) != len(tangents):
        leave("the tangents are not those of the arguments")
    active, dots = [], []
    for i, dx in enumerate(tangents):
        if dx is None or isinstance(dx, NoTangent):
            continue
        if not is_direction(primals[i], dx):
            signature_of(primals, ())
            leave(unlike(primals[i], dx))
        active.append(i)
        dots.append(dx)
    if not active:
        leave("no argument has a tangent")
    return tuple(active), tuple(dots)


def unlike(x: Any, dx: Any) -> str:
    """Why an argument and its tangent are not those of written code."""
    if type(x) in CONTAINERS:
        return f"a {type(x).__name__} has a tangent: pass its entries as arguments"
    return f"a tangent of a {type(x).__name__} is of class {type(dx).__name__}"


def is_direction(x: Any, dx: Any) -> bool:
    """Whether a tangent is a number for a number, or such an array for an array."""
    if type(x) is not ndarray:
        return type(x) in FLOATS and type(dx) in FLOATS
    floats = type(dx) is ndarray and x.dtype is DOUBLE is dx.dtype
    return floats and bool(dx.shape == x.shape)
