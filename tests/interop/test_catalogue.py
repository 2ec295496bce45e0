"""Every style of rule under every transform of every host, to order three.

Each case equals the same mathematics without rules, differentiated by PyTorch, or is
refused by an error that names the rule.
"""

from __future__ import annotations

import itertools
import random

import pytest
import torch

from tests.interop.catalogue import in_jax, in_torch
from tests.interop.catalogue.checked import HOSTS, LEFT_OUT, check
from tests.interop.catalogue.steps import order
from tests.interop.catalogue.style import STYLES

# PyTorch's own, of complex numbers: in a batch, and compiled.
pytestmark = pytest.mark.filterwarnings(
    "ignore:There is a performance drop:UserWarning",
    "ignore:Torchinductor does not support code generation for complex:UserWarning",
)

EVERY = list(STYLES.values())
FIRST, SLICES = 100, 20
WEIGHTS = (2, 1, 2)  # engine, jax (which compiles every operation), torch


def deepened(step, level, host):
    """A transform below, above and among derivatives, up to an order."""
    words = {
        1: [(step,)],
        2: [(step, "jvp"), ("grad", step), ("jvp", step), (step, "vjp")],
        3: [("grad", step, "jvp"), ("jvp", "grad", step), ("jacfwd", "vjp", step)],
    }[level]
    possible = getattr(HOSTS[host], "possible", lambda word: True)
    return [word for word in words if order(word) <= 3 and possible(word)]


def check_steps(style, host, turns, most=None):
    """Transforms and orders of a host, by their places in a list of all.

    Of each as many words as `most`, if that is given, from a first that each style has
    elsewhere.
    """
    table = in_torch.EAGER if host == "torch" else HOSTS[host].TABLE
    every = [
        deepened(step, level, host)
        for level, step in itertools.product((1, 2, 3), table)
    ]
    for turn in turns:
        words = every[turn % len(every)]
        first = (EVERY.index(style) + turn) % max(len(words), 1)
        for word in (words[first:] + words[:first])[:most]:
            check(style, host, word)


@pytest.mark.covering(every=16)
@pytest.mark.parametrize("style", EVERY, ids=str)
def test_a_transform_of_a_host(style):
    """Of so many styles each transform of each host is met at each order."""
    turn, host = divmod(EVERY.index(style), len(HOSTS))
    check_steps(style, list(HOSTS)[host], [turn], most=1)


@pytest.mark.full
@pytest.mark.parametrize("host", ["torch", "engine"])
@pytest.mark.parametrize("style", EVERY, ids=str)
def test_every_transform(style, host):
    """One word of each transform and order; each word meets a quarter of the styles."""
    check_steps(style, host, range(3 * len(HOSTS[host].TABLE)), most=1)


@pytest.mark.nightly
@pytest.mark.parametrize("style", EVERY, ids=str)
def test_every_transform_in_jax(style):
    """A third of them in JAX, which compiles every operation: another third each."""
    third = EVERY.index(style) // 12 % 3  # of so many styles each meets every word
    check_steps(style, "jax", range(third, 3 * len(in_jax.TABLE), 3), most=1)


INSIDE = [(), ("grad",), ("jvp",), ("vmap_x",), ("grad", "jvp"), ("hessian",)]


# What PyTorch's compilers do themselves: where a graph is broken or resumed within a
# backward pass, and in a function of their own.
@pytest.mark.filterwarnings(
    "ignore:.*should not be instantiated:DeprecationWarning",
    "ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning",
    "ignore:`torch._prims_common.check` is deprecated:FutureWarning",
)
@pytest.mark.nightly
@pytest.mark.parametrize("style", EVERY, ids=str)
def test_compiled_by_torch(style):
    """Of so many styles each nesting is compiled; a compilation takes seconds."""
    torch.compiler.reset()
    turn, nesting = divmod(EVERY.index(style), len(INSIDE) + 1)
    backend = ("aot_eager", "inductor")[turn % 2]
    words = [*((*word, backend) for word in INSIDE), (backend, "backward")]
    check(style, "torch", words[nesting])


def nested(seed):
    """A style, a host and a nesting of its transforms, each by chance."""
    chance = random.Random(seed)
    host = chance.choices(sorted(HOSTS), WEIGHTS)[0]
    return chance.choice(EVERY), host, HOSTS[host].nesting(chance)


def check_nestings(seeds):
    """All of them, and then tell which failed: seed, style, host, word, error."""
    failed = []
    for seed in seeds:
        case = nested(seed)
        try:
            check(*case)
        except Exception as error:
            failed.append((seed, *map(str, case), repr(error)[:500]))
    assert not failed, "\n".join(map(str, failed))


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("part", range(10))
def test_random_nestings(part):
    check_nestings(range(part, FIRST, 10))


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(SLICES))
def test_many_random_nestings(part):
    check_nestings(range(FIRST + part, FIRST + 1000, SLICES))


def test_what_is_left_out_exists():
    assert all(name in STYLES and host in HOSTS for name, host in LEFT_OUT)
