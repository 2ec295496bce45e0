"""The catalogue fails where a fault is put back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rules_core as rc
from rules_torch._closures import convert
from tests.interop.catalogue.checked import check
from tests.interop.catalogue.style import (
    STYLES,
    Style,
    curve,
    hidden,
    never,
    on_host,
    slopes,
)

HOSTS = ("torch", "jax", "engine")


def case(make):
    return Style("faulty", make, curve, never)


def skipped():
    """A rule that nobody runs: the body has no derivative of its own."""
    f = hidden()
    rc.rrule.define(f)(lambda a, b: STYLES)  # it would fail if it ran
    rc.opt_out(rc.rrule, f)
    return f


def dropped():
    """A pushforward and a pullback that forget the second argument."""
    f = hidden()

    @rc.rrule.define(f)
    def f_rrule(a, b):
        da, _ = slopes(a, b)
        return f(a, b), lambda dy: (rc.NoTangent(), da * dy, rc.ZeroTangent())

    return f


def shared():
    """A batch whose elements have one result."""
    f = on_host()

    @rc.batch_rule.define(f)
    def f_batch(axis_size, in_batched, a, b):
        y = np.sin(a) * b * b
        return np.broadcast_to(y[:1], y.shape), True

    return f


@pytest.mark.parametrize("host", ["torch", "jax"])
def test_a_result_that_a_batch_shares(host):
    with pytest.raises(AssertionError, match="Not equal"):
        check(case(shared), host, ("vmap",))


def test_a_memo_that_runs_of_a_pullback_share(monkeypatch):
    style = STYLES["closure that memoises in a dict"]
    check(style, "torch", ("vjp", "jvp"))
    monkeypatch.setattr(convert._Builder, "_lent", lambda self, lent: lent.value)
    with pytest.raises(AssertionError, match="Not equal"):
        check(style, "torch", ("hessian",))


def test_an_error_of_a_librarys_own_and_a_refusal_that_nobody_expects():
    def make():
        return [].pop()

    with pytest.raises(IndexError):
        check(case(make), "jax", ("grad",))
    numpy_only = STYLES["rrule with host=True"]
    check(numpy_only, "jax", ("jvp",))
    strict = replace(numpy_only, may_refuse=never)
    with pytest.raises(rc.RulesCoreError):
        check(strict, "jax", ("jvp",))


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("fault", [skipped, dropped])
@pytest.mark.parametrize("word", [("jvp",), ("vjp",), ("vjp", "jacfwd")], ids="-".join)
def test_faulty_rules(fault, host, word):
    with pytest.raises(AssertionError, match="Not equal"):
        check(case(fault), host, word)
