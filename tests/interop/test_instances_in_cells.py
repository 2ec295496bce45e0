"""Honest and wrong rules of instances in the cells of every framework."""

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, Tangent, rrule
from rules_core.testing import CheckFailed, check_rule
from tests.specimens.instances import Frozen, Mutable, Named, Plain

CLASSES = [Named, Frozen, Mutable, Plain]
X = np.array([1.0, 2.0])


def line(factor):
    @rc.primitive
    def line(p):
        return p.slope * 3.0 + p.offset * 5.0

    @rrule.define(line)
    def line_rrule(p):
        def line_pullback(dy):
            return NoTangent(), Tangent(type(p), slope=3.0 * dy, offset=factor * dy)

        return line(p), line_pullback

    return line


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("host", ["jax", "torch"])
@pytest.mark.parametrize("cls", CLASSES)
def test_an_honest_rule_passes(cls, host):
    report = check_rule(line(5.0), cls(X, 2.0 * X), hosts=(host,))
    cells = [check for check in report if check.name.startswith(f"{host}: ")]
    opened = cls is Named or host == "torch"  # JAX knows no class by itself
    ran = [check for check in cells if check.status == "passed"]
    assert bool(ran) == opened
    reasons = {check.detail for check in cells if check.status != "passed"}
    assert opened or any("is a constant to this framework" in r for r in reasons)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_wrong_rule_fails(cls):
    with pytest.raises(CheckFailed, match="rrule"):
        check_rule(line(4.0), cls(X, 2.0 * X), hosts=("torch",))
