"""The transforms of the engine, in both tiers."""

from __future__ import annotations

import random
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import rules_autodiff as ad
from tests.interop.catalogue.in_torch import WEIGHTS, P, X
from tests.interop.catalogue.steps import Word, applied, order, steps
from tests.interop.catalogue.style import Program

TRANSFORMS = ("jvp", "vjp", "grad", "jacfwd", "jacrev", "hessian")
API = SimpleNamespace(
    cos=np.cos,
    stack=np.stack,
    total=np.sum,
    weights=WEIGHTS.numpy(),
    vmap=None,
    **{name: getattr(ad, name) for name in TRANSFORMS},
)
TIERED = {
    name: partial(getattr(ad, name), tier="tape") for name in ("grad", "vjp", "jacrev")
}
TAPE = steps(SimpleNamespace(**vars(API) | TIERED))


def linearize(f: Any) -> Any:
    """The linear map, at two tangents."""

    def run(x: Any, p: Any) -> Any:
        _, push = ad.linearize(f, x, p)
        return push(np.cos(x), 0 * p) + push(0 * x, 0.5 * p)

    return run


TABLE = steps(API) | {f"{name}_tape": TAPE[name] for name in TIERED}
TABLE["linearize"] = linearize


def nesting(random: random.Random) -> Word:
    """A nesting of up to four transforms, of order three at most."""
    while True:
        word = tuple(random.choices(tuple(TABLE), k=random.randint(1, 3)))
        if order(word) <= 3:
            return word


def run(word: Word, f: Program) -> np.ndarray:
    """The transformed function at the point."""
    return np.asarray(applied(TABLE, word, f)(X.copy(), P.copy()))
