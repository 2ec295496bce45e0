"""`linear`: pairs of adjoint functions, foreign ones among them, in each AD system."""

import numpy as np
import pytest
import scipy.fft
import scipy.linalg

import rules_core as rc
from rules_autodiff import grad, hessian, jvp
from rules_core import NoTangent
from rules_core.testing import check_rule, isolated_rules

X = np.random.default_rng(3).normal(size=6)
M = np.random.default_rng(4).normal(size=(3, 3))
LU = scipy.linalg.lu_factor(M)


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_rules():
        yield


def dct(x):
    return scipy.fft.dct(x, norm="ortho")


def idct(y):
    return scipy.fft.idct(y, norm="ortho")


def half_spectrum(x):
    return np.fft.rfft(x)


def half_spectrum_adjoint(dy):
    inner = np.concatenate([dy[..., :1], dy[..., 1:-1] / 2, dy[..., -1:]], -1)
    size = 2 * (dy.shape[-1] - 1)
    return size * np.fft.irfft(inner)


def half(x):
    return rc.ShapeDtype((*x.shape[:-1], x.shape[-1] // 2 + 1), np.complex128)


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """SciPy's, which has a rule of its own in the pack."""
    return scipy.linalg.lu_solve(lu_and_piv, b, trans, overwrite_b, check_finite)


def lu_solve_adjoint(lu_and_piv, b, trans=0, *rest):
    return lu_solve(lu_and_piv, b, 1 - trans, *rest)


def reverse(x):
    return x[..., ::-1]


def thin(x, step, *, sign=1):
    """A generic body with options."""
    return sign * x[::step]


def thin_adjoint(dy, step, *, sign=1):
    xp = rc.array_namespace(dy)
    return sign * xp.reshape(xp.stack([dy, 0 * dy], axis=1), (-1,))


HOST = {"host": True, "vectorized": True}
PAIRS = {
    "dct": (lambda: rc.linear(dct, adjoint=idct, out="x", **HOST), (X,)),
    "half spectrum": (
        lambda: rc.linear(
            half_spectrum, adjoint=half_spectrum_adjoint, out=half, **HOST
        ),
        (X,),
    ),
    "self-adjoint": (
        lambda: rc.linear(reverse, adjoint=reverse, out="x", **HOST),
        (X,),
    ),
    "second argument": (
        lambda: rc.linear(
            lu_solve,
            adjoint=lu_solve_adjoint,
            argnum=1,
            host=True,
            out="b",
        ),
        (LU, X[:3]),
    ),
    "generic": (lambda: rc.linear(thin, adjoint=thin_adjoint), (X, 2)),
}


@pytest.mark.parametrize(("make", "args"), PAIRS.values(), ids=PAIRS)
def test_everyday(make, args):
    check_rule(make(), *args, level="quick", hosts=())


@pytest.mark.full
@pytest.mark.parametrize(("make", "args"), PAIRS.values(), ids=PAIRS)
def test_everywhere(make, args):
    check_rule(make(), *args)


def test_in_both_frameworks():
    """One pair of each kind with all transformations of a quick check."""
    check_rule(PAIRS["dct"][0](), X, level="quick")


def test_the_adjoint_has_the_rules_too():
    rc.linear(dct, adjoint=idct, out="x", **HOST)
    back = rc.primitive(idct)
    check_rule(back, X, level="quick", hosts=(), skip=("shape-rule",))
    np.testing.assert_allclose(grad(lambda y: back(y) @ X)(X), dct(X))


def test_in_the_engine():
    f = PAIRS["dct"][0]()

    def loss(x):
        return np.sum(f(x) ** 3)

    slope = 3 * idct(dct(X) ** 2)
    np.testing.assert_allclose(grad(loss)(X), slope)
    D = dct(np.eye(6)).T
    np.testing.assert_allclose(hessian(loss)(X), D.T @ np.diag(6 * dct(X)) @ D)
    np.testing.assert_allclose(jvp(f, (X,), (X,))[1], dct(X))


def test_a_batch_is_one_call():
    jax = pytest.importorskip("jax")
    calls = []

    def doubled(x):
        calls.append(x.shape)
        return 2 * x

    f = rc.linear(doubled, adjoint=doubled, out="x", **HOST)
    jax.jit(jax.vmap(jax.grad(lambda x: (f(x) ** 2).sum())))(np.ones((5, 2)))
    assert set(calls) == {(5, 2)}


def test_other_arguments_have_no_derivative():
    f = PAIRS["second argument"][0]()
    _, pullback = rc.rrule(f, LU, X[:3])
    dself, dlu, db, *rest = pullback(np.ones(3))
    np.testing.assert_allclose(db, np.linalg.solve(M.T, np.ones(3)))
    assert isinstance(dlu, rc.NotImplementedTangent)
    assert (dself, *rest) == (NoTangent(),) * 4


def test_a_tangent_of_another_container_that_is_zero():
    """Zero in every entry of a tuple is no derivative with respect to it."""
    jax = pytest.importorskip("jax")
    f = PAIRS["second argument"][0]()
    b, db = X[:3], X[3:]
    _, dy = jax.jvp(lambda b: f(LU, b), (b,), (db,))
    np.testing.assert_allclose(dy, np.linalg.solve(M, db))


def test_a_wrong_adjoint_fails_its_check():
    f = rc.linear(dct, adjoint=dct, out="x", **HOST)
    with pytest.raises(AssertionError, match="rrule.derivative|adjoint"):
        check_rule(f, X, level="quick", hosts=())


MISUSES = {
    "no function": ({"adjoint": 3}, "must get a callable adjoint"),
    "no position": ({"adjoint": idct, "argnum": "x"}, "must get a callable adjoint"),
    "too far": ({"adjoint": idct, "argnum": 1}, "argnums must be distinct positions"),
    "unknown size": ({"adjoint": idct, "host": True, "out": "z"}, "must name an arg"),
}


@pytest.mark.parametrize(("given", "text"), MISUSES.values(), ids=MISUSES)
def test_misuse(given, text):
    with pytest.raises(rc.RuleDefinitionError, match=text):
        rc.linear(dct, **given)


def test_functions_of_a_pack():
    """Their rules have another signature, and would be replaced in silence."""

    def adjoint(dy):
        return dy[::-1].cumsum()[::-1]

    with pytest.raises(rc.RuleClashError, match="cumsum"):
        rc.linear(np.cumsum, adjoint=adjoint, host=True, out="a")
    with pytest.raises(rc.RuleClashError, match="cumsum"):
        rc.linear(adjoint, adjoint=np.cumsum, host=True)
