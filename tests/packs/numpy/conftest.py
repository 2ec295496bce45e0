"""Shared by the tests of the NumPy pack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import rules_core as rc
from rules_core.testing import check_rule
from tests.packs.second import left_out

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
