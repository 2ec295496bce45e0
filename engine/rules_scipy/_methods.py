"""Methods of SciPy's instances by those of classes of this pack."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from rules_core.extend import stand_in

__all__ = ["covers_constructors", "covers_methods"]


def covers_methods(cls: Any, own: Callable[[Any], Any], names: str) -> None:
    """Let methods of SciPy's instances be those of this pack's.

    Args:
        cls: The class of SciPy, in Python or C.
        own: Makes this pack's instance of SciPy's.
        names: Methods, by spaces.
    """
    for name in names.split():
        # Fields are properties in later versions of SciPy.
        method = inspect.getattr_static(cls, name, None)
        is_field = isinstance(method, property)
        method = method.fget if isinstance(method, property) else method
        if callable(method):
            stand_in(method)(_by_own(own, name, is_field=is_field))


def covers_constructors(cls: Any, own: Any, names: str) -> None:
    """Let static and class methods of SciPy's class be those of this pack's.

    Args:
        cls: The class of SciPy, in Python or C.
        own: That of this pack.
        names: Methods, by spaces.
    """
    for name in names.split():
        method = inspect.getattr_static(cls, name)
        takes_class = isinstance(method, classmethod)
        body = getattr(own, name)
        stand_in(method.__func__)(_without_class(body) if takes_class else body)


def _without_class(body: Any) -> Any:
    def without_class(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return body(*args, **kwargs)

    return without_class


def _by_own(own: Any, name: str, *, is_field: bool) -> Any:
    def body(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = getattr(own(self), name)
        return found if is_field else found(*args, **kwargs)

    return body
