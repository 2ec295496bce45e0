"""Equal eigenvalues and singular values: right, or refused; never wrong in silence.

Every function here is blind to the choice of vectors, so it has a derivative, which
finite differences give.
"""

from __future__ import annotations

import numpy as np
import pytest

import rules_autodiff as ad
import rules_core as rc

RNG = np.random.default_rng(21)
Q, _ = np.linalg.qr(RNG.normal(size=(3, 3)))
U, _ = np.linalg.qr(RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3)))
Y = RNG.normal(size=(3, 3))

SYMMETRIC = {
    "one": np.eye(3),
    "zero": np.zeros((3, 3)),
    "diagonal": np.diag([1.0, 1.0, 2.0]),
    "singular": np.diag([0.0, 0.0, 3.0]),
    "turned": (Q * np.array([1.0, 2.0, 2.0])) @ Q.T,
    "opposite": np.diag([-1.0, -1.0, 1.0]),
}
HERMITIAN = {
    **SYMMETRIC,
    "unitary": (U * np.array([1.0, 2.0, 2.0])) @ U.conj().T,
}
SPECTRAL = {
    "w": lambda w: w,
    "square": lambda w: w**2,
    "exp": np.exp,
    "even": lambda w: (w - 1.0) ** 2,
    "constant": np.ones_like,
}
WEIGHTS = {"any": Y, "ones": np.ones((3, 3)), "trace": np.eye(3)}


def hermitian_part(a):
    return (a + np.conjugate(np.swapaxes(a, -1, -2))) / 2


def by_eigh(f, weights):
    def g(a):
        w, v = np.linalg.eigh((a + np.conjugate(a.T)) / 2)
        return np.sum(np.real((v * f(w)) @ np.conjugate(v.T)) * weights)

    return g


def by_eig(f, weights):
    def g(a):
        w, v = np.linalg.eig(a)
        return np.sum(np.real((v * f(w)) @ np.linalg.inv(v)) * weights)

    return g


def by_svd(f, weights):
    def g(a):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(np.real((u * f(s)) @ vh) * weights)

    return g


def slope(g, a, da, h=1e-5):
    return (g(a + h * da) - g(a - h * da)) / (2 * h)


def answers(g, a, da):
    """The derivative along `da` by both modes; None where it is refused."""
    for mode in ("forward", "reverse"):
        try:
            if mode == "forward":
                yield mode, ad.jvp(g, (a,), (da,))[1]
            else:
                yield mode, np.sum(np.real(np.conjugate(ad.grad(g)(a)) * da))
        except rc.UnsupportedError as error:
            assert "must be" in str(error)  # noqa: PT017  each refusal says what
            yield mode, None


def right_modes(g, a, da, expected=None):
    """The modes that answer; an answer that is wrong fails."""
    exact = slope(g, a, da) if expected is None else expected
    found = list(answers(g, a, da))
    for mode, value in found:
        if value is not None:
            assert value == pytest.approx(exact, rel=1e-6, abs=1e-7), mode
    return [mode for mode, value in found if value is not None]


def directions(a):
    """Any, a multiple of one, and along the matrix's own axes."""
    any_one = np.random.default_rng(3).normal(size=a.shape).astype(a.dtype)
    if a.dtype.kind == "c":
        any_one = any_one + 1j * np.random.default_rng(4).normal(size=a.shape)
    yield any_one
    yield np.eye(*a.shape).astype(a.dtype)
    corner = np.zeros_like(a)
    corner[0, 0] = 1.0
    yield corner


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("f", SPECTRAL)
@pytest.mark.parametrize("name", HERMITIAN)
def test_functions_of_hermitian_matrices(name, f, weights):
    a = HERMITIAN[name]
    g = by_eigh(SPECTRAL[f], WEIGHTS[weights])
    for da in directions(a):
        right_modes(g, a, hermitian_part(da))


BASIS = Q + 0.3 * Y
SQUARE = [
    np.diag([1.0, 1.0, 2.0]),
    np.eye(3),
    BASIS @ np.diag([1.0, 2.0, 2.0]) @ np.linalg.inv(BASIS),
]


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("f", SPECTRAL)
@pytest.mark.parametrize("a", SQUARE)
def test_functions_of_square_matrices(a, f, weights):
    """Against the function itself: a difference of two `eig` is of complex pairs."""
    g = by_eig(SPECTRAL[f], WEIGHTS[weights])
    exact = {
        "w": lambda m: m,
        "square": lambda m: m @ m,
        "even": lambda m: (m - np.eye(3)) @ (m - np.eye(3)),
        "constant": lambda m: np.eye(3),
        "exp": _exponential,
    }[f]
    for da in directions(a):
        expected = slope(lambda m: np.sum(exact(m) * WEIGHTS[weights]), a, da)
        right_modes(g, a, da, expected)


def _exponential(a):
    total = term = np.eye(3)
    for k in range(1, 30):
        term = term @ a / k
        total = total + term
    return total


RECTANGULAR = {
    **HERMITIAN,
    "rank-1": np.outer([1.0, 2.0, 0.0], [3.0, 0.0, 1.0]),
    "tall": np.eye(4, 3),
    "tall-zero": np.diag([2.0, 1.0, 0.0])[:, :3].T @ np.eye(3, 4)[:3, :3],
    "wide": np.eye(3, 4) * 2.0,
    "empty-column": np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]),
    "reflection": np.diag([1.0, 1.0, -1.0]),
}
ODD = {"s": lambda s: s, "cube": lambda s: s**3, "sin": np.sin}


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("weights", ["any", "ones", "trace"])
@pytest.mark.parametrize("f", ODD)
@pytest.mark.parametrize("name", RECTANGULAR)
def test_odd_functions_of_singular_values(name, f, weights):
    """U f(s) Vᴴ with an odd f is smooth everywhere, at zero too."""
    a = RECTANGULAR[name]
    kinds = {"any": RNG.normal(size=a.shape), "ones": np.ones(a.shape)}
    chosen = kinds.get(weights, np.eye(*a.shape))
    g = by_svd(ODD[f], chosen)
    exact = {
        "s": lambda m: m,
        "cube": lambda m: m @ m.conj().T @ m,
        "sin": _sine,
    }[f]
    for da in directions(a):
        expected = slope(lambda m: np.sum(np.real(exact(m)) * chosen), a, da)
        right_modes(g, a, da, expected)


def _sine(a):
    total = term = a
    for k in range(1, 15):
        term = -term @ a.conj().T @ a / ((2 * k) * (2 * k + 1))
        total = total + term
    return total


@pytest.mark.parametrize("name", ["one", "turned", "reflection", "unitary"])
def test_polar_factor_at_equal_singular_values(name):
    """U Vᴴ turns with the skew part of the tangent, which no gap divides."""
    a = RECTANGULAR[name]
    u, _, vh = np.linalg.svd(a)
    turn = u @ (Y - Y.T) @ vh
    g = by_svd(np.ones_like, Y)
    assert "forward" in right_modes(g, a, turn)


class TestRight:
    """What is promised: these must not be refused."""

    def test_values_alone(self):
        """Σ f(w) is smooth; both modes know it, and the mean of equal ones."""
        for a in SYMMETRIC.values():
            da = hermitian_part(Y)
            assert len(right_modes(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3), a, da))
            modes = right_modes(lambda a: np.sum(np.linalg.eigh(a)[0] ** 3), a, da)
            assert "reverse" in modes

    def test_singular_values_alone(self):
        for a in (np.eye(3), np.eye(4, 3), np.diag([2.0, 0.0, 0.0])):
            da = np.random.default_rng(5).normal(size=a.shape)
            modes = right_modes(lambda a: np.sum(np.linalg.svdvals(a) ** 2), a, da)
            assert modes == ["forward", "reverse"]
            modes = right_modes(lambda a: np.sum(np.linalg.svd(a)[1] ** 2), a, da)
            assert "reverse" in modes

    def test_traces(self):
        g = by_eigh(np.exp, np.eye(3))
        assert "reverse" in right_modes(g, SYMMETRIC["turned"], hermitian_part(Y))

    def test_projectors(self):
        def last(a):
            _, v = np.linalg.eigh((a + np.conjugate(a.T)) / 2)
            return np.sum(np.real(v[:, -2:] @ np.conjugate(v[:, -2:].T)) * Y)

        for name in ("turned", "unitary"):
            da = hermitian_part(next(directions(HERMITIAN[name])))
            assert right_modes(last, HERMITIAN[name], da) == ["reverse"]

    def test_the_largest_while_others_are_equal(self):
        def first(a):
            _, v = np.linalg.eigh((a + a.T) / 2)
            return np.sum(np.outer(v[:, -1], v[:, -1]) * Y)

        for name in ("diagonal", "singular"):
            modes = right_modes(first, SYMMETRIC[name], hermitian_part(Y))
            assert modes == ["reverse"]

    def test_whatever_keeps_them_equal(self):
        """Forward mode where the block moves as a multiple of one."""
        g = by_eigh(np.exp, Y)
        for name in ("one", "turned", "zero"):
            assert "forward" in right_modes(g, SYMMETRIC[name], np.eye(3))

    def test_low_rank(self):
        """The two largest of a matrix whose other singular values are zero."""
        a = np.diag([3.0, 2.0, 0.0, 0.0])

        def g(a):
            u, s, vh = np.linalg.svd(a, full_matrices=False)
            return np.sum((u[:, :2] * s[:2]) @ vh[:2] * np.arange(16.0).reshape(4, 4))

        da = np.random.default_rng(6).normal(size=a.shape)
        assert right_modes(g, a, da) == ["reverse"]


class TestRefused:
    """Each refusal, by its text."""

    def test_forward(self):
        with pytest.raises(
            rc.UnsupportedError, match="a tangent that keeps them equal"
        ):
            rc.frule((rc.NoTangent(), hermitian_part(Y)), np.linalg.eigh, np.eye(3))

    def test_unknown_block(self):
        with pytest.raises(rc.UnsupportedError, match="that treats them alike"):
            ad.grad(by_eig(np.exp, Y))(np.eye(3))

    def test_choice(self):
        (_, v), pullback = rc.rrule(np.linalg.eigh, np.eye(3))
        dv = v @ (Y - Y.T)
        with pytest.raises(rc.UnsupportedError, match="depend on the choice of their"):
            pullback(rc.Tangent(tuple, np.zeros(3), dv))

    def test_second_order(self):
        """The mask of equal values has no derivative where there are any."""
        gradient = ad.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3))
        with pytest.raises(rc.UnsupportedError, match="hold at first order only"):
            ad.jvp(gradient, (np.eye(3),), (hermitian_part(Y),))

    def test_zero_singular_values(self):
        a = np.diag([1.0, 0.0, 0.0])
        tangents = (rc.NoTangent(), Y)
        with pytest.raises(rc.UnsupportedError, match=r"equal values|zero one that"):
            rc.frule(tangents, np.linalg.svd, a)
        tall = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
        with pytest.raises(rc.UnsupportedError, match="a zero one that moves"):
            ad.grad(by_svd(lambda s: s, np.ones(tall.shape)))(tall)

    @pytest.mark.parametrize("f", [np.linalg.eig, np.linalg.eigvals])
    @pytest.mark.parametrize("a", [[[1.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]]])
    def test_defective_matrices(self, f, a):
        with pytest.raises(rc.UnsupportedError, match="independent eigenvectors"):
            rc.rrule(f, np.array(a))


def test_zero_singular_values_are_symmetric_kinks():
    """As abs(0); the nuclear norm, their sum, has the same convention."""
    a = np.diag([2.0, 0.0])
    sums = ad.grad(lambda a: np.sum(np.linalg.svdvals(a)))(a)
    np.testing.assert_allclose(sums, np.diag([1.0, 0.0]), atol=1e-15)
    nuclear = ad.grad(lambda a: np.linalg.norm(a, "nuc"))(a)
    np.testing.assert_allclose(nuclear, sums, atol=1e-15)


def test_stacks_are_looked_at_one_by_one():
    a = np.stack([np.eye(3), SYMMETRIC["turned"], np.diag([1.0, 2.0, 3.0])])
    y, pullback = rc.rrule(np.linalg.eigvalsh, a)
    da = pullback(np.ones_like(y))[1]
    np.testing.assert_allclose(da, np.broadcast_to(np.eye(3), a.shape), atol=1e-12)


def test_condition_numbers_share_between_equal_values():
    """κ at s = 2, 2, 1 and at s = 2, 1, 1, as the norms that it divides."""
    for values in ([2.0, 2.0, 1.0], [2.0, 1.0, 1.0]):
        a = (Q * np.array(values)) @ Q.T
        da = ad.grad(lambda a: np.linalg.cond(a))(a)
        largest, smallest = (ad.grad(lambda a, p=p: np.linalg.norm(a, p))(a)
                             for p in (2, -2))  # fmt: skip
        np.testing.assert_allclose(da, largest - 2.0 * smallest, atol=1e-12)
