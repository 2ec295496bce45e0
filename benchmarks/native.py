"""Host functions in compiled JAX programs: by their own loops, and by callback.

`python benchmarks/native.py` prints medians of interleaved slices, as ratios within one
run. Set OMP_NUM_THREADS=1 and use an idle machine.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

import rules_core as rc
from rules_scipy import special

jax.config.update("jax_enable_x64", True)


def by_callback(v: Any, x: Any) -> Any:
    return scipy.special.kv(v, x)


callback = rc.primitive(by_callback, host=True, elementwise=True)


def pure_callback(v: Any, x: Any) -> Any:
    shape = jax.ShapeDtypeStruct(jnp.broadcast_shapes(v.shape, x.shape), x.dtype)
    return jax.pure_callback(by_callback, shape, v, x)


def own(v: Any, x: Any) -> Any:
    return jnp.sin(v) * x


def medians(runs: dict[str, Callable[[], Any]], slices: int) -> dict[str, float]:
    """Median seconds of each, which take turns; a slice lasts two milliseconds."""
    counts = {}
    for name, run in runs.items():
        run()
        start = time.perf_counter()
        run()
        counts[name] = max(1, int(2e-3 / (time.perf_counter() - start)))
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(slices):
        for name, run in runs.items():
            start = time.perf_counter()
            for _ in range(counts[name]):
                run()
            times[name].append((time.perf_counter() - start) / counts[name])
    return {name: statistics.median(each) for name, each in times.items()}


def show(title: str, found: dict[str, float], base: str, per: float = 1) -> None:
    print(f"\n{title}")
    for name, seconds in found.items():
        ratio = seconds / found[base]
        print(f"  {name:34} {seconds / per * 1e6:10.2f} µs  {ratio:8.2f}")


def waiting(f: Any, *args: Any) -> Callable[[], Any]:
    return lambda: jax.block_until_ready(f(*args))


def calls(slices: int) -> None:
    v, x = jnp.full(4, 1.3), jnp.linspace(0.5, 3, 4)
    fs = {
        "XLA's own sin(v) * x": own,
        "np.hypot, natively": rc.primitive(np.hypot, host=True, elementwise=True),
        "kv, natively": special.kv,
        "kv, host function by callback": callback,
        "kv, jax.pure_callback": pure_callback,
    }
    runs = {name: waiting(jax.jit(f), v, x) for name, f in fs.items()}
    here = np.asarray(v), np.asarray(x)
    runs["kv, called from NumPy"] = lambda: scipy.special.kv(*here)
    show("a jitted call, 4 elements", medians(runs, slices), "XLA's own sin(v) * x")


def steps(slices: int) -> None:
    v, x = jnp.full(4, 1.3), jnp.linspace(0.5, 3, 4)

    def loop(f: Any, count: int = 1000) -> Any:
        step = lambda _, y: x + 1e-3 * f(v, y)  # noqa: E731
        return waiting(jax.jit(lambda y: jax.lax.fori_loop(0, count, step, y)), x)

    def scan(f: Any) -> Any:
        step = lambda y, a: (x + a * f(v, y), y[0])  # noqa: E731
        fit = lambda a: jax.lax.scan(step, x, jnp.full(1000, a))[1].sum()  # noqa: E731
        return waiting(jax.jit(jax.grad(fit)), 1e-3)

    fs = {
        "kv, natively": special.kv,
        "kv, host function by callback": callback,
        "kv, jax.pure_callback": pure_callback,
    }
    found = medians({name: loop(f) for name, f in fs.items()}, max(3, slices // 20))
    show("a step of fori_loop, 4 elements", found, "kv, natively", 1000)
    # The rules of kv call kv: with one that goes by callback, so do its derivatives.
    rc.scalar_rule(callback, lambda y, v, x: (rc.NoTangent(), _slope(callback, v, x)))
    fs.pop("kv, jax.pure_callback")
    found = medians({name: scan(f) for name, f in fs.items()}, max(3, slices // 20))
    show("a step of the gradient of scan", found, "kv, natively", 1000)


def _slope(f: Any, v: Any, x: Any) -> Any:
    return -(f(v - 1, x) + f(v + 1, x)) / 2


def simulation(slices: int) -> None:
    """A loop over time that `numba.guvectorize` compiled, with its derivative."""
    try:
        import numba
    except ImportError:
        print("\na numba simulation: numba is not installed")
        return

    @numba.guvectorize(["(float64[:], float64[:], float64[:])"], "(n),()->(n)")
    def decay(x: Any, rate: Any, out: Any) -> None:
        level = 0.0
        for i in range(x.shape[0]):
            level += x[i] - rate[0] * level
            out[i] = level

    def by_name(x: Any, rate: Any) -> Any:  # no gufunc: it goes by callback
        return decay(x, rate)

    def with_rule(f: Any) -> Any:
        simulate = rc.primitive(f, host=True, out="(n),()->(n)")

        @rc.rrule.define(simulate)
        def decay_rrule(x: Any, rate: Any) -> Any:
            y = simulate(x, rate)

            def decay_pullback(dy: Any) -> Any:  # the adjoint runs backward in time
                dx = simulate(dy[::-1], rate)[::-1]
                return rc.NoTangent(), dx, -(dx[1:] * y[:-1]).sum()

            return y, decay_pullback

        return simulate

    fs = {"natively": with_rule(decay), "by callback": with_rule(by_name)}
    for n in (100, 10_000):
        x = jnp.linspace(0.0, 1.0, n)
        values = {k: waiting(jax.jit(f), x, 0.5) for k, f in fs.items()}
        here = np.asarray(x)
        values["called from NumPy"] = lambda x=here: decay(x, 0.5)
        title = f"a numba simulation of {n} steps"
        show(title, medians(values, slices), "natively")
        loss = {k: lambda x, r, f=f: (f(x, r) ** 2).sum() for k, f in fs.items()}
        grads = {k: jax.jit(jax.grad(f, (0, 1))) for k, f in loss.items()}
        runs = {k: waiting(g, x, 0.5) for k, g in grads.items()}
        show(f"{title}, the gradient of its squares", medians(runs, slices), "natively")

    def steps(f: Any) -> Any:
        x = jnp.linspace(0.0, 1.0, 100)
        step = lambda _, y: f(y, 0.5)  # noqa: E731
        return waiting(jax.jit(lambda y: jax.lax.fori_loop(0, 100, step, y)), x)

    found = medians({k: steps(f) for k, f in fs.items()}, max(3, slices // 20))
    show("a step of fori_loop with 100 of it", found, "natively", 100)


def large(slices: int) -> None:
    x = np.linspace(0.1, 9, 1_000_000)
    given = jnp.asarray(x)
    for name in ("expit", "kv"):
        u, f = getattr(scipy.special, name), getattr(special, name)
        args = (1.3,) if name == "kv" else ()
        compiled = jax.jit(lambda x, f=f, args=args: f(*args, x))
        runs = {
            "called from NumPy": lambda u=u, args=args: u(*args, x),
            "natively, on XLA's threads": waiting(compiled, given),
        }
        found = medians(runs, max(3, slices // 20))
        show(f"{name}, 1,000,000 elements", found, "called from NumPy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slices", type=int, default=200)
    slices = parser.parse_args().slices
    print(rc.explain(special.kv, 1.3, np.ones(4)).splitlines()[-1])
    for part in (calls, steps, simulation, large):
        part(slices)


if __name__ == "__main__":
    main()
