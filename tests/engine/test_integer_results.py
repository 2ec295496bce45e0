"""Functions that return an integer on the path taken, or what has no derivative."""

import numpy as np
import pytest

from rules_autodiff import (
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)
from rules_core import NoTangent

X = np.array([0.5, -1.0])
TIERS = ("tape", "auto")
JACOBIANS = (jacrev, jacfwd, jacobian)


def on_a_path(x):
    return 0 if x.sum() < 0 else (x**2).sum()


NUMBERS = {
    "python": lambda x: 0,
    "numpy": lambda x: np.int32(3),
    "path": on_a_path,
    "no items": lambda x: sum(v for v in x if v > 9),
    "steps": lambda x: int(x[0] * 10),
    "array": lambda x: np.array(2),
}
WHOLE = {
    "zeros": lambda x: np.zeros(3, int),
    "steps": lambda x: (x * 10).astype(np.int8),
    "unsigned": lambda x: np.ones((2, 2), np.uint16),
}
NOTHING = {
    "none": lambda x: None,
    "true": lambda x: True,
    "text": lambda x: "0.5",
    "truths": lambda x: x > 0,
    "texts": lambda x: np.array(["a"]),
    "object": lambda x: object(),
}


def thrice(call):
    """The result of a third call, which generated code may compute."""
    return [call() for _ in range(3)][-1]


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", NUMBERS)
def test_an_integer_is_a_constant(name, tier):
    f = NUMBERS[name]
    for x in (X, X.astype(np.float32), np.zeros(0), X[:, None]):
        if x.shape == (2,) or name != "steps":
            derivatives = [grad(f, tier=tier), *(j(f, tier=tier) for j in JACOBIANS)]
            for derivative in derivatives:
                dx = thrice(lambda: derivative(x))  # noqa: B023  called at once
                assert dx.shape == x.shape
                assert dx.dtype == x.dtype
                assert not dx.any()
            assert hessian(f, tier=tier)(x).shape == x.shape * 2
            assert not hvp(f, (x,), (x,), tier=tier).any()
    value, dx = value_and_grad(f, tier=tier)(X)
    assert (value, dx.tolist()) == (f(X), [0.0, 0.0])
    assert vjp(f, X, tier=tier)[1](1.0)[0].tolist() == [0.0, 0.0]
    assert jvp(f, (X,), (X,), tier=tier) == (f(X), 0.0)
    assert linearize(f, X, tier=tier)[1](X) == 0.0


@pytest.mark.parametrize("name", WHOLE)
def test_so_is_an_array_of_integers(name):
    f = WHOLE[name]
    y = f(X)
    for jac in JACOBIANS:
        assert jac(f)(X).tolist() == np.zeros(y.shape + X.shape).tolist()
    assert hessian(f)(X).shape == (*y.shape, 2, 2)
    for dy in (jvp(f, (X,), (X,))[1], linearize(f, X)[1](X)):
        assert dy.tolist() == np.zeros(y.shape).tolist()
        assert dy.dtype == float


@pytest.mark.parametrize("tier", TIERS)
def test_integers_beside_numbers(tier):
    def f(x):
        return {"loss": x @ x, "n": 2, "rest": (np.arange(2), None)}

    for jac in (jacrev, jacfwd):
        found = thrice(lambda: jac(f, tier=tier)(X))  # noqa: B023  called at once
        assert found["loss"].tolist() == [1.0, -2.0]
        assert found["n"].tolist() == [0.0, 0.0]
        assert found["rest"][0].tolist() == [[0.0, 0.0], [0.0, 0.0]]
        assert found["rest"][1] is None
    _, dy = jvp(f, (X,), (X,), tier=tier)
    assert (dy["loss"], dy["n"]) == (2.5, NoTangent())
    both = hessian(lambda x: (3, x @ x), tier=tier)(X)
    assert both[0].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert both[1].tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_several_arguments_and_containers():
    rows = jacrev(lambda x, y: 7, argnums=(0, 1))(X, 2.0)
    assert [row.tolist() for row in rows] == [[0.0, 0.0], 0.0]
    assert jacfwd(lambda p: 7)({"a": X, "n": 3})["a"].tolist() == [0.0, 0.0]
    assert [v.tolist() for v in hessian(lambda p: 1)([2.0])[0]] == [0.0]


@pytest.mark.parametrize("name", NOTHING)
def test_what_has_no_derivative_is_an_error(name):
    f = NOTHING[name]
    for derivative in (grad(f), value_and_grad(f), *(j(f) for j in JACOBIANS)):
        with pytest.raises(TypeError, match="must return"):
            derivative(X)
    with pytest.raises(TypeError, match="must return real numbers"):
        hessian(f)(X)


def test_second_derivatives_on_paths_without_numbers():
    assert hessian(lambda x: x.sum())(np.zeros(0)).shape == (0, 0)
    assert hessian(lambda x: sum(x))(np.zeros(0)).shape == (0, 0)
    assert grad(lambda x: jacrev(on_a_path)(x).sum() + x[0])(X).tolist() == [1.0, 0.0]
