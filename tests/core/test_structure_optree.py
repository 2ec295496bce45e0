"""Classes that are registered with optree are containers, and optree stays optional."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

from rules_core import structure


class Registered:
    def __init__(self, children, static):
        self.children, self.static = children, static


@dataclass
class Named:
    w: float
    static: float


class TestOptree:
    def test_registered_classes(self):
        optree = pytest.importorskip("optree")
        optree.register_pytree_node(
            Registered,
            lambda node: (node.children, node.static),
            lambda static, children: Registered(list(children), static),
            namespace="rules_core",
        )
        try:
            level = structure(Registered([1.0, 2.0], "static"))
            assert (level.primal, level.keyed) == (Registered, "position")
            assert level.values == (1.0, 2.0)
            again = level.rebuild([3.0, 4.0])
            assert (again.children, again.static) == ([3.0, 4.0], "static")
        finally:
            optree.unregister_pytree_node(Registered, namespace="rules_core")

    def test_named_entries_are_fields(self):
        optree = pytest.importorskip("optree")
        optree.register_pytree_node(
            Named,
            lambda node: ((node.w,), node.static, ("w",)),
            lambda static, children: Named(*children, static),
            namespace="rules_core",
        )
        try:
            level = structure(Named(1.0, 2.0))
            assert (level.keyed, level.names, level.values) == ("field", ("w",), (1.0,))
            assert level.rebuild([3.0]) == Named(3.0, 2.0)
        finally:
            optree.unregister_pytree_node(Named, namespace="rules_core")

    def test_is_not_imported(self):
        code = (
            "import sys, rules_core as rc\n"
            "class A: pass\n"
            "a = A(); a.w = 1.0\n"
            "assert rc.zero_tangent(a).w == 0.0\n"
            "assert not {'optree', 'numpy', 'jax', 'torch', 'scipy'} & {*sys.modules}\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True)
