"""Writes into arrays: which are refused, what is written, and the write itself."""

from typing import Any

import numpy as np

from rules_autodiff._python.values import INERT, is_numeric
from rules_autodiff._refusals import refused
from rules_autodiff._shadows.memory import overlaps_itself, owner_of, same_entries

from .interface import Hooks
from .numpy_protocols import as_entry

__all__ = ["check_write", "store", "written_value"]


def check_write(dest: Any, key: Any, *, active: bool) -> None:
    """Refuse writes whose derivative cannot be kept."""
    if not active:
        return
    kind = dest.dtype.kind
    if kind == "O":
        refused("objects")
    if kind not in "fcV":
        refused("dtype", dest.dtype)
    if kind == "V" and not isinstance(key, str):
        refused("structured")
    if overlaps_itself(dest):
        refused("overlapping")


def written_value(run: Hooks, dest: Any, value: Any) -> Any:
    """The value written to an array; objects as the numbers that they stand for."""
    if dest.dtype.kind == "V" and isinstance(value, tuple | list | np.void):
        if run.is_active(value):
            refused("structured")
        return value
    if is_numeric(value) or type(value) in INERT:
        return value
    entry = as_entry(run, value)
    known = isinstance(entry, list | tuple) or is_numeric(entry)
    if not known and dest.dtype.kind != "O" and run.is_active(entry):
        refused("operand", type(entry).__name__)
    return entry


def store(run: Hooks, dest: Any, key: Any, value: Any) -> None:
    """The write itself; a copy onto itself must be one that NumPy gets right."""
    shared = isinstance(value, np.ndarray) and owner_of(value) is owner_of(dest)
    if not (shared and np.may_share_memory(dest, value)):
        run.below.store_item(value, dest, key)
        return
    copied = run.below.copied(value)
    before = dest.copy()
    dest[key] = value
    wrong = dest.copy()
    dest[...] = before
    run.below.store_item(copied, dest, key)
    if not same_entries(wrong, dest):
        dest[...] = before
        refused("unbuffered")
