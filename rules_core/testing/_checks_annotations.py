"""The annotations of a rule accept the arguments that frameworks pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_core import is_array
from rules_core._dispatch.fitting import misfits, parameter
from rules_core._dispatch.rule import union
from rules_core._rules.skipped import rules_skipped_by

from ._dual_numbers import Dual
from ._leaf import dtype_of
from ._modes import Mode
from ._report import Failure, NotRun

__all__ = ["takes_hosts_arrays"]


def takes_hosts_arrays(mode: Mode) -> None:
    """Arrays of JAX and PyTorch match the annotations if NumPy's do.

    If they do not, and no other rule accepts them, these frameworks differentiate the
    function's own code.
    """
    subject = mode.subject
    if subject.handle is None:
        message = "not a primitive"
        raise NotRun(message)
    f, args = subject.target(tuple(map(_elsewhere, subject.primals)))
    rules, types = rules_skipped_by(f, args, subject.kwargs, type(subject.config))
    mine = mode.resolve(subject.primals).rule
    if mine not in rules:
        return
    first = len(subject.primals) - len(types)
    for i in misfits(mine, types):
        name = subject.names[i + first]
        message = (
            f"JAX and PyTorch skip the rule and differentiate the function's own code: "
            f"their arrays are no {union(parameter(mine, i))}, as {name} is annotated. "
            f"Annotate {name} as rules_core.Array, or leave the annotation out"
        )
        raise Failure(message)


def _elsewhere(x: Any) -> Any:
    """NumPy's arrays replaced by arrays of another library."""
    is_numpy = isinstance(x, (np.ndarray, np.generic)) and is_array(x)
    return Dual(x, np.zeros_like(x)) if is_numpy and dtype_of(x) is not None else x
