"""Functions of the standard library's `math`, on Python numbers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.derivative import DECLARED, constant, derivative
from rules_numpy._declare.maps import strong, total_of

__all__ = [
    "atan_partials",
    "atanh_partials",
    "declare",
    "exp_partials",
    "log10_partials",
    "over",
    "polygamma",
    "sqrt_partials",
    "tan_partials",
    "tanh_partials",
]

_ZERO, _NONE = rc.ZeroTangent(), rc.NoTangent()
_LN2, _LN10 = math.log(2.0), math.log(10.0)

# B₂ₖ / (2k)! of the expansion of ψ, k = 1, …, 10.
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510,
    43867 / 798, -174611 / 330,
)  # fmt: skip


def polygamma(n: int, x: float) -> float:
    """ψ⁽ⁿ⁾(x), by recurrence to x + k > 15 + n, where it expands (DLMF 5.15.8)."""
    sign, total = -1.0 if n % 2 else 1.0, 0.0
    while x < 15.0 + n:
        total -= sign * math.factorial(n) / x ** (n + 1)
        x = x + 1.0
    small = 1.0 / x  # whose powers do not overflow
    if n == 0:
        tail = math.log(x) - 0.5 * small
        for k, b in enumerate(_BERNOULLI, 1):
            tail -= b / (2 * k) * small ** (2 * k)
        return total + tail
    tail = math.factorial(n - 1) * small**n + math.factorial(n) * small ** (n + 1) / 2.0
    for k, b in enumerate(_BERNOULLI, 1):
        ratio = math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        tail += b * ratio * small ** (2 * k + n)
    return total - sign * tail


def declare(f: Any, partials: Callable[..., Any], **claims: bool) -> None:
    """Register a scalar rule, and note it for the reference page."""
    given = on_floats(partials) if takes_several(partials) else partials
    rc.scalar_rule(f, given, **claims)
    DECLARED[f] = partials, (0,)


def takes_several(partials: Callable[..., Any]) -> bool:
    """Whether a function has more arguments than one."""
    parameters = inspect.signature(partials).parameters.values()
    return len(parameters) > 2 or any(p.kind is p.VAR_POSITIONAL for p in parameters)


def on_floats(partials: Callable[..., Any]) -> Callable[..., Any]:
    """Let partials calculate with floats where another argument is an exact number."""

    @wraps(partials)
    def of_floats(y: Any, *args: Any) -> Any:
        if any(isinstance(x, Decimal | Fraction) for x in args):
            args = tuple(
                [float(x) if isinstance(x, Decimal | Fraction) else x for x in args]
            )
        return partials(y, *args)

    return of_floats


def over(x: Any, y: Any) -> Any:
    """x / y, infinite at zero: strong zeros need no exception."""
    if y == 0:
        return math.inf
    return x / y


def polygamma_partials(y: Any, n: Any, x: Any) -> Any:
    """∂ψ⁽ⁿ⁾ = ψ⁽ⁿ⁺¹⁾."""
    return _NONE, polygamma(n + 1, x)


def sin_partials(y: Any, x: Any) -> Any:
    """∂sin = cos."""
    return (math.cos(x),)


def cos_partials(y: Any, x: Any) -> Any:
    """∂cos = -sin."""
    return (-math.sin(x),)


def tan_partials(y: Any, x: Any) -> Any:
    """∂tan = 1 + tan²."""
    return (1.0 + y * y,)


def asin_partials(y: Any, x: Any) -> Any:
    """∂asin = 1 / √(1 - x²)."""
    return (over(1.0, math.sqrt((1.0 - x) * (1.0 + x))),)


def acos_partials(y: Any, x: Any) -> Any:
    """∂acos = -1 / √(1 - x²)."""
    return (-over(1.0, math.sqrt((1.0 - x) * (1.0 + x))),)


def atan_partials(y: Any, x: Any) -> Any:
    """∂atan = 1 / (1 + x²)."""
    return (1.0 / (1.0 + x * x),)


def atan2_partials(r: Any, y: Any, x: Any) -> Any:
    """∂atan2(y, x) = (x, -y) / (x² + y²)."""
    h = math.hypot(x, y)
    if h == 0:
        return math.nan, math.nan
    return x / h / h, -y / h / h


def sinh_partials(y: Any, x: Any) -> Any:
    """∂sinh = cosh."""
    return (math.cosh(x),)


def cosh_partials(y: Any, x: Any) -> Any:
    """∂cosh = sinh."""
    return (math.sinh(x),)


def tanh_partials(y: Any, x: Any) -> Any:
    """∂tanh = (1 - tanh)(1 + tanh)."""
    return ((1.0 - y) * (1.0 + y),)


def asinh_partials(y: Any, x: Any) -> Any:
    """∂asinh = 1 / √(1 + x²)."""
    return (1.0 / math.hypot(1.0, x),)


def acosh_partials(y: Any, x: Any) -> Any:
    """∂acosh = 1 / √(x² - 1)."""
    return (over(1.0, math.sqrt((x - 1.0) * (x + 1.0))),)


def atanh_partials(y: Any, x: Any) -> Any:
    """∂atanh = 1 / (1 - x²)."""
    return (1.0 / ((1.0 - x) * (1.0 + x)),)


def exp_partials(y: Any, x: Any) -> Any:
    """∂eˣ = eˣ."""
    return (y,)


def exp2_partials(y: Any, x: Any) -> Any:
    """∂2ˣ = 2ˣ ln 2."""
    return (y * _LN2,)


def expm1_partials(y: Any, x: Any) -> Any:
    """∂(eˣ - 1) = eˣ."""
    return (math.exp(x),)


def log_partials(y: Any, x: Any, base: Any = None) -> Any:
    """∂log_b x = (1 / x, -log_b x / b) / ln b."""
    if base is None:
        return (1.0 / x,)
    scale = math.log(base)
    return 1.0 / (x * scale), -y / (base * scale)


def log2_partials(y: Any, x: Any) -> Any:
    """∂log₂ x = 1 / (x ln 2)."""
    return (1.0 / (x * _LN2),)


def log10_partials(y: Any, x: Any) -> Any:
    """∂log₁₀ x = 1 / (x ln 10)."""
    return (1.0 / (x * _LN10),)


def log1p_partials(y: Any, x: Any) -> Any:
    """∂ln(1 + x) = 1 / (1 + x)."""
    return (1.0 / (1.0 + x),)


def sqrt_partials(y: Any, x: Any) -> Any:
    """∂√x = 1 / (2 √x)."""
    return (over(0.5, y),)


def cbrt_partials(y: Any, x: Any) -> Any:
    """∂∛x = 1 / (3 ∛x²)."""
    return (over(1.0, 3.0 * y * y),)


def pow_partials(y: Any, x: Any, p: Any) -> Any:
    """∂xᵖ = (p xᵖ⁻¹, xᵖ ln x)."""
    if x == 0:
        # The limits 0 ln 0 = 0 and, at p = 0, 0 · 0⁻¹ = 0.
        slope = 0.0 if p == 0 or p > 1 else (1.0 if p == 1 else math.inf)
        return slope, 0.0
    by_exponent = y * math.log(x) if x > 0 else math.nan
    return (p * power(x, p - 1.0) if p else 0.0), by_exponent


def power(x: float, p: float) -> float:
    """xᵖ for x ≠ 0, infinite where Python says that it is out of range."""
    try:
        return math.pow(x, p)
    except OverflowError:
        return math.copysign(math.inf, x if p % 2.0 == 1.0 else 1.0)


def fabs_partials(y: Any, x: Any) -> Any:
    """∂|x| = sign(x), zero at zero."""
    return (math.copysign(1.0, x) if x else 0.0,)


def copysign_partials(y: Any, x: Any, s: Any) -> Any:
    """∂(|x| sign(s)) = sign(x) sign(s)."""
    return (math.copysign(1.0, x) * math.copysign(1.0, s) if x else 0.0), _ZERO


def degrees_partials(y: Any, x: Any) -> Any:
    """∂ = 180 / π."""
    return (180.0 / math.pi,)


def radians_partials(y: Any, x: Any) -> Any:
    """∂ = π / 180."""
    return (math.pi / 180.0,)


def remainder_partials(r: Any, x: Any, y: Any) -> Any:
    """∂(x - n y) = (1, -n), n = (x - r) / y a whole number."""
    n = (x - r) / y
    return 1.0, -round(n) if math.isfinite(n) else -n


def ldexp_partials(y: Any, x: Any, i: Any) -> Any:
    """∂(x 2ⁱ) = 2ⁱ."""
    return math.ldexp(1.0, i), _NONE


def frexp_partials(y: Any, x: Any) -> Any:
    """x = m 2ᵉ: ∂m = 2⁻ᵉ."""
    return (math.ldexp(1.0, -y[1]),), (_NONE,)


def modf_partials(y: Any, x: Any) -> Any:
    """The fractional part moves, the whole part is a step function."""
    return (1.0,), (_ZERO,)


def nextafter_partials(r: Any, x: Any, y: Any) -> Any:
    """The neighbour moves with x."""
    return 1.0, _ZERO


def ulp_partials(y: Any, x: Any) -> Any:
    """A step function."""
    return (_ZERO,)


def erf_partials(y: Any, x: Any) -> Any:
    """∂erf = 2 / √π exp(-x²)."""
    return (2.0 / math.sqrt(math.pi) * math.exp(-x * x),)


def erfc_partials(y: Any, x: Any) -> Any:
    """∂erfc = -2 / √π exp(-x²)."""
    return (-2.0 / math.sqrt(math.pi) * math.exp(-x * x),)


def gamma_partials(y: Any, x: Any) -> Any:
    """∂Γ = Γ ψ."""
    return (y * polygamma(0, x),)


def lgamma_partials(y: Any, x: Any) -> Any:
    """∂ln|Γ| = ψ."""
    return (polygamma(0, x),)


def fma_partials(r: Any, x: Any, y: Any, z: Any) -> Any:
    """∂(x y + z) = (y, x, 1)."""
    return y, x, 1.0


def hypot_partials(y: Any, *coordinates: Any) -> Any:
    """∂√(Σ x²) = x / y, zero at the origin."""
    return tuple(x / y if y else 0.0 for x in coordinates)


_ALONE = (
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 "
    "log log2 log10 log1p sqrt cbrt pow fabs copysign degrees radians remainder ldexp "
    "frexp modf nextafter ulp erf erfc gamma lgamma fma hypot"
).split()
for _name in _ALONE:
    if hasattr(math, _name):  # cbrt and exp2 came with 3.11, fma with 3.13
        declare(getattr(math, _name), globals()[f"{_name}_partials"])
declare(math.fmod, remainder_partials)
declare(polygamma, polygamma_partials)


def _numbers(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` of lists: what `math` takes and gives."""

    def run(*args: Any, **kw: Any) -> Any:
        return f(*(x.tolist() if isinstance(x, np.ndarray) else x for x in args), **kw)

    return run


@derivative(math.dist, argnums=(0, 1), call=_numbers(math.dist))
def dist_derivative(y: Any, p: Any, q: Any) -> Any:
    """∂‖p - q‖ = ±(p - q) / ‖p - q‖, zero where they meet."""
    unit = (p - q) / y if y else np.zeros(p.shape)
    return total_of(unit), total_of(-unit)


@derivative(math.fsum, call=_numbers(math.fsum))
def fsum_derivative(y: Any, seq: Any) -> Any:
    """Every term moves the sum."""
    return total_of(np.ones(seq.shape))


def _prod(iterable: Any, /, **kw: Any) -> Any:
    """The product of numbers, or of the arrays of a list entry by entry."""
    return math.prod(iterable.tolist() if iterable.ndim == 1 else iterable, **kw)


@derivative(math.prod, call=_prod)
def prod_derivative(y: Any, iterable: Any, /, *, start: Any = 1) -> Any:
    """∂ᵢ Π xⱼ = Π over j ≠ i."""
    from rules_numpy.arrays.cumulative import exclusive_products

    if iterable.ndim == 1:
        return total_of(start * exclusive_products(iterable))
    last = exclusive_products(np.moveaxis(iterable, 0, -1))
    others = start * np.moveaxis(last, -1, 0)
    return lambda dx: np.sum(strong(others, dx), 0), lambda dy: strong(others, dy)


@derivative(getattr(math, "sumprod", None) or [], argnums=(0, 1))
def sumprod_derivative(y: Any, p: Any, q: Any) -> Any:
    """∂Σ p q = (q, p)."""
    return total_of(q), total_of(p)


rc.non_differentiable(constant([
    math.ceil, math.floor, math.trunc, math.comb, math.factorial, math.gcd,
    math.isclose,
    math.isfinite, math.isinf, math.isnan, math.isqrt, math.lcm, math.perm,
]))  # fmt: skip
