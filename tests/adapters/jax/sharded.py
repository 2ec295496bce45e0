"""Run by test_sharding.py with eight simulated devices and names: prints JSON.

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
    """Names, and functions of which the first finds what the second knows."""
    xs = jax.device_put(X, NamedSharding(mesh, P("d")))
    along = lambda f: jax.jvp(lambda x: f(x, W), (xs,), (xs,))[1]
    sharded = partial(
        jax.shard_map, mesh=mesh, in_specs=(P("d"), P()), out_specs=P("d")
    )
    reverse = lambda f: jax.grad(total(f), (0, 1))
    plain = lambda: reference(X, W)
    moved = lambda: along(reference)
    want = lambda: reverse(reference)(X, W)
    inner = sharded(reverse(f), out_specs=(P("d"), P()))
    summed = sharded(
        lambda x, w: jax.lax.psum(jnp.sum(f(x, w) ** 2), "d"), out_specs=P()
    )
    row = jax.grad(lambda x: total(f)(x, W))
    named = jax.vmap(lambda x: jax.lax.psum(jnp.sum(f(x, W) ** 2), "i"), axis_name="i")
    by_name = jax.grad(lambda x: named(x.reshape(8, 2))[0])
    apart = {
        "jit": (jax.jit(reverse(f)), want),
        "grad(shard_map)": (reverse(sharded(f)), want),
        "jit(grad(shard_map))": (jax.jit(reverse(sharded(f))), want),
        "checkpoint": (jax.jit(reverse(sharded(jax.checkpoint(f)))), want),
        "check_vma=False": (jax.jit(reverse(sharded(f, check_vma=False))), want),
        "shard_map(grad)": (inner, want),
        "jit(shard_map(grad))": (jax.jit(inner), want),
        "psum": (jax.jit(jax.grad(summed, (0, 1))), want),
        "shard_map": (sharded(f), plain),
        "jit(shard_map)": (jax.jit(sharded(f)), plain),
    }
    for name, (program, known) in apart.items():
        yield name, partial(program, xs, W), known
    yield "jvp", lambda: jax.jit(along, static_argnums=0)(f), moved
    yield "jvp(shard_map)", lambda: along(sharded(f)), moved
    yield "pmap", lambda: jax.pmap(row)(X.reshape(8, 2)).reshape(16), lambda: want()[0]
    yield "vmap(axis_name)", lambda: by_name(X), lambda: want()[0]


def kept(mesh):
    """The sharding of a compiled derivative, and how often it gathers."""
    xs = jax.device_put(X, NamedSharding(mesh, P("d")))
    program = jax.jit(jax.grad(total(make("generic")))).lower(xs, W).compile()
    return str(program(xs, W).sharding.spec), program.as_text().count("all-gather")


def main():
    mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))
    programs = {
        f"{kind} {name}": lambda got=got, want=want: ratios(got(), want())
        for kind in KINDS
        for name, got, want in cases(make(kind), mesh)
    }
    programs["kept"] = lambda: kept(mesh)
    json.dump({name: programs[name]() for name in sys.argv[1:]}, sys.stdout)


if __name__ == "__main__":
    main()
