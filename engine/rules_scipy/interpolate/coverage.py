"""Coverage of `scipy.interpolate`; run as a module it prints its page."""

from __future__ import annotations

import sys

import scipy.interpolate

from rules_scipy._module_coverage import ModuleCoverage

from ._arrays import DECLARED

__all__ = ["COVERAGE"]

# ruff: noqa: E501  rows of a table

_HEAD = """# The SciPy pack: interpolation

<!-- Made by `python -m rules_scipy.interpolate.coverage`; do not edit. -->

Of the {total} public functions and classes of `scipy.interpolate`, {covered} have rules,
{constant} have no derivative, and {missing} have no rule, for the reasons below: each
raises an error where its derivative is asked for. [](../how-to/interpolation.md) shows how
to use them. `rules_scipy.interpolate` contains them for NumPy, JAX and PyTorch:

```python
>>> import jax, numpy as np
>>> from rules_scipy.interpolate import CubicSpline
>>> x, y = np.arange(4.0), np.asarray([0.0, 1.0, 8.0, 27.0])
>>> value = jax.jit(jax.value_and_grad(lambda y: CubicSpline(x, y)(1.5)))
>>> [np.round(part, 4).tolist() for part in value(y)]
[3.375, [-0.0625, 0.5625, 0.5625, -0.0625]]
```

Interpolants have derivatives in data, abscissae or knots, points, limits of integrals and
boundary values, of every order, in both modes.

| what | the derivative |
|---|---|
| methods | values and derivatives (`nu`), `derivative`, `antiderivative`, `integrate`, `extend`, `insert_knot`, conversions. `add_xi` and, in NumPy programs, `set_yi` and `set_smoothing_factor` are errors: make a new interpolant |
| roots | in NumPy, by the implicit function theorem; a double root is an error. A root at a jump moves with the breakpoint |
| points on a breakpoint or knot | is that of the piece to the right, at the last one to the left; so is that in the breakpoint |
| points outside | with `extrapolate=False` NaN without derivative; with `"periodic"` that of the moved point |
| `CubicSpline(bc_type="periodic")` and its kin | is that of SciPy's formula in all data: move the first and the last value together |
| `PchipInterpolator` | at a kink, where a slope of the data is zero or changes its sign, is that of SciPy's branch: the slope stays zero |
| `Akima1DInterpolator` | at equal slopes the weight has derivative zero; where both weights vanish the slope is a mean |
| `make_smoothing_spline` | is in `lam` too, which must be given: SciPy's search for it has no derivative |
| `splrep`, `splprep`, `UnivariateSpline` | is that of interpolation (`s=0`), of given knots, or of a polynomial (large `s`). What FITPACK smooths is an error: it meets `s` only up to 0.1 % |
| `splrep(per=1)`, `splprep` | `per=1` has derivatives for `s=0` and odd degrees in `splrep`, none in `splprep` |
| `RectBivariateSpline` | must have `s=0` |
| `RegularGridInterpolator` | splines are solved for directly, SciPy's to 1e-6; a method of fields is that of each axis |
| `RBFInterpolator`, `Rbf` | is in `epsilon` and `smoothing` too. At a centre the linear kernel has slope zero; the second derivative of the thin plate is infinite there |
| `LinearNDInterpolator`, `griddata` | keeps the triangles; `NearestNDInterpolator` is constant in pieces |
| `BarycentricInterpolator`, `FloaterHormannInterpolator` | is exact at the nodes too, at every order |
| `AAA` | is in points: the data choose the support points |
| `lagrange`, `pade` | is in the coefficients of a `Polynomial`, NumPy's `poly1d` whose arithmetic raises an error |

In traced code errors of values cannot be raised: abscissae in disorder, and points out of
bounds where `bounds_error` would raise, give NaN, or an error of the solver that gets it.

## Functions and classes with rules
"""

_SMOOTHS = "chooses knots and a smoothing parameter by a search that ends at a tolerance: use {}"
_SPHERE = "solves a rank-deficient system under conditions at the poles, so far without a rule: use RBFInterpolator"

COVERAGE = ModuleCoverage(
    scipy.interpolate,
    DECLARED,
    {
        "BivariateSpline": "is the base class of surfaces: make RectBivariateSpline",
        "CloughTocher2DInterpolator": "estimates gradients by an iteration that ends at a tolerance: use LinearNDInterpolator or RBFInterpolator",
        "LSQBivariateSpline": "solves a least-squares problem whose rank FITPACK decides, so far without a rule: use RBFInterpolator with smoothing",
        "LSQSphereBivariateSpline": _SPHERE,
        "RectSphereBivariateSpline": _SPHERE,
        "SmoothBivariateSpline": _SMOOTHS.format("RBFInterpolator with smoothing"),
        "SmoothSphereBivariateSpline": _SPHERE,
        "bisplrep": _SMOOTHS.format("RectBivariateSpline or RBFInterpolator"),
        "generate_knots": "chooses knots one by one: pass them as constants",
        "interp2d": "was removed from SciPy: use RegularGridInterpolator",
    },
    _HEAD,
    "None.",
    classes=True,
)

if __name__ == "__main__":
    sys.stdout.write(COVERAGE.page())
