"""`check_adapter`: what every host promises, checked in the cells of its adapter."""

from __future__ import annotations

from collections import Counter
from typing import Any, get_args

import numpy as np

from rules_core._dispatch.registry import isolated_rules
from rules_core._primitives.find_host import serving
from rules_core.testing._cells import Cell, Kind
from rules_core.testing._checks import Spec, execute
from rules_core.testing._front import Level
from rules_core.testing._misuse import CheckCallError
from rules_core.testing._report import Failure, Report

from .host import Host, X, Y, expect, product_with
from .promises import PROMISES

__all__ = ["FORM", "check_adapter"]


def check_adapter(adapter: Any, /, *, level: Level = "quick") -> Report:
    """Check that an adapter keeps what a host promises to the authors of rules.

    Functions with rules of all kinds are run in every cell of the adapter, and compared
    with what their rules say: containers, several results, `needs`, zeros in every
    form, numbers of every kind, shared arrays, repeated calls, NumPy-only functions and
    rules. What is wrong has to be an error that names the rule.

    Args:
        adapter: An adapter; it need not be installed.
        level: Which of its cells are run.

    Returns:
        The report; it prints as a table.

    Raises:
        CheckFailed: A promise is not kept.
        CheckCallError: `adapter` is no adapter.

    >>> import rules_torch
    >>> from rules_core.testing import check_adapter
    >>> print(check_adapter(rules_torch.adapter).summary)
    65 passed
    """
    missing = [name for name in _MEMBERS if not hasattr(adapter, name)]
    if missing:
        message = (
            f"check_adapter(adapter): adapter must have {', '.join(_MEMBERS)}, but "
            f"{type(adapter).__name__} has no {' and no '.join(missing)}."
        )
        raise CheckCallError(message)
    report = Report(f"adapter {adapter.name}")
    with isolated_rules(), serving(adapter):
        cells = list(adapter.cells(level))
        execute(FORM, (adapter, cells), report)
        execute(PROMISES, Host(adapter, cells), report)
    return report.raise_if_failed()


_MEMBERS = ("name", "owns", "call", "stop_gradient", "cells")


def _owns(host: tuple[Any, list[Any]]) -> None:
    adapter, _ = host
    for cls in (np.ndarray, np.float64, float, int, tuple, dict, object):
        if adapter.owns(cls):
            message = f"owns({cls.__name__}) is true: it is everybody's"
            raise Failure(message)


def _owns_its_arrays(host: tuple[Any, list[Any]]) -> None:
    """The classes of arrays that functions are given in the cells, and theirs."""
    adapter, cells = host
    product, seen = product_with(), set[type]()

    def program(x: Any, y: Any) -> Any:
        seen.update((type(x), type(y)))
        return product(x, y)

    next(Host(adapter, cells).of("value")).run(program, (X, Y), {})
    for cls in seen:
        expect(adapter.owns(cls), f"owns({cls.__name__}) is false: it is the adapter's")
        try:
            derived = type(f"Own{cls.__name__}", (cls,), {})
        except TypeError:  # a final class
            continue
        message = (
            f"owns is false for a subclass of {cls.__name__}, whose instances would "
            "lose their rules"
        )
        expect(adapter.owns(derived), message)


def _cells(host: tuple[Any, list[Any]]) -> str:
    adapter, cells = host
    kinds = get_args(Kind)
    for cell in cells:
        if not isinstance(cell, Cell) or cell.kind not in kinds:
            message = f"{cell!r} is no Cell of a kind among {', '.join(kinds)}"
            raise Failure(message)
    names = Counter(cell.name for cell in cells)
    if twice := [name for name, count in names.items() if count > 1]:
        message = f"two cells have the name {twice[0]!r}"
        raise Failure(message)
    full = {cell.name for cell in adapter.cells("full")}
    if left_out := [name for name in names if name not in full]:
        message = f'cells("full") leaves out {left_out[0]!r}: full is every cell'
        raise Failure(message)
    found = {cell.kind for cell in cells}
    if "value" not in found or not found & {"jvp", "vjp"}:
        message = "there must be a cell of kind 'value', and one of 'jvp' or 'vjp'"
        raise Failure(message)
    return f"{len(cells)} cells"


FORM: tuple[Spec[Any], ...] = (
    Spec("adapter.owns", _owns),
    Spec("adapter.cells", _cells),
    Spec("adapter.arrays", _owns_its_arrays, ("adapter.owns", "adapter.cells")),
)
