"""Functions, and rules for them whose result is their own name."""

from rules_core import (
    rrule,
)


def one(x):
    return x


def two(x, y):
    return x


def no_pullback(dy):
    raise AssertionError


def define(f, *types, name, **kw):
    """A rule whose result is its own name."""
    names = [f"x{i}" for i in range(len(types))]
    head = ["config"] if "config" in kw else []

    def rule(*args):
        return name, no_pullback

    import inspect

    parameters = [
        inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in head
    ] + [
        inspect.Parameter(
            n, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation
        )
        for n, annotation in zip(names, types, strict=True)
    ]
    rule.__signature__ = inspect.Signature(parameters)
    rule.__qualname__ = name
    return rrule.define(f, **kw)(rule)


def ran(*call, **kw):
    found = rrule(*call, **kw)
    return None if found is None else found[0]
