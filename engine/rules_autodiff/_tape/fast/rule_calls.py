"""Rules of our own pack on the fast path, called without what others may need.

NumPy's functions of arrays of float64, numbers and constants: there is nothing to be
converted, no protocol to be asked, no view given out. Functions with other rules, and
those that return anything but a new array of float64 or a number, go the general way.
"""

from sys import getrefcount
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from rules_autodiff._hooks.rule_errors import explained
from rules_autodiff._mutating.rule_tables import rrule_mutating
from rules_autodiff._python.handlers import HANDLERS
from rules_autodiff._python.values import SCALARS
from rules_autodiff._shadows.memory import CALLBACK
from rules_autodiff._shadows.slots import UNUSED, Shadow
from rules_autodiff._tape.entries import LinearEntry, Row, RuleEntry
from rules_autodiff.straight._runtime.learned import LEARNED
from rules_core import rrule
from rules_core.extend import CHANGES

from .elementwise import LITTLE
from .items import CONSTANT, DOUBLE, FLOATS, MISS, REAL
from .partials import (
    by_partial,
    is_real,
    noted_numbers,
    noted_partials,
    partials_of,
    selected,
)

if TYPE_CHECKING:
    from .run import FastRun

__all__ = ["DIRECT", "by_steps", "directly", "is_ours", "is_simple_call"]

DIRECT = frozenset({np.ufunc, type(np.sum)})
VIEW = np.zeros((1, 1))[0]
ALONE = getrefcount(VIEW.base)  # of an array that only a view refers to
# Classes of arguments that are what they are.
SETTINGS = frozenset({int, bool, float, np.float64, np.int64, NoneType, str})
LIKE = frozenset({ndarray, float, int, np.float64})  # arguments of partials
OPTIONS = frozenset({"axis", "keepdims"})  # keywords that change nothing else


def is_simple_call(run: "FastRun", f: Any, args: Any, kwargs: Any) -> bool:
    """Whether the rule alone decides on a call."""
    if run.debug or run.outside or f in HANDLERS or f in rrule_mutating.rules.fixed:
        return False
    if type(f) is np.ufunc and (len(args) != f.nin or kwargs):
        return False
    for x in args:
        if type(x) not in SETTINGS and not is_simple(x):
            return False
    if not kwargs:
        return True
    return OPTIONS.issuperset(kwargs) and all(map(is_setting, kwargs.values()))


class Sites:
    """Functions that were called, and how their rules are found, until rules change."""

    def __init__(self) -> None:
        self.changes = -1
        self.found: dict[Any, Any] = {}
        self.ufuncs: dict[Any, Any] = {}

    def renewed(self) -> None:
        """Forget what was found before the last change."""
        if self.changes != CHANGES.count:
            self.found, self.ufuncs = {}, {}
            self.changes = CHANGES.count

    def partials(self, f: Any, args: Any, config: Any) -> Any:
        """The partials of a ufunc by our own rule, and the map of their products.

        None: by another rule, or of other arguments than arrays and numbers.
        """
        self.renewed()
        key = f, *map(type, args)
        known = self.ufuncs.get(key, MISS)
        if known is MISS:
            resolve = self[f]
            found = None if resolve is None else resolve(args, {}, config)
            known = None
            if found is not None and is_ours(found.rule) and LIKE.issuperset(key[1:]):
                partials, by = partials_of(found.rule)
                # Without what only options need.
                partials = getattr(partials, "__wrapped__", partials)
                needs = found.rule.needs and by is not selected
                known = None if partials is None else (partials, by, needs)
            self.ufuncs[key] = known
        return known

    def __getitem__(self, f: Any) -> Any:
        """`resolve` of a function with rules, or None."""
        self.renewed()
        resolve = self.found.get(f, MISS)
        if resolve is MISS:
            resolve = rrule.at(f)  # which may load a pack
            self.found[f] = resolve
        return resolve


SITES = Sites()


def directly(run: "FastRun", f: Any, args: Any, kwargs: Any) -> Any:
    """The result by a rule, or NotImplemented."""
    slots = [simple_slot(run, x) for x in args]
    if slots.count(None) == len(slots):
        return NotImplemented
    try:
        if type(f) is np.ufunc and not LEARNED.left:
            known = SITES.partials(f, args, run.config)
            if known is not None and all(map(is_real, args)):
                y = by_partials(run, f(*args), args, slots, known)
                if y is not NotImplemented:
                    return y
        resolve = SITES[f]
        found = None if resolve is None else resolve(args, kwargs, run.config)
        if found is None or found.bound or not is_ours(found.rule):
            return NotImplemented
        # What the normal form adds are keywords and defaults, which carry nothing.
        slots += [None] * (len(found.args) - len(args))
        if found.rule.pulls is not None:
            y = by_pulls(run, found, slots)
            if y is not NotImplemented:
                return y
        slots = [
            run.slot(x) if type(slot) is Row else slot
            for x, slot in zip(found.args, slots, strict=True)
        ]
        y, pullback = found.run(tuple([slot is not None for slot in slots]))
    except Exception as error:
        explained(error, f, args, kwargs)
        raise
    return noted(run, found, f, (None, *slots), y, pullback)


def by_partials(run: "FastRun", y: Any, args: Any, slots: Any, known: Any) -> Any:
    """A value, noted by partials of its rule; NotImplemented where they are unusual."""
    partials, by, needs = known
    if type(y) is ndarray:
        if not is_new(run, y) or not y.ndim:
            return NotImplemented
        note: Any = noted_partials
    elif type(y) in FLOATS:
        y, note = run.below.box(y), noted_numbers
    else:
        return NotImplemented
    if needs:
        row = partials(y, *args, needs=tuple([slot is not None for slot in slots]))
    else:
        row = partials(y, *args)
    return y if note(run, y, args, slots, row, by) else NotImplemented


def by_steps(run: "FastRun", found: Any, f: Any) -> Any:
    """The result by a scalar rule of any author, or NotImplemented."""
    args = found.args
    if not all(map(is_real, args)):
        return NotImplemented
    slots = [simple_slot(run, x) for x in args]
    if slots.count(None) == len(slots):
        return NotImplemented
    value, pullback_of = found.rule.steps
    y = value(args, {})
    needs = tuple([slot is not None for slot in slots])
    options = {"needs": needs} if found.rule.needs else {}
    if type(y) in (ndarray, *FLOATS) and not any(y is x for x in args):
        (row,) = found.rule.partials(y, *args, **options)
        own = by_partials(run, y, args, slots, (lambda *_: row, by_partial, False))
        if own is not NotImplemented:
            if LEARNED.left:
                LEARNED.note(found, own)
            return own
    pullback = pullback_of(y, args, options)
    return run.settled(found, f, (None, *slots), y, pullback)


def by_pulls(run: "FastRun", found: Any, slots: Any) -> Any:
    """The result of a rule that moves, scales and adds; or NotImplemented."""
    y, pulls = found.rule.pulls(found.args, found.kwargs)
    for x, slot, pull in zip(found.args, slots, pulls, strict=True):
        if slot is not None and (pull is None or not is_plain_operand(x)):
            return NotImplemented
    out = new_slot(run, y)
    if out is None:
        y, out = own_copy(run, y, found.args)
        if out is None:
            return NotImplemented
    elif type(out) is list:
        y = out[1]
    if LEARNED.left:
        LEARNED.note(found, y)
    run.tape.append(LinearEntry(found, pulls, slots, out))
    return y


def is_plain_operand(x: Any) -> bool:
    """Whether an argument is an array or number, or a row of arrays."""
    if type(x) is list or type(x) is tuple:
        return all(type(part) is ndarray and is_real(part) for part in x)
    return is_real(x)


def new_slot(run: "FastRun", y: Any) -> Any:
    """The slot of a new array or number; None for anything else."""
    if type(y) is ndarray:
        if not is_new(run, y):
            return None
        out: Any = Shadow(y, CALLBACK)
        run.shadows[id(y)] = out
    elif type(y) in SCALARS:
        y = run.below.box(y)
        out = run.nodes[id(y)] = [UNUSED, y]
    else:
        return None
    return out


def own_copy(run: "FastRun", y: Any, args: Any) -> Any:
    """The copy of a small view whose owner has no other name, and its slot."""
    if type(y) is not ndarray or y.dtype is not DOUBLE or y.size > LITTLE:
        return y, None
    if any(y is x for x in args):  # which has a name in the program
        return y, None
    if type(y.base) is not ndarray or getrefcount(y.base) > ALONE:
        return y, None
    y = y.copy("K")
    return y, new_slot(run, y)


def is_new(run: "FastRun", y: Any) -> bool:
    """Whether an array of float64 has memory of its own, and no cotangent yet."""
    if y.dtype is not DOUBLE or y.base is not None:
        return False
    known = run.shadows.get(id(y))
    return known is None or known() is not y


def simple_slot(run: "FastRun", x: Any) -> Any:
    """The slot of an argument, pinned: rules give cotangents of any form."""
    cls = type(x)
    if cls is ndarray:
        slot = run.find(x)
        return slot if slot is None or slot.shape is not None else slot.pinned()
    if cls in REAL:
        return run.nodes.get(id(x))
    if cls is list or cls is tuple:
        parts = [simple_slot(run, part) for part in x]
        return Row(parts) if any(part is not None for part in parts) else None
    return None


def noted(run: "FastRun", found: Any, f: Any, slots: Any, y: Any, pullback: Any) -> Any:
    """A rule's result, noted."""
    if LEARNED.left:
        LEARNED.note(found, y)
    out = new_slot(run, y)
    if out is None:
        return run.settled(found, f, slots, y, pullback)
    if type(out) is list:
        y = out[1]
    run.tape.append(RuleEntry(found, pullback, slots, out))
    return y


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
    return rule is not None and rule.module.startswith("rules_numpy.")
