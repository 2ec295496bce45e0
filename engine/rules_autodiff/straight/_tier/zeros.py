"""Calls of generated code in which a zero met infinity, and may move."""

from rules_autodiff.straight._runtime.strong_zeros import MADE
from rules_core.extend import strong_zeros_met

from .left import leave
from .signatures import Form

__all__ = ["check_zeros"]

MET = "a zero met an infinite derivative, and only the tape knows whether it moves"


def check_zeros(form: Form, met: int) -> None:
    """Let the tape do it unless all zeros that met infinity after `met` stay.

    Raises:
        Left: One may move.
    """
    if not form.strict or strong_zeros_met() - met != MADE.strong:
        leave(MET)
