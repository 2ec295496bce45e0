"""Every minimiser and fit: one problem, whose minimum has a closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import torch

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_scipy import optimize

A = 1.5
CORNERS = [(-3.0, 3.0), (-4.0, 4.0)]


def bowl(x, a):
    """Lowest at (a² / 2, a), where it is a."""
    return (x[0] - 0.5 * a * a) ** 2 + 2.0 * (x[1] - a) ** 2 + a


def bowl_slope(x, a):
    xp = rc.array_namespace(x)
    return xp.stack([2.0 * (x[0] - 0.5 * a * a), 4.0 * (x[1] - a)])


def bowl_curvature(x, a):
    return rc.array_namespace(x).asarray([[2.0, 0.0], [0.0, 4.0]], dtype=x.dtype)


def bowl_product(x, p, a):
    xp = rc.array_namespace(x)
    return xp.stack([2.0 * p[0], 4.0 * p[1]])


def bowl_misfit(x, a):
    xp = rc.array_namespace(x)
    return xp.stack([x[0] - 0.5 * a * a, 2.0 * (x[1] - a)])


def valley(x, a):
    """Of a number; lowest at a² / 2."""
    return (x - 0.5 * a * a) ** 2


FREE = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")
SLOPED = ("CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "trust-constr")
CURVED = ("Newton-CG", "dogleg", "trust-ncg", "trust-krylov", "trust-exact")


def by_method(method, **options):
    def program(module, a):
        found = module.minimize(
            bowl, np.zeros(2), args=(a,), method=method, tol=1e-10, **options
        )
        return found.x[0]

    return program


def named(name, *given, **options):
    def program(module, a):
        found = getattr(module, name)(bowl, np.zeros(2), *given, (a,), **options)
        return found[0][0] if isinstance(found, tuple) else found[0]

    return program


def of_number(name, **options):
    def program(module, a):
        return getattr(module, name)(valley, args=(a,), **options)

    return program


def around(name, **options):
    def program(module, a):
        found = getattr(module, name)(lambda x: bowl(x, a), CORNERS, **options)
        return found.x[0]

    return program


def from_start(module, a):
    inner = {"args": (a,), "jac": bowl_slope}
    solver = module.basinhopping
    return solver(bowl, np.zeros(2), niter=2, minimizer_kwargs=inner).x[0]


def squares(name):
    def program(module, a):
        found = getattr(module, name)(bowl_misfit, np.zeros(2), args=(a,))
        return found.x[0] if name == "least_squares" else found[0][0]

    return program


PROGRAMS = {
    **{m: by_method(m) for m in FREE},
    **{m: by_method(m, jac=bowl_slope) for m in SLOPED},
    **{m: by_method(m, jac=bowl_slope, hess=bowl_curvature) for m in CURVED},
    "hessp": by_method("trust-ncg", jac=bowl_slope, hessp=bowl_product),
    "no slope": by_method("BFGS", options={"gtol": 1e-6}),
    "fmin": named("fmin", xtol=1e-9, ftol=1e-9, disp=0, full_output=1),
    "fmin_powell": named("fmin_powell", xtol=1e-9, ftol=1e-9, disp=0),
    "fmin_bfgs": named("fmin_bfgs", bowl_slope, disp=0, full_output=1),
    "fmin_cg": named("fmin_cg", bowl_slope, disp=0),
    "fmin_ncg": named("fmin_ncg", bowl_slope, bowl_product, None, disp=0),
    "fmin_l_bfgs_b": named("fmin_l_bfgs_b", bowl_slope),
    "fmin_tnc": named("fmin_tnc", bowl_slope, disp=0),
    "minimize_scalar": lambda m, a: m.minimize_scalar(valley, args=(a,)).x,
    "bounded": lambda m, a: m.minimize_scalar(valley, None, (0.0, 9.0), (a,)).x,
    "brent": lambda m, a: m.brent(valley, (a,), full_output=1)[0],
    "golden": of_number("golden"),
    "fminbound": lambda m, a: m.fminbound(valley, 0.0, 9.0, (a,)),
    "differential_evolution": around("differential_evolution", seed=1),
    "dual_annealing": around("dual_annealing", maxiter=9, seed=1),
    "shgo": around("shgo"),
    "direct": around("direct", len_tol=1e-2),
    "brute": lambda m, a: m.brute(bowl, tuple(CORNERS), (a,), 5)[0],
    "basinhopping": from_start,
    "least_squares": squares("least_squares"),
    "leastsq": squares("leastsq"),
}
HOSTS = ("engine reverse", "engine forward", "jax", "torch")


def derivative(host, program):
    if host == "engine reverse":
        return grad(lambda a: program(scipy.optimize, a))(A)
    if host == "engine forward":
        return jvp(lambda a: program(scipy.optimize, a), (A,), (1.0,))[1]
    if host == "jax":
        with jax.enable_x64(True):
            return jax.jit(jax.grad(lambda a: program(optimize, a)))(jnp.asarray(A))
    a = torch.tensor(A, dtype=torch.float64, requires_grad=True)
    program(optimize, a).backward()
    return a.grad


@pytest.mark.covering(every=37)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", PROGRAMS)
# SciPy's own: of a gradient that a method ignores, and of steps without effect.
@pytest.mark.filterwarnings("ignore:Method .* does not use")
@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")
def test_the_minimum_moves(name, host):
    np.testing.assert_allclose(derivative(host, PROGRAMS[name]), A, rtol=1e-3)
