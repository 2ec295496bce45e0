"""A cotangent that leaves out entries of a container: an error, not zero."""

import jax
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_autodiff import grad
from rules_core import NoTangent, Tangent, ZeroTangent


def weighted(p):
    return 2.0 * p["a"] + 3.0 * p["b"]


def primitive_of(cotangent):
    """The weighted sum, with a rule that returns this cotangent."""
    f = rc.primitive(lambda p: weighted(p))

    @rc.rrule.define(f)
    def weighted_rule(p):
        return f(p), lambda dy: (NoTangent(), cotangent(dy))

    return f


def in_engine(f):
    found = grad(lambda p: f(p))({"a": 1.0, "b": 2.0, "name": "x"})
    return [found["a"], found["b"]]


def in_jax(f):
    found = jax.grad(lambda p: f({**p, "name": "x"}))({"a": 1.0, "b": 2.0})
    return [found["a"], found["b"]]


def in_torch(f):
    p = {
        k: torch.tensor(v, requires_grad=True) for k, v in {"a": 1.0, "b": 2.0}.items()
    }
    found = torch.autograd.grad(f({**p, "name": "x"}), [*p.values()], allow_unused=True)
    return [0.0 if x is None else x for x in found]


HOSTS = [in_engine, in_jax, in_torch]


@pytest.mark.parametrize("gradient", HOSTS)
@pytest.mark.parametrize("there", ["a", "b"])
def test_a_dict_without_an_entry_is_refused(gradient, there):
    f = primitive_of(lambda dy: {there: dy})
    missing = "b" if there == "a" else "a"
    with pytest.raises(rc.RulesCoreError, match=rf"\['{missing}'\] must be in the con"):
        gradient(f)


@pytest.mark.parametrize("gradient", HOSTS)
@pytest.mark.parametrize(
    "cotangent",
    [
        lambda dy: {"a": 2.0 * dy, "b": ZeroTangent()},
        lambda dy: Tangent(dict, {"a": 2.0 * dy}),
        lambda dy: {"a": 2.0 * dy, "b": 0.0 * dy, "name": NoTangent()},
    ],
    ids=["zero", "tangent", "whole"],
)
def test_zero_is_said(gradient, cotangent):
    """The entry without a derivative, a text, need not be there."""
    np.testing.assert_allclose(gradient(primitive_of(cotangent)), [2.0, 0.0])
