"""Taking rules back, and opting out of all that a function has."""

from unittest import mock

import numpy as np
import pytest

import rules_core as rc
from rules_core import (
    MutableTangent,
    NoTangent,
    RuleDefinitionError,
    StructuralTangent,
    Tangent,
    frule,
    no_frule,
    no_rrule,
    opt_out,
    rrule,
)


class Numeric(rc.RuleConfig):
    pass


def double(x, y=1.0):
    return 2.0 * x * y


def define(kind, name, x=None, config=None):
    """A rule of `double` whose value tells which one it is."""

    def rule(*args):
        return name, lambda dy: (NoTangent(), dy, dy)

    lead = "tangents, " if kind is frule else ""
    lead = f"config, {lead}" if config else lead
    scope = {"rule": rule}
    text = (
        f"def {name}({lead}x: X, y): return rule(x, y)"
        if x
        else (f"def {name}({lead}x, y): return rule(x, y)")
    )
    exec(text, {**scope, "X": x, "__name__": __name__}, scope)
    kind.define(double, config=config)(scope[name])


def asked(kind, *args, config=None):
    head = () if config is None else (config,)
    if kind is frule:
        head = (*head, (NoTangent(), *args))
    found = kind(*head, double, *args)
    return None if found is None else found[0]


BOTH = pytest.mark.parametrize("kind", [frule, rrule], ids=["frule", "rrule"])


@BOTH
def test_one_rule_is_taken_back(kind):
    define(kind, "any_rule")
    define(kind, "float_rule", float)
    assert asked(kind, 1.0, 1.0) == "float_rule"
    kind.undefine(double, float, object)
    assert asked(kind, 1.0, 1.0) == "any_rule"
    define(kind, "float_rule", float)
    assert asked(kind, 1.0, 1.0) == "float_rule"
    kind.undefine(double, object, object)
    assert asked(kind, 1.0, 1.0) == "float_rule"
    assert asked(kind, "text", 1.0) is None


@BOTH
def test_all_rules_are_taken_back(kind):
    other = rrule if kind is frule else frule
    define(kind, "any_rule")
    define(kind, "float_rule", float)
    define(other, "other_rule")
    opt_out(kind, double, str, object)
    kind.undefine(double)
    assert asked(kind, 1.0, 1.0) is None
    assert not [r for r in rc.rules() if r.key is double and r.kind == kind.kind]
    assert asked(other, 1.0, 1.0) == "other_rule"


@BOTH
def test_rules_of_one_config(kind):
    define(kind, "any_rule")
    define(kind, "numeric_rule", config=Numeric)
    assert asked(kind, 1.0, 1.0, config=Numeric()) == "numeric_rule"
    kind.undefine(double, config=Numeric)
    assert asked(kind, 1.0, 1.0, config=Numeric()) == "any_rule"


@BOTH
def test_what_is_not_defined_is_told(kind):
    define(kind, "float_rule", float)
    with pytest.raises(RuleDefinitionError, match=r"must name a rule.*\(float, any\)"):
        kind.undefine(double, int, object)
    kind.undefine(double)
    with pytest.raises(RuleDefinitionError, match=r"There are: none"):
        kind.undefine(double)


@BOTH
def test_an_opt_out_of_all_types(kind):
    """It wins over every rule, the more specific and later ones too."""
    declined = no_rrule if kind is rrule else no_frule
    define(kind, "any_rule")
    define(kind, "numeric_rule", config=Numeric)
    define(kind, "float_rule", float)
    opt_out(kind, double)
    define(kind, "late_rule", int)
    for x in (1.0, 1, np.ones(2)):
        assert asked(kind, x, 1.0) is None
        assert asked(kind, x, 1.0, config=Numeric()) is None
        assert declined(double, type(x), float)
    assert declined(double)
    kind.undefine(double)
    assert not declined(double)


@BOTH
def test_an_opt_out_of_all_types_for_one_config(kind):
    define(kind, "any_rule")
    opt_out(kind, double, config=Numeric)
    assert asked(kind, 1.0, 1.0) == "any_rule"
    assert asked(kind, 1.0, 1.0, config=Numeric()) is None


def test_what_has_every_attribute_may_have_rules():
    for f in (mock.Mock(return_value=3.0), mock.MagicMock(return_value=3.0)):

        @rrule.define(f)
        def f_rrule(x):
            return 3.0, lambda dy: (NoTangent(), dy)

        assert rrule(f, 2.0)[0] == 3.0
        assert "Mock" in next(
            r.target for r in rc.rules() if r.name.endswith("f_rrule")
        )
        rrule.undefine(f)


def test_the_base_of_structural_tangents_has_no_instances():
    for make in (
        lambda: StructuralTangent(tuple, 1.0),
        lambda: type("Own", (StructuralTangent,), {})(tuple, 1.0),
    ):
        with pytest.raises(TypeError, match="is a base class: write Tangent"):
            make()
    assert isinstance(Tangent(tuple, 1.0), StructuralTangent)
    assert isinstance(MutableTangent(mock.Mock, w=1.0), StructuralTangent)
