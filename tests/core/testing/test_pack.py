"""`check_pack`: a lint over all rules of a pack."""

import sys
import types

import pytest

import rules_core as rc
from rules_core import NoTangent, rrule
from rules_core.testing import CheckFailed, check_pack, isolated_rules


@pytest.fixture
def pack():
    """A module that defines rules, as a pack does."""
    module = types.ModuleType("a_pack")
    sys.modules["a_pack"] = module
    with isolated_rules():
        yield module
    del sys.modules["a_pack"]


def written_in(module, name, function):
    """Put a function into the module, as if it had been written there."""
    function.__module__, function.__qualname__ = module.__name__, name
    setattr(module, name, function)
    return function


def rule(module, name, f, types):
    def any_rrule(x, y):
        return f(x, y), lambda dy: (NoTangent(), dy, dy)

    any_rrule.__annotations__ = dict(zip("xy", types, strict=True))
    rrule.define(f)(written_in(module, name, any_rrule))


def test_a_clean_pack_passes(pack):
    f = written_in(pack, "f", lambda x, y: x + y)
    rule(pack, "f_float", f, (float, float))
    rule(pack, "f_any", f, (object, object))
    report = check_pack("a_pack")
    assert report["pack.imports"].detail == "0 frules, 2 rrules"
    assert {check.status for check in report} == {"passed"}


def test_ambiguities_are_listed(pack):
    f = written_in(pack, "f", lambda x, y: x + y)
    rule(pack, "left", f, (float, object))
    rule(pack, "right", f, (object, float))
    with pytest.raises(CheckFailed, match=r"pack.ambiguities .*right.* and .*left"):
        check_pack("a_pack")
    rule(pack, "both", f, (float, float))
    assert check_pack("a_pack")


def test_rules_must_pickle_by_name(pack):
    def hidden(x, y):
        return x + y

    rule(pack, "hidden_rrule", hidden, (float, float))
    with pytest.raises(CheckFailed, match=r"failed +pack.pickles"):
        check_pack("a_pack")


def test_rules_must_say_where_they_are(pack):
    f = written_in(pack, "f", lambda x, y: x + y)
    space = {"NoTangent": NoTangent}
    exec("def made(x, y): return x, lambda dy: (NoTangent(), dy, dy)", space)
    rrule.define(f)(written_in(pack, "made", space["made"]))
    with pytest.raises(CheckFailed, match=r"failed +pack.locations"):
        check_pack("a_pack")


def test_host_primitives_need_their_side_rules(pack):
    f = written_in(pack, "f", lambda x, y: x + y)
    handle = rc.primitive(f, host=True)
    rule(pack, "f_rrule", handle.fun, (object, object))
    with pytest.raises(CheckFailed, match=r"pack.side-rules .*has no shape_rule"):
        check_pack("a_pack")
    rc.shape_rule.define(f)(written_in(pack, "f_shape", lambda x, y: x))
    report = check_pack("a_pack")
    assert report["pack.side-rules"].detail.startswith("no batch_rule, so a loop: ")
    rc.batch_rule.define(f)(written_in(pack, "f_batch", lambda n, batched, x, y: x))
    assert check_pack("a_pack")["pack.side-rules"].detail == ""


def test_a_pack_that_does_not_import_fails():
    with pytest.raises(CheckFailed, match=r"failed +pack.imports +ModuleNotFoundError"):
        check_pack("no_such_pack")


def test_a_module_without_rules_is_no_pack():
    """Such as a name of another module than that in which the rules are."""
    with pytest.raises(CheckFailed) as caught:
        check_pack("fractions")
    assert caught.value.report["pack.imports"].detail == (
        "no rule is written in fractions, or below. Name the pack's entry point, or "
        "the module in which its rules are written."
    )
