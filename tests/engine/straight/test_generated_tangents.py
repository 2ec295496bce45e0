"""Generated programs in forward mode: against reverse mode, hooks and differences.

A program may be refused, or raise: then the hooks do the work. A wrong value or a wrong
tangent has no excuse.
"""

import warnings
from collections import Counter
from functools import partial

import numpy as np
import pytest

from rules_autodiff import hvp, jvp
from rules_autodiff.straight._program.kinds import kind_of
from rules_autodiff.straight._program.refused import Refused
from rules_autodiff.straight._tier.forward import Push
from rules_autodiff.straight._tier.tier import Left
from rules_autodiff.straight._unit.unit import write
from tests.engine.straight.random_instances import instance_program
from tests.engine.straight.random_programs import arguments, program
from tests.engine.straight.test_generated_straight import (
    ACTIVE,
    along,
    copied,
    difference,
    learned,
    run_programs,
)

COLUMNS = 3


def unit_of(plain, args, active, mode):
    """The generated code, or why there is none."""
    try:
        return write(plain, tuple(map(kind_of, args)), active, patient=False, mode=mode)
    except Refused as refused:
        return f"refused: {refused.reason}"


def run(plain, args, active, mode, dots):
    code = unit_of(plain, args, active, mode)
    if isinstance(code, str):
        return code
    try:
        return code.forward(*args, code.guard(plain), *dots)
    except Exception as error:
        return f"raised: {type(error).__name__}: {error}"


def directions(args, active, seed):
    rng = np.random.default_rng(seed)
    return {i: rng.normal(size=np.shape(args[i])) for i in active}


def check(seed, make=program):
    """Check one program; what became of it."""
    plain, noted, text = make(seed)
    args = arguments(seed)
    given = copied(args)
    value = plain(*args)
    if not np.all(np.abs(value) < 1e6):
        return "large"
    message = f"program {seed}\n{text}"
    active = ACTIVE[seed % len(ACTIVE)]
    direction = directions(args, active, seed)
    dots = [d if d.shape else float(d) for d in direction.values()]
    found = run(plain, args, active, "forward", copied(dots))
    for x, before in zip(args, given, strict=True):
        assert np.array_equal(x, before), f"an argument is written to in {message}"
    if isinstance(found, str):
        return found
    own, (tangent,) = found
    assert np.array_equal(own, value), f"the value {own} is not {value} in {message}"
    against_reverse(plain, args, active, direction, tangent, message)
    against_hooks(plain, args, direction, tangent, message)
    dy = np.ones(np.shape(value)) if np.shape(value) else 1.0
    expected = difference(noted, args, direction, dy)
    if expected is not None:
        slope = float(np.sum(tangent))
        assert abs(slope - expected) < 1e-5 * (
            1 + abs(expected) + np.max(np.abs(tangent))
        ), f"{slope} is not {expected} in {message}"
    return against_lanes(plain, args, active, seed, message)


def against_reverse(plain, args, active, direction, tangent, message):
    """⟨dy, f'(x) v⟩ = ⟨f'(x)* dy, v⟩."""
    shape = np.shape(tangent)
    dy = np.random.default_rng(3).normal(size=shape) if shape else 1.0
    try:
        code = learned(plain, args, active)
        _, kept = code.forward(*args, code.guard(plain))
        cotangents = code.reverse(kept, dy)
    except Exception:
        return
    slope, inner = along(cotangents, direction), float(np.sum(dy * tangent))
    pairs = zip(cotangents, direction.values(), strict=True)
    size = sum(np.sum(np.abs(d * v)) for d, v in pairs)
    assert abs(slope - inner) <= 1e-9 * (1 + size), (
        f"{inner} is not {slope} by reverse mode in {message}"
    )


def against_hooks(plain, args, direction, tangent, message):
    tangents = [direction.get(i) for i in range(len(args))]
    tangents = [d if d is None or d.shape else float(d) for d in tangents]
    _, by_hooks = jvp(plain, copied(args), tangents, tier="tape")
    np.testing.assert_allclose(
        tangent, by_hooks, rtol=1e-8, atol=1e-9,
        err_msg=f"the tangent is not that of the hooks in {message}",
    )  # fmt: skip


def against_lanes(plain, args, active, seed, message):
    columns = [directions(args, active, seed + k) for k in range(COLUMNS)]
    lanes = [np.stack([column[i] for column in columns], -1) for i in active]
    found = run(plain, args, active, "lanes", lanes)
    if isinstance(found, str):
        return f"lanes {found}"
    value, (tangents,) = found
    for k, column in enumerate(columns):
        dots = [d if d.shape else float(d) for d in column.values()]
        _, (one,) = run(plain, args, active, "forward", dots)
        np.testing.assert_allclose(
            (tangents + np.zeros((*np.shape(value), COLUMNS)))[..., k], one,
            rtol=1e-8, atol=1e-9, err_msg=f"lane {k} is wrong in {message}",
        )  # fmt: skip
    return "checked"


def check_second(seed, make=program):
    """The Hessian times a vector, against hooks; what became of it."""
    plain, _, text = make(seed)
    args = arguments(seed)
    value = plain(*args)
    if np.shape(value) or not np.abs(value) < 1e6:
        return "large, or no number"
    active = range(len(args) - 1)  # all but a whole number
    assert set(map(type, args[-1:])) == {int}
    dots = [d if d.shape else float(d) for d in directions(args, active, seed).values()]

    def of_floats(*xs):
        return plain(*xs, args[-1])

    try:
        push = Push(plain, args, {}, tuple(active), now=True, writing=False)
        found = push.gradient(dots)
    except Left as reason:
        return str(reason)[:80]
    expected = hvp(of_floats, args[:-1], dots, tier="tape")
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(
            one, other, rtol=1e-7, atol=1e-8,
            err_msg=f"not the second derivatives of the hooks: {seed}\n{text}",
        )  # fmt: skip
    return "checked"


run_all = partial(run_programs, least=0.3, check=check)


@pytest.mark.covering(every=10)
@pytest.mark.parametrize("first", range(0, 60, 6))
def test_generated(first):
    """60 programs."""
    run_all(range(first, first + 6))


@pytest.mark.covering(every=10)
@pytest.mark.parametrize("first", range(0, 60, 6))
def test_generated_with_instances(first):
    """60 programs."""
    run_all(range(first, first + 6), instance_program, least=0.0)


@pytest.mark.nightly
@pytest.mark.parametrize("make", [program, instance_program])
@pytest.mark.parametrize("first", range(1000, 2250, 250))
def test_generated_nightly(first, make):
    """2,500 programs."""
    run_all(range(first, first + 250), make, least=0.2)


@pytest.mark.nightly
@pytest.mark.parametrize("make", [program, instance_program])
@pytest.mark.parametrize("first", range(1000, 2000, 100))
def test_generated_second_derivatives(first, make):
    """2,000 programs, of which many are left to the hooks."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        counts = Counter(check_second(seed, make) for seed in range(first, first + 100))
    assert counts["checked"] > 10, counts
