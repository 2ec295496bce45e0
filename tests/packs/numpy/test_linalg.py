"""Solves, determinants, norms, decompositions."""

from __future__ import annotations

import re

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import jvp, vjp
from rules_core.testing import check_rrule

NIGHTLY = pytest.mark.nightly
RNG = [np.random.default_rng(6)]


@pytest.fixture(autouse=True)
def seeded():
    """Every test draws the same numbers, whatever runs before it."""
    RNG[0] = np.random.default_rng(6)


def real(*shape):
    return RNG[0].normal(size=shape)


def complex_(*shape):
    return RNG[0].normal(size=shape) + 1j * RNG[0].normal(size=shape)


def positive(make, *shape):
    a = make(*shape)
    return a @ np.conjugate(np.swapaxes(a, -1, -2)) + np.eye(shape[-1])


SQUARE = [np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.pinv]


@pytest.mark.parametrize("make", [real, complex_])
@pytest.mark.parametrize("f", SQUARE)
@pytest.mark.covering(strength=1)
def test_square(check, f, make):
    check(f, make(3, 3) + 2 * np.eye(3))
    check(f, make(2, 3, 3) + 2 * np.eye(3))


@pytest.mark.parametrize("make", [real, complex_])
@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 1))],
)
@pytest.mark.covering(strength=1)
def test_solve(check, make, left, right):
    check(np.linalg.solve, make(*left) + 3 * np.eye(3), make(*right))


@pytest.mark.parametrize(
    ("a", "expected"),
    [
        ([[1, 2], [2, 4]], [[4, -2], [-2, 1]]),
        (
            [[1, 2, 3], [4, 5, 6], [7, 8, 9]],
            [[-3, 6, -3], [6, -12, 6], [-3, 6, -3]],
        ),
        (np.zeros((3, 3)), np.zeros((3, 3))),
        ([[5.0]], [[1.0]]),
    ],
)
def test_determinant_of_singular_matrices(a, expected):
    _, pullback = rc.rrule(np.linalg.det, np.array(a, float))
    np.testing.assert_allclose(pullback(1.0)[1], expected, atol=1e-13)


@pytest.mark.parametrize(
    "a",
    [
        np.array([[1.0, 2.0], [2.0, 4.0]]),
        np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
        np.eye(3),
        np.array([[0.0, 1.0], [1.0, 0.0]]),
        np.array([[1.0, 1j], [1j, -1.0]]),
    ],
)
def test_determinant_to_second_order_wherever_it_is(check, a):
    check(np.linalg.det, a)


@pytest.mark.parametrize(
    "a",
    [np.zeros((2, 2)), np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0]), np.zeros((3, 3))],
)
def test_cofactors_move_rightly_at_low_rank(a):
    """They are polynomials of degree n - 1 ≤ 2: central differences are exact."""
    from rules_numpy.linalg.solves import cofactor

    da, dy = real(*a.shape), real(*a.shape)
    exact = (cofactor(a + da) - cofactor(a - da)) / 2
    _, moved = rc.frule((rc.NoTangent(), da), cofactor, a)
    np.testing.assert_allclose(moved, exact, atol=1e-12)
    _, pullback = rc.rrule(cofactor, a)
    back = pullback(dy)[1]
    np.testing.assert_allclose(np.sum(back * da), np.sum(dy * exact), atol=1e-12)


def test_slogdet_known():
    y, pullback = rc.rrule(np.linalg.slogdet, np.array([[0.0, 1.0], [1.0, 0.0]]))
    da = pullback(rc.Tangent(type(y), 0.0, 1.0))[1]
    np.testing.assert_allclose(da, [[0.0, 1.0], [1.0, 0.0]])


def test_slogdet_of_a_singular_matrix_has_strong_zeros():
    y, pullback = rc.rrule(np.linalg.slogdet, np.array([[1.0, 2.0], [2.0, 4.0]]))
    da = pullback(rc.Tangent(type(y), 0.0, 0.0))[1]
    np.testing.assert_array_equal(da, np.zeros((2, 2)))


@pytest.mark.parametrize("make", [real, complex_])
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 3, 2)])
def test_pinv(check, make, shape):
    check(np.linalg.pinv, make(*shape))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("make", [real, complex_])
@pytest.mark.parametrize(
    ("left", "right"),
    [((5, 3), (5,)), ((5, 3), (5, 2)), ((3, 3), (3,)), ((2, 4), (2,))],
)
def test_lstsq(check, make, left, right):
    check(np.linalg.lstsq, make(*left), make(*right))


def test_tensors(check):
    check(np.linalg.tensorinv, real(2, 3, 6), 2)
    check(np.linalg.tensorinv, complex_(4, 2, 2), 1)
    check(np.linalg.tensorsolve, real(2, 3, 6), real(2, 3))
    check(np.linalg.tensorsolve, complex_(2, 4, 2), complex_(4), (0,))


VECTOR_ORDERS = [
    None, 1, 2, 2.5, -1, np.inf, 0,
    *(pytest.param(p, marks=NIGHTLY) for p in (3, 0.5, -2.5, -np.inf)),
]  # fmt: skip
CONDITIONS = [
    None, -2, "fro", 1, np.inf, "nuc",
    *(pytest.param(p, marks=NIGHTLY) for p in (2, -1, -np.inf)),
]  # fmt: skip


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("p", VECTOR_ORDERS)
def test_vector_norms(check, p):
    check(np.linalg.norm, real(4), p)
    check(np.linalg.norm, complex_(3, 2), p, 0)
    check(np.linalg.norm, real(3, 2), p, 1, keepdims=True)
    if p is not None:
        check(np.linalg.vector_norm, real(2, 3, 2), axis=(0, 2), ord=p)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("p", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_matrix_norms(check, p):
    check(np.linalg.norm, real(3, 2), p)
    check(np.linalg.norm, complex_(2, 4, 3), p, (2, 0))
    if p is not None:
        check(np.linalg.matrix_norm, real(2, 3, 2), ord=p, keepdims=True)


@pytest.mark.parametrize("p", [1, 2, 2.5, 3, np.inf])
def test_norm_at_zero_is_a_symmetric_kink(p):
    _, pullback = rc.rrule(np.linalg.norm, np.zeros(3), p)
    np.testing.assert_array_equal(pullback(1.0)[1], np.zeros(3))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 0, 3)])
@pytest.mark.parametrize("p", [None, "fro", "nuc", 1, 2, np.inf])
def test_norms_without_entries(p, shape):
    """NumPy has 0 for each, which no entry moves."""
    x, axes = np.zeros(shape), None if len(shape) == 2 else (1, 2)
    try:
        y = np.linalg.norm(x, p, axes)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            rc.rrule(np.linalg.norm, x, p, axes)
        return
    y_again, pullback = rc.rrule(np.linalg.norm, x, p, axes)
    assert np.array_equal(y_again, y)
    assert np.shape(pullback(np.ones(np.shape(y)))[1]) == shape


def test_norm_known():
    _, pullback = rc.rrule(np.linalg.norm, np.array([1.0, 2.0, 3.0]), 2)
    known = [0.26726124, 0.53452248, 0.80178373]
    np.testing.assert_allclose(pullback(1.0)[1], known, atol=5e-9)
    _, pullback = rc.rrule(np.linalg.norm, np.array([3.0, 0.0, 4.0]), 2.5)
    _, dx, dp, *_ = pullback(1.0)
    np.testing.assert_allclose(dx, [0.51189502, 0.0, 0.78811394], atol=5e-9)
    assert dp == pytest.approx(-0.47439707, abs=5e-9)


@pytest.mark.parametrize("p", CONDITIONS)
def test_condition_numbers(check, p):
    check(np.linalg.cond, real(3, 3) + np.eye(3), p)
    check(np.linalg.cond, complex_(2, 3, 3) + np.eye(3), p)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("make", [real, complex_])
def test_cholesky(check, make, upper):
    check(np.linalg.cholesky, positive(make, 3, 3), upper=upper)
    check(np.linalg.cholesky, positive(make, 2, 3, 3), upper=upper)


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("make", [real, complex_])
@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (2, 4), (2, 3, 2)])
@pytest.mark.parametrize("mode", ["reduced", "r"])
def test_qr(check, make, shape, mode):
    check(np.linalg.qr, make(*shape), mode)


@pytest.mark.parametrize("mode", ["complete", "raw"])
def test_other_qr_is_refused(mode):
    with pytest.raises(rc.UnsupportedError, match="mode 'reduced' or 'r'"):
        rc.rrule(np.linalg.qr, real(4, 2), mode)


@pytest.mark.parametrize("mode", ["reduced", "r"])
@pytest.mark.parametrize("columns", [3, 2])
def test_qr_of_dependent_columns_is_refused(mode, columns):
    x, dx = np.outer([1.0, 2.0, 3.0], [1.0, 0.3, 0.7][:columns]), real(3, columns)
    with pytest.raises(rc.UnsupportedError, match=r"linalg\.qr .* independent"):
        jvp(lambda x: np.linalg.qr(x, mode), (x,), (dx,))
    y, pullback = vjp(lambda x: np.linalg.qr(x, mode), x)
    with pytest.raises(rc.UnsupportedError, match=r"linalg\.qr .* independent"):
        pullback(y)


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_symmetric_eigenvalues(check, uplo):
    check(np.linalg.eigh, positive(real, 3, 3), uplo)
    check(np.linalg.eigh, positive(real, 2, 3, 3), uplo)
    check(np.linalg.eigvalsh, positive(real, 3, 3), uplo)
    check(np.linalg.eigvalsh, positive(complex_, 2, 3, 3), uplo)


def test_eigenvalues(check):
    check(np.linalg.eigvals, np.diag([1.0, 2.0, 4.0]) + 0.3 * real(3, 3))
    check(np.linalg.eigvals, np.diag([1.0, 2.0j, -1.0]) + 0.3 * complex_(2, 3, 3))
    check(np.linalg.eig, np.diag([1.0, 2.0j, -1.0]) + 0.1 * complex_(3, 3))
    check(np.linalg.eig, np.diag([1.0, 2.0, 4.0]) + 0.1 * real(3, 3))
    rotation = np.array([[0.0, -2.0, 0.3], [1.0, 0.2, 0.0], [0.1, 0.0, 2.0]])
    check(np.linalg.eig, rotation)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_singular_values(check, shape):
    check(np.linalg.svd, real(*shape), False)
    check(np.linalg.svd, real(*shape), True, False)
    check(np.linalg.svdvals, complex_(*shape))


def through(decompose, put_together, take_apart):
    """A function of a matrix by a decomposition: `take_apart` is the pullback of
    `put_together`; together they are blind to the choice of vectors."""

    @rc.primitive
    def f(a):
        return put_together(*decompose(a))

    @rc.rrule.define(f)
    def f_rrule(a):
        factors, pull = rc.rrule(decompose, a)

        def f_pullback(dy):
            parts = take_apart(dy, *factors)
            return rc.NoTangent(), pull(rc.Tangent(type(factors), *parts))[1]

        return put_together(*factors), f_pullback

    return f


def H(m):
    return np.conjugate(np.swapaxes(m, -1, -2))


def square(w, v):
    return (v * w**2) @ H(v)


def square_apart(dy, w, v):
    dy = dy + H(dy)
    dw = np.real(np.diagonal(H(v) @ dy @ v)) * w
    return dw, dy @ v * w**2


def last_projector(w, v):
    return v[:, -2:] @ H(v[:, -2:])


def last_projector_apart(dy, w, v):
    dv = (dy + H(dy)) @ v
    dv[:, :-2] = 0
    return np.zeros_like(w), dv


def hermitian(make):
    a = make(4, 4)
    return a + H(a)


def equal_pair(make):
    """A Hermitian matrix with eigenvalues 1, 2, 5, 5."""
    q, _ = np.linalg.qr(make(4, 4))
    return (q * np.array([1.0, 2.0, 5.0, 5.0])) @ H(q)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("make", [real, complex_])
@pytest.mark.parametrize(
    ("together", "apart"),
    [(square, square_apart), (last_projector, last_projector_apart)],
)
def test_functions_of_hermitian_matrices(make, together, apart):
    f = through(np.linalg.eigh, together, apart)
    check_rrule(f, hermitian(make))


@pytest.mark.parametrize("make", [real, complex_])
def test_projector_on_equal_eigenvalues(make):
    """The span of two equal eigenvalues moves smoothly, its vectors do not."""
    f = through(np.linalg.eigh, last_projector, last_projector_apart)
    check_rrule(f, equal_pair(make))


@pytest.mark.parametrize("make", [real, complex_])
def test_sum_over_equal_eigenvalues(make):
    a = equal_pair(make)
    w, pullback = rc.rrule(np.linalg.eigvalsh, a)
    da = pullback(np.array([0.0, 0.0, 1.0, 1.0]))[1]
    _, v = np.linalg.eigh(a)
    exact = v[:, 2:] @ H(v[:, 2:])
    full = np.tril(exact, -1) * 2 + np.diag(np.real(np.diag(exact)))
    np.testing.assert_allclose(da, full, atol=1e-12)
    assert w[2] == pytest.approx(w[3])


def test_what_equal_eigenvalues_leave_open_is_refused():
    a = equal_pair(real)
    (w, v), pullback = rc.rrule(np.linalg.eigh, a)
    dw, dv = square_apart(real(4, 4), w, v)
    with pytest.raises(rc.UnsupportedError, match="that treats them alike"):
        pullback(rc.Tangent(tuple, dw, 0.0 * dv))
    with pytest.raises(rc.UnsupportedError, match="that treats them alike"):
        pullback(rc.Tangent(tuple, dw + w**2 * np.arange(4.0), dv))


@pytest.mark.parametrize("make", [real, complex_])
def test_what_equal_eigenvalues_tell(make):
    """The square of the matrix, by its vectors."""
    f = through(np.linalg.eigh, square, square_apart)
    check_rrule(f, equal_pair(make))


def test_dependence_on_a_phase_is_refused():
    (_, v), pullback = rc.rrule(np.linalg.eigh, hermitian(complex_))
    with pytest.raises(rc.UnsupportedError, match="does not depend on the phase"):
        pullback(rc.Tangent(tuple, np.zeros(4), 1j * v))


def low_rank(u, s, vh):
    return (u[:, :2] * s[:2] ** 2) @ vh[:2]


def low_rank_apart(dy, u, s, vh):
    du, dvh, ds = np.zeros_like(u), np.zeros_like(vh), np.zeros_like(s)
    core = H(u[:, :2]) @ dy @ H(vh[:2])
    du[:, :2] = dy @ H(vh[:2]) * s[:2] ** 2
    dvh[:2] = (s[:2] ** 2)[:, None] * (H(u[:, :2]) @ dy)
    ds[:2] = 2 * s[:2] * np.real(np.diagonal(core))
    return du, ds, dvh


def kernel(u, s, vh):
    return u[:, 2:] @ H(u[:, 2:])


def kernel_apart(dy, u, s, vh):
    du = (dy + H(dy)) @ u
    du[:, :2] = 0
    return du, np.zeros_like(s), np.zeros_like(vh)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("make", [real, complex_])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3)])
def test_functions_of_singular_vectors(make, shape):
    for f in (
        through(np.linalg.svd, low_rank, low_rank_apart),
        through(np.linalg.svd, kernel, kernel_apart),
    ):
        check_rrule(f, make(*shape))


def test_kernel_of_a_matrix_with_equal_singular_values():
    a = np.zeros((4, 3))
    a[[0, 1], [0, 1]] = 3.0
    a[2, 2] = 1.0
    f = through(np.linalg.svd, kernel, kernel_apart)
    check_rrule(f, a)


def test_forward_and_reverse_agree_for_complex_vectors():
    """⟨ȳ, J da⟩ = ⟨Jᴴ ȳ, da⟩ where ȳ is blind to phases."""
    a, da = hermitian(complex_), complex_(4, 4)
    (w, v), pullback = rc.rrule(np.linalg.eigh, a)
    dw, dv = square_apart(complex_(4, 4), w, v)
    back = pullback(rc.Tangent(tuple, dw, dv))[1]
    _, tangent = rc.frule((rc.NoTangent(), da), np.linalg.eigh, a)
    ahead = np.sum(dw * tangent[0]) + np.sum(np.real(np.conjugate(dv) * tangent[1]))
    np.testing.assert_allclose(ahead, np.sum(np.real(np.conjugate(back) * da)))


@pytest.mark.parametrize("f", [np.linalg.inv, np.linalg.det, np.linalg.eigvalsh])
def test_single_precision_is_kept(check, f):
    check(f, positive(real, 3, 3).astype(np.float32))
