"""What hosts promise: kept by all adapters, and each fault found by its own check."""

import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import rules_core as rc
from rules_core.extend import FlatCall, Opener
from rules_core.testing import Cell, CheckCallError, CheckFailed, check_adapter
from rules_core.testing._adapters.check import FORM
from rules_core.testing._adapters.promises import PROMISES
from rules_core.testing._cures import cure_of

TOY = Path(__file__).parent / "toyhost"


@pytest.fixture
def toy(monkeypatch):
    """The module of the toy host's adapter, a fresh one for each test."""
    monkeypatch.syspath_prepend(str(TOY))
    yield __import__("toyhost.adapter").adapter
    for name in [name for name in sys.modules if name.partition(".")[0] == "toyhost"]:
        del sys.modules[name]


def broken(report):
    return [check.name for check in report if check.status in ("failed", "refused")]


@pytest.mark.parametrize("host", ["jax", "torch"])
def test_our_adapters_keep_what_hosts_promise(host):
    report = check_adapter(import_module(f"rules_{host}._adapter").adapter)
    # No quick cell of JAX is a batched derivative.
    left = ["batched-derivatives"] if host == "jax" else []
    assert [check.name for check in report.not_run] == left
    assert len(report.passed) == len(report.checks) - len(left) == 65 - len(left)


@pytest.mark.full
@pytest.mark.parametrize("host", ["jax", "torch"])
def test_our_adapters_keep_it_in_every_cell(host):
    adapter = import_module(f"rules_{host}._adapter").adapter
    report = check_adapter(adapter, level="full")
    # A compiler does not see into NumPy.
    by_numpy = ["host-rule", "numpy-results", "kept-cotangents"]
    assert broken(report) == (by_numpy if host == "torch" else [])
    assert not report.not_run


def test_the_adapter_of_the_page_keeps_it(toy):
    report = check_adapter(toy.adapter)
    assert len(report.passed) == 59
    assert {check.detail for check in report.not_run} == {
        f"no cell is of kind {kind!r}"
        for kind in ("jvp", "second", "batched", "batched_vjp")
    }


def forgets_zeros(toy, patch):
    patch(
        toy.RuleNode, "seed", lambda self, y, dy: seeded(toy, y, dy, rc.ZeroTangent())
    )


def seeded(toy, y, dy, zero):
    if not toy.is_smooth(y):
        return rc.NoTangent()
    return zero if dy is None else dy


def gives_none_for_symbolic_zeros(toy, patch):
    def seed(self, y, dy):
        zero = None if self.rule.symbolic_zeros else np.zeros_like(y)
        return seeded(toy, y, dy, zero)

    patch(toy.RuleNode, "seed", seed)


def gives_integers_a_cotangent(toy, patch):
    zero = lambda self, y, dy: np.zeros_like(y) if dy is None else dy
    patch(toy.RuleNode, "seed", zero)


def needs_everything(toy, patch):
    patch(FlatCall, "needs", lambda self, wanted, before=0: (True,) * len(self.parts))


def takes_keywords_for_constants(toy, patch):
    patch(FlatCall, "keyword", lambda self, wanted: None)


def reads(change):
    """A fault in reading what an author returned."""

    def fault(toy, patch):
        right = toy.read_tangent

        def read(layout, dx, wanted, path, **keywords):
            return change(right, layout, dx, wanted, path, keywords)

        patch(toy, "read_tangent", read)

    return fault


def only_flat(right, layout, dx, wanted, path, keywords):
    if layout[0] == "leaf":
        return right(layout, dx, wanted, path, **keywords)
    return [None] * len(wanted)


def only_canonical(right, layout, dx, wanted, path, keywords):
    if layout[0] not in ("leaf", "static") and not isinstance(dx, rc.AbstractTangent):
        raise TypeError(path)
    return right(layout, dx, wanted, path, **keywords)


def only_numbers(right, layout, dx, wanted, path, keywords):
    if isinstance(dx, rc.AbstractThunk):
        raise TypeError(path)
    return right(layout, dx, wanted, path, **keywords)


def ones_for_zeros(right, layout, dx, wanted, path, keywords):
    found = right(layout, dx, wanted, path, **keywords)
    return [1.0 if x is None and w else x for x, w in zip(found, wanted, strict=True)]


def zeros_for(error):
    def read(right, layout, dx, wanted, path, keywords):
        try:
            return right(layout, dx, wanted, path, **keywords)
        except error:
            return [None] * len(wanted)

    return read


def without_rule(right, layout, dx, wanted, path, keywords):
    return right(layout, dx, wanted, path, **{**keywords, "rule": None})


def does_not_project(toy, patch):
    patch(toy.RuleNode, "project", lambda self, path, dx, x: dx)


def zeros_for_what_does_not_fit(toy, patch):
    right = toy.RuleNode.project

    def project(self, path, dx, x):
        try:
            return right(self, path, dx, x)
        except rc.ProjectionError:
            return np.zeros_like(x)

    patch(toy.RuleNode, "project", project)


def does_not_count(toy, patch):
    right = FlatCall.cotangents

    def cotangents(self, rule, answer, read, count):
        none = [rc.ZeroTangent()] * (len(self.parts) + 1 - len(answer))
        return right(self, rule, (*answer, *none), read, count)

    patch(FlatCall, "cotangents", cotangents)


def only_the_first_result(toy, patch):
    right = toy.RuleNode.cotangents

    def cotangents(self, given):
        return right(self, [given[0], *[None] * (len(given) - 1)])

    patch(toy.RuleNode, "cotangents", cotangents)


def does_not_add(toy, patch):
    def add(found, pairs):
        found.update((x, dx) for x, dx in pairs if dx is not None)

    patch(sys.modules["toyhost"], "_add", add)


def constant_without_a_rule(toy, patch):
    class Silent(toy.ToyAdapter):
        def call(self, primitive, args, kwargs):
            try:
                return super().call(primitive, args, kwargs)
            except rc.RulesCoreError:
                if not primitive.host:
                    raise
                return toy.boxed(primitive.fun(*(x.value for x in args)))

    patch(toy, "adapter", Silent())


def stops_nothing(toy, patch):
    patch(toy.ToyAdapter, "stop_gradient", lambda self, x: x)


def gives_host_functions_its_own(toy, patch):
    class Generic(toy.ToyAdapter):
        def call(self, primitive, args, kwargs):
            if primitive.host and not any(x.tracked for x in args):
                return primitive.fun(*args, **kwargs)
            return super().call(primitive, args, kwargs)

    patch(toy, "adapter", Generic())


def makes_arrays_of_integers(toy, patch):
    class Eager(Opener):
        static = (str, type(None))

    patch(
        toy,
        "ARGUMENTS",
        Eager(toy.Box, lambda x: toy.box(x) if not isinstance(x, int) else toy.Box(x)),
    )


def differentiates_by_itself(toy, patch):
    patch(rc, "resolve_primitive", lambda *args: None)


def wrong_sign(toy, patch):
    right = toy.gradients
    patch(
        toy,
        "gradients",
        lambda *args: [dx if dx is None else -dx for dx in right(*args)],
    )


def wrong_value(toy, patch):
    patch(toy, "boxed", lambda y: toy.Box(2 * y))


def owns_everything(toy, patch):
    patch(toy.ToyAdapter, "owns", lambda self, cls: True)


def names_cells_twice(toy, patch):
    cell = Cell("eager", "value", toy.run_value)
    patch(toy.ToyAdapter, "cells", lambda self, level: [cell, cell])


FAULTS = {
    "adapter.owns": owns_everything,
    "adapter.cells": names_cells_twice,
    "value": wrong_value,
    "derivative": wrong_sign,
    "rules": differentiates_by_itself,
    "programs": does_not_add,
    "constants": makes_arrays_of_integers,
    "keyword-derivative": takes_keywords_for_constants,
    "thunks": reads(only_numbers),
    "containers": reads(only_flat),
    "container-forms": reads(only_canonical),
    "results": only_the_first_result,
    "one-result": forgets_zeros,
    "symbolic-zeros": gives_none_for_symbolic_zeros,
    "integers": gives_integers_a_cotangent,
    "needs": needs_everything,
    "zeros": reads(ones_for_zeros),
    "projection": does_not_project,
    "shape": zeros_for_what_does_not_fit,
    "count": does_not_count,
    "structure": reads(zeros_for(rc.ProjectionError)),
    "no-tangent": reads(without_rule),
    "not-implemented": reads(zeros_for(rc.DerivativeNotImplemented)),
    "host-function": gives_host_functions_its_own,
    "no-rule": constant_without_a_rule,
    "stop-gradient": stops_nothing,
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("check", FAULTS)
def test_a_fault_fails_the_check_for_it(toy, monkeypatch, check):
    FAULTS[check](toy, monkeypatch.setattr)
    with pytest.raises(CheckFailed) as caught:
        check_adapter(toy.adapter)
    assert broken(caught.value.report) == [check]


def test_what_is_no_adapter():
    with pytest.raises(CheckCallError, match="NoneType has no name and no owns"):
        check_adapter(None)


def test_the_page_builds_what_the_distribution_packages():
    """Block for block, and in at most 150 lines."""
    page = (TOY.parents[2] / "docs/how-to/write-an-adapter.md").read_text()
    code = re.findall(r"```python\n((?!>>>).*?)```", page, re.DOTALL)
    shown = [line for block in code for line in block.splitlines() if line.strip()]
    package = TOY / "toyhost"
    adapter = (package / "adapter.py").read_text()
    assert len(adapter.splitlines()) <= 150
    toy = (package / "__init__.py").read_text().split("def cube")[0]
    packaging = ('"""', "__all__", "from toyhost")
    for line in (*toy.splitlines(), *adapter.splitlines()):
        assert not line.strip() or line.startswith(packaging) or line in shown


def test_each_check_says_what_to_write():
    for spec in (*FORM, *PROMISES):
        assert cure_of(spec.name), spec.name
