"""float32 is kept: by the values of rules, and by their cotangents."""

from __future__ import annotations

import numpy as np
import pytest

import rules_autodiff as ad
import rules_core as rc
from tests.packs.numpy.reports import reported
from tests.packs.numpy.single import difference

X = np.linspace(0.5, 2.0, 4, dtype=np.float32)


@pytest.mark.full
def test_every_checked_call_in_single_precision():
    """What the other tests check, with float32 arrays: see single.py."""
    assert reported("single", after="changed") == []


def doubled(x):
    return 2 * x


@pytest.mark.parametrize(
    ("wide_value", "wide_cotangent", "text"),
    [(False, False, None), (True, False, "value"), (False, True, "cotangent float64")],
)
def test_a_wider_result_is_found(wide_value, wide_cotangent, text):
    with rc.testing.isolated_rules():

        @rc.rrule.define(doubled)
        def doubled_rrule(x):
            def doubled_pullback(dy):
                dx = 2 * dy
                return rc.NoTangent(), dx.astype("f8") if wide_cotangent else dx

            return doubled(x).astype("f8") if wide_value else doubled(
                x
            ), doubled_pullback

        found = difference(doubled, (np.ones(2),), {})
        assert found is None if text is None else text in found


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (np.clip, (X, 0.6, 1.5)),
        (np.where, (X > 1.0, X, 0.5)),
        (np.quantile, (X, 0.3)),
        (np.linspace, (X, 1.5, 3)),
        (np.trapezoid, (X,)),
        (X.clip, (0.6, 1.5)),
    ],
)
def test_a_python_number_does_not_widen(f, args):
    """It is weak in NumPy; as an array it would make float32 float64."""
    y, pullback = rc.rrule(f, *args)
    assert y.dtype == np.float32
    tangents = (X if f == X.clip else rc.NoTangent(), *(_tangent(x) for x in args))
    _, dy = rc.frule(tangents, f, *args)
    assert dy.dtype == np.float32
    assert all(
        dx.dtype == np.float32
        for x, dx in zip(args, pullback(y)[1:], strict=False)
        if x is X
    )


def _tangent(x):
    if isinstance(x, np.ndarray) and x.dtype == bool:
        return rc.NoTangent()
    return np.ones_like(x) if isinstance(x, np.ndarray) else 1.0


def test_a_program_in_single_precision():
    def f(x):
        return np.sum(np.clip(x, 0.6, 1.5) ** 2 * 0.5 + np.where(x > 1.0, x, 0.5))

    value, gradient = ad.value_and_grad(f)(X)
    assert value.dtype == gradient.dtype == np.float32
    assert f(X).dtype == np.float32
