"""Cotangents of rules, with errors that name the rule and the argument."""

from typing import Any

import numpy as np

from rules_autodiff._refusals import name_cotangent, refuse_no_cotangent
from rules_autodiff._shadows.slots import Slot, add_to
from rules_core import ProjectionError

__all__ = ["add_cotangent"]


def add_cotangent(call: Any, place: int, slot: Slot, ct: Any, below: Any) -> None:
    """Add a rule's cotangent of an argument to its slot.

    Raises:
        ProjectionError: It holds integers, or has another shape or structure.
    """
    if type(ct) is np.ndarray and ct.dtype.kind in "biu":
        refuse_no_cotangent(call, place, ct)
    try:
        add_to(slot, ct, below)
    except ProjectionError as error:
        raise error.at(name_cotangent(call, place)) from None
