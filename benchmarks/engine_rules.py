"""Rules in loops: what a call of a function with a rule costs in a gradient.

Run: `python benchmarks/engine_rules.py`.

The same cube 200 times in a loop: as arithmetic of the program, by a `scalar_rule` of
the user's, by an `rrule` with its pullback; `gammaln`, which only the SciPy pack knows;
and the cube by HIPS autograd's `defvjp` where that is installed. Microseconds a call,
for the program and for its gradient, by written code and by the tape. All rows of one
run belong together.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

import rules_core as rc
from rules_autodiff import grad

COUNT = 200
REPEATS = 30


@rc.primitive
def by_partials(x: float) -> float:
    """x³ with a scalar rule."""
    return x * x * x


rc.scalar_rule(by_partials, lambda _y, x: (3.0 * x * x,))


@rc.primitive
def by_rrule(x: float) -> float:
    """x³ with an rrule."""
    return x * x * x


@rc.rrule.define(by_rrule)
def cube_rrule(x: Any) -> Any:
    """The rule of `by_rrule`."""

    def cube_pullback(dy: Any) -> Any:
        return rc.NoTangent(), 3.0 * x * x * dy

    return x * x * x, cube_pullback


def arithmetic(x: float) -> float:
    """The cubes as the program's own arithmetic."""
    total = 0.0
    for i in range(COUNT):
        t = x + 0.01 * i
        total = total + t * t * t
    return total


def scalar_rule(x: float) -> float:
    """By a scalar rule."""
    total = 0.0
    for i in range(COUNT):
        total = total + by_partials(x + 0.01 * i)
    return total


def rrule(x: float) -> float:
    """By an rrule."""
    total = 0.0
    for i in range(COUNT):
        total = total + by_rrule(x + 0.01 * i)
    return total


def pack(x: float) -> float:
    """By a rule of the SciPy pack."""
    total = 0.0
    for i in range(COUNT):
        total = total + scipy.special.gammaln(x + 0.01 * i)
    return total


def small_arrays(x: np.ndarray) -> Any:
    """By a scalar rule, of arrays with ten entries."""
    total = x
    for _ in range(COUNT):
        total = total + by_partials(0.1 * total)
    return np.sum(total)


def made_by_autograd() -> Callable[[float], Any]:
    """The same in HIPS autograd.

    Raises:
        ImportError: It is not installed.
    """
    from autograd.extend import defvjp, primitive

    cube = primitive(lambda x: x * x * x)
    defvjp(cube, lambda _ans, x: lambda g: 3.0 * x * x * g)

    def autograds(x: float) -> Any:
        total = 0.0
        for i in range(COUNT):
            total = total + cube(x + 0.01 * i)
        return total

    return autograds


def microseconds(f: Callable[[], Any]) -> float:
    """The least time of a call, divided by the number of rules in it."""
    f(), f(), f(), f()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times) / COUNT * 1e6


def row(f: Callable[..., Any], x: Any) -> None:
    """Print the row of one program."""
    program = microseconds(lambda: f(x))
    written = microseconds(lambda: grad(f)(x))
    tape = microseconds(lambda: grad(f, tier="tape")(x))
    print(f"{f.__name__:14} {program:8.2f} {written:8.2f} {tape:8.2f}")


def main() -> None:
    """Print the table."""
    print(f"{'':14} {'program':>8} {'written':>8} {'tape':>8}   µs a call")
    for f in (arithmetic, scalar_rule, rrule, pack):
        row(f, 0.7)
    row(small_arrays, np.linspace(0.01, 0.02, 10))
    try:
        from autograd import grad as autograd

        program = made_by_autograd()
    except ImportError:
        print("autograd is not installed")
        return
    gradient = autograd(program)
    assert math.isclose(gradient(0.7), grad(arithmetic)(0.7))
    print(
        f"{'HIPS autograd':14} {microseconds(lambda: program(0.7)):8.2f} "
        f"{microseconds(lambda: gradient(0.7)):8.2f}"
    )


if __name__ == "__main__":
    main()
