"""The transforms of PyTorch, and the reference: PyTorch without rules."""

from __future__ import annotations

import random
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import func
from torch.autograd import forward_ad
from torch.utils.checkpoint import checkpoint as recomputed

from tests.interop.catalogue.steps import Word, applied, meaning, order, steps
from tests.interop.catalogue.style import Program

X, P = np.array([0.4, -0.7]), np.array([1.3, 0.6])
WEIGHTS = torch.tensor([0.8, -1.1], dtype=torch.float64)

API = SimpleNamespace(
    cos=torch.cos, stack=torch.stack, total=torch.sum, weights=WEIGHTS, **vars(func)
)
FUNC = steps(API)


def linearize(f: Any) -> Any:
    """`torch.func.linearize`, which warns about itself."""

    def run(x: Any, p: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return func.linearize(f, x, p)[1](torch.cos(x), 0.5 * p)

    return run


def following(x: Any) -> Any:
    """The tensor, if autograd follows it already, else a leaf."""
    return x if x.requires_grad else x.detach().requires_grad_()


def autograd(f: Any) -> Any:
    """`torch.autograd.grad` with `create_graph`."""

    def run(x: Any, p: Any) -> Any:
        x = following(x)
        y = (f(x, p) * WEIGHTS).sum()
        if not y.requires_grad:  # a derivative that is constant
            return torch.zeros_like(x)
        return torch.autograd.grad(y, x, create_graph=True, materialize_grads=True)[0]

    return run


def backward(f: Any) -> Any:
    """`Tensor.backward` to a leaf."""

    def run(x: Any, p: Any) -> Any:
        x, p = x.detach().requires_grad_(), p.detach().requires_grad_()
        y = f(x, p)
        if y.requires_grad:  # else it is a derivative that is constant
            y.backward(WEIGHTS)
        return torch.zeros_like(x) if x.grad is None else x.grad

    return run


def dual(f: Any) -> Any:
    """`torch.autograd.forward_ad`."""

    def run(x: Any, p: Any) -> Any:
        with forward_ad.dual_level():
            y = f(
                forward_ad.make_dual(x, torch.cos(x)),
                forward_ad.make_dual(p, 0.5 * p),
            )
            tangent = forward_ad.unpack_dual(y).tangent
            return torch.zeros_like(x) if tangent is None else tangent

    return run


def compiled(backend: str) -> Any:
    """`torch.compile` with a back end."""
    return lambda f: torch.compile(f, backend=backend)


def checkpoint(f: Any) -> Any:
    """`torch.utils.checkpoint`."""
    return lambda x, p: recomputed(f, x, p, use_reentrant=False)


# Transforms of torch.func stand inside; a graph is compiled once; leaves are outermost.
PHASES = {
    **dict.fromkeys([*FUNC, "linearize"], 0),
    **dict.fromkeys(["autograd", "checkpoint"], 1),
    **dict.fromkeys(["aot_eager", "inductor"], 2),
    **dict.fromkeys(["backward", "forward_ad"], 3),
}
TABLE = FUNC | {
    "linearize": linearize,
    "autograd": autograd,
    "checkpoint": checkpoint,
    "aot_eager": compiled("aot_eager"),
    "inductor": compiled("inductor"),
    "backward": backward,
    "forward_ad": dual,
}
COMPILED = ("aot_eager", "inductor")
EAGER = tuple(name for name in TABLE if name not in COMPILED)


def possible(word: Word) -> bool:
    """Whether PyTorch has this nesting for functions without rules."""
    phases = [PHASES[name] for name in word]
    duals = "forward_ad" in word and bool({"jvp", "jacfwd", "hessian"} & set(word))
    mixed = "forward_ad" in word and any(phase in (1, 2) for phase in phases)
    if "checkpoint" in word and 0 in phases:  # PyTorch has no saved-tensor hooks there
        return False
    late = [phase for phase in phases if phase > 1]
    apart = 2 not in phases or 1 not in phases
    single = len(late) == len(set(late))
    linear = "linearize" not in word or word == ("linearize",)
    return (
        phases == sorted(phases)
        and single
        and apart
        and linear
        and not (duals or mixed)
    )


def nesting(random: random.Random) -> Word:
    """A nesting of up to four transforms, of order three at most."""
    while True:
        word = tuple(random.choices(EAGER, k=random.randint(1, 4)))
        word = tuple(sorted(word, key=lambda name: PHASES[name]))
        if possible(word) and order(word) <= 3:
            return word


def run(word: Word, f: Program) -> Any:
    """The transformed function at the point."""
    x, p = torch.tensor(X), torch.tensor(P)
    found: np.ndarray = applied(TABLE, word, f)(x, p).detach().numpy()
    return found


REFERENCES: dict[tuple[Program, Word], np.ndarray] = {}


def reference(word: Word, plain: Program) -> np.ndarray:
    """What PyTorch's own derivatives give for a program without rules."""
    key = plain, meaning(word)
    if key not in REFERENCES:
        REFERENCES[key] = applied(FUNC, key[1], plain)(*map(torch.tensor, (X, P)))
    return REFERENCES[key]
