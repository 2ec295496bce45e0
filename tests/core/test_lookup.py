"""Look-ups: warm ones see what is registered; tables live as long as their keys."""

import pickle
import sys
import zlib

import pytest

import rules_core as rc
from rules_core import NoTangent, frule, rrule
from rules_core._dispatch.registry import PACKS
from rules_core.testing import check_rule
from tests.core.calls import define_power, power


def test_the_table_at_a_call_site_is_live():
    methods = rrule.table(power)
    assert methods[float, int] is None
    power_rrule, _ = define_power()
    assert methods[float, int].function is power_rrule


def test_redefinition_from_the_same_place_replaces():
    def define(value):
        @rrule.define(power)
        def again(x, p):
            return value, abs

    define(1)
    define(2)
    assert rrule(power, 2.0)[0] == 2
    assert len([r for r in rc.rules() if r.key is power]) == 1


def test_rule_objects_and_entry_points_pickle():
    assert pickle.loads(pickle.dumps(rrule)) is rrule
    assert pickle.loads(pickle.dumps(frule)) is frule

    @rrule.define(zlib.crc32)
    def crc32_rrule(data, value):
        return 0, abs

    rule = rrule.resolve(zlib.crc32, (b"",)).rule
    assert pickle.loads(pickle.dumps(rule)) is rule


def test_functions_that_go_out_of_use_are_collected():
    import gc
    import weakref

    def make():
        def local(x):
            return x

        @rrule.define(local)
        def local_rrule(x):
            return local(x), abs

        rrule(local, 1.0)
        return weakref.ref(local)

    gone = make()
    gc.collect()
    assert gone() is None


def test_warm_look_ups_see_what_is_registered_and_switched():
    """Whatever the path, the answer is the one that a cold look-up gives."""

    def ran(*args):
        found = rrule(power, *args)
        return None if found is None else found[0]

    def define(name, annotation):
        def rule(x: annotation, p):
            return name, abs

        rule.__qualname__ = name
        rrule.define(power)(rule)

    define("any", object)
    for _ in range(4):
        assert ran(2.0, 3) == "any"
    define("float", float)
    for _ in range(4):
        assert ran(2.0, 3) == "float"
        assert ran(2, 3) == "any"
    with rc.debug_mode(), pytest.raises(rc.DebugError):
        rrule(power, 2.0, 3)[1](1.0)
    rc.opt_out(rrule, power, int, int)
    for _ in range(4):
        assert ran(2, 3) is None


def test_no_function_is_left_in_a_global_table():
    """Only keys that take no attribute are held for good."""
    from rules_core._dispatch.registry import _fixed

    define_power()
    assert power not in _fixed
    assert not any(k.__class__ is type(power) for k in _fixed)
    assert sys.getrefcount(power) < 50


def test_no_argument_is_not_taken_for_an_object():
    def f(x=1.0):
        return x

    @rrule.define(f)
    def f_rrule(x: object):
        return x, lambda dy: (NoTangent(), dy)

    config = rc.RuleConfig()
    something = object()
    for _ in range(2):  # the second look-up is a warm one
        assert rrule(f, something)[0] is something
        assert rrule(config, f, something)[0] is something
    assert rrule(f)[0] == 1.0
    assert rrule(config, f)[0] == 1.0


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_a_warm_call_with_a_config_passes_every_argument_on(count):
    def f(*xs):
        return xs

    @rrule.define(f)
    def f_rrule(*xs: float):
        return xs, lambda dy: (NoTangent(), *dy)

    args = tuple(float(i) for i in range(count))
    for _ in range(3):
        assert rrule(f, *args)[0] == args
        assert rrule(rc.RuleConfig(), f, *args)[0] == args


class Scaled:
    """An instance that is called, as SciPy's functions of several ufuncs are."""

    def __init__(self, factor):
        self.factors = [factor]

    def __call__(self, x):
        return self.factors[0] * x


def scaled_with_rules():
    scaled = Scaled(3.0)

    @rrule.define(scaled)
    def scaled_rrule(x):
        return scaled(x), lambda dy: (NoTangent(), 3.0 * dy)

    @frule.define(scaled)
    def scaled_frule(tangents, x):
        return scaled(x), 3.0 * tangents[1]

    return scaled


LOOKS = {
    "rrule": lambda f: rrule(f, 2.0)[1](1.0)[1],
    "frule": lambda f: frule((NoTangent(), 1.0), f, 2.0)[1],
    "resolve": lambda f: rrule.resolve(f, (2.0,)).run()[1](1.0)[1],
}


@pytest.mark.parametrize("look", LOOKS)
def test_the_first_look_up_of_an_instance_finds_the_rules_of_its_pack(
    look, monkeypatch
):
    scaled = Scaled(3.0)

    def ensure(_key):
        monkeypatch.undo()
        rrule.define(scaled)(lambda x: (3.0 * x, lambda dy: (NoTangent(), 3.0 * dy)))
        frule.define(scaled)(lambda tangents, x: (3.0 * x, 3.0 * tangents[1]))

    monkeypatch.setattr(PACKS, "ensure", ensure)
    assert LOOKS[look](scaled) == 3.0


def test_the_tester_keeps_an_instance_that_has_rules():
    assert check_rule(scaled_with_rules(), 2.0, hosts=())
