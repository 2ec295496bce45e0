"""Explicit meshes over eight simulated devices: numbers, and shardings in types."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
VALUES = ("eager", "jit", "beside", "broadcast", "scan", "cond", "vmap")
REVERSE = ("grad", "eager grad", "grad(cond)", "vmap(grad)")
SCALES = dict.fromkeys(VALUES, 1) | {"jvp": 2} | dict.fromkeys(REVERSE, 3)
MATRIX = ("jit", "eager", "grad", "grad(scan)")


pytestmark = pytest.mark.full  # test_sharding has the devices without a mesh


@pytest.fixture(scope="module")
def found():
    flags = "--xla_force_host_platform_device_count=8"
    done = subprocess.run(
        [sys.executable, "-m", "tests.adapters.jax.explicit_mesh"],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["generic", "host", "numpy rules"])
@pytest.mark.parametrize("case", SCALES)
def test_elementwise(found, kind, case):
    """The rules are 2 and 3 times too large: the ratio tells which of them ran."""
    same_types, ratios = found[f"{kind} {case}"]
    assert ratios == pytest.approx([SCALES[case]] * len(ratios))
    assert same_types


@pytest.mark.parametrize("case", MATRIX)
def test_a_host_function_that_is_not_elementwise(found, case):
    """Its result is whole on every device; cotangents have the argument's sharding."""
    same_types, ratios = found[f"matrix {case}"]
    assert ratios == pytest.approx([1] * len(ratios))
    assert same_types
