"""Library calls compared with themselves in derivatives: value, class, identity, state.

A statement calls one function of the standard library or of SciPy. Run plainly it says
what came of it: the value bit for bit, the class of each part, which parts are which
arguments, and what its arguments are afterwards. It must say so in reverse and forward
mode and in written code too, or there is an error of ours.
"""

import collections
import contextlib
import io
import linecache
import random
import re
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from rules_autodiff import jvp, vjp
from rules_autodiff._python.values import is_float_array
from rules_core import AbstractTangent, RulesCoreError
from tests.engine.library_calls import GIVEN, SCOPE
from tests.engine.oracle_lifted import RAISED, REFUSED, RETURNED, changed

__all__ = ["Told", "difference", "disagreement", "told_of"]

NUMBERS = count()
# What has an identity of its own: small whole numbers are one object for all.
RECOGNISED = (float, complex, np.generic, np.ndarray, list)


NAMES = ("x", "y", "v", "w", "a", "b")


def used(text: str) -> list[str]:
    """The inputs that a statement names."""
    words = set(re.findall(r"\b\w+\b", re.sub(r"lambda [^:]*:|'[^']*'", "", text)))
    return [name for name in NAMES if name in words]


@cache
def program_of(text: str, *, alone: bool = False) -> Any:
    """The program of a statement that leaves `r`, whose source the engine can read."""
    body = [f"    {part}\n" for part in text.split("; ")]
    names = ", ".join(used(text) if alone else NAMES)
    back = "r" if alone else "r, [which(r, (x, y, v, w)), x, y, v, w]"
    lines = [f"def program({names}):\n", *body, f"    return {back}\n"]
    if alone and len(body) == 1:
        lines[1:] = [body[0].replace("r = taken(", "return (", 1)]
    name = f"<library {next(NUMBERS)}>"
    linecache.cache[name] = (len("".join(lines)), None, lines, name)
    scope = {**SCOPE, "which": which, "__name__": __name__}
    exec(compile("".join(lines), name, "exec"), scope)
    return scope["program"]


def which(r: Any, known: Any) -> list[bool]:
    """Which arguments, or parts of them, a result or its parts are."""
    parts = [r, *r] if isinstance(r, list | tuple) else [r]
    rows = [q for q in known if isinstance(q, list | tuple)]
    ones = [*known, *[q for row in rows for q in row]]
    return [p is q for p in parts for q in ones if isinstance(q, RECOGNISED)]


def inputs(kind: str, names: Any = NAMES) -> tuple[Any, ...]:
    matrix, vector = np.array([[2.0, 0.5], [0.25, 1.0]]), np.array([1.0, 2.0])
    every = dict(zip(NAMES, (*GIVEN[kind](), matrix, vector), strict=True))
    return tuple([every[name] for name in names])


# how it is run


class Told(NamedTuple):
    """What came of a statement in one mode."""

    kind: str
    what: Any
    derivative: Any = None


def plainly(text: str, kind: str) -> Any:
    return *program_of(text)(*inputs(kind)), None


def reverse(text: str, kind: str) -> Any:
    value, pullback, asked = vjp(
        program_of(text), *inputs(kind), has_aux=True, tier="tape"
    )
    return value, asked, pullback


def forward(text: str, kind: str) -> Any:
    args = inputs(kind)
    tangents = tuple(map(tangent, args))
    value, dy, asked = jvp(program_of(text), args, tangents, has_aux=True)
    return value, asked, dy


def straight(text: str, kind: str) -> Any:
    """Written code, for a program that returns what the statement gives."""
    args = inputs(kind, used(text))
    value, _ = vjp(program_of(text, alone=True), *args, tier="straight")
    return value, list(args), None


def alone(text: str, kind: str) -> Any:
    """What written code is compared with."""
    args = inputs(kind, used(text))
    return program_of(text, alone=True)(*args), list(args), None


def tangent(x: Any) -> Any:
    """A tangent of no special kind; None for what is no real or complex number."""
    if isinstance(x, list | tuple):
        return type(x)([tangent(v) for v in x])
    if isinstance(x, bool | int):
        return None
    return np.full_like(x, 0.7) if isinstance(x, np.ndarray) else type(x)(0.7)


MODES = {
    "plain": plainly,
    "reverse": reverse,
    "forward": forward,
    "alone": alone,
    "straight": straight,
}
PLAIN = frozenset({"plain", "alone"})


def told_of(text: str, kind: str, mode: str) -> Told:
    """What came of a statement: a value and the state, or an error."""
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002  (what programs without a generator use)
    with silence():
        try:
            value, asked, derivative = MODES[mode](text, kind)
        except Exception as error:
            if mode not in PLAIN and type(error).__module__.startswith("rules_"):
                return Told(REFUSED, str(error))
            return Told(RAISED, f"{type(error).__name__}: {error}")
        return Told(RETURNED, (shown(value), shown(asked)), (value, derivative))


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Nothing printed and no warnings."""
    quiet = contextlib.redirect_stdout(io.StringIO())
    with warnings.catch_warnings(), np.errstate(all="ignore"), quiet:
        warnings.simplefilter("ignore")
        yield


# what is compared


def difference(plain: Told, other: Told) -> str:
    """How an outcome differs from the plain one; an error of ours says that it does."""
    if other.kind == REFUSED or plain[:2] == other[:2]:
        return ""
    if plain.kind == RETURNED == other.kind:
        return changed(plain.what, other.what)
    if plain.kind == RAISED == other.kind:
        texts = (plain.what, other.what)
        if all(re.search("ufunc '.*' not sup", text) for text in texts[:1]):
            return ""
        return " but ".join(texts)
    return f"{plain.what!r:.200} but {other.what!r:.200}"


def disagreement(run: Told, push: Told, kind: str) -> str:
    """Whether the pullback is not the adjoint of the pushforward."""
    if not run.kind == push.kind == RETURNED:
        return ""
    (value, pullback), (_, dy) = run.derivative, push.derivative
    if type(value) is not float and not is_float_array(value):
        return ""
    with silence():
        w = np.ones_like(value) if isinstance(value, np.ndarray) else 1.0
        try:
            found = pullback(w)
        except RulesCoreError:
            return ""
        pairs = zip(found, map(tangent, inputs(kind)), strict=True)
        terms = [paired(ct, dx) for ct, dx in pairs]
        # Complex results too: the inner product of cotangents is the real part.
        along = 0.0 if isinstance(dy, AbstractTangent) else np.real(np.sum(dy))
    both = sum(terms), along
    close = 1e-5 if kind in ("single", "mixed") else 1e-9  # the latter holds a float32
    if not np.all(np.isfinite(both)) or np.allclose(*both, rtol=close, atol=close):
        return ""
    return f"derivative: {both}"


def paired(ct: Any, dx: Any) -> Any:
    """The inner product of a cotangent and a tangent."""
    if isinstance(ct, AbstractTangent) or dx is None:
        return 0.0
    if isinstance(ct, list | tuple):
        return sum(paired(a, b) for a, b in zip(ct, dx, strict=True))
    return np.sum(np.real(np.conjugate(ct) * dx))


def shown(x: Any) -> Any:
    """A value to be compared: classes, structure and bits."""
    if isinstance(x, np.ndarray | np.generic):
        return type(x).__name__, x.dtype.char, x.shape, text_of(np.asarray(x))
    if isinstance(x, float | complex):
        return type(x).__name__, repr(x)
    if isinstance(x, collections.ChainMap):
        return type(x).__name__, shown(x.maps)
    if isinstance(x, dict):
        rows = [(shown(k), shown(v)) for k, v in x.items()]
        return type(x).__name__, rows
    if isinstance(x, list | tuple | collections.deque | collections.UserList):
        return type(x).__name__, [shown(v) for v in x]
    if isinstance(x, set | frozenset):
        return type(x).__name__, sorted(map(repr, x))
    if hasattr(x, "__next__"):
        return "iterator"
    if callable(x):
        return type(x).__name__
    return type(x).__name__, re.sub(r"<.* at 0x.*>", "<>", repr(x))


def text_of(numbers: Any) -> Any:
    return repr(numbers.tolist())
