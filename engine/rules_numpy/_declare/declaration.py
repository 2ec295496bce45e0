"""The rules of one declared function: its derivative and the adjoint.

Common to all calls: arguments become arrays, options that the derivative does not
support raise an error, cotangents match their arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np

import rules_core as rc
from rules_core.extend import LINEAR

from .arguments import (
    NoValue,
    array_of,
    check_entries,
    fit,
    is_number_type,
    moves,
    name_of,
    restore,
    tangent_array,
)
from .signatures import is_method, named, out_and_keywords

__all__ = ["LINEAR_MAPS", "REVERSE", "SYMBOLIC", "Declaration"]

NoTangent, ZeroTangent = rc.NoTangent(), rc.ZeroTangent()

# Derivatives whose pullback distinguishes unused results from zero cotangents.
SYMBOLIC: set[Callable[..., Any]] = set()
# Derivatives whose pullback only moves, scales and adds entries.
LINEAR_MAPS: set[Callable[..., Any]] = set()
# Derivatives whose rrule chooses among several valid values: the choice, and the common
# part.
REVERSE: dict[Callable[..., Any], tuple[Callable[..., Any], Any]] = {}


class Declaration:
    """One function's derivative, and the checks that all calls share."""

    def __init__(
        self,
        f: Any,
        maps: Any,
        numbers: tuple[int, ...] | None,
        bare: bool,
        arrays: bool | tuple[int, ...],
        call: Any = None,
    ) -> None:
        self.f, self.maps, self._numbers = f, maps, numbers
        self.run = self.back = call or f
        if maps in REVERSE:
            self.back = partial(REVERSE[maps][0], f)
        self.bare, self.arrays = bare, arrays
        self.first = numbers[0] if numbers else 0
        self.head = () if is_method(f) else (NoTangent,)
        self.out, self.keywords = out_and_keywords(f, maps)

    def register(self) -> None:
        """Register frule and rrule."""
        symbolic = self.maps in SYMBOLIC
        backward = named(_backward(self), self, None)
        if self.maps in LINEAR_MAPS:
            setattr(backward, LINEAR, self.pulls)
        rc.frule.define(self.f, host=True)(named(_forward(self), self, None))
        rc.rrule.define(self.f, host=True, symbolic_zeros=symbolic)(backward)
        if self.back is not self.run:
            rc.rrule.define(
                self.f, config=rc.RuleConfig, host=True, symbolic_zeros=symbolic
            )(named(_backward_by_config(self), self, None))

    def register_for(self, types: tuple[Any, ...]) -> None:
        """Register them for arguments of these types only."""
        for kind, make in ((rc.frule, _forward), (rc.rrule, _backward)):
            kind.define(self.f, host=True)(named(make(self), self, types))

    def check(self, args: tuple[Any, ...], kw: dict[str, Any]) -> None:
        """Raise an error for objects, and for unsupported options."""
        if self.out is not None and len(args) > self.out and args[self.out] is not None:
            self.refuse("out=", "Assign the result instead")
        for x in args:
            if type(x) is np.ndarray and x.dtype.kind == "O":
                check_entries(x, self.f)
        if not kw:
            return
        for name, value in kw.items():
            if name == "out" and value is None:
                continue
            if self.keywords is not None and name not in self.keywords:
                self.refuse(f"{name}=", "Leave that argument out")

    def refuse(self, what: str, cure: str) -> NoReturn:
        """Raise the error for an option that the derivative does not support."""
        message = (
            f"rule {self.maps.__qualname__} for {name_of(self.f)} must be called "
            f"without {what}, but got it. {cure}."
        )
        raise rc.UnsupportedError(message)

    def numbers(self, args: tuple[Any, ...]) -> Any:
        """Positions of the active arguments."""
        return range(len(args)) if self._numbers is None else self._numbers

    def plain(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments with arrays at the positions of active ones."""
        if not self.arrays:
            return args
        if self.bare and self.arrays is True and type(args[self.first]) is np.ndarray:
            return args
        plain, changed = list(args), False
        numbers = self.arrays if isinstance(self.arrays, tuple) else self.numbers(args)
        for i in numbers:
            x = plain[i] if i < len(plain) else None
            if x is not None and x is not NoValue and type(x) is not np.ndarray:
                plain[i], changed = array_of(x, self.f), True
        return tuple(plain) if changed else args

    def value(self, args: Any, plain: Any, kw: dict[str, Any], run: Any) -> Any:
        """The function's own value: a Python number leaves a float32 as it is."""
        if plain is args:
            return run(*args, **kw)
        pairs = zip(args, plain, strict=True)
        return run(*(x if is_number_type(type(x)) else p for x, p in pairs), **kw)

    def pairs(self, y: Any, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        if "out" in kw:
            kw = {name: value for name, value in kw.items() if name != "out"}
        maps = self.maps(y, *args, **kw)
        return (maps,) if self.bare else maps

    def pulls(self, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        """The value, and the adjoint alone of each argument of the declaration."""
        self.check(args, kw)
        plain = self.plain(args)
        y = self.value(args, plain, kw, self.back)
        found: list[Any] = [None] * len(args)
        for i, pair in zip(self.numbers(args), self.pairs(y, plain, kw), strict=True):
            if pair is not None and i < len(args):
                found[i] = pair[1]
        return y, found

    def rest(self, i: int, x: Any) -> Any:
        """The cotangent of an argument outside the declaration."""
        if not moves(x):
            return NoTangent
        return rc.not_implemented(
            f"derivative of {name_of(self.f)} in argument {i}; pass it as a constant"
        )


def _forward(given: Declaration) -> Callable[..., Any]:
    def forward(tangents: Any, *args: Any, needs: Any = None, **kw: Any) -> Any:
        given.check(args, kw)
        plain = given.plain(args)
        y = given.value(args, plain, kw, given.run)
        own = tangents if not given.head else tangents[1:]
        dy: Any = ZeroTangent
        pairs = given.pairs(y, plain, kw)
        for i, pair in zip(given.numbers(args), pairs, strict=True):
            if i < len(args) and pair is not None and (needs is None or needs[i]):
                dx = tangent_array(args[i], own[i]) if given.arrays else own[i]
                if not isinstance(dx, rc.AbstractZero):
                    dy = dy + _wrapped(y, pair[0](dx))
        for i, dx in enumerate(own):
            unmoved = isinstance(dx, rc.AbstractZero) or not (needs is None or needs[i])
            if i not in given.numbers(args) and not unmoved:
                dy = dy + given.rest(i, args[i])
        return y, _output(y, dy)

    return forward


def _wrapped(y: Any, dy: Any) -> Any:
    return rc.Tangent(type(y), *dy) if isinstance(y, (tuple, list)) else dy


def _output(y: Any, dy: Any) -> Any:
    if isinstance(y, (np.ndarray, np.generic)) and y.dtype.kind in "OV":
        return _of_entries(y)
    if not moves(y):
        return NoTangent
    if isinstance(y, (tuple, list)):
        if isinstance(dy, rc.Tangent):
            parts = zip(y, dy, strict=True)
            return rc.Tangent(type(y), *(_output(yi, dyi) for yi, dyi in parts))
        return dy
    if isinstance(dy, rc.AbstractTangent):
        return dy
    if np.shape(dy) != np.shape(y):
        dy = np.broadcast_to(dy, np.shape(y))
    return fit(y, dy)


def _of_entries(y: Any) -> Any:
    """The tangent of records or objects, from arguments that are numbers."""
    if y.dtype.kind == "V":
        return rc.not_implemented("tangent of an array of records; read its fields")
    try:
        rc.has_tangent(y)
    except rc.UnsupportedError:
        return rc.not_implemented("tangent of an array of objects; make it of floats")
    return NoTangent


def _backward(given: Declaration) -> Callable[..., Any]:
    if given.bare:
        return _backward_of_one(given)

    def backward(*args: Any, needs: Any = None, **kw: Any) -> Any:
        given.check(args, kw)
        plain = given.plain(args)
        y = given.value(args, plain, kw, given.back)
        pairs = given.pairs(y, plain, kw)

        def derivative_pullback(dy: Any) -> Any:
            cotangents = [NoTangent] * len(args)
            for i, x in enumerate(args):
                if i not in given.numbers(args):
                    cotangents[i] = given.rest(i, x)
            for i, pair in zip(given.numbers(args), pairs, strict=True):
                if i < len(args) and (needs is None or needs[i]) and moves(args[i]):
                    cotangents[i] = _pulled(pair, dy, args[i], given.arrays)
            return (*given.head, *cotangents)

        return y, derivative_pullback

    return backward


def _backward_by_config(given: Declaration) -> Callable[..., Any]:
    """The rrule that chooses its value, for AD systems that may ignore this value."""
    backward = _backward(given)

    def backward_by_config(config: Any, *args: Any, **kw: Any) -> Any:
        y, pullback = backward(*args, **kw)
        if config.own_values or _same(y, given.run(*args, **kw)):
            return y, pullback
        _, unchosen = REVERSE[given.maps]

        def unchosen_pullback(dy: Any) -> Any:
            if not unchosen(y, dy):
                _refuse_own(given, config)
            return pullback(dy)

        return y, unchosen_pullback

    return backward_by_config


def _refuse_own(given: Declaration, config: Any) -> NoReturn:
    message = (
        f"rule {given.maps.__qualname__} for {name_of(given.f)} must be followed by a "
        f"program that goes on with its value, but {config!r} goes on with the "
        "function's own, which has equal values among others. Use the framework's "
        "function, or the values alone."
    )
    raise rc.UnsupportedError(message)


def _same(y: Any, own: Any) -> bool:
    return not isinstance(y, tuple) or all(map(np.array_equal, y, own))


def _pulled(pair: Any, dy: Any, x: Any, arrays: bool | tuple[int, ...]) -> Any:
    if pair is None or isinstance(dy, rc.AbstractZero):
        return ZeroTangent
    dx = pair[1](dy)
    return restore(x, dx) if arrays else dx


def _backward_of_one(given: Declaration) -> Callable[..., Any]:
    (number,) = given.numbers(())

    def backward(*args: Any, **kw: Any) -> Any:
        given.check(args, kw)
        plain = given.plain(args)
        y = given.value(args, plain, kw, given.back)
        (pair,) = given.pairs(y, plain, kw)

        def derivative_pullback(dy: Any) -> Any:
            cotangents = [given.rest(i, x) for i, x in enumerate(args) if i != number]
            own = NoTangent
            if moves(args[number]):
                own = _pulled(pair, dy, args[number], given.arrays)
            return (*given.head, *cotangents[:number], own, *cotangents[number:])

        return y, derivative_pullback

    return backward
