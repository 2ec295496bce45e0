"""What a pullback keeps for later: no other run of it may find that.

The runs differ in what they differentiate, and a value that one has kept is a constant
to the next. Each way to keep something computes the slope of the sine once.
"""

from __future__ import annotations

import functools
from collections import ChainMap, OrderedDict, defaultdict, deque, namedtuple
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.func import grad, hessian, jacrev, jvp, vjp, vmap

import rules_core as rc
from rules_torch import UnconvertibleClosureError

X = torch.tensor([0.4, 1.1], dtype=torch.float64)
Pair = namedtuple("Pair", "a b")


def cosine(x):
    return rc.array_namespace(x).cos(x)


class Grown(list):
    pass


class Slots:
    __slots__ = ("slope",)


class Memo:
    slope = None

    def __init__(self, x=None):
        self.x = x

    def of(self, x):
        if self.slope is None:
            self.slope = cosine(x)
        return self.slope

    @functools.cached_property
    def once(self):
        return cosine(self.x)


def first(kept, x):
    """The entry of a list or a deque."""
    if not kept:
        kept.append(cosine(x))
    return kept[0]


def entry(kept, x):
    """The entry of a dict."""
    if "slope" not in kept:
        kept["slope"] = cosine(x)
    return kept["slope"]


def attribute(kept, x):
    if getattr(kept, "slope", None) is None:
        kept.slope = cosine(x)
    return kept.slope


def kept_in(make, get):
    """Something that is made in the forward pass and filled by the pullback."""

    def rule(x):
        kept = make()
        return lambda: get(kept, x)

    return rule


def in_a_default(x):
    return lambda kept=[]: first(kept, x)


def in_a_keyword_default(x):
    return lambda *, kept={}: entry(kept, x)


def in_its_own_attribute(x):
    def slope():
        return attribute(slope, x)

    return slope


def in_an_attribute_from_the_start(x):
    def slope():
        return slope.value

    slope.value = cosine(x)
    return slope


def in_a_variable(x):
    kept = None

    def slope():
        nonlocal kept
        kept = cosine(x) if kept is None else kept
        return kept

    return slope


def in_a_variable_of_a_helper(x):
    kept = None

    def slope(t):
        nonlocal kept
        kept = cosine(t) if kept is None else kept
        return kept

    return lambda: slope(x)


def in_a_variable_of_both(x):
    kept = None

    def fill(t):
        nonlocal kept
        kept = cosine(t)

    def slope():
        if kept is None:
            fill(x)
        return kept

    return slope


def in_a_decorator(x):
    def once(f):
        kept = []

        @functools.wraps(f)
        def wrapped(t):
            if not kept:
                kept.append(f(t))
            return kept[0]

        return wrapped

    slope = once(cosine)
    return lambda: slope(x)


def with_a_flag(x):
    kept, known = None, False

    def slope():
        nonlocal kept, known
        if not known:
            kept, known = cosine(x), True
        return kept

    return slope


def in_a_thunk(x):
    kept = rc.thunk(lambda: cosine(x))
    return lambda: rc.unthunk(kept)


def in_a_generator(x):
    def slopes():
        yield cosine(x)

    return lambda: next(slopes())


KEPT = {
    "list": kept_in(list, first),
    "own list": kept_in(Grown, first),
    "deque": kept_in(deque, first),
    "dict": kept_in(dict, entry),
    "OrderedDict": kept_in(OrderedDict, entry),
    "ChainMap": kept_in(ChainMap, entry),
    "defaultdict": kept_in(lambda: defaultdict(list), lambda k, x: first(k["a"], x)),
    "list in a tuple": kept_in(lambda: (1, []), lambda k, x: first(k[1], x)),
    "list in a named tuple": kept_in(lambda: Pair([], 1), lambda k, x: first(k.a, x)),
    "list in dicts": kept_in(
        lambda: {"a": ({"b": []},)}, lambda k, x: first(k["a"][0]["b"], x)
    ),
    "namespace": kept_in(SimpleNamespace, attribute),
    "instance": kept_in(Memo, attribute),
    "slots": kept_in(Slots, attribute),
    "method": kept_in(lambda: Memo().of, lambda of, x: of(x)),
    "partial": kept_in(lambda: functools.partial(first, []), lambda part, x: part(x)),
    "cached property": lambda x: functools.partial(getattr, Memo(x), "once"),
    "default": in_a_default,
    "keyword default": in_a_keyword_default,
    "own attribute": in_its_own_attribute,
    "attribute from the start": in_an_attribute_from_the_start,
    "variable": in_a_variable,
    "variable of a helper": in_a_variable_of_a_helper,
    "variable of both": in_a_variable_of_both,
    "decorator": in_a_decorator,
    "flag": with_a_flag,
    "thunk": in_a_thunk,
    "generator": in_a_generator,
}


def sine_with(rule):
    @rc.primitive
    def sine(x):
        return rc.array_namespace(x).sin(x)

    @rc.rrule.define(sine)
    def sine_rrule(x):
        slope = rule(x)
        return sine(x), lambda dy: (rc.NoTangent(), slope() * dy)

    return sine


def after_a_plain_run(f, x):
    """A first backward pass that records nothing, then one that does."""
    x = x.clone().requires_grad_()
    y = f(x).sum()
    torch.autograd.grad(y, x, retain_graph=True)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    return torch.autograd.grad(slope.sum(), x)[0]


def recorded(f, x):
    x = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return torch.autograd.grad(slope.sum(), x)[0]


def slope_of(f):
    return grad(lambda x: f(x).sum())


def pulled_in_a_batch(f, x):
    _, pull = vjp(slope_of(f), x)
    pull(x)
    return vmap(lambda ct: pull(ct)[0])(torch.eye(2, dtype=x.dtype)).sum(0)


SECOND = {
    "hessian": lambda f, x: hessian(lambda t: f(t).sum())(x).sum(0),
    "reverse over reverse": lambda f, x: jacrev(slope_of(f))(x).sum(0),
    "grad of grad": lambda f, x: slope_of(slope_of(f))(x),
    "forward over reverse": lambda f, x: jvp(slope_of(f), (x,), (1 + 0 * x,))[1],
    "create_graph": recorded,
    "after a plain run": after_a_plain_run,
    "batch of cotangents": pulled_in_a_batch,
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("kept", KEPT)
def test_second_derivatives(kept, second):
    found = SECOND[second](sine_with(KEPT[kept]), X)
    torch.testing.assert_close(found, -torch.sin(X))


def pulled_twice_by_jax(f, x):
    _, pull = jax.vjp(jax.grad(lambda t: f(t).sum()), x)
    pull(x)
    return pull(jnp.ones_like(x))[0]


def total(f):
    return lambda x: f(x).sum()


FIRST_IN_JAX = {
    "jacfwd": lambda f, x: jax.jacfwd(total(f))(x),
    "linearize": lambda f, x: jax.linearize(f, x)[1](jnp.ones_like(x)),
    "compiled jacfwd": lambda f, x: jax.jit(jax.jacfwd(total(f)))(x),
    "jvp, then vjp": lambda f, x: (
        jax.jvp(f, (x,), (x,)) and jax.vjp(f, x)[1](jnp.ones_like(x))[0]
    ),
}
SECOND_IN_JAX = {
    "hessian": lambda f, x: jax.hessian(total(f))(x).sum(0),
    "reverse over forward": lambda f, x: jax.jacrev(jax.jacfwd(total(f)))(x).sum(0),
    "reverse over reverse": lambda f, x: jax.jacrev(jax.jacrev(total(f)))(x).sum(0),
    "compiled": lambda f, x: jax.jit(jax.hessian(total(f)))(x).sum(0),
    "pulled twice": pulled_twice_by_jax,
    "batch": lambda f, x: jax.vmap(jax.grad(jax.grad(f)))(x),
}
# PyTorch does not find the tensors of a cache.
KEPT_IN_JAX = KEPT | {"cache": lambda x: functools.cache(lambda: cosine(x))}


@pytest.mark.covering(every=6)
@pytest.mark.parametrize("run", FIRST_IN_JAX | SECOND_IN_JAX)
@pytest.mark.parametrize("kept", KEPT_IN_JAX)
def test_derivatives_in_jax(kept, run):
    """JAX traces a pullback more than once; what a trace computes is its own."""
    x = jnp.array([0.4, 1.1])
    found = (FIRST_IN_JAX | SECOND_IN_JAX)[run](sine_with(KEPT_IN_JAX[kept]), x)
    expected = np.cos(x) if run in FIRST_IN_JAX else -np.sin(x)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


EVERYWHERE: dict[str, object] = {}


def in_a_global(x):
    return lambda: entry(EVERYWHERE, x)


def test_what_a_pullback_keeps_in_a_global_is_refused_in_words():
    EVERYWHERE.clear()
    f, x = sine_with(in_a_global), jnp.array([0.4, 1.1])
    with pytest.raises(rc.UnsupportedError, match=r"sine_rrule .*another of its runs"):
        jax.jacfwd(total(f))(x)
    EVERYWHERE.clear()


class Changing:
    """State of every kind."""

    __slots__ = ("__dict__", "empty", "filled")


def test_a_traced_run_leaves_no_tracer_in_a_pullback():
    held = Changing()
    held.filled, held.field = [1], 2
    filled, sizes = held.filled, (deque([1, 2]), OrderedDict(a=1))

    def rule(x):
        def slope():
            held.filled.append(cosine(x))
            held.field = held.empty = held.other = cosine(x)
            sizes[0].appendleft(cosine(x))
            sizes[1]["b"] = (sizes[1].pop("a"), cosine(x))
            return cosine(x)

        return slope

    jax.jacfwd(total(sine_with(rule)))(jnp.array([0.4, 1.1]))
    assert held.filled is filled
    assert filled == [1]
    assert vars(held) == {"field": 2}
    assert not hasattr(held, "empty")
    assert list(sizes[0]) == [1, 2]
    assert list(sizes[1].items()) == [("a", 1)]


def test_what_a_pullback_counts_in_a_list_is_seen():
    for derivative, x in ((grad, torch.tensor(0.4)), (jax.grad, jnp.array(0.4))):
        calls = []

        def rule(x, calls=calls):
            return lambda: calls.append(1) or cosine(x)

        derivative(sine_with(rule))(x)
        assert calls


def by_a_method(x):
    class Slope:
        def __call__(self):
            return cosine(x)

    return Slope()


def by_an_inherited_method(x):
    class Base:
        def slope(self):
            return cosine(x)

    class Slope(Base):
        __call__ = Base.slope

    return Slope()


def by_a_class_method(x):
    class Slope:
        @classmethod
        def slope(cls):
            return cosine(x)

    return lambda: Slope.slope()


def by_a_property(x):
    class Slope:
        @property
        def slope(self):
            return cosine(x)

    return lambda: Slope().slope


def by_a_class_attribute(x):
    class Slope:
        slope = cosine(x)

    return lambda: Slope.slope


@pytest.mark.parametrize(
    "hidden",
    [
        by_a_method,
        by_an_inherited_method,
        by_a_class_method,
        by_a_property,
        by_a_class_attribute,
    ],
)
def test_tensors_in_a_class_are_refused(hidden):
    """It is made in the rule, so that its methods capture what the rule was given."""
    for run in SECOND.values():
        with pytest.raises(
            UnconvertibleClosureError, match=r"hidden in the class .*Slo"
        ):
            run(sine_with(hidden), X)


def test_classes_of_a_rule_that_hold_no_tensor_are_no_obstacle():
    def rule(x):
        class Scale:
            by = 1.0

            def __init__(self, x):
                self.x = x

            def slope(self):
                return self.by * cosine(self.x)

        return Scale(x).slope

    for run in SECOND.values():
        torch.testing.assert_close(run(sine_with(rule), X), -torch.sin(X))


def test_classes_and_helpers_in_the_pullback_of_a_numpy_rule():
    @rc.primitive(host=True)
    def cube(x):
        return x**3

    @rc.rrule.define(cube, host=True)
    def cube_rrule(x):
        class Power:
            exponent = 2

            def __call__(self, x):
                return x**self.exponent

        def scaled(dy, by=3):
            return by * dy

        power = Power()
        return x**3, lambda dy: (rc.NoTangent(), scaled(dy) * power(x))

    torch.testing.assert_close(slope_of(cube)(X), 3 * X**2)
    torch.testing.assert_close(vmap(grad(cube))(X), 3 * X**2)
