"""Duals: a forward mode whose only derivatives are finite differences and rules."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

import rules_core as rc
from rules_core import NoTangent, frule, rrule
from rules_core.testing import _dual_numbers
from rules_core.testing._dual_numbers import (
    LINEAR,
    QUOTIENTS,
    SUMS,
    Dual,
    LeavesArrayCode,
    tangent_of,
)

X = np.array([[0.5, -1.25], [2.0, 0.75]])
DX = np.array([[1.0, 0.5], [-0.25, 2.0]])


FUNCTIONS = {
    "exp": (np.exp, lambda x, dx: np.exp(x) * dx),
    "namespace": (
        lambda x: rc.array_namespace(x).sin(x),
        lambda x, dx: np.cos(x) * dx,
    ),
    "linalg": (
        lambda x: rc.array_namespace(x).linalg.inv(x),
        lambda x, dx: -np.linalg.inv(x) @ dx @ np.linalg.inv(x),
    ),
    "matmul": (lambda x: x @ x, lambda x, dx: x @ dx + dx @ x),
    "transpose": (lambda x: x.T, lambda x, dx: dx.T),
    "method": (lambda x: x.sum(axis=0), lambda x, dx: dx.sum(axis=0)),
    "index": (lambda x: x[1], lambda x, dx: dx[1]),
    "where": (
        lambda x: np.where(x > 0, x**2, 0.0),
        lambda x, dx: np.where(x > 0, 2 * x * dx, 0.0),
    ),
    "stack": (lambda x: np.stack([x, 2 * x]), lambda x, dx: np.stack([dx, 2 * dx])),
    "reflected": (lambda x: 2.0 / (3.0 + x), lambda x, dx: -2.0 * dx / (3.0 + x) ** 2),
    "numpy scalar": (lambda x: np.float64(3.0) * x, lambda x, dx: 3.0 * dx),
    "iteration": (lambda x: sum(row for row in x), lambda x, dx: dx.sum(axis=0)),
    "complex": (lambda x: abs(x + 1j), lambda x, dx: x * dx / abs(x + 1j)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_array_function_is_differentiated(name):
    f, derivative = FUNCTIONS[name]
    y = f(Dual(X, DX))
    np.testing.assert_allclose(y.primal, f(X))
    np.testing.assert_allclose(y.tangent, derivative(X, DX), rtol=1e-8, atol=1e-10)


A = np.array([[1.5, -0.5], [0.25, 3.0]])
WITHOUT_DIFFERENCES = {
    "__add__": lambda x: x + x * 2,
    "__radd__": lambda x: 1.0 + x,
    "__sub__": lambda x: x - 3.0,
    "__rsub__": lambda x: 3.0 - x,
    "add": lambda x: np.add(x, A),
    "subtract": lambda x: np.subtract(A, x),
    "__truediv__": lambda x: x / A,
    "divide": lambda x: np.divide(x, 3.0),
    "true_divide": lambda x: np.true_divide(x, A),
    "__matmul__": lambda x: x @ A @ x,
    "__rmatmul__": lambda x: A @ x,
    "__mul__": lambda x: x * x,
    "__rmul__": lambda x: 2.0 * x,
    "__neg__": lambda x: -x,
    "__pos__": lambda x: +x,
    "broadcast_to": lambda x: np.broadcast_to(x, (3, 2, 2)),
    "conj": lambda x: (x * 1j).conj(),
    "conjugate": lambda x: np.conjugate(x * (1 + 2j)),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "cumulative_sum": lambda x: np.cumulative_sum(x, axis=0),
    "diagonal": lambda x: x.diagonal(offset=1),
    "dot": lambda x: np.dot(x, x),
    "einsum": lambda x: np.einsum("ij,jk,ki->k", x, A, x),
    "expand_dims": lambda x: np.expand_dims(x, 1),
    "flatten": lambda x: x.flatten(),
    "flip": lambda x: np.flip(x, axis=0),
    "getitem": lambda x: x[:, [1, 1]],
    "imag": lambda x: (x * (2 + 3j)).imag,
    "inner": lambda x: np.inner(x, x),
    "matmul": lambda x: np.matmul(x, x),
    "matrix_transpose": lambda x: np.matrix_transpose(x),
    "mean": lambda x: x.mean(axis=0, keepdims=True),
    "moveaxis": lambda x: np.moveaxis(x, 0, 1),
    "mT": lambda x: x.mT,
    "multiply": lambda x: np.multiply(x, x),
    "negative": lambda x: np.negative(x),
    "outer": lambda x: np.outer(x, x),
    "permute_dims": lambda x: np.permute_dims(x, (1, 0)),
    "positive": lambda x: np.positive(x),
    "ravel": lambda x: np.ravel(x),
    "real": lambda x: (x * (2 + 3j)).real,
    "repeat": lambda x: np.repeat(x, 2, axis=0),
    "reshape": lambda x: np.reshape(x, (4,)),
    "roll": lambda x: np.roll(x, 1),
    "squeeze": lambda x: np.squeeze(x),
    "sum": lambda x: np.sum(x, axis=0),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "T": lambda x: x.T,
    "take": lambda x: np.take(x, [0, 3, 3]),
    "tensordot": lambda x: np.tensordot(x, x, axes=1),
    "tile": lambda x: np.tile(x, 2),
    "trace": lambda x: np.trace(x, offset=1),
    "transpose": lambda x: np.transpose(x),
    "tril": lambda x: np.tril(x, k=-1),
    "triu": lambda x: np.triu(x),
    "vdot": lambda x: np.vdot(x * 1j, x),
    "vecdot": lambda x: np.vecdot(x, x * 2j),
}


@pytest.mark.parametrize("name", sorted(LINEAR | SUMS | QUOTIENTS))
def test_what_is_linear_in_each_argument_needs_no_differences(name, monkeypatch):
    """Against quotients with a step of 1, exact for what is of second degree."""
    f = WITHOUT_DIFFERENCES[name]
    known = (np.asarray(f(X + DX)) - np.asarray(f(X - DX))) / 2
    monkeypatch.setattr(_dual_numbers, "differentiate_along", None)
    np.testing.assert_allclose(f(Dual(X, DX)).tangent, known, rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "derivative"),
    [
        (lambda x: np.sum(x, initial=2.0), np.sum(DX)),
        (lambda x: np.multiply(x, 2.0, dtype=complex), 2.0 * DX),
        (lambda x: 1.0 / x, -DX / X**2),
        (lambda x: x / x, 0.0 * X),
        (lambda x: np.add.reduce(x), np.add.reduce(DX)),
        (lambda x: np.multiply.reduce(x), DX[0] * X[1] + X[0] * DX[1]),
        (lambda x: np.einsum("i,i", x[0], x[1]), DX[0] @ X[1] + X[0] @ DX[1]),
    ],
)
def test_calls_that_are_not_linear_have_their_differences(f, derivative):
    found = f(Dual(X, DX)).tangent
    np.testing.assert_allclose(found, derivative, rtol=1e-9, atol=1e-9)


@given(
    arrays(np.float64, 3, elements=st.floats(0.01, 10)),
    arrays(np.float64, 3, elements=st.floats(-1e6, 1e6)),
)
def test_tangents_are_linear_whatever_their_size(x, dx):
    """Of an `x` much smaller than 1, the sum with 1 would drown what moves."""
    y = Dual(x, dx) * 2.0 + 1.0
    np.testing.assert_allclose(y.tangent, 2.0 * dx, atol=1e-8 * (1 + np.max(abs(dx))))


def test_what_has_no_tangent_is_a_plain_array():
    assert isinstance(Dual(X, DX) > 0, np.ndarray)
    assert isinstance(np.argmax(Dual(X, DX)), np.integer)
    assert Dual(X, DX).shape == (2, 2)
    np.testing.assert_array_equal(tangent_of(np.ones(2)), 0.0)


@pytest.mark.parametrize(
    "leave",
    [
        float,
        complex,
        int,
        np.asarray,
        lambda x: x.tolist(),
        lambda x: np.add(1, x, out=X),
        lambda x: np.add.at(X.copy(), 0, x),
        lambda x: np.copyto(X.copy(), x),
    ],
    ids=["float", "complex", "int", "asarray", "tolist", "out", "at", "copyto"],
)
def test_leaving_array_code_is_an_error(leave):
    with pytest.raises(LeavesArrayCode):
        leave(Dual(np.array(1.0), np.array(1.0)))


def test_writing_is_an_error():
    with pytest.raises(LeavesArrayCode, match="written to"):
        Dual(X, DX)[0] = 1.0


def test_a_stopped_gradient_has_no_tangent():
    assert rc.ignore_derivatives(Dual(X, DX)) is not None
    np.testing.assert_array_equal(tangent_of(rc.ignore_derivatives(Dual(X, DX))), 0.0)


@pytest.mark.parametrize("kind", ["frule", "rrule"])
def test_primitives_use_their_rules(kind):
    @rc.primitive
    def double(x):
        return 2.0 * x

    if kind == "frule":
        frule.define(double)(lambda tangents, x: (2.0 * x, 3.0 * tangents[1]))
    else:
        rrule.define(double)(lambda x: (2.0 * x, lambda dy: (NoTangent(), 3.0 * dy)))
    np.testing.assert_allclose(double(Dual(X, DX)).tangent, 3.0 * DX)


def test_a_generic_primitive_without_rule_is_differentiated_itself():
    @rc.primitive
    def cube(x):
        return x**3

    np.testing.assert_allclose(cube(Dual(X, DX)).tangent, 3 * X**2 * DX, rtol=1e-9)


def test_a_host_primitive_without_rule_is_refused():
    @rc.primitive(host=True)
    def cube(x):
        return np.asarray(x) ** 3

    with pytest.raises(rc.UnsupportedError, match=r"cube.* has no rule"):
        cube(Dual(X, DX))


def test_a_derivative_that_is_not_implemented_stays_so():
    @rc.primitive
    def power(v, x):
        return v * x

    @rrule.define(power)
    def power_rrule(v, x):
        dv = rc.not_implemented("in v")
        return v * x, lambda dy: (NoTangent(), dv, v * dy)

    np.testing.assert_allclose(power(2.0, Dual(X, DX)).tangent, 2.0 * DX)
    with pytest.raises(Exception, match="in v"):
        power(Dual(np.array(2.0), np.array(1.0)), X)
