"""Python's `max` and `min`: equal numbers share the derivative, whole ones too."""

import pytest

from rules_autodiff import grad, jvp

TIED = {
    "whole last": (lambda x: max(x, 0), 0.0, 0.5),
    "whole first": (lambda x: max(0, x), 0.0, 0.5),
    "least": (lambda x: min(x, 1), 1.0, 0.5),
    "float": (lambda x: max(x, 0.0), 0.0, 0.5),
    "three": (lambda x: max([x, 0, 0.0]) * 1.0, 0.0, 1 / 3),
    "not tied": (lambda x: max(0, x, -1), 2.0, 1.0),
    "not chosen": (lambda x: max(x, 1) * 1.0, 0.5, 0.0),
}


@pytest.mark.parametrize(("f", "x", "expected"), TIED.values(), ids=TIED)
@pytest.mark.parametrize("tier", ["auto", "tape"])
def test_equal_numbers_share_the_derivative(f, x, expected, tier):
    gradient = grad(f, tier=tier)
    for _ in range(3):  # the second call may write code
        assert gradient(x) == pytest.approx(expected)
    assert jvp(f, (x,), (1.0,))[1] == pytest.approx(expected)
