"""Annotations and keys that cannot be dispatched on: whole texts."""

import typing

import pytest

from rules_core import (
    NoTangent,
    RuleConfig,
    RuleDefinitionError,
    frule,
    rrule,
    scalar_rule,
)
from tests.core.named_rules import define, one, ran, two

COMPARE = "To distinguish values or functions, compare them inside of the rule."


@pytest.mark.parametrize(
    ("annotation", "cure"),
    [
        (list[float], "Dispatch sees classes only: write list."),
        (3, "Leave it out to accept any value."),
        (typing.Literal["a"], f"Leave it out to accept any value. {COMPARE}"),
        (len, f"Leave it out to accept any value. {COMPARE}"),
    ],
    ids=["generic", "value", "literal", "function"],
)
def test_an_annotation_that_is_no_type(annotation, cure):
    with pytest.raises(RuleDefinitionError) as caught:
        define(one, annotation, name="bad")
    line = str(caught.value)
    assert line.startswith("rrule bad for one at named_rules.py:")
    assert (
        ": parameter 'x0' must be annotated with a class, an ABC, Array or a " in line
    )
    assert line.endswith(f"but got {annotation!r}. {cure}")


def test_annotated_types_are_their_types():
    define(one, typing.Annotated[float, "in metres"], name="float")
    assert ran(one, "a") is None
    assert (ran(one, 1.0), ran(one, 1)) == ("float", "float")


class HasShape(typing.Protocol):
    shape: tuple[int, ...]


def test_an_annotation_that_cannot_be_asked():
    with pytest.raises(RuleDefinitionError) as caught:
        define(one, HasShape, name="bad")
    text = str(caught.value)
    assert ": parameter 'x0': dispatch asks for subclasses of HasShape, whi" in text
    assert text.endswith("). Use another class, or leave the annotation out.")


def test_an_annotation_that_names_nothing():
    def rule(x):
        return x, None

    rule.__annotations__["x"] = "Nowhere"

    with pytest.raises(RuleDefinitionError, match=r"name 'Nowhere' is not defined"):
        rrule.define(one)(rule)


def test_a_rule_that_can_never_fit():
    with pytest.raises(RuleDefinitionError) as caught:
        define(two, float, name="short")
    assert str(caught.value).endswith(
        "takes 1 argument, but in normal form two has 2: (x, y). The rule must take "
        "all of them, also those with a default."
    )


def refused(wrong, **options):
    """The text, from where it says what the rule takes."""
    with pytest.raises(RuleDefinitionError) as caught:
        rrule.define(two, **options)(wrong)
    return str(caught.value).partition(" takes ")[2]


def test_what_comes_before_the_own_arguments_does_not_count():
    assert refused(lambda x, y: None, config=RuleConfig) == (
        "1 argument after config, but in normal form two has 2: (x, y). The rule must "
        "take all of them, also those with a default."
    )
    with pytest.raises(RuleDefinitionError, match="takes 0 arguments after y, but in"):
        scalar_rule(one, lambda x: (2 * x,))


def test_needs_that_are_positional():
    assert refused(lambda x, y, needs: None).endswith(
        "also those with a default. To ask which are wanted, make needs keyword-only: "
        "write (…, *, needs)."
    )


def test_a_rule_decorated_without_its_function():
    def rule(x, y):
        return two(x, y), None

    with pytest.raises(TypeError) as caught:
        rrule(rule)
    name = rule.__qualname__
    assert str(caught.value) == (
        f"rrule({name}) must get the arguments of {name} as well. To define a rule "
        "for a function f, write @rrule.define(f) above it."
    )
    assert rrule(lambda x=1: x) is None


def test_a_rule_may_take_everything_in_one_tuple():
    """What comes before the rule's own arguments included."""
    dx = (NoTangent(), 1.0, 0.0)
    frule.define(two)(lambda *args: (two(*args[1:]), args[0][1]))
    assert frule(dx, two, 2.0, 3.0) == (two(2.0, 3.0), 1.0)
    frule.define(two, config=RuleConfig)(lambda *args: (args[0], args[1][1]))
    assert frule(config := RuleConfig(), dx, two, 2.0, 3.0) == (config, 1.0)
    scalar_rule(one, lambda *args: args[1:])
    assert rrule(one, 2.0)[1](1.0) == (NoTangent(), 2.0)


class Unhashable:
    __hash__ = None  # type: ignore[assignment]  # how Python spells: no hash

    def __call__(self, x):
        return x


def test_an_unhashable_key():
    key = Unhashable()
    assert rrule(key, 1.0) is None
    with pytest.raises(RuleDefinitionError) as caught:
        define(key, object, name="rule")
    assert str(caught.value) == (
        "rrule.define: a rule key must be hashable, but got an instance of "
        "Unhashable, which is not. Define the rule for Unhashable.__call__ instead."
    )


def test_a_key_that_is_not_callable():
    with pytest.raises(RuleDefinitionError) as caught:
        rrule.define(3)
    assert str(caught.value) == (
        "rrule.define: a rule key must be callable, but got 3."
    )


def test_a_rule_that_is_no_python_function():
    with pytest.raises(RuleDefinitionError) as caught:
        rrule.define(one)(max)
    assert str(caught.value) == (
        "rrule max for one at ?:0 must be a Python function, but got "
        "<built-in function max>."
    )
