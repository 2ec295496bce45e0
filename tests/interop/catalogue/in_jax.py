"""The transforms of JAX."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.interop.catalogue.in_torch import WEIGHTS, P, X
from tests.interop.catalogue.steps import Word, applied, order, steps
from tests.interop.catalogue.style import Program

TRANSFORMS = ("jvp", "vjp", "grad", "jacfwd", "jacrev", "hessian", "vmap")
API = SimpleNamespace(
    cos=jnp.cos,
    stack=jnp.stack,
    total=jnp.sum,
    weights=WEIGHTS.numpy(),
    **{name: getattr(jax, name) for name in TRANSFORMS},
)


def linearize(f: Any) -> Any:
    """The linear map, at two tangents."""

    def run(x: Any, p: Any) -> Any:
        _, push = jax.linearize(f, x, p)
        return push(jnp.cos(x), 0 * p) + push(0 * x, 0.5 * p)

    return run


def scan(f: Any) -> Any:
    """One turn of a loop of two, of which the other takes nothing."""

    def run(x: Any, p: Any) -> Any:
        def body(carry: Any, weight: Any) -> Any:
            return carry + weight * f(x, p), None

        return jax.lax.scan(body, jnp.zeros_like(x), jnp.asarray([0.25, 0.75]))[0]

    return run


def cond(f: Any) -> Any:
    """One branch of two."""
    return lambda x, p: jax.lax.cond(x[0] < 50.0, f, lambda x, p: x, x, p)


def custom_jvp(f: Any) -> Any:
    """A rule of JAX's own around a call, which calls JAX's derivative of it."""
    around = jax.custom_jvp(f)
    around.defjvp(lambda primals, tangents: jax.jvp(f, primals, tangents))
    return around


TABLE = steps(API) | {
    "linearize": linearize,
    "jit": jax.jit,
    "checkpoint": jax.checkpoint,
    "scan": scan,
    "cond": cond,
    "custom_jvp": custom_jvp,
}


def nesting(random: random.Random) -> Word:
    """A nesting of up to four transforms, of order three at most."""
    while True:
        word = tuple(random.choices(tuple(TABLE), k=random.randint(1, 4)))
        if order(word) <= 3:
            return word


def run(word: Word, f: Program) -> np.ndarray:
    """The transformed function at the point."""
    return np.asarray(applied(TABLE, word, f)(jnp.asarray(X), jnp.asarray(P)))
