"""The fast path of reverse mode: arrays of float64 and numbers, at first order.

Each program runs by it alone; the same derivatives are asked for by finite differences,
and by forward mode, which has no fast path.
"""

import math
import re

import numpy as np
import pytest

from rules_autodiff import grad, jvp, vjp
from rules_autodiff.testing import check_program
from rules_core import NoTangent, rrule
from rules_core.testing import isolated_rules

x = np.array([0.3, 0.7, 1.1])
A = np.array([[0.5, 0.2, 0.9], [0.1, 0.8, 0.3], [0.6, 0.4, 0.7]])
s = 0.6
BIG = np.cos(np.arange(400.0 * 400.0)).reshape(400, 400) / 400.0

PROGRAMS = {
    "add": (lambda x, A: A + x, x, A),
    "add a number": (lambda x, s: x + s, x, s),
    "sub": (lambda x, A: x - A, x, A),
    "sub a number": (lambda x, s: (x - s) * (s - x), x, s),
    "mul": (lambda x, A: A * x, x, A),
    "mul by a number": (lambda x, s: (s * x) * (x * s), x, s),
    "div": (lambda x, A: x / A, x, A),
    "div by a number": (lambda x, s: (x / s) + (s / x), x, s),
    "neg": (lambda x, s: -x * -s, x, s),
    "both are broadcast": (lambda x, y: x[:, None] - y / x[:, None], x, 2 * x),
    "broadcast along axes of one": (lambda A, c: A * c + c / A, A, x[:, None] * 2),
    "an array without axes": (lambda x, s: x * np.asarray(s) + np.asarray(s), x, s),
    "mask": (lambda A: (A > 0.45) * A + A * np.array([1, 2, 3]), A),
    "matrix of integers": (lambda x: np.array([[1, 2, 0], [0, 3, 1]]) @ x, x),
    "power": (lambda x, A: x**3 + A**1, x, A),
    "with itself": (lambda x, A: x * x - A * A, x, A),
    "large": (lambda v: (BIG.T @ (BIG @ (BIG * v))) @ (BIG[:2].T * v), x[:1]),
    "large transposed": (lambda v: ((BIG[:3] * v) @ BIG.T)[:, :2], x[:1]),
    "vector vector": (lambda x, y: x @ y, x, 2 * x),
    "matrix vector": (lambda A, x: A @ x, A, x),
    "vector matrix": (lambda x, A: x @ A, x, A),
    "matrix matrix": (lambda A, B: A @ B, A, A[::-1] * 1.5),
    "named": (lambda x, y: np.dot(np.add(x, y), np.multiply(x, y)), x, 2 * x),
    "exp": (lambda x: np.exp(x), x),
    "log": (lambda x: np.log(x), x),
    "sqrt": (lambda x: np.sqrt(x), x),
    "sin": (lambda x: np.sin(x), x),
    "cos": (lambda x: np.cos(x), x),
    "tanh": (lambda x: np.tanh(x), x),
    "square": (lambda x: np.square(x), x),
    "sum": (lambda A: np.sum(A) * A.sum(), A),
    "mean": (lambda A: np.mean(A) * A.mean(), A),
    "largest": (lambda A: np.max(A) * A.max(), A),
    "smallest": (lambda A: np.min(A) * A.min(), A),
    "numbers": (lambda s: np.exp(np.sin(s)) * math.log(math.cos(s)), s),
    "items": (lambda A: A[0, 1] * A[2, 2] + A[0, 1], A),
    "transposed": (lambda A, x: (A.T @ x) * (A @ x), A, x),
    "column": (lambda A, x: A * x[:, None], A, x),
    "flattened": (lambda A: np.ravel(A) * A.reshape(9), A),
    "view of a part": (lambda A, x: A[1:, ::2] * x[1:] + A[:2, :2], A, x[:2] * 2),
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_derivatives_are_right(program):
    check_program(*program)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_a_pullback_is_itself_differentiated(program):
    """The derivative of ⟨pullback(dy), dx⟩ by dy is the pushforward of dx."""
    f, *args = program
    y, pullback = vjp(f, *args)
    dx = tuple(np.cos(np.arange(np.size(a)).reshape(np.shape(a))) for a in args)
    dx = tuple(
        d if isinstance(a, np.ndarray) else float(d)
        for a, d in zip(args, dx, strict=True)
    )

    def paired(dy):
        return sum([np.sum(ct * d) for ct, d in zip(pullback(dy), dx, strict=True)])

    seed = np.ones_like(y) if isinstance(y, np.ndarray) else type(y)(1.0)
    np.testing.assert_allclose(grad(paired)(seed), jvp(f, args, dx)[1], rtol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_views_of_a_whole_array_in_either_order(order):
    def f(A, B):
        return (A.T @ B) * A.reshape(-1)[0] + np.ravel(B.T, "K")[:1] * B

    check_program(f, np.array(A, order=order), np.array(A[::-1], order=order))


@pytest.mark.parametrize(
    ("f", "at"),
    [(np.log, [0.0, 1.0]), (np.sqrt, [0.0, 4.0]), (np.exp, [np.inf, 0.0])],
)
def test_a_zero_cotangent_beats_an_infinite_partial(f, at):
    at = np.array(at)
    with np.errstate(all="ignore"):
        _, pullback = vjp(lambda x: f(x), at)
        (dx,) = pullback(np.array([0.0, 1.0]))
        expected = (f(at + 1e-6) - f(at - 1e-6)) / 2e-6
    np.testing.assert_allclose(dx, [0.0, expected[1]], rtol=1e-6)


def test_an_infinite_partial_is_handed_on():
    with np.errstate(divide="ignore"):
        assert grad(lambda x: np.sum(np.log(x)))(np.array([0.0]))[0] == np.inf
        assert grad(lambda x: np.sqrt(x))(0.0) == np.inf


def test_views_of_results_that_are_gone():
    """A shadow knows where its owner lay, although nobody asked while that lived."""

    def f(x):
        view = (x * 2.0)[::-2]
        return np.sum(view * x[:2]) + (x * 3.0)[1] * view[0]

    check_program(f, x)


def test_constants_of_other_kinds_are_not_taken_for_reals():
    """Complex and single precision constants go the general way."""
    c = np.array([1.0 + 2.0j, 0.5j, 1.0])
    check_program(lambda x: np.abs(x * c) ** 2, x)
    check_program(lambda x: np.float32([1.0, 2.0, 3.0]) * x, x)


def test_equal_entries_share_and_nan_is_the_largest():
    np.testing.assert_array_equal(
        grad(lambda x: np.max(x))(np.array([1.0, 3.0, 3.0])), [0.0, 0.5, 0.5]
    )
    np.testing.assert_array_equal(
        grad(lambda x: np.max(x))(np.array([1.0, np.nan])), [0.0, 1.0]
    )


def test_a_cotangent_that_two_values_hold_is_not_added_to():
    """`y + z` gives both the same cotangent; what is added to one must not reach it."""

    def f(x):
        y, z = x * 1.0, x * 2.0
        w = y + z
        return np.sum(w * w + y * 3.0 + y * 5.0 + y * 7.0)

    check_program(f, x)


def test_a_rule_that_is_added_later_is_used():
    def f(x):
        return np.sum(np.tanh(x))

    before = grad(f)(x)
    np.testing.assert_allclose(before, 1 - np.tanh(x) ** 2)
    with isolated_rules():

        @rrule.define(np.tanh)
        def marked_rrule(x: np.ndarray):
            def marked_pullback(dy):
                return NoTangent(), dy * 100.0

            return np.tanh(x), marked_pullback

        np.testing.assert_array_equal(grad(f)(x), [100.0] * 3)
    np.testing.assert_array_equal(grad(f)(x), before)


def test_the_tape_keeps_only_what_maps_need():
    """Sums of arrays keep none of them: a long chain of sums takes little memory."""
    import tracemalloc

    def f(x):
        y = x
        for _ in range(50):
            y = y + x
        return np.sum(y)

    big = np.ones(100_000)
    grad(f)(big)
    tracemalloc.start()
    grad(f)(big)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * big.nbytes


SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)),
    ((2, 3), (2, 3, 4)), ((3,), (2, 3, 4)), ((2, 4, 3), (3,)), ((2, 4, 3), (3, 5)),
    ((2, 4, 3), (5, 3, 2)), ((0, 3), (3, 2)), ((2, 0), (0,)), ((1, 1), (1, 1, 1)),
]  # fmt: skip
PRODUCTS = {
    "np.dot": lambda a, b: np.dot(a, b),
    ".dot": lambda a, b: a.dot(b),
    "np.matmul": lambda a, b: np.matmul(a, b),
    "@": lambda a, b: a @ b,
    "np.inner": lambda a, b: np.inner(a, np.swapaxes(b, -1, -2) if b.ndim > 1 else b),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("dtypes", [("d", "d"), ("d", "f"), ("d", "l"), ("l", "d")])
@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_products_by_numbers_of_axes(shapes, name, dtypes):
    """`np.dot` and `np.matmul` are one function for matrices only."""
    product = PRODUCTS[name]
    a, b = (
        np.cos(np.arange(np.prod(shape)) * 3.0).reshape(shape).astype(dtype)
        for shape, dtype in zip(shapes, dtypes, strict=True)
    )
    try:
        expected = product(a, b)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            vjp(product, a, b)
        return
    found, pullback = vjp(product, a, b)
    assert type(found) is type(expected)
    np.testing.assert_array_equal(found, expected)
    if dtypes == ("d", "d") and expected.size:
        check_program(product, a, b)
    pullback(np.ones_like(expected) if expected.ndim else expected.dtype.type(1.0))
