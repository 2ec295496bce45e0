"""Calls of functions that have rules: the rule is called where the program calls.

Which rule answers is decided when the code is written, for the kinds of the arguments;
a guard sees to it that it still does. What a scalar rule returns follows from its
arguments; what another returns was seen when the tape called it.
"""

from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from rules_autodiff._hooks.run import Run
from rules_autodiff.straight._guard.ruled import CLASSES, Ruled, rule_of
from rules_autodiff.straight._operations.arithmetic import broadcast
from rules_autodiff.straight._program.blocks import Pull, Step, as_row
from rules_autodiff.straight._program.kinds import REAL, Kind
from rules_autodiff.straight._program.refused import Unlearned, refuse
from rules_autodiff.straight._program.values import (
    UNKNOWN,
    Known,
    Value,
    bar_of,
    dot_of,
)
from rules_autodiff.straight._program.words import function_in_words
from rules_autodiff.straight._runtime.learned import LEARNED, AnyOf, sort_of
from rules_autodiff.straight._runtime.rule_calls import (
    Calls,
    by_frule,
    by_rule,
    checked,
    of_arrays,
    of_numbers,
    of_partials,
    reading,
)
from rules_core import Primitive, frule, normal_form, rrule
from rules_core.extend import PACKS, find_table, reads_of_rule

__all__ = ["call_by_rule", "has_rules"]

CONSTANT = frozenset({"int", "bool", "none", "text"})
NUMBERS = {"int": int, "bool": bool, "text": str}


def call_by_rule(
    reader: Any, f: Known, operands: list[Value], options: dict[str, Any]
) -> Value | None:
    """The value of a call that a rule answers; None where no rule does."""
    function = f.value.fun if type(f.value) is Primitive else f.value
    mode = frule if reader.tangents.wanted else rrule
    full = filled(function, operands, options) if has_rules(function, mode) else None
    if full is None:
        return None
    ruled = rule_of(function, f.value, tuple(map(classes_of, full)), mode)
    if ruled is None or not is_pure(ruled):
        return None
    result = result_of(ruled, full, operands)
    reader.unit.ruled.append(ruled)
    reader.unit.relied.discard(f.value)
    if type(f.value) is FunctionType:
        reader.captures.expect_same(f.place, f.value)
    return written(reader, ruled, result, operands, options)


def is_pure(ruled: Ruled) -> bool:
    """Whether a call may be repeated: where written code comes to nothing, it is.

    What is declared to have no derivative may draw random numbers; what is given copies
    writes into its arguments.
    """
    handle = ruled.handle
    if type(handle) is Primitive and handle.run is not handle.fun:
        return False
    return not ruled.rule.constant and getattr(handle, "pure", True)


def as_declared(ruled: Ruled) -> Any:
    """The function; a host function with its results as its declaration promises."""
    handle = ruled.handle
    keeps = type(handle) is Primitive and handle.keep is not None
    return handle.checked if keeps else ruled.function


def has_rules(f: Any, *modes: Any) -> bool:
    """Whether a function has rules of one of these modes."""
    try:
        PACKS.ensure(f)
        table = find_table(f)
    except TypeError:  # what cannot be hashed
        return False
    rules = [] if table is None else [(rrule, table.rrule), (frule, table.frule)]
    return any(mode in modes and bool(kind.rules) for mode, kind in rules)


def filled(f: Any, operands: list[Value], options: dict[str, Any]) -> Any:
    """The arguments of a call in normal form: values, and constants of Python.

    None where written code has no call of the rule: it cannot write into an argument.
    """
    writes = isinstance(f, np.ufunc) and len(operands) > f.nin
    if writes or any(x.kind.name not in CLASSES for x in operands):
        return None
    try:
        args, rest = normal_form(f, tuple(operands), options)
    except TypeError:  # which the program itself would meet
        return None
    in_order = all(x is y for x, y in zip(args, operands, strict=False))
    return None if rest or not in_order else args


def classes_of(x: Any) -> tuple[type, ...]:
    """The classes that an argument in normal form may have."""
    return CLASSES[x.kind.name] if isinstance(x, Value) else (type(x),)


def result_of(ruled: Ruled, full: Any, operands: list[Value]) -> Kind:
    """The kind of the value.

    Raises:
        Unlearned: It is not known before the tape has called the rule once more.
    """
    if ruled.rule.authors_partials is not None and len(full) == len(operands):
        kind = broadcast(tuple([x.kind for x in operands]))
        if kind is not None and kind.is_real:
            return kind
    found = LEARNED.kind(ruled.rule, tuple(map(sort_of_argument, full)))
    if found is None:
        name = function_in_words(ruled.function)
        reason = (
            f"{name} is called by its rule, and what {name} returns is not known yet"
        )
        raise Unlearned(reason)
    if not found.is_real:
        name = function_in_words(ruled.function)
        refuse(f"the rule of {name} returns no number and no array of floats")
    return found


def sort_of_argument(x: Any) -> Any:
    """The part of an argument that decides on a result's kind, as for `sort_of`."""
    if not isinstance(x, Value):
        return sort_of(x)
    if x.kind.name not in CONSTANT:
        return x.kind
    if x.constant is UNKNOWN:
        return AnyOf(NUMBERS.get(x.kind.name, type(None)))
    return type(x.constant), x.constant


def written(
    reader: Any, ruled: Ruled, result: Kind, operands: list[Value], options: Any
) -> Value:
    """The call, and the way back through it."""
    unit, function = reader.unit, as_declared(ruled)
    active = tuple([i for i, x in enumerate(operands) if x.active])
    name = ruled.function.__name__
    name = name if name.isidentifier() else "function"
    if not reader.tracing and ruled.rule.authors_partials is None:
        refuse("a test asks for the value that a rule gives")
    if not (active and reader.tracing):
        plain = checked(with_options(function, options), result)
        own = unit.fresh_constant(name, plain)
        return Value(f"{own}({', '.join(x.text for x in operands)})", result)
    values = [reader.operations.steady(reader.atom(x)) for x in operands]
    if not ruled.whole:
        for x in values:
            check_real(reader, x)
    if reader.tangents.wanted:
        return pushed(reader, ruled, result, values, options)
    z, given = reader.temporary(), ", ".join(x.text for x in values)
    step = Step(reader.line, out=bar_of(z, result), kind=result)
    found = [reader.temporary("c") for _ in active]
    simple, reads = is_simple(ruled, operands, options), reads_of_rule(ruled.rule)
    if reads is not None and reads.deep:
        refuse("a rule reads values that a program may write into")
    partials = partials_of(ruled, active, len(values)) if simple else None
    if partials is not None and result is REAL and reads is None:
        own = unit.fresh_constant(name, function)
        back = of_numbers(partials, len(values), active)
        step.text, step.assigns = f"{z} = {own}({given})", (z,)
        step.after["z"] = z
        step.before |= {str(i): x.text for i, x in enumerate(values)}
        kept = "".join(f"{{{i}}}, " for i in range(len(values)))
        kept = f"{{z}}, {kept}"
    else:
        forward, back = calls_of(ruled, result, active, simple, options)
        if reads is not None:
            forward, back = reading(forward, back, reads, ruled.rule.label)
        own, residual = unit.fresh_constant(name, forward), reader.temporary("r")
        step.text, step.assigns = f"{z}, {residual} = {own}({given})", (z, residual)
        step.after["r"], kept = residual, "{r}, "
    own_back = unit.fresh_constant(name, back)
    step.calls = f"{as_row(found)} = {own_back}({kept}{{dz}})"
    step.pulls = [
        Pull(values[i].bar, values[i].kind, c)
        for i, c in zip(active, found, strict=True)
    ]
    reader.step(step)
    if "z" in step.after:
        check_real(reader, Value(z, result))
    copies = [y for x, y in zip(operands, values, strict=True) if x.text != y.text]
    value = Value(z, result, True, atom=True)
    reader.own_calls.part_from(value, [x for x in copies if x.kind.name == "array"])
    return value


def pushed(
    reader: Any, ruled: Ruled, result: Kind, values: list[Value], options: Any
) -> Value:
    """The call, and the tangent of its result."""
    if reader.tangents.in_lanes or not is_simple(ruled, values, options):
        name = function_in_words(ruled.function)
        refuse(f"the rule of {name} is not called with several tangents, or by name")
    active = tuple([i for i, x in enumerate(values) if x.active])
    partials = partials_of(ruled, active, len(values))
    if partials is not None:
        forward = of_partials(as_declared(ruled), partials, result, active)
    else:
        rule = needing(ruled, ruled.rule.function, active, len(values))
        forward = by_frule(rule, result, active)
    own = reader.unit.fresh_constant(ruled.function.__name__, forward)
    z = reader.temporary()
    step = Step(reader.line, assigns=(z,), out=bar_of(z, result), kind=result)
    given = ", ".join([x.text for x in values])
    dots = ", ".join([dot_of(values[i].bar) for i in active])
    step.text = f"{z}, {dot_of(step.out)} = {own}(({given},), ({dots},))"
    step.calls = "given by the step"
    step.pulls = [Pull(values[i].bar, values[i].kind, "") for i in active]
    reader.step(step)
    check_real(reader, Value(z, result))
    return Value(z, result, True, atom=True)


def check_real(reader: Any, x: Value) -> None:
    """A step that sees that a number is a float."""
    if x.kind is REAL:
        reader.step(Step(reader.line, f"type({x.text}) is float or as_real({x.text})"))


def is_simple(ruled: Ruled, operands: list[Value], options: dict[str, Any]) -> bool:
    """Whether the rule takes the arguments as they stand in the program."""
    rule = ruled.rule
    asks = rule.config is not None or rule.keywords or options
    return not asks and len(ruled.classes[0]) == len(operands)


def needing(ruled: Ruled, f: Any, active: Any, count: int) -> Any:
    """A rule, or its partials, told which arguments need a cotangent."""
    if not ruled.rule.needs:
        return f
    return partial(f, needs=tuple([i in active for i in range(count)]))


def partials_of(ruled: Ruled, active: Any, count: int) -> Any:
    """The partials of a scalar rule, None of another one."""
    partials = ruled.rule.authors_partials
    return None if partials is None else needing(ruled, partials, active, count)


def with_options(f: Any, options: dict[str, Any]) -> Any:
    return f if not options else lambda *args: f(*args, **options)


def calls_of(
    ruled: Ruled, result: Kind, active: Any, simple: bool, options: dict[str, Any]
) -> Calls:
    """The functions that written code calls, forward and back."""
    rule, function = ruled.rule, ruled.function
    count = len(ruled.classes[0])
    partials = partials_of(ruled, active, count) if simple else None
    if partials is not None and result is not REAL:
        return of_arrays(as_declared(ruled), partials, result, active)
    if simple:
        run_rule = needing(ruled, rule.function, active, count)
        return by_rule(run_rule, result, active, rule)

    def run(*args: Any) -> Any:
        found: Any = rrule.resolve(function, args, options, Run.config)
        needs = [i in active for i in range(len(found.args))]
        y, pullback = found.run(tuple(needs))
        # Of the arguments that the call itself gives; what is filled in comes after.
        return y, lambda dz: found.check_cotangents(pullback(dz))[: len(args) + 1]

    return by_rule(run, result, active)
