"""Effects of what is left to the tape happen once for each call."""

import functools
import itertools
import operator
import random
import warnings
from collections import defaultdict

import numpy as np
import pytest

from rules_autodiff import grad

SEEN: list[int] = []
GROWING: dict[str, float] = defaultdict(float)
LETTERS = {"a": 1.0}
ENDLESS, COUNT, DRAWN = itertools.count(), 0, random.Random(0)
FIELD = np.zeros(3)


class Holder:
    """Somebody else's object."""

    count = 0


HOLDER = Holder()


def appends(x):
    SEEN.append(1)
    return x * len({1})


def prints(x):
    print("printed", len({1}))
    return x * x


def draws(x):
    return x * DRAWN.random() + len({1})


def draws_from_numpy(x):
    return x * np.random.rand() + len({1})  # noqa: NPY002  the global generator


def assigns(x):
    global COUNT  # noqa: PLW0603  it is what is looked for
    COUNT += len({1})
    return x * COUNT


def stores(x):
    LETTERS["a"] += len({1})
    return x * 2.0


def makes_entries(x):
    return x * (1.0 + GROWING[f"{len(GROWING)}"])


def goes_on(x):
    return x * (1 + 0 * next(ENDLESS)) * len({1})


def goes_over(x):
    for _, _ in zip(ENDLESS, range(2)):  # noqa: B905  the first has no end
        x = x * len({1})
    return x


def sets_an_attribute(x):
    HOLDER.count += len({1})
    return x * 2.0


def sets_by_name(x):
    setattr(Holder, "count", Holder.count + 1)  # noqa: B010  a call
    return x * 2.0


def writes_outside(x):
    FIELD[0] += len({1})
    return x * FIELD[0]


def warns(x):
    warnings.warn(f"told {len({1})}", stacklevel=1)
    return x * x


def keeps(x, kept=[0]):  # noqa: B006  it is what is looked for
    kept.append(len({1}))
    return x * 2.0


def catches(x):
    try:
        SEEN.append(len({1}))
    except Exception:
        return x
    return x * 3.0


EFFECTS = [
    appends, prints, draws, draws_from_numpy, assigns, stores, makes_entries, goes_on,
    goes_over, sets_an_attribute, sets_by_name, writes_outside, warns, keeps, catches,
]  # fmt: skip


@pytest.mark.parametrize("f", EFFECTS, ids=lambda f: f.__name__)
def test_effects_are_those_of_the_tape(f, capsys):
    """The tape takes back what it can, and does everything else once."""

    def program(x):
        y = f(x)
        return np.sqrt(y * 0.0 + 4.0) * x

    def told(tier):
        before = measured()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(4):
                grad(program, tier=tier)(2.0)
        return (measured() - before).tolist(), len(caught), capsys.readouterr().out

    assert told("tape") == told("auto")


def measured():
    """Counters of all effects."""
    return np.array([
        len(SEEN), LETTERS["a"], len(GROWING), int(repr(ENDLESS)[6:-1]), COUNT,
        HOLDER.count, Holder.count, FIELD[0], len(keeps.__defaults__[0]),
    ], float)  # fmt: skip


def test_random_numbers_are_drawn_once():
    def program(x):
        return draws(x) * x

    DRAWN.seed(1)
    expected = [2.0 * 2.0 * DRAWN.random() + 1 for _ in range(5)]
    DRAWN.seed(1)
    found = [grad(program)(2.0) for _ in range(5)]
    np.testing.assert_allclose(found, expected)


# By methods, in C, of captured objects: stream, array, list.
IN_C = {
    "shuffle": lambda rng, deck, log: rng.shuffle(deck),
    "by its class": lambda rng, deck, log: np.random.Generator.shuffle(rng, deck),
    "partial": lambda rng, deck, log: functools.partial(rng.shuffle, deck)(),
    "by name": lambda rng, deck, log: operator.methodcaller("shuffle", deck)(rng),
    "permutation": lambda rng, deck, log: rng.permutation(deck),
    "number": lambda rng, deck, log: rng.normal(),
    "bits": lambda rng, deck, log: rng.bit_generator.random_raw(),
    "list": lambda rng, deck, log: log.append(1),
    "list by its class": lambda rng, deck, log: list.append(log, 1),
    "operator": lambda rng, deck, log: operator.iadd(log, [1]),
    "mapped": lambda rng, deck, log: list(map(log.append, [1])),
    "key": lambda rng, deck, log: sorted([1, 2], key=lambda _: log.append(1) or 0),
    "array": lambda rng, deck, log: deck.fill(3),
    "entry": lambda rng, deck, log: operator.setitem(deck, 0, 7),
    "put": lambda rng, deck, log: np.put(deck, 0, 5),
}


@pytest.mark.parametrize("name", IN_C)
def test_effects_of_methods_in_c_are_those_of_the_tape(name):
    effect, x = IN_C[name], np.array([0.1, 0.2, 0.3])

    def told(tier):
        rng, deck, log = np.random.default_rng(0), np.arange(4), []

        def changing(v):
            effect(rng, deck, log)
            return v.sum()

        def program(x):
            y = np.sin(x)
            z = y * y + x
            return changing(z) * np.sum(y * z)

        seen = []
        for _ in range(4):
            grad(program, tier=tier)(x)
            state = rng.bit_generator.state["state"]["state"]
            seen.append((state, deck.tolist(), len(log)))
        return seen

    assert told("auto") == told("tape")
