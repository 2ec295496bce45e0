"""`trace`: which rules ran, in each framework, in order."""

import jax
import numpy as np
import pytest
import torch
from scipy.special import kv

import rules_core as rc
from rules_autodiff import grad
from rules_core.testing import isolated_rules
from rules_jax import to_jax
from rules_torch import to_torch


@pytest.fixture(autouse=True)
def _own_rules():
    with isolated_rules():
        yield


@rc.primitive
def soft(x):
    xp = rc.array_namespace(x)
    return xp.log1p(xp.exp(x))


@rc.primitive
def sig(x):
    return 1 / (1 + rc.array_namespace(x).exp(-x))


def soft_partials(y, x):
    return (sig(x),)


def sig_partials(y, x):
    return (y * (1 - y),)


@pytest.fixture
def defined():
    rc.scalar_rule(soft, soft_partials)
    rc.scalar_rule(sig, sig_partials)


def names(found):
    return [(call.rule.name, call.depth) for call in found]


def torch_grad(f):
    def derived(x):
        x = x.clone().requires_grad_()
        return torch.autograd.grad(f(x), x)[0]

    return derived


CASES = {
    "NumPy": (grad, kv, 2.0),
    "JAX": (jax.grad, to_jax(kv), 2.0),
    "PyTorch": (torch_grad, to_torch(kv), torch.tensor(2.0, dtype=torch.float64)),
}


@pytest.mark.parametrize("framework", CASES)
def test_each_framework(defined, framework):
    derive, bessel, x = CASES[framework]
    derived = derive(lambda x: soft(x) * bessel(1, x))
    expected = float(derived(x))
    found = rc.trace(derived, x)  # also after a call without
    assert float(found.value) == expected
    assert names(found) == [("soft_partials", 0), ("kv_partials", 0)]
    assert [call.framework for call in found] == [framework] * 2
    packs = [call.pack for call in found]
    assert packs[1] == "rules_scipy"
    assert found[1].rule.location.startswith("_bessel.py:")
    assert found[1].call.startswith("kv(1, ")
    derived(x)
    assert len(found) == 2  # nothing more is recorded


def test_rules_inside_a_rule_are_indented(defined):
    found = rc.trace(jax.grad(jax.grad(soft)), 2.0)
    assert names(found)[0] == ("soft_partials", 0)
    assert ("sig_partials", 1) in names(found)
    line = next(line for line in repr(found).splitlines() if "sig_partials" in line)
    assert "    rrule sig_partials" in line


def caller(x):
    return soft(x)


def caller_rrule(x):
    return rc.rrule(soft, x)


def test_the_graph_has_a_node_for_each_call_inside_its_rule(defined):
    rc.rrule.define(caller)(caller_rrule)
    found = rc.trace(rc.rrule, caller, np.ones(2))
    pack = f"{__name__.partition('.')[0]}, NumPy"
    assert found.to_dot() == "\n".join(
        (
            "digraph trace {",
            "  node [shape=box];",
            '  0 [label="rrule"];',
            f'  1 [label="1. caller(float64[2])\\nrrule caller_rrule\\n{pack}"];',
            "  0 -> 1;",
            f'  2 [label="2. soft(float64[2])\\nrrule soft_partials\\n{pack}"];',
            "  1 -> 2;",
            "}",
        )
    )
    assert "<table>" in found._repr_html_()


def test_nothing_ran(defined):
    found = rc.trace(soft, 2.0)
    text = (
        "soft: no rule ran. Either nothing was differentiated, or the rules ran when "
        "the function was compiled: trace it before."
    )
    assert repr(found) == text
    assert found._repr_html_() == f"<p>{text}</p>"
    assert found.calls == []
    compiled = jax.jit(jax.grad(soft))
    assert names(rc.trace(compiled, 2.0)) == [("soft_partials", 0)]
    assert len(rc.trace(compiled, 2.0)) == 0


def test_an_error_ends_the_trace(defined):
    def fails(x):
        rc.rrule(soft, x)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        rc.trace(fails, 2.0)
    assert rc.rrule.resolve(soft, (2.0,)).rule.function.__name__ != "traced_rule"


def test_in_debug_mode_too(defined):
    with rc.debug_mode():
        found = rc.trace(rc.rrule, soft, 2.0)
    assert names(found) == [("soft_partials", 0)]


def test_compiled_by_torch(defined):
    compiled = torch.compile(lambda x: soft(x).sum(), backend="eager")
    found = rc.trace(torch_grad(compiled), torch.ones(2))
    assert [call.framework for call in found] == ["PyTorch"] * len(found)
    assert found[0].rule.name == "soft_partials"
