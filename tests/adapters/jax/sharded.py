"""Run by test_sharding.py with eight simulated devices: prints derivatives as JSON.

Every entry is a list of ratios of what was found to what is true; the frule is 2 times
and the rrule 3 times too large.
"""

import json
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

import rules_core as rc
from rules_core import NoTangent

X = jnp.arange(1.0, 17.0) / 7
W = jnp.asarray(1.5)


KINDS = ("generic", "host", "numpy rules")


def make(kind):
    """A primitive whose rules are generic, or NumPy's as the primal is."""
    host, numpy_rules = kind != "generic", kind == "numpy rules"
    flags = {"host": True, "elementwise": True} if host else {}

    @rc.primitive(**flags)
    def f(x, w):
        return (np if host else jnp).sin(x) * w

    @rc.rrule.define(f, host=numpy_rules)
    def f_rrule(x, w):
        xp = rc.array_namespace(x)

        def f_pullback(dy):
            return NoTangent(), 3 * dy * xp.cos(x) * w, 3 * dy * xp.sin(x)

        return f(x, w), f_pullback

    @rc.frule.define(f, host=numpy_rules)
    def f_frule(tangents, x, w):
        xp = rc.array_namespace(x)
        _, dx, dw = tangents
        return f(x, w), 2 * (dx * xp.cos(x) * w + xp.sin(x) * dw)

    return f


def reference(x, w):
    return jnp.sin(x) * w


def total(f):
    return lambda x, w: jnp.sum(f(x, w) ** 2)


def ratios(found, want):
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(want), strict=True)
    return [float(np.mean(np.asarray(a) / np.asarray(b))) for a, b in pairs]


def cases(f, mesh):
    xs = jax.device_put(X, NamedSharding(mesh, P("d")))
    want = jax.grad(total(reference), (0, 1))(X, W)
    along = lambda f: jax.jvp(lambda x: f(x, W), (xs,), (xs,))[1]
    moved = along(reference)
    sharded = partial(
        jax.shard_map, mesh=mesh, in_specs=(P("d"), P()), out_specs=P("d")
    )
    reverse = lambda f: jax.grad(total(f), (0, 1))
    yield "jit", jax.jit(reverse(f))(xs, W), want
    yield "jvp", jax.jit(along, static_argnums=0)(f), moved
    yield "shard_map", sharded(f)(xs, W), reference(X, W)
    yield "jit(shard_map)", jax.jit(sharded(f))(xs, W), reference(X, W)
    yield "grad(shard_map)", reverse(sharded(f))(xs, W), want
    yield "jit(grad(shard_map))", jax.jit(reverse(sharded(f)))(xs, W), want
    yield "jvp(shard_map)", along(sharded(f)), moved
    kept = sharded(jax.checkpoint(f))
    yield "checkpoint", jax.jit(reverse(kept))(xs, W), want
    unchecked = sharded(f, check_vma=False)
    yield "check_vma=False", jax.jit(reverse(unchecked))(xs, W), want
    inner = sharded(reverse(f), out_specs=(P("d"), P()))
    yield "shard_map(grad)", inner(xs, W), want
    yield "jit(shard_map(grad))", jax.jit(inner)(xs, W), want
    summed = sharded(
        lambda x, w: jax.lax.psum(jnp.sum(f(x, w) ** 2), "d"), out_specs=P()
    )
    yield "psum", jax.jit(jax.grad(summed, (0, 1)))(xs, W), want
    rows = jax.pmap(jax.grad(lambda x: total(f)(x, W)))(X.reshape(8, 2))
    yield "pmap", rows.reshape(16), want[0]
    named = jax.vmap(lambda x: jax.lax.psum(jnp.sum(f(x, W) ** 2), "i"), axis_name="i")
    grad = jax.grad(lambda x: named(x.reshape(8, 2))[0])(X)
    yield "vmap(axis_name)", grad, want[0]


def main():
    mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))
    found = {}
    for kind in KINDS:
        for case, got, want in cases(make(kind), mesh):
            found[f"{kind} {case}"] = ratios(got, want)
    xs = jax.device_put(X, NamedSharding(mesh, P("d")))
    program = jax.jit(jax.grad(total(make("generic")))).lower(xs, W).compile()
    found["sharding"] = str(program(xs, W).sharding.spec)
    found["gathers"] = program.as_text().count("all-gather")
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
