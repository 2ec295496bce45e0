"""Compiled gradients: ratios in one run, to Python and to the compiled program.

    python benchmarks/engine_compiled.py [name …]

For each program: the program by Python and by numba; its gradient by generated Python
code and by compiled code; how long compiling took, without numba's cache. Processor
time, so that other programs on the machine matter little.
"""

import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("RULES_COMPILED_CACHE", "off")

import numba
import numpy as np

from rules_autodiff import grad
from rules_autodiff.straight._tier.signatures import FORMS

SECONDS = 0.3
TURNS = 5


# A probe around the sun, by a leapfrog.
def orbit(x, y, u, v, n):
    for _ in range(n):
        r2 = x * x + y * y
        pull = 0.01 / (r2 * math.sqrt(r2))
        u -= pull * x
        v -= pull * y
        x += 0.01 * u
        y += 0.01 * v
    return x * x + y


# Robertson's chemical kinetics, by small explicit steps.
def kinetics(k, n):
    a, b, c = 1.0, 0.0, 0.0
    for _ in range(n):
        one, two, three = k[0] * a, k[1] * b * b, k[2] * b * c
        a, b, c = (
            a + 1e-3 * (three - one),
            b + 1e-3 * (one - two - three),
            c + 1e-3 * two,
        )
    return a + 2.0 * b + 3.0 * c


# A recursion that folds an array in halves.
def halves(x):
    y, n = x.copy(), len(x)
    while n > 1:
        m = n // 2
        y[:m] = 0.5 * y[:m] + y[m : 2 * m] * y[:m]
        n = m
    return y[0]


# Heat in a short rod; and in a long one, for which NumPy is as fast.
def heat(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


# Bodies that attract each other, by entries of arrays.
def bodies(p, m, n):
    p, v, k = p.copy(), np.zeros_like(p), len(m)
    for _ in range(n):
        for i in range(k):
            for j in range(k):
                if i != j:
                    dx, dy = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1]
                    d = dx * dx + dy * dy + 0.01
                    f = m[j] / (d * math.sqrt(d))
                    v[i, 0] += 0.01 * f * dx
                    v[i, 1] += 0.01 * f * dy
        p += 0.01 * v
    return np.sum(p * p)


rng = np.random.default_rng(0)
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "orbit": (orbit, (1.0, 0.0, 0.1, 0.9, 1000)),
    "kinetics": (kinetics, (np.array([0.04, 3.0, 1.0]), 1000)),
    "halves": (halves, (rng.normal(size=64),)),
    "heat 40": (heat, (rng.normal(size=40), 100)),
    "heat 20,000": (heat, (rng.normal(size=20_000), 20)),
    "bodies": (bodies, (rng.normal(size=(6, 2)), np.ones(6), 20)),
}


def per_call(call: Callable[[], Any]) -> float:
    """Processor seconds of a call: the least mean of some turns."""
    call()
    start, count = time.process_time(), 0
    while time.process_time() - start < SECONDS / TURNS:
        call()
        count += 1
    means = []
    for _ in range(TURNS):
        start = time.process_time()
        for _ in range(count):
            call()
        means.append((time.process_time() - start) / count)
    return min(means)


def seconds_of(f: Any) -> float:
    forms = FORMS.get(f.__code__) or {}
    kernels = [u.compiling.kernel for form in forms.values() for u in form.units]
    return float(max(k.seconds for k in kernels if k is not None))


def row(name: str) -> str:
    f, args = PROGRAMS[name]
    active = tuple(i for i, x in enumerate(args) if not isinstance(x, int))
    jitted = numba.njit(f)
    plain, fast = per_call(lambda: f(*args)), per_call(lambda: jitted(*args))
    one, other = (grad(f, active, tier=tier) for tier in ("straight", "compiled"))
    by_python, by_numba = per_call(lambda: one(*args)), per_call(lambda: other(*args))
    texts = [f"{1e6 * s:.1f}" for s in (plain, fast, by_python, by_numba)]
    ratios = by_python / by_numba, by_numba / fast, by_numba / plain, seconds_of(f)
    texts += [f"{ratio:.1f}" for ratio in ratios]
    return f"| {name} | {' | '.join(texts)} |"


def main() -> None:
    print(
        "| program | Python µs | numba µs | gradient by Python µs | compiled µs | by "
        "Python ÷ compiled | ÷ compiled program | ÷ Python program | compiling s |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in sys.argv[1:] or PROGRAMS:
        print(row(name), flush=True)


if __name__ == "__main__":
    main()
