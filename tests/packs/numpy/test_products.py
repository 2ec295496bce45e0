"""Products of vectors, matrices and tensors; einsum."""

from __future__ import annotations

from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import rules_core as rc

RNG = [np.random.default_rng(5)]


@pytest.fixture(autouse=True)
def seeded():
    """Every test draws the same numbers, whatever runs before it."""
    RNG[0] = np.random.default_rng(5)


def real(*shape):
    return RNG[0].normal(size=shape)


def complex_(*shape):
    return RNG[0].normal(size=shape) + 1j * RNG[0].normal(size=shape)


MATMUL_SHAPES = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (2, 3, 4)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (3,)),
]


@pytest.mark.parametrize(("left", "right"), MATMUL_SHAPES)
def test_matmul(check, left, right):
    check(np.matmul, real(*left), real(*right))
    check(np.matmul, complex_(*left), real(*right))


@pytest.mark.parametrize(
    ("left", "right"),
    [((), (3,)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (4, 3, 2)), ((2, 3), (4, 3, 2))],
)
def test_dot(check, left, right):
    check(np.dot, real(*left), complex_(*right))


@pytest.mark.parametrize(
    ("left", "right"), [((2,), ()), ((3,), (3,)), ((2, 3), (4, 5, 3))]
)
def test_inner(check, left, right):
    check(np.inner, complex_(*left), complex_(*right))


PRODUCTS = [
    (np.outer, (3,), (2, 2)),
    (np.linalg.outer, (3,), (4,)),
    (np.vdot, (2, 3), (6,)),
    (np.vecdot, (2, 3), (3,)),
    (np.vecdot, (4, 1, 3), (2, 3)),
    (np.linalg.vecdot, (2, 3), (2, 3)),
    (np.matvec, (2, 3), (3,)),
    (np.matvec, (4, 2, 3), (4, 3)),
    (np.vecmat, (3,), (3, 2)),
    (np.vecmat, (4, 3), (3, 2)),
    (np.kron, (2,), (3,)),
    (np.kron, (2, 2), (3, 1)),
    (np.kron, (2,), (2, 3)),
    (np.cross, (3,), (4, 3)),
    (np.cross, (4, 3), (4, 3)),
    (np.linalg.cross, (4, 3), (4, 3)),
    (np.linalg.matmul, (2, 3), (3, 2)),
    (np.linalg.tensordot, (2, 3, 4), (3, 4)),
]


@pytest.mark.parametrize(("f", "left", "right"), PRODUCTS)
@pytest.mark.covering(each=itemgetter("f"))
def test_products(check, f, left, right):
    check(f, real(*left), real(*right))
    check(f, complex_(*left), complex_(*right))


@pytest.mark.parametrize(
    ("left", "right", "axes"),
    [
        ((2,), (3, 1), 0),
        ((2, 3), (3, 2), 1),
        ((2, 3), (3, 2, 4), ((1, 0), (0, 1))),
        ((2, 3), (3, 2), (-1, 0)),
        ((2, 3, 4), (4, 5, 2), ([0, 2], [2, 0])),
        ((3, 2), (4, 2), (1, 1)),
    ],
)
def test_tensordot(check, left, right, axes):
    check(np.tensordot, complex_(*left), complex_(*right), axes)


def test_cross_axes(check):
    check(np.cross, real(3, 4), real(4, 3), 0, 1, 0)
    check(np.cross, real(3, 4), real(3, 4), axis=0)


def test_vecdot_axis(check):
    check(np.vecdot, complex_(3, 4), complex_(3, 4), axis=0)
    check(np.linalg.vecdot, complex_(3, 4), complex_(3, 4), axis=-2)


def test_cross_of_plane_vectors_is_refused():
    with (
        pytest.raises(rc.UnsupportedError, match="three entries"),
        pytest.warns(DeprecationWarning, match="2-dimensional"),
    ):
        rc.rrule(np.cross, real(2), real(2))


@pytest.mark.parametrize(
    "shapes",
    [
        [(2, 3), (3, 4), (4, 2)],
        [(3,), (3, 4), (4,)],
        [(2, 3), (3, 4), (4, 3), (3,)],
        [(2, 3), (3, 2)],
    ],
)
def test_multi_dot(check, shapes):
    check(np.linalg.multi_dot, [complex_(*s) for s in shapes])
    check(np.linalg.multi_dot, tuple(real(*s) for s in shapes))


@pytest.mark.parametrize("n", [0, 1, 2, 5, -1, -2])
def test_matrix_power(check, n):
    check(np.linalg.matrix_power, real(3, 3) + 3 * np.eye(3), n)
    check(np.linalg.matrix_power, complex_(2, 3, 3) + 3 * np.eye(3), n)


def test_trace_and_diagonal(check):
    check(np.trace, real(3, 4), 1)
    check(np.trace, complex_(3, 2, 4), -1, 2, 0)
    check(np.linalg.trace, real(2, 3, 4), offset=1)
    check(np.linalg.diagonal, complex_(2, 3, 4), offset=-1)


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ii->i", [(3, 3)]),
        ("ii", [(3, 3)]),
        ("iij->j", [(3, 3, 2)]),
        ("iii->i", [(2, 2, 2)]),
        ("ij->", [(2, 3)]),
        ("ij->ji", [(2, 3)]),
        ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
        ("...ij,...jk", [(5, 1, 2, 3), (2, 3, 4)]),
        ("i...->...", [(2, 3, 2)]),
        ("i,j,k->kij", [(2,), (3,), (2,)]),
        ("ij,ij,jk->k", [(2, 3), (2, 3), (3, 2)]),
        ("ab, bc -> ca", [(2, 3), (3, 4)]),
        ("ij,kl->", [(2, 3), (3, 2)]),
        ("i,i->", [(3,), (1,)]),
        ("i,i->i", [(1,), (3,)]),
        ("ij,jk->ik", [(2, 3), (1, 4)]),
        ("ij,ij->j", [(3, 1), (1, 2)]),
        ("iij,j->i", [(2, 2, 1), (3,)]),
    ],
)
def test_einsum(check, subscripts, shapes):
    check(np.einsum, subscripts, *(complex_(*s) for s in shapes))
    check(np.einsum, subscripts, *(real(*s) for s in shapes), optimize=True)


def test_einsum_with_lists_of_axes(check):
    check(np.einsum, real(2, 3), [0, 1], real(3, 4), [1, 2], [0, 2])
    check(np.einsum, real(2, 3), [0, 1], real(3, 4), [1, 2])
    check(np.einsum, real(2, 3), [Ellipsis, 1], [1, Ellipsis])


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_any_einsum_of_two_operands(data):
    """⟨dy, J dx⟩ = ⟨Jᵀ dy, dx⟩ whatever letters meet."""
    letters = st.lists(st.sampled_from("abcd"), max_size=3).map("".join)
    left, right = data.draw(letters), data.draw(letters)
    all_letters = sorted(set(left + right))
    out = "".join(data.draw(st.permutations(all_letters)))
    out = out[: data.draw(st.integers(0, len(out)))]
    lengths = dict(zip("abcd", (2, 3, 1, 2), strict=True))
    rng = np.random.default_rng(len(left) + 7 * len(right))
    one = [data.draw(st.sets(st.sampled_from("abcd"))) for _ in range(2)]  # broadcast
    shapes = [
        [1 if c in ones else lengths[c] for c in s]
        for s, ones in zip((left, right), one, strict=True)
    ]
    a, b = (rng.normal(size=shape) for shape in shapes)
    y, pullback = rc.rrule(np.einsum, f"{left},{right}->{out}", a, b)
    seed = rng.normal(size=np.shape(y))
    _, _, da, db = pullback(seed)
    np.testing.assert_allclose(np.sum(da * a), np.sum(seed * y), atol=1e-12)
    np.testing.assert_allclose(np.sum(db * b), np.sum(seed * y), atol=1e-12)
