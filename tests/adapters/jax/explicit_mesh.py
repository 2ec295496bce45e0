"""Run by test_explicit_mesh.py with eight simulated devices and names: prints JSON.

On an explicit mesh the sharding is part of a type. Every entry tells whether the
types are those of the plain formula, and the ratios of what was found to what is true.
"""

import json
import sys
from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

import rules_core as rc
from rules_core import NoTangent
from tests.adapters.jax.sharded import KINDS, W, X, make, ratios, reference, total


def scanned(f):
    def run(x):
        return jax.lax.scan(lambda c, _: (f(c, W), None), x, None, length=2)[0]

    return run


PROGRAMS = {
    "eager": lambda f: lambda x: f(x, W),
    "jit": lambda f: jax.jit(lambda x: f(x, W)),
    "beside": lambda f: jax.jit(lambda x: x + f(x, W)),
    "broadcast": lambda f: jax.jit(lambda x: f(x, jnp.ones((3, 1)))),
    "scan": lambda f: jax.jit(scanned(f)),
    "cond": lambda f: jax.jit(
        lambda x: jax.lax.cond(x.sum() > 0, lambda x: f(x, W), jnp.cos, x)
    ),
    "vmap": lambda f: jax.jit(jax.vmap(lambda x: f(x, W))),
    "jvp": lambda f: jax.jit(lambda x: jax.jvp(lambda x: f(x, W), (x,), (x,))[1]),
    "grad": lambda f: jax.jit(lambda x: jax.grad(total(f), (0, 1))(x, W)),
    "eager grad": lambda f: lambda x: jax.grad(total(f), (0, 1))(x, W),
    "grad(cond)": lambda f: jax.jit(
        jax.grad(
            lambda x: jax.lax.cond(x.sum() > 0, lambda x: f(x, W), jnp.cos, x).sum()
        )
    ),
    "vmap(grad)": lambda f: jax.jit(jax.vmap(jax.grad(lambda x: f(x, W)))),
}


def gram_pair():
    """A host function that is not elementwise, and the formula itself."""

    @rc.primitive(host=True)
    def gram(A):
        return A @ A.T

    @rc.shape_rule.define(gram)
    def gram_shape(A):
        return rc.ShapeDtype((A.shape[0], A.shape[0]), A.dtype)

    @rc.rrule.define(gram)
    def gram_rrule(A):
        return gram(A), lambda dy: (NoTangent(), (dy + dy.T) @ A)

    whole = P(None, None)
    return (
        gram,
        lambda A: jax.sharding.reshard(A, whole) @ jax.sharding.reshard(A.T, whole),
    )


MATRIX_PROGRAMS = {
    "jit": jax.jit,
    "eager": lambda f: f,
    "grad": lambda f: jax.jit(jax.grad(lambda A: (f(A) ** 2).sum())),
    "grad(scan)": lambda f: jax.jit(
        jax.grad(
            lambda A: jax.lax.scan(
                lambda c, _: (c + f(c) @ c / 900, None), A, None, length=2
            )[0].sum()
        )
    ),
}


def types(tree):
    return [jax.typeof(x).str_short() for x in jax.tree.leaves(tree)]


def compared(program, f, plain, x):
    found, want = program(f)(x), program(plain)(x)
    return types(found) == types(want), ratios(found, want)


def programs(x, A):
    """Names, and what compares each program of that name."""
    for kind in KINDS:
        for name, program in PROGRAMS.items():
            yield f"{kind} {name}", partial(compared, program, make(kind), reference, x)
    for name, program in MATRIX_PROGRAMS.items():
        yield f"matrix {name}", partial(compared, program, *gram_pair(), A)


def main():
    mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(mesh):
        x = jax.device_put(X, NamedSharding(mesh, P("d")))
        A = jnp.arange(1.0, 17.0).reshape(8, 2) / 16
        A = jax.device_put(A, NamedSharding(mesh, P("d", None)))
        known = dict(programs(x, A))
        found = {name: known[name]() for name in sys.argv[1:]}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
