"""What is held back or let go to keep a run quick and small."""

import gc

import pytest

from tests import warm
from tests.warm import Growth, let_go


def test_the_collector_runs():
    assert gc.isenabled()


def traces_around(let_go):
    """How often JAX traces a function that is called before and after."""
    jax = pytest.importorskip("jax")
    traced = []
    function = jax.jit(lambda x: traced.append(x) or x + 1.0)
    assert function(1.0) == function(1.0) == 2.0
    assert len(traced) == 1
    let_go()
    assert function(1.0) == 2.0
    return len(traced)


def test_programs_of_a_file_are_let_go(monkeypatch):
    """Where the process has grown."""
    monkeypatch.setattr(warm.GROWTH, "before", float("-inf"))
    assert traces_around(let_go) == 2


def test_programs_are_kept_where_the_process_has_not_grown(monkeypatch):
    monkeypatch.setattr(warm.GROWTH, "before", float("inf"))
    assert traces_around(let_go) == 1


def test_growth_counts_anew(monkeypatch):
    growth, sizes = Growth(), iter([1.0, 1.1, 1.2, 1.5, 1.6, None])
    monkeypatch.setattr(warm, "peak", lambda: next(sizes))
    large = [growth.is_large() for _ in range(6)]
    assert large == [True, False, False, True, False, True]
