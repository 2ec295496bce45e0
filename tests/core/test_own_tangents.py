"""Classes of tangents that authors write, and traits that they name."""

from typing import NamedTuple

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, ProjectTo, RuleConfig, Tangent, materialise, rrule


class Stands:
    """A tangent of an author's own class."""

    def __init__(self, value):
        self.value = value

    def __as_tangent__(self):
        return self.value


class Line(NamedTuple):
    slope: float
    points: np.ndarray


A = np.array([1.0, 2.0])
CASES = [
    (1.5, 2.0),
    (1.5, 2.0 + 1j),
    (1j, 2.0),
    (np.ones(2), A),
    (np.ones(2, np.float32), A),
    (np.ones(2), np.ones((3, 2))),
    (np.float64(1.0), 3),
    ((1.0, np.ones(2)), (2.0, A)),
    ([1.0, 2.0], Tangent(list, 3.0, 4.0)),
    ({"w": 1.0}, {"w": 2.0}),
    (Line(1.0, np.ones(2)), Tangent(Line, slope=2.0, points=A)),
    (Line(1.0, np.ones(2)), {"slope": 2.0}),
]


@pytest.mark.parametrize(("x", "dx"), CASES)
def test_it_is_projected_as_what_it_stands_for(x, dx):
    for own in (Stands(dx), Stands(Stands(dx))):
        assert repr(ProjectTo(x)(own)) == repr(ProjectTo(x)(dx))
        assert repr(materialise(x, own)) == repr(materialise(x, dx))
        assert repr(rc.normalise((x,), (own,))) == repr(rc.normalise((x,), (dx,)))


def test_inside_of_containers():
    found = ProjectTo((1.0, np.ones(2)))((Stands(2.0), Stands(A)))
    assert found[0] == 2.0
    assert found[1].tolist() == [1.0, 2.0]


def test_what_does_not_fit_is_refused_as_what_it_stands_for():
    with pytest.raises(rc.ProjectionError, match="shape"):
        ProjectTo(np.ones(2))(Stands(np.ones(3)))
    with pytest.raises(rc.ProjectionError, match="a Plain"):
        ProjectTo(np.ones(2))(type("Plain", (), {})())


class HasSparsity(rc.Trait):
    """What an author's AD system can do."""


class Sparse(RuleConfig, HasSparsity):
    pass


def test_rules_ask_for_traits_of_ones_own():
    def f(x):
        return x

    @rrule.define(f, config=RuleConfig[HasSparsity])
    def f_rrule(config, x):
        return "sparse", lambda dy: (NoTangent(), dy)

    assert rrule(Sparse(), f, 1.0)[0] == "sparse"
    assert rrule(f, 1.0) is None
