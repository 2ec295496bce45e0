"""Numeric functions of a package, found by looking at it and by calling them.

Every public function of every public module is called with generated arguments, until
it returns finite numbers. Functions come in an order that follows from their names
alone, so that the first few of a large package are no choice of ours.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import io
import pkgutil
import signal
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias, final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]

SECONDS = 1.0  # of processor time; a call that takes longer is left alone
SKIPPED = ("test", "plot", "example", "cli", "numba", "vectorized", "units", "conftest")
LENGTH = 3


@final
@dataclass(frozen=True)
class Program:
    """A function of `count` arguments, and what it is called."""

    name: str
    function: Callable[..., Any]
    count: int


@final
@dataclass(frozen=True)
class Found:
    """A function with arguments at which it returns finite numbers."""

    name: str
    function: Callable[..., Any]
    make: Callable[[], tuple[Any, ...]]


class TooLongError(Exception):
    """A call did not end in time."""


@contextlib.contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Run quietly, and for no more than `seconds` of processor time."""

    def stop(*_: Any) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with (
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def modules(root: str) -> Iterator[ModuleType]:
    """The public modules of a package that can be imported here."""
    with limited(60):
        package = importlib.import_module(root)
    yield package
    for info in pkgutil.walk_packages(getattr(package, "__path__", []), f"{root}."):
        if any(part.startswith("_") for part in info.name.split(".")):
            continue
        if any(word in info.name.removeprefix(root) for word in SKIPPED):
            continue
        with contextlib.suppress(Exception), limited(60):
            yield importlib.import_module(info.name)


def programs(root: str) -> list[Program]:
    """The public functions and methods of a package, in an order that nobody chose."""
    found: dict[str, Program] = {}
    for module in modules(root):
        for name, member in vars(module).items():
            home = getattr(member, "__module__", None) or ""
            if not name.isidentifier() or name.startswith("_"):
                continue
            if home.split(".")[0] != root or "<" in getattr(
                member, "__qualname__", "<"
            ):
                continue  # imported, or without a name of its own
            if inspect.isfunction(member) or inspect.isclass(member):
                for program in of_member(f"{home}.{member.__qualname__}", member):
                    found.setdefault(program.name, program)
    return [found[name] for name in sorted(found, key=order)]


def of_member(name: str, member: Any) -> Iterator[Program]:
    """A function, or what an instance of a class computes from its arguments."""
    count = required(member)
    if count is None:
        return
    if not inspect.isclass(member):
        if not inspect.isgeneratorfunction(member):
            yield Program(name, member, count)
        return
    for method, definition in vars(member).items():
        if method.startswith("_"):
            continue
        if isinstance(definition, property):
            yield Program(f"{name}.{method}", attribute_of(member, method), count)
        elif inspect.isfunction(definition):
            more = required(functools.partial(definition, None))
            if more is not None and not inspect.isgeneratorfunction(definition):
                call = call_of(member, method, count)
                yield Program(f"{name}.{method}", call, count + more)


def attribute_of(cls: Any, name: str) -> Callable[..., Any]:
    """A program: make an instance, and read an attribute."""

    def program(*args: Any) -> Any:
        return getattr(cls(*args), name)

    return program


def call_of(cls: Any, name: str, count: int) -> Callable[..., Any]:
    """A program: make an instance of `count` arguments, and call a method with more."""

    def program(*args: Any) -> Any:
        return getattr(cls(*args[:count]), name)(*args[count:])

    return program


def order(name: str) -> int:
    """A number that follows from a name and from nothing else."""
    return crc32(name.encode())


def required(function: Callable[..., Any]) -> int | None:
    """How many arguments must be given; None where some only go by name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters):
        return None
    given = [
        p for p in parameters if p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD}
    ]
    return sum(p.default is p.empty for p in given)


def trials(name: str, count: int) -> Iterator[Callable[[], tuple[Any, ...]]]:
    """Makers of arguments: numbers of several sizes, vectors, matrices, mixtures."""
    for index, (low, high) in enumerate(RANGES):
        for shapes in patterns(count):
            seed = [order(name), index]
            yield lambda seed=seed, low=low, high=high, shapes=shapes: generated(
                seed, low, high, shapes
            )


RANGES = [
    (0.2, 0.9),
    (1.0, 4.0),
    (20.0, 60.0),
    (200.0, 400.0),
    (0.01, 2000.0),
    (-1.0, 1.0),
]
SHAPES: list[tuple[int, ...]] = [(), (LENGTH,), (4,), (12,), (LENGTH, LENGTH)]


def patterns(count: int) -> Iterator[list[tuple[int, ...]]]:
    """Shapes of `count` arguments: all alike, or the first an array."""
    for shape in SHAPES:
        yield [shape] * count
    if count > 1:
        for shape in SHAPES[1:]:
            yield [shape, *[()] * (count - 1)]


def generated(
    seed: list[int], low: float, high: float, shapes: list[tuple[int, ...]]
) -> tuple[Any, ...]:
    """Arguments of these shapes; spread over decades where the range is."""
    random = np.random.default_rng(seed)

    def one(shape: tuple[int, ...]) -> Any:
        if low > 0:
            value = np.exp(random.uniform(np.log(low), np.log(high), shape))
        else:
            value = random.uniform(low, high, shape)
        return value if shape else float(value)

    return tuple(one(shape) for shape in shapes)


def flat(result: Any) -> Vector | None:
    """The floats of a result, as a vector; None where it is not made of numbers."""
    if isinstance(result, (bool, np.bool_)):
        return None
    if isinstance(result, (float, np.floating)):
        return np.array([float(result)])
    if (
        isinstance(result, np.ndarray)
        and type(result) is np.ndarray
        and result.dtype == np.float64
    ):
        return result.ravel().copy()
    if isinstance(result, (tuple, list)) and type(result) in {tuple, list}:
        parts = [flat(part) for part in result]
        if parts and all(part is not None for part in parts):
            return np.concatenate([part for part in parts if part is not None])
    return None


def value(function: Callable[..., Any], args: tuple[Any, ...]) -> Vector | None:
    """The finite numbers that a call returns; None without them."""
    try:
        with limited():
            result = flat(function(*args))
    except (Exception, SystemExit):
        return None
    if result is None or not result.size or not np.all(np.isfinite(result)):
        return None
    return result
