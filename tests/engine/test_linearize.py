"""`linearize`: the function runs once, and its linear map is applied many times."""

import numpy as np
import pytest

from rules_autodiff import grad, hessian, jacfwd, jvp, linearize, vjp
from rules_core import NoTangent, Tangent, backing
from tests.engine.mutations import PROGRAMS

X = np.array([0.3, -1.2, 2.0, 0.7])
ARRAYS = [p for p in PROGRAMS if all(isinstance(a, np.ndarray) for a in p[1])]
IDS = [f"{number}-{f.__name__}" for number, (f, _) in enumerate(ARRAYS)]


def test_the_function_runs_once():
    runs = 0

    def f(x):
        nonlocal runs
        runs += 1
        return np.sin(x) * (x @ x)

    y, f_jvp = linearize(f, X)
    assert runs == 1
    np.testing.assert_allclose(y, np.sin(X) * (X @ X))
    for direction in (X, np.ones(4), np.zeros(4), np.eye(4)[2]):
        found = f_jvp(direction)
        assert runs == 1
        expected = np.cos(X) * direction * (X @ X) + np.sin(X) * 2 * (X @ direction)
        np.testing.assert_allclose(found, expected)


def test_a_random_function_is_linearised_where_it_ran():
    rng = np.random.default_rng(5)
    y, f_jvp = linearize(lambda x: x * rng.normal(), 2.0)
    assert f_jvp(1.0) == f_jvp(1.0) == pytest.approx(y / 2.0)


def test_structures():
    def f(p, c):
        return {"a": p["w"] * c, "n": 3, "b": (p["w"] @ p["w"], [c * c])}

    y, f_jvp = linearize(f, {"w": X, "k": 2}, 1.5)
    assert y["n"] == 3
    given = {"w": np.ones(4), "k": None}, 0.5
    found = f_jvp(*given)
    expected = jvp(f, ({"w": X, "k": 2}, 1.5), given)[1]
    np.testing.assert_allclose(found["a"], expected["a"])
    assert found["n"] == NoTangent()
    assert found["b"][0] == pytest.approx(expected["b"][0])
    assert found["b"][1] == pytest.approx(expected["b"][1])


class Model:
    def __init__(self, w):
        self.w = w


def test_objects():
    y, f_jvp = linearize(lambda m: Model(m.w * m.w), Model(3.0))
    assert y.w == 9.0
    found = f_jvp(Tangent(Model, w=2.0))
    assert backing(found)["w"] == 12.0


def test_complex():
    _, f_jvp = linearize(lambda z: z * z, 3.0 + 1.0j)
    assert f_jvp(1j) == pytest.approx((6 + 2j) * 1j)


def test_aux_and_errors():
    y, f_jvp, aux = linearize(lambda x: (x * x, ["aux", x]), 3.0, has_aux=True)
    assert (y, f_jvp(1.0), aux) == (9.0, 6.0, ["aux", 3.0])
    with pytest.raises(TypeError, match="one tangent for each"):
        f_jvp(1.0, 2.0)
    with pytest.raises(TypeError, match="must be a pair"):
        linearize(lambda x: x, 3.0, has_aux=True)
    y, f_jvp = linearize(lambda x: 5, 2.0)
    assert (y, f_jvp(1.0)) == (5, 0.0)


def test_nested_in_other_derivatives():
    def second(x):
        return linearize(lambda v: v**3, x)[1](1.0)

    assert grad(second)(2.0) == pytest.approx(12.0)
    assert jvp(second, (2.0,), (1.0,))[1] == pytest.approx(12.0)
    _, f_jvp = linearize(grad(lambda x: x**3), 2.0)
    assert f_jvp(1.0) == pytest.approx(12.0)
    assert grad(lambda d: f_jvp(d) * d)(3.0) == pytest.approx(72.0)
    np.testing.assert_allclose(
        jacfwd(lambda x: linearize(lambda v: (v * v) @ v, x)[1](X))(X),
        hessian(lambda v: (v * v) @ v)(X) @ X,
    )


@pytest.mark.parametrize(("f", "args"), ARRAYS, ids=IDS)
def test_programs_that_write(f, args):
    """As forward mode; the arguments are as they were, again and again."""
    rng = np.random.default_rng(3)
    before = [a.copy() for a in args]
    directions = [rng.standard_normal(a.shape).astype(a.dtype) for a in args]
    copies = tuple(a.copy() for a in args)
    y, f_jvp = linearize(f, *copies)
    expected_y, expected = jvp(f, tuple(a.copy() for a in args), tuple(directions))
    np.testing.assert_allclose(y, expected_y)
    for _ in range(2):
        np.testing.assert_allclose(f_jvp(*directions), expected)
        for a, old in zip(copies, before, strict=True):
            np.testing.assert_array_equal(a, old)


def test_agrees_with_the_pullback():
    def f(x):
        x[1:] *= x[:-1]
        return np.exp(x[::2]), x

    _, f_jvp = linearize(f, X.copy())
    (_, tail), pullback = vjp(f, X.copy())
    push = f_jvp(np.ones(4))
    (pull,) = pullback((np.ones(2), np.ones(4)))
    assert push[0].sum() + push[1].sum() == pytest.approx(pull.sum())
    assert tail.shape == (4,)
