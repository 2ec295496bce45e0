"""Memory that sparse matrices share, what solvers keep, and loose tolerances."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as la

from rules_autodiff import grad, jvp, vjp
from rules_core import UnsupportedError
from rules_scipy.sparse.linalg import NotConverged

V = np.array([2.0, 3.0])
DV = np.array([0.3, 0.7])
ONES = np.ones(2)


def diagonal(v):
    return sp.csc_array((v * 1.0, [0, 1], [0, 1, 2]))


def compare(f):
    want = (f(V + 1e-6 * DV) - f(V - 1e-6 * DV)) / 2e-6
    value, pullback = vjp(f, V)
    assert value == pytest.approx(f(V), rel=1e-12)
    assert pullback(1.0)[0] @ DV == pytest.approx(want, rel=1e-6)
    assert jvp(f, (V,), (DV,))[1] == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("factors", [lambda a: la.splu(a).solve, la.factorized])
def test_factors_are_of_the_numbers_at_that_time(factors):
    def f(v):
        a = diagonal(v)
        solve = factors(a)
        a.data *= 2
        return solve(ONES) @ DV

    compare(f)


VIEWS = {
    "astype": lambda a: a.astype(float),
    "astype without a copy": lambda a: a.astype(float, copy=False),
    "astype of another dtype": lambda a: a.astype(complex, copy=False),
    "conj": lambda a: a.conj(),
    "conj without a copy": lambda a: a.conj(copy=False),
    "conjugate without a copy": lambda a: a.conjugate(copy=False),
    "real": lambda a: a.real,
}


@pytest.mark.parametrize("name", VIEWS)
def test_memory_is_shared_as_in_scipy(name):
    def f(v):
        a = diagonal(v)
        b = VIEWS[name](a)
        b.data *= 2
        return a.toarray().diagonal() @ DV + (b is a)

    compare(f)


def run(name, v, **options):
    return getattr(la, name)(diagonal(v), ONES, **options)[0].sum()


def refused(f, error, match):
    with pytest.raises(error, match=match):
        grad(f)(V)
    with pytest.raises(error, match=match):
        jvp(f, (V,), (DV,))


@pytest.mark.parametrize("name", ["cg", "minres", "gmres", "bicg", "qmr"])
def test_a_callback_is_refused(name):
    seen = []
    refused(lambda v: run(name, v, callback=seen.append), UnsupportedError, "callback=")


@pytest.mark.parametrize(("name", "key"), [("lgmres", "outer_v"), ("gcrotmk", "CU")])
def test_vectors_to_be_kept_are_refused(name, key):
    refused(lambda v: run(name, v, **{key: []}), UnsupportedError, f"{key}=")


def test_a_callback_of_constants_is_called():
    def f(v):
        seen = []
        la.cg(sp.eye_array(2), ONES, callback=seen.append)
        return v.sum() * len(seen)

    np.testing.assert_allclose(grad(f)(V), ONES)


@pytest.mark.parametrize("name", ["cg", "gmres", "lgmres", "gcrotmk", "bicgstab"])
def test_a_start_that_is_returned_is_not_a_solution(name):
    def f(v):
        return run(name, v, x0=v * 1.0, rtol=0.0, atol=1e5)

    refused(f, NotConverged, "residual")


def test_the_start_alone_has_a_derivative_that_is_not_silent():
    def f(v):
        return la.cg(sp.eye_array(2), ONES, x0=v * 1.0, rtol=0.0, atol=1e5)[0].sum()

    refused(f, NotConverged, "residual")


def test_a_loose_tolerance_of_the_derivatives_equation():
    refused(lambda v: run("cg", v, x0=1 / v, rtol=1.0), NotConverged, "residual")
