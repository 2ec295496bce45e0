"""`solve_bvp`: time of a derivative beside that of the solution, by the mesh.

Run: `python benchmarks/boundary_values.py`.

Two equations and two parameters; the least wall time of some calls. In JAX the mesh is
known and the code compiled.
"""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.integrate

from rules_autodiff import grad
from rules_scipy import integrate

REPEATS = 5
Q = np.array([1.3, 1.2])


def middle(q: Any, m: int, solve: Any, xp: Any, **options: Any) -> Any:
    """y(1/2) of y'' = q₀² sinh(y) with y(0) = 1 and y(1) = q₁, on `m` nodes."""

    def fun(_x: Any, y: Any) -> Any:
        return xp.stack([y[1], q[0] * q[0] * xp.sinh(y[0])])

    def bc(start: Any, end: Any) -> Any:
        return xp.stack([start[0] - 1.0, end[0] - q[1]])

    mesh, guess = np.linspace(0.0, 1.0, m), np.ones((2, m))
    found = solve(fun, bc, mesh, guess, max_nodes=20_000, **options)
    return found.sol(0.5)[0]


def milliseconds(f: Callable[[], Any]) -> float:
    """The least time of a call, the first one left out."""
    f()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def main() -> None:
    """Print the table."""
    jax.config.update("jax_enable_x64", True)
    print("| nodes | solution, ms | grad | in JAX, ms | its grad |")
    print("|---|---|---|---|---|")
    for m in (50, 500, 5000):

        def plain(q: Any, m: int = m) -> Any:
            return middle(q, m, scipy.integrate.solve_bvp, np)

        def in_jax(q: Any, m: int = m) -> Any:
            return middle(q, m, integrate.solve_bvp, jnp, nodes=m)

        value, slope = jax.jit(in_jax), jax.jit(jax.grad(in_jax))
        calls = [
            lambda plain=plain: plain(Q),
            lambda plain=plain: grad(plain)(Q),
            lambda value=value: jax.block_until_ready(value(Q)),
            lambda slope=slope: jax.block_until_ready(slope(Q)),
        ]
        taken = [milliseconds(call) for call in calls]
        print(f"| {m:,} | {' | '.join(f'{x:.1f}' for x in taken)} |", flush=True)


if __name__ == "__main__":
    main()
