"""Functions of SciPy in torch.compile: as they are outside of it."""

import numpy as np
import pytest
import torch

from rules_scipy import linalg
from rules_scipy.interpolate import (
    BSpline,
    CubicSpline,
    PchipInterpolator,
    interp1d,
)

Y = torch.tensor([0.0, 1.0, 4.0, 9.0, 16.0, 25.0], dtype=torch.float64)
Q = torch.tensor([0.4, 1.7], dtype=torch.float64)
full = pytest.mark.full

SPLINES = {
    "CubicSpline": lambda y, q: CubicSpline(np.arange(6.0), y)(q),
    "Pchip": lambda y, q: PchipInterpolator(np.arange(6.0), y)(q),
    "interp1d": lambda y, q: interp1d(np.arange(6.0), y)(q),
    "BSpline": lambda y, q: BSpline(np.arange(10.0), y, 3)(q + 3.0),
}


def compiled(f):
    torch._dynamo.reset()
    return torch.compile(f, backend="aot_eager")


@pytest.mark.filterwarnings("ignore")  # Dynamo warns about itself
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[full] * (n != "interp1d")) for n in SPLINES]
)
def test_numpy_places_beside_tensors(name):
    f = SPLINES[name]
    ys = [Y.clone().requires_grad_() for _ in range(2)]
    results = [compiled(f)(ys[0], Q), f(ys[1], Q)]
    for z in results:
        z.sum().backward()
    torch.testing.assert_close(*results)
    torch.testing.assert_close(ys[0].grad, ys[1].grad)


@pytest.mark.filterwarnings("ignore")  # Dynamo warns about itself
@pytest.mark.parametrize("name", ["eig", "eigvals"])
def test_a_real_result_where_it_may_be_complex(name):
    f = getattr(linalg, name)
    a = torch.tensor([[2.0, 0.0], [0.0, 3.0]], dtype=torch.float64)
    found, known = compiled(f)(a), f(a)
    pairs = zip(found, known, strict=True) if name == "eig" else [(found, known)]
    for x, y in pairs:
        assert x.is_complex()
        torch.testing.assert_close(x, y.to(x.dtype))
