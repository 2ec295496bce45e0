"""Eight simulated devices: numbers, shardings and which rule ran."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("sharded.py")
VALUES = ("shard_map", "jit(shard_map)")
FORWARD = ("jvp", "jvp(shard_map)")
REVERSE = (
    "jit",
    "grad(shard_map)",
    "jit(grad(shard_map))",
    "checkpoint",
    "check_vma=False",
    "shard_map(grad)",
    "jit(shard_map(grad))",
    "psum",
    "pmap",
    "vmap(axis_name)",
)


@pytest.fixture(scope="module")
def found():
    flags = "--xla_force_host_platform_device_count=8"
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["generic", "host", "numpy rules"])
@pytest.mark.parametrize(
    ("case", "scale"),
    [(c, 1) for c in VALUES] + [(c, 2) for c in FORWARD] + [(c, 3) for c in REVERSE],
)
def test_numbers(found, kind, case, scale):
    assert found[f"{kind} {case}"] == pytest.approx(
        [scale] * len(found[f"{kind} {case}"])
    )


def test_sharding_is_kept(found):
    assert "'d'" in found["sharding"]
    assert found["gathers"] == 0
