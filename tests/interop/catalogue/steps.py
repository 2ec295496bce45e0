"""Transforms as mathematics: from functions of two vectors to functions of two vectors.

A *word* is a tuple of their names, innermost first. A host that lacks a transform
lacks its name; what a host has besides (`jit`) stands in `SAME` for what it means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Word = tuple[str, ...]
Step = Callable[[Any], Any]

ORDERS = {"hessian": 2, "hvp": 2, "vmap": 0, "vmap_x": 0, "vmap_p": 0, "same": 0}
"""The orders of the derivatives, where not one."""

SAME = {
    "backward": "grad",
    "autograd": "grad",
    "forward_ad": "jvp",
    "grad_tape": "grad",
    "vjp_tape": "vjp",
    "jacrev_tape": "jacrev",
    "linearize": "jvp",
    "jit": "same",
    "checkpoint": "same",
    "scan": "same",
    "cond": "same",
    "custom_jvp": "same",
    "aot_eager": "same",
    "inductor": "same",
}


def meaning(word: Word) -> Word:
    """The word in transforms that every reference has."""
    means = [SAME.get(name, name) for name in word]
    return tuple(name for name in means if name != "same")


def order(word: Word) -> int:
    """How often a word differentiates."""
    return sum(ORDERS.get(name, 1) for name in meaning(word))


def steps(api: Any) -> dict[str, Step]:
    """The transforms that are mathematics, made of a host's functions.

    `api` has `cos`, `stack`, `weights`, `total` and the names of `torch.func`, of
    which `vmap` may be None.
    """

    def weighted(f: Any) -> Any:
        return lambda x, p: api.total(f(x, p) * api.weights)

    def jvp(f: Any) -> Any:
        return lambda x, p: api.jvp(f, (x, p), (api.cos(x), 0.5 * p))[1]

    def vjp(f: Any) -> Any:
        def run(x: Any, p: Any) -> Any:
            y, pullback = api.vjp(f, x, p)
            dx, dp = pullback(api.cos(y))
            return dx - 2 * dp

        return run

    def grad(f: Any, argnum: int = 0) -> Any:
        return lambda x, p: api.grad(weighted(f), argnum)(x, p)

    def jacfwd(f: Any) -> Any:
        return lambda x, p: api.jacfwd(f, 0)(x, p) @ api.cos(p)

    def jacrev(f: Any) -> Any:
        return lambda x, p: api.cos(x) @ api.jacrev(f, 1)(x, p)

    def hessian(f: Any) -> Any:
        return lambda x, p: api.hessian(weighted(f), 0)(x, p) @ api.weights

    made = {
        "jvp": jvp,
        "vjp": vjp,
        "grad": grad,
        "grad_p": lambda f: grad(f, 1),
        "jacfwd": jacfwd,
        "jacrev": jacrev,
        "hessian": hessian,
    }
    return made | (batches(api) if api.vmap else {})


def batches(api: Any) -> dict[str, Step]:
    """Batches of both arguments, or of one, which the other is shared by."""

    def batch(x: Any) -> Any:
        return api.stack([x, 0.3 - x, 2 * x])

    def summed(y: Any) -> Any:
        return y[0] - 2 * y[1] + 0.5 * y[2]

    return {
        "vmap": lambda f: (
            lambda x, p: summed(api.vmap(f, (0, 1))(batch(x), batch(p).T))
        ),
        "vmap_x": lambda f: lambda x, p: summed(api.vmap(f, (0, None))(batch(x), p)),
        "vmap_p": lambda f: lambda x, p: summed(api.vmap(f, (None, 0))(x, batch(p))),
    }


def applied(table: dict[str, Step], word: Word, f: Any) -> Any:
    """The function under all transforms of a word."""
    for name in word:
        f = table[name](f)
    return f
