"""What is held back or let go to keep a run quick and small."""

import gc

import pytest

from tests.warm import let_go


def test_the_collector_runs():
    assert gc.isenabled()


def test_programs_of_a_file_are_let_go():
    jax = pytest.importorskip("jax")
    traced = []
    function = jax.jit(lambda x: traced.append(x) or x + 1.0)
    assert function(1.0) == function(1.0) == 2.0
    assert len(traced) == 1
    let_go()
    assert function(1.0) == 2.0
    assert len(traced) == 2
