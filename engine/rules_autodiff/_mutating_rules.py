"""The tables of mutating rules: which one fits the classes of a call's arguments."""

import inspect
import typing
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar, final

from rules_autodiff._duals import CoDual, Dual
from rules_core import RuleDefinitionError
from rules_core._annotations import read_types
from rules_core._rule import Location, Rule
from rules_core._table import NoConfig, RuleSet

__all__ = ["frule_mutating", "rrule_mutating"]

F = TypeVar("F", bound=Callable[..., Any])
Found = tuple[Callable[..., Any], Any, tuple[Any, ...]]  # rule, function, arguments


@final
class MutatingRules:
    """The mutating rules of one mode: `define(f)` registers, `find(f, args)` looks up.

    Attributes:
        kind: `"rrule_mutating"` or `"frule_mutating"`.
        rules: The rules of each function.
    """

    def __init__(self, kind: str, dual: type):
        self.kind, self.dual = kind, dual
        self.rules: dict[Any, RuleSet] = {}

    def define(self, f: Any) -> Callable[[F], F]:
        """Register the decorated function as the mutating rule of `f`.

        `@rrule_mutating.define(f)`: the rule takes a `CoDual` for `f` and one for each
        argument and returns a `CoDual` and a pullback. The pullback gets the rdata of
        the result, adds to the fdata of the arguments, undoes what the rule wrote, and
        returns one rdata per argument, `f` included. `@frule_mutating.define(f)`: the
        rule takes `Dual`s and returns a `Dual`.

        The types come from the annotations: `x: CoDual[np.ndarray, Any]` answers to
        arrays, `x` or `x: CoDual` to everything. Of several rules that fit the most
        specific one is used. A method's rule is registered for `Class.method` and
        takes the instance first.

        Raises:
            RuleDefinitionError: `f` is not hashable, or an annotation is no `CoDual`.
            RuleClashError: Another place defines a rule for the same types.

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

        def register(rule: F) -> F:
            made = self.made(f, rule)
            try:
                own = self.rules.setdefault(f, RuleSet(nothing_before, as_it_is))
            except TypeError as error:
                message = f"{self.kind}: a function must be hashable, but got {f!r}."
                raise RuleDefinitionError(message) from error
            own.add(made)
            return rule

        return register

    def made(self, f: Any, rule: Callable[..., Any]) -> Rule:
        """A rule with the classes that it answers to, those of `f` left out."""
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
        """The classes of primals that a parameter of a rule answers to."""
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

    def find(self, f: Any, args: tuple[Any, ...]) -> Found | None:
        """The rule for a call, the function that it is for, and its arguments."""
        if type(f) is FunctionType and f not in self.rules:
            return None
        owner = getattr(f, "__self__", None)
        if type(f) is BuiltinFunctionType and owner is not None:  # `x.sort`
            method = getattr(type(owner), f.__name__, None)
            bound = self.look_up(method, (owner, *args))
            if bound is not None:
                return bound
        return self.look_up(f, args)

    def look_up(self, f: Any, args: tuple[Any, ...]) -> Found | None:
        try:
            own = self.rules.get(f)
        except TypeError:
            return None
        if own is None:
            return None
        rule: Any = own.caches[NoConfig][tuple(map(type, args))]
        return None if rule is None else (rule.function, f, args)


def nothing_before() -> None:
    """No pack is looked for: mutating rules are the engine's own."""


def as_it_is(rule: Rule) -> Rule:
    return rule


rrule_mutating = MutatingRules("rrule_mutating", CoDual)
frule_mutating = MutatingRules("frule_mutating", Dual)
