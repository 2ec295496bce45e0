"""scipy.linalg: the tester, every framework at first and second order, and edges."""

import jax
import numpy as np
import pytest
import scipy
import scipy.linalg as sl

import rules_core as rc
from rules_core.testing import check_rule
from rules_scipy import linalg
from tests.covering import in_turn

from .frameworks import HOSTS, Engine, Torch, differences, directions, loss_of, opened
from .linalg_cases import Matrices, cases

CASES = cases()
TAKES_STACKS = np.lib.NumpyVersion(scipy.__version__) >= "1.17.0"
# The frameworks' cells test second order; a real matrix may have real vectors of eig.
SKIP = {"rrule.second-order", "frule.second-order", "rrule.slope-at-zero"}
REAL, COMPLEX = Matrices("real"), Matrices("complex")


@pytest.mark.covering(every=97)
@pytest.mark.filterwarnings("ignore:scipy.linalg.ldl")  # of a complex diagonal
@pytest.mark.parametrize("name", CASES)
def test_rule(name):
    f, args, options = CASES[name]
    check_rule(f, *args, fkwargs=options, hosts=(), skip=SKIP, rtol=1e-5)


# In frameworks, against central differences of SciPy's values.

PLACES = in_turn([*CASES], [*HOSTS], ("f", "r", "rr", "fr", "rf"))


@pytest.mark.covering(every=143, start=17)
@pytest.mark.filterwarnings("ignore:scipy.linalg.ldl")
@pytest.mark.parametrize(("name", "host", "modes"), PLACES)
def test_in_frameworks(name, host, modes):
    compare(name, host, modes)


@pytest.mark.filterwarnings("ignore:scipy.linalg.ldl")
@pytest.mark.parametrize("mode", ["f", "r"])
def test_one_call_of_each_function(mode):
    for name in {f: name for name, (f, _, _) in CASES.items()}.values():
        compare(name, "engine", mode)


def compare(name, host, modes):
    f, args, options = CASES[name]
    arrays, form = opened(args)
    moves, own = directions(arrays), HOSTS[host]()
    plain = loss_of(getattr(f, "fun", f), form, options, np.asarray)
    known = differences(plain, arrays, moves)[len(modes) - 1]
    along = loss_of(f, form, options, own.array)
    for mode in modes:
        along = (own.forward if mode == "f" else own.reverse)(along, moves)
    got = own.run(along, arrays)
    assert np.isclose(got, known, rtol=2e-4, atol=2e-5 * (1 + abs(known)))


# The framework's own function, where it has one.

OWN = {
    "expm": (linalg.expm, "jax.scipy.linalg.expm", "torch.linalg.matrix_exp"),
    "inv": (linalg.inv, "jax.numpy.linalg.inv", "torch.linalg.inv"),
    "det": (linalg.det, "jax.scipy.linalg.det", "torch.linalg.det"),
    "pinv": (linalg.pinv, "jax.numpy.linalg.pinv", "torch.linalg.pinv"),
    "svdvals": (linalg.svdvals, None, "torch.linalg.svdvals"),
}


def function_at(path):
    import importlib

    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("host", ["jax", "torch"])
def test_as_the_framework_has_it(name, host):
    f, *paths = OWN[name]
    own, path = HOSTS[host](), paths[host == "torch"]
    if path is None:
        path = "jax.numpy.linalg.svdvals"
    arrays = [REAL.far]
    moves = directions(arrays)
    slopes = [
        own.run(own.reverse(lambda a, g=g: (g(a) ** 2).sum(), moves), arrays)
        for g in (f, function_at(path))
    ]
    assert np.isclose(*slopes, rtol=1e-10)


# Riccati's equations, whose weights must stay symmetric.


@pytest.mark.parametrize("name", ["solve_continuous_are", "solve_discrete_are"])
@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("mode", ["f", "r"])
def test_riccati(name, more, mode):
    f = getattr(linalg, name)
    rng = np.random.default_rng(3)
    a, b, e, s = (0.4 * rng.normal(size=n) for n in ((3, 3), (3, 2), (3, 3), (3, 2)))

    def program(a, b, l, k, e, s):
        q, r = l @ l.T + np.eye(3), k @ k.T + np.eye(2)
        x = f(a, b, q, r, e + np.eye(3), 0.1 * s) if more else f(a, b, q, r)
        return np.sum(x * WEIGHTS)

    arrays = [a, b, rng.normal(size=(3, 3)), rng.normal(size=(2, 2)), e, s]
    moves, own = directions(arrays), Engine()
    known = differences(program, arrays, moves)[0]
    along = own.forward(program, moves) if mode == "f" else own.reverse(program, moves)
    assert np.isclose(own.run(along, arrays), known, rtol=1e-6)


WEIGHTS = np.arange(9.0).reshape(3, 3)


# Bases and phases: right for what does not depend on them, else an error.


def projector(q):
    return np.sum(WEIGHTS[:2, :2] * (q[:2] @ np.conj(q[:2]).T).real)


SUBSPACES = {
    "eigh": lambda a: projector(linalg.eigh(a + np.conj(a).T)[1][:, 1:]),
    "svd": lambda a: projector(linalg.svd(a)[0][:, :2]),
    "eig": lambda a: np.sum(np.abs(linalg.eig(a)[1]) ** 2 * WEIGHTS),
    "schur": lambda a: projector(linalg.schur(a, output="complex")[1][:, :2]),
    "triangle": lambda a: np.sum(np.abs(linalg.schur(a, "complex")[0]) ** 2 * WEIGHTS),
}


@pytest.mark.parametrize("matrices", [REAL, COMPLEX], ids=["real", "complex"])
@pytest.mark.parametrize("name", SUBSPACES)
def test_what_the_choice_leaves_alone(name, matrices):
    arrays = [matrices.square]
    moves, own = directions(arrays), Engine()
    known = differences(SUBSPACES[name], arrays, moves)[0]
    for turn in (own.forward, own.reverse):
        along = turn(SUBSPACES[name], moves)
        assert np.isclose(own.run(along, arrays), known, rtol=1e-6)


CHOICES = {
    "eigh": lambda a: linalg.eigh(a + np.conj(a).T)[1][1, 0].real,
    "svd": lambda a: linalg.svd(a)[0][0, 0].real,
    "schur": lambda a: linalg.schur(a, output="complex")[1][0, 0].real,
}


@pytest.mark.parametrize("name", CHOICES)
def test_what_depends_on_the_choice_is_refused(name):
    from rules_autodiff import grad

    with pytest.raises(rc.UnsupportedError, match=f"scipy.linalg.{name}.* but got"):
        grad(CHOICES[name])(COMPLEX.square)


@pytest.mark.parametrize("name", ["eigh", "svd", "eig"])
def test_vectors_of_equal_values_are_refused(name):
    from rules_autodiff import grad

    f = getattr(linalg, name)
    with pytest.raises(rc.UnsupportedError, match=f"{name} must be taken where no two"):
        grad(lambda a: np.sum(np.abs(f(a)[name != "svd"]) ** 4))(2.0 * np.eye(3))


@pytest.mark.parametrize("name", ["eigh", "svd"])
def test_vectors_of_equal_values_are_nan_in_jax(name):
    jax = pytest.importorskip("jax")
    f = getattr(linalg, name)
    got = jax.jit(jax.grad(lambda a: (f(a)[name != "svd"] ** 4).sum()))(np.eye(3))
    assert np.isnan(got).any()


@pytest.mark.parametrize("name", ["eigvalsh", "svdvals", "eigvals"])
@pytest.mark.parametrize("host", HOSTS)
def test_equal_values_share(name, host):
    f, own = getattr(linalg, name), HOSTS[host]()
    move = np.diag([1.0, 2.0, 6.0])
    along = own.reverse(lambda a: f(a)[0].real, [move])
    assert np.isclose(own.run(along, [np.eye(3)]), 3.0)


def test_a_defective_matrix_is_refused():
    _, pullback = rc.rrule(sl.eigvals, np.array([[1.0, 1.0], [0.0, 1.0]]))
    with pytest.raises(rc.UnsupportedError, match="eigvals must be taken of a matrix"):
        pullback(np.ones(2))


def test_columns_that_are_not_determined_are_refused():
    q, pullback = rc.rrule(sl.qr, REAL.tall)
    with pytest.raises(rc.UnsupportedError, match="Use mode='economic'"):
        pullback(tuple(map(np.ones_like, q)))


# Options


@pytest.mark.parametrize("name", ["inv", "det", "lu_factor", "cholesky", "eigvalsh"])
def test_overwriting_does_no_harm(name):
    f, a = getattr(sl, name), np.asfortranarray(REAL.positive)
    kept = a.copy()
    y, pullback = rc.rrule(f, a, overwrite_a=True)
    assert np.array_equal(a, kept)
    seed = tuple(map(np.ones_like, y)) if isinstance(y, tuple) else np.ones_like(y)
    plain = rc.rrule(f, a)[1](seed)
    assert np.allclose(pullback(seed)[1], plain[1])


def test_what_is_not_read_has_no_slope():
    _, pullback = rc.rrule(sl.solve, REAL.positive, REAL.b, assume_a="pos", lower=True)
    da = pullback(np.ones(3))[1]
    assert np.array_equal(np.triu(da, 1), np.zeros((3, 3)))
    assert da[np.tril_indices(3)].all()


def test_a_subset_by_value_is_refused():
    _, pullback = rc.rrule(sl.eigvalsh, REAL.even, subset_by_value=(-9.0, 0.0))
    with pytest.raises(rc.UnsupportedError, match="subset_by_index"):
        pullback(np.ones(1))


def test_batches():
    jax = pytest.importorskip("jax")
    stack = np.stack([REAL.far, REAL.positive])

    def slope(a):
        return jax.grad(lambda a: linalg.expm(a / 9).sum())(a)

    got = jax.jit(jax.vmap(slope))(stack)
    assert np.allclose(got, [slope(a) for a in stack])
    if TAKES_STACKS:
        _, pullback = rc.rrule(sl.inv, stack)
        single = [rc.rrule(sl.inv, a)[1](np.ones((3, 3)))[1] for a in stack]
        assert np.allclose(pullback(np.ones_like(stack))[1], single)


STACKED = {
    "lstsq": lambda a: linalg.lstsq(a, a[..., :2]),
    "lstsq, a vector": lambda a: linalg.lstsq(a[..., :2], a[0, :, 2]),
    "lstsq, one right side": lambda a: linalg.lstsq(a[..., :2], a[0]),
    "polar": linalg.polar,
    "polar, left": lambda a: linalg.polar(a[..., :2], side="left"),
    "khatri_rao": lambda a: linalg.khatri_rao(a, a[0]),
    "lu": lambda a: linalg.lu(a)[1:],
    "qr": linalg.qr,
    "cholesky": lambda a: linalg.cholesky(a @ a.mT),
    "ldl": lambda a: linalg.ldl(a + a.mT)[:2],
    "funm": lambda a: linalg.funm(a, np.exp),
    "expm": linalg.expm,
    "solve": lambda a: linalg.solve(a, a[0]),
    "solve_sylvester": lambda a: linalg.solve_sylvester(a, a, a[0]),
}


@pytest.mark.covering(strength=1)
@pytest.mark.skipif(not TAKES_STACKS, reason="SciPy takes stacks since 1.17")
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", STACKED)
def test_stacks_of_matrices(name, host):
    """Of a stack the derivative is that of SciPy's values."""
    stack, own = np.stack([REAL.far, REAL.positive + np.eye(3)]), HOSTS[host]()
    moves = directions([stack])

    def loss(array):
        return loss_of(lambda xs: STACKED[name](xs), lambda xs: xs, {}, array)

    known = differences(lambda a: loss(np.asarray)(a), [stack], moves)[0]
    assert known
    along = own.reverse(loss(own.array), moves)
    assert np.isclose(own.run(along, [stack]), known, rtol=2e-4)


def test_the_driver_of_lstsq_that_returns_no_singular_values():
    jax = pytest.importorskip("jax")

    def size(a):
        x, *_, values = linalg.lstsq(a, a[:, :1], lapack_driver="gelsy")
        assert values is None
        return (x**2).sum() + a.sum()

    expected = jax.grad(lambda a: (linalg.lstsq(a, a[:, :1])[0] ** 2).sum() + a.sum())
    for grad in (jax.grad(size), jax.jit(jax.grad(size))):
        assert np.allclose(grad(REAL.far), expected(REAL.far))


def test_a_complex_result_of_a_real_matrix_is_an_error_in_frameworks():
    jax = pytest.importorskip("jax")
    with pytest.raises(Exception, match="complex128"):
        jax.jit(linalg.logm)(np.diag([-1.0, -2.0]))
    got = jax.jit(linalg.logm)(np.diag([-1.0, -2.0]).astype(complex))
    assert np.allclose(got, sl.logm(np.diag([-1.0, -2.0])))


def test_factors_in_a_framework():
    jax = pytest.importorskip("jax")

    def program(a, b):
        return linalg.cho_solve(linalg.cho_factor(a, lower=True), b).sum()

    slope = jax.jit(jax.grad(program, 1))(REAL.positive, REAL.b)
    assert np.allclose(slope, np.linalg.solve(REAL.positive, np.ones(3)))


LISTS = {
    "solve": lambda s: sl.solve([[s, 1.0], [0.0, 2.0]], [1.0, s]),
    "toeplitz": lambda s: sl.toeplitz([s, 1.0, s]),
    "block_diag": lambda s: sl.block_diag(s, [[1.0, s]]),
    "expm": lambda s: sl.expm([[s, 1.0], [0.0, 0.3]]),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_and_numbers(name):
    from rules_autodiff import grad, jvp

    def program(s):
        return np.sum(LISTS[name](s) ** 2)

    known = differences(program, [0.7], [1.0])[0]
    assert np.isclose(grad(program)(0.7), known, rtol=1e-7)
    assert np.isclose(jvp(program, (0.7,), (1.0,))[1], known, rtol=1e-7)


@pytest.mark.filterwarnings("ignore:Matrix is singular")
def test_the_root_of_a_singular_matrix_has_no_slope():
    _, pullback = rc.rrule(sl.sqrtm, np.zeros((2, 2)))
    assert np.isnan(pullback(np.ones((2, 2)))[1]).all()


NESTED = {
    "lu_factor": lambda a: linalg.lu_factor(a)[0],
    "det": linalg.det,
    "eigvalsh": lambda a: linalg.eigvalsh(a, a @ a.T),
    "schur": lambda a: linalg.schur(a @ a.T)[0] ** 2,
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("modes", ["ff", "fr"])
def test_a_forward_mode_differentiated_in_torch(name, modes):
    """PyTorch's own rules of `solve` and `det` are wrong there."""
    own, moves = Torch(), directions([REAL.far])

    def program(a):
        return (NESTED[name](a) ** 2).sum() / 1e3

    known = differences(lambda a: float(program(a)), [REAL.far], moves)[1]
    along = program
    for mode in modes:
        along = (own.forward if mode == "f" else own.reverse)(along, moves)
    assert np.isclose(own.run(along, [REAL.far]), known, rtol=1e-4)


RANK_ONE = np.outer([1.0, 2.0, 3.0], [2.0, 1.0, 1.0])
ON_CUT = np.diag([1.0, -2.0, 3.0]) + 0.1
CUT = np.array([[1.0, 0.3, 0.0], [0.0, 2.0, 0.0], [0.05, 0.0, 0.1]])
TALL = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.1], [0.3, 0.7]])
UNDETERMINED = {
    "vectors of equal values": (lambda x: linalg.svd(x)[0][0, 0], RANK_ONE),
    "equal eigenvalues": (lambda x: linalg.eigh(x)[1][0, 0], np.eye(3)),
    "further vectors": (lambda x: linalg.svd(x)[0][0, 2], TALL),
    "cutoff": (lambda x: linalg.pinv(x, rtol=0.2)[0, 0], CUT),
    "cutoff of lstsq": (lambda x: linalg.lstsq(x, x[0], cond=0.2)[0][0], CUT),
    "polar": (lambda x: linalg.polar(x)[0][0, 0], RANK_ONE),
    "qr": (lambda x: linalg.qr(x)[1][0, 1], RANK_ONE),
    "power": (lambda x: linalg.fractional_matrix_power(x, 0.5)[0, 0].real, RANK_ONE),
    "logarithm": (lambda x: linalg.logm(x + 0j)[0, 0].real, ON_CUT),
}


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("name", UNDETERMINED)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_undetermined_derivatives_are_no_numbers(name):
    """NaN in code that a framework traces: never zero, which a `where` would give."""
    f, x = UNDETERMINED[name]
    slope = jax.jit(jax.grad(f))(x)
    assert np.isnan(slope).any()


def test_options_that_are_numbers_are_constants():
    """Their tangents, zeros of the framework's own, are no derivatives."""
    d, e = np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.25])
    _, dw = jax.jvp(linalg.eigvalsh_tridiagonal, (d, e), (np.ones(3), np.zeros(2)))
    np.testing.assert_allclose(dw, np.ones(3))
    x = np.array([1.0, 3.0])
    assert jax.jvp(lambda x: linalg.norm(x, np.inf), (x,), (x,))[1] == 3.0
