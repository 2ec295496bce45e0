"""Variables without a value, in compiled code: the error that Python raises."""

import numpy as np
import pytest

from rules_autodiff import grad, hessian, jacfwd, jvp, vjp
from rules_autodiff.straight._tier import compiling, signatures
from tests.engine.straight.compiled import assert_agree, served

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch):
    monkeypatch.setattr(signatures, "AFTER", 0)
    monkeypatch.setattr(compiling, "WORTH", 0)
    monkeypatch.setattr(compiling, "FAILURES", 10**9)
    monkeypatch.setattr(signatures, "FAILURES", 10**9)


def late(u, n):
    for i in range(n):
        v = u * i
    return v + i


def unbound(x, w, k, n):
    """One case of each by `k`, each with variables of its own; compiled once."""
    s = x
    if k == 0:
        for i0 in range(n):
            y0 = x * x + i0
        s = s + y0
    elif k == 1:
        for i1 in range(n):
            s = s * 1.5 + i1
        s = s + i1
    elif k == 2:
        for i2 in range(3):
            if n > i2:
                y2 = x * i2
            s = s * y2
    elif k == 3:
        while n > 0:
            y3 = n
            n = n - 1
        s = s * y3
    elif k == 4:
        for _ in range(3):
            for j4 in range(n):
                s = s * 1.5 + j4
            s = s + j4
    elif k == 7:
        s = s + late(x, n)
    elif k == 14:
        for _ in range(2):
            if n > 0:
                y14 = s
            if n > 0:
                s = s + y14
    return s


def others(x, w, k, n):
    """More cases, of arrays and tuples among them."""
    s = x
    if k == 5:
        for v5 in w[:n]:
            s = s + v5 * v5
        s = s * v5
    elif k == 6:
        for i6 in range(n):
            y6 = w * x
            s = s + y6[i6]
        s = s + np.sum(y6)
    elif k == 8:
        for i8 in range(3):
            if i8 >= n:
                continue
            y8 = s
        s = s + y8
    elif k == 9:
        for i9 in range(3):
            if w[i9] > 10.0 * n:
                break
        else:
            y9 = x
        s = s + y9
    elif k == 10:
        for i10 in range(n):
            y10, z10 = x * i10, x
        s = s + z10 * y10
    elif k == 11:
        if n > 0:
            y11 = x
        for _ in range(2):
            y11 += s
        s = s * y11
    elif k == 12:
        if n > 0:
            y12 = x > 0.5
        s = s * 2.0 if y12 else s
    elif k == 13:
        for i13 in range(n):
            y13 = x * i13
        s = s + (x if n == 0 else y13)  # read only where it has a value
    elif k == 15:
        for _ in range(n):
            y15 = w.copy()
        s = s + y15[1] * y15[0]
    return s


W = np.array([0.25, 1.0, -0.5])
RAISING = [*range(13), 15]


def check(f, k, n):
    assert_agree(f, 2.0, W, k, n, by=(0, 1), rtol=4e-16)
    found = served(f, 2.0, W, k, n, by=(0, 1))
    if n > 0 or k not in RAISING:
        assert not isinstance(found, str)
    else:
        assert "does not serve this call: it raised UnboundLocalError" in found


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 7, 14])
@pytest.mark.parametrize("n", [0, 2])
def test_numbers(k, n):
    check(unbound, k, n)


@pytest.mark.full
@pytest.mark.parametrize("k", [5, 6, 8, 9, 10, 11, 12, 13, 15])
@pytest.mark.parametrize("n", [0, 2])
def test_arrays_and_other_ways(k, n):
    check(others, k, -1 if k == 9 and n == 0 else n)


def after(x, n):
    for i in range(n):
        x = x * 1.5 + i
    return x * (i + 1)


def pulled(f):
    return lambda x, n: vjp(f, x, n)[1](1.0)


def pushed(f):
    return lambda x, n: jvp(f, (x, n), (1.0, None))


@pytest.mark.full
@pytest.mark.parametrize("run", [grad, hessian, jacfwd, pulled, pushed])
def test_every_transformation(run):
    run(after)(2.0, 3)
    for _ in range(2):
        with pytest.raises(UnboundLocalError, match="'i'"):
            run(after)(2.0, 0)
