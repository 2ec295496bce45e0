"""Ufuncs: real, complex, single precision, numbers, lists, broadcasting, options."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import rules_core as rc

RNG = np.random.default_rng(2)
X = RNG.uniform(0.2, 0.8, (2, 3))
Y = RNG.uniform(1.2, 1.8, 3)
Z = X + 1j * RNG.uniform(0.2, 0.8, X.shape)
W = Y - 1j * RNG.uniform(0.2, 0.8, Y.shape)

HOLOMORPHIC = [
    np.negative, np.positive, np.reciprocal, np.square, np.sqrt, np.exp, np.exp2,
    np.expm1, np.log, np.log2, np.log10, np.log1p, np.sin, np.cos, np.tan, np.sinh,
    np.cosh, np.tanh, np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arctanh, np.sinc,
]  # fmt: skip
OTHER_COMPLEX = [np.absolute, np.sign, np.conjugate, np.real, np.imag, np.angle]
REAL = [
    np.cbrt, np.fabs, np.degrees, np.radians, np.rad2deg, np.deg2rad, np.modf, np.frexp,
    np.i0, np.floor, np.ceil, np.trunc, np.rint, np.nan_to_num,
]  # fmt: skip
BINARY = [np.add, np.subtract, np.multiply, np.divide, np.power, np.float_power]
BINARY_REAL = [
    np.arctan2, np.hypot, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp,
    np.logaddexp2, np.copysign, np.heaviside, np.nextafter,
]  # fmt: skip


@pytest.mark.parametrize("f", [*HOLOMORPHIC, *OTHER_COMPLEX, *REAL])
def test_real(check, f):
    check(f, X)
    check(f, 0.3)


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("f", [*HOLOMORPHIC, *OTHER_COMPLEX])
def test_complex(check, f):
    check(f, Z)
    check(f, -Z.conj())
    check(f, 0.3 - 0.4j)


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("f", [*HOLOMORPHIC, *OTHER_COMPLEX, *REAL])
def test_single_precision(check, f):
    check(f, X.astype(np.float32))


def test_branches_outside_the_unit_circle(check):
    far = np.array([2.0 + 1.0j, -2.0 + 1.0j, 2.0 - 1.0j, -2.0 - 1.0j])
    for f in (np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh):
        check(f, far)
    check(np.arccosh, 1.0 + Y)


@pytest.mark.parametrize("f", [*BINARY, *BINARY_REAL])
def test_broadcasting(check, f):
    check(f, X, Y)
    check(f, Y, X)
    check(f, X[:, :1], 1.3)
    check(f, X.astype(np.float32), 1.7)


@pytest.mark.parametrize("f", BINARY)
def test_two_complex_arguments(check, f):
    check(f, Z, W)
    check(f, X, W)
    check(f, W, X)


@pytest.mark.parametrize("f", [np.divmod, np.remainder, np.fmod, np.floor_divide])
def test_remainders(check, f):
    check(f, np.array([[1.05, -0.7], [0.35, 0.7]]), np.array([0.7, 1.4]))
    check(f, np.array([1.125, -0.375]), 0.75)


def test_spacing_is_a_step_function():
    _, pullback = rc.rrule(np.spacing, X)
    assert isinstance(pullback(X)[1], rc.ZeroTangent)


def test_power_with_whole_exponents(check):
    for p in (0, 1, 2, 3, -1, np.array([0, 1, 2])):
        check(np.power, X - 0.5, p)


@pytest.mark.parametrize("n", [0, 1, 20, -1])
def test_ldexp(check, n):
    check(np.ldexp, X, n)
    _, pullback = rc.rrule(np.ldexp, 1.5, n)
    assert pullback(1.0)[1] == 2.0**n


@pytest.mark.parametrize(
    ("x", "p", "expected"),
    [
        (1.0, 2.0, (2.0, 0.0)),
        (2.0, 2.0, (4.0, 2.772588722239781)),
        (0.0, 2.0, (0.0, 0.0)),
        (0.0, 1.0, (1.0, 0.0)),
        (0.0, 3.5, (0.0, 0.0)),
    ],
)
def test_power_known(x, p, expected):
    _, pullback = rc.rrule(np.power, x, p)
    np.testing.assert_allclose(pullback(1.0)[1:], expected)


@pytest.mark.parametrize(
    ("f", "x", "dy", "expected"),
    [
        (np.sign, 0.0, 10.5, 0.0),
        (np.abs, 3 + 1j, 1.0, 0.9486832980505138 + 0.31622776601683794j),
        (np.angle, 3 + 1j, 1.0, -0.1 + 0.3j),
        (np.sinc, 0.0, 1.0, 0.0),
        (np.sinc, 0.434, 1.0, -1.17940285454853),
        (np.abs, 0.0, 1.0, 0.0),
        (np.sqrt, 0.0, 0.0, 0.0),
    ],
)
def test_known(f, x, dy, expected):
    _, pullback = rc.rrule(f, x)
    np.testing.assert_allclose(pullback(dy)[1], expected, rtol=1e-12)


@pytest.mark.parametrize("x", [0.0, 1e-9, 1e-3, 0.3, 0.319, 2.4])
def test_sinc_near_zero(check, x):
    """Its first derivative against mpmath; a second one exists everywhere."""
    _, pullback = rc.rrule(np.sinc, x)
    with mpmath.workdps(40):
        exact = float(mpmath.diff(mpmath.sincpi, x))
    assert float(pullback(1.0)[1]) == pytest.approx(exact, rel=1e-13, abs=1e-20)
    check(np.sinc, x)


@pytest.mark.parametrize(
    ("a", "expected"),
    [(1.0, (0.0, 1.0, 0.0)), (2.5, (1.0, 0.0, 0.0)), (4.0, (0.0, 0.0, 1.0))],
)
def test_clip_known(a, expected):
    _, pullback = rc.rrule(np.clip, a, 2.0, 3.0)
    assert pullback(1.0)[1:4] == expected


@pytest.mark.parametrize("bound", [2.0, 3.0])
def test_at_a_clip_bound_the_inner_derivative_holds(bound):
    _, pullback = rc.rrule(np.clip, bound, 2.0, 3.0)
    assert pullback(1.0)[1:4] == (1.0, 0.0, 0.0)


def test_clip(check):
    check(np.clip, X, 0.4, 0.6)
    check(np.clip, X, None, 0.6)
    check(np.clip, X, Y - 1.0, None)
    check(np.clip, X, min=0.4, max=0.6)
    check(np.clip, X, Y - 1.0, Y - 0.9)


@pytest.mark.parametrize("f", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_equal_arguments_share(f):
    _, pullback = rc.rrule(f, 2.0, 2.0)
    assert pullback(1.0)[1:] == (0.5, 0.5)


@pytest.mark.parametrize("f", [np.fmax, np.fmin])
def test_a_number_wins_over_nan(f):
    _, pullback = rc.rrule(f, np.nan, 2.0)
    assert pullback(1.0)[1:] == (0.0, 1.0)
    _, pullback = rc.rrule(f, 2.0, np.nan)
    assert pullback(1.0)[1:] == (1.0, 0.0)


@pytest.mark.parametrize("f", [np.maximum, np.minimum])
def test_nan_is_the_value_and_moves_it(f):
    """As in `max`; a zero would hide where the NaN came from."""
    nan = np.nan
    a, b = np.array([nan, 1.0, nan, 2.0, 3.0]), np.array([1.0, nan, nan, 2.0, 4.0])
    _, pullback = rc.rrule(f, a, b)
    _, da, db = pullback(np.ones(5))
    large = float(f is np.minimum)
    np.testing.assert_array_equal(da, [1.0, 0.0, 0.5, 0.5, large])
    np.testing.assert_array_equal(da + db, np.ones(5))
    _, pullback = rc.rrule(f, nan, 1.0)
    assert pullback(1.0)[1:] == (1.0, 0.0)
    _, pullback = rc.rrule(np.max, a)
    np.testing.assert_array_equal(pullback(1.0)[1], [0.5, 0.0, 0.5, 0.0, 0.0])


@pytest.mark.parametrize("f", [np.fmax, np.fmin])
def test_two_nans_share(f):
    _, pullback = rc.rrule(f, np.nan, np.nan)
    assert pullback(1.0)[1:] == (0.5, 0.5)


def test_hypot_at_the_origin_is_a_symmetric_kink():
    _, pullback = rc.rrule(np.hypot, 0.0, 0.0)
    assert pullback(1.0)[1:] == (0.0, 0.0)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (-np.inf, 1.0, (0.0, 1.0)),
        (np.inf, 1.0, (1.0, 0.0)),
        (1.0, 1.0, (0.5, 0.5)),
        (800.0, -800.0, (1.0, 0.0)),
    ],
)
def test_logaddexp_at_extremes(a, b, expected):
    _, pullback = rc.rrule(np.logaddexp, a, b)
    np.testing.assert_allclose(pullback(1.0)[1:], expected)


@pytest.mark.parametrize("f", [np.add, np.multiply, np.arctan2])
def test_lists(check, f):
    check(f, [1.0, 2.0], Y[:2])
    check(f, Y[:2], (1.0, 2.0))
    check(f, [1.0, 2.0], [[1.0, 3.0], [2.0, 5.0]])
    check(np.sin, [1.0, 2.0])


def test_whole_number_arguments_have_no_tangent(check):
    check(np.multiply, X, np.array([1, 2, 3]))
    check(np.add, Y, np.ones((2, 3), int))
    check(np.power, 2, Y)


def test_mask_leaves_entries_out():
    x, mask = np.array([-1.0, 4.0]), np.array([False, True])
    _, pullback = rc.rrule(np.sqrt, x, where=mask, out=None)
    np.testing.assert_array_equal(pullback(np.ones(2))[1], [0.0, 0.25])


def test_dtype_option():
    y, pullback = rc.rrule(np.exp, X, dtype=np.float32)
    assert y.dtype == np.float32
    assert pullback(np.ones_like(y))[1].dtype == np.float64


def test_output_arguments_are_refused():
    with pytest.raises(rc.UnsupportedError, match="without out="):
        rc.rrule(np.exp, X, out=np.empty_like(X))


def test_matrices_are_refused():
    with pytest.warns(PendingDeprecationWarning):
        m = np.matrix([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(rc.UnsupportedError, match="plain arrays"):
        rc.rrule(np.multiply, m, m)


@pytest.mark.covering(every=3)
@settings(max_examples=20, deadline=None)
@given(
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3),
    dtypes=st.tuples(*[st.sampled_from(["f4", "f8", "c8", "c16"])] * 2),
)
@pytest.mark.parametrize("f", [np.add, np.multiply, np.divide, np.power])
def test_any_shapes_and_dtypes(f, shapes, dtypes):
    """Cotangents are as their arguments, and ⟨ȳ, J ẋ⟩ = ⟨J* ȳ, ẋ⟩."""
    rng = np.random.default_rng(len(shapes.result_shape))
    xs = [
        (1.5 + rng.uniform(size=shape)).astype(dtype)
        for shape, dtype in zip(shapes.input_shapes, dtypes, strict=True)
    ]
    dxs = [rng.normal(size=x.shape).astype(x.dtype) for x in xs]
    y, pullback = rc.rrule(f, *xs)
    _, dy = rc.frule((rc.NoTangent(), *dxs), f, *xs)
    assert (dy.shape, dy.dtype) == (y.shape, y.dtype)
    seed = rng.normal(size=y.shape).astype(y.dtype)
    back = pullback(seed)[1:]
    assert [(b.shape, b.dtype) for b in back] == [(x.shape, x.dtype) for x in xs]
    ahead = np.sum(np.real(np.conj(seed) * dy))
    behind = sum(
        np.sum(np.real(np.conj(b) * dx)) for b, dx in zip(back, dxs, strict=True)
    )
    np.testing.assert_allclose(ahead, behind, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "name", ["sqrt", "log", "log2", "log10", "arctanh", "arcsin", "arccos"]
)
def test_functions_that_turn_complex(check, name):
    f = getattr(np.emath, name)
    check(f, X)
    check(f, np.array([-1.5, 0.5, 2.5]))
    check(f, Z)


def test_functions_of_two_arguments_that_turn_complex(check):
    check(np.emath.power, np.array([-1.5, 0.5]), 2.5)
    check(np.emath.logn, 2.0, np.array([-1.5, 0.5]))
    check(np.emath.logn, np.array([2.0, 3.0]), X[:, :2])


@pytest.mark.parametrize("f", [np.arcsin, np.arccos, np.arctanh, np.arccosh])
@pytest.mark.parametrize("x", [2.5 + 0.0j, complex(2.5, -0.0), complex(-2.5, 0.0)])
def test_on_a_branch_cut_the_side_counts(f, x):
    h = 1e-6
    _, pullback = rc.rrule(f, np.complex128(x))
    along = (f(np.complex128(complex(x.real + h, x.imag))) - f(np.complex128(x))) / h
    np.testing.assert_allclose(np.conj(pullback(1.0)[1]), along, rtol=1e-5)


@pytest.mark.parametrize("f", [np.conjugate, np.sign])
def test_a_positional_out_is_refused(f):
    """Ufuncs whose rule is no table of partials say so as well."""
    with pytest.raises(rc.UnsupportedError, match="without out="):
        rc.rrule(f, np.ones(3), np.empty(3))
