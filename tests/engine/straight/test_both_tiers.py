"""Both tiers pass the same tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.nightly
def test_the_tests_of_the_engine_with_code_at_the_first_call():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "tests/engine"],
        cwd=ROOT,
        env={**os.environ, "RULES_STRAIGHT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
