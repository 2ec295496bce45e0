"""Interpolants in NumPy programs and in frameworks, against differences of SciPy."""

import numpy as np
import pytest
import scipy.interpolate as sp

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, hessian
from rules_core.testing import check_rule
from rules_scipy import interpolate as own
from rules_scipy.interpolate._matrices import scattered

from .calls import (
    assert_near,
    check_in_jax,
    check_in_numpy,
    check_in_torch,
    check_second_order,
    difference,
    differences,
    dots,
    loss_of,
    with_parts,
)
from .interpolate_cases import CASES, NUMPY_ONLY

SHARED = [name for name in CASES if name not in NUMPY_ONLY]


@pytest.mark.covering(every=18)
@pytest.mark.parametrize("name", CASES)
def test_programs_for_numpy(name):
    check_in_numpy(*CASES[name], sp, own)


@pytest.mark.covering(every=60)
@pytest.mark.parametrize("name", CASES)
def test_second_order_in_numpy(name):
    check_second_order(*CASES[name], sp)


@pytest.mark.covering(every=75, start=40)
@pytest.mark.parametrize(("name", "part"), with_parts(SHARED))
def test_jax(name, part):
    check_in_jax(*CASES[name], sp, own, part)


@pytest.mark.covering(every=70, start=17)
@pytest.mark.parametrize("name", SHARED)
def test_torch(name):
    check_in_torch(*CASES[name], sp, own)


# objects


X = np.array([0.0, 0.4, 1.0, 1.5, 2.3, 3.0])
Y = np.array([0.0, 1.0, 0.4, 2.0, 1.5, 3.0])
Q = np.array([0.1, 0.72, 2.9, 2.5])
CLOUD = np.random.default_rng(1).uniform(size=(12, 2))
CONSTANTS = {
    "Krogh": (sp.KroghInterpolator(X, Y), lambda s, q: (s(q), s.derivatives(q, 3))),
    "Barycentric": (
        sp.BarycentricInterpolator(X, np.stack([Y, Y * Y]), axis=1),
        lambda s, q: (s(q), s.derivative(q, 2)),
    ),
    "interp1d": (sp.interp1d(X, Y, kind="cubic"), lambda s, q: s(q)),
    "interp1d linear": (sp.interp1d(X, Y), lambda s, q: s(q)),
    "CubicSpline": (
        sp.CubicSpline(X, Y),
        lambda s, q: (s(q), s.derivative()(q), s.integrate(q[0], q[1])),
    ),
    "BPoly": (sp.BPoly(Y.reshape(3, 2), X[:3]), lambda s, q: s(q)),
    "BSpline": (
        sp.make_interp_spline(X, Y),
        lambda s, q: (s(q), s.integrate(q[0], q[1]), s.insert_knot(q[0])(q)),
    ),
    "UnivariateSpline": (
        sp.UnivariateSpline(X, Y),
        lambda s, q: (s(q), s.derivative()(q), s.integral(q[0], q[1])),
    ),
    "FloaterHormann": (sp.FloaterHormannInterpolator(X, Y), lambda s, q: s(q)),
    "RegularGrid": (
        sp.RegularGridInterpolator((X, X), np.outer(Y, Y)),
        lambda s, q: s(q.reshape(2, 2)),
    ),
    "RectBivariateSpline": (
        sp.RectBivariateSpline(X, X, np.outer(Y, Y)),
        lambda s, q: (s(q[0], q[1]), s.ev(q, q)),
    ),
    "NdBSpline": (
        sp.NdBSpline((np.repeat(X, [2, 1, 1, 1, 1, 2]),), Y, 1),
        lambda s, q: s(q[:, None]),
    ),
    "RBF": (sp.RBFInterpolator(CLOUD, Y.repeat(2)), lambda s, q: s(q.reshape(2, 2))),
    "Rbf": (sp.Rbf(*CLOUD.T, Y.repeat(2)), lambda s, q: s(q, q)),
    "Nearest": (
        sp.NearestNDInterpolator(CLOUD, Y.repeat(2)),
        lambda s, q: s(q, q) * q,
    ),
}


@pytest.mark.covering(every=5)
@pytest.mark.parametrize("name", CONSTANTS)
def test_scipys_objects_at_points_with_a_derivative(name):
    made, call = CONSTANTS[name]
    loss = loss_of(lambda m, q: call(made, q), sp)
    assert_near(dots([grad(loss)(Q)], [Q]), differences(loss, (Q,)))


def test_objects_of_programs_are_instances_of_scipys_classes():
    def program(y):
        spline = sp.CubicSpline(X, y)
        assert isinstance(spline, sp.CubicSpline)
        assert isinstance(spline.derivative(), sp.PPoly)
        return spline.c[2].sum()

    expected = difference(program, [Y], [X])
    assert_near(np.sum(grad(program)(Y) * X), expected)


def test_an_object_may_be_the_argument():
    spline = sp.CubicSpline(X, Y)
    fields = rc.backing(grad(lambda s: s(0.1))(spline))
    if "_delegate_to" in fields:  # since SciPy 1.18
        fields = rc.backing(fields["_delegate_to"])
    [c] = [x for x in fields.values() if np.shape(x) == spline.c.shape]
    assert_near(c[:, 0], 0.1 ** np.arange(3, -1, -1))


@pytest.mark.parametrize("nu", range(4))
def test_values_on_knots_are_scipys(nu):
    """On each breakpoint, at both ends, and outside: the piece that SciPy takes."""
    q = np.concatenate([X, [-0.5, 3.5, np.nan]])
    t = np.array([0, 0, 0, 0, 1.0, 1, 1, 1, 2, 3, 3, 3, 3])
    c = np.arange(20.0).reshape(4, 5)
    for m in ("PPoly", "BPoly"):
        for x in (X, X[::-1]) if m == "PPoly" else (X,):
            pair = [getattr(module, m)(c, x)(q, nu) for module in (sp, own)]
            np.testing.assert_allclose(*pair, rtol=1e-9)
    for extrapolate in (True, False, "periodic"):
        pair = [
            module.BSpline(t, np.arange(9.0) ** 2, 3, extrapolate)(q, nu)
            for module in (sp, own)
        ]
        np.testing.assert_allclose(*pair, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "kind", ["linear", "nearest", "nearest-up", "previous", "next"]
)
def test_values_of_lines_are_scipys(kind):
    q = np.concatenate([X, 0.5 * (X[1:] + X[:-1]), [-1.0, 4.0, np.nan]])
    for fill in (np.nan, "extrapolate", (1.0, 2.0)):
        pair = [
            module.interp1d(X, Y, kind=kind, bounds_error=False, fill_value=fill)(q)
            for module in (sp, own)
        ]
        np.testing.assert_allclose(*pair)


def test_a_double_root_has_a_value():
    p = own.PPoly(np.array([[1.0], [0.0], [0.0]]), np.array([-1.0, 1.0]))
    assert own.PPoly([[1.0], [-2.0], [1.0]], [0.0, 3.0]).roots()[0] == 1.0
    assert p.roots(extrapolate=False)[0] == pytest.approx(-1.0)


# what has no derivative


REFUSED = {
    "splrep": lambda y: sp.splrep(X, y, s=0.5)[1].sum(),
    "UnivariateSpline": lambda y: sp.UnivariateSpline(X, y, s=0.5)(0.2),
    "make_splrep": lambda y: sp.make_splrep(X, y, s=0.5)(0.2),
    "make_smoothing_spline": lambda y: sp.make_smoothing_spline(X, y)(0.2),
    "RectBivariateSpline": lambda y: sp.RectBivariateSpline(
        X[:4], X[:4], np.multiply.outer(y[:4], y[:4]), s=1.0
    )(1.0, 1.0)[0, 0],
    "AAA": lambda y: sp.AAA(X, y)(0.2),
    "double": lambda y: sp.PPoly(np.reshape(y[:3] * [1, 0, 0], (3, 1)), X[:2]).roots()[
        0
    ],
    "cubic": lambda y: sp.griddata(
        CLOUD, np.concatenate([y, y]), CLOUD.mean(0), method="cubic"
    )[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_derivative_is_refused(name):
    y = Y + 1.0
    assert np.isfinite(REFUSED[name](y)) or name == "cubic"
    with pytest.raises((rc.RulesCoreError, UnsupportedProgram), match=name):
        grad(REFUSED[name])(y)


def test_smoothing_of_fitpack_is_not_a_function_that_newton_could_differentiate():
    """Why it is refused: what FITPACK finds is inexact by its tolerance of 0.1 %."""
    fit = sp.UnivariateSpline(X, Y, s=0.5).get_residual()
    assert abs(fit - 0.5) > 1e-9
    assert fit == pytest.approx(0.5, rel=1e-3)


# conventions


def test_a_flat_piece_of_pchip_has_slopes_without_derivative():
    """SciPy's branch: the slope is zero, and stays so."""
    y = np.array([0.0, 1.0, 1.0, 3.0])

    def slope(y):
        return sp.PchipInterpolator(np.arange(4.0), y).derivative()(1.0)

    assert slope(y) == 0.0
    np.testing.assert_array_equal(grad(slope)(y), np.zeros(4))


def test_equal_slopes_of_akima_are_the_mean():
    x = np.arange(5.0)

    def middle(y):
        return sp.Akima1DInterpolator(x, y).derivative()(2.0)

    np.testing.assert_allclose(grad(middle)(x), [-0.5, 0.5, -0.5, 0.5, 0.0], atol=1)
    assert np.sum(grad(middle)(x) * x) == pytest.approx(1.0)


@pytest.mark.parametrize("make", [sp.interp1d, sp.make_interp_spline])
def test_a_kink_has_the_slope_to_its_right(make):
    options = {} if make is sp.interp1d else {"k": 1}
    assert grad(lambda q: make(X, Y, **options)(q))(1.0) == pytest.approx(3.2)


def test_points_outside_are_not_a_number_and_add_nothing():
    def total(y):
        return np.nansum(sp.CubicSpline(X, y, extrapolate=False)([-1.0, 0.2, 9.0]))

    expected = grad(lambda y: sp.CubicSpline(X, y)(0.2))(Y)
    np.testing.assert_allclose(grad(total)(Y), expected)


DISORDERED = {
    "CubicSpline": lambda x: sp.CubicSpline(x, Y),
    "Pchip": lambda x: sp.PchipInterpolator(x, Y),
    "make_interp_spline": lambda x: sp.make_interp_spline(x, Y),
    "UnivariateSpline": lambda x: sp.UnivariateSpline(x, Y, s=0),
    "BSpline": lambda x: sp.BSpline(x, Y[:4], 1),
}


@pytest.mark.parametrize("name", DISORDERED)
def test_scipys_errors_are_raised(name):
    with pytest.raises(ValueError, match="increas|sorted|order"):
        grad(lambda x: DISORDERED[name](x)(0.2))(X[::-1].copy())


@pytest.mark.full
def test_traced_abscissae_in_disorder_give_no_number():
    jax = pytest.importorskip("jax")
    f = jax.jit(lambda x: own.PchipInterpolator(x, Y)(0.2))
    assert np.isfinite(f(X))
    assert np.isnan(f(X[::-1].copy()))


@pytest.mark.full
def test_single_precision_is_kept():
    jnp = pytest.importorskip("jax.numpy")
    torch = pytest.importorskip("torch")
    x, y = X.astype(np.float32), Y.astype(np.float32)
    assert own.CubicSpline(X, jnp.asarray(y))(Q).dtype == np.float32
    spline = own.make_interp_spline(torch.tensor(x), torch.tensor(y))
    assert spline(torch.tensor(0.5)).dtype == torch.float32


@pytest.mark.full
# Dynamo looks at `grad` of what the function that it has left had computed.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")
def test_torch_compile():
    torch = pytest.importorskip("torch")
    x, q = torch.tensor(X), torch.tensor(Q)

    def value(y):
        return own.CubicSpline(x, y)(q).sum() + own.make_interp_spline(x, y)(q).sum()

    y = torch.tensor(Y, requires_grad=True)
    compiled = torch.compile(value, backend="aot_eager")(y)
    [found] = torch.autograd.grad(compiled, y)
    [expected] = torch.autograd.grad(value(y), y)
    torch.testing.assert_close(found, expected)


@pytest.mark.full
def test_the_rule_of_sums_by_index():
    terms = np.random.default_rng(0).normal(size=(4, 2))
    assert check_rule(scattered, terms, np.array([2, 0, 2, 1]), 3).failed == ()


def test_the_second_derivative_of_a_thin_plate_at_a_centre_is_infinite():
    y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.2]])
    d = np.array([0.0, 1.0, 2.0, 1.5])
    at = lambda q: sp.RBFInterpolator(y, d)(q[None])[0]
    second = hessian(at)(y[3])
    assert np.isinf(np.diag(second)).all()
    assert np.isfinite(second[0, 1])
    assert np.isfinite(hessian(at)(y[3] + 1e-3)).all()
