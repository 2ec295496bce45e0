"""The front door: JAX's names, argument order, structures and errors."""

import dataclasses

import numpy as np
import pytest

from rules_autodiff import (
    Const,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)
from rules_core import NoTangent, Tangent, ignore_derivatives

X = np.array([0.5, -1.0, 2.0])


def cubic(x):
    return (x * x) @ x


def pair(x, y):
    return x * y, {"sum": x + y, "count": 3}


def test_grad_keeps_class_and_dtype():
    assert type(grad(lambda x: x * x)(3.0)) is float
    assert grad(cubic)(X.astype(np.float32)).dtype == np.float32
    assert type(grad(lambda x: x * x)(np.float32(3.0))) is np.float32
    assert grad(lambda x: x * x)(np.array(3.0)).shape == ()


def test_grad_of_several_arguments():
    def f(x, y, z):
        return x * y * y + z

    assert grad(f, 1)(2.0, 3.0, 4.0) == 12.0
    assert grad(f, (0, -1))(2.0, 3.0, 4.0) == (9.0, 1.0)
    assert grad(f, argnums=(1,))(2.0, 3.0, z=4.0) == (12.0,)
    assert grad(f)(2.0, y=3.0, z=4) == 9.0


def test_value_and_grad_with_aux():
    def f(x):
        return x * x, {"x": x, "items": [x]}

    assert value_and_grad(f, has_aux=True)(3.0) == (
        (9.0, {"x": 3.0, "items": [3.0]}),
        6.0,
    )
    assert grad(f, has_aux=True)(3.0) == (6.0, {"x": 3.0, "items": [3.0]})


def test_pytrees():
    def f(p):
        return p["w"] @ p["w"] * p["b"][0] + p["b"][1][0]

    found = grad(f)({"w": X, "b": [2.0, (3.0, 4)], "name": "model"})
    np.testing.assert_array_equal(found["w"], 4 * X)
    assert found["b"] == [X @ X, (1.0, NoTangent())]
    assert found["name"] == NoTangent()


def test_objects_have_tangents():
    @dataclasses.dataclass(frozen=True)
    class Params:
        w: float
        n: int

    found = grad(lambda p: p.w * p.w * p.n)(Params(2.0, 3))
    assert isinstance(found, Tangent)
    assert (found.w, found.n) == (12.0, NoTangent())


def test_shared_instances_have_one_tangent():
    class Layer:
        def __init__(self, w):
            self.w = w

    class Model:
        def __init__(self, w):
            self.first = self.second = Layer(w)
            self.me = self

    def f(m):
        return m.first.w * m.me.second.w * 3

    found = grad(f)(Model(2.0))
    assert found.first is found.second
    assert found.me is found
    assert found.first.w == 12.0
    layer = Layer(2.0)
    one, other = grad(lambda a, b: a.w * b.w, (0, 1))(layer, layer)
    assert one is other
    assert one.w == 4.0


def test_arguments_are_variables_of_their_own():
    """Equal numbers, shared objects and captured arrays are not the argument."""
    c = 1.5
    assert grad(lambda x: x * c)(c) == 1.5
    assert grad(lambda x, y: x * y, (0, 1))(c, c) == (1.5, 1.5)
    assert grad(lambda p: p[0] * p[1] * 2)([c, c]) == [3.0, 3.0]
    np.testing.assert_array_equal(grad(lambda x: x @ X)(X), X)
    np.testing.assert_array_equal(grad(lambda x, y: x @ y, (0, 1))(X, X), (X, X))
    np.testing.assert_array_equal(grad(lambda p: p[0] @ p[1])([X, X]), [X, X])


def test_unused_and_constant():
    assert grad(lambda x, y: y)(1.0, 2.0) == 0.0
    np.testing.assert_array_equal(grad(lambda x: 2.0)(X), np.zeros(3))
    assert grad(lambda x: 1)(1.0) == 0.0


@pytest.mark.parametrize("tier", ["tape", "auto"])
@pytest.mark.parametrize(
    "f",
    [lambda x: True, lambda x: x > 1, np.isfinite, lambda x: None, lambda x: "a"],
    ids=["constant", "comparison", "numpy", "none", "text"],
)
def test_what_is_no_number_has_no_gradient(f, tier):
    for x in (2.0, np.float64(2.0)):
        with pytest.raises(TypeError, match="one real number, but returned"):
            grad(f, tier=tier)(x)


def test_vjp_and_jvp():
    (product, rest), pullback = vjp(pair, 2.0, 3.0)
    assert (product, rest) == (6.0, {"sum": 5.0, "count": 3})
    assert pullback((1.0, {"sum": 10.0, "count": None})) == (13.0, 12.0)
    assert pullback((1.0, {"sum": 0.0, "count": None})) == (3.0, 2.0)
    y, dy = jvp(pair, (2.0, 3.0), (1.0, 0.5))
    assert y == (6.0, {"sum": 5.0, "count": 3})
    assert dy == (4.0, {"sum": 1.5, "count": NoTangent()})
    assert jvp(pair, (2.0, 3.0), (1.0, None))[1][0] == 3.0
    y, pullback, aux = vjp(lambda x: (x * x, "aux"), 3.0, has_aux=True)
    assert (y, pullback(1.0), aux) == (9.0, (6.0,), "aux")
    assert jvp(lambda x: (x * x, "aux"), (3.0,), (1.0,), has_aux=True) == (
        9.0,
        6.0,
        "aux",
    )


def test_const():
    assert grad(lambda x, y: x * y)(2.0, Const(3.0)) == 3.0
    assert vjp(lambda x, y: x * y, Const(2.0), 3.0)[1](1.0) == (NoTangent(), 2.0)
    assert jvp(lambda x, y: x * y, (2.0, Const(3.0)), (1.0, 5.0)) == (6.0, 3.0)


def test_linearize():
    y, push = linearize(pair, 2.0, 3.0)
    assert y[0] == 6.0
    assert push(1.0, 0.0)[0] == 3.0
    assert push(0.0, 1.0)[0] == 2.0


def test_jacobians_of_structures():
    def f(x, c):
        return {"a": x * c, "b": (x @ x,)}

    for jac in (jacfwd, jacrev, jacobian):
        found = jac(f, (0, 1))(X, 2.0)
        np.testing.assert_array_equal(found["a"][0], 2 * np.eye(3))
        np.testing.assert_array_equal(found["a"][1], X)
        np.testing.assert_array_equal(found["b"][0][0], 2 * X)
        assert found["b"][0][1] == 0.0
        assert jac(lambda x: x**3)(2.0).shape == ()


def test_jacfwd_runs_the_program_once():
    runs = 0

    def f(x):
        nonlocal runs
        runs += 1
        return x * x

    np.testing.assert_array_equal(jacfwd(f)(X), np.diag(2 * X))
    assert runs == 1


def test_jacobians_with_aux():
    def f(x, c):
        y = x * x * c
        return y, {"y": y, "c": c}

    for jac in (jacfwd, jacrev, jacobian):
        found, aux = jac(f, has_aux=True)(X, 2.0)
        np.testing.assert_array_equal(found, np.diag(4 * X))
        np.testing.assert_array_equal(aux["y"], 2 * X * X)
        (by_x, by_c), aux = jac(f, (0, 1), has_aux=True)(X, 2.0)
        np.testing.assert_array_equal(by_x, np.diag(4 * X))
        np.testing.assert_array_equal(by_c, X * X)
        assert aux["c"] == 2.0
    found, aux = hessian(lambda x: ((x * x) @ x, "aux"), has_aux=True)(X)
    np.testing.assert_allclose(found, np.diag(6 * X))
    assert aux == "aux"
    with pytest.raises(TypeError, match="must be a pair"):
        jacrev(lambda x: x, has_aux=True)(X)


FIXED = {
    "integer": (2, None),
    "NoTangent": (2, NoTangent()),
    "zero": (2, 0),
    "Const": (Const(2), None),
    "Const of a float": (Const(2.0), None),
    "NumPy's": (np.int64(2), None),
    "array": (np.array([2, 2, 2]), None),
    "array of zeros": (np.array([2, 2, 2]), np.zeros(3)),
}


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("place", [0, 1])
def test_hvp_beside_constants(name, place):
    """As `jvp`, `linearize` and `hessian` have them."""
    n, dn = FIXED[name]

    def f(*args):
        return np.sum(args[1 - place] ** args[place] * args[1 - place])

    primals, tangents = [X, X], [np.ones(3), np.ones(3)]
    primals[place], tangents[place] = n, dn
    found = hvp(f, tuple(primals), tuple(tangents))
    np.testing.assert_allclose(found[1 - place], 6 * X)
    assert found[place] == NoTangent()


def test_hvp_of_constants_alone():
    with pytest.raises(TypeError, match="all are constants"):
        hvp(lambda n: n, (2,), (None,))


def test_hessian_and_hvp():
    expected = np.diag(6 * X)
    np.testing.assert_allclose(hessian(cubic)(X), expected)
    np.testing.assert_allclose(hvp(cubic, (X,), (np.ones(3),)), 6 * X)
    np.testing.assert_allclose(jacrev(jacfwd(cubic))(X), expected)
    found = hvp(lambda x, y: x * x * y, (2.0, 3.0), (1.0, 0.5))
    assert found == (6.0 + 2.0, 4.0)


def test_third_derivatives_in_every_nesting():
    def f(x):
        return x**4

    for first in (grad, jacfwd, jacrev):
        for second in (grad, jacfwd, jacrev):
            for third in (grad, jacfwd, jacrev):
                assert third(second(first(f)))(2.0) == pytest.approx(48.0)


def test_perturbations_are_not_confused():
    def f(x):
        return x * grad(lambda y: x + y)(1.0)

    assert grad(f)(1.0) == 1.0
    assert jvp(f, (1.0,), (1.0,)) == (1.0, 1.0)
    inner = lambda x: jvp(lambda y: x * y, (3.0,), (1.0,))[1] * x
    assert grad(inner)(2.0) == 4.0


def test_pullback_inside_a_program():
    def f(x):
        y, pullback = vjp(lambda v: v * v * v, x)
        return y + pullback(x)[0]

    assert grad(f)(2.0) == pytest.approx(12.0 + 36.0)
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(48.0)


def test_pullback_of_outside_called_inside():
    _, pullback = vjp(lambda v: v * v, 3.0)
    assert grad(lambda d: pullback(d)[0] * d)(2.0) == pytest.approx(24.0)


def test_constants():
    assert grad(lambda x: x * stop_gradient(x))(3.0) == 3.0
    assert grad(lambda x: x * ignore_derivatives(x))(3.0) == 3.0
    assert grad(lambda x: x * ignore_derivatives(lambda: x * x))(3.0) == 9.0
    assert jvp(lambda x: stop_gradient([x])[0] * x, (3.0,), (1.0,)) == (9.0, 3.0)
    np.testing.assert_array_equal(grad(lambda x: stop_gradient(x) @ x)(X), X)


def test_mutated_arguments():
    def f(x, items):
        x[0] = x[1] * items[0]
        items.append(x[0])
        return x @ x

    x, items = X.copy(), [2.0]
    grad(f, (0, 1))(x, items)
    np.testing.assert_array_equal(x, X)
    assert items == [2.0]
    _, pullback = vjp(f, x, items)
    assert (x[0], items) == (-2.0, [2.0, -2.0])
    first = pullback(1.0)
    assert (x[0], items) == (0.5, [2.0])
    second = pullback(1.0)
    np.testing.assert_array_equal(first[0], second[0])
    assert first[1] == second[1]
    jvp(f, (x, items), (X, None))
    assert (x[0], items) == (-2.0, [2.0, -2.0])


def test_returned_arrays_are_not_undone():
    def f(x):
        x *= 2.0
        return x[0], [x, x[1:]]

    x = X.copy()
    (_, (whole, part)), _ = value_and_grad(f, has_aux=True)(x)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(whole, 2 * X)
    np.testing.assert_array_equal(part, 2 * X[1:])


def test_pullbacks_in_any_order():
    def f(x):
        x *= x
        return x @ x

    one, two = X.copy(), 2 * X
    _, first = vjp(f, one)
    _, second = vjp(f, two)
    for _ in range(2):
        np.testing.assert_allclose(first(1.0)[0], 4 * X**3)
        np.testing.assert_allclose(second(1.0)[0], 32 * X**3)
    np.testing.assert_array_equal(one, X)
    np.testing.assert_array_equal(two, 2 * X)


def test_complex():
    """The convention of ChainRules: conj(f') dy."""
    _, pullback = vjp(lambda z: z * z, 3.0 + 1.0j)
    assert pullback(1.0 + 0j) == (6.0 - 2.0j,)
    assert jvp(lambda z: z * z, (3 + 1j,), (1j,))[1] == (6 + 2j) * 1j
    assert grad(abs)(3.0 + 4.0j) == pytest.approx(0.6 + 0.8j)
    _, pullback = vjp(lambda x: 1j * x, 2.0)
    assert pullback(1j) == (1.0,)
    assert pullback(1.0) == (0.0,)
    assert type(pullback(1j)[0]) is float


@pytest.mark.parametrize(
    ("x", "p", "expected"),
    [
        (1.0, 2.0, (2.0, 0.0)),
        (2.0, 2.0, (4.0, 2.772588722239781)),
        (0.0, 2.0, (0.0, 0.0)),
        (0.0, 1.0, (1.0, 0.0)),
        (0.0, 3.5, (0.0, 0.0)),
    ],
)
def test_power(x, p, expected):
    """The cases with known answers."""
    assert grad(lambda x, p: x**p, (0, 1))(x, p) == pytest.approx(expected)
    for order in ((1.0, 0.0), (0.0, 1.0)):
        found = jvp(lambda x, p: x**p, (x, p), order)[1]
        assert found == pytest.approx(expected[order.index(1.0)])


def test_kinks():
    assert grad(abs)(0.0) == 0.0
    assert grad(lambda x: max(x, x * 1.0))(2.0) == pytest.approx(1.0)
    assert grad(max, (0, 1))(2.0, 2.0) == (0.5, 0.5)
    assert grad(min, (0, 1, 2))(1.0, 1.0, 2.0) == (0.5, 0.5, 0)


REFUSED = [
    (lambda: grad(lambda x: x)(3), "must be real or complex"),
    (lambda: grad(lambda x: x)("a"), "must be real or complex"),
    (lambda: grad(lambda x: x)(np.arange(3)), "must be real or complex"),
    (lambda: grad(lambda x: x * 2)(X), "must return one real number"),
    (lambda: grad(lambda x: x * 1j)(1.0), "must return one real number"),
    (lambda: grad(lambda x: [x])(1.0), "must return one real number"),
    (lambda: grad(lambda x: x, has_aux=True)(1.0), "must be a pair"),
    (lambda: jvp(lambda x: x, (1.0,), ()), "one tangent for each"),
    (lambda: jacfwd(lambda x: x)(1j), "must be real"),
    (lambda: jacrev(lambda x: x * 1j)(1.0), "must be real"),
    (lambda: grad(X[0]), "grad: the first argument must be a function, but got"),
    (lambda: vjp(3.0, 1.0), "vjp: the first argument must be a function"),
    (lambda: jvp(3.0, (1.0,), (1.0,)), "jvp: the first argument must be a function"),
    (lambda: linearize(X, 1.0), "linearize: the first argument must be a function"),
    (lambda: hvp(None, (1.0,), (1.0,)), "hvp: the first argument must be a function"),
]


@pytest.mark.parametrize(("call", "text"), REFUSED, ids=range(len(REFUSED)))
def test_type_errors(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_argnums_out_of_range():
    with pytest.raises(ValueError, match="argnums must name positional arguments"):
        grad(lambda x: x, 1)(1.0)
    with pytest.raises(ValueError, match=r"Values go to grad\(f\)\(x\)"):
        grad(lambda x: x, X)(1.0)


def test_derived_functions_are_named():
    assert repr(grad(cubic)) == "grad(cubic)"
    assert grad(cubic).__name__ == "cubic"
    assert grad(cubic).__doc__ == cubic.__doc__


def test_second_derivatives_of_vector_programs_that_write():
    """Each row of the inner Jacobian writes the program's effects again."""

    def f(x):
        x[1:] = x[:-1] * x[1:]
        x *= x[0]
        return x

    def plain(x):
        y = x * 1.0
        return f(y)

    for jac in (jacfwd, jacrev):
        for other in (jacfwd, jacrev):
            found = jac(other(f))(X)
            step = 1e-6
            for i, e in enumerate(np.eye(3)):
                slope = (
                    jacfwd(plain)(X + step * e) - jacfwd(plain)(X - step * e)
                ) / 2e-6
                np.testing.assert_allclose(found[..., i], slope, atol=1e-7)
    np.testing.assert_array_equal(X, [0.5, -1.0, 2.0])
