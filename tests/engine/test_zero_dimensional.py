"""0-d arrays: NumPy's operators turn them into scalars, which cannot be added to."""

import numpy as np
import pytest

import rules_autodiff as ad


def cube(x):
    return x * x * x


def polynomial(x):
    y = x * x
    return y * x + y


def filled(x):
    a = np.zeros(3)
    for i in range(3):
        a[i] = x * i
    a += x
    return np.sum(a * a)


@pytest.mark.parametrize(
    "make", [float, np.float64, np.asarray], ids=lambda f: f.__name__
)
@pytest.mark.parametrize(
    ("f", "slope"),
    [(cube, 0.75), (polynomial, 1.75), (filled, 14.0)],
    ids=["cube", "polynomial", "filled"],
)
def test_several_uses_add_up(f, slope, make):
    x = make(0.5)
    assert ad.grad(f)(x) == pytest.approx(slope)
    _, dy = ad.jvp(f, (x,), (make(1.0),))
    assert dy == pytest.approx(slope)


@pytest.mark.parametrize("make", [float, np.asarray], ids=lambda f: f.__name__)
def test_reverse_over_reverse_over_reverse(make):
    def second(x):
        return ad.grad(lambda y: ad.grad(cube)(y))(x)

    assert second(make(0.5)) == pytest.approx(3.0)
    assert ad.grad(second)(make(0.5)) == pytest.approx(6.0)
