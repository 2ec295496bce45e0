"""Runs programs in a process of its own, with eight simulated devices."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
DEVICES = "--xla_force_host_platform_device_count=8"


def wanted(request: pytest.FixtureRequest, names: dict[str, str]) -> list[str]:
    """Of a file's tests that this run selected: their cases, named by a pattern."""
    chosen = [item for item in request.session.items if item.path == request.path]
    parts = [item.name.partition("[")[0] for item in chosen]
    params = [getattr(item, "callspec", None) for item in chosen]
    return [
        names[part].format(**(spec.params if spec else {}))
        for part, spec in zip(parts, params, strict=True)
    ]


def found_on_devices(module: str, names: list[str]) -> Any:
    """What a module prints as JSON about the programs of these names.

    Not only the test that asks first is told: all of a file share one process.
    """
    flags = f"{os.environ.get('XLA_FLAGS', '')} {DEVICES}"
    done = subprocess.run(
        [sys.executable, "-m", f"tests.adapters.jax.{module}", *names],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
