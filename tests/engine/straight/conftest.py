"""Which tier computed a derivative."""

import pytest

from rules_autodiff._front import grad, jacobians, vjp
from rules_autodiff._tape.recording import Recording
from rules_autodiff.straight._tier import signatures
from rules_core.testing import isolated_rules


@pytest.fixture
def tapes(monkeypatch):
    """The functions that were run onto a tape, in order."""
    recorded = []

    class Noted(Recording):
        def __init__(self, below, f, *rest, **options):
            recorded.append(f)
            super().__init__(below, f, *rest, **options)

    for module in (grad, jacobians, vjp):
        monkeypatch.setattr(module, "Recording", Noted)
    return recorded


@pytest.fixture
def at_once(monkeypatch):
    """Code is written at the first call."""
    monkeypatch.setattr(signatures, "AFTER", 0)


@pytest.fixture
def after_one(monkeypatch):
    """Code is written at the second call, as users have it."""
    monkeypatch.setattr(signatures, "AFTER", 1)


@pytest.fixture
def alone():
    """Rules that a test defines go with it."""
    with isolated_rules():
        yield
