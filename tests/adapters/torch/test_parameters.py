"""Parameters that a body with rules reads from outside: no gradient is lost."""

from __future__ import annotations

from types import FunctionType

import pytest
import torch
from torch import func

import rules_core as rc
from rules_core import NoTangent

GLOBAL = torch.nn.Parameter(torch.tensor(3.0))
LAYER = torch.nn.Linear(1, 1)


def reads_a_global(x):
    return x * GLOBAL


def reads_a_module(x):
    return LAYER(x)


def reads_a_variable():
    weight = torch.nn.Parameter(torch.tensor(3.0))
    return lambda x: x * weight


def detaches(x):
    return x * GLOBAL.detach()


def without_gradient(x):
    with torch.no_grad():
        factor = 2 * GLOBAL
    return x * factor


READERS = {"GLOBAL": reads_a_global, "LAYER": reads_a_module, "weight": None}


def with_rules(body, kind):
    f = rc.Primitive(
        FunctionType(body.__code__, body.__globals__, "body", None, body.__closure__)
    )
    if kind != "frule":
        rc.rrule.define(f.fun)(lambda x: (f(x), lambda dy: (NoTangent(), 3 * dy)))
    if kind != "rrule":
        rc.frule.define(f.fun)(lambda dxs, x: (f(x), 3 * dxs[1]))
    return f


def active():
    return torch.ones(1, requires_grad=True)


CALLS = {
    "backward": lambda f: f(active()).sum().backward(),
    "nothing but the parameter": lambda f: f(torch.ones(1)),
    "func.grad": lambda f: func.grad(lambda x: f(x).sum())(torch.ones(1)),
    "vmap": lambda f: func.vmap(f)(torch.ones(2, 1)),
}


@pytest.mark.parametrize("kind", ["rrule", "frule", "both"])
@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("call", CALLS)
def test_a_parameter_from_outside_is_an_error_that_names_it(name, kind, call):
    f = with_rules(READERS[name] or reads_a_variable(), kind)
    for _ in range(3):  # the first call may go another way than those after it
        with pytest.raises(rc.UnsupportedError, match=f"its body reads '{name}'"):
            CALLS[call](f)
    with torch.no_grad():
        assert f(torch.ones(1)).shape == (1,)


@pytest.mark.parametrize("body", [detaches, without_gradient])
def test_what_is_detached_may_be_read(body):
    f = with_rules(lambda x: body(x), "both")
    g = with_rules(body, "both")
    for handle in (f, g, f, g):
        x = active()
        handle(x).sum().backward()
        assert x.grad.tolist() == [3]


def test_a_body_without_rules_is_differentiated_by_torch():
    f = rc.primitive(lambda x: x * GLOBAL)
    (found,) = torch.autograd.grad(f(torch.full((1,), 5.0)), GLOBAL)
    assert found.item() == 5
