"""Functions that rules call back, with what they take and capture, by generated code.

A rule differentiates by all that a function takes and captures: the cells of a function
are entries of an argument here. A solver calls a function hundreds of times with
arguments of the same kinds, so what was written for one call serves the next.
"""

from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any
from weakref import ref

import numpy as np
from numpy import ndarray

from rules_autodiff._lift.lift import unlifted
from rules_autodiff._python.lifted_code import NESTED, ByIdentity
from rules_autodiff.straight._guard.captures import is_fixed
from rules_autodiff.straight._guard.function_kinds import (
    functions_in,
    is_attribute,
    is_instance,
    kinds_of_given,
)
from rules_autodiff.straight._guard.trust import CHANGES, is_answered
from rules_autodiff.straight._program.kinds import VALUE
from rules_core import Tangent

from .entries import Code, tangent_at
from .forward import own_tangents
from .left import AUTO
from .results import is_finite
from .signatures import DOUBLE, FUNCTIONS, MANY, SIMPLE, Form, leave, unit_of
from .tier import check_cotangent, check_number, strictly

__all__ = ["CalledBack", "found", "pushed"]

KEPT = 512  # forms, of all functions
ENTRIES_OF_ONE = 8  # of functions with one code
ACTIVE = 0, 1  # the function, and its arguments
CAPTURED_CONSTANTS = frozenset("?bhilqpBHILQP")


def apply(f: Any, *args: Any) -> Any:
    """A call whose function is differentiated like the arguments."""
    return f(*args)


class CalledForm(Form):
    """The calls of functions with such code, for arguments of such kinds."""

    __slots__ = ()
    after = 4

    def written(self, f: FunctionType, args: Any, active: Any, *, patient: bool) -> Any:
        """The unit for a call."""
        how = {
            "mode": self.mode, "strict": self.strict, "patient": patient,
            "taping": False,
        }  # fmt: skip
        return unit_of(f, lambda: kinds_of_given(args), active, how)


class Signature:
    """The kinds of a function and its arguments, in short, and the functions' code.

    Attributes:
        parts: The kinds.
        met: By their ids, what must not stand in two places: its cotangents are one.
        reals: Whether there is something to be differentiated.
    """

    __slots__ = ("met", "parts", "reals")

    def __init__(self, f: Any, args: Any) -> None:
        self.parts: list[Any] = []
        self.met: set[int] = set()
        self.reals = False
        self.note(f)
        for x in args:
            self.note(x)

    def note(self, x: Any, *, captured: bool = False) -> None:
        """Add the kind of a value."""
        cls = type(x)
        if cls is ndarray:
            if x.dtype is DOUBLE:
                self.reals = True
                self.parts.append(x.ndim)
            elif x.dtype.char in CAPTURED_CONSTANTS:
                self.parts += [x.ndim, x.dtype]
            else:
                leave("it takes or captures an array of such numbers")
        elif cls in SIMPLE:
            self.reals = self.reals or cls not in (int, str)
            self.parts.append(cls)
        elif cls is FunctionType:
            self.note_function(x)
        elif cls is tuple or cls is list or cls is dict:
            self.note_entries(x, cls)
        elif cls is MethodType:
            self.note_method(x)
        elif captured and is_fixed(x):
            self.parts.append(None)  # the guard looks at it
        elif is_instance(x):
            self.note_instance(x)
        else:
            leave(f"it takes or captures a value of class {cls.__name__}")

    def note_function(self, f: FunctionType) -> None:
        if is_answered(f):
            leave("a rule or an overlay answers for a function")
        self.parts.append(token_of(f.__code__))
        cells = f.__closure__
        if cells:
            self.meet(f)
            hooks = NESTED.get(f.__code__)
            for name, cell in zip(f.__code__.co_freevars, cells, strict=True):
                if name == hooks:
                    continue
                self.meet(cell)
                try:
                    value = cell.cell_contents
                except ValueError:
                    leave("a function captures a variable without a value")
                self.note(value, captured=True)

    def note_method(self, m: MethodType) -> None:
        if type(m.__func__) is not FunctionType or not is_instance(m.__self__):
            leave("it takes or captures a method of another kind")
        self.parts.append(MethodType)
        self.note_function(m.__func__)
        self.note(m.__self__)

    def note_instance(self, x: Any) -> None:
        self.meet(x)
        self.parts += [type(x), *vars(x)]
        for value in vars(x).values():
            if is_attribute(value):
                self.note(value, captured=True)
            else:
                self.parts.append(type(value))

    def note_entries(self, x: Any, cls: type) -> None:
        if len(x) > MANY:
            leave(f"it has an argument with more than {MANY} entries")
        self.parts += [cls, len(x)]
        entries = x
        if cls is not tuple:
            self.meet(x)
            if cls is dict:
                self.parts += x
                entries = x.values()
        for part in entries:
            self.note(part)

    def meet(self, x: Any) -> None:
        if id(x) in self.met:
            leave("a value that holds others stands in two places")
        self.met.add(id(x))


TOKENS = ByIdentity()  # hashing a code object takes microseconds


def token_of(code: CodeType) -> Any:
    """An object that stands for this very code."""
    token = TOKENS.get(code)
    if token is None:
        token = object()
        TOKENS.put(code, token)
    return token


FORMS: dict[Any, CalledForm] = {}


def form_of(f: Any, args: Any, mode: str) -> CalledForm:
    """The form of a call."""
    signature = Signature(f, args)
    if not signature.reals:
        leave("there is nothing to be differentiated")
    key = (mode, *signature.parts)
    form = FORMS.get(key)
    if form is None:
        form = FORMS[key] = CalledForm(mode)
        while len(FORMS) > KEPT:
            FORMS.pop(next(iter(FORMS)), None)
    return form


class Entry:
    """Generated code for calls of one form.

    Attributes:
        form: The form.
        written: Its code.
        forward: The forward function, of leaves.
        reverse: The backward function, of leaves.
        code: What takes calls apart.
        stamp: The count of changes of rules when it was last asked for rules.
        asked: The functions for which it was asked.
    """

    __slots__ = ("asked", "code", "form", "forward", "reverse", "stamp", "written")

    def __init__(self, form: CalledForm, written: Any, f: Any, args: Any) -> None:
        self.form, self.written = form, written
        unit = written.unit
        self.forward = unit.namespace[unit.name]
        self.reverse = unit.namespace.get(f"{unit.name}_back")
        self.code = Code(f, args)
        self.stamp, self.asked = -1, tuple[Any, ...]()

    def call(self, f: Any, args: Any) -> Any:
        """`(entry, leaves, caps)`; None for a call of other kinds."""
        matched = self.code.match(f, args)
        if matched is None:
            return None
        root, functions, leaves = matched
        caps = self.written.guard(root)
        if caps is None:
            return None
        if self.stamp != CHANGES.count or not are_these(self.asked, functions):
            self.ask(functions)
        return self, leaves, caps

    def ask(self, functions: Any) -> None:
        """Leave calls to rules, where these answer now."""
        stamp = CHANGES.count  # rules may change while it is asked
        if any(map(is_answered, functions)):
            leave("a rule or an overlay answers for a function")
        if not self.written.is_trusted():
            if self.written.is_outdated():
                self.form.forget(self.written)
            leave("a rule, an overlay or debug mode has a say in it")
        self.asked, self.stamp = tuple(map(ref, functions)), stamp


def are_these(known: Any, functions: Any) -> bool:
    """Whether these functions are those that weak references lead to."""
    for own, f in zip(known, functions, strict=False):
        if own() is not f:
            return False
    return len(known) == len(functions)


MODES = "reverse", "forward", VALUE
ENTRIES: dict[str, ByIdentity] = {mode: ByIdentity() for mode in MODES}


def found(f: Any, args: Any, mode: str) -> Any:
    """The entry of a call, its leaves and what it reads from outside.

    Raises:
        Left: There is none, or not yet.
    """
    code = code_of(f)
    entries = ENTRIES[mode].get(code) or []
    for entry in entries:
        if entry.written in entry.form.units:
            call = entry.call(f, args)
            if call is not None:
                return call
    entry = made_entry(f, args, mode)
    others = [x for x in entries if x.written in x.form.units]
    ENTRIES[mode].put(code, [entry, *others][:ENTRIES_OF_ONE])
    while len(ENTRIES[mode]) > FUNCTIONS:  # code may refer to its own function
        ENTRIES[mode].entries.pop(next(iter(ENTRIES[mode].entries)), None)
    call = entry.call(f, args)
    if call is None:
        leave("what it reads from outside has just changed")
    return call


def code_of(f: Any) -> CodeType:
    """The code of a function, a method, or the call of an instance.

    Raises:
        Left: It has none.
    """
    found = f
    if type(f) is not FunctionType:
        call = type(f).__call__ if type(f) is not MethodType else f.__func__
        found = call if type(call) is FunctionType else None
    if found is None:
        leave("it is no function written in Python")
    code: CodeType = found.__code__
    return code


def made_entry(f: Any, args: Any, mode: str) -> Entry:
    form = form_of(f, args, mode)
    root = FunctionType(apply.__code__, apply.__globals__)
    found = [
        unlifted(x) if type(x) is FunctionType else x for x in functions_in((f, *args))
    ]
    if any(x is None for x in found):
        leave("a function in lifted code is not found in its program")
    vars(root)["functions"] = found
    written, _ = form.chosen(root, (f, args), ACTIVE, now=AUTO)
    if written.unit.writes:
        form.units, form.reason = (), "it writes into its arguments"
        leave(form.reason)
    return Entry(form, written, f, args)


class CalledBack:
    """One run of `f(*args)` by generated code, for any number of backward passes.

    Attributes:
        output: The value.
        caps: What the code reads from outside.

    Raises:
        Left: The tape has to do it.
    """

    def __init__(self, f: Any, args: Any) -> None:
        self.entry, self.leaves, self.caps = found(f, args, "reverse")
        self.output, self.residual = self.run(
            self.entry.forward, *self.leaves, self.caps
        )
        check_value(self.output)

    def own_output(self) -> Any:
        """The value in memory that no residual has."""
        y = self.output
        if type(y) is tuple:
            return tuple(map(own, y))
        return own(y)

    def run(self, step: Any, *args: Any) -> Any:
        """A step, under the settings for warnings and errors."""
        return strictly(self.entry.form, step, *args)

    def back(self, dy: Any) -> tuple[Any, ...]:
        """The cotangents of the function and of each argument.

        Raises:
            Left: The tape has to do it.
        """
        y = self.output
        if type(y) is not tuple:
            check_cotangent(y, dy)
        elif type(dy) is tuple and len(dy) == len(y):
            for part, dpart in zip(y, dy, strict=True):
                check_cotangent(part, dpart)
            dy = dy if len(dy) > 1 else dy[0]
        else:
            leave(f"a cotangent is of class {type(dy).__name__}")
        cotangents: tuple[Any, ...] = self.run(self.backward, dy)
        if self.entry.form.failures:
            self.entry.form.worked()
        return cotangents

    def raw(self, dy: Any) -> Any:
        """The cotangents of the leaves.

        Raises:
            Left: The tape has to do it.
        """
        return self.run(self.entry.reverse, self.residual, dy)

    def backward(self, dy: Any) -> tuple[Any, ...]:
        raw = self.entry.reverse(self.residual, dy)
        found: tuple[Any, ...] = self.entry.code.given(self.leaves, raw)
        return found


def pushed(
    tangents: Any, f: Any, args: Any, check: Callable[[Any], None] = lambda _: None
) -> tuple[Any, Any]:
    """`(y, dy)` of `f(*args)` by generated code, for the tangents `(df, dx1, …)`.

    Args:
        tangents: Those.
        f: The function.
        args: Its arguments.
        check: Looks at what the code reads from outside.

    Raises:
        Left: The tape's forward mode has to do it.
    """
    entry, leaves, caps = found(f, args, "forward")
    check(caps)
    if len(tangents) != 1 + len(args):
        leave("the tangents are not those of the arguments")
    code = entry.code
    dots = [
        tangent_at(tangents, path, leaves[i])
        for path, i in zip(code.paths, code.active, strict=True)
    ]
    y, dy = strictly(entry.form, both_of, entry.forward, leaves, caps, dots)
    if entry.form.failures:
        entry.form.worked()
    return y, dy


def both_of(forward: Any, leaves: Any, caps: Any, dots: Any) -> tuple[Any, Any]:
    """The value and its tangent, in memory of their own."""
    y, tangents = forward(*leaves, caps, *dots)
    check_value(y)
    rows = y if type(y) is tuple else (y,)
    dys = own_tangents(rows, tangents, None)
    if type(y) is tuple:
        return tuple(map(own, rows)), Tangent(tuple, *dys)
    return own(y), dys[0]


def own(x: Any) -> Any:
    return np.array(x) if type(x) is ndarray else x


def check_value(y: Any) -> None:
    """Let the tape return values of another form, or that are not finite."""
    for part in y if type(y) is tuple else (y,):
        if type(part) is ndarray:
            if part.dtype is not DOUBLE or not is_finite(part):
                leave("its result is no array of finite floats")
        else:
            check_number(part)
