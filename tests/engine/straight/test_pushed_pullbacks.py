"""Derivatives of pullbacks that rules call back, by generated code or by the tape."""

import numpy as np
import pytest
from scipy.integrate import quad

import rules_core as rc
from rules_autodiff import EngineConfig, grad, hessian, jvp
from rules_autodiff._callbacks import via_ad
from rules_autodiff.straight._tier.left import leave
from rules_autodiff.straight._tier.pushed_back import PushedBack
from rules_autodiff.testing import check_program
from rules_core import backing, frule_via_ad, rrule_via_ad

CONFIG = EngineConfig()
P = np.array([1.3, 0.7, -0.4])
CALLS = 12  # code is generated after some calls, backward and forward
HELD: dict[str, object] = {}


def of_array(p):
    return lambda t: np.exp(-p[0] * t**2) * np.cos(p[1] * t) + p[2]


def of_number(p):
    a = p[0] * 2.0
    return lambda t: np.sin(a * t) * a


def of_container(p):
    held = {"a": p[0], "b": [p[1:] * 2.0, 1.5]}
    return lambda t: held["a"] * np.sum(held["b"][0] * t) ** 2 * held["b"][1]


def of_vector(p):
    return lambda t: np.exp(-p * t) * p[::-1]


def of_function(p):
    def inner(t):
        return np.tanh(p * t)

    return lambda t: np.sum(inner(t) * inner(2.0 * t))


def of_loop(p):
    def f(t):
        s = t * 0.5
        for i in range(3):
            s = s + np.sin(s * p[i]) * t
        return s

    return f


class Model:
    def __init__(self, p):
        self.p, self.scale = p, 2.0

    def at(self, t):
        return np.sum(self.p**2 * np.cos(self.scale * t))


def of_method(p):
    return Model(p).at


MAKERS = [
    of_array, of_number, of_container, of_vector, of_function, of_loop, of_method,
]  # fmt: skip


def numbers_of(found):
    """All numbers in cotangents, in one list."""
    if isinstance(found, (tuple, list)):
        return [x for part in found for x in numbers_of(part)]
    if isinstance(found, dict):
        return numbers_of([*found.values()])
    if isinstance(found, (float, np.ndarray)):
        return [found]
    if hasattr(found, "keys") or type(found).__name__.endswith("Tangent"):
        try:
            return numbers_of([*backing(found).values()])
        except (TypeError, AttributeError):
            return []
    return []


def pulled(maker):
    """What a rule does: the pullback of a function that captures `p`."""

    def program(p, t, w):
        f = maker(p)
        y, pullback = rrule_via_ad(CONFIG, f, t)
        found = numbers_of(pullback(y * w))
        return y, [x * 1.0 for x in found]

    return program


@pytest.fixture
def used(monkeypatch):
    made = []

    class Counted(PushedBack):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(via_ad, "PushedBack", Counted)
    return made


def by_tape(*_):
    leave("a test")


@pytest.mark.parametrize("maker", MAKERS, ids=lambda f: f.__name__)
def test_tangents_of_cotangents(maker, used, monkeypatch):
    program, args = pulled(maker), (P, 0.8, 1.7)
    for _ in range(CALLS):
        written = jvp(program, args, (P * 0.5, 0.3, -0.2))
    assert used
    monkeypatch.setattr(via_ad, "PushedBack", by_tape)
    taped = jvp(program, args, (P * 0.5, 0.3, -0.2))
    for one, other in zip(written, taped, strict=True):
        np.testing.assert_allclose(one[0], other[0], rtol=1e-13)
        for x, y in zip(one[1], other[1], strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-13)


@pytest.mark.parametrize("maker", MAKERS, ids=lambda f: f.__name__)
def test_by_differences(maker, used):
    program = pulled(maker)
    for _ in range(CALLS):
        program(P, 0.8, 1.7)
        jvp(program, (P, 0.8, 1.7), (P * 0.5, 0.3, -0.2))
    for _ in range(2):
        check_program(program, P, 0.8, 1.7, reverse=False)
    assert used


def test_a_cotangent_twice_is_two_numbers(used):
    """Cotangents of one value, of which only one has a tangent."""

    def program(a, b):
        y, pullback = rrule_via_ad(CONFIG, lambda t, u: t + u, a * 1.0, b * 1.0)
        _, da, db = pullback(a)
        return y, da * b, db

    for _ in range(CALLS):
        _, (_, first, second) = jvp(program, (2.0, 3.0), (1.0, 0.0))
        assert (first, second) == (3.0, 1.0)
    assert used


def test_strong_zeros_are_left_to_the_tape():
    """√ at 0 beside a factor that is 0."""

    def program(p):
        _, pullback = rrule_via_ad(CONFIG, lambda t: p * 0.0 * np.sqrt(t), p * 0.0)
        return pullback(1.0)[1]

    for _ in range(CALLS):
        assert jvp(program, (2.0,), (1.0,)) == (0.0, 0.0)


def of_global(p):
    HELD["p"] = p * 2.0
    return quad(lambda t: HELD["p"] * t**2, 0.0, 1.0)[0]


def test_what_a_call_apart_may_not_read():
    """What a global dict holds, which the outer program differentiates."""
    for _ in range(CALLS):
        with pytest.raises(rc.UnsupportedError, match="must capture what it reads"):
            grad(grad(of_global))(2.0)


def of_integral(p):
    return quad(lambda t: np.exp(-p[0] * t) * t, 0, 1)[0]


def test_second_derivatives_of_integrals(used):
    x = P[:1]
    found = hessian(of_integral)(x)
    assert used
    ahead, behind = (grad(of_integral)(x + h) for h in (1e-5, -1e-5))
    np.testing.assert_allclose(found[0], (ahead - behind) / 2e-5, rtol=1e-6)


def test_directions_of_directions():
    """`frule_via_ad` in a forward pass."""

    def program(p, t):
        f = of_array(p)
        return frule_via_ad(CONFIG, (None, t), f, t)[1]

    for _ in range(CALLS):
        check_program(program, P, 0.8)
