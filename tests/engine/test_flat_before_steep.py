"""A zero that meets an infinite slope: strong if it is zero nearby, else NaN."""

import itertools
import math

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import (
    UnsupportedProgram,
    derive_rrule,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)
from rules_core import NoTangent, Pullback

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# Flat at 0, or at the value of what is steep there.
FLAT = {
    "cos": lambda u: np.cos(u),
    "square": lambda u: u**2,
    "product": lambda u: u * u,
    "np.square": lambda u: np.square(u),
    "dot": lambda u: np.dot(np.stack([u, u]).T, np.array([1.0, 2.0])) * u,
    "cosh": lambda u: np.exp(u) + np.exp(-u),
    "cancelled": lambda u: np.sin(u) - u,
    "cube": lambda u: u**3,
    "power": lambda u: u**1.5,
    "gauss": lambda u: np.exp(-(u**2)),
    "of a number": lambda u: math.cos(u) if np.ndim(u) == 0 else np.cos(u),
    "quotient": lambda u: u * u / (1.0 + u),
    "itself": lambda u: u - u,
    "no": lambda u: 0.0 * u,
    "selected": lambda u: np.where(u > 0.5, u, 0.0),
    "larger": lambda u: np.maximum(u, 0.5),
}
STEEP = {
    "sqrt": lambda x: np.sqrt(x),
    "power": lambda x: x**0.5,
    "np.power": lambda x: np.power(x, 0.3),
    "cbrt": lambda x: np.cbrt(x),
    "arccos": lambda x: np.arccos(1.0 - x),
    "arccosh": lambda x: np.arccosh(1.0 + x),
    "of abs": lambda x: np.sqrt(np.abs(x)),
    "signed": lambda x: np.sign(x) * np.sqrt(np.abs(x)),
}
W, A = np.array([0.0, 1.0]), np.array([[0.0, 1.0], [0.0, 2.0]])
AROUND = {
    "alone": lambda g, x: g(x),
    "sum": lambda g, x: g(x) + x,
    "twice": lambda g, x: g(x) + g(x),
    "zero weight": lambda g, x: 0.0 * g(x) + x,
    "weights": lambda g, x: np.sum(W * g(np.stack([x, x + 1.0]))),
    "matrix": lambda g, x: np.sum(A @ g(np.stack([x, x + 1.0]))),
    "mask": lambda g, x: np.sum(np.where(W > 0.5, x, g(np.stack([x, x])))),
    "triangle": lambda g, x: np.sum(np.triu(g(np.outer(x, W) + 0.0 * W[:, None]), 1)),
    "index": lambda g, x: g(np.stack([x, x + 0.5]))[1],
    "moving weight": lambda g, x: g(x) * x,
}


def ways(f, x):
    """The derivative by every front door and both tiers."""
    yield from (grad(f, tier="tape")(x), jacrev(f)(x), value_and_grad(f)(x)[1])
    yield [grad(f)(x) for _ in range(7)][-1]
    yield vjp(f, x)[1](1.0)[0]
    yield derive_rrule(f)(x)[1](1.0)[1]
    yield linearize(f, x)[1](1.0)
    yield jvp(f, (x,), (1.0,), tier="tape")[1]
    yield [jvp(f, (x,), (1.0,))[1] for _ in range(3)][-1]


def is_right(found, f):
    """Whether a slope is that of finite differences, or NaN."""
    if math.isnan(found):
        return True
    near, nearest = ((f(h) - f(0.0)) / h for h in (1e-9, 1e-11))
    if math.isinf(found):
        return abs(nearest) > 5.0 * abs(near) / 4.0 and nearest * found > 0
    return abs(found - near) < 1e-3 and abs(found - nearest) < 1e-3


CASES = [*itertools.product(FLAT, STEEP, AROUND)]


@pytest.mark.covering(every=181)
@pytest.mark.parametrize(("flat", "steep", "around"), CASES)
def test_no_derivative_is_silently_wrong(flat, steep, around):
    def inner(x):
        return FLAT[flat](STEEP[steep](x))

    def f(x):
        return AROUND[around](inner, np.float64(1.0) * x)

    found = [float(slope) for slope in ways(f, 0.0)]
    assert all(is_right(slope, f) for slope in found), found


@pytest.mark.covering(every=701)
@pytest.mark.parametrize(("flat", "steep", "around"), CASES)
def test_no_second_derivative_is_silently_wrong(flat, steep, around):
    def inner(x):
        return FLAT[flat](STEEP[steep](x))

    def f(x):
        return AROUND[around](inner, np.float64(1.0) * x)

    def slope(h):
        return (f(h * 1.001) - f(h * 0.999)) / (0.002 * h)

    for second in (hessian(f, tier="tape"), hessian(f), jacrev(jacrev(f))):
        found = float(second(0.0))
        curve = [(slope(4.0 * h) - slope(h)) / (3.0 * h) for h in (1e-4, 1e-5)]
        tame = abs(curve[1]) < 1.5 * abs(curve[0]) + 1e-2
        wrong = abs(found - curve[1]) > 0.1 * (1.0 + abs(curve[1])) and tame
        assert math.isnan(found) or not wrong, (found, curve)
        assert math.isfinite(found) <= tame, (found, curve)


@pytest.mark.parametrize("steep", ["sqrt", "of abs", "signed"])
@pytest.mark.parametrize("flat", ["cos", "square", "gauss", "cosh"])
def test_what_moves_is_not_a_number(flat, steep):
    def f(x):
        return FLAT[flat](STEEP[steep](x))

    assert math.isnan(grad(f, tier="tape")(0.0))
    assert math.isnan(jvp(f, (0.0,), (1.0,))[1])


# Programs with the right derivative where a zero meets infinity, and programs for the
# derivatives of the same functions without that.
POINTS = np.array([[0.0, 1.0], [2.0, 1.0], [0.5, 0.3]])
UPPER = np.triu_indices(3, 1)
X = np.array([0.0, 1.0, 4.0])
V = np.array([0.0, 1.0, 2.0])
B = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, -1.0]])


def squares(points):
    d = points[:, None, :] - points[None, :, :]
    return np.sum(d * d, axis=-1)


def roots(points):
    return np.sqrt(squares(points))


def upper(points):
    return np.sqrt(squares(points)[UPPER])


def into_buffer(x):
    out = np.zeros(3)
    out[:] = np.sqrt(x)
    out[0] = x[1]
    return np.sum(out)


def looped(x):
    total = 0.0
    for v in x:
        r = np.sqrt(v)
        total = total + r if v > 0.5 else total + 0.0 * r
    return total


def rooted(x):
    return np.sqrt(x[1:])


KEPT = {
    "number": (lambda x: np.sum(0.0 * np.sqrt(x)), lambda x: 0.0 * x[1], X),
    "weights": (lambda x: np.sum(V * np.sqrt(x)), lambda x: V[1:] @ rooted(x), X),
    "multiply": (
        lambda x: np.sum(np.multiply(np.sqrt(x), V)), lambda x: V[1:] @ rooted(x), X,
    ),
    "dot": (lambda x: V @ np.sqrt(x), lambda x: V[1:] @ rooted(x), X),
    "matrix": (
        lambda x: np.sum((B @ np.sqrt(x)) ** 2),
        lambda x: np.sum((B[:, 1:] @ rooted(x)) ** 2),
        X,
    ),
    "einsum": (
        lambda x: np.einsum("i,i->", V, np.sqrt(x)), lambda x: V[1:] @ rooted(x), X,
    ),
    "where": (
        lambda x: np.sum(np.where(x > 0.0, np.sqrt(x), 0.0)),
        lambda x: np.sum(rooted(x)),
        X,
    ),
    "mask": (
        lambda x: np.sum(np.sqrt(x)[np.array([False, True, True])]),
        lambda x: np.sum(rooted(x)),
        X,
    ),
    "product with a mask": (
        lambda x: np.sum(np.sqrt(x) * (V > 0.0)), lambda x: np.sum(rooted(x)), X,
    ),
    "index": (lambda x: np.sqrt(x)[2], lambda x: rooted(x)[1], X),
    "buffer": (into_buffer, lambda x: x[1] + np.sum(rooted(x)), X),
    "loop": (looped, lambda x: np.sum(rooted(x)), X),
    "relu": (
        lambda x: np.sum(np.maximum(np.sqrt(x) - 0.5, 0.0)),
        lambda x: np.sum(rooted(x) - 0.5),
        X,
    ),
    "largest": (lambda x: np.max(np.sqrt(x)), lambda x: rooted(x)[1], X),
    "triangle": (
        lambda p: np.sum(np.triu(np.exp(-roots(p)), 1)),
        lambda p: np.sum(np.exp(-upper(p))),
        POINTS,
    ),
    "diagonal": (
        lambda p: np.sum((1.0 - np.eye(3)) * np.exp(-roots(p))),
        lambda p: 2.0 * np.sum(np.exp(-upper(p))),
        POINTS,
    ),
    "guarded": (
        lambda p: np.sum(np.where(squares(p) > 0.0, 1.0 / (1.0 + roots(p)), 0.0)),
        lambda p: 2.0 * np.sum(1.0 / (1.0 + upper(p))),
        POINTS,
    ),
    "lengths": (
        lambda p: np.sum(np.triu(roots(p), 1) ** 2 / 2.0),
        lambda p: np.sum(upper(p) ** 2) / 2.0,
        POINTS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_zeros_that_stay_are_strong(name):
    f, other, x = KEPT[name]
    want = grad(other)(x)
    step = 1e-6 * np.ones_like(x)
    slope = (other(x + step) - other(x - step)) / 2e-6
    assert np.sum(want) == pytest.approx(slope, rel=1e-6, abs=1e-8)
    found = [grad(f, tier="tape")(x), jacrev(f, tier="tape")(x), jacfwd(f)(x)]
    found += [grad(f)(x) for _ in range(12)]
    found += [vjp(f, x)[1](1.0)[0], derive_rrule(f)(x)[1](1.0)[1]]
    for dx in found:
        np.testing.assert_allclose(dx, want, rtol=1e-12, atol=1e-15)
    along = linearize(f, x)[1](np.ones_like(x))
    assert along == pytest.approx(np.sum(want), rel=1e-12, abs=1e-15)


@pytest.mark.covering(every=5)
@pytest.mark.parametrize("name", KEPT)
def test_second_derivatives_of_zeros_that_stay(name):
    f, other, x = KEPT[name]
    want = jacfwd(jacfwd(other))(x)
    for found in (hessian(f, tier="tape")(x), hessian(f)(x), jacfwd(jacrev(f))(x)):
        np.testing.assert_allclose(found, want, rtol=1e-10, atol=1e-12)


def test_partial_derivatives_hold_the_other_arguments():
    """A weight that is zero is a constant for the derivative in what it multiplies."""
    for jac in (jacfwd, jacrev, grad):
        assert jac(lambda x: x[0] * np.sqrt(x[1]))(np.zeros(2)).tolist() == [0.0, 0.0]
        found = jac(lambda p: p["w"] * np.sqrt(p["x"]))({"w": 0.0, "x": 0.0})
        assert found == {"w": 0.0, "x": 0.0}
    w, x = np.array([0.0, 2.0]), np.array([0.0, 4.0])
    dw, dx = vjp(lambda w, x: np.sum(w * np.sqrt(x)), w, x)[1](1.0)
    assert (dw.tolist(), dx.tolist()) == ([0.0, 2.0], [0.0, 0.5])
    assert jvp(lambda x, y: np.sqrt(x * y), (0.0, 2.0), (0.0, 1.0))[1] == 0.0
    found = hessian(lambda x: x[0] * np.sqrt(x[1]), tier="tape")(np.zeros(2))
    assert not np.isfinite([found[0, 1], found[1, 0]]).any()


LARGE = {
    "logistic": lambda x: 1.0 / (1.0 + np.exp(x)),
    "scaled": lambda x: 3.0 / (2.0 + np.exp2(x * 2.0)),
    "hyperbolic": lambda x: 1.0 / np.cosh(x),
    "squares": lambda x: 1.0 / (1.0 + np.square(np.exp(x))),
    "product": lambda x: 1.0 / (1.0 + np.exp(0.6 * x) * np.exp(0.6 * x)),
}


@pytest.mark.parametrize("name", LARGE)
def test_values_that_have_become_too_large_stay(name):
    f, x = LARGE[name], np.array([0.5, 1000.0])
    for tier in ("tape", "auto"):
        for _ in range(1 if tier == "tape" else 7):
            dx = grad(lambda x: np.sum(f(x)), tier=tier)(x)
            step = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
            np.testing.assert_allclose(dx, step, rtol=1e-6)
    assert math.isnan(grad(lambda x: 1.0 / np.log(x))(0.0))  # a pole


@rc.primitive
def kept(x):
    return x * 1.0


@rc.rrule.define(kept)
def kept_rrule(x: float):
    return x * 1.0, Pullback(kept_pullback, opaque(x))


def opaque(x):
    return bytes(str(float(x)), "ascii")  # of which no derivative is known


def kept_pullback(text, dy):
    return NoTangent(), dy * float(text) ** 0.0


@rc.primitive
def flat(x):
    return math.cos(x)


@rc.rrule.define(flat)
def flat_rrule(x: float):
    return math.cos(x), Pullback(flat_pullback, opaque(x))


def flat_pullback(text, dy):
    return NoTangent(), -math.sin(float(text)) * dy


def test_rules_that_cannot_be_followed_move_what_they_are_given():
    assert grad(lambda x: 0.0 * kept(np.sqrt(x)) + x)(0.0) == 1.0
    assert math.isnan(grad(lambda x: flat(np.sqrt(x)) + x)(0.0))


def test_functions_that_rules_call_back():
    @rc.primitive
    def apply(f, x):
        return f(x)

    @rc.rrule.define(apply, config=rc.RuleConfig[rc.HasReverseMode])
    def apply_rrule(config, f, x):
        y, pull = rc.rrule_via_ad(config, f, x)
        return y, lambda dy: (NoTangent(), *pull(dy))

    assert math.isnan(grad(lambda x: np.cos(apply(np.sqrt, x)))(0.0))
    assert math.isnan(grad(lambda x: apply(lambda t: np.cos(np.sqrt(t)), x))(0.0))
    assert grad(lambda x: 0.0 * apply(np.sqrt, x) + x)(0.0) == 1.0


def test_pullbacks_again_and_of_several_results():
    def f(x):
        r = np.sqrt(x)
        return np.cos(r), 3.0 * r

    _, pullback = vjp(f, X)
    for _ in range(2):
        (dx,) = pullback((np.zeros(3), np.array([0.0, 1.0, 1.0])))
        assert dx.tolist() == [0.0, 1.5, 0.75]
        (dx,) = pullback((np.array([1.0, 0.0, 0.0]), np.zeros(3)))
        assert np.isnan(dx).tolist() == [True, False, False]


def test_arguments_and_lists_are_as_they_were():
    def f(x, seen):
        y = np.cos(np.sqrt(x[0]))
        x[1] = x[1] * 2.0
        seen.append(1)
        return y + x[1]

    x, seen = np.array([0.0, 1.0]), []
    dx = grad(f)(x, seen)
    assert math.isnan(dx[0])
    assert dx[1] == 2.0
    assert x.tolist() == [0.0, 1.0]
    assert seen == []


def test_a_program_that_differs_each_time_is_an_error():
    numbers = iter(np.arange(1.0, 9.0))

    def f(x):
        return np.cos(np.sqrt(x)) + next(numbers)

    with pytest.raises(UnsupportedProgram, match="one value each time"):
        grad(f)(0.0)


def test_a_program_runs_once_where_zeros_stay():
    calls = itertools.count()

    def f(x):
        next(calls)
        return np.sum(np.triu(np.exp(-roots(x)), 1))

    grad(f, tier="tape")(POINTS)
    assert next(calls) == 1
