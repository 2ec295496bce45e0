"""Roots by the implicit function theorem: closed forms, in each AD system."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import torch

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, hessian, jvp
from rules_scipy import optimize

EVERY = ("args", "captured")
SCALAR = {
    "bisect": lambda f, args: (f, 0.0, 9.0, args),
    "brenth": lambda f, args: (f, 0.0, 9.0, args),
    "brentq": lambda f, args: (f, 0.0, 9.0, args),
    "ridder": lambda f, args: (f, 0.0, 9.0, args),
    "toms748": lambda f, args: (f, 0.1, 9.0, args),
    "newton": lambda f, args: (f, 1.0, None, args),
}


def square(x, a):
    return x * x - a


def rooted(name, how, module=optimize):
    """√a, by a solver of one equation."""
    solver = getattr(module, name)

    def by_args(a):
        return solver(*SCALAR[name](square, (a,)))

    def by_capture(a):
        return solver(*SCALAR[name](lambda x: x * x - a, ()))

    return by_args if how == "args" else by_capture


def pair(x, a):
    """√a and a^1.5."""
    xp = rc.array_namespace(x)
    return xp.stack([x[0] ** 2 - a, x[1] - x[0] * a])


def system(a, how="captured", module=optimize, **options):
    start = np.ones(2)
    if how == "args":
        return module.root(pair, start, args=(a,), **options).x
    return module.root(lambda x: pair(x, a), start, **options).x


A = 2.25
SLOPES = np.array([0.5 / A**0.5, 1.5 * A**0.5])
CURVES = np.array([-0.25 * A**-1.5, 0.75 * A**-0.5])


def total(f):
    return lambda a: f(a).sum()


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("how", EVERY)
@pytest.mark.parametrize("name", SCALAR)
@pytest.mark.parametrize("module", [optimize, scipy.optimize], ids=["ours", "scipy"])
def test_one_equation_in_the_engine(name, how, module):
    f = rooted(name, how, module)
    assert f(A) == pytest.approx(1.5)
    assert grad(f)(A) == pytest.approx(1 / 3)
    assert jvp(f, (A,), (2.0,))[1] == pytest.approx(2 / 3)
    assert grad(grad(f))(A) == pytest.approx(CURVES[0], rel=1e-6)


@pytest.mark.covering(every=6)
@pytest.mark.parametrize("how", EVERY)
@pytest.mark.parametrize("name", SCALAR)
def test_one_equation_in_jax(name, how):
    with jax.enable_x64(True):
        f = rooted(name, how)
        np.testing.assert_allclose(jax.jit(jax.grad(f))(A), 1 / 3)
        found = jax.vmap(jax.grad(f))(jnp.asarray([1.0, 4.0]))
        np.testing.assert_allclose(found, [0.5, 0.25], rtol=1e-6)


@pytest.mark.covering(every=6)
@pytest.mark.parametrize("how", EVERY)
@pytest.mark.parametrize("name", SCALAR)
def test_one_equation_in_torch(name, how):
    f, a = rooted(name, how), torch.tensor(A, dtype=torch.float64, requires_grad=True)
    f(a).backward()
    assert a.grad.item() == pytest.approx(1 / 3)
    second = torch.func.grad(torch.func.grad(f))(a.detach())
    assert second.item() == pytest.approx(CURVES[0], rel=1e-6)


METHODS = ("hybr", "lm", "broyden1", "krylov", "df-sane")


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("method", METHODS)
def test_methods_of_root(method):
    def f(a):
        options = {"method": method, "tol": 1e-11}
        if method == "df-sane":
            options["options"] = {"fatol": 1e-11}
            del options["tol"]
        start = np.array([1.4, 3.0])
        return scipy.optimize.root(lambda x: pair(x, a), start, **options).x

    np.testing.assert_allclose(grad(total(f))(A), SLOPES.sum(), rtol=1e-5)


@pytest.mark.parametrize("how", EVERY)
def test_systems_in_the_engine(how):
    def f(a):
        return system(a, how, scipy.optimize)

    np.testing.assert_allclose(jvp(f, (A,), (1.0,))[1], SLOPES)
    np.testing.assert_allclose(grad(total(f))(A), SLOPES.sum())
    np.testing.assert_allclose(hessian(total(f))(A), CURVES.sum())


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("how", EVERY)
@pytest.mark.parametrize("order", ["jit", "forward", "second", "batch"])
def test_systems_in_jax(how, order):
    def f(a):
        return system(a, how)

    with jax.enable_x64(True):
        if order == "jit":
            np.testing.assert_allclose(jax.jit(jax.jacrev(f))(A), SLOPES)
        elif order == "forward":
            np.testing.assert_allclose(jax.jit(jax.jacfwd(f))(A), SLOPES)
        elif order == "second":
            np.testing.assert_allclose(jax.jit(jax.hessian(f))(A), CURVES)
        else:
            found = jax.jit(jax.vmap(jax.jacrev(f)))(jnp.asarray([A, A]))
            np.testing.assert_allclose(found, [SLOPES, SLOPES])


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("how", EVERY)
def test_systems_in_torch(how):
    def f(a):
        return system(a, how)

    a = torch.tensor(A, dtype=torch.float64)
    func = torch.func
    np.testing.assert_allclose(func.jacrev(f)(a), SLOPES)
    np.testing.assert_allclose(func.jacfwd(f)(a), SLOPES)
    np.testing.assert_allclose(func.hessian(f)(a), CURVES)
    found = func.vmap(func.jacrev(f))(torch.stack([a, a]))
    np.testing.assert_allclose(found, [SLOPES, SLOPES])
    moving = a.clone().requires_grad_()
    f(moving).sum().backward()
    np.testing.assert_allclose(moving.grad, SLOPES.sum())


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # Dynamo warns about itself
@pytest.mark.parametrize("how", EVERY)
def test_compiled_by_torch(how):
    def f(a):
        return system(a, how)

    a = torch.tensor(A, dtype=torch.float64, requires_grad=True)
    torch.compile(f, backend="aot_eager", fullgraph=False)(a).sum().backward()
    np.testing.assert_allclose(a.grad, SLOPES.sum())


def test_results_are_those_of_scipy():
    found, own = (m.root(pair, np.ones(2), A) for m in (optimize, scipy.optimize))
    assert {*own} == {*found}
    assert type(found) is type(own)
    for name in own:
        np.testing.assert_array_equal(found[name], own[name])


@pytest.mark.parametrize("module", [optimize, scipy.optimize], ids=["ours", "scipy"])
def test_reports(module):
    def report(a):
        return module.root_scalar(square, args=(a,), bracket=(0, 9), method="brentq")

    def full(a):
        return module.brentq(square, 0, 9, args=(a,), full_output=True)[1]

    for f in (report, full):
        assert grad(lambda a, f=f: f(a).root)(A) == pytest.approx(1 / 3)
        assert grad(lambda a, f=f: f(a).iterations * a)(A) == f(A).iterations
        assert f(A).converged
        assert f(A).flag == "converged"
    assert str(report(A)) == str(scipy.optimize.root_scalar(
        square, args=(A,), bracket=(0, 9), method="brentq"))  # fmt: skip


def test_other_solvers_in_the_engine():
    def by_fsolve(a):
        return scipy.optimize.fsolve(lambda x: [x[0] ** 2 - a], [1.0])[0]

    def by_fixed_point(a):
        return scipy.optimize.fixed_point(lambda x: 0.5 * (x + a / x), 1.0)

    def by_newton(a):
        start = np.ones(3)
        return scipy.optimize.newton(lambda x: x**2 - a, start, lambda x: 2 * x)[1]

    for f in (by_fsolve, by_fixed_point, by_newton):
        assert grad(f)(A) == pytest.approx(1 / 3)


def test_a_jacobian_is_for_the_solver_only():
    def f(a):
        def both(x):
            return x**2 - a, np.diag(2 * x)

        return scipy.optimize.root(both, np.ones(2), jac=True).x

    np.testing.assert_allclose(grad(total(f))(A), 2 / 3)


def test_a_start_has_derivative_zero():
    assert grad(lambda x: scipy.optimize.newton(lambda y: y**2 - A, x))(1.0) == 0
    assert grad(lambda b: scipy.optimize.brentq(square, 0.0, b, (A,)))(9.0) == 0


def test_roots_of_roots():
    """z³ = x t with z = 1 inside of an equation: x = 1 / t."""

    def f(t):
        def inner(x):
            return optimize.brentq(lambda z: z**3 - x * t, 0.0, 9.0) - 1.0

        return optimize.brentq(inner, 0.01, 9.0)

    assert grad(f)(2.0) == pytest.approx(-0.25)
    with jax.enable_x64(True):
        np.testing.assert_allclose(jax.grad(f)(2.0), -0.25, rtol=1e-6)


def failing(module, a):
    return module.root(lambda x: x**2 + a, np.ones(1)).x.sum()


def test_no_solution_has_no_derivative():
    for module in (optimize, scipy.optimize):
        with pytest.raises(rc.UnsupportedError, match="did not converge"):
            grad(lambda a, m=module: failing(m, a))(1.0)
    a = torch.ones((), requires_grad=True)
    with pytest.raises(rc.UnsupportedError, match="did not converge"):
        failing(optimize, a).backward()
    assert np.isnan(jax.jit(jax.grad(lambda a: failing(optimize, a)))(1.0))


def test_a_double_root_has_no_derivative():
    def f(a, module=optimize):
        return module.newton(lambda x: x * x - a, 1.0, maxiter=200)

    with pytest.raises(rc.UnsupportedError, match="double root"):
        grad(lambda a: f(a, scipy.optimize))(0.0)
    with pytest.raises(rc.UnsupportedError, match="double root"):
        jvp(f, (0.0,), (1.0,))
    with jax.enable_x64(True):
        assert np.isnan(jax.jit(jax.grad(f))(0.0))


def test_a_tensor_that_no_rule_sees_is_an_error():
    hidden = {"a": torch.ones(1, requires_grad=True)}
    names = {"hidden": hidden}
    f = eval("lambda x: x - hidden['a']", names)  # a global
    with pytest.raises(rc.UnsupportedError, match="requires a gradient"):
        optimize.root(f, torch.ones(1))


def test_solvers_raise_and_warn_as_scipy_does():
    with pytest.raises(ValueError, match="different signs"):
        grad(lambda a: scipy.optimize.brentq(lambda x: x**2 + a, 0, 1))(1.0)
    with pytest.raises(RuntimeError, match="converge"):
        grad(lambda a: scipy.optimize.newton(lambda x: x**2 + a, 1.0))(1.0)
    with pytest.warns(RuntimeWarning, match="progress"):
        optimize.fsolve(lambda x: x**2 + 1.0, [1.0])


def test_fields_without_formula_are_errors():
    with pytest.raises(rc.DerivativeNotImplemented, match="no formula"):
        grad(lambda a: scipy.optimize.root(pair, np.ones(2), a).qtf.sum())(A)


def test_what_is_missing_is_an_error_also_for_closures():
    def f(a):
        return scipy.optimize.approx_fprime(np.zeros(1), lambda x: a * x[0])[0]

    with pytest.raises(UnsupportedProgram, match="must have a rule"):
        grad(f)(A)


ROOTLESS = {
    "one": lambda x, a: (x - a) ** 2 + 1.0 + x,
    "two": lambda x, a: [
        x[0] + a * x[1] - 1.0,
        x[0] + a * x[1] + 0.1 * x[1] ** 2 + 1.0,
    ],
}


@pytest.mark.parametrize("name", ROOTLESS)
def test_where_lm_ends_at_no_root_there_is_no_derivative(name):
    """SciPy calls it a success: it minimises the sum of squares."""
    start = np.array([0.6, 0.3]) if name == "two" else np.array([1.0])
    own = lambda a: scipy.optimize.root(ROOTLESS[name], start, args=(a,), method="lm")
    assert own(0.7).success
    assert np.max(np.abs(own(0.7).fun)) > 0.1
    with pytest.raises(rc.UnsupportedError, match="did not converge"):
        grad(lambda a: own(a).x[0])(0.7)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_roots_of_lm_of_any_size(scale):
    """x³ + a x = c, in other units."""

    def solved(a):
        f = lambda x: scale * ((x / scale) ** 3 + a * (x / scale) - 1.0)
        return scipy.optimize.root(f, 0.8 * scale, method="lm").x[0]

    x = solved(0.5) / scale
    np.testing.assert_allclose(
        grad(solved)(0.5), -scale * x / (3.0 * x**2 + 0.5), rtol=1e-6
    )
