"""A tangent of another shape than its result is an error that names the rule."""

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, hessian, jacfwd, jacrev, jvp, linearize
from rules_core import NoTangent, ProjectionError, thunk

X = np.array([1.0, 2.0])

WRONG = {
    "summed": lambda dx: np.stack([dx, dx, dx]),
    "reduced": lambda dx: dx.sum(),
    "a number": lambda dx: 1.0,
    "cut": lambda dx: dx[:1],
    "longer": lambda dx: np.concatenate([dx, dx]),
}
FITTING = {
    "as it is": lambda dx: dx,
    "a column": lambda dx: dx[:, None],
    "a row": lambda dx: dx[None],
}
RESULTS = {
    "array": (lambda y: y, lambda y: y, lambda dy: dy),
    "tuple": (lambda y: (y, 3), lambda y: y[0], lambda dy: (dy, NoTangent())),
    "dict": (lambda y: {"a": [y]}, lambda y: y["a"][0], lambda dy: {"a": [dy]}),
    "thunk": (lambda y: y, lambda y: y, lambda dy: thunk(lambda: dy)),
    "thunk inside": (
        lambda y: [y],
        lambda y: y[0],
        lambda dy: rc.Tangent(list, thunk(lambda: dy)),
    ),
}


def double(kind, bend):
    """The double of an array, in a container, with a tangent that is bent."""
    wrap, take, wrap_tangent = RESULTS[kind]

    @rc.primitive
    def double(x):
        return wrap(2 * x)

    @rc.frule.define(double)
    def double_frule(tangents, x):
        return wrap(2 * x), wrap_tangent(bend(2 * tangents[1]))

    def f(x):
        return take(double(x)) * 1.0

    return f


@pytest.mark.parametrize("kind", RESULTS)
@pytest.mark.parametrize("name", WRONG)
def test_in_forward_mode(name, kind):
    f = double(kind, WRONG[name])
    for run in (lambda: jvp(f, (X,), (X,)), lambda: jacfwd(f)(X)):
        with pytest.raises(ProjectionError, match=r"frule \S*double_frule"):
            run()


@pytest.mark.parametrize("kind", RESULTS)
@pytest.mark.parametrize("name", WRONG)
def test_in_reverse_mode_by_transposing_the_frule(name, kind):
    f = double(kind, WRONG[name])

    def total(x):
        return f(x).sum()

    with pytest.raises(ProjectionError, match=r"frule \S*double_frule"):
        grad(total)(X)


@pytest.mark.parametrize("kind", RESULTS)
@pytest.mark.parametrize("name", FITTING)
def test_axes_of_length_one_may_differ(name, kind):
    f = double(kind, FITTING[name])

    def total(x):
        return f(x).sum()

    assert np.array_equal(jvp(f, (X,), (X,))[1], 2 * X)
    if kind != "thunk inside":  # which a transposed frule cannot have
        assert np.array_equal(grad(total)(X), [2.0, 2.0])


SECOND = {
    "linearize": lambda f: linearize(f, X)[1](X),
    "hessian": lambda f: hessian(lambda x: np.sum(f(x) ** 2))(X),
    "reverse over reverse": lambda f: jacrev(grad(lambda x: np.sum(f(x) ** 2)))(X),
    "reverse over forward": lambda f: jacrev(lambda x: jvp(f, (x,), (x,))[1])(X),
}


@pytest.mark.parametrize("way", SECOND)
@pytest.mark.parametrize("name", FITTING)
def test_axes_of_length_one_may_differ_in_derivatives_of_derivatives(name, way):
    expected = SECOND[way](lambda x: 2 * x)
    np.testing.assert_array_equal(SECOND[way](double("array", FITTING[name])), expected)

    @rc.primitive
    def twice(x):
        return 2 * x

    rc.rrule.define(twice)(
        lambda x: (2 * x, lambda dy: (NoTangent(), FITTING[name](2 * dy)))
    )
    np.testing.assert_array_equal(SECOND[way](twice), expected)


@pytest.mark.parametrize("way", SECOND)
@pytest.mark.parametrize("name", WRONG)
def test_other_shapes_are_errors_in_derivatives_of_derivatives(name, way):
    with pytest.raises((ProjectionError, ValueError)):
        SECOND[way](double("array", WRONG[name]))


def test_the_whole_text():
    with pytest.raises(ProjectionError) as info:
        jvp(double("array", WRONG["longer"]), (X,), (X,))
    assert str(info.value) == (
        "the tangent of the result, asked of the frule double.<locals>.double_frule "
        f"({__file__}:{line_of_the_rule()}), must have shape (2,), but got shape (4,). "
        "A tangent is neither summed nor broadcast; return one like the result."
    )


def line_of_the_rule():
    with open(__file__) as file:
        lines = file.read().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if "frule.define(double)" in line)
