"""What compiled calls cost: the graphs of hand-written code, and few checks."""

from __future__ import annotations

import pytest
import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.eval_frame import _debug_get_cache_entry_list
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition

from benchmarks.torch_overhead import ForwardContext, sinmul

# Dynamo itself makes an instance of the hand-written Function that it traces.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*should not be instantiated:DeprecationWarning"
)


def graphs(f):
    """The operations of the forward and of the backward graph, in order."""
    found = []

    def note(graph, _inputs):
        calls = [node for node in graph.graph.nodes if node.op == "call_function"]
        found.append([str(node.target) for node in calls])
        return make_boxed_func(graph)

    backend = aot_autograd(
        fw_compiler=note,
        bw_compiler=note,
        partition_fn=min_cut_rematerialization_partition,
    )
    torch.compiler.reset()
    x = torch.rand(5, requires_grad=True)
    fast = torch.compile(lambda x: f(x * 2).exp(), backend=backend, fullgraph=True)
    fast(x).sum().backward()
    return found


def test_the_graphs_are_those_of_a_hand_written_function():
    made = graphs(sinmul)
    assert made == graphs(ForwardContext.apply)
    assert [len(graph) > 1 for graph in made] == [True, True]


def checks(f, *args):
    """How many checks a compiled call makes before it runs."""
    torch.compiler.reset()

    def program(*args):
        return f(*args)

    torch.compile(program, backend="eager", fullgraph=True)(*args)
    (entry,) = _debug_get_cache_entry_list(program.__code__)
    return str(entry.guard_manager).count("+- ")


def test_a_compiled_call_of_tensors_checks_little():
    """At most twice what that of a hand-written Function checks.

    What is more are the rules, and what body and rules read from outside: a
    hand-written Function is traced through and guarded by what it is alone.
    """
    x = torch.rand(5)
    sinmul(x)  # where the first call is compiled, the adapter is looked for as well
    hand_written = checks(ForwardContext.apply, x.clone().requires_grad_())
    assert checks(sinmul, x) <= 2 * hand_written
