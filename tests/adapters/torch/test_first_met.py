"""The adapter may be imported by the first call, whatever torch does at that time."""

import os
import subprocess
import sys

import pytest

from .first_met import CONTEXTS

FEW = 2


def run(names):
    command = [sys.executable, "-m", "tests.adapters.torch.first_met", *names]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]


def test_in_some_contexts():
    run([*CONTEXTS][:FEW])


@pytest.mark.full
def test_in_the_other_contexts():
    run([*CONTEXTS][FEW:])
