"""What has to hold of a call that is written out."""

from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import join, kind_of
from tests.engine.straight.written import (
    Case,
    by_tape,
    cotangents,
    forward,
)

__all__ = ["check", "cotangents_of", "directions"]

STEP = 1e-6


def check(case: Case) -> None:
    """The value bit for bit, its kind, its memory, and every cotangent."""
    written = case.written
    assert written is not None, "it is left to the tape"
    assert len(written.pulls) in (0, len(case.operands))
    with np.errstate(all="ignore"):
        z, expected = forward(case, written), case.run(*case.values)
    assert_same(z, expected)
    assert is_kind(kind_of(z), written.kind, case)
    if written.fresh and isinstance(z, np.ndarray):
        assert not any(x is z or shares(x, z) for x in case.values)
    for i in case.active(written):
        assert case.call.kinds[i].is_real
    if not written.kind.is_real:
        assert not case.active(written)
    elif case.active(written):
        for dz in directions(z):
            check_cotangents(case, z, dz)


def is_kind(found: Any, said: Any, case: Case) -> bool:
    """Of numbers one may be chosen that is whole, where a float is said."""
    return found == said or (case.key in (max, min) and join(found, said) == said)


def shares(x: Any, z: Any) -> bool:
    return isinstance(x, np.ndarray) and np.shares_memory(x, z)


def assert_same(z: Any, expected: Any) -> None:
    """Equal in class, form and every bit, whatever a NaN's."""
    assert type(z) is type(expected)
    assert np.shape(z) == np.shape(expected)
    np.testing.assert_array_equal(z, expected)
    if isinstance(z, np.ndarray):
        assert z.dtype == expected.dtype


def directions(z: Any) -> list[Any]:
    """Cotangents of a result, in every form that one may have."""
    if not isinstance(z, np.ndarray):
        return [0.75, np.float64(-1.5)]
    random: Any = np.random.default_rng(7).standard_normal
    plain = random(z.shape)
    locked = plain.copy()
    locked.flags.writeable = False
    turned = random(z.shape[::-1]).T
    apart = random((*z.shape, 2))[..., 1]
    return [plain, locked, turned, apart, np.broadcast_to(np.float64(0.75), z.shape)]


def check_cotangents(case: Case, z: Any, dz: Any) -> None:
    before = np.array(dz), [np.array(x) for x in case.values]
    found = cotangents_of(case, z, dz)
    np.testing.assert_array_equal(dz, before[0])
    for x, old in zip(case.values, before[1], strict=True):
        np.testing.assert_array_equal(x, old)
    written = case.written
    assert written is not None
    for d, of_tape in zip(found, by_tape(case, written, dz), strict=True):
        np.testing.assert_allclose(d, of_tape, rtol=1e-9, atol=1e-11)
    if case.smooth:
        check_differences(case, found, dz)


def cotangents_of(case: Case, z: Any, dz: Any) -> list[Any]:
    """The cotangents, of whose form the tier may be sure."""
    written = case.written
    assert written is not None
    found = cotangents(case, written, z, dz)
    for i, d in zip(case.active(written), found, strict=True):
        x = case.values[i]
        if isinstance(x, np.ndarray):
            assert type(d) is np.ndarray
            assert d.shape == x.shape
            assert d.dtype == np.dtype(float)
        else:
            assert type(d) in (float, np.float64)
    return found


def check_differences(case: Case, found: list[Any], dz: Any) -> None:
    """⟨dz, f(x + h v) - f(x - h v)⟩ = 2 h ⟨dx, v⟩ along a direction v."""
    written = case.written
    assert written is not None
    places = case.active(written)
    random = np.random.default_rng(11).standard_normal
    along = [random(np.shape(case.values[i])) for i in places]
    f = case.at(places)
    ends = [
        f(
            *[
                moved(case.values[i], sign * v)
                for i, v in zip(places, along, strict=True)
            ]
        )
        for sign in (STEP, -STEP)
    ]
    slope = np.sum(dz * (ends[0] - ends[1])) / (2 * STEP)
    inner = sum(np.sum(d * v) for d, v in zip(found, along, strict=True))
    np.testing.assert_allclose(inner, slope, rtol=2e-6, atol=2e-7)


def moved(x: Any, v: Any) -> Any:
    y = x + v
    return y if isinstance(x, np.ndarray) else type(x)(y)
