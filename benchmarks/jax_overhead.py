"""What rules cost in JAX, beside hand-written custom derivatives, in one run.

Run: `.venv/bin/python benchmarks/jax_overhead.py`. Every row is measured with its
variants interleaved in one loop; the figure is the median of the processor time, which
other programs on the machine hardly change; the ratio is to the first column.
`closure` and `Pullback` are the two forms of a pullback.
"""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np

import rules_core as rc
from rules_core import NoTangent, Pullback

Variants = dict[str, Callable[[], Any]]
X = jnp.linspace(0.0, 1.0, 1000)
SECONDS = float(os.environ.get("BENCHMARK_SECONDS", "2"))


def body(x):
    """logsumexp."""
    m = jnp.max(x)
    return m + jnp.log(jnp.sum(jnp.exp(x - m)))


def pull(x, y, dy):
    """Its pullback."""
    return NoTangent(), dy * jnp.exp(x - y)


def wrapped(*, explicit: bool) -> Any:
    """The function as a primitive with both rules."""

    @rc.primitive
    def logsumexp(x):
        return body(x)

    @rc.rrule.define(logsumexp)
    def logsumexp_rrule(x):
        y = logsumexp(x)
        if explicit:
            return y, Pullback(pull, x, y)
        return y, lambda dy: pull(x, y, dy)

    @rc.frule.define(logsumexp)
    def logsumexp_frule(tangents, x):
        y = logsumexp(x)
        return y, jnp.sum(tangents[1] * jnp.exp(x - y))

    return logsumexp


def by_custom_vjp() -> Any:
    """The same by hand."""
    f = jax.custom_vjp(body)

    def fwd(x):
        y = body(x)
        return y, (x, y)

    f.defvjp(fwd, lambda saved, dy: (dy * jnp.exp(saved[0] - saved[1]),))
    return f


def by_custom_jvp() -> Any:
    """The same by hand, forwards."""
    f = jax.custom_jvp(body)

    @f.defjvp
    def jvp(primals, tangents):
        y = body(primals[0])
        return y, jnp.sum(tangents[0] * jnp.exp(primals[0] - y))

    return f


def hosts() -> tuple[Any, Any]:
    """A host primitive and a bare pure_callback of the same function."""
    sin = rc.primitive(host_sin, host=True, elementwise=True)

    def callback(x):
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(host_sin, shape, x, vmap_method="broadcast_all")

    return sin, callback


def host_sin(x):
    """`sin` of NumPy."""
    return np.sin(np.asarray(x))


def medians(variants: Variants) -> dict[str, float]:
    """Microseconds of processor time per call, variants taken in turn."""
    times: dict[str, list[float]] = {name: [] for name in variants}
    for run in variants.values():
        jax.block_until_ready(run())
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for name, run in variants.items():
            start = time.process_time()
            jax.block_until_ready(run())
            times[name].append(time.process_time() - start)
    return {name: statistics.median(t) * 1e6 for name, t in times.items()}


def row(title: str, variants: Variants) -> None:
    """Print one comparison."""
    found = medians(variants)
    first = next(iter(found.values()))
    cells = [f"{name} {t:9.1f} us ({t / first:4.2f}x)" for name, t in found.items()]
    print(f"{title:28s}", "  ".join(cells), flush=True)


def over(
    make: Callable[[Any], Callable[[], Any]], functions: dict[str, Any]
) -> Variants:
    """The same use of every function."""
    return {name: make(f) for name, f in functions.items()}


def lower(f: Any) -> Callable[[], Any]:
    """Tracing and lowering, of a function that JAX has not seen before."""

    def run() -> None:
        def fresh(x):
            return f(x)

        jax.jit(jax.grad(fresh)).lower(X)

    return run


def many(f: Any) -> Any:
    """Twenty calls in one function."""

    def total(x):
        for _ in range(20):
            x = x + f(x)
        return jnp.sum(x)

    return total


def main() -> None:
    """Print the table."""
    print(f"JAX {jax.__version__}; logsumexp of 1000 numbers")
    ours = {"closure": wrapped(explicit=False), "Pullback": wrapped(explicit=True)}
    reverse = {"custom_vjp": by_custom_vjp(), **ours}
    forward = {"custom_jvp": by_custom_jvp(), "rules": ours["closure"]}
    batch = jnp.stack([X, 2 * X])

    def call(f):
        return lambda: f(X)

    row("eager call", over(call, reverse))
    row("eager grad", over(lambda f: lambda: jax.grad(f)(X), reverse))
    row("eager jvp", over(lambda f: lambda: jax.jvp(f, (X,), (X,)), forward))
    row(
        "eager vmap(grad)",
        over(lambda f: lambda: jax.vmap(jax.grad(f))(batch), reverse),
    )
    jitted = {name: jax.jit(jax.grad(f)) for name, f in reverse.items()}
    row("jitted grad", over(call, jitted))
    moved = {
        n: jax.jit(lambda x, f=f: jax.jvp(f, (x,), (x,))) for n, f in forward.items()
    }
    row("jitted jvp", over(call, moved))
    mapped = {name: jax.jit(jax.vmap(jax.grad(f))) for name, f in reverse.items()}
    row("jitted vmap(grad)", over(lambda f: lambda: f(batch), mapped))
    row("trace and lower grad", over(lower, reverse))
    row("  the same, 20 calls", over(lambda f: lower(many(f)), reverse))
    sin, callback = hosts()
    bare = {"pure_callback": callback, "host": sin}
    row("host call, eager", over(call, bare))
    row("host call, jitted", over(call, {n: jax.jit(f) for n, f in bare.items()}))
    mapped = {n: jax.jit(jax.vmap(f)) for n, f in bare.items()}
    row("host call, jitted vmap", over(lambda f: lambda: f(batch), mapped))


if __name__ == "__main__":
    main()
