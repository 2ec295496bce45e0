"""Ways to read a tensor from outside, and to differentiate what does."""

from __future__ import annotations

import operator
import weakref
from contextvars import ContextVar
from functools import cached_property, lru_cache, partial, wraps
from types import FunctionType, MappingProxyType, ModuleType, SimpleNamespace

import numpy as np
import torch
import torch.autograd.forward_ad as fwd
from torch import func

import rules_core as rc
import rules_torch
from rules_core import NoTangent

W = torch.tensor(3.0, requires_grad=True)
PLAIN = torch.tensor(3.0)
BOX = {"w": W, "eps": 1e-3}
NESTED = {"layers": [({"w": (W,)},)]}
LIST = [W]
NAMESPACE = SimpleNamespace(w=W)
MODULE = ModuleType("settings_of_a_user")
vars(MODULE)["w"] = W
TIMES, PARTIAL = W.mul, partial(torch.mul, W)
VARIABLE: ContextVar[torch.Tensor] = ContextVar("VARIABLE", default=W)
GIVEN: ContextVar[torch.Tensor] = ContextVar("GIVEN")
GIVEN.set(W)
WEAK, VALUES = weakref.ref(W), weakref.WeakValueDictionary(w=W)
KEYED, FROZEN = {W: 1}, MappingProxyType({"w": W})
CALLER = operator.methodcaller("mul", W)
SLICE = slice(W, None)
LINEAR = torch.nn.Linear(1, 1, bias=False)
ARRAY = np.array([None, 1.0], dtype=object)
ARRAY[0] = W
LABELLED = torch.tensor(1.0)
vars(LABELLED)["label"] = W


def helper(x):
    return W * x


vars(MODULE)["helper"] = helper


def helper_of_helper(x):
    return helper(x)


@wraps(helper)
def wrapper(x):
    return helper(x)


@lru_cache
def kept():
    return W


class Meta(type):
    @property
    def w(cls):
        return W


class Descriptor:
    def __get__(self, instance, owner):
        return W


class Settings(metaclass=Meta):
    W = W
    described = Descriptor()

    @property
    def own(self):
        return W

    @cached_property
    def cached(self):
        return W

    @staticmethod
    def static(x):
        return W * x

    @classmethod
    def times(cls, x):
        return cls.W * x

    def __getattr__(self, name):
        return W


class Caller:
    def __call__(self, x):
        return W * x


class Slots:
    __slots__ = ("w",)
    w: torch.Tensor


class Layer(torch.nn.Module):
    def forward(self, x):
        return W * x


SETTINGS, SLOTS, LAYER = Settings(), Slots(), Layer()
SLOTS.w = W


def captures_a_method():
    times = W.mul
    return lambda x: times(x)


def captures_a_helper():
    table = {"f": helper}
    return lambda x: table["f"](x)


def imports(x):
    import sys

    return sys.modules[__name__].W * x


READERS = {
    "global": lambda x: W * x,
    "entry": lambda x: BOX["w"] * x,
    "entries": lambda x: NESTED["layers"][0][0]["w"][0] * x,
    "list": lambda x: LIST[0] * x,
    "namespace": lambda x: NAMESPACE.w * x,
    "module": lambda x: MODULE.w * x,
    "function of a module": lambda x: MODULE.helper(x),
    "attribute of a class": lambda x: Settings.W * x,
    "property": lambda x: SETTINGS.own * x,
    "cached property": lambda x: SETTINGS.cached * x,
    "property of a class": lambda x: Settings.w * x,
    "descriptor": lambda x: Settings.described * x,
    "getattr": lambda x: getattr(SETTINGS, "own") * x,  # noqa: B009 (a way to read)
    "__getattr__": lambda x: SETTINGS.anything * x,
    "static method": lambda x: Settings.static(x),
    "class method": lambda x: SETTINGS.times(x),
    "slot": lambda x: SLOTS.w * x,
    "helper": helper_of_helper,
    "wrapped": wrapper,
    "map": lambda x: sum(map(helper, [x])),
    "cache": lambda x: kept() * x,
    "partial": lambda x: PARTIAL(x),
    "bound method": lambda x: TIMES(x),
    "captured method": captures_a_method(),
    "captured helper": captures_a_helper(),
    "methodcaller": lambda x: CALLER(x),
    "context variable": lambda x: GIVEN.get() * x,
    "default of one": lambda x: VARIABLE.get() * x,
    "weak reference": lambda x: WEAK() * x,
    "weak values": lambda x: VALUES["w"] * x,
    "key": lambda x: next(iter(KEYED)) * x,
    "read-only dict": lambda x: FROZEN["w"] * x,
    "slice": lambda x: SLICE.start * x,
    "globals()": lambda x: globals()["W"] * x,
    "object array": lambda x: ARRAY[0] * x,
    "attribute of a tensor": lambda x: LABELLED.label * x,
    "eval": lambda x: eval("W * x"),
    "getattr of a module": lambda x: getattr(MODULE, "ww"[:1]) * x,
    "import": imports,
    "instance that is called": lambda x: Caller()(x),
    "layer": lambda x: LAYER(x),
    "parameters": lambda x: LINEAR(x.reshape(1)).sum(),
}
METHODS = {
    "method": W.mul,
    "operator": W.__mul__,
    "partial method": partial(W.mul),
    "class method": Settings.times,
    "instance": Caller(),
    "layer": LAYER,
    "function of a module": MODULE.helper,
}


def with_rules(body):
    """A copy of `body` with the rules of `3 x`."""
    parts = (body.__code__, body.__globals__, "body", None, body.__closure__)
    f = rc.Primitive(FunctionType(*parts))
    rc.rrule.define(f.fun)(lambda x: (f(x), lambda dy: (NoTangent(), 3 * dy)))
    rc.frule.define(f.fun)(lambda dxs, x: (f(x), 3 * dxs[1]))
    return f


@rc.primitive
def twice(f, x):
    return f(f(x))


@rc.rrule.define(twice, config=rc.RuleConfig[rc.HasReverseMode])
def twice_rrule(config, f, x):
    y1, pullback1 = rc.rrule_via_ad(config, f, x)
    y2, pullback2 = rc.rrule_via_ad(config, f, y1)

    def twice_pullback(dy):
        df2, dy1 = pullback2(dy)
        df1, dx = pullback1(dy1)
        return NoTangent(), rc.accumulate(df1, df2), dx

    return y2, twice_pullback


def dual(f):
    with fwd.dual_level():
        return fwd.unpack_dual(f(fwd.make_dual(torch.tensor(5.0), torch.tensor(1.0))))


def active():
    return torch.tensor(5.0, requires_grad=True)


X = torch.tensor(5.0)
WAYS = {
    "backward": lambda f: f(active()).backward(),
    "create_graph": lambda f: torch.autograd.grad(f(active()), W, create_graph=True),
    "func.grad": lambda f: func.grad(f)(X),
    "func.jvp": lambda f: func.jvp(f, (X,), (X,)),
    "vmap(grad)": lambda f: func.vmap(func.grad(f))(torch.ones(2)),
    "dual numbers": dual,
}
OUTSIDE = rules_torch.OutsideTensorError
FOUND = "that requires a gradient or has a tangent"
