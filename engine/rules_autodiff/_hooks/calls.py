"""Hooks of calls: who answers one, in which order.

What the engine itself defines (containers, builtins, overlays), then a mutating rule,
then a rule of the registry, then the function's own code, lifted. What is left, a
function without source and without a rule, may be called only with values that carry no
derivative.
"""

import functools
from array import array
from collections import OrderedDict, deque
from types import BuiltinFunctionType, FunctionType, MethodType, SimpleNamespace
from typing import Any

import numpy as np

from rules_autodiff._lift.lift import lifted, rebind
from rules_autodiff._python.dataclasses import (
    initialise_dataclass,
    is_written_for,
    only_compares,
    runs_code,
)
from rules_autodiff._python.errors import EngineError, SourceNotFound
from rules_autodiff._python.handlers import CALLABLES, HANDLERS, Handler
from rules_autodiff._python.lifted_code import is_lifted, note_failure
from rules_autodiff._python.methods import (
    class_attribute,
    key_of_builtin,
    python_method,
)
from rules_autodiff._python.opaque import (
    is_opaque,
    is_stream,
    is_transparent,
    root_of,
)
from rules_autodiff._python.outside_reads import reads_active, reads_uncaptured
from rules_autodiff._python.own_errors import ERRORS, raise_own
from rules_autodiff._python.values import (
    INERT,
    has_fields,
    holds_records,
    is_numeric,
)
from rules_autodiff._refusals import (
    keyword_error,
    name_of,
    no_rule_error,
    note_place,
    note_unfit,
    refused,
    tell_skipped,
)
from rules_core import (
    Primitive,
    RulesCoreError,
    UnsupportedError,
    no_frule,
    no_rrule,
)
from rules_core.extend import PACKS, find_table

from .out_arguments import OutCalls

__all__ = [
    "Calls",
    "Transform",
    "is_reader",
]

# Methods of arrays that are NumPy functions of the same name and arguments.
METHODS = frozenset({
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip",
    "compress", "conj", "conjugate", "cumprod", "cumsum", "dot", "max", "mean", "min",
    "nonzero", "prod", "repeat", "round", "searchsorted", "std", "sum", "take", "trace",
    "var",
})  # fmt: skip


# The classes of ufuncs, of other NumPy functions, and of functions in C.
BUILTINS = frozenset({BuiltinFunctionType, type(array("d").extend)})
NATIVE = frozenset({np.ufunc, type(np.sum), *BUILTINS})

# Functions that are no rule's concern, but take numbers out of texts and bytes.
READERS = frozenset({
    np.fromstring, np.frombuffer, np.fromfile, np.loadtxt, np.genfromtxt, np.load,
    np.lib.npyio.NpzFile.__getitem__,
})  # fmt: skip

# What `__call__` of a class is where Python code answers.
WRITTEN = (
    FunctionType, Primitive, staticmethod, classmethod, functools.partialmethod,
)  # fmt: skip

# Classes whose C constructors fill an instance with what they are given.
FILLED = (list, tuple, dict, deque)


class Transform:
    """A function made by the engine (`grad(f)`), which runs on top of another run."""

    def run_on(self, below: Any, *args: Any, **kwargs: Any) -> Any:
        """Call it with ``below`` as the level that does the arithmetic."""
        raise NotImplementedError


class Calls(OutCalls):
    """Hooks for calls.

    A mode overrides `by_rule`, `mutating_rule`, `mutating` and `is_active`.
    """

    def method(self, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        return self.call(self.getattr(owner, name), *args, **kwargs)

    def call(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        cls = type(f)
        if cls is FunctionType:
            found = self.functions.get(f)
            if found is not None:
                return found(*args, **kwargs)
            return self.call_function(f, args, kwargs)
        if cls in NATIVE:
            return self.call_native(f, args, kwargs)
        if cls is MethodType:
            return self.call(f.__func__, f.__self__, *args, **kwargs)
        if cls is functools.partial:
            return self.call(f.func, *f.args, *args, **(f.keywords | kwargs))
        if isinstance(f, Transform):
            return f.run_on(self, *args, **kwargs)
        handle = handler_of(f)
        if handle is not None:
            try:
                return handle(self, *args, **kwargs)
            except ERRORS as error:
                raise_own(error, f, args, kwargs)
                raise
        if isinstance(f, Primitive):
            return self.call_primitive(f, args, kwargs)
        if isinstance(f, type):
            return self.call_class(f, args, kwargs)
        return self.call_object(f, args, kwargs)

    def call_object(self, f: Any, args: Any, kwargs: Any) -> Any:
        """An instance: by rules of its own, else by what its class says."""
        handle, special = CALLABLES.get(type(f)), class_attribute(type(f), "__call__")
        if handle is None and not isinstance(special, WRITTEN):
            return self.call_opaque(f, args, kwargs)
        if self.has_rules(f):
            result = self.look_up(f, args, kwargs)
            if result is not NotImplemented:
                return result
        if handle is not None:
            return handle(self, f, args, kwargs)
        if isinstance(special, FunctionType | Primitive):
            return self.call(special, f, *args, **kwargs)
        return self.call(special.__get__(f, type(f)), *args, **kwargs)

    def call_native(self, f: Any, args: Any, kwargs: Any) -> Any:
        handle = HANDLERS.get(f)
        owner: tuple[Any, ...] = ()
        if handle is None and type(f) in BUILTINS:
            handle, owner = HANDLERS.get(key_of_builtin(f)), (f.__self__,)
        if handle is not None:
            try:
                return handle(self, *owner, *args, **kwargs)
            except ERRORS as error:
                raise_own(error, f, args, kwargs)
                raise
        of_numpy = type(f) not in BUILTINS
        if of_numpy and not kwargs and INERT.issuperset(map(type, args)):
            return self.from_text(self.below.call(f, *args), f, args)
        return self.call_opaque(f, args, kwargs)

    # functions written in Python

    def call_function(self, f: FunctionType, args: Any, kwargs: Any) -> Any:
        if is_lifted(f):
            return rebind(f, self)(*args, **kwargs)
        handle = HANDLERS.get(f)
        if handle is not None:
            try:
                return handle(self, *args, **kwargs)
            except ERRORS as error:
                raise_own(error, f, args, kwargs)
                raise
        result = self.mutating_rule(f, args, kwargs)
        if result is not NotImplemented:
            return result
        if is_opaque(f):
            return self.call_opaque(f, args, kwargs)
        if self.has_rules(f):
            result = self.look_up(f, args, kwargs)
            if result is not NotImplemented:
                return result
            return self.by_body(f, args, kwargs)
        if f in self.mutating.rules:  # of calls like this one alone
            return self.by_body(f, args, kwargs)
        before = self.failure
        try:
            derived = self.functions[f] = self.derived(f)
        except SourceNotFound:
            if self.is_active((f, args, kwargs)) and not only_compares(f):
                raise
            self.failure = before
            return self.below.call(f, *args, **kwargs)
        return derived(*args, **kwargs)

    def by_body(self, f: FunctionType, args: Any, kwargs: Any) -> Any:
        """A function whose rules do not fit, which a warning and errors inside tell."""
        tell_skipped(self, f, args, kwargs)
        try:
            return self.derived(f)(*args, **kwargs)
        except EngineError as error:
            note_unfit(error, f, args, kwargs, self)
            raise

    def derived(self, f: FunctionType) -> FunctionType:
        """The lifted form of a function, with its hooks bound to this run."""
        return lifted(f).bind(f, self)

    def has_rules(self, f: Any) -> bool:
        PACKS.ensure(f)
        return find_table(f) is not None

    def call_primitive(self, f: Any, args: Any, kwargs: Any) -> Any:
        """A primitive is its function; its rules are found under that function."""
        return self.call(f.fun, *args, **kwargs)

    # classes

    def call_class(self, cls: Any, args: Any, kwargs: Any) -> Any:
        if cls.__module__ == "numpy":
            args = tuple([self.as_entry(x) for x in args])
            if not self.carries(cls, args, kwargs):
                return self.from_text(self.below.call(cls, *args, **kwargs), cls, args)
        result = self.look_up(cls, args, kwargs)
        if result is not NotImplemented:
            return self.from_text(result, cls, args)
        if issubclass(cls, BaseException | SimpleNamespace) and is_opaque_class(cls):
            return self.below.call(cls, *args, **kwargs)
        if issubclass(cls, FILLED) and is_opaque_class(cls):
            return self.filled(cls, args, kwargs)
        special = type(cls).__call__
        if isinstance(special, FunctionType) and not is_opaque(special):
            return self.call(special, cls, *args, **kwargs)
        if special is not type.__call__ or is_opaque_class(cls):
            return self.call_opaque(cls, args, kwargs)
        tell_skipped(self, cls, args, kwargs)
        return self.construct(cls, *args, **kwargs)

    def filled(self, cls: Any, args: Any, kwargs: Any) -> Any:
        """A container of C code; one that may ask a user's methods is made empty."""
        if issubclass(cls, OrderedDict):
            made = cls()
            HANDLERS[OrderedDict.__init__](self, made, *args, **kwargs)
            return made
        fill = self.entries_of if issubclass(cls, dict) else self.iter_array
        return cls(*map(fill, args), **kwargs)

    def construct(self, cls: Any, /, *args: Any, **kwargs: Any) -> Any:
        """`type.__call__(cls, …)`: makes an instance and initialises it."""
        self.check_finalizer(cls, (args, kwargs))
        made = self.make(cls, args, kwargs)
        if isinstance(made, cls):
            self.initialise(made, args, kwargs)
        return made

    def iter_array(self, x: Any) -> Any:
        """What C code would iterate by itself, as a list; anything else as it is."""
        if self.raw:
            self.check_read(x)
        own = python_method(type(x), "__iter__")
        taken = own is not None or isinstance(x, np.ndarray | np.flatiter)
        return list(self.iter(x)) if taken else x

    def entries_of(self, x: Any) -> Any:
        """What a dict is filled with; a factory as it is."""
        return self.entries(x) if hasattr(type(x), "__iter__") else x

    def make(self, cls: Any, args: Any, kwargs: Any) -> Any:
        new = cls.__new__
        if isinstance(new, FunctionType) and not is_written_for(new):
            return self.call(new, cls, *args, **kwargs)
        if new is object.__new__:
            return new(cls)
        handle = handler_of(new)
        if handle is not None:
            return handle(self, cls, *args, **kwargs)
        return new(cls, *args, **kwargs)

    def initialise(self, made: Any, args: Any, kwargs: Any) -> None:
        init = type(made).__init__
        handle = handler_of(init)
        if handle is not None:
            handle(self, made, *args, **kwargs)
        elif not isinstance(init, FunctionType):
            init(made, *args, **kwargs)
        elif not is_written_for(init):
            self.call(init, made, *args, **kwargs)
        elif runs_code(type(made)):
            initialise_dataclass(self, made, args, kwargs)
        else:
            init(made, *args, **kwargs)

    # rules

    def look_up(self, f: Any, args: Any, kwargs: Any) -> Any:
        """The result by a rule of the registry, or NotImplemented."""
        try:
            return self.ruled(f, args, kwargs)
        except Exception as error:
            of_kinds = isinstance(error, TypeError | UnsupportedError)
            given = (*args, getattr(f, "__self__", None))
            if of_kinds and any(map(holds_records, given)):
                refused("structured")
            if root_of(f) == "numpy" and not isinstance(error, RulesCoreError):
                self.check_objects(args)
            self.explained(error, f, args, kwargs)
            raise_own(error, f, args, kwargs)
            raise

    def check_objects(self, args: Any) -> None:
        """Refuse instances that carry derivatives: no array holds what they hold."""
        for x in args:
            if type(x) in (list, tuple):
                self.check_objects(x)
            elif not is_numeric(x) and self.is_active(x):
                refused("operand", type(x).__name__)

    def explained(self, error: Exception, f: Any, args: Any, kwargs: Any) -> None:
        """Tell of an error in a rule whose it is, and that the program may not go on.

        What the function raises by itself the program may catch.
        """
        note_place(error, f)
        if not raises_itself(f, args, kwargs, error):
            note_failure(error)

    def ruled(self, f: Any, args: Any, kwargs: Any) -> Any:
        found = self.kind.resolve(f, args, kwargs, self.config)
        if found is not None:
            self.check_keywords(found, f)
            self.check_callbacks(args)
            return self.by_rule(found, f)
        other = self.other_kind.resolve(f, args, kwargs, self.config)
        if other is None or self.opted_out(f, other.args):
            return NotImplemented
        self.check_keywords(other, f)
        self.check_callbacks(args)
        return self.by_other_rule(other, f)

    def opted_out(self, f: Any, args: Any) -> bool:
        asked = no_rrule if self.kind.kind == "rrule" else no_frule
        return bool(asked(f, *map(type, args)))

    def check_keywords(self, found: Any, f: Any) -> None:
        """Keyword-only arguments have no cotangent: they must be constants."""
        for name, value in found.kwargs.items():
            if self.is_active(value):
                raise keyword_error(f, name)

    def check_callbacks(self, args: Any) -> None:
        """Refuse functions that read active values of which no rule knows."""
        for x in args:
            if callable(x) and not isinstance(x, type) and reads_uncaptured(self, x):
                refused("callback", name_of(x))

    # functions without source

    def call_opaque(self, f: Any, args: Any, kwargs: Any) -> Any:
        args, kwargs = self.operands(f, args, kwargs)
        if "out" in kwargs and kwargs["out"] is not None:
            return self.call_with_out(f, args, kwargs)
        if is_transparent(f):
            return self.from_text(self.call_unseen(f, args, kwargs), f, args)
        args = tuple([list(x) if is_stream(x) else x for x in args])
        result = self.mutating_rule(f, args, kwargs)
        if result is not NotImplemented:
            return result
        if self.outside:
            self.check_foreign(*args, getattr(f, "__self__", None))
        self.check_lent(f, args)
        if not self.carries(f, args, kwargs):
            return self.from_text(self.call_unseen(f, args, kwargs), f, args)
        if has_fields(kwargs.get("dtype")) or (len(args) > 1 and has_fields(args[1])):
            refused("structured")
        if is_reader(f) and not isinstance(args[0], np.ndarray):
            refused("text", f"what {name_of(f)} reads")
        result = self.by_protocol(f, args, kwargs)
        if result is not NotImplemented:
            return result
        result = self.look_up(f, args, kwargs)
        if result is not NotImplemented:
            return result
        owner = getattr(f, "__self__", None)
        if isinstance(owner, np.ndarray) and f.__name__ in METHODS:
            return self.call(getattr(np, f.__name__), owner, *args, **kwargs)
        error = no_rule_error(f, self.kind.kind)
        note_unfit(error, f, args, kwargs, self)
        raise error

    def call_in_c(self, f: Any, args: Any, kwargs: Any) -> Any:
        """A bound `__call__` in C: only of constants."""
        if self.carries(f, args, kwargs):
            raise no_rule_error(f.__self__, self.kind.kind)
        return self.below.call(f, *args, **kwargs)

    def carries(self, f: Any, args: Any, kwargs: Any) -> bool:
        """Whether a derivative goes into a call."""
        for x in args:
            if type(x) not in INERT and self.is_active(x):
                return True
        for x in kwargs.values():
            if type(x) not in INERT and self.is_active(x):
                return True
        if type(f) not in INERT and self.is_active(f):
            return True
        return any(reads_active(self, x) for x in (*args, *kwargs.values()))


def raises_itself(f: Any, args: Any, kwargs: Any, error: Exception) -> bool:
    """Whether a function raises by itself what its rule has raised."""
    if isinstance(error, RulesCoreError):
        return False
    try:
        f(*args, **kwargs)
    except Exception as own:
        return isinstance(error, type(own)) or isinstance(own, type(error))
    return False


def is_reader(f: Any) -> bool:
    """Whether a function takes numbers out of texts and bytes."""
    try:
        return f in READERS
    except TypeError:  # unhashable
        return False


def handler_of(f: Any) -> Handler | None:
    try:
        return HANDLERS.get(f)
    except TypeError:  # unhashable
        return None


def is_opaque_class(cls: type) -> bool:
    """Whether a class is made by a constructor that the engine does not look into."""
    new, init = cls.__new__, cls.__init__  # type: ignore[misc]  # of the class
    written = isinstance(new, FunctionType) or isinstance(init, FunctionType)
    if not written:
        return True
    return is_opaque(init) if isinstance(init, FunctionType) else is_opaque(new)
