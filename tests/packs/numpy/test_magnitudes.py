"""Partial derivatives at very large and very small arguments, against mpmath.

Where the derivative is a normal number no intermediate result may overflow or vanish.
"""

import cmath
import math

import numpy as np
import pytest
from mpmath import mp, mpc, mpf

from rules_autodiff import grad, jvp
from rules_numpy.formulas import FORMULAS, in_framework

# Real and complex functions: the derivative in one argument.
DERIVATIVES = {
    "exp": mp.exp,
    "exp2": lambda x: mpf(2) ** x * mp.log(2),
    "expm1": mp.exp,
    "log": lambda x: 1 / x,
    "log2": lambda x: 1 / (x * mp.log(2)),
    "log10": lambda x: 1 / (x * mp.log(10)),
    "log1p": lambda x: 1 / (1 + x),
    "sqrt": lambda x: 1 / (2 * mp.sqrt(x)),
    "sin": mp.cos,
    "cos": lambda x: -mp.sin(x),
    "sinh": mp.cosh,
    "cosh": mp.sinh,
    "arcsin": lambda x: 1 / (mp.sqrt(1 - x) * mp.sqrt(1 + x)),
    "arccos": lambda x: -1 / (mp.sqrt(1 - x) * mp.sqrt(1 + x)),
    "arctan": lambda x: 1 / (1 + x * x),
    "arcsinh": lambda x: 1 / mp.sqrt(1 + x * x),
    "arccosh": lambda x: 1 / (mp.sqrt(x - 1) * mp.sqrt(x + 1)),
    "arctanh": lambda x: 1 / (1 - x * x),
    "reciprocal": lambda x: -1 / (x * x),
    "square": lambda x: 2 * x,
}
REAL = {
    **DERIVATIVES,
    "tan": lambda x: 1 + mp.tan(x) ** 2,
    "cbrt": lambda x: 1 / (3 * abs(x) ** (mpf(2) / 3)),
    "erf": lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
    "erfc": lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
    "sinc": lambda x: (mp.cos(mp.pi * x) - mp.sinc(mp.pi * x)) / x,
    "i0": lambda x: mp.besseli(1, x),
    "gamma": lambda x: mp.gamma(x) * mp.digamma(x),
    "lgamma": mp.digamma,
}
TWO = {
    "hypot": lambda a, b: (a / mp.hypot(a, b), b / mp.hypot(a, b)),
    "arctan2": lambda a, b: (b / (a * a + b * b), -a / (a * a + b * b)),
    "divide": lambda a, b: (1 / b, -a / b / b),
    "multiply": lambda a, b: (b, a),
    "power": lambda a, b: (b * a ** (b - 1), a**b * mp.log(a)),
    "logaddexp": lambda a, b: (1 / (1 + mp.exp(b - a)), 1 / (1 + mp.exp(a - b))),
}
SHORT = {
    **{f"arc{name}": f"a{name}" for name in (
        "sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh",
    )},
    "power": "pow",
}  # fmt: skip

SIZES = [10.0**k for k in (
    -300, -250, -200, -160, -154, -100, -20, -8, -1, 0.3, 1, 1.5, 2, 2.5, 8, 16, 20,
    100, 154, 155, 160, 200, 250, 300,
)]  # fmt: skip
SIZES += [0.5, 0.999999, 1.000001]
REALS = [*SIZES, *(-size for size in SIZES)]
ANGLES = [0.3, 1.2, 2.5, -0.7, -2.0]
COMPLEX = [cmath.rect(size, angle) for size in SIZES for angle in ANGLES]

# Where the value says nothing of the argument, or leaves the range of floats.
INSIDE = {
    **dict.fromkeys(("sin", "cos", "tan"), lambda x: abs(x) < 1e9 and abs(x.imag) < 9),
    **dict.fromkeys(
        ("exp", "exp2", "expm1", "sinh", "cosh"),
        lambda x: abs(x.real) < 600 and abs(x.imag) < 1e7,
    ),
    "i0": lambda x: abs(x) < 600,
    "gamma": lambda x: 1e-150 < x < 150,
    "lgamma": lambda x: x > 0,
}

TIERS = ("jvp", "tape", "auto")


def derivative(way, f, x):
    """The derivative of an elementwise function at all entries, or at a number."""
    with np.errstate(all="ignore"):
        if way == "jvp":
            return jvp(f, (x,), (x * 0.0 + 1.0,))[1]
        total = (lambda x: np.sum(f(x))) if isinstance(x, np.ndarray) else f
        for _ in range(3):  # code is written at the second call
            found = grad(total, tier=way)(x)
        return found


def check(found, x, true):
    """Equal where the true derivative is a normal number, and else no NaN."""
    size = abs(true)
    if size > mpf(10) ** 308:
        return
    if size < mpf(10) ** -307:
        assert abs(found) < 1e-306, (x, found, mp.nstr(true, 5))
    else:
        assert cmath.isfinite(found), (x, found, mp.nstr(true, 5))
        assert abs(mp.mpmathify(found) - true) < 1e-7 * size, (x, found)


@pytest.fixture(autouse=True)
def precision():
    """Enough digits for one plus the square of the smallest number."""
    with mp.workdps(620):
        yield


def real_points(name, f):
    """Where the function has a finite real value and a derivative."""
    for x in REALS:
        if not INSIDE.get(name, lambda _: True)(x):
            continue
        try:
            with np.errstate(all="ignore"):
                value = f(x)
        except (ValueError, OverflowError):
            continue
        if math.isfinite(value):
            yield x


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", TIERS)
@pytest.mark.parametrize("name", [name for name in REAL if hasattr(np, name)])
def test_real_functions_of_numpy(name, way):
    f = getattr(np, name)
    points = np.array(list(real_points(name, f)))
    for x, found in zip(points, derivative(way, f, points), strict=True):
        check(float(found), x, REAL[name](mpf(x)))


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", TIERS)
@pytest.mark.parametrize(
    "name", [name for name in REAL if hasattr(math, SHORT.get(name, name))]
)
def test_real_functions_of_math(name, way):
    f = getattr(math, SHORT.get(name, name))
    for x in real_points(name, f):
        check(derivative(way, f, x), x, REAL[name](mpf(x)))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", DERIVATIVES)
def test_complex_functions(name):
    points = [z for z in COMPLEX if INSIDE.get(name, lambda _: True)(z)]
    true = [DERIVATIVES[name](mpc(z)) for z in points]
    found = derivative("jvp", getattr(np, name), np.array(points))
    for row in zip(found.tolist(), points, true, strict=True):
        check(*row)
    of_number = getattr(cmath, SHORT.get(name, name), None)
    for z, expected in zip(points, true, strict=True):
        if of_number is not None:
            check(derivative("jvp", of_number, z), z, expected)


@pytest.mark.parametrize("kind", ["f", "F", "d", "D"])
@pytest.mark.parametrize("name", ["arctan", "arcsinh", "arctanh"])
def test_formulas_in_frameworks(name, kind):
    """Single precision leaves its range at 1e38."""
    points = np.array(COMPLEX if kind in "FD" else REALS)
    single = (np.abs(points) < 1e30) & (np.abs(points) > 1e-30)
    points = (points if kind in "dD" else points[single]).astype(kind)
    number = mpc if kind in "FD" else mpf
    with np.errstate(all="ignore"):
        (found,) = in_framework(FORMULAS[name])(np, None, points)
    assert found.dtype == points.dtype
    tiny = mpf(float(np.finfo(kind).tiny))
    rtol = 30 * float(np.finfo(kind).eps)
    for x, ours in zip(points.tolist(), found.tolist(), strict=True):
        true = DERIVATIVES[name](number(x))
        assert abs(mp.mpmathify(ours) - true) <= rtol * abs(true) + tiny, (x, ours)


def fits(name, a, b):
    if name == "power":
        return abs(b * math.log(a)) < 600
    return name != "logaddexp" or abs(a - b) < 600


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers(name):
    f, of_numbers = getattr(np, name), getattr(math, SHORT.get(name, name), None)
    pairs = [(a, b) for a in SIZES for b in SIZES if fits(name, a, b)]
    first, second = np.array(pairs).T
    one, none = np.ones_like(first), np.zeros_like(first)
    with np.errstate(all="ignore"):
        by_a = jvp(f, (first, second), (one, none))[1]
        by_b = jvp(f, (first, second), (none, one))[1]
        back = grad(lambda a, b: np.sum(f(a, b)), (0, 1))(first, second)
    mp.dps = 50
    for i, (a, b) in enumerate(pairs):
        true = TWO[name](mpf(a), mpf(b))
        for found in ((by_a[i], by_b[i]), (back[0][i], back[1][i])):
            check(float(found[0]), (a, b), true[0])
            check(float(found[1]), (a, b), true[1])
        if of_numbers is not None and i % 7 == 0:
            check(jvp(of_numbers, (a, b), (1.0, 0.0))[1], (a, b), true[0])
            check(jvp(of_numbers, (a, b), (0.0, 1.0))[1], (a, b), true[1])
