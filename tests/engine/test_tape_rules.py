"""Rules on the tape's fast path: derivatives, infinities, and whose rules they are."""

import numpy as np
import pytest

from rules_autodiff import grad, jacfwd, jacrev
from rules_core import NoTangent, primitive, rrule, scalar_rule
from rules_core.testing import isolated_rules

X = np.array([0.3, -0.7, 1.2, 0.6])
COLUMN = np.array([[0.4], [1.1]])
MASK = np.array([True, False, True, True])

# Functions of an array and of a number that is also differentiated.
PROGRAMS = {
    "power": lambda x, s: np.power(np.abs(x) + 0.1, s),
    "fractional power": lambda x, s: (x * x + 0.1) ** 1.5 * s,
    "abs": lambda x, s: np.abs(x * s),
    "maximum of a number": lambda x, s: np.maximum(x, 0.7 * s),
    "maximum, broadcast": lambda x, s: np.maximum(x, COLUMN * s),
    "minimum": lambda x, s: np.minimum(s, x) * np.minimum(x, x[::-1]),
    "fmax": lambda x, s: np.fmax(x, s * x[::-1]),
    "clip": lambda x, s: np.clip(x, -0.2 * s, 0.9),
    "where": lambda x, s: np.where(MASK, x, s),
    "where, broadcast": lambda x, s: np.where(COLUMN > 0.5, x, s * COLUMN),
    "arctan2": lambda x, s: np.arctan2(x, s) + np.arctan2(COLUMN, x),
    "log1p": lambda x, s: np.log1p(x * x * s),
    "hypot": lambda x, s: np.hypot(x, s),
    "sum": lambda x, s: np.sum(x * COLUMN, axis=0) * s,
    "sum, kept": lambda x, s: np.sum(x * COLUMN * s, axis=-1, keepdims=True),
    "mean": lambda x, s: np.mean(x * COLUMN, axis=1) * s,
    "cumsum": lambda x, s: np.cumsum(x * s) * np.cumsum(x * COLUMN, axis=1),
    "concatenate": lambda x, s: np.concatenate((x, X, x * s)),
    "concatenate a view": lambda x, s: np.concatenate([x[1:], x[:2] * s]),
    "concatenate along": lambda x, s: np.concatenate((x * COLUMN, COLUMN * s), axis=1),
    "stack": lambda x, s: np.stack((x, x[::-1] * s), axis=1),
    "hstack": lambda x, s: np.hstack((x, X * s)),
    "array of numbers": lambda x, s: np.array([x[0], 2.0, s, x[0] * s]),
    "array of rows": lambda x, s: np.array([[x[0], s], (x[3], 1)]),
    "asarray": lambda x, s: np.asarray((s, x[1], s * x[2])),
    "roll": lambda x, s: np.roll(x * s, 1) * x,
    "roll along": lambda x, s: np.roll(x * COLUMN * s, 1, axis=1),
    "diff": lambda x, s: np.diff(x * s),
    "transpose": lambda x, s: np.transpose(x * COLUMN * s),
    "reshape": lambda x, s: np.reshape(x * s, (2, 2)),
    "expand": lambda x, s: np.expand_dims(x, 1) * np.squeeze(COLUMN) * s,
    "number": lambda x, s: np.abs(x[1]) * np.maximum(s, x[0]) + np.arctan2(s, x[2]),
    "flip": lambda x, s: np.flip(x) * s,
    "tril": lambda x, s: np.tril(x * x[:, None] * s),
    "trace": lambda x, s: np.trace(np.outer(x, x) * s),
}


def total(body):
    """A number in which each entry of a result counts differently, written to after."""

    def program(x, s):
        y = body(x, s)
        if np.ndim(y):
            z = y * 1.0
            z[...] = z * z
            y = y * np.cos(np.arange(y.size).reshape(y.shape)) + z
        return np.sum(y)

    return program


def differences(f, *args, step=1e-6):
    """Central differences by each argument."""
    found = []
    for i, a in enumerate(args):
        flat = []
        for k in range(np.size(a)):
            ends = []
            for sign in (1.0, -1.0):
                moved = np.array(a, float)
                moved.flat[k] += sign * step
                given = [*args]
                given[i] = moved if np.ndim(a) else float(moved)
                ends.append(f(*given))
            flat.append((ends[0] - ends[1]) / (2.0 * step))
        found.append(np.reshape(flat, np.shape(a)))
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_agree_with_differences(name):
    f = total(PROGRAMS[name])
    found = grad(f, (0, 1), tier="tape")(X, 1.3)
    for one, other in zip(found, differences(f, X, 1.3), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-7, atol=2e-8)


@pytest.mark.covering(every=5)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives_agree_in_two_ways(name):
    f = total(PROGRAMS[name])
    with np.errstate(all="ignore"):
        reverse = jacrev(grad(f, tier="tape"), tier="tape")(X, 1.3)
        forward = jacfwd(grad(f, tier="tape"), tier="tape")(X, 1.3)
    np.testing.assert_allclose(reverse, forward, rtol=1e-9, atol=1e-9)


BLIND = np.array([0.0, 1.0])
INFINITE = np.array([np.inf, 3.0])


@pytest.mark.parametrize(
    "inner",
    [
        lambda x: np.maximum(x, 0.5),
        lambda x: np.minimum(x, np.array([9.0, 9.0])),
        lambda x: np.clip(x, 0.0, 9.0),
        lambda x: np.abs(x),
        lambda x: np.where(BLIND > 0, x, 2.0 * x),
        lambda x: np.roll(np.roll(x, 1), 1),
        lambda x: np.concatenate((x[:1], x[1:])),
        lambda x: np.stack((x, x))[1],
        lambda x: np.array([x[0], x[1]]),
        lambda x: np.cumsum(x[::-1])[::-1],
        lambda x: x**1.5,
    ],
    ids=[
        "maximum", "minimum", "clip", "abs", "where", "roll", "concatenate", "stack",
        "array", "cumsum", "power",
    ],
)  # fmt: skip
def test_what_does_not_count_may_meet_infinity(inner):
    """0 · ∞ is 0: the first entry is multiplied by an infinity, and left out."""

    def program(x):
        y = inner(x) * INFINITE
        return np.sum(np.where(BLIND > 0, y, 0.0))

    with np.errstate(all="ignore"):
        found = grad(program, tier="tape")(np.array([1.0, 2.0]))
        by_first = grad(lambda a: inner(np.array([a, 2.0]))[1] * 3.0)(1.0)
        by_last = grad(lambda b: inner(np.array([1.0, b]))[1] * 3.0)(2.0)
    np.testing.assert_allclose(found, [by_first, by_last], rtol=1e-12)


def test_an_entry_that_is_not_selected_gets_nothing_of_an_infinity():
    def program(x, s):
        return np.sum(np.sqrt(np.maximum(x, s)))  # infinite slope at zero

    with np.errstate(all="ignore"):
        dx, ds = grad(program, (0, 1), tier="tape")(np.array([-1.0, 4.0]), 0.0)
    assert dx.tolist() == [0.0, 0.25]
    assert ds == np.inf


@pytest.fixture
def _own_rules():
    with isolated_rules():
        yield


@pytest.mark.usefixtures("_own_rules")
def test_a_rule_of_somebody_else_is_asked_from_then_on():
    programs = {
        np.log1p: lambda x: np.sum(np.log1p(x)),
        np.roll: lambda x: np.sum(np.roll(x, 1)),
        np.array: lambda x: np.sum(np.array([x[0], x[1]])),
    }
    x = np.array([1.0, 3.0])
    for f, program in programs.items():
        before = grad(program, tier="tape")(x)
        kind = list if f is np.array else np.ndarray

        def own_rrule(given: kind, *rest, f=f, kind=kind, **kw):
            zeros = [7.0, 7.0] if kind is list else np.full(2, 7.0)
            nothing = [NoTangent()] * len(rest)
            return f(given, *rest, **kw), lambda _: (NoTangent(), zeros, *nothing)

        rrule.define(f)(own_rrule)
        assert grad(program, tier="tape")(x).tolist() == [7.0, 7.0], f
        rrule.undefine(f, kind)
        assert grad(program, tier="tape")(x).tolist() == before.tolist()


@pytest.mark.usefixtures("_own_rules")
def test_scalar_rules_of_users_are_asked_once_and_may_return_anything():
    calls = []

    @primitive
    def own(x, y):
        calls.append("value")
        return kept if (kept := results.get(type(x))) is not None else x * y

    results = {}
    scalar_rule(own, lambda z, x, y: (calls.append("partials"), (y, x))[1])
    assert grad(own, (0, 1), tier="tape")(2.0, 3.0) == (3.0, 2.0)
    assert calls == ["value", "partials"]
    x = np.array([1.0, 2.0])
    found = grad(lambda x, y: np.sum(own(x, y)), (0, 1), tier="tape")(x, 3.0)
    assert found[0].tolist() == [3.0, 3.0]
    assert found[1] == 3.0
    results[float] = np.float32(6.0)  # another precision goes the general way
    assert grad(lambda x: own(x, 3.0), tier="tape")(2.0) == 3.0
