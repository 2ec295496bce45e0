"""The tangent of each operation is the adjoint of its cotangents, one or several."""

from types import SimpleNamespace

import numpy as np
import pytest

from rules_autodiff import jvp
from rules_autodiff.straight._program.refused import Refused
from rules_autodiff.straight._program.values import Value, dot_of
from rules_autodiff.straight._read.tangents import Tangents
from rules_core import NoTangent
from tests.engine.straight.checks import directions
from tests.engine.straight.test_operations import GROUPS, each_case
from tests.engine.straight.written import (
    HELPERS,
    LIFTED,
    Literal,
    cotangents,
    forward,
)

COLUMNS = 3
# Operations of which one tangent is written out, but not several.
SINGLE = frozenset({
    "cholesky", "kron", "inner", "matmul", "dot", "vdot", "solve", "einsum", "append",
    "vstack", "hstack", "column_stack", "concatenate", "stack", "diag", "tril", "triu",
    "roll",
})  # fmt: skip


def operand(case, i, active):
    constant = case.operands[i].value if isinstance(case.operands[i], Literal) else ...
    kind = case.call.kinds[i]
    return Value(f"v{i}", kind, active=active, constant=constant, atom=True)


def tangent(case, written, mode, z, dots):
    """The tangent of a call by the text that is written for it."""
    reader = SimpleNamespace(unit=SimpleNamespace(mode=mode))
    pulls = written.pulls or (None,) * len(case.operands)
    named = [(operand(case, i, i in dots), pull) for i, pull in enumerate(pulls)]
    text = Tangents(reader).of_operation(written, named, written.text or case.text)
    names = {f"v{i}": x for i, x in enumerate(case.values)}
    names |= {dot_of(named[i][0].bar): d for i, d in dots.items()}
    text = text.replace("{z}", "z").replace("{sz}", "z.shape")
    names |= {"z": z, "__lanes": COLUMNS, "program": case.key}
    with np.errstate(all="ignore"):
        return eval(text, {**HELPERS, **names})


def direction(x, seed):
    found = np.random.default_rng(seed).standard_normal(np.shape(x))
    return found if np.shape(x) else float(found)


def check(case):
    written = case.written
    with np.errstate(all="ignore"):
        z = forward(case, written)
    if not written.kind.is_real or not case.active(written):
        return
    try:
        cotangents(case, written, z, directions(z)[0])
    except ArithmeticError:
        return  # left to the tape at this point
    places = case.active(written)
    choices = [places, *([i] for i in places if len(places) > 1)]
    for some in choices:
        dots = {i: direction(case.values[i], i) for i in some}
        check_one(case, written, z, dots)
        check_several(case, written, z, some)


def check_one(case, written, z, dots):
    dz = tangent(case, written, "forward", z, dots)
    assert np.shape(dz) == np.shape(z)
    assert isinstance(dz, np.ndarray) == isinstance(z, np.ndarray)
    for ct in directions(z)[:2]:
        found = dict(
            zip(case.active(written), cotangents(case, written, z, ct), strict=True)
        )
        inner = sum(np.sum(found[i] * d) for i, d in dots.items())
        np.testing.assert_allclose(np.sum(ct * dz), inner, rtol=1e-9, atol=1e-10)
    given = [case.values[i] for i in dots]
    with np.errstate(all="ignore"):
        program = LIFTED[case.table](case, [*dots])
        _, by_hooks = jvp(program, given, [*dots.values()], tier="tape")
    if not isinstance(by_hooks, NoTangent):  # of numbers one is chosen that is whole
        np.testing.assert_allclose(dz, by_hooks, rtol=1e-9, atol=1e-11)


def check_several(case, written, z, places):
    columns = [
        {i: direction(case.values[i], 10 * i + k) for i in places}
        for k in range(COLUMNS)
    ]
    lanes = {i: np.stack([dots[i] for dots in columns], -1) for i in places}
    try:
        found = tangent(case, written, "lanes", z, lanes)
    except Refused:
        assert getattr(case.key, "__name__", case.key) in SINGLE
        return
    assert found.shape == (*np.shape(z), COLUMNS)
    for k, dots in enumerate(columns):
        one = tangent(case, written, "forward", z, dots)
        np.testing.assert_allclose(found[..., k], one, rtol=1e-10, atol=1e-12)


@pytest.mark.covering(every=16)
@pytest.mark.parametrize("operation", GROUPS)
def test_tangents(operation):
    each_case(operation, check)
