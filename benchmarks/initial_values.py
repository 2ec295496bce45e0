"""Solutions of differential equations: time of a gradient over that of the value.

A chain of species of which each eats the next, with one rate for each (`SIZE` states
and parameters), solved by `solve_ivp`. Value and gradient run in turns; the least
of their times is taken. Forward mode is along one direction.

    python benchmarks/initial_values.py [SIZE] [METHOD]

JAX and PyTorch run the values in NumPy too, so that their ratios compare with these.
"""

import sys
import time

import numpy as np

TIMES = np.linspace(0.0, 4.0, 5)
ROUNDS = 5


def program(method, roll):
    from rules_scipy import integrate

    def chain(t, y, rates):
        return rates * y * (1.0 - y - 0.5 * roll(y))

    def loss(rates, sensitivity=None):
        start = np.linspace(0.1, 0.9, rates.shape[0])
        found = integrate.solve_ivp(
            chain, (0.0, 4.0), start, method, TIMES, args=(rates,), rtol=1e-6,
            atol=1e-8, sensitivity=sensitivity,
        )  # fmt: skip
        return (found.y**2).sum()

    return loss


def in_numpy(method):
    from rules_autodiff import grad, jvp

    loss = program(method, lambda y: np.roll(y, 1))
    units = {
        "reverse": grad(loss),
        "forward": lambda x: jvp(loss, (x,), (np.ones_like(x),)),
        "reverse, by units": grad(lambda x: loss(x, "forward")),
    }
    return loss, units, np.asarray


def in_jax(method):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    loss = program(method, lambda y: jnp.roll(y, 1))
    forward = jax.jit(lambda x: jax.jvp(loss, (x,), (jnp.ones_like(x),)))
    return (
        jax.jit(loss),
        {"reverse": jax.jit(jax.grad(loss)), "forward": forward},
        jnp.asarray,
    )


def in_torch(method):
    import torch

    loss = program(method, lambda y: torch.roll(y, 1))

    def reverse(x):
        x = x.detach().requires_grad_()
        loss(x).backward()

    def forward(x):
        return torch.func.jvp(loss, (x,), (torch.ones_like(x),))

    return loss, {"reverse": reverse, "forward": forward}, torch.as_tensor


def seconds(f, x):
    start = time.perf_counter()
    f(x)
    return time.perf_counter() - start


def main(size=10, method="DOP853"):
    for name, system in (("numpy", in_numpy), ("jax", in_jax), ("torch", in_torch)):
        value, derivatives, array = system(method)
        x = array(np.linspace(0.5, 1.5, int(size)))
        for mode, derivative in derivatives.items():
            value(x), derivative(x)  # compile
            pairs = [(seconds(value, x), seconds(derivative, x)) for _ in range(ROUNDS)]
            own, slope = map(min, zip(*pairs, strict=True))
            print(
                f"{name:6} {mode:18} value {1e3 * own:8.1f} ms, derivative "
                f"{1e3 * slope:8.1f} ms, ratio {slope / own:6.1f}"
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
