"""Closure conversion: what is found, what is put back, what is refused."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace

import pytest
import torch
from hypothesis import given, strategies as st

import rules_core as rc
from rules_torch._closures.convert import convert, rebuild

T = torch.tensor(2.0)
Pair = namedtuple("Pair", "a b")


@dataclass
class Box:
    value: object


class Slotted:
    __slots__ = ("__hidden", "value")

    def __init__(self, value):
        self.value = self.__hidden = value

    def both(self):
        return self.value, self.__hidden


class Reduced:
    """Says how it is made again; what it has computed is none of its parts."""

    def __init__(self, value):
        self.value, self.cache = value, deque([value])

    def __reduce__(self):
        return Reduced, (self.value,)


def capture(value, read=lambda value: value):
    def pullback(dy):
        return read(value) * dy

    return pullback


CASES = {
    "tensor": (lambda t: t, lambda v: v),
    "list": (lambda t: [t, 1], lambda v: v[0]),
    "tuple": (lambda t: ("a", (t,)), lambda v: v[1][0]),
    "dict": (lambda t: {"k": [t]}, lambda v: v["k"][0]),
    "named": (lambda t: Pair(1, t), lambda v: v.b),
    "OrderedDict": (lambda t: OrderedDict(a=1, k=[t]), lambda v: v["k"][0]),
    "defaultdict": (lambda t: defaultdict(None, k=(t,)), lambda v: v["k"][0]),
    "deque": (lambda t: deque([1, t], maxlen=2), lambda v: v[1]),
    "dataclass": (Box, lambda v: v.value),
    "reduced": (Reduced, lambda v: v.cache[0]),
    "slots": (Slotted, lambda v: v.both()[1]),
    "partial": (lambda t: functools.partial(torch.mul, t), lambda v: v(1.0)),
    "method": (lambda t: Slotted(t).both, lambda v: v()[0]),
    "closure": (lambda t: lambda: t, lambda v: v()),
    "default": (lambda t: lambda t=t: t, lambda v: v()),
    "keyword default": (lambda t: lambda *, t=t: t, lambda v: v()),
    "Pullback": (lambda t: rc.Pullback(torch.mul, t), lambda v: v(1.0)),
    "thunk": (lambda t: rc.thunk(lambda: t), rc.unthunk),
    "parameter": (torch.nn.Parameter, lambda v: v),
}


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_capture_is_found_and_replaced(name):
    make, read = CASES[name]
    plan, tensors = convert(capture(make(T), read))
    assert plan[2] is None
    assert tensors
    new = [torch.tensor(5.0) for _ in tensors]
    assert rebuild(plan, new)(3.0) == 15
    assert rebuild(plan, tensors)(3.0) == 6


def test_a_pullback_without_tensors_stays_as_it_is():
    plan, tensors = convert(capture(3))
    assert (tensors, rebuild(plan, [])(2)) == ([], 6)


def test_shared_cells_and_recursion():
    """Two functions share one cell, and one of them calls itself."""
    t = T

    def count(n):
        return t if n == 0 else count(n - 1)

    def other():
        return t

    def pullback(dy):
        return (count(3) + other()) * dy

    plan, tensors = convert(pullback)
    assert len(tensors) == 1
    assert rebuild(plan, [torch.tensor(5.0)])(1.0) == 10


@pytest.mark.parametrize(
    "value",
    [
        defaultdict(lambda t=T: t),
        (t for t in [T]),
        functools.lru_cache(lambda t=T: t),
        iter([T]),
        type("MyList", (list,), {})([T]),
    ],
    ids=["factory", "generator", "lru_cache", "iterator", "list subclass"],
)
def test_what_cannot_be_looked_into_is_named(value):
    plan, _ = convert(capture(value))
    assert type(value).__qualname__ in plan[2]


def test_a_container_that_contains_itself_is_named():
    loop = [T]
    loop.append(loop)
    plan, _ = convert(capture(loop))
    assert plan[2] == "an object of type builtins.list that contains itself"


def test_objects_without_tensors_are_no_obstacle():
    plan, tensors = convert(capture((deque([1]), iter([2]), T), lambda v: v[2]))
    assert plan[2] is None
    assert len(tensors) == 1


def test_empty_cells():
    def outer():
        def pullback(dy):
            return late * dy if dy is None else t * dy

        t = T
        if False:
            late = 1
        return pullback

    plan, tensors = convert(outer())
    assert len(tensors) == 1
    assert rebuild(plan, [torch.tensor(5.0)])(2.0) == 10


nested = st.recursive(
    st.just("tensor") | st.integers() | st.none() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


def fill(value, tensors):
    if value == "tensor":
        return next(tensors)
    if isinstance(value, (list, tuple)):
        return type(value)(fill(item, tensors) for item in value)
    if isinstance(value, dict):
        return {key: fill(item, tensors) for key, item in value.items()}
    return value


@given(nested)
def test_any_nest_of_containers_is_put_back_with_other_tensors(value):
    first = (torch.tensor(float(i)) for i in range(99))
    plan, tensors = convert(capture(fill(value, first), lambda v: [v]))
    new = [torch.tensor(-1.0 - i) for i in range(len(tensors))]
    (mine,) = rebuild(plan, new)(1)
    assert repr(mine) == repr(fill(value, iter(new)))


def test_tuples_of_tensors_and_constants_are_taken_apart_by_the_short_way():
    constant = rc.not_implemented("nobody knows")
    held = ((T, ("a", T + 1)), constant, rc.NoTangent(), 2.0)

    def read(several, held, dy):
        return several, held, dy

    for pullback in (capture(held), rc.Pullback(read, False, held)):
        plan, tensors = convert(pullback)
        assert plan[1].__name__ in ("_make_closure", "_make_pullback")
        assert [x is y for x, y in zip(tensors, (T, held[0][1][1]), strict=True)]
    _, found, dy = rebuild(plan, [T + 5, T + 6])(3.0)
    assert (found[0][0].item(), found[0][1][0], found[0][1][1].item()) == (7, "a", 8)
    assert found[1:] == held[1:]
    assert dy == 3.0


@pytest.mark.parametrize("kind", ["rrule", "frule", "scalar_rule", "opt_out"])
def test_the_rules_of_a_captured_function_are_not_looked_into(kind):
    """They reach thousands of objects, which took milliseconds at each call."""

    def f(x):
        return x * x

    match kind:
        case "rrule":
            rc.rrule.define(f)(lambda x: (f(x), capture(x)))
        case "frule":
            rc.frule.define(f)(lambda tangents, x: (f(x), 2 * x * tangents[1]))
        case "scalar_rule":
            rc.scalar_rule(f, lambda y, x: (2 * x,))
        case "opt_out":
            rc.opt_out(rc.rrule, f, object)
    plan, tensors = convert(capture((f, T)))
    assert plan[1].__name__ == "_make_closure"
    assert tensors == [T]
    f.kept = T  # what else hangs on the function is looked into
    plan, tensors = convert(capture((f, 1.0)))
    assert tensors == [T]


def test_an_object_that_holds_no_tensor_is_shared():
    calls, box = [], SimpleNamespace(calls=0)

    def pullback(dy, *, seen=T):
        calls.append(1)
        box.calls += 1
        return seen * dy

    plan, tensors = convert(pullback)
    for _ in range(2):
        rebuild(plan, tensors)(1.0)
    assert (len(calls), box.calls) == (2, 2)


def test_what_cannot_be_opened_is_an_obstacle_only_where_it_holds_a_tensor():
    def capture(sealed, x=T):
        beside = SimpleNamespace(sealed=sealed)
        return lambda: (x, sealed, beside)

    large = MappingProxyType({i: [i] for i in range(20_000)})
    plan, tensors = convert(capture(large))
    assert plan[2] is None
    _, sealed, beside = rebuild(plan, tensors)()
    assert sealed is beside.sealed is large
    plan, _ = convert(capture(MappingProxyType({"x": T})))
    assert "mappingproxy" in plan[2]
