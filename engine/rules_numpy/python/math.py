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
from rules_numpy.formulas import FORMULAS, MATH, in_namespace

__all__ = ["declare", "formula_of_numbers", "log_of", "polygamma"]

_ZERO, _NONE = rc.ZeroTangent(), rc.NoTangent()
# `asin` in `math` is NumPy's arcsin.
_INVERTED = ("sin", "cos", "tan")

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


def declare(f: Any, partials: Callable[..., Any], **claims: Any) -> None:
    """Register a scalar rule, and record it for the reference page."""
    wrapped = on_floats(partials) if takes_several(partials) else partials
    rc.scalar_rule(f, wrapped, **claims)
    DECLARED[f] = partials, (0,)


def takes_several(partials: Callable[..., Any]) -> bool:
    """Whether a function has more arguments than one."""
    parameters = inspect.signature(partials).parameters.values()
    return len(parameters) > 2 or any(p.kind is p.VAR_POSITIONAL for p in parameters)


def on_floats(partials: Callable[..., Any]) -> Callable[..., Any]:
    """Let partials compute with floats if another argument is an exact number."""

    @wraps(partials)
    def of_floats(y: Any, *args: Any) -> Any:
        if any(isinstance(x, Decimal | Fraction) for x in args):
            args = tuple(
                [float(x) if isinstance(x, Decimal | Fraction) else x for x in args]
            )
        return partials(y, *args)

    return of_floats


def formula_of_numbers(name: str, namespace: dict[str, Any]) -> Callable[..., Any]:
    """The formula of a function of `math` or `cmath`."""
    full = name.replace("a", "arc", 1) if name[1:].startswith(_INVERTED) else name
    return in_namespace(FORMULAS[full], namespace)


def polygamma_partials(y: Any, n: Any, x: Any) -> Any:
    """∂ψ⁽ⁿ⁾ = ψ⁽ⁿ⁺¹⁾."""
    return _NONE, polygamma(n + 1, x)


def log_of(namespace: dict[str, Any]) -> Callable[..., Any]:
    """The partials of a logarithm, to a base or not."""
    natural = formula_of_numbers("log", namespace)
    to_base = formula_of_numbers("log_to_base", namespace)

    def log_partials(y: Any, x: Any, base: Any = None) -> Any:
        """∂log_b x = (1 / x, -log_b x / b) / ln b."""
        return natural(y, x) if base is None else to_base(y, x, base)

    return log_partials


def pow_partials(y: Any, x: Any, p: Any) -> Any:
    """∂xᵖ = (p xᵖ⁻¹, xᵖ ln x)."""
    if x == 0:
        # The limits 0 ln 0 = 0 and, at p = 0, 0 · 0⁻¹ = 0.
        slope = 0.0 if p == 0 or p > 1 else (1.0 if p == 1 else math.inf)
        return slope, 0.0
    by_exponent = y * math.log(x) if x > 0 else math.nan
    return (p * power(x, p - 1.0) if p else 0.0), by_exponent


def power(x: float, p: float) -> float:
    """xᵖ for x ≠ 0, infinite if Python raises OverflowError."""
    try:
        return math.pow(x, p)
    except OverflowError:
        return math.copysign(math.inf, x if p % 2.0 == 1.0 else 1.0)


def ulp_partials(y: Any, x: Any) -> Any:
    """A step function."""
    return (_ZERO,)


def gamma_partials(y: Any, x: Any) -> Any:
    """∂Γ = Γ ψ."""
    return (y * polygamma(0, x),)


def lgamma_partials(y: Any, x: Any) -> Any:
    """∂ln|Γ| = ψ."""
    return (polygamma(0, x),)


def fma_partials(r: Any, x: Any, y: Any, z: Any) -> Any:
    """∂(x y + z) = (y, x, 1)."""
    return y, x, 1.0


_FORMULAS = (
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 "
    "log2 log10 log1p sqrt cbrt fabs copysign degrees radians fmod remainder ldexp "
    "frexp modf nextafter hypot erf erfc"
).split()
for _name in _FORMULAS:
    if hasattr(math, _name):  # cbrt and exp2 came with 3.11
        declare(getattr(math, _name), formula_of_numbers(_name, MATH))
declare(math.log, log_of(MATH))
for _name in ("pow", "ulp", "gamma", "lgamma", "fma"):
    if hasattr(math, _name):  # fma came with 3.13
        declare(getattr(math, _name), globals()[f"{_name}_partials"])
declare(polygamma, polygamma_partials)


def _numbers(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` of lists, as `math` has it."""

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
    """The sum of all tangents."""
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
