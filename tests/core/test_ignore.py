"""`ignore_derivatives` without a host (the adapters' tests cover theirs)."""

import numpy as np
import pytest

from rules_core import Primitive, ignore_derivatives


def test_functions_are_called_and_values_kept():
    x = np.ones(2)
    assert ignore_derivatives(lambda: x) is x
    assert ignore_derivatives(Primitive(lambda: x)) is x
    assert ignore_derivatives(x) is x
    assert ignore_derivatives(3.0) == 3.0


def test_containers_stay_the_same_object_where_nothing_changes():
    tree = {"a": [np.ones(2), 1.0]}
    assert ignore_derivatives(tree) is tree


def test_a_callable_value_is_not_called():
    class Module:
        def __call__(self):
            raise AssertionError

    module = Module()
    assert ignore_derivatives(module) is module


def test_containers_are_rebuilt_around_what_a_host_stops():
    jax = pytest.importorskip("jax")

    def f(x):
        kept, stopped = ignore_derivatives([1, {"x": x}]), x
        return kept[1]["x"] * stopped

    assert float(jax.grad(f)(3.0)) == 3.0
