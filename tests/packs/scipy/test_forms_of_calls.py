"""Calls in forms that rules do not name: options, integers, the order of entries."""

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg
import scipy.special

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, jvp, vjp

X = np.array([1.0, 2.0, 3.0])
S = np.array([[3.0, 1.0], [0.0, 2.0]])


def forwards(f, x):
    """The gradient by forward mode."""
    return np.array([jvp(f, (x,), (unit,))[1] for unit in np.eye(len(x))])


@pytest.mark.parametrize("ord", [1, 1.5, 2, 2.5, 3, -1.5])
def test_norms_of_any_order(ord):
    f = lambda x: scipy.linalg.norm(x, ord)
    expected = X ** (ord - 1) * np.sum(X**ord) ** (1 / ord - 1)
    np.testing.assert_allclose(grad(f)(X), expected)
    np.testing.assert_allclose(forwards(f, X), expected)


def test_the_function_of_funm_stores_nothing():
    def stored(c):
        seen = []
        scipy.linalg.funm(S * c, lambda z: (seen.append(z), np.exp(z))[1])
        return seen[0].real.sum()

    for slope in (grad(stored), lambda c: jvp(stored, (c,), (1.0,))):
        with pytest.raises(UnsupportedProgram, match="must not write"):
            slope(1.0)


@pytest.mark.parametrize("name", ["expm", "logm", "sqrtm"])
def test_estimates_of_errors_are_refused(name):
    f = getattr(scipy.linalg, name)
    if name == "expm":
        assert np.isfinite(grad(lambda c: f(S * c).sum())(0.5))
        return
    with pytest.raises(rc.UnsupportedError, match="disp=False"):
        grad(lambda c: f(S * c, disp=False)[0].sum().real)(0.5)


ROWS, COLUMNS = np.array([0, 1, 1]), np.array([1, 1, 0])  # row 1 is not in order


def made(data, form):
    coo = scipy.sparse.coo_array((data, (ROWS, COLUMNS)), shape=(2, 2))
    if form == "coo":
        return coo
    kind = getattr(scipy.sparse, f"{form}_array")
    if form == "csr":
        return kind((data.copy(), COLUMNS.copy(), [0, 1, 3]), shape=(2, 2))
    return kind((data[[1, 0, 2]], [1, 0, 1], [0, 0, 3]), shape=(2, 2))


BY_ENTRY = {
    "abs": abs,
    "power": lambda a: a.power(2),
    "expm1": lambda a: a.expm1(),
    "sin": lambda a: a.sin(),
    "astype": lambda a: a.astype(np.float32).astype(np.float64),
}


@pytest.mark.parametrize("form", ["coo", "csr"])
@pytest.mark.parametrize("name", BY_ENTRY)
def test_numbers_stand_in_scipys_order(name, form):
    def numbers(data):
        return BY_ENTRY[name](made(data, form)).data

    value, pull = vjp(numbers, X)
    np.testing.assert_array_equal(value, numbers(X))
    h = 1e-3
    jacobian = np.array(
        [(numbers(X + h * e) - numbers(X - h * e)) / (2 * h) for e in np.eye(3)]
    )
    for i, unit in enumerate(np.eye(3)):
        np.testing.assert_allclose(pull(unit)[0], jacobian[:, i], rtol=2e-3, atol=1e-6)


SOLVERS = {
    "spsolve": lambda A, b: scipy.sparse.linalg.spsolve(A, b),
    "splu": lambda A, b: scipy.sparse.linalg.splu(A).solve(b),
    "factorized": lambda A, b: scipy.sparse.linalg.factorized(A)(b),
    "spsolve_triangular": lambda A, b: scipy.sparse.linalg.spsolve_triangular(
        A.tocsr(), b, lower=False
    ),
    "cg": lambda A, b: scipy.sparse.linalg.cg(A @ A.T, b, rtol=1e-12)[0],
    "product": lambda A, b: A @ b,
}


@pytest.mark.filterwarnings("ignore:splu converted its input")
@pytest.mark.parametrize("name", SOLVERS)
def test_matrices_of_integers(name):
    A, b = scipy.sparse.csc_array(np.array([[2, 1], [0, 3]])), np.array([1.0, 2.0])
    f = lambda b: SOLVERS[name](A, b).sum()
    plain = np.array([f(e) for e in np.eye(2)])  # it is linear
    np.testing.assert_allclose(grad(f)(b), plain, rtol=1e-6)
    np.testing.assert_allclose(forwards(f, b), plain, rtol=1e-6)


def preconditioned(name, c, matvec):
    A = scipy.sparse.csr_array(S @ S.T)
    M = scipy.sparse.linalg.LinearOperator((2, 2), matvec=matvec)
    solve = getattr(scipy.sparse.linalg, name)
    return solve(A, c * np.ones(2), M=M, rtol=1e-12)[0].sum()


@pytest.mark.parametrize("name", ["bicgstab", "cg", "gmres", "minres"])
def test_preconditioners_without_an_adjoint(name):
    f = lambda c: preconditioned(name, c, lambda r: r / np.array([10.0, 4.0]))
    expected = np.linalg.solve(S @ S.T, np.ones(2)).sum()
    np.testing.assert_allclose(grad(f)(0.7), expected)
    np.testing.assert_allclose(jvp(f, (0.7,), (1.0,))[1], expected)


STORING = {
    "preconditioner": lambda c, f: preconditioned("cg", c, f),
    "schur": lambda c, f: scipy.linalg.schur(S * c, sort=lambda x, y=0: f(x) > 0),
    "detrend": lambda c, f: scipy.signal.welch(np.arange(300.0) * c, detrend=f),
}


@pytest.mark.parametrize("name", STORING)
def test_functions_among_options_store_nothing(name):
    def stored(c):
        seen = []
        STORING[name](c, lambda x: (seen.append(np.sum(x)), x)[1])
        return np.real(seen[-1])

    for slope in (grad(stored), lambda c: jvp(stored, (c,), (1.0,))):
        with pytest.raises(UnsupportedProgram, match="must not write"):
            slope(0.7)


# Lists, and shapes that only SciPy brings to a form


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_lists_are_arrays(name):
    f = getattr(scipy.special, name)
    (found,) = vjp(lambda v: f(v)[0], [0.1, 0.7, 0.4])[1](1.0)
    expected = grad(lambda v: f(v)[0])(np.array([0.1, 0.7, 0.4]))
    np.testing.assert_allclose(found, expected)
    _, dy = jvp(lambda v: f(v)[0], ([0.1, 0.7, 0.4],), ([0.0, 1.0, 0.0],))
    np.testing.assert_allclose(dy, expected[1])


def test_a_constant_list_beside_an_argument():
    found = grad(lambda z: scipy.special.spherical_jn([0, 2], z).sum())(0.7)
    expected = [scipy.special.spherical_jn(n, 0.7, derivative=True) for n in (0, 2)]
    np.testing.assert_allclose(found, sum(expected))


REFUSED = {
    "lambertw": lambda x: scipy.special.lambertw([x, x]).real[0],
    "cholesky": lambda x: scipy.linalg.cholesky(x)[0, 0],
    "companion": lambda x: scipy.linalg.companion(x * np.ones((2, 2)))[0, 0, 0],
    "solve": lambda x: scipy.linalg.solve(x, 2.0)[0],
    "toeplitz": lambda x: scipy.linalg.toeplitz([x, x], 2)[0, 0],
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("way", ["reverse", "forward"])
def test_other_forms_are_refused_by_name(name, way):
    f = REFUSED[name]
    with pytest.raises(rc.UnsupportedError, match=f"derivative of .*{name} must be"):
        grad(f)(0.7) if way == "reverse" else jvp(f, (0.7,), (1.0,))


def test_a_list_that_scipy_does_not_take_is_its_error():
    with pytest.raises(AttributeError, match="'list' object has no"):
        grad(lambda x: scipy.signal.envelope([x, 1.0, 2.0, 0.5])[0, 0])(0.7)


def test_one_equation_of_least_squares():
    found = grad(lambda a: scipy.optimize.lsq_linear(a, 3.0).x[0])(0.7)
    np.testing.assert_allclose(found, -3.0 / 0.7**2)


def test_samples_at_one_place_have_no_area():
    value, (dy, dx) = value_and_grads(scipy.integrate.trapezoid, X, 2.0)
    assert value == 0.0 == dx
    np.testing.assert_array_equal(dy, 0.0)


def value_and_grads(f, *args):
    value, pullback = vjp(f, *args)
    return value, pullback(1.0)


def test_newton_from_an_array_of_one_number():
    f = lambda c: scipy.optimize.newton(lambda q: q**2 - c, np.array([1.0]))[0]
    np.testing.assert_allclose(grad(f)(2.0), 0.5 / np.sqrt(2.0))
    np.testing.assert_allclose(jvp(f, (2.0,), (1.0,))[1], 0.5 / np.sqrt(2.0))


def test_basinhopping_draws_from_the_generator_that_scipy_draws_from():
    def lowest(c):
        found = scipy.optimize.basinhopping(lambda q: (q[0] - c) ** 2, [0.1], niter=3)
        return found.x[0]

    np.random.seed(3)  # noqa: NPY002  (what SciPy uses without a generator)
    expected = lowest(0.7)
    np.random.seed(3)  # noqa: NPY002
    value, pullback = vjp(lowest, 0.7)
    assert value == expected
    np.testing.assert_allclose(pullback(1.0), 1.0)


def exponential(z):
    return np.exp(z)


@pytest.mark.parametrize("modes", ["rf", "fr", "rr", "ff"])
def test_second_derivatives_of_a_function_among_the_arguments(modes):
    def along(c):
        return scipy.linalg.funm(S * c, exponential).sum()

    for mode in modes:
        inner = along
        along = {"f": lambda c, f=inner: jvp(f, (c,), (1.0,))[1], "r": grad(inner)}[
            mode
        ]
    np.testing.assert_allclose(
        along(0.3), (S @ S @ scipy.linalg.expm(S * 0.3)).sum(), rtol=1e-9
    )


def test_a_hyperbolic_chirp_of_one_frequency():
    """Without a warning of the formula that is not taken."""
    t = np.array([0.0, 0.3, 0.8])
    f = lambda f1: scipy.signal.chirp(t, 1.5, 1.0, f1, "hyperbolic").sum()
    central = (f(1.5 + 1e-5) - f(1.5 - 1e-5)) / 2e-5
    np.testing.assert_allclose(jvp(f, (1.5,), (1.0,))[1], central, rtol=1e-6)
    np.testing.assert_allclose(grad(f)(1.5), central, rtol=1e-6)
