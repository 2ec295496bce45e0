"""The operators of host functions: what they return, and how many there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch.func import vmap

import rules_core as rc
from rules_core import NoTangent
from rules_torch import to_torch

# torch's own compiler stack warns about itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("fresh"),
]
A = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "Fortran order": lambda x: np.asfortranarray(x * 2),
    "transposed": lambda x: np.ascontiguousarray((x * 2).T).T,
    "strided": lambda x: np.repeat(x * 2, 2, axis=1)[:, ::2],
    "reversed": lambda x: (x[::-1] * 2)[::-1],
    "broadcast": lambda x: np.broadcast_to(x[0, 1] * 2 - 2 * x[:1] + 1, (2, 3)),
    "read-only": lambda x: np.frombuffer((x * 2).tobytes()).reshape(2, 3),
    "nested": lambda x: [np.asfortranarray(x * 2), (np.asfortranarray(x.T),)],
}


def inner(y):
    return y + 1 if isinstance(y, torch.Tensor) else y[0] + y[1][0].T


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_that_do_not_lie_in_rows(layout, backend):
    def shapes(x):
        if layout != "nested":
            return x
        return [x, (rc.ShapeDtype((x.shape[1], x.shape[0]), x.dtype),)]

    f = to_torch(LAYOUTS[layout], host=True, out=shapes)
    fast = torch.compile(lambda x: inner(f(x)), fullgraph=True, backend=backend)
    torch.testing.assert_close(fast(A), inner(f(A)))
    batched = torch.compile(
        vmap(lambda x: inner(f(x))), fullgraph=True, backend=backend
    )
    torch.testing.assert_close(batched(A[None]), inner(f(A))[None])


DTYPES = {
    "halves of integers": (lambda x: x / 2, torch.int64, torch.int64),
    "complex": (lambda x: x * 1j, torch.float64, torch.float64),
    "wide integers": (lambda x: x + 2**40, torch.int64, torch.int32),
    "truth values": (lambda x: x * 3, torch.int64, torch.bool),
    "signs": (lambda x: -x, torch.int64, torch.uint8),
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", DTYPES)
def test_a_declared_dtype_that_cannot_hold_the_result_is_refused(name):
    f, given, declared = DTYPES[name]
    host = to_torch(f, host=True, out=lambda x: rc.ShapeDtype(x.shape, declared))
    x = torch.tensor([1, 3]).to(given)
    fast = torch.compile(lambda x: host(x), fullgraph=True, backend="aot_eager")
    with pytest.raises(Exception, match="as its declaration promises, but got"):
        fast(x)


def test_precision_may_be_declared(compiled):
    f = to_torch(lambda x: np.float64(2) * x, host=True, out=lambda x: x)
    x = torch.tensor([0.5, 1.5], dtype=torch.float32)
    assert compiled(lambda x: f(x) * 1)(x).tolist() == [1, 3]


def several(returned, declared):
    @rc.primitive(host=True)
    def f(x):
        return x * 2, returned(x)

    @rc.shape_rule.define(f)
    def f_shape(x):
        return rc.ShapeDtype(x.shape, x.dtype), declared(x)

    return f


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_numbers_among_several_results(backend):
    for returned, declared in [
        (lambda x: 3, lambda x: 3),
        (lambda x: float(x.sum()), lambda x: rc.ShapeDtype((), x.dtype)),
        (lambda x: np.float64(2), lambda x: rc.ShapeDtype((), x.dtype)),
        (lambda x: ("a", None), lambda x: ("a", None)),
    ]:
        torch.compiler.reset()
        f = several(returned, declared)
        fast = torch.compile(lambda x, f=f: f(x), fullgraph=True, backend=backend)
        (y, number), (z, expected) = fast(A), f(A)
        torch.testing.assert_close(y, z)
        if isinstance(expected, torch.Tensor):
            torch.testing.assert_close(number, expected)
        else:
            assert number == expected


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize(
    ("returned", "declared"),
    [
        (lambda x: int(x.sum()), lambda x: rc.ShapeDtype((), np.int64)),
        (lambda x: int(x.sum()), lambda x: 3),
        (lambda x: 3, lambda x: 3.0),
        (lambda x: "b", lambda x: "a"),
        (lambda x: x, lambda x: 1),
        (lambda x: x, lambda x: None),
    ],
    ids=["counted", "another number", "kind", "text", "array for a number", "array"],
)
def test_other_values_than_declared_are_refused(returned, declared, backend):
    f = several(returned, declared)
    fast = torch.compile(lambda x: f(x), fullgraph=True, backend=backend)
    with pytest.raises(Exception, match="must describe every array that the function"):
        fast(A)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("shape", [(1, 3), (4, 3), (3,), ()])
@pytest.mark.parametrize("compiles", [False, True])
def test_a_batch_rule_that_returns_another_batch_is_refused(shape, compiles):
    @rc.primitive(host=True)
    def f(x):
        return x * 2

    rc.shape_rule.define(f)(lambda x: x)
    rc.batch_rule.define(f)(lambda size, batched, x: (np.ones(shape), True))
    program = vmap(lambda x: f(x))
    if compiles:
        program = torch.compile(program, fullgraph=True, backend="aot_eager")
    with pytest.raises(Exception, match="batch rule must return the batch axis first"):
        program(A)


@dataclass
class Box:
    w: Any
    name: str


STATICS = {
    "none": lambda x: (),
    "dict": lambda x: ({1: 2},),
    "list": lambda x: ([1, (2,)],),
    "float": lambda x: (float("nan"),),
    "dataclass": lambda x: (Box(x, "a"),),
    "slice": lambda x: (slice(1, 2),),
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", STATICS)
def test_calls_that_are_alike_share_an_operator(name):
    """torch keeps an operator for good, so a call must not define one of its own."""

    @rc.primitive(host=True, elementwise=True)
    def f(x, *rest):
        return np.asarray(x) ** 2

    @rc.rrule.define(f)
    def f_rrule(x, *rest):
        def f_pullback(dy):
            return NoTangent(), 2 * f(dy, *rest), *[rc.ZeroTangent() for _ in rest]

        return f(x, *rest), f_pullback

    counts = []
    for _ in range(3):
        torch.compiler.reset()
        x = A.clone().requires_grad_()
        torch.compile(lambda x: f(x, *STATICS[name](x)), backend="aot_eager")(x)
        counts.append(len(f.__dict__["_operators_torch"]))
    assert counts == [1, 1, 1]
