"""Derived rules as the core sees them: who derives, and what takes precedence."""

from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

import rules_core as rc
from rules_core._rules import derived_rules
from rules_core.testing import isolated_rules


class Toy:
    """Derives rules that are ten times too large, and not of what is called `no`."""

    name = "toy"

    def refusal(self, fun):
        return "it says no" if fun.__name__ == "no" else None

    def derive(self, kind, primitive):
        def derived(*args, needs, **kwargs):
            return primitive(*args, **kwargs), lambda _: (kind, needs)

        return derived


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setattr(derived_rules, "find_deriver", Toy)
    with isolated_rules():
        yield


def f(x, scale=2.0, *, flag=False):
    return x * scale


def no(x):
    return x


def resolve(kind, handle, *args, **kwargs):
    return rc.resolve_primitive(kind, handle, args, kwargs)


def test_a_derived_rule_gets_the_normal_form_and_the_needs():
    handle = rc.Primitive(f, host=True)
    call = resolve(rc.rrule, handle, 3.0, flag=True)
    assert (call.args, call.kwargs) == ((3.0, 2.0), {"flag": True})
    y, pullback = call.run(needs=(True, False))
    assert (y, pullback(1.0)) == (6.0, ("rrule", (True, False)))
    assert call.rule.name == "derived by toy"
    assert call.rule.line == f.__code__.co_firstlineno
    assert call.rule is resolve(rc.rrule, handle, 4.0).rule
    assert call.rule is not resolve(rc.frule, handle, 4.0).rule


def test_generic_primitives_have_none():
    assert resolve(rc.rrule, rc.Primitive(f), 3.0) is None


@pytest.mark.parametrize("kind", [rc.rrule, rc.frule])
def test_authors_come_first(kind):
    handle = rc.Primitive(f, host=True)
    kind.define(f)(lambda first, *rest: (0.0, 0.0))
    found = [resolve(each, handle, 3.0) for each in (rc.rrule, rc.frule)]
    assert [call and call.rule.kind for call in found].count(None) == 1
    assert rc.why_not_derived(handle, (3.0,), {}, None) is None


@pytest.mark.parametrize("kind", [rc.rrule, rc.frule])
def test_an_opt_out_holds_for_its_types(kind):
    handle = rc.Primitive(f, host=True)
    rc.opt_out(kind, f, int, float)
    assert resolve(rc.rrule, handle, 3) is None
    assert resolve(rc.frule, handle, 3) is None
    assert resolve(rc.rrule, handle, 3.0) is not None
    reason = rc.why_not_derived(handle, (3,), {}, None)
    assert reason.startswith("it is opted out at test_derived.py:")


@pytest.mark.parametrize(
    ("handle", "reason"),
    [
        (rc.Primitive(no, host=True), "it says no"),
        (
            rc.Primitive(f, host=True, pure=False),
            "it is declared pure=False, and a derived rule runs it again",
        ),
    ],
)
def test_refusals(handle, reason):
    assert resolve(rc.rrule, handle, 3.0) is None
    assert rc.why_not_derived(handle, (3.0,), {}, None) == reason
    with pytest.raises(rc.RuleNotFound, match=reason):
        raise rc.RuleNotFound.build("rrule", handle, (3.0,))
    name = handle.__name__
    assert rc.explain(handle, 3.0).endswith(
        f"{name} is a host primal without a derived rule: {reason}."
    )


def test_without_a_deriver(monkeypatch):
    monkeypatch.setattr(derived_rules, "find_deriver", lambda: None)
    handle = rc.Primitive(f, host=True)
    assert resolve(rc.rrule, handle, 3.0) is None
    reason = "no package is installed that derives one"
    assert rc.why_not_derived(handle, (3.0,), {}, None) == reason


def points(*values):
    found = [EntryPoint(v, v, derived_rules.GROUP) for v in values]
    return SimpleNamespace(entry_points=lambda group: found)


def test_two_derivers_clash(monkeypatch):
    monkeypatch.undo()
    find = derived_rules.find_deriver.__wrapped__
    monkeypatch.setitem(
        __import__("sys").modules, "importlib.metadata", points("a:x", "b:y")
    )
    with pytest.raises(rc.RulesCoreError, match="a:x and b:y. Uninstall one"):
        find()


def test_copies_are_for_functions_that_nobody_wrote_rules_for():
    handle = rc.Primitive(f, host=True)
    assert handle.needs_copies
    assert not rc.Primitive(f).needs_copies
    rc.opt_out(rc.rrule, f, int, float)
    assert handle.needs_copies
    rc.scalar_rule(f, lambda y, x, scale: (scale, x))
    assert not handle.needs_copies
