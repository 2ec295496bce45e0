"""`getattr` and similar functions; attribute methods of `object` and `property`.

`super().__setattr__(…)` and `Class.field.__get__(…)` use them too.
"""

import builtins
from typing import Any

from rules_autodiff._hooks.attributes import own_delattr, own_getattr, own_store_attr
from rules_autodiff._hooks.caches import check_name, note_name
from rules_autodiff._python.handlers import handler

__all__: list[str] = []


@handler(builtins.getattr)
def handle_getattr(run: Any, owner: Any, name: str, *default: Any) -> Any:
    try:
        return check_name(run, owner, name, run.getattr(owner, name))
    except AttributeError:
        if not default:
            raise
        return default[0]


@handler(builtins.setattr)
def handle_setattr(run: Any, owner: Any, name: str, value: Any) -> None:
    note_name(run, owner, name)
    run.store_attr(value, owner, name)


@handler(builtins.delattr)
def handle_delattr(run: Any, owner: Any, name: str) -> None:
    run.delattr(owner, name)


@handler(object.__getattribute__)
def handle_object_getattribute(run: Any, owner: Any, name: str) -> Any:
    return own_getattr(run, owner, name, object.__getattribute__)


@handler(object.__setattr__)
def handle_object_setattr(run: Any, owner: Any, name: str, value: Any) -> None:
    own_store_attr(run, value, owner, name, object.__setattr__)


@handler(object.__delattr__)
def handle_object_delattr(run: Any, owner: Any, name: str) -> None:
    own_delattr(run, owner, name, object.__delattr__)


@handler(property.__get__)
def handle_property_get(run: Any, found: Any, owner: Any, cls: Any = None) -> Any:
    if owner is None or found.fget is None:
        return property.__get__(found, owner, cls)
    return run.call(found.fget, owner)


@handler(property.__set__)
def handle_property_set(run: Any, found: Any, owner: Any, value: Any) -> None:
    if found.fset is None:
        property.__set__(found, owner, value)  # raises
    run.call(found.fset, owner, value)


@handler(property.__delete__)
def handle_property_delete(run: Any, found: Any, owner: Any) -> None:
    if found.fdel is None:
        property.__delete__(found, owner)  # raises
    run.call(found.fdel, owner)
