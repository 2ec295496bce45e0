"""Pullbacks and linear maps that outlive their run: captured, kept, called again."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from rules_autodiff import (
    EngineConfig,
    EngineError,
    UnsupportedProgram,
    derive_rrule,
    grad,
    jacfwd,
    jvp,
    linearize,
    vjp,
)
from rules_autodiff._python.handlers import HANDLERS
from rules_core import rrule_via_ad
from tests.engine.applied import applied, rules_of_applied

X = np.array([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def _applied():
    with rules_of_applied():
        yield


def cube(x):
    return x * x * x


MAPS = {
    "vjp": lambda x: vjp(cube, x)[1],
    "vjp with aux": lambda x: vjp(lambda v: (cube(v), v), x, has_aux=True)[1],
    "linearize": lambda x: linearize(cube, x)[1],
    "rrule_via_ad": lambda x: rrule_via_ad(EngineConfig(), cube, x)[1],
    "derive_rrule": lambda x: derive_rrule(cube)(x)[1],
    "grad": lambda x: lambda d: grad(lambda v: d * cube(v))(x),
}
EACH = pytest.mark.parametrize("make", MAPS.values(), ids=MAPS)


def slope_of(found):
    return found[-1] if isinstance(found, tuple) else found


@EACH
def test_captured_by_a_function_that_a_rule_differentiates(make):
    """`3x² d²` of both: what the map captured has its derivative too."""

    def program(x, d):
        linear = make(x)
        return applied(lambda d: slope_of(linear(d)) * d, d)

    assert program(2.0, 3.0) == 108.0
    assert grad(program, (0, 1))(2.0, 3.0) == pytest.approx((108.0, 72.0))
    assert jvp(program, (2.0, 3.0), (1.0, 1.0))[1] == pytest.approx(180.0)
    inner = grad(program)
    assert grad(inner)(2.0, 3.0) == pytest.approx(6 * 9.0)
    assert grad(inner, 1)(2.0, 3.0) == pytest.approx(12 * 2 * 3.0)
    assert jvp(inner, (2.0, 3.0), (1.0, 1.0))[1] == pytest.approx(54.0 + 72.0)


WAYS = {
    "grad": lambda f, x: grad(f, has_aux=True)(x)[1],
    "jvp": lambda f, x: jvp(f, (x,), (1.0,), has_aux=True)[2],
}
OUT_OF = pytest.mark.parametrize("out_of", WAYS.values(), ids=WAYS)


@EACH
@OUT_OF
def test_called_in_another_derivative(make, out_of):
    """Kept by a derivative that is over, called by the next one, at the same depth."""
    linear = out_of(lambda x: (x * 1.0, make(x)), 2.0)
    assert slope_of(linear(1.0)) == 12.0
    assert grad(lambda d: slope_of(linear(d)) * d)(3.0) == pytest.approx(72.0)
    assert jvp(lambda d: slope_of(linear(d)) * d, (3.0,), (1.0,))[1] == 72.0


@EACH
@OUT_OF
def test_of_an_inner_derivative_called_in_the_outer_one(make, out_of):
    def outer(x):
        linear = out_of(lambda v: (v * 1.0, make(v)), x)
        return slope_of(linear(x))  # 3x³

    assert grad(outer)(2.0) == pytest.approx(36.0)
    assert grad(grad(outer))(2.0) == pytest.approx(36.0)
    assert jvp(outer, (2.0,), (1.0,))[1] == pytest.approx(36.0)


def test_a_random_function_is_refused_where_it_would_run_again():
    rng = np.random.default_rng(5)

    def program(x):
        _, pullback = vjp(lambda v: cube(v) * rng.normal(), x)
        return applied(lambda d: pullback(d)[0], x)

    with pytest.raises(UnsupportedProgram, match=r"same value when it is run again"):
        grad(program)(2.0)


def test_nothing_is_left_behind():
    """Neither a table of pullbacks, nor a tape that goes on after its run."""

    def program(x):
        return applied(lambda v: np.sin(v) @ v, x)

    grad(program)(X)
    known = len(HANDLERS)
    for _ in range(5):
        grad(program)(X)
    assert len(HANDLERS) == known

    _, pullback, inner = vjp(lambda x: (x * x, lambda v: v * x), 3.0, has_aux=True)
    recorded = len(pullback.recording.run.tape)
    for _ in range(5):
        assert inner(2.0) == 6.0
        assert pullback(1.0) == (6.0,)
    assert len(pullback.recording.run.tape) == recorded


class Pair(NamedTuple):
    a: float
    b: float


@dataclass(frozen=True)
class Held:
    a: np.ndarray


def test_objects_in_containers_stay_the_users_own():
    """Where the program writes, also those that cannot change are as they were."""

    def program(items):
        new = [1.0]
        items += [Pair(items[0].a[0], 1.0), new, new]
        return items[0].a[0] ** 2 * items[1].a

    held = Held(np.array([2.0, 3.0]))
    items = [held]
    _, pullback = vjp(program, items)
    assert items[0] is held
    assert type(items[1]) is Pair
    assert items[2] is items[3]
    (found,) = pullback(1.0)
    np.testing.assert_allclose(found[0].a, [12.0, 0.0])
    assert items == [held]


def test_a_function_that_calls_itself_may_be_captured():
    def program(x):
        def power(n):
            return x if n < 1 else power(n - 1) * n * x

        return applied(lambda u: power(3) * u, x)  # 6 x⁵

    assert grad(program)(2.0) == pytest.approx(30 * 2.0**4)
    assert grad(grad(program))(2.0) == pytest.approx(120 * 2.0**3)
    assert jvp(program, (2.0,), (1.0,))[1] == pytest.approx(30 * 2.0**4)
    assert jvp(grad(program), (2.0,), (1.0,))[1] == pytest.approx(120 * 2.0**3)


def test_a_generator_of_an_outer_run_is_no_constant_of_an_inner_one():
    def sent(x):
        def squares():
            v = 0.0
            while True:
                v = yield v * v

        items = squares()
        next(items)
        return grad(lambda y: items.send(y))(x)

    def outer_values(x):
        items = (x * k for k in range(3))
        next(items)
        return grad(lambda y: y * next(items) * next(items))(x)  # 2 x²

    told = "generator that was started outside .* but squares holds"
    for derivative in (grad(sent), lambda x: jvp(sent, (x,), (1.0,))):
        with pytest.raises(UnsupportedProgram, match=told):
            derivative(3.0)
    assert grad(outer_values)(3.0) == pytest.approx(12.0)
    assert jvp(outer_values, (3.0,), (1.0,))[1] == pytest.approx(12.0)


def writes(x):
    x[1:] *= x[:-1]
    x[0] = np.sin(x[-1])
    return x * x


def without_writes(x):
    first, second = x[1] * x[0], x[2] * x[1]
    y = np.array([np.sin(second), first, second])
    return y * y


@pytest.mark.parametrize("kind", ["vjp", "linearize"])
def test_maps_of_functions_that_write_are_called_in_another_derivative(kind):
    """What they note of the writes is taken back together with the writes."""
    d, e = np.array([1.0, 2.0, 3.0]), np.array([0.3, -1.0, 2.0])
    jacobian = jacfwd(without_writes)(X)
    matrix = jacobian.T if kind == "vjp" else jacobian
    x = X.copy()
    linear = (vjp if kind == "vjp" else linearize)(writes, x)[1]

    def apply(d):
        found = linear(d)
        return found[0] if kind == "vjp" else found

    for _ in range(3):
        np.testing.assert_allclose(grad(lambda d: apply(d) @ e)(d), matrix.T @ e)
        np.testing.assert_allclose(jvp(apply, (d,), (e,))[1], matrix @ e)
        np.testing.assert_allclose(apply(d), matrix @ d)
        np.testing.assert_array_equal(x, X)


def test_a_pullback_whose_writes_an_outer_derivative_took_back():
    def program(x):
        _, pullback = vjp(writes, x * 1.0)
        return x @ x, pullback

    _, pullback = grad(program, has_aux=True)(X)
    with pytest.raises(EngineError, match="while the derivative goes on in which it"):
        pullback(X)
