"""Two processes reach the parameters that one process reaches."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from tests.adapters.torch.workers import WAYS

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        not torch.distributed.is_available(), reason="no torch.distributed"
    ),
]


@pytest.mark.parametrize("way", WAYS)
def test_two_processes_train_as_one(way, tmp_path):
    command = [sys.executable, "-m", "tests.adapters.torch.workers", way]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    running = [
        subprocess.Popen(
            [*command, str(rank), str(tmp_path / "store")],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=env,
        )
        for rank in range(2)
    ]
    for process in running:
        output, _ = process.communicate(timeout=180)
        assert process.returncode == 0, output[-3000:]
