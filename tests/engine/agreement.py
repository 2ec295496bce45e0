"""Derivatives agree with themselves: many ways to one gradient, which must be equal.

Each check takes a program with one number as its result, its arguments and `known`, the
gradient that one tape leaves (which `check_program` compares with finite differences).
It computes the gradient by another way, and demands the same numbers.
"""

from __future__ import annotations

import linecache
import threading
from functools import partial
from itertools import count as counting, permutations
from typing import Any

import numpy as np

from rules_autodiff import (
    UnsupportedProgram,
    grad,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)
from rules_autodiff.testing._vectors import copy_of, inner, leaves, random_like

__all__ = [
    "CHECKS",
    "Disagreement",
    "active_in",
    "is_scalar_sum",
    "is_written",
    "known_of",
    "reduced",
]

RTOL = 1e-9
SEED = 7
NUMBERS = counting()


class Disagreement(AssertionError):
    """Two ways to one derivative differ."""


def reduced(f: Any, args: Any) -> Any:
    """`f` with one real number as its result, in words that code is written for.

    Results that are neither a number nor an array of them are added up by `summed`.
    """
    y = f(*copy_of(args))
    if type(y) in (float, np.float64):
        return f
    if type(y) is not np.ndarray or y.dtype != np.float64 or not y.ndim:
        return summed(f)
    return program_of("np.sum({call} * ramp)", f, len(args), ramp=ramp_of(y))


def program_of(text: str, f: Any, count: int, **scope: Any) -> Any:
    """A program of so many arguments around a call of `f`, with a source to read."""
    names = ", ".join([f"x{i}" for i in range(count)])
    source = f"def program({names}):\n    return {text.format(call=f'f({names})')}\n"
    file = f"<agreement {next(NUMBERS)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope |= {"np": np, "f": f, "__name__": __name__}
    exec(compile(source, file, "exec"), scope)
    return scope["program"]


def ramp_of(y: Any) -> Any:
    """Weights for the entries of an array."""
    return np.cos(np.arange(y.size)).reshape(y.shape)


def summed(f: Any) -> Any:
    """`f` with its result weighted and added up to one real number."""

    def program(*args: Any) -> Any:
        return weighted(f(*args))

    return program


def weighted(y: Any) -> Any:
    """A number that depends on every entry of a result."""
    if isinstance(y, (tuple, list)):
        total = 0.0
        for k, part in enumerate(y):
            total = total + (1.0 + 0.25 * k) * weighted(part)
        return total
    if isinstance(y, np.ndarray):
        ramp = ramp_of(y)
        return np.sum(np.real(y) * ramp) + np.sum(np.imag(y) * ramp * 0.5)
    if isinstance(y, complex):
        return y.real + 0.5 * y.imag
    return y


def is_scalar_sum(y: Any) -> bool:
    """Whether `summed` makes a number of a result."""
    if isinstance(y, (tuple, list)):
        return type(y) in (tuple, list) and len(y) > 0 and all(map(is_scalar_sum, y))
    return type(y) in (float, complex, np.float64) or (
        type(y) is np.ndarray and y.dtype in (np.float64, np.complex128)
    )


def active_in(args: Any) -> list[int]:
    """Positions of the arguments that are numbers or arrays of double precision."""
    kinds = (float, np.float64)
    return [
        i
        for i, x in enumerate(args)
        if type(x) in kinds or (type(x) is np.ndarray and x.dtype == np.float64)
    ]


def known_of(f: Any, args: Any) -> list[Any]:
    """The gradient in all active arguments, by one tape."""
    active = tuple(active_in(args))
    return list(grad(f, active, tier="tape")(*copy_of(args)))


def is_written(f: Any, args: Any) -> bool:
    """Whether there is written code for the gradient of a program."""
    try:
        grad(f, tuple(active_in(args)), tier="straight")(*copy_of(args))
    except UnsupportedProgram:
        return False
    return True


def close(way: str, found: Any, wanted: Any) -> None:
    """Demand equal numbers."""
    one, other = leaves(found), leaves(wanted)
    scale = max([1.0, *(float(np.max(np.abs(x), initial=0)) for x in other)])
    if len(one) != len(other) or not all(
        np.shape(p) == np.shape(q)
        and np.allclose(p, q, rtol=RTOL, atol=RTOL * scale, equal_nan=True)
        for p, q in zip(one, other, strict=True)
    ):
        message = f"{way} gives {found}, not {wanted}"
        raise Disagreement(message)


def each_call(f: Any, args: Any, known: list[Any]) -> None:
    """Calls one, two and three of one derived function, by either tier."""
    active = tuple(active_in(args))
    for tier in ("auto", "tape", "straight"):
        derived = grad(f, active, tier=tier)
        try:
            for call in (1, 2, 3):
                close(f"call {call}, {tier}", derived(*copy_of(args)), known)
        except UnsupportedProgram:
            if tier != "straight":
                raise


def orders(places: list[int]) -> list[Any]:
    """Spellings of `argnums`: every order of a few, single ones, lists, negative."""
    several = [p for n in (2, 3) for p in permutations(places[:3], n)]
    every = tuple(places)
    return [*several, every[:1], every, every[::-1], *places]


def argnums(f: Any, args: Any, known: list[Any]) -> None:
    """Every order of `argnums`, as tuple and list, counted from either end, thrice."""
    places, count = active_in(args), len(args)
    where = {place: k for k, place in enumerate(places)}
    for chosen in orders(places):
        several = isinstance(chosen, tuple)
        wanted = [known[where[i]] for i in chosen] if several else known[where[chosen]]
        spelt = [chosen, [*chosen]] if several else [chosen]
        spelt.append(
            tuple(i - count for i in chosen) if several else int(chosen) - count
        )
        for spelling in spelt:
            both = value_and_grad(f, spelling)
            for call in (1, 2, 3):
                way = f"argnums={spelling}, call {call}"
                close(way, both(*copy_of(args))[1], wanted)
        found = jacrev(f, spelt[-1])(*copy_of(args))
        close(f"jacrev of argnums={spelt[-1]}", found, wanted)


def forward(f: Any, args: Any, known: list[Any]) -> None:
    """The dot product with a direction, by `jvp` and `linearize`; `jacfwd` whole."""
    places = active_in(args)
    moving = [copy_of(args)[i] for i in places]
    line = held(f, args, places)
    direction = random_like(np.random.default_rng(SEED), tuple(moving))
    wanted = inner(known, direction)
    close("jvp", jvp(line, tuple(copy_of(moving)), direction)[1], wanted)
    _, push = linearize(line, *copy_of(moving))
    for call in (1, 2):
        close(f"linearize, call {call}", push(*copy_of(direction)), wanted)
    every = tuple(range(len(places)))
    close("jacfwd", list(jacfwd(line, every)(*copy_of(moving))), known)


def held(f: Any, args: Any, places: list[int]) -> Any:
    """`f` as a function of the arguments at `places`, of fresh copies of the others."""

    def program(*moving: Any) -> Any:
        full = list(copy_of(args))
        for place, value in zip(places, moving, strict=True):
            full[place] = value
        return f(*full)

    others = [x for i, x in enumerate(args) if i not in places]
    return program if others else f


def pullbacks(f: Any, args: Any, known: list[Any]) -> None:
    """A pullback again, later, after others, with what it returned overwritten."""
    places = active_in(args)
    moved_args = [x * 0.75 if i in places else x for i, x in enumerate(copy_of(args))]
    for tier in ("tape", "straight"):
        try:
            first = vjp(f, *copy_of(args), tier=tier)[1]
            other = vjp(f, *moved_args, tier=tier)[1]
            second = vjp(f, *copy_of(args), tier=tier)[1]
        except UnsupportedProgram:
            continue
        except (ArithmeticError, ValueError, IndexError):
            return  # the program does not take the other arguments
        calls = (second, first, other, first, second)
        for count, pullback in enumerate(calls, 1):
            found = [pullback(1.0)[i] for i in places]
            if pullback is not other:
                close(f"pullback {count} of {tier}", found, known)
            overwrite(found)
        doubled = [first(2.0)[i] for i in places]
        close("a doubled seed", [0.5 * x for x in doubled], known)


def overwrite(found: list[Any]) -> None:
    """Spoil what was returned: it belongs to the caller."""
    for x in leaves(found):
        if isinstance(x, np.ndarray) and x.flags.writeable:
            x[...] = 77.0


def threads(f: Any, args: Any, known: list[Any]) -> None:
    """One pullback and one derived function, called by four threads at once."""
    places = active_in(args)
    pullbacks = [vjp(f, *copy_of(args), tier=tier)[1] for tier in ("tape", "auto")]
    derived = grad(f, tuple(places))
    faults: list[BaseException] = []

    def work() -> None:
        try:
            for pullback in (*pullbacks, *pullbacks):
                close("a thread", [pullback(1.0)[i] for i in places], known)
            close("a thread's gradient", derived(*copy_of(args)), known)
        except BaseException as error:
            faults.append(error)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if faults:
        raise faults[0]


class Holder:
    """An instance with the program as a method."""

    def __init__(self, f: Any) -> None:
        self.f = f

    def method(self, *args: Any) -> Any:
        return self.f(*args)

    def __call__(self, *args: Any) -> Any:
        return self.f(*args)

    @staticmethod
    def static(f: Any, *args: Any) -> Any:
        return f(*args)


def forms(f: Any, args: Any, known: list[Any]) -> None:
    """The same function as closure, method, instance, lambda and partial."""
    places = tuple(active_in(args))
    holder = Holder(f)
    spelt = {
        "a lambda": lambda *given: f(*given),
        "a method": holder.method,
        "an instance": holder,
        "a partial": partial(Holder.static, f),
        "a function of a function": summed(f),
    }
    for way, form in spelt.items():
        derived = grad(form, places)
        for call in (1, 2, 3):
            close(f"{way}, call {call}", derived(*copy_of(args)), known)


def containers(f: Any, args: Any, known: list[Any]) -> None:
    """Its arguments as one tuple, as one dict, and some of them captured."""
    places = active_in(args)
    if places != list(range(len(args))):
        return
    packed = grad(lambda given: f(*given))
    named = grad(lambda given: f(*(given[k] for k in sorted(given))))
    for call in (1, 2, 3):
        found = packed(tuple(copy_of(args)))
        close(f"one tuple, call {call}", list(found), known)
        keyed = named({f"a{i:02}": x for i, x in enumerate(copy_of(args))})
        values = [keyed[k] for k in sorted(keyed)]
        close(f"one dict, call {call}", values, known)
    for k in places:
        close(f"captured but {k}", grad(held(f, args, [k]))(copy_of(args)[k]), known[k])


def second_order(f: Any, args: Any, known: list[Any]) -> None:
    """`⟨u, H v⟩ = ⟨v, H u⟩` by forward over reverse, and reverse over reverse."""
    places = active_in(args)
    line = held(f, args, places)
    every = tuple(range(len(places)))
    rng = np.random.default_rng(SEED)
    start = tuple(copy_of(args)[i] for i in places)
    u, v = random_like(rng, start), random_like(rng, start)

    def slopes(*moving: Any) -> Any:
        return grad(line, every)(*moving)

    def pulled(*moving: Any) -> Any:
        return vjp(line, *moving)[1](1.0)

    one = inner(u, jvp(slopes, copy_of(start), v)[1])
    other = inner(v, jvp(pulled, copy_of(start), u)[1])
    close("⟨v, H u⟩", other, one)
    over = inner(v, vjp(slopes, *copy_of(start))[1](u))
    close("reverse over reverse", over, one)


CHECKS = {
    check.__name__: check
    for check in (
        each_call,
        argnums,
        forward,
        pullbacks,
        threads,
        forms,
        containers,
        second_order,
    )
}
