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
from rules_autodiff._python.frozen import stale
from rules_autodiff._python.handlers import (
    CALLABLES,
    HANDLERS,
    LATER,
    handler_of,
    later_handler,
)
from rules_autodiff._python.jitted import is_jitted
from rules_autodiff._python.lifted_code import is_lifted
from rules_autodiff._python.methods import (
    class_attribute,
    key_of_builtin,
    python_method,
)
from rules_autodiff._python.opaque import (
    is_followed,
    is_opaque,
    is_stream,
    is_transparent,
    method_in_c,
    root_of,
)
from rules_autodiff._python.outside_reads import reads_active
from rules_autodiff._python.own_errors import ERRORS, raise_own
from rules_autodiff._python.values import (
    INERT,
    has_fields,
    holds_records,
    is_numeric,
)
from rules_autodiff._refusals import (
    name_of,
    no_rule_error,
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
from rules_core.extend import PACKS, find_table, rebinds, stand_in_of

from .buffers import check_foreign, check_lent
from .bytes import check_read
from .close_calls import whole
from .constant_callbacks import watched
from .declared_results import as_declared
from .given_values import check_given
from .interface import Hooks
from .numpy_protocols import as_entry, by_protocol
from .out_arguments import call_with_out, operands
from .outside_values import check_classes, check_reads
from .overwritten import with_overwritten
from .rule_errors import explained
from .special_methods import check_finalizer
from .unseen_writes import call_unseen

__all__ = [
    "NATIVE",
    "Transform",
    "call",
    "call_in_c",
    "call_native",
    "call_opaque",
    "construct",
    "derive",
    "entries_of",
    "has_rules",
    "is_opaque_class",
    "is_reader",
    "iter_array",
    "look_up",
    "method",
    "opted_out",
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

# The hooks of lifted code that may leave out what it stores.
DECIDING = frozenset({"decided", "passing", "passed"})

# Classes whose C constructors fill an instance with what they are given.
FILLED = (list, tuple, dict, deque)


class Transform:
    """A function made by the engine (`grad(f)`), which runs on top of another run."""

    def run_on(self, below: Any, *args: Any, **kwargs: Any) -> Any:
        """Call it with ``below`` as the level that does the arithmetic."""
        raise NotImplementedError


def method(run: Hooks, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    return run.call(run.getattr(owner, name), *args, **kwargs)


def call(run: Hooks, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    cls = type(f)
    if cls is FunctionType:
        found = run.functions.get(f)
        if found is not None:
            return found(*args, **kwargs)
        return call_function(run, f, args, kwargs)
    if cls in NATIVE:
        return run.call_native(f, args, kwargs)
    if cls is MethodType:
        return run.call(f.__func__, f.__self__, *args, **kwargs)
    if cls is functools.partial:
        return run.call(f.func, *f.args, *args, **(f.keywords | kwargs))
    if isinstance(f, Transform):
        return f.run_on(run, *args, **kwargs)
    handle = handler_of(f)
    if handle is not None:
        return handled(run, handle, f, (), args, kwargs)
    if isinstance(f, Primitive):
        return call_primitive(run, f, args, kwargs)
    if isinstance(f, type):
        return call_class(run, f, args, kwargs)
    return call_object(run, f, args, kwargs)


def handled(run: Hooks, handle: Any, f: Any, owner: Any, args: Any, kwargs: Any) -> Any:
    """The result of a handler, which raises what the function itself would raise."""
    try:
        return handle(run, *owner, *args, **kwargs)
    except ERRORS as error:
        raise_own(error, f, args, kwargs)
        raise


def call_object(run: Hooks, f: Any, args: Any, kwargs: Any) -> Any:
    """An instance: by rules of its own, else by what its class says."""
    if is_jitted(f):
        reason = stale(f)
        if reason:
            refused("frozen", reason)
        return run.call(f.py_func, *args, **kwargs)
    handle, special = CALLABLES.get(type(f)), class_attribute(type(f), "__call__")
    if handle is None and not isinstance(special, WRITTEN):
        return run.call_opaque(f, args, kwargs)
    if run.has_rules(f):
        result = look_up(run, f, args, kwargs)
        if result is not NotImplemented:
            return result
    if handle is not None:
        return handle(run, f, args, kwargs)
    if isinstance(special, FunctionType | Primitive):
        return run.call(special, f, *args, **kwargs)
    return run.call(special.__get__(f, type(f)), *args, **kwargs)


def call_native(run: Hooks, f: Any, args: Any, kwargs: Any) -> Any:
    handle = HANDLERS.get(f)
    owner: tuple[Any, ...] = ()
    if handle is None and type(f) in BUILTINS:
        handle, owner = HANDLERS.get(key_of_builtin(f)), (f.__self__,)
    if handle is not None:
        return handled(run, handle, f, owner, args, kwargs)
    of_numpy = type(f) not in BUILTINS
    if of_numpy and is_followed(f):
        return run.call(f.__wrapped__, *args, **kwargs)
    if of_numpy and not kwargs and INERT.issuperset(map(type, args)):
        return run.from_text(run.below.call(f, *args), f, args)
    return run.call_opaque(f, args, kwargs)


def call_function(run: Hooks, f: FunctionType, args: Any, kwargs: Any) -> Any:
    if is_lifted(f):
        return rebind(f, run)(*args, **kwargs)
    handle = HANDLERS.get(f)
    if handle is not None:
        return handled(run, handle, f, (), args, kwargs)
    result = run.mutating_rule(f, args, kwargs)
    if result is not NotImplemented:
        return result
    if is_opaque(f):
        return run.call_opaque(f, args, kwargs)
    if run.has_rules(f):
        package = root_of(f)
        handle = later_handler(f, package) if package in LATER else None
        if handle is not None:
            return handled(run, handle, f, (), args, kwargs)
        result = look_up(run, f, args, kwargs)
        if result is not NotImplemented:
            return result
        return by_body(run, f, args, kwargs)
    if f in run.mutating.rules:  # of calls like this one alone
        return by_body(run, f, args, kwargs)
    before = run.failure
    try:
        derived = run.functions[f] = run.derive(f)
    except SourceNotFound:
        check_reads(run, f)
        if run.is_active((f, args, kwargs)) and not only_compares(f):
            raise
        run.failure = before
        return run.below.call(f, *args, **kwargs)
    return derived(*args, **kwargs)


def by_body(run: Hooks, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """A function whose rules do not fit, which a warning and errors inside tell."""
    tell_skipped(run, f, args, kwargs)
    try:
        return run.derive(f)(*args, **kwargs)
    except EngineError as error:
        note_unfit(error, f, args, kwargs, run)
        raise


def derive(run: Hooks, f: FunctionType) -> FunctionType:
    """The lifted form of a function, with its hooks bound to this run."""
    run.rebinds |= rebinds(f)
    form = lifted(f)
    run.decides |= not DECIDING.isdisjoint(form.code.co_names)
    return form.bind(f, run)


def has_rules(run: Hooks, f: Any) -> bool:
    PACKS.ensure(f)
    return find_table(f) is not None


def call_primitive(run: Hooks, f: Any, args: Any, kwargs: Any) -> Any:
    """A primitive is its function; its rules are found under that function."""
    y = run.call(f.run, *args, **kwargs)
    return y if f.keep is None else as_declared(run, f, y, args, kwargs)


def call_class(run: Hooks, cls: Any, args: Any, kwargs: Any) -> Any:
    if cls.__module__ == "numpy":
        args = tuple([as_entry(run, x) for x in args])
        if args and issubclass(cls, np.integer):
            whole(run, args[0])
        if not carries(run, cls, args, kwargs):
            return run.from_text(run.below.call(cls, *args, **kwargs), cls, args)
    result = look_up(run, cls, args, kwargs)
    if result is not NotImplemented:
        return run.from_text(result, cls, args)
    if issubclass(cls, BaseException | SimpleNamespace) and is_opaque_class(cls):
        return run.below.call(cls, *args, **kwargs)
    if issubclass(cls, FILLED) and is_opaque_class(cls):
        return filled(run, cls, args, kwargs)
    special = type(cls).__call__
    if isinstance(special, FunctionType) and not is_opaque(special):
        return run.call(special, cls, *args, **kwargs)
    if special is not type.__call__ or is_opaque_class(cls):
        return run.call_opaque(cls, args, kwargs)
    tell_skipped(run, cls, args, kwargs)
    return construct(run, cls, *args, **kwargs)


def filled(run: Hooks, cls: Any, args: Any, kwargs: Any) -> Any:
    """A container of C code; one that may ask a user's methods is made empty."""
    if issubclass(cls, OrderedDict):
        made = cls()
        HANDLERS[OrderedDict.__init__](run, made, *args, **kwargs)
        return made
    # An `__init__` in Python takes other arguments than a dict's contents.
    is_dicts = issubclass(cls, dict) and not isinstance(cls.__init__, FunctionType)
    fill = entries_of if is_dicts else iter_array
    return cls(*[fill(run, x) for x in args], **kwargs)


def construct(run: Hooks, cls: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`type.__call__(cls, …)`: makes an instance and initialises it."""
    check_finalizer(run, cls, (args, kwargs))
    made = make(run, cls, args, kwargs)
    if isinstance(made, cls):
        initialise(run, made, args, kwargs)
    return made


def iter_array(run: Hooks, x: Any) -> Any:
    """An iterable that C code would iterate, as a list; others as they are."""
    if run.raw:
        check_read(run, x)
    own = python_method(type(x), "__iter__")
    taken = own is not None or isinstance(x, np.ndarray | np.flatiter)
    return list(run.iter(x)) if taken else x


def entries_of(run: Hooks, x: Any) -> Any:
    """The contents of a new dict; a factory as it is."""
    return run.entries(x) if hasattr(type(x), "__iter__") else x


def make(run: Hooks, cls: Any, args: Any, kwargs: Any) -> Any:
    new = cls.__new__
    if isinstance(new, FunctionType) and not is_written_for(new):
        return run.call(new, cls, *args, **kwargs)
    if new is object.__new__:
        return new(cls)
    handle = handler_of(new)
    if handle is not None:
        return handle(run, cls, *args, **kwargs)
    return new(cls, *args, **kwargs)


def initialise(run: Hooks, made: Any, args: Any, kwargs: Any) -> None:
    init = type(made).__init__
    handle = handler_of(init)
    if handle is not None:
        handle(run, made, *args, **kwargs)
    elif not isinstance(init, FunctionType):
        init(made, *args, **kwargs)
    elif not is_written_for(init):
        run.call(init, made, *args, **kwargs)
    elif runs_code(type(made)):
        initialise_dataclass(run, made, args, kwargs)
    else:
        init(made, *args, **kwargs)


def look_up(run: Hooks, f: Any, args: Any, kwargs: Any) -> Any:
    """The result by a stand-in or a rule of the registry, or NotImplemented."""
    y = by_registry(run, f, args, kwargs)
    if y is NotImplemented:
        return y
    return with_overwritten(run, f, args, kwargs, y)


def by_registry(run: Hooks, f: Any, args: Any, kwargs: Any) -> Any:
    body = stand_in_of(f)
    if body is not None and carries(run, f, args, kwargs):
        return run.call(body, *args, **kwargs)
    body = None if body is not None else stand_in_of(method_in_c(f))
    if body is not None:
        return run.call(body, f.__self__, *args, **kwargs)
    try:
        return ruled(run, f, args, kwargs)
    except Exception as error:
        of_kinds = isinstance(error, TypeError | UnsupportedError)
        given = (*args, getattr(f, "__self__", None))
        if of_kinds and any(map(holds_records, given)):
            refused("structured")
        if root_of(f) == "numpy" and not isinstance(error, RulesCoreError):
            check_objects(run, args)
        explained(error, f, args, kwargs)
        raise_own(error, f, args, kwargs)
        raise


def check_objects(run: Hooks, args: Any) -> None:
    """Refuse instances that carry derivatives: no array holds what they hold."""
    for x in args:
        if type(x) in (list, tuple):
            check_objects(run, x)
        elif not is_numeric(x) and run.is_active(x):
            refused("operand", type(x).__name__)


def ruled(run: Hooks, f: Any, args: Any, kwargs: Any) -> Any:
    found = run.kind.resolve(f, args, kwargs, run.config)
    if found is not None:
        check_given(run, found, f, args)
        return run.by_rule(found, f)
    other = run.other_kind.resolve(f, args, kwargs, run.config)
    if other is None or run.opted_out(f, other.args):
        return NotImplemented
    check_given(run, other, f, args)
    return run.by_other_rule(other, f)


def opted_out(run: Hooks, f: Any, args: Any) -> bool:
    asked = no_rrule if run.kind.kind == "rrule" else no_frule
    return bool(asked(f, *map(type, args)))


def call_opaque(run: Hooks, f: Any, args: Any, kwargs: Any) -> Any:
    args, kwargs = operands(run, f, args, kwargs)
    if "out" in kwargs and kwargs["out"] is not None:
        return call_with_out(run, f, args, kwargs)
    if is_transparent(f):
        return run.from_text(call_unseen(run, f, args, kwargs), f, args)
    args = tuple([list(x) if is_stream(x) else x for x in args])
    result = run.mutating_rule(f, args, kwargs)
    if result is not NotImplemented:
        return result
    if run.outside:
        check_foreign(run, *args, getattr(f, "__self__", None))
    check_lent(run, f, args)
    if not carries(run, f, args, kwargs):
        if type(f) is FunctionType:
            check_reads(run, f)
            check_classes(run, f, (args, kwargs))
        args, kwargs = watched(run, f, args, kwargs)
        return run.from_text(call_unseen(run, f, args, kwargs), f, args)
    if has_fields(kwargs.get("dtype")) or (len(args) > 1 and has_fields(args[1])):
        refused("structured")
    if is_reader(f) and not isinstance(args[0], np.ndarray):
        refused("text", f"what {name_of(f)} reads")
    result = by_protocol(run, f, args, kwargs)
    if result is not NotImplemented:
        return result
    result = look_up(run, f, args, kwargs)
    if result is not NotImplemented or stand_in_of(f) is not None:
        return result  # NotImplemented is what the stand-in of an operator answers
    owner = getattr(f, "__self__", None)
    if isinstance(owner, np.ndarray) and f.__name__ in METHODS:
        return run.call(getattr(np, f.__name__), owner, *args, **kwargs)
    package = root_of(f)
    handle = later_handler(f, package) if package in LATER else None
    if handle is not None:
        return handled(run, handle, f, (), args, kwargs)
    error = no_rule_error(f, run.kind.kind)
    note_unfit(error, f, args, kwargs, run)
    raise error


def call_in_c(run: Hooks, f: Any, args: Any, kwargs: Any) -> Any:
    """A bound `__call__` in C: only of constants."""
    if carries(run, f, args, kwargs):
        raise no_rule_error(f.__self__, run.kind.kind)
    return run.below.call(f, *args, **kwargs)


def carries(run: Hooks, f: Any, args: Any, kwargs: Any) -> bool:
    """Whether a derivative goes into a call."""
    for x in args:
        if type(x) not in INERT and run.is_active(x):
            return True
    for x in kwargs.values():
        if type(x) not in INERT and run.is_active(x):
            return True
    if type(f) not in INERT and run.is_active(f):
        return True
    return any(reads_active(run, x) for x in (*args, *kwargs.values()))


def is_reader(f: Any) -> bool:
    """Whether a function takes numbers out of texts and bytes."""
    try:
        return f in READERS
    except TypeError:  # unhashable
        return False


def is_opaque_class(cls: type) -> bool:
    """Whether a class is made by a constructor that the engine does not look into."""
    new, init = cls.__new__, cls.__init__  # type: ignore[misc]  # of the class
    written = isinstance(new, FunctionType) or isinstance(init, FunctionType)
    if not written:
        return True
    return is_opaque(init) if isinstance(init, FunctionType) else is_opaque(new)
