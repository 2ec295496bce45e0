"""What a module that runs all checks of the pack reports, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["reported"]

ROOT = Path(__file__).parents[3]


def reported(module: str, *arguments: str, after: str) -> list[str]:
    """The lines that a module of this package prints after a word; it must succeed."""
    name = f"{__package__}.{module}"
    command = [sys.executable, "-W", "error", "-m", name, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    _, found, text = done.stdout.rpartition(f"{after}:")
    assert found, done.stdout
    return text.strip().splitlines()
