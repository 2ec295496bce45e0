"""Arrays in the other byte order: their cotangents lie in memory as they do.

A buffer of cotangents that a window reads in another order of bytes gives numbers of
any size. So an array is read in part and as a whole, in both orders.
"""

import numpy as np
import pytest

from rules_autodiff import grad, hvp, jacfwd, linearize, vjp

X = np.linspace(0.4, 0.9, 4)
W = np.arange(4.0)


def filled(x, dtype):
    y = np.zeros(4, dtype)
    y[:] = x
    return y


MAKE = {
    "astype": lambda x, dtype: x.astype(dtype),
    "filled": filled,
    "asarray": lambda x, dtype: np.asarray(2.0 * x, dtype),
    "field": lambda x, dtype: np.stack([x, x]).astype(dtype)[1],
}


def written(y):
    s = y[0] * 2.0
    y[1] = 5.0 * y[2]
    y[2:] += y[:2]
    return s + y[1]


PART = {
    "item": lambda y: y[1] * 3.0,
    "slice": lambda y: y[1:].sum() * 2,
    "reversed": lambda y: (y[::-1] * W).sum(),
    "reshaped": lambda y: y.reshape(2, 2)[0].sum(),
    "real part": lambda y: y.real[2] * 1.5,
    "written": written,
}
WHOLE = {
    "sine": lambda y: np.sum(np.sin(y)),
    "product": lambda y: (y @ W).real,
    "sorted": lambda y: (np.sort(y) @ W).real,
    "stacked": lambda y: np.stack([y, y])[1, 2].real,
    "chosen": lambda y: np.where(y.real > 0.3, y, 2 * y).sum().real,
    "shifted": lambda y: (y + 1.0)[3].real,
}


def reverse(f, x):
    return grad(f, tier="tape")(x)


MODES = {
    "grad": lambda f, x: grad(f)(x),
    "tape": reverse,
    "vjp": lambda f, x: vjp(f, x)[1](1.0)[0],
    "jacfwd": lambda f, x: jacfwd(f)(x),
    "linearize": lambda f, x: np.array([linearize(f, x)[1](v) for v in np.eye(4)]),
}


def differences(f, x, step):
    ends = [(f(x + step * v), f(x - step * v)) for v in np.eye(4)]
    return np.array([(float(a) - float(b)) / (2 * step) for a, b in ends])


@pytest.mark.covering
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("first", ["part", "whole"])
@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("part", PART)
@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("dtype", [">f8", "<f8", ">f4"])
def test_parts_and_wholes(dtype, make, part, whole, first, mode):
    def program(x):
        y = MAKE[make](x * x, dtype)
        if first == "part":
            some = PART[part](y)
            return some + WHOLE[whole](y)
        every = WHOLE[whole](y)
        return PART[part](y) + every

    single = dtype == ">f4"
    expected = differences(program, X, 1e-2 if single else 1e-6)
    found = MODES[mode](program, X)
    tolerance = 2e-2 if single else 1e-5
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("part", PART)
def test_second_derivatives(part):
    def program(x):
        y = (x * x).astype(">f8")
        some = PART[part](y)
        return some * WHOLE["stacked"](y) + WHOLE["chosen"](y)

    found = hvp(program, (X,), (W,))
    step = 1e-6
    ends = [reverse(program, X + s * step * W) for s in (1, -1)]
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * step), atol=1e-5)
