"""What rules keep and give back in written code: memory, other kinds, errors."""

import math

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad
from rules_core import NoTangent, ZeroTangent, rrule
from tests.engine.straight.ruled import X, cube, settled

pytestmark = pytest.mark.usefixtures("alone")


def written_to(x):
    y = keeps(x)
    x[0] = 5.0
    y[1] = 7.0
    return np.sum(y * y) + np.sum(x)


@rc.primitive
def keeps(x):
    return x * x


@pytest.mark.parametrize("at", range(2))
def test_writes_into_what_a_pullback_keeps(at):
    @rrule.define(keeps)
    def keeps_rrule(x):
        y = x * x

        def keeps_pullback(dy):
            return NoTangent(), 2.0 * (x if at else np.sign(x) * np.sqrt(y)) * dy

        return y, keeps_pullback

    def program(x):
        return written_to(1.0 * x)

    found = settled(program, X)
    expected = 4.0 * X**3 + 1.0
    expected[0] -= 1.0
    expected[1] -= 4.0 * X[1] ** 3
    np.testing.assert_allclose(found, expected)


def test_a_result_of_another_kind_at_times():
    @rc.primitive
    def odd(x):
        return x * x if x > 0.0 else np.array([x * x])

    @rrule.define(odd)
    def odd_rrule(x):
        return odd.fun(x), lambda dy: (NoTangent(), 2.0 * x * np.sum(dy))

    def program(x):
        return np.sum(odd(x) * 3.0)

    for x in (1.0, 1.0, 1.0, -2.0, 1.0, -2.0, -2.0):
        assert grad(program)(x) == 6.0 * x


def test_an_infinite_partial_of_what_has_no_part():
    @rc.primitive
    def root(x):
        return math.sqrt(x)

    rc.scalar_rule(root, lambda y, x: (math.inf if y == 0.0 else 0.5 / y,))

    def program(x):
        return root(x) * 0.0 + x

    for _ in range(4):
        assert grad(program)(0.0) == 1.0


def test_zero_tangents():
    @rc.primitive
    def second(x, y):
        return 1.0 * y

    @rrule.define(second)
    def second_rrule(x, y):
        return 1.0 * y, lambda dy: (NoTangent(), ZeroTangent(), dy)

    def program(x):
        return second(x, 3.0 * x) + x

    assert settled(program, 2.0) == 4.0


WRONG = {
    "count": lambda x, dy: (NoTangent(),),
    "no tangent": lambda x, dy: (NoTangent(), NoTangent()),
    "not implemented": lambda x, dy: (NoTangent(), rc.not_implemented("later")),
    "not a tuple": lambda x, dy: [NoTangent(), dy],
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_those_of_the_tape(name):
    function = cube()

    @rrule.define(function)
    def cube_rrule(x):
        return x * x * x, lambda dy: WRONG[name](x, dy)

    def program(x):
        return function(x) + x

    with pytest.raises(rc.RulesCoreError) as by_tape:
        grad(program, tier="tape")(1.3)
    for _ in range(4):
        with pytest.raises(type(by_tape.value)) as caught:
            grad(program)(1.3)
        assert str(caught.value) == str(by_tape.value)


BUFFER = np.empty(3)


def test_a_function_that_fills_a_buffer_at_each_call(tapes):
    @rc.primitive
    def square(x):
        return np.multiply(x, x, out=BUFFER)

    rc.scalar_rule(square, lambda y, x: (2.0 * x,))

    def program(x):
        return np.sum(square(x)) + 2.0 * np.sum(np.sin(x) * square(2.0 * x))

    found = settled(program, X)
    expected = 2.0 * X + 8.0 * (np.cos(X) * X**2 + 2.0 * np.sin(X) * X)
    np.testing.assert_allclose(found, expected)
    tapes.clear()
    grad(program)(X)
    assert tapes == []


def test_a_result_that_is_a_view_of_its_own_memory(tapes):
    @rc.primitive
    def square(x):
        return np.outer(np.ones(2), x * x)[0]

    @rrule.define(square)
    def square_rrule(x):
        return square.fun(x), lambda dy: (NoTangent(), 2.0 * x * dy)

    def program(x):
        return np.sum(square(x) * x)

    np.testing.assert_allclose(settled(program, X), 3.0 * X * X)
    tapes.clear()
    grad(program)(X)
    assert tapes == []


def test_a_result_that_is_an_argument():
    @rc.primitive
    def same(x):
        return x

    rc.scalar_rule(same, lambda y, x: (3.0,))

    def program(x):
        y = 1.0 * x
        z = same(y)
        return np.sum(z * y)

    np.testing.assert_allclose(settled(program, X), 4.0 * X)


# whole numbers whose values are unknown when code is written

DEGREE = 3


def power_with_a_rule():
    @rc.primitive
    def power(x, n):
        return np.array([x, x]) ** n if n == 7 else x**n

    @rrule.define(power)
    def power_rrule(x, n):
        def power_pullback(dy):
            return NoTangent(), np.sum(dy) * n * x ** (n - 1), NoTangent()

        return power.fun(x, n), power_pullback

    return power


POWER = power_with_a_rule()


def by_a_global(x):
    return POWER(x, DEGREE) + x


def by_a_counter(x):
    y = 0.0 * x
    for n in range(1, 5):
        y = y + POWER(x, n)
    return y


def by_a_default(x, n=4):
    return POWER(x, n) * x


def by_the_length(x):
    y = [x, x, 2.0 * x]
    return POWER(x, len(y)) + y[2]


@pytest.mark.parametrize(
    ("program", "slope"),
    [
        (by_a_global, lambda x: 3.0 * x**2 + 1.0),
        (by_a_counter, lambda x: 1.0 + 2.0 * x + 3.0 * x**2 + 4.0 * x**3),
        (by_a_default, lambda x: 5.0 * x**4),
        (by_the_length, lambda x: 3.0 * x**2 + 2.0),
    ],
)
def test_whole_numbers(program, slope, tapes):
    for x in (1.5, 0.5, 2.0):
        assert grad(program)(x) == pytest.approx(slope(x), rel=1e-14)
    tapes.clear()
    assert grad(program)(3.0) == pytest.approx(slope(3.0), rel=1e-14)
    assert not tapes


def test_a_whole_number_that_changes_the_kind(monkeypatch):
    def program(x):
        return np.sum(POWER(x, DEGREE))

    for degree in (3, 3, 3, 7, 3, 7, 2, 7):
        monkeypatch.setattr(f"{__name__}.DEGREE", degree)
        copies = 2.0 if degree == 7 else 1.0
        found = grad(program)(1.5)
        assert found == pytest.approx(copies * degree * 1.5 ** (degree - 1), rel=1e-14)
