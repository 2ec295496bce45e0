"""Rules of our own pack on the fast path, called without what others may need.

NumPy's functions of arrays of float64, numbers and constants: there is nothing to be
converted, no protocol to be asked, no view given out. Functions with other rules, and
those that return anything but a new array of float64 or a number, go the general way.
"""

from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from rules_autodiff._hooks.rule_errors import explained
from rules_autodiff._mutating.rule_tables import rrule_mutating
from rules_autodiff._python.values import SCALARS
from rules_autodiff._shadows.memory import CALLBACK
from rules_autodiff._shadows.slots import Shadow
from rules_autodiff._tape.entries import RuleEntry
from rules_autodiff.straight._runtime.learned import LEARNED
from rules_core import rrule

from .items import CONSTANT, DOUBLE, REAL

if TYPE_CHECKING:
    from .run import FastRun

__all__ = ["DIRECT", "directly", "is_ours", "is_simple_call"]

DIRECT = frozenset({np.ufunc, type(np.sum)})
# Classes of arguments that are what they are.
SETTINGS = frozenset({int, bool, float, np.float64, np.int64, NoneType, str})
OPTIONS = frozenset({"axis", "keepdims"})  # keywords that change nothing else


def is_simple_call(run: "FastRun", f: Any, args: Any, kwargs: Any) -> bool:
    """Whether the rule alone decides on a call."""
    if run.debug or run.outside or f in rrule_mutating.rules.fixed:
        return False
    if type(f) is np.ufunc and (len(args) != f.nin or kwargs):
        return False
    options = OPTIONS.issuperset(kwargs) and all(map(is_setting, kwargs.values()))
    return options and all(map(is_simple, args))


def directly(run: "FastRun", f: Any, args: Any, kwargs: Any) -> Any:
    """The result by a rule, or NotImplemented."""
    slots = [simple_slot(run, x) for x in args]
    if all(slot is None for slot in slots):
        return NotImplemented
    try:
        found = rrule.resolve(f, args, kwargs, run.config)
        if found is None or found.bound or not is_ours(found.rule):
            return NotImplemented
        # What the normal form adds are keywords and defaults, which carry nothing.
        slots += [None] * (len(found.args) - len(args))
        y, pullback = found.run(tuple([slot is not None for slot in slots]))
    except Exception as error:
        explained(error, f, args, kwargs)
        raise
    return noted(run, found, f, (None, *slots), y, pullback)


def simple_slot(run: "FastRun", x: Any) -> Any:
    """The slot of an argument, pinned: rules give cotangents of any form."""
    cls = type(x)
    if cls is ndarray:
        slot = run.find(x)
        return slot if slot is None or slot.shape is not None else slot.pinned()
    if cls in REAL:
        return run.nodes.get(id(x))
    return run.slot(x) if cls is list or cls is tuple else None


def noted(run: "FastRun", found: Any, f: Any, slots: Any, y: Any, pullback: Any) -> Any:
    """A rule's result, noted."""
    if LEARNED.left:
        LEARNED.note(found, y)
    if type(y) is ndarray and y.dtype is DOUBLE and y.base is None:
        known = run.shadows.get(id(y))
        if known is None or known() is not y:
            out: Any = Shadow(y, CALLBACK)
            run.shadows[id(y)] = out
            run.tape.append(RuleEntry(found, pullback, slots, out))
            return y
    elif type(y) in SCALARS:
        y = run.below.box(y)
        out = run.nodes[id(y)] = [0.0, y]
        run.tape.append(RuleEntry(found, pullback, slots, out))
        return y
    return run.settled(found, f, slots, y, pullback)


def is_simple(x: Any) -> bool:
    """Whether an argument is an array, a number, a constant, or a row of those."""
    cls = type(x)
    if cls is ndarray:
        return x.dtype is DOUBLE or x.dtype.kind in CONSTANT
    if cls is list or cls is tuple:
        return all(type(part) not in (list, tuple) and is_simple(part) for part in x)
    return cls in SETTINGS


def is_setting(x: Any) -> bool:
    return SETTINGS.issuperset(map(type, x if type(x) is tuple else (x,)))


def is_ours(rule: Any) -> bool:
    """Whether a rule is one of our pack."""
    return rule is not None and rule.module.partition(".")[0] == "rules_numpy"
