"""What compiled code keeps between two calls: arrays as they were at the first."""

from types import SimpleNamespace

import numpy as np
import pytest

from rules_autodiff import linearize, vjp
from rules_autodiff.straight._tier import compiling, signatures

numba = pytest.importorskip("numba")

TABLE, PAIR = np.ones(3), (np.ones(3), 2.0)
HELD = SimpleNamespace(weights=np.ones(3))


def read_everywhere(x, w, n):
    s = x[0]
    for i in range(n):
        s = s * x[i] * TABLE[i] * PAIR[0][i] * HELD.weights[i] + w[i] * x[i] * PAIR[1]
    return s


@pytest.fixture
def arrays():
    found = np.arange(1.0, 4.0), np.full(3, 0.5), TABLE, PAIR[0], HELD.weights
    yield found
    for held in found[2:]:
        held[...] = 1.0


def change(found):
    for x in found:
        x[...] = 99.0


@pytest.mark.parametrize(
    "tier", ["auto", pytest.param("compiled", marks=pytest.mark.full)]
)
def test_a_pullback(arrays, monkeypatch, tier):
    monkeypatch.setattr(signatures, "AFTER", 0)
    monkeypatch.setattr(compiling, "WORTH", 0)
    x, w, *_ = arrays
    _, expected = vjp(read_everywhere, x.copy(), w.copy(), 3, tier="tape")
    expected = expected(1.0)
    _, pullback = vjp(read_everywhere, x, w, 3, tier=tier)
    change(arrays)
    for _ in range(2):
        for one, other in zip(pullback(1.0)[:2], expected[:2], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize("tier", ["compiled", "straight"])
def test_a_linear_map(arrays, tier):
    x, w, *_ = arrays
    tangents = np.ones(3), np.ones(3), None
    _, expected = linearize(read_everywhere, x.copy(), w.copy(), 3, tier="tape")
    expected = expected(*tangents)
    _, f_jvp = linearize(read_everywhere, x, w, 3, tier=tier)
    change(arrays)
    assert f_jvp(*tangents) == pytest.approx(expected, rel=1e-14)


@pytest.mark.full
def test_a_pullback_that_compiled_code_does_not_serve(arrays, monkeypatch):
    """Generated Python code then reads the copies too."""
    x, w, *_ = arrays
    _, pullback = vjp(read_everywhere, x, w, 3, tier="compiled")
    expected = pullback(1.0)
    change(arrays)
    monkeypatch.setattr(
        "rules_autodiff.straight._tier.tier.Pass.compiled_cotangents",
        lambda *_: None,
    )
    for one, other in zip(pullback(1.0)[:2], expected[:2], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.full
def test_arguments_in_containers():
    def total(parts, n):
        s = 0.0
        for i in range(n):
            s = s + parts["a"][i] * parts["b"] + parts["a"][i] ** 2
        return s

    parts = {"a": np.arange(1.0, 4.0), "b": 2.0}
    _, pullback = vjp(total, parts, 3, tier="compiled")
    parts["a"][...], parts["b"] = 9.0, 5.0
    (found, _) = pullback(1.0)
    np.testing.assert_allclose(found["a"], [4.0, 6.0, 8.0])
    assert found["b"] == 6.0
