"""Errors as objects: what they hold, and that they outlive their process."""

import pickle

import pytest

import rules_core as rc
from rules_core import NoTangent, frule, rrule
from rules_core.testing import CheckCallError, check_rule


def product(x, y):
    return x * y


def define(*types, returns=None):
    """A rule that pickle does not find again: it is local, as in a notebook."""

    def product_rrule(x, y):
        return (x * y, lambda dy: returns) if returns else None

    product_rrule.__annotations__ = dict(zip("xy", types, strict=True))
    rrule.define(product)(product_rrule)


def clash():
    define(float, float)

    @rrule.define(product)
    def other_rrule(x: float, y: float):
        return None


def ambiguity():
    define(float, object)

    @rrule.define(product)
    def other_rrule(x: object, y: float):
        return None

    rrule(product, 1.0, 2.0)


def wrong_result():
    define(object, object)
    rrule(product, 1.0, 2.0)


def wrong_count():
    define(object, object, returns=(1.0,))
    with rc.debug_mode():
        rrule(product, 1.0, 2.0)[1](1.0)


def refused_claims():
    rc.scalar_rule(product, lambda y, a, b: (b, a), holomorphic=True, real_valued=True)


RAISED = {
    rc.RuleClashError: clash,
    rc.AmbiguousRulesError: ambiguity,
    rc.RuleResultError: wrong_result,
    rc.CotangentCountError: wrong_count,
    rc.TangentCountError: lambda: frule((NoTangent(), 1.0), product, 1.0, 2.0),
    rc.RuleDefinitionError: refused_claims,
    rc.ProjectionError: lambda: rc.ProjectTo((1.0,))(("a",)),
    rc.DerivativeNotImplemented: lambda: rc.not_implemented("in x").throw("here"),
    rc.ViaADError: lambda: rc.rrule_via_ad(rc.RuleConfig(), product, 1.0, 2.0),
    CheckCallError: lambda: check_rule(abs, seed=-1),
}


@pytest.mark.parametrize("cls", RAISED, ids=lambda cls: cls.__name__)
def test_class_and_text_survive_pickling(cls):
    if cls is rc.TangentCountError:
        rc.scalar_rule(product, lambda y, a, b: (b, a))
    with pytest.raises(cls) as caught:
        RAISED[cls]()
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is cls
    assert str(again) == str(caught.value)
    assert isinstance(again, rc.RulesCoreError)


def test_parts_that_are_words_survive_as_well():
    error = rc.RuleNotFound.build("rrule", product, (1.0, 2.0))
    again = pickle.loads(pickle.dumps(error))
    assert (again.kind, again.target, again.types) == (
        "rrule",
        "product",
        "float, float",
    )
    assert again.notes == error.notes
    error = rc.PackImportError("numpy", "rules_numpy", "KeyError: 3")
    again = pickle.loads(pickle.dumps(error))
    assert (again.pack, again.cause) == ("numpy", "KeyError: 3")


def test_rules_of_an_error_can_be_asked():
    with pytest.raises(rc.RuleClashError) as caught:
        clash()
    assert [rule.kind for rule in (caught.value.old, caught.value.new)] == ["rrule"] * 2
