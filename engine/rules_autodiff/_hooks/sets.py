"""Sets: what carries a derivative in them must be no equal of another entry."""

from typing import Any

from rules_autodiff._python.methods import class_attribute
from rules_autodiff._refusals import refused

from .interface import Hooks

__all__ = ["check_set", "hashed", "hashed_items"]


def hashed(run: Hooks, x: Any) -> Any:
    """An entry of a set: what carries a derivative must be no equal of another."""
    if run.is_active(x) and not is_known_by_identity(x):
        refused("set")
    return x


def hashed_items(run: Hooks, items: Any) -> list[Any]:
    """The entries of a set that stand in `{*items}`."""
    return [hashed(run, x) for x in run.iter(items)]


def check_set(run: Hooks, x: Any) -> None:
    """Refuse a set of objects with derivatives where only constants may stand."""
    if type(x) in (set, frozenset) and run.is_active(x):
        refused("set")


def is_known_by_identity(x: Any) -> bool:
    """Whether an object is equal to nothing but itself."""
    own = vars(object)
    return all(class_attribute(type(x), n) is own[n] for n in ("__hash__", "__eq__"))
