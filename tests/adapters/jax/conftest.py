"""Fixtures of the JAX tests: rules that tell which of them ran."""

import jax
import pytest

import rules_core as rc
from rules_core import NoTangent
from rules_core.testing import isolated_rules


@pytest.fixture(autouse=True)
def own_rules():
    """Each test has its own rule tables."""
    with isolated_rules():
        yield


class Marked:
    """A primitive `sin(x)` whose frule is 2 and whose rrule 3 times too large.

    The derivative that a transformation gives says which rule ran, and `calls` how
    often.
    """

    def __init__(self, *, frule=True, rrule=True, host=False):
        self.calls = {"primal": 0, "frule": 0, "rrule": 0, "pullback": 0}
        self.f = self._host() if host else self._generic()
        if frule:
            self._frule()
        if rrule:
            self._rrule()

    def _generic(self):
        @rc.primitive
        def marked(x):
            self.calls["primal"] += 1
            return rc.array_namespace(x).sin(x)

        return marked

    def _host(self):
        import numpy as np

        @rc.primitive(host=True, elementwise=True)
        def marked(x):
            self.calls["primal"] += 1
            return np.sin(x)

        return marked

    def _frule(self):
        @rc.frule.define(self.f)
        def marked_frule(tangents, x):
            self.calls["frule"] += 1
            return self.f(x), 2.0 * rc.array_namespace(x).cos(x) * tangents[1]

    def _rrule(self):
        @rc.rrule.define(self.f)
        def marked_rrule(x):
            self.calls["rrule"] += 1
            xp = rc.array_namespace(x)

            def marked_pullback(dy):
                self.calls["pullback"] += 1
                return NoTangent(), 3.0 * xp.cos(x) * dy

            return self.f(x), marked_pullback

    def count(self):
        """Calls since the last count."""
        found, self.calls = self.calls, dict.fromkeys(self.calls, 0)
        for name in self.calls:
            self.calls[name] = 0
        return found


@pytest.fixture
def marked():
    return Marked


@pytest.fixture
def leak_check():
    with jax.checking_leaks():
        yield
