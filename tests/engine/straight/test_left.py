"""Forms of calls that nothing is written for: the tape does them."""

import math

import numpy as np
import pytest

from rules_autodiff.straight._runtime.elementwise import Unfollowed
from tests.engine.straight.written import (
    Literal,
    cotangents,
    forward,
    method,
    of,
    operator,
)

L = Literal
X, V = np.ones((3, 4)), np.ones(4)
MASK = V > 0

LEFT = [
    of(np.sum, X, axis=2), of(np.sum, X, axis=(0, 0)), of(np.sum, X, 0),
    of(np.sum, X, where=True), of(np.sum, X, keepdims=1), of(np.sum, 0.5),
    of(np.sum, X, L(0), L(None)), of(np.sum, MASK, axis=0), of(np.sort, X),
    of(np.sort, V, axis=0), of(np.maximum, np.arange(4), 0.5), of(np.fmod, MASK, 0.5),
    of(np.hstack, np.arange(4), 0.5), of(np.append, np.arange(4), 0.5),
    of(np.pad, X, L(1), L("edge")), of(np.pad, X, 1), of(np.pad, X, L((1, 2, 3))),
    of(np.cumprod, X), of(np.searchsorted, X, 1.0), of(np.max, X, initial=2.0),
    of(np.mean, np.arange(3), axis=0), of(np.var, X, ddof=0.5), of(np.std, X, mean=0.0),
    of(np.prod, X, initial=2.0), of(np.cumsum, X, axis=2),
    of(np.cumsum, X, dtype="float"), of(np.linalg.norm, X, L(1)),
    of(np.linalg.norm, X, L("nuc")), of(np.linalg.norm, X, L(2)),
    of(np.linalg.norm, X, keepdims=True), of(np.linalg.norm, X, axis=(0, 1)),
    of(np.trace, V), of(np.exp, MASK), of(np.exp, True), of(np.exp, X, X),
    of(np.exp, X, where=True), of(math.exp, V), of(np.square, MASK), of(np.floor, 2),
    of(np.maximum, MASK, MASK), of(np.where, MASK), of(np.where, True, 0.5, 0.25),
    of(np.where, X, X, X), of(np.where, MASK, MASK, MASK), of(np.clip, MASK, 0, 1),
    of(np.clip, V), of(np.clip, V, np.arange(4), 5.0), of(np.add, X, X, dtype="float"),
    of(np.arctan2, MASK, V), of(max, V), of(max, (0.5, 0.25)), of(max, V, V),
    of(round, V), of(float, V), of(int, V), of(math.floor, V), of(math.hypot),
    of(np.power, 2, -1), of(pow, 2.0, 3, 5), of(math.log, V), of(np.reciprocal, 2),
    operator("add", MASK, MASK), operator("add", True, True), operator("neg", True),
    operator("pow", 2, 3), operator("pow", np.arange(3), 2), operator("pow", MASK, 0.5),
    operator("invert", True), operator("and", 0.5, 0.25), operator("and", MASK, 1),
    operator("add", "a", "b"), operator("add", (1, 2), (3,)), operator("lt", "a", "b"),
    operator("matmul", V, 0.5), operator("matmul", MASK, V),
    operator("matmul", np.arange(4), np.arange(4)), of(np.dot, np.ones((2, 3, 4)), V),
    of(np.inner, np.ones((2, 3, 4)), V), of(np.outer, X, V), of(np.kron, X, V),
    of(np.kron, np.arange(3), V), of(np.einsum, L("ij->j"), X),
    of(np.einsum, L("ii"), X), of(np.einsum, L("ii->i"), X),
    of(np.einsum, L("...i->i"), X), of(np.einsum, L("ij,j"), X, V),
    of(np.einsum, "ij,j->i", X, V), of(np.einsum, L("ij,j->i"), X),
    of(np.einsum, L("ij,j->i"), X, V, optimize=True), of(np.einsum, X, L((0, 1))),
    of(np.linalg.inv, np.ones((2, 3, 3))), of(np.linalg.det, np.ones((2, 3, 3))),
    of(np.linalg.solve, np.ones((2, 3, 3)), X), of(np.linalg.cholesky, X, upper=True),
    method("reshape", X, 2, 6, order="F"), method("reshape", X, 0.5),
    method("reshape", X), method("reshape", X, L(())), of(np.reshape, X, 2, 6),
    of(np.reshape, 0.5, 1), of(np.ravel, X, L("F")), method("flatten", X, L("F")),
    of(np.ravel, 0.5), of(np.transpose, X, (1, 0)), of(np.transpose, X, L((0, 0))),
    of(np.swapaxes, X, 0, 1), method("transpose", X, L((1, 0)), L(0)),
    of(np.swapaxes, X, L(0), L(2)), of(np.moveaxis, X, L((0, 1)), L((1, 0))),
    of(np.expand_dims, X, L((0, 1))), of(np.expand_dims, 0.5, L(0)), of(np.squeeze, X),
    of(np.squeeze, np.ones(1), L(0)), of(np.broadcast_to, X, ()),
    of(np.broadcast_to, X, 4), of(np.broadcast_to, MASK, (2, 4)),
    method("astype", X, L("float32")), method("astype", X, L("int")), of(np.copy, 0.5),
    method("astype", X, L("float"), copy=False), method("item", X, 0),
    of(np.roll, X, (1, 0)), of(np.roll, X, 1, axis=(0, 1)), of(np.roll, MASK, 1),
    of(np.flip, X, 0), of(np.flip, 0.5), of(np.fliplr, V), of(np.diff, X, L(2)),
    of(np.diff, X, prepend=0.0), of(np.diff, np.arange(3)), of(np.repeat, X, 2),
    of(np.repeat, V, np.arange(4)), of(np.tile, X, 2), of(np.tile, V, (2, 2)),
    of(np.diag, np.ones((2, 2, 2))), of(np.diag, X, 1), of(np.diagonal, V),
    of(np.diagonal, X, 0, 1, 0), of(np.triu, V), of(np.triu, X, 1),
    of(np.concatenate, V, 0.5), of(np.concatenate, V, X),
    of(np.concatenate, V, axis=None), of(np.concatenate, V, V, dtype="float"),
    of(np.concatenate, V, (0.5, 0.25)), of(np.concatenate, V, MASK), of(np.concatenate),
    of(np.concatenate, X, axis=2), of(np.stack, V, X),
    of(np.stack, V, V, axis=2), of(np.stack), of(np.vstack, V, 0.5),
    of(np.vstack, np.ones((2, 2, 2))), of(np.hstack, V, X), of(np.hstack, 0.5, 0.25),
    of(np.hstack, V, (0.5, 0.25)), of(np.append, X, 0.5), of(np.append, V, X),
    of(np.append, V, 0.5, axis=0), of(np.append, V, True), of(np.array, 0.5, V),
    of(np.array, (0.5, 0.25), (0.5, 0.25)), of(np.array, True),
    of(np.array, 0.5, dtype="int"), of(np.array, L((0.5,)), 0.5), of(np.array, "a"),
    of(np.zeros, 3, dtype="int"), of(np.zeros, 0.5), of(np.zeros, L(())),
    of(np.zeros, (2, 0.5)), of(np.zeros_like, np.arange(3)), of(np.zeros_like, 0.5),
    of(np.full, 3, V), of(np.full, 3, True), of(np.full_like, np.arange(3), 2),
    of(np.full, 3, 0.5, dtype="int"), of(np.arange, 0.5, V),
    of(np.arange, 3, dtype="int"), of(np.arange), of(np.linspace, V, 1.0),
    of(np.linspace, 0.5, 1.0, 5, False), of(np.linspace, 0.5, 1.0, num=2.5),
    of(np.linspace, 0.5, 1.0, endpoint=False), of(np.eye, 3, dtype="int"), of(np.eye),
    of(np.shape, 0.5), of(np.size, X, 0), of(len, "ab"), of(np.any, X, axis=0),
    of(np.argmax, X, keepdims=True), of(np.argmax, X, 0), of(np.argsort, X, axis=0),
    of(np.isfinite, "a"), of(np.isclose, X, X, equal_nan=True),
    of(np.allclose, X, X, rtol=1.0), of(math.isnan, V), method("clip", V, min=0.5),
    method("dot", V), of(round, 0.5, ndigits="a"),
]  # fmt: skip


@pytest.mark.parametrize("place", range(8))
def test_left_to_the_tape(place):
    for case in LEFT[place::8]:
        assert case.written is None, case.name


COMPLEX = [
    operator("pow", -0.5, 0.5), operator("pow", -2, 0.5), operator("pow", -0.5, L(0.5)),
    of(pow, -0.5, 1.5),
]  # fmt: skip


@pytest.mark.parametrize("case", COMPLEX, ids=["pow", "whole", "literal", "builtin"])
def test_a_complex_power_is_left(case):
    with pytest.raises(Unfollowed, match="complex"):
        forward(case, case.written)


ROW = np.arange(1, 5)
MADE_OF_NUMBERS = [
    of(np.full, 3, 0.5), of(np.array, 0.5, 0.25), of(np.arange, 0.5, 3.0),
    of(np.broadcast_to, 0.5, (2, 3)), of(np.where, MASK, 0.5, 2),
    *[operator(name, ROW, 0.5) for name in ("add", "sub", "mul", "mod", "pow")],
    operator("floordiv", ROW, 0.5),
    operator("mul", 0.5, MASK), of(np.multiply, ROW, 0.5), method("dot", ROW, 0.5),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(MADE_OF_NUMBERS)))
def test_whole_numbers_where_a_float_was_said(place):
    """A number may be whole on one way to where it is used."""
    case = MADE_OF_NUMBERS[place]
    whole = [int(4 * x) if type(x) is float else x for x in case.operands]
    with pytest.raises(Unfollowed, match="whole"):
        forward(type(case)(case.table, case.key, tuple(whole)), case.written)


def test_a_literal_is_what_it_is():
    case = operator("mul", ROW, L(0.5))
    assert case.written.text is None


def test_a_moving_bound_is_left():
    """Whether a derivative passes through is not known where code is written."""
    case = of(np.arange, 0.5, 3.0)
    z = forward(case, case.written)
    np.testing.assert_array_equal(z, np.arange(0.5, 3.0))
    with pytest.raises(Unfollowed, match="arange"):
        cotangents(case, case.written, z, np.ones(3))
