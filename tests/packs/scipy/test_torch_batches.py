"""Derivatives of derivatives where torch takes many tangents or cotangents at once."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import rules_scipy
from rules_scipy import integrate, linalg, ndimage, signal, stats
from rules_scipy.interpolate import BSpline, CubicSpline, PchipInterpolator

# Files whose derivatives do not come there.
LATER = ("_scattered.py", "_hulls.py", "_meshes.py")
D = torch.float64
X = torch.tensor(np.random.default_rng(3).normal(size=(4, 5)))
LINE = X.reshape(-1)[:9]
PLACES = torch.tensor([[0.3, 2.2], [1.2, 3.4]], dtype=D)
MATRIX = torch.tensor([[1.1, 0.2], [-0.1, 0.9]], dtype=D)

CALLS = {
    "shift": (lambda s: ndimage.shift(X, s), PLACES[:, 0]),
    "shift of an image": (lambda x: ndimage.shift(x, [0.3, 0.2]), X),
    "map_coordinates": (lambda q: ndimage.map_coordinates(X, q), PLACES),
    "rotate": (lambda x: ndimage.rotate(x, 20.0), X),
    "zoom": (lambda x: ndimage.zoom(x, 1.5), X),
    "affine_transform": (lambda m: ndimage.affine_transform(X, m), MATRIX),
    "spline_filter": (ndimage.spline_filter, X),
    "sobel": (ndimage.sobel, X),
    "convolve": (lambda x: ndimage.convolve(x, x[:3, :3], mode="constant"), X),
    "gaussian_filter": (lambda x: ndimage.gaussian_filter(x, 1.0), X),
    "savgol_filter": (lambda x: signal.savgol_filter(x, 5, 2), LINE),
    "resample": (lambda x: signal.resample(x, 7), LINE),
    "welch": (lambda x: signal.welch(x, nperseg=4)[1], LINE),
    "filtfilt": (lambda x: signal.filtfilt([0.3, 0.2], [1.0, -0.4], x), LINE),
    "simpson": (lambda x: integrate.simpson(x, axis=0), X),
    "lu_factor": (lambda x: linalg.lu(x)[2], X),
    "expm": (linalg.expm, MATRIX),
    "zscore": (stats.zscore, X),
    "CubicSpline": (lambda y: CubicSpline(np.arange(9.0), y)(PLACES), LINE),
    "Pchip": (lambda y: PchipInterpolator(np.arange(9.0), y)(PLACES), LINE),
    "BSpline": (lambda c: BSpline(np.arange(13.0), c, 3)(PLACES + 3), LINE),
}


def hessian(f, x):
    return torch.autograd.functional.hessian(f, x)


WAYS = {
    "func": lambda f, x: torch.func.hessian(f)(x),
    "older vmap": lambda f, x: torch.autograd.functional.hessian(f, x, vectorize=True),
    "last axis": lambda f, x: torch.func.vmap(torch.func.grad(f), -1, -1)(
        torch.stack([x, 1.1 * x], -1)
    ),
}


EVERY_DAY = ("shift", "sobel", "savgol_filter", "simpson", "CubicSpline")


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [
    name if name in EVERY_DAY else pytest.param(name, marks=pytest.mark.full)
    for name in CALLS
])  # fmt: skip
def test_a_batch_is_one_after_another(name, way):
    f, x = CALLS[name]

    def loss(x):
        return (f(x) ** 2).sum()

    found = WAYS[way](loss, x)
    if way == "last axis":
        each = [torch.func.grad(loss)(z) for z in (x, 1.1 * x)]
        expected = torch.stack(each, -1)
    else:
        expected = hessian(loss, x)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


def test_moveaxis_and_concat_are_called_by_the_names_torch_batches():
    for path in Path(rules_scipy.__file__).parent.rglob("*.py"):
        if path.name in ("_axes.py", *LATER):
            continue
        text = re.sub(r"np\.(moveaxis|concatenate)", "", path.read_text())
        assert not re.search(r"\.(moveaxis|concat)\(", text), path
