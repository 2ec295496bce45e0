"""U f(s) Vᴴ at equal singular values: right in reverse mode where the cotangents tell.

Of an odd f it is a power series in A Aᴴ times A, of which finite differences are taken.
"""

from __future__ import annotations

import numpy as np
import pytest

import rules_autodiff as ad
import rules_core as rc

RNG = np.random.default_rng(43)
Q, P = np.linalg.qr(RNG.normal(size=(2, 4, 4)))[0]
U, _ = np.linalg.qr(RNG.normal(size=(4, 4)) + 1j * RNG.normal(size=(4, 4)))
REFUSED = "that treats them alike"

PLACES = {
    "one": np.eye(3),
    "orthogonal": 2.0 * Q,
    "tall": np.eye(5, 3),
    "wide": 2.0 * np.eye(3, 4),
    "triple": Q @ np.diag([2.0, 2.0, 2.0, 1.0]) @ P.T,
    "pair": Q @ np.diag([2.0, 2.0, 1.0, 0.5]) @ P.T,
    "two pairs": Q @ np.diag([2.0, 2.0, 1.0, 1.0]) @ P.T,
    "zero": np.diag([2.0, 2.0, 2.0, 0.0]),
    "unitary": 1.5 * U,
    "complex": U @ np.diag([2.0, 2.0, 2.0, 1.0]) @ P,
}


def series(a, terms=25):
    """sin of the singular values."""
    total = term = a
    for k in range(1, terms):
        term = -term @ a.conj().T @ a / ((2 * k) * (2 * k + 1))
        total = total + term
    return total


def both_sides(f, weights):
    def g(a):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(np.real(np.conjugate(weights) * ((u * f(s)) @ vh)))

    return g


def one_side(f, weights):
    def g(a):
        u, s, _ = np.linalg.svd(a, full_matrices=False)
        return np.sum(np.real(weights * ((u * f(s)) @ np.conjugate(u.T))))

    return g


# The form, f, and what the whole is.
FORMS = {
    "sine": (both_sides, np.sin, series),
    "cube": (both_sides, lambda s: s**3, lambda a: a @ a.conj().T @ a),
    "fourth": (one_side, lambda s: s**4, lambda a: (a @ a.conj().T) @ (a @ a.conj().T)),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PLACES)
def test_right(name, form):
    a, (make, f, exact) = PLACES[name], FORMS[form]
    shape = exact(a).shape
    some = RNG.normal(size=shape)
    for weights in (some, some + 2.0 * np.eye(*shape), np.ones(shape)):
        da = RNG.normal(size=a.shape) * (1.0 if a.dtype.kind == "f" else 1.0 + 0.5j)
        steps = (exact(a + h * da) for h in (1e-6, -1e-6))
        ends = [np.sum(np.real(np.conjugate(weights) * end)) for end in steps]
        found = np.sum(np.real(np.conjugate(ad.grad(make(f, weights))(a)) * da))
        expected = (ends[0] - ends[1]) / 2e-6
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-7)


class TestRefused:
    def check(self, g, a, match=REFUSED):
        with pytest.raises(rc.UnsupportedError, match=match):
            ad.grad(g)(a)

    def test_functions_of_either_side(self):
        """√(A Aᵀ) and A in one sum, of one decomposition."""
        one, two = RNG.normal(size=(2, 3, 3))

        def g(a):
            u, s, vh = np.linalg.svd(a)
            return np.sum(one * ((u * np.sqrt(s)) @ u.T)) + np.sum(two * ((u * s) @ vh))

        self.check(g, np.eye(3))
        self.check(g, PLACES["one"] * 2.0)

    def test_two_equal_values_without_a_trace(self):
        self.check(both_sides(np.sin, np.eye(2)[::-1]), np.eye(2))

    def test_the_least_of_them(self):
        def g(a):
            u, s, vh = np.linalg.svd(a)
            return s[-1] + 1e-3 * np.sum(Q[:3, :3] * ((u * s) @ vh))

        self.check(g, np.eye(3))

    def test_zeros_that_move(self):
        """(A Aᵀ)^½ has a kink there, and is told by its vectors all the same."""
        a = np.diag([2.0, 0.0, 0.0, 0.0])
        g = one_side(lambda s: 1.0 + s, RNG.normal(size=(4, 4)))
        self.check(g, a, "a zero one that moves")

    def test_second_order(self):
        gradient = ad.grad(both_sides(np.sin, RNG.normal(size=(3, 3))))
        with pytest.raises(rc.UnsupportedError, match="hold at first order only"):
            ad.jvp(gradient, (np.eye(3),), (np.eye(3),))
