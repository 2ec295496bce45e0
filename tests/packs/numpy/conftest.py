"""Shared by the tests of the NumPy pack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import rules_core as rc
from rules_core.testing import check_rule

IMPLEMENTED = {"rrule.implemented", "frule.implemented"}
# Functions of which a test checks a call with an argument that has no derivative.
WITHOUT_SOME = {np.histogram}  # in `range`


@contextmanager
def followed(f: Any, args: Any, kwargs: Any) -> Iterator[None]:
    """Let the tester differentiate the rules' bodies, as the engine does.

    They are declared NumPy-only, which holds for JAX and PyTorch.
    """
    calls = [kind.resolve(f, args, kwargs) for kind in (rc.frule, rc.rrule)]
    before = [(call.rule, call.rule.host) for call in calls if call is not None]
    for rule, _ in before:
        rule.host = False
    try:
        yield
    finally:
        for rule, host in before:
            rule.host = host


# Most of what a check costs: the rules' bodies are differentiated once more.
SECOND = {
    f"{kind}.{check}"
    for kind in ("rrule", "frule")
    for check in ("second-order", "slope-at-zero")
}
WHOLE = 5000


def left_out(request: pytest.FixtureRequest) -> set[str]:
    """Checks that a test leaves to `make test-full` in an everyday run of all folders.

    One test in four checks second derivatives there. A run of chosen folders or files
    checks all.
    """
    everyday = "not full" in request.config.getoption("markexpr")
    alone = request.session.testscollected < WHOLE
    chosen = crc32(request.node.nodeid.encode()) % 4 == 0
    return SECOND if everyday and not alone and not chosen else set()


@pytest.fixture(params=["quick", pytest.param("full", marks=pytest.mark.nightly)])
def check(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`check(f, *args, **keywords of f)`: `check_rule` without hosts."""
    recorder = request.config.pluginmanager.get_plugin("recorder")

    def run(f: Any, *args: Any, **kwargs: Any) -> Any:
        if recorder is not None:
            return recorder.note(f, args, kwargs)
        options: Any = {"level": request.param, "skip": left_out(request)}
        with followed(f, args, kwargs):
            report = check_rule(f, *args, fkwargs=kwargs, hosts=(), **options)
        unchecked = {check.name for check in report.refused} & IMPLEMENTED
        assert not unchecked or f in WITHOUT_SOME, report
        return report

    return run
