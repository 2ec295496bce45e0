"""Declaring functions of SciPy by the derivative that they have.

A declaration gives the derivative by a *step*: array-API code with the derivative of
the function where results and arguments are held fixed. The framework differentiates
the step, in both modes. What is held fixed is captured, so that the next order
differentiates it too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from operator import eq
from types import FunctionType
from typing import Any, NamedTuple

import rules_core as rc
from rules_core.extend import find_adapter, numpy_function
from rules_numpy._declare.arguments import array_of, restore, tangent_array
from rules_scipy._precision import in_dtypes_of, to_one_precision
from rules_scipy._shapes import documented_shapes, full_name

__all__ = ["DECLARED", "At", "constant", "declare"]

# Declared functions: "covered" or "constant".
DECLARED: dict[Any, str] = {}

Step = Callable[..., Any]
_NUMBERS = (int, float, complex)
_CONVERTED = (list, *_NUMBERS)
_SEVERAL = (tuple, list)  # of a stack, SciPy returns some results in a list
# An argument, or an entry of an argument that is a tuple.
Place = tuple[int, int | None]


class At(NamedTuple):
    """Where a step is differentiated.

    Attributes:
        y: The result.
        args: The arguments; options are not among them.
        extra: What `prepare` made of them.
    """

    y: Any
    args: tuple[Any, ...]
    extra: Any = None


class _Equation(NamedTuple):
    """A step r whose solution is the tangent: L dy = -dr.

    Attributes:
        solve: `solve(at, r, **options)` is L⁻¹ r.
        adjoint: `adjoint(at, w, **options)` is L⁻ᴴ w.
    """

    solve: Step
    adjoint: Step


def constant(*functions: Any) -> None:
    """Declare functions without derivative."""
    for function in functions:
        DECLARED[function] = "constant"
        rc.non_differentiable(function)


def declare(
    f: Callable[..., Any],
    step: Step,
    *,
    count: int | None = 1,
    of: tuple[str, ...] = (),
    out: Any,
    solve: Step | None = None,
    adjoint: Step | None = None,
    check: Step | None = None,
    limit: Step | None = None,
    prepare: Step | None = None,
    reads: tuple[str, ...] = (),
    fixed: tuple[int, ...] | Callable[..., tuple[int, ...]] = (),
    **flags: Any,
) -> rc.Primitive:
    """The primitive of `f`, with rules from one step.

    Args:
        f: The function of SciPy.
        step: `step(at, *args, **options)` in array-API code and calls of primitives: a
            function of the first `count` arguments whose derivative at `at.args` is
            that of `f`; its value does not matter. For several results it returns a
            tuple, with None for one without derivative, or a function without arguments
            for one that is made only if it is wanted. It names the options that it
            reads.
        count: How many of the first arguments are differentiated, None for all.
        of: The names of those, if they are not the first.
        out: The shape rule, as in `rc.primitive`.
        solve: For a step r(y, x) that is zero at the solution: `solve(at, r,
            **options)` is (∂r/∂y)⁻¹ r.
        adjoint: `adjoint(at, w, **options)` is (∂r/∂y)⁻ᴴ w.
        check: `check(at, dy, wanted, **options)` returns the cotangents of the wanted
            results, or raises an error if the derivative does not exist for them.
        limit: `limit(at, dy, wanted)` returns the tangents of the wanted results, those
            that are not determined as NaN.
        prepare: `prepare(at, **options)` makes what the step reads as `at.extra`,
            before it is differentiated.
        reads: Options that the step reads besides those that it names.
        fixed: Results that are constant nearby, as a permutation, or a function of
            the result.
        flags: Further ones of `rc.primitive`, as `copy_out` for results in one memory.
    """
    DECLARED[f] = "covered"
    parameters = _signature(f).parameters.values()
    names = tuple([p.name for p in parameters if p.kind is not p.VAR_KEYWORD])
    of = of if of or count is None else names[:count]
    static = () if count is None else tuple([n for n in names if n not in of])
    overwriting = tuple([n for n in names if n.startswith("overwrite")])
    flags.setdefault("copy_in", overwriting or None)
    made = rc.primitive(f, host=True, out=out, static_argnames=static, **flags)
    equation = _Equation(solve, adjoint) if solve and adjoint else None
    reads = (*reads, *_signature(step).parameters)
    rules = _Rules(made, step, of, equation, check, limit, prepare, reads, fixed)
    named = rules.named(rules.forward, "frule")
    rc.frule.define(made, symbolic_zeros=True)(named)
    rc.rrule.define(made, symbolic_zeros=True)(rules.named(rules.backward, "rrule"))
    if "output" in static:
        made.table.check = rules.refuse_output
    return made


@cache
def _signature(f: Any) -> inspect.Signature:
    return inspect.signature(f)


def _apart(args: Sequence[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Options without what stores what SciPy calls it with: it has no derivative."""
    if find_adapter(tuple(args), options) is not None:
        return options
    return {
        name: numpy_function(x)[0](()) if isinstance(x, FunctionType) else x
        for name, x in options.items()
    }


def options_of(step: Step, options: dict[str, Any]) -> dict[str, Any]:
    """The options that a step reads."""
    names = _signature(step).parameters
    return {name: x for name, x in options.items() if name in names}


class _Call(NamedTuple):
    """One call.

    Attributes:
        args: The differentiable arguments; lists and numbers as arrays.
        options: The others, by name.
        given: The differentiable arguments as the caller gave them.
    """

    args: tuple[Any, ...]
    options: dict[str, Any]
    given: tuple[Any, ...]


class _Rules:
    """The rules of one declaration."""

    def __init__(
        self,
        made: rc.Primitive,
        step: Step,
        of: tuple[str, ...],
        equation: _Equation | None,
        check: Step | None,
        limit: Step | None,
        prepare: Step | None,
        reads: tuple[str, ...],
        fixed: tuple[int, ...] | Callable[..., tuple[int, ...]],
    ) -> None:
        self.made, self.step, self.of = made, step, of
        self.equation, self.check, self.prepare = equation, check, prepare
        self.limit = limit
        self.reads, self.fixed = reads, fixed
        parameters = _signature(made.fun).parameters.values()
        self.defaults = {p.name: p.default for p in parameters}
        order = {name: i for i, name in enumerate(self.defaults)}
        self.places = [order[name] for name in of]

    def named(self, rule: Callable[..., Any], kind: str) -> Callable[..., Any]:
        def call(*args: Any, **kw: Any) -> Any:
            return rule(*args, **kw)

        call.__name__ = call.__qualname__ = f"{self.made.fun.__name__}_{kind}"
        call.__module__ = self.step.__module__
        return call

    def named_items(self, args: Sequence[Any], kw: dict[str, Any]) -> dict[str, Any]:
        """All arguments by their names."""
        return {**self.defaults, **dict(zip(self.defaults, args, strict=False)), **kw}

    def refuse_output(self, args: Sequence[Any], kw: dict[str, Any]) -> None:
        """SciPy would write into a copy of a framework's array."""
        _refuse_output(self.made.fun, self.named_items(args, kw))

    def bind(self, args: Sequence[Any], kw: dict[str, Any]) -> _Call:
        if not self.of:
            return _Call(tuple([self.array(x) for x in args]), {}, tuple(args))
        items = self.named_items(args, kw)
        given = tuple([items.pop(name) for name in self.of])
        _refuse_to_write(self.made.fun, items)
        kept = [
            x if self.is_key(name, x) else self.array(x)
            for name, x in zip(self.of, given, strict=True)
        ]
        return _Call(tuple(kept), items, given)

    def is_key(self, name: str, x: Any) -> bool:
        """Whether a whole number stands for itself, as a label, and for no array."""
        return isinstance(x, int) and self.defaults[name] is None

    def array(self, x: Any) -> Any:
        """Lists and numbers as SciPy reads them, also lists in a tuple."""
        if isinstance(x, tuple):
            return tuple([self.array(e) if isinstance(e, list) else e for e in x])
        return array_of(x, self.made.fun) if isinstance(x, _CONVERTED) else x

    def value(self, call: _Call) -> Any:
        """The result, without `overwrite_a` and similar flags: arguments are kept."""
        if not self.of:
            return self.made(*call.args)
        own = call.given
        if find_adapter(call.args, {}) is not None:  # lists may hold its arrays
            own = tuple([
                given if isinstance(given, _NUMBERS) and i else x
                for i, (given, x) in enumerate(zip(call.given, call.args, strict=True))
            ])  # fmt: skip
        # The first ones by position: SciPy's wrapper for stacks errs in some names.
        count = sum(map(eq, self.of, self.defaults))
        items = {**dict(zip(self.of, own, strict=True)), **call.options}
        options = {
            name: x
            for name, x in list(items.items())[count:]
            if x is not self.defaults.get(name) and not name.startswith("overwrite")
        }
        return self.made(*own[:count], **_apart(own, options))

    def at(self, y: Any, call: _Call) -> At:
        """The place where the step is differentiated."""
        at = At(y, call.args)
        widened = to_one_precision(y, call.args)
        if widened is not None:
            at = At(widened(y), widened(call.args))
        if self.prepare is None:
            return at
        options = options_of(self.prepare, call.options)
        with documented_shapes(self.made.fun, call.args):
            return at._replace(extra=self.prepare(at, **options))

    def along(
        self, at: At, call: _Call, places: Sequence[Place], wanted: Sequence[int] | None
    ) -> Callable[..., Any]:
        """The step as a function of the entries at `places`, its wanted results."""
        own = self.step
        stills = [_entry(at.args, p) for p in places]
        options = {k: x for k, x in call.options.items() if k in self.reads}

        def step(*xs: Any) -> Any:
            still = rc.ignore_derivatives(options)  # they are captured
            if at.args is not call.args:
                xs = in_dtypes_of(stills, xs)
            y = own(at, *_with(at.args, places, xs), **still)
            if wanted is None:
                return y
            return tuple([_made(y[i]) for i in wanted])

        return step

    def forward(self, tangents: Any, *args: Any, **kw: Any) -> Any:
        call = self.bind(args, kw)
        y = self.value(call)
        at = self.at(y, call)
        own, rest = self.split(tangents[1:], len(call.args))
        found = {p: _entry(own, p) for p in _places(call.args)}
        for p, dx in found.items():
            if _is_converted(given := _entry(call.given, p), p):
                found[p] = tangent_array(given, dx)
        moving = {
            p: dx for p, dx in found.items() if not isinstance(dx, rc.AbstractZero)
        }
        if not all(_is_zero(args[i], dx) for i, dx in rest):
            return y, self.unknown()
        if not isinstance(y, _SEVERAL) and not _moves(y):
            return y, rc.NoTangent()
        if not moving:
            return y, rc.ZeroTangent()
        places = tuple(moving)
        xs = tuple([_entry(call.args, p) for p in places])
        wanted = self.moving(y) if isinstance(y, _SEVERAL) else None
        with documented_shapes(self.made.fun, call.args):
            step = self.along(at, call, places, wanted)
            _, dy = rc.jvp(step, xs, tuple(moving.values()))
        if self.equation is not None:
            options = options_of(self.equation.solve, call.options)
            dy = self.equation.solve(at, -dy, **options)
        elif wanted is not None and self.limit is not None:
            dy = self.limit(at, dy, wanted)
        if at.args is not call.args:
            dy = in_dtypes_of(_of(y, wanted), dy)
        if wanted is None:
            return y, dy
        parts = dict(zip(wanted, dy, strict=True))
        none = [rc.ZeroTangent() if _moves(part) else rc.NoTangent() for part in y]
        still = {i for i, part in parts.items() if isinstance(part, rc.AbstractZero)}
        dys = [none[i] if i in still else parts.get(i, none[i]) for i in range(len(y))]
        return y, rc.Tangent(type(y), *dys)

    def split(self, tangents: Sequence[Any], count: int) -> tuple[Any, Any]:
        """Tangents of the differentiable arguments, and of others by their place."""
        given = dict(enumerate(tangents))
        none = rc.NoTangent()
        own = [given.pop(i, none) for i in self.places or range(count)]
        return own, list(given.items())

    def of_option(self, x: Any) -> Any:
        """The cotangent of an argument that is an option: an error if it is needed."""
        return self.unknown() if _moves(x) else rc.NoTangent()

    def unknown(self) -> Any:
        name = full_name(self.made.fun)
        return rc.not_implemented(
            f"derivative of {name} in an option; pass it as a constant"
        )

    def moving(self, y: Sequence[Any]) -> tuple[int, ...]:
        """The results with a derivative."""
        found = [i for i, part in enumerate(y) if _moves(part)]
        fixed = self.fixed(y) if callable(self.fixed) else self.fixed
        return tuple([i for i in found if i not in fixed])

    def backward(self, *args: Any, **kw: Any) -> Any:
        call = self.bind(args, kw)
        y = self.value(call)
        given = set(self.places) <= set(range(len(args)))
        places = [
            p
            for p in _places(call.args)
            if (given or self.places[p[0]] < len(args)) and _moves(_entry(call.args, p))
        ]

        def pullback(dy: Any) -> Any:
            if isinstance(dy, rc.AbstractZero):
                return (rc.NoTangent(), *[rc.ZeroTangent()] * len(args))
            wanted = None
            if isinstance(y, _SEVERAL):
                entries = {i: dy[i] for i in self.moving(y)}
                seen = {
                    i: d
                    for i, d in entries.items()
                    if not isinstance(d, rc.AbstractZero)
                }
                wanted, dy = tuple(seen), tuple(seen.values())
            if wanted == ():
                return (rc.NoTangent(), *[rc.ZeroTangent()] * len(args))
            at = self.at(y, call)
            mixed = at.args is not call.args
            dy = in_dtypes_of(_of(at.y, wanted), dy) if mixed else dy
            if self.check is not None:
                options = options_of(self.check, call.options)
                dy = self.check(at, dy, wanted, **options)
            step = self.along(at, call, places, wanted)
            with documented_shapes(self.made.fun, call.args):
                r, pull = rc.vjp(step, *[_entry(call.args, p) for p in places])
            if self.equation is not None:
                options = options_of(self.equation.adjoint, call.options)
                dy = -self.equation.adjoint(at, dy, **options)
            dy = in_dtypes_of(r, dy) if mixed else dy
            cotangents = dict(zip(places, pull(dy), strict=True))
            own = [
                _restored(x, _cotangent(x, i, cotangents))
                for i, x in enumerate(call.given)
            ]
            dxs = dict(zip(self.places or range(len(own)), own, strict=True))
            every = [
                dxs[i] if i in dxs else self.of_option(x) for i, x in enumerate(args)
            ]
            return (rc.NoTangent(), *every)

        return y, pullback


def _refuse_to_write(f: Any, items: dict[str, Any]) -> None:
    """Of `overwrite_a` and others SciPy leaves open what is written."""
    _refuse_output(f, items)
    if items.get("overwrite_data"):
        message = (
            f"{full_name(f)} writes its result into its argument with "
            "overwrite_data=True, which its derivative cannot follow. Leave it out, "
            "and use the result."
        )
        raise rc.UnsupportedError(message)


def _refuse_output(f: Any, items: dict[str, Any]) -> None:
    if rc.is_array(items.get("output")):
        message = (
            f"{full_name(f)} writes its result into the array given as output, which "
            "neither its derivative nor a framework can follow. Leave output out, or "
            "give a dtype, and use the result."
        )
        raise rc.UnsupportedError(message)


def _restored(x: Any, dx: Any) -> Any:
    """The cotangent of an argument that was converted, or had lists in it."""
    if isinstance(x, tuple) and isinstance(dx, rc.Tangent):
        parts = [
            restore(e, dx[k]) if isinstance(e, list) else dx[k] for k, e in enumerate(x)
        ]
        return rc.Tangent(tuple, *parts)
    return restore(x, dx) if isinstance(x, _CONVERTED) else dx


def _is_converted(x: Any, place: Place) -> bool:
    """Whether an argument became an array; of the entries of a tuple lists do."""
    return isinstance(x, _CONVERTED if place[1] is None else list)


def _places(args: tuple[Any, ...]) -> list[Place]:
    return [
        (i, k)
        for i, x in enumerate(args)
        for k in (range(len(x)) if isinstance(x, tuple) else (None,))
    ]


def _entry(values: Any, place: Place) -> Any:
    i, k = place
    if i >= len(values):
        return rc.NoTangent()
    x = values[i]
    return x if k is None or isinstance(x, rc.AbstractZero) else x[k]


def _with(args: tuple[Any, ...], places: Sequence[Place], xs: Sequence[Any]) -> Any:
    """The arguments with other entries at `places`."""
    changed = list(args)
    for (i, k), x in zip(places, xs, strict=True):
        if k is None:
            changed[i] = x
        else:
            changed[i] = (*changed[i][:k], x, *changed[i][k + 1 :])
    return changed


def _cotangent(x: Any, i: int, cotangents: dict[Place, Any]) -> Any:
    if not isinstance(x, tuple):
        return cotangents.get((i, None), rc.NoTangent())
    none = rc.NoTangent()
    return rc.Tangent(tuple, *[cotangents.get((i, k), none) for k in range(len(x))])


def _of(y: Any, wanted: Sequence[int] | None) -> Any:
    """A result, or the wanted ones of several."""
    return y if wanted is None else tuple([y[i] for i in wanted])


def _made(part: Any) -> Any:
    return part() if callable(part) else part


def _is_zero(x: Any, dx: Any) -> bool:
    """Frameworks give an option, a number that is constant there, an array of zero."""
    if isinstance(dx, rc.AbstractZero):
        return True
    if isinstance(dx, (int, float)):
        return dx == 0
    if isinstance(x, (list, tuple)):
        return all(map(_is_zero, x, dx))
    return isinstance(x, (int, float))


def _moves(x: Any) -> bool:
    return x is not None and rc.has_tangent(x)
