"""Real and complex: every checked call that takes complex arguments, with them."""

from __future__ import annotations

import numpy as np
import pytest

import rules_core as rc
from tests.packs.numpy.complexified import mistake
from tests.packs.numpy.reports import reported


@pytest.mark.full
def test_every_checked_call_with_complex_arguments():
    """Against finite differences: see complexified.py."""
    *mistakes, looked = reported("complexified", after="mistakes")
    assert mistakes == []
    assert int(looked.split()[0]) > 600


def turned(z):
    return z * (2.0 + 1.0j)


def test_a_forgotten_conjugate_is_found():
    with rc.testing.isolated_rules():

        @rc.rrule.define(turned)
        def turned_rrule(z):
            def turned_pullback(dy):
                return rc.NoTangent(), dy * (2.0 + 1.0j)

            return turned(z), turned_pullback

        assert "must be" in mistake(turned, (np.array([1.0 + 2.0j, 0.5j]),), {})
