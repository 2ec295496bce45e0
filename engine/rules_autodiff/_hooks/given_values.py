"""Whether all that reaches a function with rules does so where they give a derivative.

They give none by keyword-only arguments, by what a function for a rule does not
capture, by what an argument holds but has no tangent, and by what the body reads.
"""

from types import FunctionType
from typing import Any

from rules_autodiff._python.concealed import SIMPLE
from rules_autodiff._python.outside_reads import reads_uncaptured
from rules_autodiff._refusals import keyword_error, name_of, refused

from .captured_values import check_captured_read
from .interface import Hooks
from .numpy_protocols import check_own_methods
from .outside_values import check_classes, check_concealed, check_reads

__all__ = ["check_given"]


def check_given(run: Hooks, found: Any, f: Any, args: Any) -> None:
    """Refuse what reaches a function with a derivative for which its rule has none.

    This runs at each call of a rule: what most calls lack is looked for first.
    """
    rule = found.rule
    for x in found.args:
        if type(x) not in SIMPLE:
            check_callbacks(run, args)
            check_concealed(run, f, found)
            check_classes(run, f, found.args, rule)
            break
    if found.kwargs:
        check_keywords(run, found, f)
        check_concealed(run, f, found)
        check_classes(run, f, found.kwargs, rule)
    if type(f) is not FunctionType:
        check_own_methods(run, f, args, rule)
    elif f.__closure__:
        check_captured_read(run, found, f)
    if run.changes or run.rebinds:
        check_reads(run, f, rule)


def check_keywords(run: Hooks, found: Any, f: Any) -> None:
    """Keyword-only arguments have no cotangent: they must be constants."""
    for name, value in found.kwargs.items():
        if run.is_active(value):
            raise keyword_error(f, name)


def check_callbacks(run: Hooks, args: Any) -> None:
    """Refuse functions that read active values of which no rule knows."""
    for x in args:
        if callable(x) and not isinstance(x, type) and reads_uncaptured(run, x):
            refused("callback", name_of(x))
