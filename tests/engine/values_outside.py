"""Where a program puts a value, and how the body of a function with rules reads it."""

import functools
import sys
import threading
import types
from contextlib import contextmanager
from typing import Any

import numpy as np


class Model:
    w = None

    @property
    def computed(self):
        return self.w

    def method(self, x):
        return self.w * x


class Slotted:
    __slots__ = ("w",)


class Holder:
    w = 2.0

    def of_class(self, x):
        return Holder.w * x


def cells():
    w = 2.0

    def get():
        return w

    def put(value):
        nonlocal w
        w = value

    return get, put


def has_attribute():
    """A function that has an attribute."""


carrier: Any = has_attribute


NUMBER, LIST = 2.0, [2.0]
MODEL: Any = Model()
SLOTTED: Any = Slotted()
DICT: dict[str, Any] = {}
NESTED, ARRAY, LOCAL = {"models": [Model()]}, np.zeros(1), threading.local()
MODULE = sys.modules["module_of_values"] = types.ModuleType("module_of_values")
get_captured, put_captured = cells()


def put_back():
    global NUMBER  # noqa: PLW0603  (what is tested)
    NUMBER = Holder.w = LIST[0] = 2.0
    ARRAY[0] = 0.0
    for x in (MODEL, NESTED["models"][0], carrier, LOCAL):
        vars(x).clear()
    DICT.clear()
    put_captured(2.0)


def put_global(w):
    global NUMBER  # noqa: PLW0603  (what is tested)
    NUMBER = w


def put_global_container(w):
    global NUMBER  # noqa: PLW0603  (what is tested)
    NUMBER = [w]


def put_by_globals(w):
    globals()["NUMBER"] = w


def put_attribute(w):
    MODEL.w = w


def put_by_setattr(w):
    setattr(MODEL, "w", w)  # noqa: B010  (what is tested)


def put_by_vars(w):
    vars(MODEL)["w"] = w


def put_container(w):
    MODEL.parameters = {"w": [w]}


def put_nested(w):
    NESTED["models"][0].w = w


def put_new_instance(w):
    made = Model()
    made.w = w
    DICT["model"] = made


def put_slot(w):
    SLOTTED.w = w


def put_entry(w):
    DICT["w"] = w


def put_by_update(w):
    DICT.update(w=w)


def put_item(w):
    LIST[0] = w


def put_into_array(w):
    ARRAY[0] = w


def put_module(w):
    MODULE.w = w


def put_class(w):
    Holder.w = w


def put_function(w):
    carrier.w = w


def put_local(w):
    LOCAL.w = w


def helper():
    return MODEL.w


def helper_of_helper():
    return helper()


def imports(x):
    import module_of_values  # type: ignore[import-not-found]

    return module_of_values.w * x


def imports_name(x):
    from module_of_values import w

    return w * x


def as_decorated(f):
    @functools.wraps(f)
    def wrapper():
        return f()

    return wrapper


@contextmanager
def managed():
    yield MODEL.w


def in_context(x):
    with managed() as w:
        return w * x


class Special:
    def __mul__(self, x):
        return MODEL.w * x

    def __getitem__(self, _key):
        return MODEL.w

    def __getattr__(self, name):
        return MODEL.w

    def __call__(self):
        return MODEL.w


class Meta(type):
    @property
    def w(cls):
        return MODEL.w


class OfMeta(metaclass=Meta):
    pass


class Below(Holder):
    def of_class(self, x):
        return super().of_class(x)


@functools.singledispatch
def dispatched(_x):
    return MODEL.w


SPECIAL, BELOW, TABLE = Special(), Below(), {"helpers": [helper]}
DECORATED, PARTIAL = as_decorated(helper), functools.partial(helper)
CACHED = functools.lru_cache(helper)


def of_both(x):
    return MODEL.w * NUMBER * x


PLACES = {
    "computed attribute": (put_attribute, lambda x: getattr(MODEL, "w") * x),  # noqa: B009  so
    "computed global": (put_global, lambda x: globals()["NUMBER"] * x),
    "eval": (put_global, lambda x: eval("NUMBER + 0.0") * x),
    "vars of a class": (put_class, lambda x: vars(Holder)["w"] * x),
    "sys.modules": (put_global, lambda x: sys.modules[__name__].NUMBER * x),
    "inner function": (put_attribute, lambda x: sum(MODEL.w * x for _ in range(1))),
    "table of helpers": (put_attribute, lambda x: TABLE["helpers"][0]() * x),
    "decorated helper": (put_attribute, lambda x: DECORATED() * x),
    "partial helper": (put_attribute, lambda x: PARTIAL() * x),
    "cached helper": (put_attribute, lambda x: CACHED() * x),
    "dispatched helper": (put_attribute, lambda x: dispatched(x) * x),
    "context": (put_attribute, in_context),
    "operator": (put_attribute, lambda x: SPECIAL * x),
    "item": (put_attribute, lambda x: SPECIAL[0] * x),
    "__getattr__": (put_attribute, lambda x: SPECIAL.other * x),
    "__call__": (put_attribute, lambda x: SPECIAL() * x),
    "operator of an instance made": (put_attribute, lambda x: Special() * x),
    "metaclass": (put_attribute, lambda x: OfMeta.w * x),
    "attribute of a subclass": (put_class, lambda x: Below.w * x),
    "class of an instance": (put_class, lambda x: BELOW.w * x),
    "super": (put_class, lambda x: BELOW.of_class(x)),
    "global": (put_global, lambda x: NUMBER * x),
    "global container": (put_global_container, lambda x: NUMBER[0] * x),
    "globals()": (put_by_globals, lambda x: NUMBER * x),
    "attribute": (put_attribute, lambda x: MODEL.w * x),
    "setattr": (put_by_setattr, lambda x: MODEL.w * x),
    "vars": (put_by_vars, lambda x: MODEL.w * x),
    "container in attribute": (put_container, lambda x: MODEL.parameters["w"][0] * x),
    "nested": (put_nested, lambda x: NESTED["models"][0].w * x),
    "new instance": (put_new_instance, lambda x: DICT["model"].w * x),
    "slot": (put_slot, lambda x: SLOTTED.w * x),
    "dict": (put_entry, lambda x: DICT["w"] * x),
    "update": (put_by_update, lambda x: DICT["w"] * x),
    "list": (put_item, lambda x: LIST[0] * x),
    "array": (put_into_array, lambda x: ARRAY[0] * x),
    "module": (put_module, lambda x: MODULE.w * x),
    "import": (put_module, imports),
    "import from": (put_module, imports_name),
    "class": (put_class, lambda x: Holder.w * x),
    "method of an instance made": (put_class, lambda x: Holder().of_class(x)),
    "function": (put_function, lambda x: carrier.w * x),
    "thread-local": (put_local, lambda x: LOCAL.w * x),
    "helper": (put_attribute, lambda x: helper() * x),
    "helper's helper": (put_attribute, lambda x: helper_of_helper() * x),
    "helper's closure": (put_captured, lambda x: get_captured() * x),
    "property": (put_attribute, lambda x: MODEL.computed * x),
    "method": (put_attribute, lambda x: MODEL.method(x)),
}
