"""What does not exist is NaN in derivatives of every order."""

import ast
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_core
from rules_core.extend import nan_unless

ROOT = Path(rules_core.__file__).parents[1]

# A choice by `where` that may be NaN, with the reason.
CONSTANT = {
    "rules_core/_primitives/not_a_number.py": "the factor",
    "rules_core/_declare/finite_differences.py": "a warning, added to the slope",
    "engine/rules_numpy/_declare/namespaces.py": "a sign, whose derivative is zero",
    "engine/rules_scipy/interpolate/_basis.py": "a value outside, a constant",
    "engine/rules_scipy/interpolate/_ndsplines.py": "a value outside, a constant",
    "engine/rules_scipy/interpolate/_pieces.py": "a value outside, a constant",
    "engine/rules_scipy/stats/_short.py": "a factor",
    "engine/rules_scipy/stats/_support.py": "a factor",
}


def nan_choices(tree):
    """Calls of a framework's `where` with NaN in an argument."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            texts = "".join(ast.unparse(arg) for arg in node.args)
            in_numpy = ast.unparse(node.func) == "np.where"
            if (
                name == "where"
                and not in_numpy
                and ("float('nan')" in texts or ".nan" in texts)
            ):
                yield node


def test_no_rule_hides_nan_from_the_next_derivative():
    files = [*ROOT.glob("rules_core/**/*.py"), *ROOT.glob("engine/rules_*/**/*.py")]
    names = {
        str(file.relative_to(ROOT))
        for file in files
        if "testing" not in file.parts and any(nan_choices(ast.parse(file.read_text())))
    }
    assert names == set(CONSTANT)


@pytest.mark.parametrize("good", [True, False])
def test_second_derivatives(good):
    expected = 6.0 if good else np.nan

    def f(x):
        return nan_unless(x * 0 < (1.0 if good else -1.0), x**3)

    np.testing.assert_equal(float(jax.jit(jax.grad(jax.grad(f)))(1.0)), expected)
    slope = torch.func.grad(torch.func.grad(f))(torch.tensor(1.0))
    np.testing.assert_equal(float(slope), expected)
    assert nan_unless(jnp.asarray(good), jnp.ones(2)).dtype == jnp.ones(2).dtype
