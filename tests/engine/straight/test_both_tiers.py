"""Both tiers pass the same tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


FILES = sorted((ROOT / "tests/engine").rglob("test_*.py"))
PARTS = 6


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
def test_the_tests_of_the_engine_with_code_at_the_first_call(part):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *FILES[part::PARTS]],
        cwd=ROOT,
        env={**os.environ, "RULES_STRAIGHT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
