"""The rules under the reference engine: gradient, jvp, and forward over reverse."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rules_autodiff as ad

RNG = np.random.default_rng(11)
A = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
B = RNG.normal(size=3)
NODES = np.linspace(-6.0, 6.0, 7)

PROGRAMS = {
    "ufuncs": lambda x: np.sum(np.sin(x) * x / np.sqrt(1.0 + x**2)),
    "hypot": lambda x: np.sum(np.hypot(x, 2.0) ** 2 * np.arctan2(x, 2.0)),
    "math": lambda x: math.sin(x[0, 0]) * math.exp(x[1, 1] / 3.0),
    "sinc": lambda x: np.sum(np.sinc(x)),
    "power": lambda x: np.sum(np.abs(x) ** 1.5),
    "clip": lambda x: np.sum(np.clip(x, -0.5, 0.5) ** 2),
    "maximum": lambda x: np.max(x) * np.sum(np.maximum(x, 0.0)),
    "std": lambda x: np.std(x) + np.var(x[0]),
    "methods": lambda x: x.mean(axis=0).max() * x.reshape(-1).dot(x.ravel()),
    "prod": lambda x: np.prod(x[0]) * np.cumprod(x[1])[1],
    "cumsum": lambda x: np.cumsum(x)[3] ** 2,
    "matmul": lambda x: np.sum(x.T @ x),
    "einsum": lambda x: np.einsum("ij,jk->ik", x, x).sum(),
    "outer": lambda x: np.sum(np.outer(x[0], x[1]) ** 2),
    "kron": lambda x: np.sum(np.kron(x, x)),
    "solve": lambda x: np.sum(np.linalg.solve(x, B) ** 2),
    "inverse": lambda x: np.sum(np.linalg.inv(x)),
    "cholesky": lambda x: np.sum(np.linalg.cholesky(x @ x.T + np.eye(3))),
    "slogdet": lambda x: np.linalg.slogdet(x)[1],
    "det": lambda x: np.linalg.det(x),
    "eigh": lambda x: np.sum(np.linalg.eigh(x @ x.T)[0] ** 2),
    "svd": lambda x: np.sum(np.sqrt(np.linalg.svd(x)[1])),
    "qr": lambda x: np.sum(np.linalg.qr(x)[1]),
    "pinv": lambda x: np.sum(np.linalg.pinv(x[:, :2])),
    "norm": lambda x: np.linalg.norm(x[0], 3) * np.linalg.norm(x),
    "fft": lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2),
    "rfft": lambda x: np.sum(np.fft.rfft(x[0]).real ** 3),
    "concatenate": lambda x: np.sum(np.concatenate([x, x * 2.0]) ** 2),
    "stack": lambda x: np.prod(np.stack([x[0], x[1] * 2.0])),
    "array": lambda x: np.sum(np.array([x[0, 0], x[1, 1] * 2.0]) ** 2),
    "split": lambda x: np.sum(np.split(x, 3)[1]) ** 2,
    "pad": lambda x: np.sum(np.pad(x, 1, "edge") ** 2),
    "tile": lambda x: np.sum(np.tile(x, 2) ** 3),
    "take": lambda x: np.sum(np.take(x, [0, 0, 1]) ** 2),
    "where": lambda x: np.sum(np.where(x > 0, x, x**2)),
    "select": lambda x: np.sum(np.select([x > 0, x > -1], [x**2, x * 3.0], 0.0)),
    "sort": lambda x: np.sum(np.sort(x, axis=0)[0] ** 2),
    "median": lambda x: np.median(x) ** 2,
    "quantile": lambda x: np.quantile(x, 0.3) ** 2,
    "interp": lambda x: np.sum(np.interp(x, NODES, NODES**2) ** 2),
    "gradient": lambda x: np.sum(np.gradient(x)[0] ** 2),
    "convolve": lambda x: np.sum(np.convolve(x[0], x[1]) ** 2),
    "polyval": lambda x: np.sum(np.polyval(x[0], x[1])),
    "cov": lambda x: np.sum(np.cov(x) ** 2),
    "logaddexp": lambda x: np.logaddexp.reduce(x.ravel()),
    "diag": lambda x: np.sum(np.diag(x) ** 2) * np.trace(x),
    "meshgrid": lambda x: sum(np.sum(m**2) for m in np.meshgrid(x[0], x[1])),
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    f = PROGRAMS[name]
    v = np.random.default_rng(12).normal(size=A.shape)
    gradient = ad.grad(f)
    g = gradient(A)
    h = 1e-6
    slope = (f(A + h * v) - f(A - h * v)) / (2 * h)
    np.testing.assert_allclose(np.sum(g * v), slope, rtol=1e-6, atol=1e-7)
    _, ahead = ad.jvp(f, (A,), (v,))
    np.testing.assert_allclose(ahead, np.sum(g * v), rtol=1e-10, atol=1e-12)
    h = 1e-5
    change = (gradient(A + h * v) - gradient(A - h * v)) / (2 * h)
    _, second = ad.jvp(gradient, (A,), (v,))
    np.testing.assert_allclose(second, change, rtol=1e-5, atol=1e-6)
