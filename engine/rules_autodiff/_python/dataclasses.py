"""Generated methods of `dataclass` and `namedtuple`, which have no source."""

import inspect
from dataclasses import MISSING
from types import FunctionType
from typing import Any

from .methods import class_attribute

__all__ = ["initialise_dataclass", "is_written_for", "only_compares", "runs_code"]

COMPARING = frozenset({"__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"})


def is_written_for(f: FunctionType) -> bool:
    """Whether `dataclass` or `namedtuple` generated a constructor: it only stores."""
    name = f.__code__.co_filename
    return name.startswith(("<string>", "<namedtuple"))


def initialise_dataclass(run: Any, made: Any, args: Any, kwargs: Any) -> None:
    """The `__init__` that `dataclass` generates, `__post_init__` included."""
    cls = type(made)
    bound = inspect.signature(cls.__init__).bind(made, *args, **kwargs).arguments
    frozen = cls.__dataclass_params__.frozen
    after = []
    for name, field in cls.__dataclass_fields__.items():
        # `fields()` omits the InitVars; this attribute includes them.
        kind = field._field_type.name  # noqa: SLF001
        value = given(run, cls, name, field, bound)
        if kind == "_FIELD_CLASSVAR" or value is MISSING:
            continue
        if kind == "_FIELD_INITVAR":
            after.append(value)
        else:
            run.call(object.__setattr__ if frozen else setattr, made, name, value)
    if hasattr(made, "__post_init__"):
        run.call(made.__post_init__, *after)


def given(run: Any, cls: Any, name: str, field: Any, bound: Any) -> Any:
    """The value of a field: an argument, a default, or its factory's result."""
    if name in bound:
        return bound[name]
    if field.default_factory is not MISSING:
        return run.call(field.default_factory)
    in_class = not field.init and cls.__dict__.get(name, MISSING) is field.default
    return MISSING if in_class else field.default  # it stays in the class


def runs_code(cls: Any) -> bool:
    """Whether the `__init__` that `dataclass` generated calls user code."""
    fields = getattr(cls, "__dataclass_fields__", {})
    if isinstance(getattr(cls, "__post_init__", None), FunctionType):
        return True
    setter = cls.__setattr__
    if isinstance(setter, FunctionType) and setter.__code__.co_filename != "<string>":
        return True
    made = any(f.default_factory is not MISSING for f in fields.values())
    return made or any(is_set_by_code(cls, name) for name in fields)


def is_set_by_code(cls: Any, name: str) -> bool:
    """Whether a property or a descriptor in Python receives the value of a field."""
    entry = class_attribute(cls, name)
    setter = getattr(type(entry), "__set__", None)
    return isinstance(entry, property) or isinstance(setter, FunctionType)


def only_compares(f: FunctionType) -> bool:
    """Whether `dataclass` generated a comparison, which gives no number."""
    return f.__name__ in COMPARING and f.__code__.co_filename == "<string>"
