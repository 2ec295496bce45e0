"""Flags and arguments by which SciPy writes into arrays that are given to it."""

import inspect
from types import FunctionType

import numpy as np
import pytest
import scipy.linalg as sl

import rules_core as rc
from rules_scipy import fft, linalg, ndimage, signal, sparse

jax = pytest.importorskip("jax")
torch = pytest.importorskip("torch")

A = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, 0.2], [0.5, 0.2, 4.0]])
B = np.array([1.0, 2.0, -0.5])
BANDS = np.array([[0.0, 0.1, 0.2], [4.0, 5.0, 6.0]])
FACTOR, LU = sl.cho_factor(A), sl.lu_factor(A)
BAND_FACTOR = sl.cholesky_banded(BANDS)
# What is given to each function before its options.
GIVEN = {
    "solve": (A, B),
    "solve_triangular": (A, B),
    "cho_solve": (FACTOR, B),
    "lu_solve": (LU, B),
    "solve_banded": ((0, 1), BANDS, B),
    "solveh_banded": (BANDS, B),
    "cho_solve_banded": ((BAND_FACTOR, False), B),
    "cholesky_banded": (BANDS,),
    "eig_banded": (BANDS,),
    "eigvals_banded": (BANDS,),
    "eig": (A, np.eye(3)),
    "eigh": (A, np.eye(3) + 0.1),
    "eigvalsh": (A, np.eye(3) + 0.1),
    "lstsq": (A, B),
    "detrend": (B,),
    "spsolve_triangular": None,  # of a sparse matrix, which it copies
}
# Results that forward mode refuses, or has only where more is asked for.
WITHOUT_JACOBIAN = {"eig", "detrend", "matrix_balance", "ldl"}


def options_of(f):
    return [n for n in inspect.signature(f).parameters if n.startswith("overwrite")]


FLAGGED = {
    f"{module.__name__.partition('.')[2]}.{name}": f
    for module in (fft, linalg, ndimage, signal, sparse.linalg)
    for name, f in sorted(vars(module).items())
    if isinstance(f, rc.Primitive | FunctionType) and options_of(f)
}
WRITING = {
    name: f
    for name, f in sorted(vars(ndimage).items())
    if isinstance(f, rc.Primitive) and "output" in inspect.signature(f).parameters
}


def given_to(label):
    module, _, name = label.rpartition(".")
    return GIVEN.get(name, (A if module == "linalg" else np.stack([A, A + 1]),))


def jax_array(x):
    return jax.numpy.array(np.asfortranarray(x))  # in LAPACK's order


def torch_array(x):
    tensor = torch.tensor(x)
    return tensor.T.contiguous().T if tensor.ndim == 2 else tensor


def numbers(y):
    """The results of floating numbers, in NumPy."""
    parts = jax.tree.leaves(y)
    arrays = [x.detach() if isinstance(x, torch.Tensor) else x for x in parts]
    return [np.asarray(x) for x in arrays if rc.is_array(x)]


def floating(y):
    parts = y if isinstance(y, tuple | list) else (y,)
    arrays = [
        p.real if "complex" in str(p.dtype) else p for p in parts if rc.is_array(p)
    ]
    return tuple(p for p in arrays if "float" in str(p.dtype))


WAYS = {
    "jax": (jax_array, lambda f, x: f(x)),
    "jax jit": (jax_array, lambda f, x: jax.jit(f)(x)),
    "jax vmap": (jax_array, lambda f, x: jax.vmap(f)(jax.numpy.stack([x, x]))),
    "jax jacfwd": (jax_array, lambda f, x: jax.jacfwd(lambda v: floating(f(v)))(x)),
    "torch": (torch_array, lambda f, x: f(x)),
    "torch parameter": (
        torch_array,
        lambda f, x: torch.no_grad()(f)(torch.nn.Parameter(x)),
    ),
    "torch jacfwd": (
        torch_array,
        lambda f, x: torch.func.jacfwd(lambda v: floating(f(v)))(x),
    ),
}


@pytest.mark.covering(every=61)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("label", FLAGGED)
def test_arrays_of_frameworks_are_kept(label, way):
    f, given = FLAGGED[label], given_to(label)
    name = label.rpartition(".")[2]
    if given is None or (way.endswith("jacfwd") and name in WITHOUT_JACOBIAN):
        return
    array, run = WAYS[way]
    before, form = jax.tree.flatten(given)
    arrays = [isinstance(x, np.ndarray) for x in before]
    place = next(i for i, x in enumerate(before) if arrays[i] and x.dtype.kind == "f")
    found = []
    for flags in ({}, dict.fromkeys(options_of(f), True)):
        own = [array(x) if many else x for x, many in zip(before, arrays, strict=True)]

        def call(x, own=own, flags=flags):
            args = [*own[:place], x, *own[place + 1 :]]
            return f(*form.unflatten(args), **flags)

        found.append(numbers(run(call, own[place])))
        for x, y in zip(before, own, strict=True):
            np.testing.assert_array_equal(np.asarray(y), x)
    assert found[0]
    for plain, flagged in zip(*found, strict=True):
        np.testing.assert_allclose(flagged, plain, atol=1e-12)


def test_an_array_of_numpy_is_written():
    found = np.empty_like(A)
    ndimage.laplace(A, output=found)
    np.testing.assert_array_equal(found, ndimage.laplace(A))


def test_all_flags_are_met():
    assert len(FLAGGED) > 50
    assert set(GIVEN) <= {label.rpartition(".")[2] for label in FLAGGED}


ARGUMENTS = {
    "correlate1d": (B,), "convolve1d": (B,), "correlate": (A,), "convolve": (A,),
    "map_coordinates": (np.ones((2, 4)),), "affine_transform": (A[:2, :2],),
    "shift": (0.5,), "zoom": (1.5,), "rotate": (30.0,), "rank_filter": (1, 3),
    "percentile_filter": (30, 3), "geometric_transform": (lambda at: at,),
    "gaussian_filter": (0.8,), "gaussian_filter1d": (0.8,), "gaussian_laplace": (0.8,),
    "gaussian_gradient_magnitude": (0.8,), "fourier_shift": (0.3,),
    "fourier_gaussian": (0.3,), "fourier_uniform": (3,), "fourier_ellipsoid": (3,),
    "laplace": (), "sobel": (), "prewitt": (), "spline_filter": (),
    "spline_filter1d": (),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITING)
def test_an_array_for_the_result_is_refused_in_frameworks(name):
    """SciPy would write into a copy, and the given array stay as it was."""
    f, args = WRITING[name], ARGUMENTS.get(name, (3,))
    for array in (torch.tensor, jax.numpy.asarray):
        for output in (array(np.zeros_like(A)), np.zeros_like(A)):
            with pytest.raises(rc.UnsupportedError, match="Leave output out"):
                f(array(A), *args, output=output)
