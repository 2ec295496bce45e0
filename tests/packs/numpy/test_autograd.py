"""Every function that HIPS autograd differentiates has a rule here, or a reason."""

from __future__ import annotations

from importlib import import_module

import pytest
from autograd.core import primitive_jvps, primitive_vjps

import rules_core as rc
import rules_numpy  # noqa: F401  its declarations are looked at
import rules_scipy.integrate
import rules_scipy.linalg
import rules_scipy.special  # noqa: F401  their declarations are looked at
from rules_numpy._declare.derivative import DECLARED, constant

# autograd registers its rules where it wraps a module.
for _name in ("numpy", *(f"scipy.{part}" for part in ("special", "stats", "linalg"))):
    import_module(f"autograd.{_name}")
import_module("autograd.scipy.integrate")

# What autograd differentiates of SciPy and this project does not, and why.
NO_RULE = {
    "scipy.stats": "densities are compositions of special functions: write them so",
}


def functions():
    found = {p.fun for p in {*primitive_vjps, *primitive_jvps}}
    return [f for f in found if not _module(f).startswith("autograd")]


def _module(f):
    return getattr(f, "__module__", None) or "scipy.special"


# Before a test or an example gives autograd rules of its own.
FUNCTIONS = functions()


def _with_rules():
    keys = (getattr(rule.key, "fun", rule.key) for rule in rc.rules())
    return {id(key) for key in keys}


def test_numpy_is_covered():
    missing = [
        f.__name__
        for f in FUNCTIONS
        if not _module(f).startswith("scipy")
        and (f not in DECLARED or DECLARED[f][0] is constant)
    ]
    assert missing == []


def test_enough_is_looked_at():
    """That autograd's tables are where they were: a hundred functions of NumPy."""
    own = [f for f in FUNCTIONS if not _module(f).startswith("scipy")]
    assert len(own) > 100


def test_scipy_is_covered_or_has_a_reason():
    known = _with_rules()
    missing = {
        (_module(f), f.__name__)
        for f in FUNCTIONS
        if _module(f).startswith("scipy") and id(f) not in known
    }
    rest = {".".join(module.split(".")[:2]) for module, _ in missing}
    assert rest == set(NO_RULE)


@pytest.mark.parametrize("name", ["numpy.linalg.eigh", "numpy.sort", "numpy.einsum"])
def test_must_fail(name, monkeypatch):
    """A function without a rule is found."""
    import numpy as np

    f = np
    for part in name.split(".")[1:]:
        f = getattr(f, part)
    monkeypatch.delitem(DECLARED, f)
    with pytest.raises(AssertionError, match=name.rpartition(".")[2]):
        test_numpy_is_covered()
