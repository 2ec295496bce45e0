"""What a rule is given twice has a cotangent in each place, and the sum counts."""

import pytest

from rules_autodiff import derive_rrule, grad, jvp
from tests.engine.applied import applied, rules_of_applied
from tests.engine.modes import pushed

MODES = pytest.mark.parametrize("mode", [grad, pushed], ids=["reverse", "forward"])


@pytest.fixture(autouse=True)
def _applied():
    with rules_of_applied():
        yield


class Box:
    def __init__(self, value):
        self.value = value


def twice_captured(x):
    held = [x * 1.0]

    def inner(v):
        return held[0] * v

    def f(v):
        return inner(v) * held[0]

    return applied(f, x)


def variable_of_two(x):
    factor = x * 1.0

    def inner(v):
        return factor * v

    return applied(lambda v: inner(v) * inner(factor) / v, x)


def in_a_list(x):
    held = [x]
    return applied(lambda pair: pair[0][0] * pair[1][0] * x, [held, held])


def in_a_tuple(x):
    held = (x,)
    return applied(lambda pair: pair[0][0] * pair[1][0] * x, (held, held))


def in_a_dict(x):
    held = {"a": x}
    pair = {"l": held, "r": held}
    return applied(lambda p: p["l"]["a"] * p["r"]["a"] * x, pair)


def in_objects(x):
    held = Box(x)
    return applied(lambda pair: pair[0].value * pair[1].value * x, [held, held])


@pytest.mark.covering(every=3)
@MODES
@pytest.mark.parametrize(
    "program",
    [twice_captured, variable_of_two, in_a_list, in_a_tuple, in_a_dict, in_objects],
)
def test_what_stands_in_two_places(program, mode):
    """Each is `x³`."""
    assert program(2.0) == 8.0
    assert mode(program)(2.0) == pytest.approx(12.0)
    assert mode(grad(program))(2.0) == pytest.approx(12.0)
    assert grad(mode(grad(program)))(2.0) == pytest.approx(6.0)


def test_functions_that_share_a_variable_share_it_in_a_derived_rule():
    def pair(x):
        total = x

        def square(v):
            nonlocal total
            total = v * v

        def f(v):
            square(v)
            return total * v

        return f

    assert pair(5.0)(2.0) == 8.0
    y, pullback = derive_rrule(pair(5.0))(2.0)
    assert (y, pullback(1.0)[1]) == (8.0, 12.0)
    assert jvp(lambda x: pair(x)(x), (2.0,), (1.0,)) == (8.0, 12.0)
