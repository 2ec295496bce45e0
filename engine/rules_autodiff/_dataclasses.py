"""What `dataclass` and `namedtuple` write: methods without source of their own."""

import inspect
from dataclasses import MISSING
from types import FunctionType
from typing import Any

__all__ = ["initialise_dataclass", "is_written_for", "only_compares", "runs_code"]

COMPARING = frozenset({"__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"})


def is_written_for(f: FunctionType) -> bool:
    """Whether `dataclass` or `namedtuple` wrote a constructor: it only stores."""
    name = f.__code__.co_filename
    return name.startswith(("<string>", "<namedtuple"))


def initialise_dataclass(run: Any, made: Any, args: Any, kwargs: Any) -> None:
    """What the `__init__` that `dataclass` wrote does, `__post_init__` included."""
    bound = inspect.signature(type(made)).bind(*args, **kwargs).arguments
    after = []
    for name, field in type(made).__dataclass_fields__.items():
        # `fields()` leaves out the InitVars, which only this tells from the others.
        kind = field._field_type.name  # noqa: SLF001
        value = bound.get(name, MISSING)
        if value is MISSING:
            value = field.default
        if value is MISSING and field.default_factory is not MISSING:
            value = run.call(field.default_factory)
        if kind == "_FIELD_CLASSVAR" or value is MISSING:
            continue
        if kind == "_FIELD_INITVAR":
            after.append(value)
        else:
            object.__setattr__(made, name, value)
    if hasattr(made, "__post_init__"):
        run.call(made.__post_init__, *after)


def runs_code(cls: Any) -> bool:
    """Whether the `__init__` that `dataclass` wrote calls something of the user's."""
    fields = getattr(cls, "__dataclass_fields__", {}).values()
    made = any(f.default_factory is not MISSING for f in fields)
    return made or isinstance(getattr(cls, "__post_init__", None), FunctionType)


def only_compares(f: FunctionType) -> bool:
    """Whether `dataclass` wrote a comparison, which gives no number."""
    return f.__name__ in COMPARING and f.__code__.co_filename == "<string>"
