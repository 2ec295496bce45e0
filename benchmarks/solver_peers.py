"""Solvers of SciPy under JAX and PyTorch beside those written for these frameworks.

Run: `pip install -e '.[jax,torch]' --group peers`, then
`python benchmarks/solver_peers.py`.

Each problem is solved by `rules_scipy` and by a peer, with equal tolerances: the value
(a sum of squares of the solution), and its gradient by reverse mode. Errors of both are
relative to solutions of DOP853 or Radau at tolerances of 1e-12, and their central
differences. JAX is compiled, in double precision on the CPU. The times are the least of
`ROUNDS` calls in turns; the first calls, which compile, are told apart.
"""

import sys
import time
from functools import partial

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optimistix
import scipy.integrate
import scipy.optimize
import torch
import torchdiffeq

from rules_scipy import integrate, optimize

jax.config.update("jax_enable_x64", True)
ROUNDS = 5
RTOL, ATOL = 1e-6, 1e-8


# Problems: fields of `t, y, p`, in array functions of a namespace.


def hunters(t, y, p, xp):
    u, v = y[0], y[1]
    return xp.stack([p[0] * u - p[1] * u * v, p[3] * u * v - p[2] * v])


def chain(t, y, p, xp):
    return p * y * (1.0 - y - 0.5 * xp.roll(y, 1))


def robertson(t, y, p, xp):
    slow, fast, fastest = p[0] * y[0], p[1] * y[1] ** 2, p[2] * y[1] * y[2]
    return xp.stack([fastest - slow, slow - fastest - fast, fast])


def lorenz(t, y, p, xp):
    a, b, c = y[0], y[1], y[2]
    return xp.stack([p[0] * (b - a), a * (p[1] - c) - b, a * b - p[2] * c])


LORENZ, ROBERTSON = np.array([10.0, 28.0, 8.0 / 3.0]), np.array([0.04, 3e7, 1e4])
FIELDS = {
    "Lotka-Volterra": (hunters, [1.0, 1.0], np.array([1.5, 1.0, 3.0, 1.0]), 5.0, False),
    "chain of 10": (chain, np.linspace(0.1, 0.9, 10), np.linspace(0.5, 1.5, 10), 4.0,
                    False),
    "chain of 100": (chain, np.linspace(0.1, 0.9, 100), np.linspace(0.5, 1.5, 100),
                     4.0, False),
    "Lorenz, to 1": (lorenz, [1.0, 0.0, 0.0], LORENZ, 1.0, False),
    "Robertson, stiff": (robertson, [1.0, 0.0, 0.0], ROBERTSON, 100.0, True),
}  # fmt: skip


def reference(field, start, p, end, stiff):
    """The value and its gradient, by central differences of tight solutions."""

    def value(p):
        found = scipy.integrate.solve_ivp(
            lambda t, y: field(t, y, p, np), (0.0, end), start,
            "Radau" if stiff else "DOP853", rtol=1e-12, atol=1e-16 if stiff else 1e-13,
        )  # fmt: skip
        return (found.y[:, -1] ** 2).sum()

    slopes = []
    for i in range(len(p)):
        h = 1e-4 * p[i]
        up, down = p.copy(), p.copy()
        up[i] += h
        down[i] -= h
        slopes.append((value(up) - value(down)) / (2.0 * h))
    return value(p), np.array(slopes)


def of_scipy(field, start, end, stiff, xp):
    """The value by `rules_scipy`."""
    method = "Radau" if stiff else "RK45"

    def value(p):
        found = integrate.solve_ivp(
            lambda t, y, p: field(t, y, p, xp), (0.0, end), start, method,
            t_eval=[end], args=(p,), rtol=RTOL, atol=ATOL,
        )  # fmt: skip
        return (found.y[:, -1] ** 2).sum()

    return value


def of_diffrax(field, start, end, stiff):
    solver = diffrax.Kvaerno5() if stiff else diffrax.Dopri5()
    term = diffrax.ODETerm(lambda t, y, p: field(t, y, p, jnp))
    controller = diffrax.PIDController(rtol=RTOL, atol=ATOL)

    def value(p):
        found = diffrax.diffeqsolve(
            term, solver, 0.0, end, None, jnp.asarray(start), p,
            stepsize_controller=controller, max_steps=16**4,
        )  # fmt: skip
        return (found.ys[-1] ** 2).sum()

    return value


def of_torchdiffeq(field, start, end, adjoint):
    solve = torchdiffeq.odeint_adjoint if adjoint else torchdiffeq.odeint
    times = torch.tensor([0.0, end], dtype=torch.float64)

    class Field(torch.nn.Module):
        def __init__(self, p):
            super().__init__()
            self.p = p

        def forward(self, t, y):
            return field(t, y, self.p, torch)

    def value(p):
        options = {"adjoint_params": (p,)} if adjoint else {}
        found = solve(
            Field(p), torch.as_tensor(np.asarray(start)), times, rtol=RTOL, atol=ATOL,
            method="dopri5", **options,
        )  # fmt: skip
        return (found[-1] ** 2).sum()

    return value


def equations(x, p, xp):
    """A chain of equations, with a root near one."""
    return x**3 + 0.5 * xp.roll(x, 1) - p


def residuals(x, p, xp):
    """Of a fit of two rates to `p`."""
    t = xp.linspace(0.0, 2.0, len(p))
    return xp.exp(-x[0] * t) + xp.exp(-x[1] * t) - p


def rosenbrock(x, p, xp):
    return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (p - x[:-1]) ** 2)


T = np.linspace(0.0, 2.0, 20)
DECAY = np.exp(-0.5 * T) + np.exp(-2.0 * T) + 0.01 * np.cos(9.0 * T)
SOLVED = {
    "root of 20": (
        lambda p: optimize.root(
            lambda x, p: equations(x, p, jnp), np.ones(20), args=(p,), tol=1e-10
        ).x,
        lambda p: optimistix.root_find(
            lambda x, p: equations(x, p, jnp), optimistix.Newton(1e-10, 1e-10),
            jnp.ones(20), p,
        ).value,
        np.linspace(1.0, 2.0, 20),
        lambda p: scipy.optimize.root(
            lambda x: equations(x, p, np), np.ones(20), tol=1e-13
        ).x,
    ),
    "least squares of 2": (
        lambda p: optimize.least_squares(
            lambda x, p: residuals(x, p, jnp), np.array([0.3, 3.0]), args=(p,),
            ftol=1e-10, xtol=1e-10, gtol=1e-10,
        ).x,
        lambda p: optimistix.least_squares(
            lambda x, p: residuals(x, p, jnp),
            optimistix.LevenbergMarquardt(1e-10, 1e-10), jnp.array([0.3, 3.0]), p,
        ).value,
        DECAY,
        lambda p: scipy.optimize.least_squares(
            lambda x: residuals(x, p, np), [0.3, 3.0],
            ftol=1e-15, xtol=1e-15, gtol=1e-15,
        ).x,
    ),
    "minimum of 5, BFGS": (
        lambda p: optimize.minimize(
            lambda x, p: rosenbrock(x, p, jnp), np.zeros(5), args=(p,), method="BFGS",
            tol=1e-6,
        ).x,
        lambda p: optimistix.minimise(
            lambda x, p: rosenbrock(x, p, jnp), optimistix.BFGS(1e-8, 1e-8),
            jnp.zeros(5), p, max_steps=4096,
        ).value,
        np.array(1.1),
        lambda p: scipy.optimize.minimize(
            lambda x: rosenbrock(x, p, np), np.zeros(5), method="Nelder-Mead",
            options={"xatol": 1e-12, "fatol": 1e-15, "maxfev": 100_000,
                     "maxiter": 100_000},
        ).x,
    ),
}  # fmt: skip


# Times and errors.


def in_jax(value):
    compiled = jax.jit(value), jax.jit(jax.value_and_grad(value))
    return [lambda p, f=f: jax.block_until_ready(f(jnp.asarray(p))) for f in compiled]


def in_torch(value):
    def both(p):
        p = torch.tensor(p, requires_grad=True)
        y = value(p)
        y.backward()
        return y.detach(), p.grad

    return lambda p: value(torch.tensor(p)), both


def seconds(f, p):
    start = time.perf_counter()
    f(p)
    return time.perf_counter() - start


def error(found, true):
    return np.max(np.abs(np.asarray(found) - true)) / np.max(np.abs(true))


def compare(name, contestants, p, true):
    first, results = {}, {}
    for who, (value, both) in list(contestants.items()):
        try:
            first[who] = seconds(value, p) + seconds(both, p)
            results[who] = both(p)
        except Exception as e:
            print(f"{name:20} {who:22} {type(e).__name__}: {str(e)[:90]}")
            del contestants[who]
    rounds = [
        {who: [seconds(f, p) for f in pair] for who, pair in contestants.items()}
        for _ in range(ROUNDS)
    ]
    for who in contestants:
        own, slope = (1e3 * min(r[who][i] for r in rounds) for i in (0, 1))
        errors = [error(*pair) for pair in zip(results[who], true, strict=True)]
        print(
            f"{name:20} {who:22} value {own:8.2f} ms, with gradient {slope:8.2f} ms, "
            f"errors {errors[0]:.0e} {errors[1]:.0e}, first {first[who]:5.1f} s"
        )


def differential_equations(only):
    for name, (field, start, p, end, stiff) in FIELDS.items():
        if only and only not in name:
            continue
        true = reference(field, start, p, end, stiff)
        ours = partial(of_scipy, field, start, end, stiff)
        peers = {
            "rules_scipy, JAX": in_jax(ours(jnp)),
            "diffrax": in_jax(of_diffrax(field, start, end, stiff)),
            "rules_scipy, PyTorch": in_torch(ours(torch)),
        }
        if not stiff:
            for adjoint in (False, True):
                label = "torchdiffeq" + (", adjoint" if adjoint else "")
                peers[label] = in_torch(of_torchdiffeq(field, start, end, adjoint))
        compare(name, peers, p, true)


def solutions(only):
    for name, (ours, theirs, p, exact) in SOLVED.items():
        if only and only not in name:
            continue

        def value(solve, p):
            return (solve(p) ** 2).sum()

        slopes = []
        for i in range(p.size):
            h = np.zeros(p.size)
            h[i] = 1e-4
            up, down = ((p.ravel() + s * h).reshape(p.shape) for s in (1.0, -1.0))
            slopes.append((value(exact, up) - value(exact, down)) / 2e-4)
        true = value(exact, p), np.array(slopes).reshape(p.shape)
        pair = {"rules_scipy, JAX": ours, "optimistix": theirs}
        contestants = {who: in_jax(partial(value, f)) for who, f in pair.items()}
        compare(name, contestants, p, true)


if __name__ == "__main__":
    which = sys.argv[1] if len(sys.argv) > 1 else ""
    differential_equations(which)
    solutions(which)
