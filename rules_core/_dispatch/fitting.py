"""Whether a rule matches a call by Python's reading of annotations, and why not.

`float` accepts `int`, `complex` accepts both, and `Array` accepts Python numbers; but a
rule with the classes of the call itself takes precedence.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules_core._base.arrays import Array, type_name

from .rule import Rule, union

__all__ = ["fits", "has_config", "misfits", "parameter", "reasons", "widened"]

_ALSO: dict[type, tuple[type, ...]] = {
    float: (int,),
    complex: (float, int),
    Array: (int, float, complex),
}


def widened(classes: tuple[type, ...]) -> tuple[type, ...]:
    """The classes of an annotation, and the further classes that it accepts.

    >>> from rules_core._dispatch.fitting import widened
    >>> widened((float, str))
    (<class 'float'>, <class 'str'>, <class 'int'>)
    """
    more = [also for cls in classes for also in _ALSO.get(cls, ())]
    return tuple(dict.fromkeys((*classes, *more)))


def parameter(rule: Rule, i: int) -> tuple[type, ...]:
    """The classes of a rule's i-th argument, as annotated."""
    return rule.types[i] if i < len(rule.types) else rule.variadic or ()


def has_config(rule: Rule, config: type) -> bool:
    """Whether a rule requires no other config than this."""
    return rule.config is None or issubclass(config, rule.config)


def takes_count(rule: Rule, count: int) -> bool:
    """Whether a rule accepts this number of arguments."""
    most = count if rule.variadic is not None else len(rule.types)
    return rule.required <= count <= most


def misfits(rule: Rule, types: tuple[type, ...]) -> list[int]:
    """Positions of the arguments whose class a rule does not accept."""
    pairs = enumerate(types)
    return [i for i, cls in pairs if not issubclass(cls, widened(parameter(rule, i)))]


def fits(rule: Rule, config: type, types: tuple[type, ...]) -> bool:
    """Whether a rule matches a call."""
    if not has_config(rule, config) or not takes_count(rule, len(types)):
        return False
    return not misfits(rule, types)


def reasons(
    rule: Rule, config: type, types: tuple[type, ...], names: tuple[str, ...] = ()
) -> Iterator[str]:
    """The reasons why a rule does not match a call, as text.

    Args:
        rule: The rule.
        config: The class of the call's config.
        types: The classes of its arguments.
        names: Names of the function's parameters.
    """
    if not has_config(rule, config):
        none = config is type(None)
        problem = "no config is given" if none else f"{config.__name__} is not"
        assert rule.config is not None
        yield f"it needs {rule.config.__name__}, but {problem}"
    if not takes_count(rule, len(types)):
        yield f"it takes {_count(rule)}, but the call has {len(types)}"
        return
    for i in misfits(rule, types):
        name = f" ({names[i]})" if i < len(names) else ""
        classes = union(parameter(rule, i))
        yield f"argument {i + 1}{name} is {type_name(types[i])}, not {classes}"


def _count(rule: Rule) -> str:
    least, most = rule.required, len(rule.types)
    plural = "argument" if least == most == 1 else "arguments"
    if rule.variadic is not None:
        return f"at least {least} {plural}"
    return f"{least} {plural}" if least == most else f"{least} to {most} {plural}"
