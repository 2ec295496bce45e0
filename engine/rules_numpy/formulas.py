"""Partial derivatives of elementwise functions, one formula each.

A formula is a function of the value `y` and the arguments. Its functions (`cos`,
`sqrt`, `over`, …) are globals of one namespace: NumPy's here, `math`'s for Python
numbers, `cmath`'s for complex ones, `jax.numpy` or `torch` in a framework.
`in_namespace` gives a formula the functions of another; straight-line code of the
engine uses the text. So all of them give equal results, as far as the functions of
their namespaces do.

>>> import math
>>> from rules_numpy.formulas import FORMULAS, MATH, in_namespace
>>> FORMULAS["tanh"].partials(0.5, None)
(0.75,)
>>> in_namespace(FORMULAS["sin"], MATH)(None, 0.0)
(1.0,)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._declare.namespaces import (
    CMATH,
    CONSTANTS,
    FRAMEWORK,
    GAUSS,
    LN2,
    LN10,
    MATH,
    NOTHING,
    ZERO,
    copysign,
    cos,
    cosh,
    difference,
    direction,
    exp,
    exp2,
    framework,
    hypotenuse,
    inverse_part,
    ldexp,
    log,
    logaddexp,
    logaddexp2,
    lorentzian,
    nonzero,
    one,
    over,
    pi,
    rebound,
    rint,
    share,
    sign,
    sin,
    sinh,
    sqrt,
    zero_like,
)

__all__ = [
    "CMATH", "FORMULAS", "MATH", "Formula", "absolute_partials", "divmod_partials",
    "in_framework", "in_namespace",
]  # fmt: skip

Partials = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class Formula:
    """The partial derivatives of a function.

    Attributes:
        partials: `partials(y, *args)`, one per argument, with NumPy's functions.
        holomorphic: Whether the Cauchy–Riemann equations hold.
        real_valued: Whether the value is real at complex arguments too.
    """

    partials: Partials
    holomorphic: bool
    real_valued: bool = False

    @property
    def functions(self) -> frozenset[str]:
        """The functions of a namespace that the formula uses."""
        return frozenset(self.partials.__code__.co_names) - CONSTANTS

    @property
    def runs_in_frameworks(self) -> bool:
        """Whether every array-API namespace has these functions."""
        return self.functions <= FRAMEWORK


# By the function's name in NumPy, or in `math` if NumPy has none.
FORMULAS: dict[str, Formula] = {}


def in_namespace(formula: Formula, namespace: dict[str, Any]) -> Partials:
    """The partials with the functions of another namespace."""
    return rebound(formula.partials, namespace)


def in_framework(formula: Formula) -> Partials:
    """The partials as `partials(xp, y, *args)` for any array-API namespace."""
    cache: dict[Any, Partials] = {}

    def partials(xp: Any, y: Any, *args: Any) -> tuple[Any, ...]:
        rebound_partials = cache.get(xp)
        if rebound_partials is None:
            rebound_partials = cache[xp] = rebound(formula.partials, framework(xp))
        return rebound_partials(y, *args)

    return partials


def formula(*names: str, **claims: bool) -> Callable[[Partials], Partials]:
    """Register the partials of functions, by their names in NumPy."""

    def note(partials: Partials) -> Partials:
        for name in names:
            FORMULAS[name] = Formula(partials, **{"holomorphic": False, **claims})
        return partials

    return note


# exponentials and logarithms


@formula("exp", holomorphic=True)
def exp_partials(y: Any, x: Any) -> Any:
    """∂eˣ = eˣ."""
    return (y,)


@formula("exp2", holomorphic=True)
def exp2_partials(y: Any, x: Any) -> Any:
    """∂2ˣ = 2ˣ ln 2."""
    return (y * LN2,)


@formula("expm1", holomorphic=True)
def expm1_partials(y: Any, x: Any) -> Any:
    """∂(eˣ - 1) = eˣ."""
    return (exp(x),)


@formula("log", holomorphic=True)
def log_partials(y: Any, x: Any) -> Any:
    """∂ln x = 1 / x."""
    return (over(1.0, x),)


@formula("log2", holomorphic=True)
def log2_partials(y: Any, x: Any) -> Any:
    """∂log₂ x = 1 / (x ln 2)."""
    return (over(1.0, x * LN2),)


@formula("log10", holomorphic=True)
def log10_partials(y: Any, x: Any) -> Any:
    """∂log₁₀ x = 1 / (x ln 10)."""
    return (over(1.0, x * LN10),)


@formula("log_to_base", holomorphic=True)
def log_to_base_partials(y: Any, x: Any, base: Any) -> Any:
    """∂log_b x = (1 / x, -log_b x / b) / ln b; `math.log` and `cmath.log`."""
    scale = log(base)
    return over(1.0, x * scale), over(-y, base * scale)


@formula("log1p", holomorphic=True)
def log1p_partials(y: Any, x: Any) -> Any:
    """∂ln(1 + x) = 1 / (1 + x)."""
    return (over(1.0, 1.0 + x),)


@formula("logaddexp")
def logaddexp_partials(y: Any, a: Any, b: Any) -> Any:
    """∂ln(eᵃ + eᵇ) = (1 / (1 + eᵇ⁻ᵃ), 1 / (1 + eᵃ⁻ᵇ)): `y` would be rounded."""
    gap = difference(y, a, b)
    none = zero_like(y)
    return exp(-logaddexp(none, gap)), exp(-logaddexp(none, -gap))


@formula("logaddexp2")
def logaddexp2_partials(y: Any, a: Any, b: Any) -> Any:
    """∂log₂(2ᵃ + 2ᵇ) = (1 / (1 + 2ᵇ⁻ᵃ), 1 / (1 + 2ᵃ⁻ᵇ))."""
    gap = difference(y, a, b)
    none = zero_like(y)
    return exp2(-logaddexp2(none, gap)), exp2(-logaddexp2(none, -gap))


# of the normal distribution; NumPy has neither


@formula("erf")
def erf_partials(y: Any, x: Any) -> Any:
    """∂erf = 2 / √π exp(-x²)."""
    return (GAUSS * exp(-x * x),)


@formula("erfc")
def erfc_partials(y: Any, x: Any) -> Any:
    """∂erfc = -2 / √π exp(-x²)."""
    return (-GAUSS * exp(-x * x),)


# roots


@formula("sqrt", holomorphic=True)
def sqrt_partials(y: Any, x: Any) -> Any:
    """∂√x = 1 / (2 √x)."""
    return (over(0.5, y),)


@formula("cbrt")
def cbrt_partials(y: Any, x: Any) -> Any:
    """∂∛x = 1 / (3 ∛x²)."""
    return (over(1.0 / 3.0, y * y),)


@formula("hypot")
def hypot_partials(y: Any, *coordinates: Any) -> Any:
    """∂√(Σ x²) = x / y, zero at the origin."""
    size = nonzero(y)
    return tuple([x / size for x in coordinates])


# trigonometric and hyperbolic functions


@formula("sin", holomorphic=True)
def sin_partials(y: Any, x: Any) -> Any:
    """∂sin = cos."""
    return (cos(x),)


@formula("cos", holomorphic=True)
def cos_partials(y: Any, x: Any) -> Any:
    """∂cos = -sin."""
    return (-sin(x),)


@formula("tan", holomorphic=True)
def tan_partials(y: Any, x: Any) -> Any:
    """∂tan = 1 + tan²."""
    return (1.0 + y * y,)


@formula("sinh", holomorphic=True)
def sinh_partials(y: Any, x: Any) -> Any:
    """∂sinh = cosh."""
    return (cosh(x),)


@formula("cosh", holomorphic=True)
def cosh_partials(y: Any, x: Any) -> Any:
    """∂cosh = sinh."""
    return (sinh(x),)


@formula("tanh", holomorphic=True)
def tanh_partials(y: Any, x: Any) -> Any:
    """∂tanh = (1 - tanh)(1 + tanh)."""
    return ((1.0 - y) * (1.0 + y),)


# The product of roots has the correct branches, unlike the root of the product; on a
# cut the sign of a zero imaginary part decides the side, and 1 - x would lose it.


@formula("arcsin", holomorphic=True)
def arcsin_partials(y: Any, x: Any) -> Any:
    """∂arcsin = 1 / (√(1 - x) √(1 + x))."""
    return (over(1.0, sqrt(-(x - 1.0)) * sqrt(1.0 + x)),)


@formula("arccos", holomorphic=True)
def arccos_partials(y: Any, x: Any) -> Any:
    """∂arccos = -1 / (√(1 - x) √(1 + x))."""
    return (-over(1.0, sqrt(-(x - 1.0)) * sqrt(1.0 + x)),)


@formula("arctan", holomorphic=True)
def arctan_partials(y: Any, x: Any) -> Any:
    """∂arctan = 1 / (1 + x²)."""
    return (lorentzian(x),)


@formula("arctan2")
def arctan2_partials(y: Any, a: Any, b: Any) -> Any:
    """∂arctan2(a, b) = (b, -a) / (a² + b²); undefined at the origin."""
    return inverse_part(y, b, a), -inverse_part(y, a, b)


@formula("arcsinh", holomorphic=True)
def arcsinh_partials(y: Any, x: Any) -> Any:
    """∂arcsinh = 1 / √(1 + x²)."""
    return (1.0 / hypotenuse(x),)


@formula("arccosh", holomorphic=True)
def arccosh_partials(y: Any, x: Any) -> Any:
    """∂arccosh = 1 / (√(x - 1) √(x + 1))."""
    return (over(1.0, sqrt(x - 1.0) * sqrt(x + 1.0)),)


@formula("arctanh", holomorphic=True)
def arctanh_partials(y: Any, x: Any) -> Any:
    """∂arctanh = 1 / ((1 - x)(1 + x))."""
    return (over(over(1.0, 1.0 - x), 1.0 + x),)


@formula("degrees", "rad2deg")
def degrees_partials(y: Any, x: Any) -> Any:
    """∂ = 180 / π."""
    return (180.0 / pi,)


@formula("radians", "deg2rad")
def radians_partials(y: Any, x: Any) -> Any:
    """∂ = π / 180."""
    return (pi / 180.0,)


# arithmetic


@formula("add", holomorphic=True)
def add_partials(y: Any, a: Any, b: Any) -> Any:
    """∂(a + b) = (1, 1)."""
    return 1.0, 1.0


@formula("subtract", holomorphic=True)
def subtract_partials(y: Any, a: Any, b: Any) -> Any:
    """∂(a - b) = (1, -1)."""
    return 1.0, -1.0


@formula("multiply", holomorphic=True)
def multiply_partials(y: Any, a: Any, b: Any) -> Any:
    """∂(a b) = (b, a)."""
    return b, a


@formula("divide", holomorphic=True)
def divide_partials(y: Any, a: Any, b: Any) -> Any:
    """∂(a / b) = (1 / b, -(a / b) / b)."""
    return over(1.0, b), over(-y, b)


@formula("negative", holomorphic=True)
def negative_partials(y: Any, x: Any) -> Any:
    """∂(-x) = -1."""
    return (-1.0,)


@formula("positive", holomorphic=True)
def positive_partials(y: Any, x: Any) -> Any:
    """∂(+x) = 1."""
    return (1.0,)


@formula("reciprocal", holomorphic=True)
def reciprocal_partials(y: Any, x: Any) -> Any:
    """∂(1 / x) = -1 / x²."""
    return (-y * y,)


@formula("square", holomorphic=True)
def square_partials(y: Any, x: Any) -> Any:
    """∂x² = 2 x."""
    return (x + x,)


@formula("remainder", "fmod")
def remainder_partials(y: Any, a: Any, b: Any) -> Any:
    """∂(a - q b) = (1, -q) with the whole quotient q = (a - y) / b."""
    return 1.0, -rint(over(a - y, b))


@formula("floor_divide")
def floor_divide_partials(y: Any, a: Any, b: Any) -> Any:
    """A step function of both arguments."""
    return ZERO, ZERO


@formula("divmod")
def divmod_partials(y: Any, a: Any, b: Any) -> Any:
    """The quotient is a step function, the remainder as for `remainder`."""
    return (ZERO, ZERO), (1.0, -y[0])


@formula("floor", "ceil", "trunc", "rint", "spacing")
def step_partials(y: Any, x: Any) -> Any:
    """Step functions: zero wherever there is a derivative."""
    return (ZERO,)


@formula("absolute", real_valued=True)
def absolute_partials(y: Any, x: Any) -> Any:
    """∂|x| = conj(x) / |x|, zero at zero."""
    return (direction(y, x),)


@formula("fabs")
def fabs_partials(y: Any, x: Any) -> Any:
    """∂|x| = sign(x), zero at zero."""
    return (sign(x),)


@formula("copysign")
def copysign_partials(y: Any, x: Any, s: Any) -> Any:
    """∂(|x| sign(s)) = sign(x) sign(s); zero in s."""
    return sign(x) * copysign(1.0, s), ZERO


@formula("ldexp")
def ldexp_partials(y: Any, x: Any, n: Any) -> Any:
    """∂(x 2ⁿ) = 2ⁿ; n is an integer."""
    return ldexp(one(x), n), NOTHING


@formula("frexp")
def frexp_partials(y: Any, x: Any) -> Any:
    """x = m 2ᵉ: ∂m = 2⁻ᵉ; e is an integer."""
    return (ldexp(one(x), -y[1]),), (NOTHING,)


@formula("modf")
def modf_partials(y: Any, x: Any) -> Any:
    """The fractional part has derivative one, the integer part is a step function."""
    return (1.0,), (ZERO,)


@formula("nextafter")
def nextafter_partials(y: Any, a: Any, b: Any) -> Any:
    """∂nextafter(a, b) = (1, 0)."""
    return 1.0, ZERO


# extremes: ties share; of a number and NaN, `fmax` and `fmin` return the number


@formula("maximum", holomorphic=True)
def maximum_partials(y: Any, a: Any, b: Any) -> Any:
    """One for the larger argument, or for NaN, which is the value."""
    return share(y, a > b, a < b, a, b), share(y, b > a, b < a, b, a)


@formula("minimum", holomorphic=True)
def minimum_partials(y: Any, a: Any, b: Any) -> Any:
    """One for the smaller argument, or for NaN, which is the value."""
    return share(y, a < b, a > b, a, b), share(y, b < a, b > a, b, a)


@formula("fmax", holomorphic=True)
def fmax_partials(y: Any, a: Any, b: Any) -> Any:
    """One for the larger argument, or for the only number."""
    return share(y, a > b, a < b, b, a), share(y, b > a, b < a, a, b)


@formula("fmin", holomorphic=True)
def fmin_partials(y: Any, a: Any, b: Any) -> Any:
    """One for the smaller argument, or for the only number."""
    return share(y, a < b, a > b, b, a), share(y, b < a, b > a, a, b)
