"""Where a formula or a difference of the pack could be that of another function."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.special as sp

from rules_autodiff import grad, hessian, jvp


def slope(f, i, *args, order=1):
    """The derivative in one argument."""

    def along(x):
        return f(*args[:i], x, *args[i + 1 :])

    if order == 1:
        return jvp(along, (args[i],), (1.0,))[1]
    return jvp(lambda x: slope(f, i, *args[:i], x, *args[i + 1 :]), (args[i],), (1.0,))[
        1
    ]


def mixed(f, i, j, *args):
    """The derivative in argument `i`, then in argument `j`."""

    def at(**moved):
        return f(*[moved.get(f"x{k}", x) for k, x in enumerate(args)])

    def inner(u):
        return grad(lambda v: at(**{f"x{i}": v, f"x{j}": u}))(args[i])

    return grad(inner)(args[j])


MIXED = [
    (sp.binom, mpmath.binomial, (0.5985, 0.0)),
    (sp.binom, mpmath.binomial, (5.0, 0.0)),
    (sp.eval_legendre, mpmath.legendre, (0.0, 0.3)),
    (sp.eval_laguerre, lambda n, x: mpmath.laguerre(n, 0, x), (0.0, 0.3)),
    (sp.eval_chebyt, mpmath.chebyt, (0.0, 0.3)),
    (sp.zeta, mpmath.zeta, (2.5, 1.7)),
]


@pytest.mark.parametrize(("f", "reference", "args"), MIXED)
@pytest.mark.parametrize(("i", "j"), [(0, 1), (1, 0)])
def test_mixed_derivatives_where_a_factor_is_zero(f, reference, args, i, j):
    expected = float(mpmath.diff(reference, args, (1, 1)).real)
    np.testing.assert_allclose(mixed(f, i, j, *args), expected, rtol=1e-7, atol=1e-12)


def test_hessian_of_zeta():
    found = hessian(lambda v: sp.zeta(v[0], v[1]))(np.array([2.5, 1.7]))
    with mpmath.workdps(30):
        orders = [[(2, 0), (1, 1)], [(1, 1), (0, 2)]]
        expected = [
            [float(mpmath.diff(mpmath.zeta, (2.5, 1.7), n)) for n in row]
            for row in orders
        ]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("args", [(0.6, 2.0), (-0.6, 2.0), (128.5, 13.5), (1.5, 1.0)])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("i", [0, 1])
def test_outside_of_the_support_nothing_moves(args, order, i):
    assert sp.tklmbda(*args) in (0.0, 1.0)
    assert slope(sp.tklmbda, i, *args, order=order) == 0.0


@pytest.mark.parametrize("f", [sp.hankel1e, sp.hankel2e])
@pytest.mark.parametrize("z", [-100 + 1j, -100 - 1j, -146.9 + 0.2j, 90 + 3j, -20 + 50j])
def test_scaled_hankel_functions_far_out(f, z):
    h = 1e-5
    expected = (f(3.0, z + h) - f(3.0, z - h)) / (2 * h)
    np.testing.assert_allclose(slope(f, 1, 3.0, z), expected, rtol=1e-6)


@pytest.mark.parametrize("theta", [0.4, -0.4, 4.0, 7.0, 12.5])
@pytest.mark.parametrize(("n", "m"), [(1, 0), (2, 1), (3, -1), (3, 2), (5, 4)])
@pytest.mark.parametrize("order", [1, 2])
def test_harmonics_at_every_angle(n, m, theta, order):
    if not hasattr(sp, "sph_harm_y"):
        pytest.skip("since SciPy 1.15")
    h = 1e-4

    def along(t):
        if order == 1:
            return sp.sph_harm_y(n, m, t, 0.6)
        return jvp(lambda s: sp.sph_harm_y(n, m, s, 0.6), (t,), (1.0,))[1]

    expected = (along(theta + h) - along(theta - h)) / (2 * h)
    found = slope(sp.sph_harm_y, 2, n, m, theta, 0.6, order=order)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


CLIPPED = [
    (sp.pdtrik, (0.3, 0.5)),
    (sp.bdtrik, (0.1, 3.0, 0.3)),
    (sp.nbdtrik, (0.218, 3.218, 0.624)),
    (sp.chndtrinc, (0.181, 0.752, 0.5)),
]


@pytest.mark.parametrize(("f", "args"), CLIPPED)
def test_a_clipped_inverse_is_constant(f, args):
    assert f(*args) < 1e-300
    assert [slope(f, i, *args) for i in range(len(args))] == [0.0] * len(args)


NEAR_POLES = [
    (sp.eval_sh_jacobi, 1, (0.2532, 1.86e-6, 1.061, 0.3536)),
    (sp.eval_jacobi, 1, (-3.5, 2.290, 21.567, 0.05238)),
    (sp.eval_gegenbauer, 1, (0.4288, -4.4248, 2.9e-6)),
    (sp.assoc_laguerre, 1, (-2.4025, -3.5, 0.2731)),
    (sp.besselpoly, 1, (0.5586, 0.01375, -0.55)),
]


@pytest.mark.parametrize(("f", "i", "args"), NEAR_POLES)
@pytest.mark.filterwarnings("ignore")
def test_a_difference_across_a_pole_is_no_number(f, i, args):
    assert np.isnan(slope(f, i, *args))
    assert np.isnan(slope(f, i, *args, order=2))


@pytest.mark.parametrize("z", [-1.3 + 0.2j, -1.3 - 0.2j])
def test_complex_carlson_integrals_left_of_the_axis(z):
    """They are not computed there."""
    assert np.isnan(slope(sp.elliprc, 1, 1.0, z))
