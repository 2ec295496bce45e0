"""Optima by their conditions: closed forms, in each AD system and at each order."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import torch

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, hessian, jacfwd, jacrev, jvp
from rules_scipy import optimize

X = np.array([[1.0, 0.2], [0.3, 1.0], [0.5, -0.4], [1.0, 1.0]])
Y = np.array([1.0, -0.5, 0.3, 2.0])
T = np.linspace(0.0, 1.5, 5)


def constant(x, like):
    """An array of the framework of another."""
    return rc.array_namespace(like).asarray(x, dtype=like.dtype)


# Each problem: a program of a module and a vector, the solution in closed form, the
# vector.


def boxed(module, a):
    """Bounds: one entry is held by its lower limit, which moves, one is free."""
    bounds = [(a[2], None), (-9.0, 9.0)]
    found = module.minimize(
        lambda x: ((x - a[:2]) ** 2).sum() + x[1] ** 2, [3.0, 3.0], bounds=bounds,
        tol=1e-13,
    )  # fmt: skip
    return found.x


def boxed_solution(a):
    return np.array([a[2], a[1] / 2])


def boxed_value(module, a):
    bounds = [(a[2], None), (-9.0, 9.0)]
    return module.minimize(
        lambda x, a: ((x - a[:2]) ** 2).sum() + x[1] ** 2, [3.0, 3.0], args=(a,),
        bounds=bounds, tol=1e-13,
    ).fun  # fmt: skip


def boxed_value_solution(a):
    return (a[2] - a[0]) ** 2 + a[1] ** 2 / 2


def ridge(module, a):
    def loss(w):
        misfit = constant(X, a) @ w - constant(Y, a)
        return (misfit**2).sum() + a[0] * (w * w).sum()

    def slope(w):
        X_, Y_ = constant(X, a), constant(Y, a)
        return 2.0 * (X_.T @ (X_ @ w - Y_) + a[0] * w)

    return module.minimize(loss, np.zeros(2), jac=slope, tol=1e-9).x


def ridge_solution(a):
    return np.linalg.solve(X.T @ X + a[0] * np.eye(2), X.T @ Y)


def held(module, a):
    """An equation that holds and a limit that does not."""
    rows = [
        {"type": "eq", "fun": lambda x: x.sum() - a[2]},
        {"type": "ineq", "fun": lambda x: 9.0 - x[0]},
    ]
    return module.minimize(
        lambda x: 0.5 * ((x - a[:2]) ** 2).sum(), [1.0, 0.0], constraints=rows,
        tol=1e-14,
    ).x  # fmt: skip


def held_solution(a):
    return a[:2] + (a[2] - a[0] - a[1]) / 2


def decay(t, a, b):
    return a * rc.array_namespace(a).exp(-b * t)


def decay_slope(t, a, b):
    xp = rc.array_namespace(a)
    return xp.stack([xp.exp(-b * t), -a * t * xp.exp(-b * t)], axis=1)


def curve(module, y):
    fitted = module.curve_fit(
        decay, constant(T, y), y, p0=(1.0, 1.0), jac=decay_slope, sigma=0.2 + 0.0 * y,
        ftol=1e-15, xtol=1e-15, gtol=1e-15,
    )  # fmt: skip
    return fitted[0]


def covariance(module, y):
    fitted = module.curve_fit(
        decay, constant(T, y), y, p0=(1.0, 1.0), jac=decay_slope,
        ftol=1e-15, xtol=1e-15, gtol=1e-15,
    )  # fmt: skip
    return fitted[1].reshape((-1,))


def curve_solution(y):
    """Newton's method, with the second derivatives by hand."""
    a, b = 2.0, 1.0
    for _ in range(30):
        e = np.exp(-b * T)
        r = a * e - y
        J = np.stack([e, -a * T * e], axis=1)
        mixed, twice = -(T * e) @ r, (a * T * T * e) @ r
        H = J.T @ J + np.array([[0.0, mixed], [mixed, twice]])
        a, b = np.array([a, b]) - np.linalg.solve(H, J.T @ r)
    return np.array([a, b])


def covariance_solution(y):
    a, b = curve_solution(y)
    e = np.exp(-b * T)
    J = np.stack([e, -a * T * e], axis=1)
    r = a * e - y
    return (np.linalg.inv(J.T @ J) * (r @ r) / 3).reshape(-1)


def nonnegative(module, y):
    x, norm = module.nnls(constant(X, y), y)
    return rc.array_namespace(x).stack([x[0], x[1], norm])


def nonnegative_solution(y):
    """The second unknown is held at zero."""
    w = X[:, 0] @ y / (X[:, 0] @ X[:, 0])
    return np.array([w, 0.0, np.linalg.norm(X[:, 0] * w - y)])


OBSERVED = 2.0 * np.exp(-1.3 * T) + np.array([0.05, -0.03, 0.02, -0.04, 0.03])
PROBLEMS = {
    "boxed": (boxed, boxed_solution, np.array([1.0, 2.0, 1.5])),
    "boxed value": (boxed_value, boxed_value_solution, np.array([1.0, 2.0, 1.5])),
    "ridge": (ridge, ridge_solution, np.array([0.7])),
    "held": (held, held_solution, np.array([1.0, 2.0, 1.5])),
    "curve": (curve, curve_solution, OBSERVED),
    "covariance": (covariance, covariance_solution, OBSERVED),
    "nonnegative": (nonnegative, nonnegative_solution, np.array([2.0, -1, 0.1, 0.5])),
}


def differences(f, x, step):
    rows = step * np.eye(len(x))
    return np.stack([(f(x + e) - f(x - e)) / (2 * step) for e in rows], axis=-1)


def in_jax(transform):
    def derivative(f, x):
        with jax.enable_x64(True):
            return jax.jit(transform(f))(jnp.asarray(x))

    return derivative


def in_torch(transform):
    return lambda f, x: transform(f)(torch.as_tensor(x)).numpy(force=True)


def batched(f, x):
    with jax.enable_x64(True):
        return jax.vmap(jax.jacrev(f))(jnp.stack([jnp.asarray(x)] * 2))[1]


def batched_in_torch(f, x):
    x = torch.as_tensor(x)
    return torch.func.vmap(torch.func.jacrev(f))(torch.stack([x, x]))[1]


FIRST = {
    "engine reverse": (scipy.optimize, lambda f, x: jacrev(f)(x)),
    "engine forward": (scipy.optimize, lambda f, x: jacfwd(f)(x)),
    "jax reverse": (optimize, in_jax(jax.jacrev)),
    "jax forward": (optimize, in_jax(jax.jacfwd)),
    "jax batch": (optimize, batched),
    "torch reverse": (optimize, in_torch(torch.func.jacrev)),
    "torch forward": (optimize, in_torch(torch.func.jacfwd)),
    "torch batch": (optimize, batched_in_torch),
}
SECOND = {
    "engine": (scipy.optimize, lambda f, x: hessian(f)(x)),
    "jax": (optimize, in_jax(jax.hessian)),
    "torch": (optimize, in_torch(torch.func.hessian)),
    "torch twice reverse": (
        optimize, in_torch(lambda f: torch.func.jacrev(torch.func.jacrev(f)))
    ),
}  # fmt: skip


# Every problem and every host but two, which take long to compile.
EVERYDAY = {
    ("boxed", "engine reverse"), ("boxed value", "torch reverse"),
    ("ridge", "jax reverse"), ("held", "torch forward"), ("curve", "torch forward"),
    ("covariance", "torch batch"), ("nonnegative", "engine reverse"),
}  # fmt: skip


def pairs():
    """All pairs; those that do not run every day are `full`."""
    for pair in itertools.product(PROBLEMS, FIRST):
        marks = () if pair in EVERYDAY else pytest.mark.full
        yield pytest.param(*pair, marks=marks)


@pytest.mark.parametrize(("problem", "host"), [*pairs()])
def test_first_derivatives(problem, host):
    (program, solution, x), (module, derivative) = PROBLEMS[problem], FIRST[host]
    known = differences(solution, x, 1e-6)
    found = derivative(lambda x: program(module, x), x)
    np.testing.assert_allclose(found, known, rtol=2e-5, atol=2e-6)


def weighted(f):
    """A number, for second derivatives."""
    return lambda x: (f(x) ** 2).sum()


@pytest.mark.full
@pytest.mark.parametrize("host", SECOND)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_second_derivatives(problem, host):
    (program, solution, x), (module, derivative) = PROBLEMS[problem], SECOND[host]
    known = differences(
        lambda x: differences(weighted(solution), x, 1e-4), x, 1e-4
    )  # fmt: skip
    found = derivative(weighted(lambda x: program(module, x)), x)
    np.testing.assert_allclose(found, known, rtol=2e-4, atol=2e-5)


def test_the_second_derivative_of_a_value():
    def value(a):
        lowest = scipy.optimize.minimize_scalar(lambda x: (x - a) ** 2 + x * x)
        return lowest.fun**2  # a⁴ / 4

    assert jvp(grad(value), (1.5,), (1.0,))[1] == pytest.approx(3 * 1.5**2)


def test_single_precision_is_that_of_the_result_alone():
    a = torch.tensor([1.0, 2.0, 1.5], requires_grad=True)
    x = held(optimize, a)
    x[0].backward()
    assert x.dtype == a.grad.dtype == torch.float32
    np.testing.assert_allclose(a.grad, [0.5, -0.5, 0.5], rtol=1e-5)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_values_are_those_of_scipy(problem):
    program, solution, x = PROBLEMS[problem]
    found, own = program(optimize, x), program(scipy.optimize, x)
    np.testing.assert_array_equal(found, own)
    np.testing.assert_allclose(found, solution(x), rtol=1e-5, atol=1e-6)


def near(a):
    return lambda x: ((x - a) ** 2).sum()


def in_a_circle(a):
    """The nearest point of the unit disc."""
    inside = scipy.optimize.NonlinearConstraint(lambda x: (x**2).sum(), -np.inf, 1.0)
    found = scipy.optimize.minimize(
        near(a), [0.1, 0.1], method="SLSQP", constraints=inside, tol=1e-12
    )
    return found.x


def in_a_circle_by_its_slope(a):
    inside = scipy.optimize.NonlinearConstraint(
        lambda x: (x**2).sum(), -np.inf, 1.0, jac=lambda x: 2.0 * x,
        hess=scipy.optimize.SR1(),
    )  # fmt: skip
    found = scipy.optimize.minimize(
        near(a), [0.1, 0.1], method="trust-constr", constraints=inside,
        hess=scipy.optimize.BFGS(), jac=lambda x: 2.0 * (x - a), options={"gtol": 1e-9},
    )  # fmt: skip
    return found.x


def in_a_box(a):
    """Whose result has sparse matrices in its fields."""
    found = scipy.optimize.minimize(
        near(a), [0.1, 0.1], method="trust-constr", bounds=[(-9.0, 9.0)] * 2,
        jac=lambda x: 2.0 * (x - a),
    )  # fmt: skip
    return found.x


def on_the_circle(a):
    return a / np.sqrt((a**2).sum())


OBJECTS = {
    "default": (in_a_circle, on_the_circle),
    "chosen": (in_a_circle_by_its_slope, on_the_circle),
    "sparse": (in_a_box, lambda a: a),
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("mode", [jacrev, jacfwd])
@pytest.mark.parametrize("case", OBJECTS)
# SciPy's own: steps without effect.
@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")
def test_objects_that_solvers_write_to(case, mode):
    """Strategies such as BFGS() keep what they find; the program's stay as given."""
    program, solution = OBJECTS[case]
    x = np.array([1.2, 0.7])
    known = differences(solution, x, 1e-6)
    np.testing.assert_allclose(mode(program)(x), known, rtol=1e-4, atol=1e-4)


def test_fields_of_sparse_matrices_are_an_error():
    def slope(a):
        found = scipy.optimize.minimize(
            near(a), [0.1, 0.1], method="trust-constr", bounds=[(-9.0, 9.0)] * 2
        )
        return found.jac[0].toarray().sum()

    with pytest.raises((rc.DerivativeNotImplemented, UnsupportedProgram)):
        grad(slope)(np.array([1.2, 0.7]))


@pytest.mark.parametrize("host", ["engine reverse", "jax reverse", "torch forward"])
def test_the_norm_of_an_exact_fit_is_flat(host):
    """The target moves in the columns' span, where the misfit is rounding."""
    module, derivative = FIRST[host]

    def misfit(w):
        matrix = constant(X, w)
        return module.nnls(matrix, matrix @ w)[1].reshape(1)

    found = derivative(misfit, np.array([1.3, 0.7]))
    np.testing.assert_allclose(found, 0.0, atol=1e-12)
