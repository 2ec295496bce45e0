"""V f(w) Vᴴ at equal eigenvalues: right in reverse mode where the cotangents tell it.

The reference is the derivative of a function of matrices by SciPy, of a block matrix:
f([[A, E], [0, A]]) has it above the diagonal. Nothing there knows eigenvectors.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.linalg

import rules_autodiff as ad
import rules_core as rc

RNG = np.random.default_rng(41)
REFUSED = "that treats them alike"


def unitary(n, dtype):
    some = RNG.normal(size=(2, n, n))
    return np.linalg.qr(some[0] if dtype is float else some[0] + 1j * some[1])[0]


def turned(values, dtype):
    u = unitary(len(values), dtype)
    a = (u * np.array(values)) @ u.conj().T
    return (a + a.conj().T) / 2


RING = scipy.linalg.circulant([3.0, 1.0, 0.5, 0.5, 1.0])
HERMITIAN = {
    "one-2": np.eye(2),
    "one-3": np.eye(3),
    "two-and-one": np.diag([2.0, 2.0, 1.0]),
    "blocks": np.diag([2.0, 1.0, 2.0, 1.0, 2.0]),
    "kronecker": np.kron(np.eye(3), [[2.0, 0.5], [0.5, 1.0]]),
    "kronecker-right": np.kron([[2.0, 0.5], [0.5, 1.0]], np.eye(3)),
    "projector": np.eye(4) + np.outer([1.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]),
    "permuted": 2.0 * np.eye(4) + 0.25 * np.ones((4, 4)),
    "reflection": 3.0 * np.eye(4) - np.outer([1.0, -1, 1, 1], [0.5, -0.5, 0.5, 0.5]),
    "circulant": RING,
    "turned": turned([1.0, 2.0, 2.0, 2.0], float),
    "unitary": turned([1.0, 1.0, 2.0, 2.0, 2.0], complex),
    "imaginary": np.array([[2, 1j, 0], [-1j, 2, 0], [0, 0, 3.0]]),
}
FUNCTIONS = {
    "exp": (np.exp, scipy.linalg.expm),
    "sqrt": (np.sqrt, scipy.linalg.sqrtm),
    "log": (lambda w: np.log(w) + 1.0, lambda m: scipy.linalg.logm(m) + np.eye(len(m))),
    "inverse": (lambda w: 1 / w, np.linalg.inv),
    "fifth": (lambda w: w**5, lambda m: np.linalg.matrix_power(m, 5)),
}


def weights_of(n):
    some = np.random.default_rng(n).normal(size=(2, n, n))
    off = np.zeros((n, n))
    off[0, -1] = 1.0
    return {
        "any": some[0],
        "complex": some[0] + 1j * some[1],
        "ones": np.ones((n, n)),
        "corner": np.diag(np.eye(n)[0]),
        "off the diagonal": off,
    }


def hermitian(a):
    return (a + np.conjugate(np.swapaxes(a, -1, -2))) / 2


def by_eigh(f, weights):
    def g(a):
        w, v = np.linalg.eigh(hermitian(a))
        return np.sum(np.real(np.conjugate(weights) * ((v * f(w)) @ np.conjugate(v.T))))

    return g


def exact(of_matrix, a, weights):
    """The gradient of Re <W, f(A)> is the derivative of f along W's Hermitian part."""
    n, e = len(a), hermitian(weights)
    found = of_matrix(np.block([[a, e], [np.zeros((n, n)), a]]))[:n, n:]
    return found if np.iscomplexobj(a) else np.real(found)


def answered(g, a, expected):
    """Whether it is; a wrong answer fails."""
    try:
        found = ad.grad(g)(a)
    except rc.UnsupportedError as error:
        assert REFUSED in str(error)  # noqa: PT017  no other refusal is meant here
        return False
    size = np.max(np.abs(expected)) + 1e-12
    np.testing.assert_allclose(found / size, expected / size, atol=1e-8)
    return True


def hides(a, weights, f):
    """A pair of equal values in which f(A)'s cotangent has no trace, or f is zero."""
    w, v = np.linalg.eigh(a)
    g = v.conj().T @ hermitian(weights) @ v
    for value in np.unique(np.round(w, 9)):
        at = np.abs(w - value) < 1e-6
        block = g[np.ix_(at, at)]
        moves = np.abs(block - np.eye(at.sum()) * block[0, 0]).max() > 1e-9
        if moves and at.sum() == 2 and abs(np.trace(block)) < 0.02 * abs(block).max():
            return True
        if moves and abs(f(value)) < 1e-9:
            return True
    return False


@pytest.mark.covering(every=8)
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("name", HERMITIAN)
def test_functions_of_matrices(name, f):
    a, (of_values, of_matrix) = HERMITIAN[name], FUNCTIONS[f]
    for weights in weights_of(len(a)).values():
        expected = exact(of_matrix, a, weights)
        g = by_eigh(of_values, weights)
        assert answered(g, a, expected) == (not hides(a, weights, of_values))


def test_most_of_them_are_answered():
    """So that the test above cannot pass by refusals."""
    cases = list(itertools.product(HERMITIAN.values(), FUNCTIONS.values()))
    seen = [
        not hides(a, weights, f[0])
        for a, f in cases
        for weights in weights_of(len(a)).values()
    ]
    assert np.mean(seen) > 0.85


class TestRight:
    """Other forms of the same."""

    def test_against_finite_differences_of_the_function(self):
        a, weights = HERMITIAN["unitary"], weights_of(5)["any"]
        da = hermitian(RNG.normal(size=(5, 5)) + 1j * RNG.normal(size=(5, 5)))
        g = by_eigh(np.sqrt, weights)
        slope = (g(a + 1e-5 * da) - g(a - 1e-5 * da)) / 2e-5
        found = np.sum(np.real(np.conjugate(ad.grad(g)(a)) * da))
        assert found == pytest.approx(slope, rel=1e-8)

    def test_of_a_distance(self):
        """Nonlinear in f(A)."""
        target = RNG.normal(size=(3, 3))

        def g(a):
            w, v = np.linalg.eigh(hermitian(a))
            return np.sum(((v * np.sqrt(w)) @ v.T - target) ** 2)

        for a in (np.eye(3), 4.0 * np.eye(2), np.diag([2.0, 2.0, 3.0])):
            target = RNG.normal(size=a.shape)
            root = scipy.linalg.sqrtm(a)
            assert answered(g, a, exact(scipy.linalg.sqrtm, a, 2 * (root - target)))

    def test_two_factors(self):
        """√A = B Bᴴ with B = V w^¼, which depends on the choice as L does not."""

        def g(a):
            w, v = np.linalg.eigh(hermitian(a))
            b = v * w**0.25
            return np.sum(weights * (b @ b.T))

        weights = RNG.normal(size=(4, 4))
        for a in (np.eye(4), HERMITIAN["turned"]):
            assert answered(g, a, exact(scipy.linalg.sqrtm, a, weights))

    def test_with_a_function_of_the_values(self):
        """Z = c Y + d, of three equal values or more."""

        def g(a):
            w, v = np.linalg.eigh(hermitian(a))
            return y @ ((v / w) @ (v.T @ y)) + np.sum(np.log(w))

        for a in (2.0 * np.eye(3), HERMITIAN["turned"], np.diag([2.0, 1, 1, 1])):
            y = RNG.normal(size=len(a))
            expected = exact(np.linalg.inv, a, np.outer(y, y)) + np.linalg.inv(a)
            assert answered(g, a, expected)

    def test_stacks(self):
        a = np.stack([np.eye(3), HERMITIAN["two-and-one"], np.diag([1.0, 2.0, 3.0])])
        weights = RNG.normal(size=a.shape)

        def g(a):
            w, v = np.linalg.eigh(hermitian(a))
            return np.sum(weights * ((v * np.exp(w)[:, None]) @ np.swapaxes(v, 1, 2)))

        pairs = zip(a, weights, strict=True)
        expected = [exact(scipy.linalg.expm, x, y) for x, y in pairs]
        assert answered(g, a, np.stack(expected))

    @pytest.mark.parametrize("uplo", ["L", "U"])
    def test_one_triangle(self, uplo):
        weights = weights_of(3)["any"]

        def g(a):
            w, v = np.linalg.eigh(a, uplo)
            return np.sum(weights * ((v * np.exp(w)) @ v.T))

        full = np.e * hermitian(weights)
        below = np.tril(full, -1) if uplo == "L" else np.triu(full, 1)
        expected = 2 * below + np.diag(np.diag(full))
        assert answered(g, np.eye(3), expected)

    def test_single_precision(self):
        for a in (np.eye(3), np.diag([2.0, 2.0, 1.0])):
            weights = weights_of(3)["any"].astype(np.float32)
            found = ad.grad(by_eigh(np.exp, weights))(a.astype(np.float32))
            assert found.dtype == np.float32
            expected = exact(scipy.linalg.expm, a, weights)
            np.testing.assert_allclose(found, expected, atol=2e-5)

    def test_a_jacobian(self):
        """Row by row, of three equal values; the derivative of exp at one is e da."""

        def exponential(a):
            w, v = np.linalg.eigh(hermitian(a))
            return (v * np.exp(w)) @ v.T

        found = ad.jacrev(exponential)(np.eye(3))
        unit = np.einsum("ik,jl->ijkl", np.eye(3), np.eye(3))
        expected = np.e * (unit + np.swapaxes(unit, 2, 3)) / 2
        np.testing.assert_allclose(found, expected, atol=1e-13)


STRUCTURED = [
    np.diag([1.0, 0.0, 0.0]),
    np.diag([0.0, 1.0, 0.0]),
    np.diag([1.0, -1.0, 0.0]),
    np.eye(3, k=1),
    np.eye(3, k=2),
    np.ones((3, 3)),
    np.eye(3)[[1, 2, 0]],
    np.eye(3)[::-1],
    np.arange(9.0).reshape(3, 3),
    RNG.normal(size=(3, 3)),
]


def of_two(f, one, h, two):
    """Two functions of one decomposition."""

    def g(a):
        w, v = np.linalg.eigh(hermitian(a))
        first = np.sum(one * ((v * f(w)) @ v.T))
        return first + np.sum(two * ((v * h(w)) @ v.T))

    return g


SECOND = {"sin": np.sin, "zero": lambda w: w - 1.0, "inverse": lambda w: 1 / w}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("name", SECOND)
def test_two_functions_are_never_wrong(n, name):
    """Whatever two cotangents: refused, or right by accident of these."""
    second = {"sin": np.sin, "zero": lambda w: w - 1.0, "inverse": lambda w: 1 / w}[
        name
    ]
    count = 0
    for first, other in itertools.permutations([m[:n, :n] for m in STRUCTURED], 2):
        slope = (second(1 + 1e-6) - second(1 - 1e-6)) / 2e-6
        expected = np.e * hermitian(first) + slope * hermitian(other)
        count += answered(of_two(np.exp, first, second, other), np.eye(n), expected)
    assert count < 30


class TestRefused:
    """What the pair of values and vectors does not tell."""

    def check(self, g, a):
        with pytest.raises(rc.UnsupportedError, match=REFUSED):
            ad.grad(g)(a)

    def test_whitening_and_colouring(self):
        """Two functions of one matrix, each with a cotangent of its own."""
        one, two = RNG.normal(size=(2, 4, 4))

        def g(a):
            w, v = np.linalg.eigh(hermitian(a))
            return np.sum(one * ((v / np.sqrt(w)) @ v.T)) + np.sum(
                two * ((v * np.sqrt(w)) @ v.T)
            )

        for a in (np.eye(4), HERMITIAN["turned"], np.diag([2.0, 2, 1, 3])):
            self.check(g, a)

    def test_two_equal_values_without_a_trace(self):
        """One entry off the diagonal: two functions would look the same."""
        self.check(by_eigh(np.exp, np.eye(2, k=1)), np.eye(2))
        self.check(by_eigh(np.exp, np.diag([1.0, -1.0])), np.eye(2))

    def test_two_equal_values_and_a_function_of_them(self):
        def g(a):
            w, v = np.linalg.eigh(hermitian(a))
            return np.sum(RING[:2, :2] * ((v * np.exp(w)) @ v.T)) + np.sum(np.log(w))

        self.check(g, np.eye(2))

    def test_where_the_function_is_zero(self):
        """Then the vectors' cotangent is zero, too."""
        self.check(by_eigh(np.log, STRUCTURED[-1]), np.eye(3))
        self.check(by_eigh(lambda w: w, STRUCTURED[-1]), np.zeros((3, 3)))

    def test_vectors_by_their_inverse(self):
        """V f(w) V⁻¹ does not see a stretch of V: nothing is told."""

        def g(a):
            w, v = np.linalg.eigh(hermitian(a))
            return np.sum(STRUCTURED[-1] * ((v * np.exp(w)) @ np.linalg.inv(v)))

        self.check(g, np.eye(3))

    def test_a_projector_beside_it(self):
        """Of one decomposition; of two, each block has its own cotangents."""
        a, weights = np.diag([1.0, 1.0, 1.0, 2.0]), RING[:4, :4]

        def inner(v):
            return np.sum(v[:, :3] @ v[:, :3].T * weights)

        def joined(a):
            w, v = np.linalg.eigh(hermitian(a))
            return np.sum(((v * np.exp(w)) @ v.T)[0]) + inner(v)

        def apart(a):
            first = by_eigh(np.exp, np.eye(4)[:, :1] * np.ones(4))
            return first(a) + inner(np.linalg.eigh(hermitian(a))[1])

        self.check(joined, a)
        da = hermitian(RNG.normal(size=(4, 4)))
        slope = (apart(a + 1e-5 * da) - apart(a - 1e-5 * da)) / 2e-5
        assert np.sum(ad.grad(apart)(a) * da) == pytest.approx(slope, rel=1e-7)

    def test_a_leading_vector_among_them(self):
        def g(a):
            _, v = np.linalg.eigh(hermitian(a))
            return np.sum(np.outer(v[:, -1], v[:, -1]) * STRUCTURED[-1])

        with pytest.raises(rc.UnsupportedError, match="choice of their vectors"):
            ad.grad(g)(np.eye(3))

    @pytest.mark.parametrize("outer", ["forward", "reverse"])
    def test_second_order(self, outer):
        gradient = ad.grad(by_eigh(np.exp, STRUCTURED[-1]))
        again = {
            "forward": lambda a: ad.jvp(gradient, (a,), (a,)),
            "reverse": ad.grad(lambda a: np.sum(gradient(a) ** 2)),
        }[outer]
        with pytest.raises(rc.UnsupportedError, match="hold at first order only"):
            again(np.eye(3))
