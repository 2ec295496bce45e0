"""Values with derivatives inside arguments, where a rule has no tangent for them."""

import functools
import itertools
import operator
import types
import weakref
from collections import deque
from typing import Any

import numpy as np
import pytest

import rules_core as rc

from .test_values_from_outside import FIRST_ORDER, assert_errors, assert_right
from .values_outside import LOCAL, MODULE, Holder, Model, carrier


@rc.primitive
def total(values, x):
    return 15.0 * x


@rc.rrule.define(total)
def total_rrule(values, x):
    def total_pullback(dy):
        return rc.NoTangent(), rc.not_implemented("values"), 15.0 * dy

    return total(values, x), total_pullback


@rc.primitive
def partial_total(values, x):
    return 15.0 * x


rc.scalar_rule(partial_total, lambda _y, _values, _x: (rc.NoTangent(), 15.0))


def sub(base):
    """An instance of a subclass that has an attribute."""
    cls = type(f"My{base.__name__}", (base,), {})

    def make(w):
        made = cls()
        made.w = w
        return made

    return make


def put_on(x):
    def make(w):
        x.w = w
        return x

    return make


def generated(w):
    yield w


def cached(w):
    @functools.lru_cache
    def f():
        return w

    return f


KEPT: list[Any] = []


def weakly(w):
    made = Model()
    made.w = w
    KEPT.append(made)
    return weakref.ref(made)


def in_instance(w):
    made = Model()
    made.values = iter([w])
    return made


SUBCLASSES = (list, dict, tuple, str, float, int, deque, ValueError)
HOLDING = {
    **{f"subclass of {base.__name__}": sub(base) for base in SUBCLASSES},
    "values": lambda w: {"a": w}.values(),
    "items": lambda w: {"a": w}.items(),
    "reversed": lambda w: reversed([w]),
    "generator": generated,
    "generator expression": lambda w: (v for v in [w]),
    "map": lambda w: map(abs, [w]),
    "map of a closure": lambda w: map(lambda v: w * v, [1.0]),  # noqa: C417
    "zip": lambda w: zip([w], [1.0], strict=True),
    "iter": lambda w: iter([w]),
    "enumerate": lambda w: enumerate([w]),
    "filter": lambda w: filter(None, [w]),
    "cycle": lambda w: itertools.cycle([w]),
    "repeat": lambda w: itertools.repeat(w),
    "chain": lambda w: itertools.chain([w]),
    "islice": lambda w: itertools.islice([w], 1),
    "itemgetter": lambda w: operator.itemgetter(w),
    "exception": lambda w: ValueError(w),
    "function with an attribute": put_on(carrier),
    "lru_cache": cached,
    "thread-local": put_on(LOCAL),
    "class": put_on(Holder),
    "module": put_on(MODULE),
    "weak reference": weakly,
    "property": lambda w: property(lambda self: w),
    "staticmethod": lambda w: staticmethod(lambda: w),
    "slice": lambda w: slice(0, w),
    "in a list": lambda w: [{"a": iter([w])}],
    "in an instance": in_instance,
    "in a namespace": lambda w: types.SimpleNamespace(a=iter([w])),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("f", [total, partial_total])
@pytest.mark.parametrize("kind", HOLDING)
def test_what_arguments_conceal(kind, f):
    make = HOLDING[kind]
    text = "argument 0 of tests.engine.test_values_in_arguments"
    assert_errors(lambda w: f(make(w), 5.0), text, FIRST_ORDER)
    assert_errors(lambda w: f(make(w), 5.0 * w), text, FIRST_ORDER)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("kind", HOLDING)
def test_what_arguments_hold_of_constants(kind):
    make = HOLDING[kind]
    assert_right(lambda w: partial_total(make(2.0), w * w))


# Bound methods of C code: what they are bound to has a tangent.


def twice(f, x):
    return f(x) + f(x)


@rc.rrule.define(twice, config=rc.RuleConfig[rc.HasReverseMode])
def twice_rrule(config, f, x):
    y, pullback = rc.rrule_via_ad(config, f, x)

    def twice_pullback(dy):
        return rc.NoTangent(), *pullback(2.0 * dy)

    return 2.0 * y, twice_pullback


def twice_forward(f, x):
    return f(x) + f(x)


@rc.frule.define(twice_forward, config=rc.RuleConfig[rc.HasForwardsMode])
def twice_frule(config, tangents, f, x):
    y, dy = rc.frule_via_ad(config, tangents[1:], f, x)
    return 2.0 * y, 2.0 * dy


M, B = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 2.0])
BOUND = {
    "dot": lambda t, f: f((M * t).dot, B).sum(),
    "matmul": lambda t, f: f((M * t).__matmul__, B).sum(),
    "matmul of active": lambda t, f: f((M * t).__matmul__, B * t).sum(),
    "rmatmul": lambda t, f: f((M * t).T.__rmatmul__, B).sum(),
    "mul of an array": lambda t, f: f((M * t).__mul__, B * t).sum(),
    "mul": lambda t, f: f((t * t).__mul__, 3.0),
    "radd": lambda t, f: f((t * t).__radd__, t),
    "mul of a scalar": lambda t, f: f((np.float64(2.0) * t).__mul__, 3.0),
    "getitem": lambda t, f: f((B * t).__getitem__, 1),
    "getitem of a list": lambda t, f: f([t * t, t].__getitem__, 0),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("f", [twice, twice_forward])
@pytest.mark.parametrize("name", BOUND)
def test_bound_methods(name, f):
    assert_right(lambda t: BOUND[name](t, f))


# Functions of NumPy that objects answer by themselves.


def answering(name, *, is_property=False):
    def answer(self, *_args, **_options):
        return self.value * self.value

    return type("Answering", (), {name: property(answer) if is_property else answer})


ASKED = {
    "argmax": (), "argmin": (), "any": (), "all": (), "argsort": (), "nonzero": (),
    "rint": (), "searchsorted": (0,), "argpartition": (0,),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_methods_that_numpy_calls(name):
    cls = answering(name)

    def loss(w):
        x = cls()
        x.value = w
        return getattr(np, name)(x, *ASKED[name])

    assert loss(3.0) == 9.0
    assert_errors(loss, "Call the method itself", FIRST_ORDER)


@pytest.mark.parametrize("name", ["shape", "ndim", "size"])
def test_attributes_that_numpy_reads(name):
    cls = answering(name, is_property=True)

    def loss(w):
        x = cls()
        x.value = w
        return getattr(np, name)(x)

    assert_right(loss)
