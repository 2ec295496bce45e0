"""How the rules of this pack are declared.

`derivative(f)` makes frule and rrule of `f` from one function, which returns the
derivative as a linear map together with its adjoint; `linear(f)` needs the adjoint
only; `method` lends a function's rule to a method.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, NoReturn, TypeVar

import numpy as np

import rules_core as rc
from rules_numpy._arrays import (
    NoValue,
    array_of,
    fit,
    is_number_type,
    moves,
    name_of,
    restore,
    tangent_array,
)
from rules_numpy._signatures import is_method, named, out_and_keywords

__all__ = [
    "DECLARED",
    "NoValue",
    "Declaration",
    "constant",
    "derivative",
    "linear",
    "method",
]

F = TypeVar("F", bound=Callable[..., Any])
NoTangent, ZeroTangent = rc.NoTangent(), rc.ZeroTangent()

# What is declared: function → (its derivative, the arguments that it moves with).
DECLARED: dict[Any, tuple[Callable[..., Any], tuple[int, ...] | None]] = {}
# Those whose pullback tells results that nothing uses from results without weight.
_SYMBOLIC: set[Callable[..., Any]] = set()
# Those whose rrule chooses among several right values: how, and what is right of all.
_REVERSE: dict[Callable[..., Any], tuple[Callable[..., Any], Any]] = {}


def derivative(
    f: Any,
    argnums: int | tuple[int, ...] | None = 0,
    *,
    arrays: bool | tuple[int, ...] = True,
    call: Callable[..., Any] | None = None,
    reverse: tuple[Callable[..., Any], Callable[..., bool]] | None = None,
    symbolic: bool = False,
) -> Callable[[F], F]:
    """Define frule and rrule of `f` by its derivative and the adjoint of that.

    The bodies are NumPy code: JAX and PyTorch run them as opaque calls, at first order;
    an engine that follows NumPy programs differentiates them again.

    Decorates `maps(y, *args, **kw)`, which is called with the known output and the
    arguments in normal form and returns `(pushforward, pullback)`: `dy =
    pushforward(dx)` and `dx = pullback(dy)`; for several argnums a tuple of such pairs,
    whose contributions are added. In place of a pair, None says that the derivative is
    zero. Cotangents are projected on their arguments.

    Args:
        f: The function, or a list of functions that share the derivative.
        argnums: Positions of the arguments that the derivative speaks about, None for
            all; any other must be without tangent.
        arrays: Whether numbers and lists at `argnums` are made arrays beforehand, or
            at which positions.
        call: What computes `y` in place of `f`, whose signature tells wrong defaults.
        reverse: `(choose, unchosen)` where `f` has several right answers and the
            pullback needs a certain one: `choose(f, *args, **kw)` computes it for the
            rrule, `unchosen(y, dy)` says whether `dy` has the same answer for all.
        symbolic: Whether the pullback takes `ZeroTangent` for results that nothing
            uses, where the AD system tells.
    """
    functions = f if isinstance(f, list) else [f]
    bare = isinstance(argnums, int)
    numbers = (argnums,) if isinstance(argnums, int) else argnums

    def declare(maps: F) -> F:
        if symbolic:
            _SYMBOLIC.add(maps)
        if reverse is not None:
            _REVERSE[maps] = reverse
        for function in functions:
            DECLARED[function] = maps, numbers
            Declaration(function, maps, numbers, bare, arrays, call).register()
        return maps

    return declare


def linear(
    f: Any, argnums: int | tuple[int, ...] = 0, *, arrays: bool = True
) -> Callable[[F], F]:
    """Define frule and rrule of an `f` that is jointly linear in some arguments.

    Decorates `adjoint(dy, *args, **kw)`, which returns one cotangent per argnum, bare
    if there is one. The pushforward is `f` itself.
    """
    functions = f if isinstance(f, list) else [f]

    def declare(adjoint: F) -> F:
        for function in functions:
            maps = _maps_of_linear(function, adjoint, argnums)
            derivative(function, argnums, arrays=arrays)(maps)
        return adjoint

    return declare


def _maps_of_linear(f: Any, adjoint: Any, argnums: Any) -> Callable[..., Any]:
    if not isinstance(argnums, int):
        return _maps_of_jointly_linear(f, adjoint, argnums)

    @wraps(adjoint)
    def maps(y: Any, *args: Any, **kw: Any) -> Any:
        def linear_pushforward(dx: Any) -> Any:
            return f(*args[:argnums], dx, *args[argnums + 1 :], **kw)

        def linear_pullback(dy: Any) -> Any:
            return adjoint(dy, *args, **kw)

        return linear_pushforward, linear_pullback

    return maps


def _maps_of_jointly_linear(f: Any, adjoint: Any, numbers: Any) -> Callable[..., Any]:
    @wraps(adjoint)
    def maps(y: Any, *args: Any, **kw: Any) -> Any:
        def pair(k: int) -> Any:
            def linear_pushforward(dx: Any) -> Any:
                moved = list(args)
                for i in numbers:
                    moved[i] = np.zeros_like(args[i])
                moved[numbers[k]] = dx
                return f(*moved, **kw)

            def linear_pullback(dy: Any) -> Any:
                return adjoint(dy, *args, **kw)[k]

            return linear_pushforward, linear_pullback

        return tuple(pair(k) for k in range(len(numbers)))

    return maps


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
        if maps in _REVERSE:
            self.back = partial(_REVERSE[maps][0], f)
        self.bare, self.arrays = bare, arrays
        self.first = numbers[0] if numbers else 0
        self.head = () if is_method(f) else (NoTangent,)
        self.out, self.keywords = out_and_keywords(f, maps)

    def register(self) -> None:
        """Register frule and rrule."""
        symbolic = self.maps in _SYMBOLIC
        rc.frule.define(self.f, host=True)(named(_forward(self), self, None))
        rc.rrule.define(self.f, host=True, symbolic_zeros=symbolic)(
            named(_backward(self), self, None)
        )
        if self.back is not self.run:
            rc.rrule.define(
                self.f, config=rc.RuleConfig, host=True, symbolic_zeros=symbolic
            )(named(_backward_by_config(self), self, None))

    def register_for(self, types: tuple[Any, ...]) -> None:
        """Register them for arguments of these types only."""
        for kind, make in ((rc.frule, _forward), (rc.rrule, _backward)):
            kind.define(self.f, host=True)(named(make(self), self, types))

    def check(self, args: tuple[Any, ...], kw: dict[str, Any]) -> None:
        """Refuse options that the derivative does not know."""
        if self.out is not None and len(args) > self.out and args[self.out] is not None:
            self.refuse("out=", "Assign the result instead")
        if not kw:
            return
        for name, value in kw.items():
            if name == "out" and value is None:
                continue
            if self.keywords is not None and name not in self.keywords:
                self.refuse(f"{name}=", "Leave that argument out")

    def refuse(self, what: str, cure: str) -> NoReturn:
        """Raise the error for an option that the derivative does not know."""
        message = (
            f"rule {self.maps.__qualname__} for {name_of(self.f)} must be called "
            f"without {what}, but got it. {cure}."
        )
        raise rc.UnsupportedError(message)

    def numbers(self, args: tuple[Any, ...]) -> Any:
        """Positions of the arguments that move."""
        return range(len(args)) if self._numbers is None else self._numbers

    def plain(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments with arrays at the positions that move."""
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

    def rest(self, i: int, x: Any) -> Any:
        """The cotangent of an argument that the derivative does not speak about."""
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
    """The rrule that chooses its value, for AD systems that may not go on with it."""
    backward = _backward(given)

    def backward_by_config(config: Any, *args: Any, **kw: Any) -> Any:
        y, pullback = backward(*args, **kw)
        if config.own_values or _same(y, given.run(*args, **kw)):
            return y, pullback
        _, unchosen = _REVERSE[given.maps]

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
        "function's own, which has equal values among others. Use the host's own "
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


def constant(functions: list[Any]) -> list[Any]:
    """Note that these functions carry no tangent; for `rc.non_differentiable`."""
    for function in functions:
        DECLARED[function] = constant, ()
    return functions


def method(names: list[str] | str, function: Any) -> None:
    """Lend the rule of a function to the methods of arrays and NumPy scalars."""
    maps, numbers = DECLARED[function]
    for name in [names] if isinstance(names, str) else names:
        for cls in (np.ndarray, np.generic):
            own = getattr(cls, name, None)
            if own is not None and own not in DECLARED:
                bare = numbers is not None and len(numbers) == 1
                argnums: Any = numbers[0] if bare and numbers else numbers
                derivative(own, argnums)(maps)
