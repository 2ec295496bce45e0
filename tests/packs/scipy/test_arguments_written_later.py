"""Functions that may return their argument or a view of it, and writes afterwards.

Rules of the packs call the wrappers of `array_api_compat`, which may do so too.
"""

from __future__ import annotations

from typing import Any

import array_api_compat.numpy
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spl
import scipy.stats as st

import rules_autodiff as ad

xp: Any = array_api_compat.numpy
U = np.array([0.3, 0.7, 1.1, 2.0])
V = np.array([0.3, -1.0, 0.5, 0.2])
A = sp.csr_array(np.diag([3.0, 4.0, 5.0, 6.0]) + np.tri(4) / 3)

VIEWS = {
    "asarray": xp.asarray,
    "asarray with dtype": lambda u: xp.asarray(u, dtype=np.float64),
    "asarray, copied": lambda u: xp.asarray(u, copy=True),
    "asarray of a list": lambda u: xp.asarray([u[0], u[1]]),
    "astype": lambda u: xp.astype(u, np.float64, copy=False),
    "astype, copied": lambda u: xp.astype(u, np.float64),
    "astype to complex": lambda u: xp.real(xp.astype(u, np.complex128)),
    "permute_dims": lambda u: xp.permute_dims(u.reshape(2, 2), (1, 0)),
    "matrix_transpose": lambda u: xp.matrix_transpose(u.reshape(2, 2)),
    "linalg.matrix_transpose": lambda u: xp.linalg.matrix_transpose(u.reshape(2, 2)),
    "linalg.diagonal": lambda u: xp.linalg.diagonal(u.reshape(2, 2)),
    "reshape": lambda u: xp.reshape(u, (2, 2)),
    "reshape, copied": lambda u: xp.reshape(u, (2, 2), copy=True),
    "broadcast_to": lambda u: xp.broadcast_to(u, (2, 4)),
    "expand_dims": lambda u: xp.expand_dims(u, axis=0),
    "squeeze": lambda u: xp.squeeze(u[None], 0),
    "flip": xp.flip,
    "moveaxis": lambda u: xp.moveaxis(u.reshape(2, 2), 0, 1),
    "unstack": lambda u: xp.unstack(u.reshape(2, 2))[0],
    "clip": lambda u: xp.clip(u),
    "concat": lambda u: xp.concat([u]),
    "real": xp.real,
    "NumPy's asarray": np.asarray,
    "NumPy's nan_to_num": lambda u: np.nan_to_num(u, copy=False),
    "NumPy's require": lambda u: np.require(u, np.float64),
    "NumPy's real_if_close": np.real_if_close,
    "NumPy's trim_zeros": np.trim_zeros,
    "NumPy's linalg.diagonal": lambda u: np.linalg.diagonal(u.reshape(2, 2)),
    "method astype": lambda u: u.astype(float, copy=False),
}
OF_SCIPY = {
    "sparse @": lambda u: A @ u,
    "sparse *": lambda u: sp.csr_matrix(A) * u,
    "sparse dot": lambda u: A.dot(u),
    "@ sparse": lambda u: u @ A,
    "spsolve": lambda u: spl.spsolve(A.tocsc(), u),
    "cg": lambda u: spl.cg(A + A.T, u, rtol=1e-12)[0],
    "gmres": lambda u: spl.gmres(A, u, rtol=1e-12)[0],
    "expm_multiply": lambda u: spl.expm_multiply(A * 0.1, u),
    "norm.logpdf": st.norm.logpdf,
    "norm.cdf": st.norm.cdf,
    "t.logpdf": lambda u: st.t.logpdf(u, 3.0),
    "multivariate_normal": lambda u: st.multivariate_normal.logpdf(
        u, np.zeros(4), np.eye(4)
    ),
    "zscore": st.zscore,
    "skew": st.skew,
    "kurtosis": st.kurtosis,
    "pearsonr": lambda u: st.pearsonr(u, u**2)[0],
    "linregress": lambda u: st.linregress(np.arange(4.0), u)[0],
    "gmean": st.gmean,
    "gaussian_kde": lambda u: st.gaussian_kde(u)(np.array([0.5]))[0],
    "entropy": lambda u: st.entropy(u / u.sum()),
}
ALL = {**VIEWS, **OF_SCIPY}


def weighed(w):
    return np.sum(w * np.cos(np.arange(float(np.size(w)))).reshape(np.shape(w)))


def argument_written(g):
    """Steps that write to the argument while the result is kept."""

    def program(u):
        u = u.copy()
        total = 0.0
        for _ in range(2):
            w = g(u)
            u += 0.1 * np.sin(u)
            total = total + weighed(w)
        return u @ u + total

    return program


def result_written(g):
    """Writes to the result, which is the argument or a copy of it."""

    def program(u):
        u = u * 1.0
        w = g(u)
        before = w * 1.0
        if isinstance(w, np.ndarray) and w.flags.writeable:
            w += 1.5 * before
        return (u * u) @ np.arange(1.0, 5.0) + weighed(w)

    return program


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("tier", ["tape", "auto"])
@pytest.mark.parametrize("write", [argument_written, result_written])
@pytest.mark.parametrize("name", ALL)
def test_writes_afterwards(name, write, tier):
    program, h = write(ALL[name]), 1e-6
    exact = (program(U + h * V) - program(U - h * V)) / (2 * h)
    for _ in range(2):  # code is generated at the second call
        found = ad.grad(program, tier=tier)(U) @ V
        assert found == pytest.approx(exact, rel=1e-6)
        _, found = ad.jvp(program, (U,), (V,), tier=tier)
        assert found == pytest.approx(exact, rel=1e-6)
