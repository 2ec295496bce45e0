"""Star arguments of functions in written code."""

import numpy as np
import pytest

from rules_autodiff import Const, UnsupportedProgram, grad, vjp
from tests.engine.straight.programs import alone, check_written, same

X = np.array([0.5, -1.0, 2.0])


class Shape:
    def __init__(self, a, b=1.0):
        self.a, self.b = a, b

    def area(self):
        return self.a * self.b


def starred(a, *rest):
    return a * rest[0] + np.sum(rest[1])


def made_of_stars(*args):
    return Shape(*args[:2]).area() * args[2]


@pytest.mark.parametrize("active", [(0,), (1,), (2, 0), (0, 1, 2)])
def test_star_arguments(active):
    args = (2.0, 3.0, X)
    check_written(starred, *args, by=active)
    for f, given in ((alone, (1.0, 2.0, 3.0)), (made_of_stars, (0.5, 2.0, 3.0))):
        check_written(f, *given, by=active)


def test_star_arguments_of_pullbacks():
    for tier in ("tape", "straight"):
        value, pullback = vjp(starred, 2.0, Const(3.0), X, tier=tier)
        assert value == 6.0 + np.sum(X)
        found = pullback(1.0)
        assert found[0] == 3.0
        same(found[2], np.ones(3))
    with pytest.raises(UnsupportedProgram, match="no float"):
        grad(alone, 1, tier="straight")(1.0, 2)
    assert grad(alone, 0)(1.0, 2) == 0.0
