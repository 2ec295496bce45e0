"""The tables of mutating rules, and the look-up by the classes of arguments."""

import functools
import inspect
import typing
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeVar, final

from rules_autodiff._python.attached import Attached
from rules_autodiff._python.handlers import CALLABLES, HANDLERS, OVERLAYS
from rules_autodiff._refusals import name_of
from rules_core import DebugError, Primitive, RuleDefinitionError, RuleSkippedWarning
from rules_core.extend import (
    EXPLAINERS,
    Location,
    NoConfig,
    Rule,
    RuleSet,
    explained,
    read_types,
    reasons,
)

from .duals import CoDual, Dual

__all__ = ["frule_mutating", "rrule_mutating"]

F = TypeVar("F", bound=Callable[..., Any])
Found = tuple[Callable[..., Any], Any, tuple[Any, ...]]  # rule, function, arguments
NO_KEYWORDS: Mapping[str, Any] = {}


@final
class MutatingRules:
    """The mutating rules of one mode: `define(f)` registers, `find(f, args)` looks up.

    Attributes:
        kind: `"rrule_mutating"` or `"frule_mutating"`.
        rules: The rules of each function.
        told: Calls that already had a warning that no rule matches.
    """

    def __init__(self, kind: str, dual: type):
        self.kind, self.dual = kind, dual
        self.rules: Attached[RuleSet] = Attached(f"_{kind}")
        self.told: Attached[set[Any]] = Attached(f"_{kind}_told")

    def define(self, f: Any) -> Callable[[F], F]:
        """Register the decorated function as the mutating rule of `f`.

        `@rrule_mutating.define(f)`: the rule takes a `CoDual` for `f` and one for each
        argument and returns a `CoDual` and a pullback. The pullback receives the rdata
        of the result, adds to the fdata of the arguments, undoes the rule's writes, and
        returns one rdata per argument, `f` included. `@frule_mutating.define(f)`: the
        rule takes `Dual`s and returns a `Dual`.

        The types come from the annotations: `x: CoDual[np.ndarray, Any]` matches
        arrays, `x` or `x: CoDual` everything. The most specific matching rule wins. A
        method's rule is registered for `Class.method` and takes the instance first.

        Raises:
            RuleDefinitionError: `f` is not hashable, or an annotation is not a
                `CoDual`.
            RuleClashError: Another place defines a rule for these types.

        >>> import numpy as np
        >>> from rules_autodiff import CoDual, NoFData, NoRData, grad, rrule_mutating
        >>> def double(x):
        ...     x *= 2
        >>> @rrule_mutating.define(double)
        ... def double_rule(f, x):
        ...     x.primal[...] *= 2
        ...
        ...     def double_pullback(_):
        ...         x.primal[...] /= 2
        ...         x.fdata[...] *= 2
        ...         return NoRData(), NoRData()
        ...
        ...     return CoDual(None, NoFData()), double_pullback
        >>> def program(x):
        ...     y = x * 1.0
        ...     double(y)
        ...     return y @ y
        >>> grad(program)(np.array([1.0, 2.0]))
        array([ 8., 16.])
        """
        key = f.fun if isinstance(f, Primitive) else f

        def register(rule: F) -> F:
            made = self.made(key, rule)
            try:
                hash(key)
            except TypeError as error:
                message = f"{self.kind}: a function must be hashable, but got {f!r}."
                raise RuleDefinitionError(message) from error
            check_asked(key, self.kind)
            self.rules.setdefault(key, RuleSet(nothing_before, as_it_is)).add(made)
            self.told[key] = set()
            return rule

        return register

    def made(self, f: Any, rule: Callable[..., Any]) -> Rule:
        """A rule with its classes, without the class of `f`."""
        label = f"{self.kind} {rule.__qualname__}"
        types, variadic, required = [], None, 0
        for p in list(inspect.signature(rule, eval_str=True).parameters.values())[1:]:
            answers = self.classes(p, label)
            if p.kind is p.VAR_POSITIONAL:
                variadic = answers
            else:
                types.append(answers)
                required += p.default is p.empty
        where = Location.of(rule)
        return Rule(self.kind, f, rule, where, tuple(types), required=required,
                    variadic=variadic)  # fmt: skip

    def classes(self, parameter: inspect.Parameter, label: str) -> tuple[type, ...]:
        """The classes of primals that a parameter of a rule accepts."""
        annotation = parameter.annotation
        if annotation in (parameter.empty, Any, self.dual):
            return (object,)
        if typing.get_origin(annotation) is not self.dual:
            message = (
                f"{label}: parameter {parameter.name!r} must be annotated with "
                f"{self.dual.__name__}[class, Any], or not at all, but got "
                f"{annotation!r}."
            )
            raise RuleDefinitionError(message)
        primal = typing.get_args(annotation)[0]
        if isinstance(primal, TypeVar):
            return (object,)
        return read_types((primal,), f"{label}: parameter {parameter.name!r}")[0]

    def find(
        self, f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] = NO_KEYWORDS
    ) -> Found | None:
        """The rule for a call, its function, and the arguments."""
        if type(f) is FunctionType and f not in self.rules:
            return None
        owner = getattr(f, "__self__", None)
        if isinstance(f, BuiltinFunctionType) and owner is not None:  # `x.sort`
            method = getattr(type(owner), f.__name__, None)
            bound = self.look_up(method, (owner, *args), kwargs)
            if bound is not None:
                return bound
        return self.look_up(f, args, kwargs)

    def look_up(
        self, f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Found | None:
        try:
            own = self.rules.get(f)
        except TypeError:
            return None
        placed = None if own is None else in_place(f, args, kwargs)
        if own is None or placed is None:
            return None
        rule: Any = own.caches[NoConfig][tuple(map(type, placed))]
        return None if rule is None else (rule.function, f, placed)

    def has(self, f: Any) -> bool:
        """Whether there are rules of `f`, for any classes."""
        try:
            return f in self.rules
        except TypeError:  # not hashable
            return False

    def warn_if_skipped(
        self, f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, debug: bool
    ) -> None:
        """Warn once per combination of types that no rule of `f` matches a call.

        Not if the other mode has a match: a mode without rules lifts the function.

        Raises:
            DebugError: No rule matches, in debug mode.
        """
        told = self.told.setdefault(f, set())
        key = *map(type, args), *((name, type(x)) for name, x in kwargs.items())
        if frule_mutating.find(f, args, kwargs) or rrule_mutating.find(f, args, kwargs):
            return
        if debug:
            raise DebugError(self.skipped_text(f, args, kwargs))
        if key not in told:
            text = self.skipped_text(f, args, kwargs)
            warnings.warn(text, RuleSkippedWarning, stacklevel=2)
            told.add(key)

    def skipped_text(
        self, f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> str:
        """The reason why no rule of `f` matches a call, and the remedy."""
        placed = in_place(f, args, kwargs)
        types = tuple(map(type, args if placed is None else placed))
        lines = [
            f"  {self.kind} {rule.name}({rule.signature}) at {rule.location} does not: "
            f"{'; '.join(why) or 'it takes no keyword-only arguments'}."
            for rule in self.rules[f].rules
            for why in [list(reasons(rule, NoConfig, types))]
        ]
        call = f"{name_of(f)}({', '.join(cls.__qualname__ for cls in types)})"
        head = f"{call} is differentiated without its mutating rules, for none applies:"
        cure = (
            f"Annotate the argument as {self.dual.__name__}[its class, Any], leave the "
            "annotation out, or define another rule."
        )
        return "\n".join((head, *lines, cure))


def mutating_lines(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[str]:
    """The lines of `explain` about the mutating rules of a function, in both modes."""
    if isinstance(f, Primitive):
        f = f.fun
    if type(f) is MethodType:
        f, args = f.__func__, (f.__self__, *args)
    tables = [table for table in (rrule_mutating, frule_mutating) if table.has(f)]
    if not tables:
        return
    placed = in_place(f, args, kwargs)
    types = tuple(map(type, args if placed is None else placed))
    call = f"{name_of(f)}({', '.join(cls.__qualname__ for cls in types)})"
    for table in tables:
        head = f"{table.kind} for {call}"
        if placed is None:
            yield f"{head}: no rule applies; it takes no keyword-only arguments."
        else:
            yield explained(head, table.rules[f], None, types, names_of(f))
    kinds = [table.kind for table in tables if table.find(f, args, kwargs)]
    if kinds:
        yield f"In rules_autodiff {' and '.join(kinds)} runs, before any other rule."
    else:
        yield (
            "In rules_autodiff no mutating rule applies (RuleSkippedWarning): other "
            f"rules of {name_of(f)} run, or its own code is differentiated."
        )


def names_of(f: Any) -> tuple[str, ...]:
    """The names of a function's parameters; none if unknown."""
    try:
        return tuple(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        return ()


def in_place(
    f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[Any, ...] | None:
    """The arguments of a call by position; None if one has no position."""
    if not kwargs:
        return args
    try:
        bound = inspect.signature(f, follow_wrapped=False).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return None
    if bound.kwargs:  # after an omitted one
        bound.apply_defaults()
    return None if bound.kwargs else bound.args


def check_asked(f: Any, kind: str) -> None:
    """Raise an error for inputs that mutating rules cannot declare."""
    cure = "Define it for what the call ends in: a function, or Class.method."
    if isinstance(f, MethodType):
        what = "a bound method"
        cure = "Define it for its __func__, which takes the instance or class first."
    elif isinstance(f, (functools.partial, type)) or type(f) in CALLABLES:
        what = f"an instance of {type(f).__qualname__}"
    elif isinstance(type(f).__call__, FunctionType):
        what = f"an instance of {type(f).__qualname__}"
        cure = f"Define it for {type(f).__qualname__}.__call__, which takes it first."
    elif f in HANDLERS and f not in OVERLAYS:
        what, cure = "the engine's own to answer", "Use rules_autodiff.overlay."
    else:
        return
    message = (
        f"{kind}: a mutating rule must be for a function that calls ask for one, but "
        f"{name_of(f)} is {what}. {cure}"
    )
    raise RuleDefinitionError(message)


def nothing_before() -> None:
    """No packs: mutating rules are the engine's own."""


def as_it_is(rule: Rule) -> Rule:
    return rule


rrule_mutating = MutatingRules("rrule_mutating", CoDual)
frule_mutating = MutatingRules("frule_mutating", Dual)
EXPLAINERS.append(mutating_lines)
