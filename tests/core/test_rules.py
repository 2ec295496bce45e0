"""`frule` and `rrule`: calling, normal form, methods, partials, `needs`."""

import functools
import inspect
import pickle
import sys
import zlib

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, Tangent, ZeroTangent, frule, rrule


@pytest.fixture(autouse=True)
def _own_tables():
    from rules_core.testing import isolated_rules

    with isolated_rules():
        yield


def power(x, p=2, *, verbose=False):
    return x**p


def define_power():
    @rrule.define(power)
    def power_rrule(x: float, p: int, *, verbose=False):
        def power_pullback(dy):
            return NoTangent(), p * x ** (p - 1) * dy, NoTangent()

        return power(x, p), power_pullback

    @frule.define(power)
    def power_frule(tangents, x: float, p: int, *, verbose=False):
        return power(x, p), p * x ** (p - 1) * tangents[1]

    return power_rrule, power_frule


class Affine:
    def __init__(self, slope):
        self.slope = slope

    def __call__(self, x):
        return self.slope * x

    def scaled(self, x, factor=1.0):
        return self.slope * x * factor

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def make(cls, x):
        return cls(x)


def test_none_where_there_is_no_rule():
    assert rrule(power, 2.0) is None
    assert frule((NoTangent(), 1.0), power, 2.0) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: rrule(power, 2.0),
        lambda: rrule(power, 2.0, 2),
        lambda: rrule(power, 2.0, p=2),
        lambda: rrule(power, x=2.0),
        lambda: rrule(power, 2.0, verbose=True),
    ],
    ids=["default", "positional", "keyword", "all keywords", "keyword-only"],
)
def test_every_spelling_reaches_the_rule_in_normal_form(call):
    define_power()
    y, pullback = call()
    assert y == 4.0
    assert pullback(3.0) == (NoTangent(), 12.0, NoTangent())


def test_definition_returns_the_author_function_unchanged():
    power_rrule, power_frule = define_power()
    assert power_rrule(2.0, 3)[0] == 8.0
    assert power_frule((NoTangent(), 1.0), 2.0, 3) == (8.0, 12.0)


def test_types_decide():
    define_power()
    assert rrule(power, "a", 2) is None
    assert rrule(power, 2.0, 2.0) is None


def test_frule_pads_tangents_of_defaults_and_keywords():
    define_power()
    assert frule((NoTangent(), 1.0), power, 2.0) == (4.0, 4.0)
    assert frule((NoTangent(), 1.0), power, 2.0, p=3) == (8.0, 12.0)
    assert frule((NoTangent(), 1.0, NoTangent()), power, 2.0, 3) == (8.0, 12.0)


def test_frule_makes_lazy_tangents_concrete():
    define_power()
    assert frule((NoTangent(), ZeroTangent()), power, 2.0) == (4.0, 0.0)
    assert frule((NoTangent(), rc.thunk(lambda: 1.0)), power, 2.0) == (4.0, 4.0)


def test_symbolic_zeros_are_handed_on_where_asked_for():
    seen = []

    @frule.define(power, symbolic_zeros=True)
    def power_frule(tangents, x, p):
        seen.append(tangents[1])
        return power(x, p), ZeroTangent()

    frule((NoTangent(), ZeroTangent()), power, 2.0)
    assert seen == [ZeroTangent()]


def test_wrong_calls_raise_as_the_function_would():
    define_power()
    with pytest.raises(TypeError, match=r"power\(\) got an unexpected keyword .*'q'"):
        rrule(power, 2.0, q=1)
    with pytest.raises(TypeError, match=r"power\(\) is missing .* argument 'x'"):
        rrule(power)
    with pytest.raises(TypeError, match=r"power\(\) got multiple values for .*'x'"):
        rrule(power, 2.0, x=1.0)
    with pytest.raises(TypeError, match=r"power\(\) takes 2 positional .* 3 were"):
        rrule(power, 2.0, 1, 3)


def test_builtins_and_ufuncs_are_keys():
    double = np.frompyfunc(lambda x: 2 * x, 1, 1)  # a ufunc that no pack serves

    @rrule.define(zlib.crc32)
    def crc32_rrule(data: bytes, value: int):
        return zlib.crc32(data, value), lambda dy: (NoTangent(),) * 3

    @rrule.define(double)
    def double_rrule(x: rc.Array):
        return double(x), lambda dy: (NoTangent(), 2 * dy)

    assert rrule(zlib.crc32, b"")[1](2.0) == (NoTangent(),) * 3
    assert rrule(double, np.zeros(1))[1](np.ones(1))[1] == 2.0
    assert rrule(double, 0.0) is None


def test_methods_have_the_instance_first_and_its_cotangent_as_dself():
    @rrule.define(Affine.scaled)
    def scaled_rrule(self, x, factor):
        def scaled_pullback(dy):
            return Tangent(Affine, slope=x * factor * dy), self.slope * factor * dy, 0.0

        return self.scaled(x, factor), scaled_pullback

    a = Affine(2.0)
    dself = Tangent(Affine, slope=3.0)
    assert rrule(a.scaled, 3.0)[1](1.0) == (dself, 2.0, 0.0)
    assert rrule(Affine.scaled, a, 3.0)[1](1.0) == (NoTangent(), dself, 2.0, 0.0)


def test_callable_instances():
    @rrule.define(Affine.__call__)
    def call_rrule(self, x):
        def call_pullback(dy):
            return Tangent(Affine, slope=x * dy), self.slope * dy

        return self(x), call_pullback

    @frule.define(Affine.__call__)
    def call_frule(tangents, self, x):
        dself, dx = tangents
        return self(x), dself.slope * x + self.slope * dx

    a = Affine(2.0)
    assert rrule(a, 3.0)[1](1.0) == (Tangent(Affine, slope=3.0), 2.0)
    assert frule((Tangent(Affine, slope=1.0), 1.0), a, 3.0) == (6.0, 5.0)
    unbound = (NoTangent(), Tangent(Affine, slope=1.0), 1.0)
    assert frule(unbound, Affine.__call__, a, 3.0) == (6.0, 5.0)


def test_static_methods_are_plain_functions():
    @rrule.define(Affine.square)
    def square_rrule(x):
        return x * x, lambda dy: (NoTangent(), 2 * x * dy)

    assert rrule(Affine.square, 3.0)[1](1.0) == (NoTangent(), 6.0)


def test_classmethods_get_the_class():
    @rrule.define(Affine.make)
    def make_rrule(cls, x):
        return cls(x), lambda dy: (NoTangent(), dy.slope)

    y, pullback = rrule(Affine.make, 3.0)
    assert y.slope == 3.0
    assert pullback(Tangent(Affine, slope=5.0)) == (NoTangent(), 5.0)


def test_a_class_is_the_key_of_its_constructor():
    @rrule.define(Affine)
    def affine_rrule(slope):
        return Affine(slope), lambda dy: (NoTangent(), dy.slope)

    assert rrule(Affine, 2.0)[1](Tangent(Affine, slope=7.0)) == (NoTangent(), 7.0)


def test_rules_do_not_leak_to_subclasses_constructors():
    @rrule.define(Affine)
    def affine_rrule(slope):
        return Affine(slope), None

    class Sub(Affine):
        pass

    assert rrule(Sub, 2.0) is None


def test_inherited_methods_share_the_rule_and_overrides_do_not():
    @rrule.define(Affine.scaled)
    def scaled_rrule(self, x, factor):
        return 1.0, lambda dy: (NoTangent(), 0.0, 0.0)

    class Heir(Affine):
        pass

    class Rebel(Affine):
        def scaled(self, x, factor=1.0):
            return 0.0

    assert rrule(Heir(1.0).scaled, 2.0)[0] == 1.0
    assert rrule(Rebel(1.0).scaled, 2.0) is None


def test_functools_wraps_does_not_hand_on_the_rule():
    define_power()

    @functools.wraps(power)
    def tripled(*args, **kw):
        return 3 * power(*args, **kw)

    assert rrule(tripled, 2.0) is None


def test_partial_is_unwrapped():
    define_power()
    by_name = functools.partial(power, p=3)
    y, pullback = rrule(by_name, 2.0)
    dself, dx = pullback(1.0)
    assert (y, dx) == (8.0, 12.0)
    assert dself.keywords["p"] == NoTangent()


def test_partial_keeps_the_cotangents_of_what_it_holds():
    def product(a, b, c=1.0):
        return a * b * c

    @rrule.define(product)
    def product_rrule(a, b, c):
        def product_pullback(dy):
            return NoTangent(), b * c * dy, a * c * dy, a * b * dy

        return product(a, b, c), product_pullback

    @frule.define(product)
    def product_frule(tangents, a, b, c):
        _, da, db, dc = tangents
        da, db, dc = (0.0 if isinstance(t, NoTangent) else t for t in (da, db, dc))
        return product(a, b, c), b * c * da + a * c * db + a * b * dc

    held = functools.partial(product, 2.0, c=5.0)
    y, pullback = rrule(held, 3.0)
    dself, db = pullback(1.0)
    assert (y, db) == (30.0, 10.0)
    assert dself.args[0] == 15.0
    assert dself.keywords["c"] == 6.0
    assert dself.func == NoTangent()
    tangent = Tangent(
        functools.partial,
        args=Tangent(tuple, 1.0),
        keywords=Tangent(dict, {"c": 1.0}),
    )
    assert frule((tangent, 1.0), held, 3.0) == (30.0, 15.0 + 10.0 + 6.0)


def test_partial_of_a_bound_method():
    @rrule.define(Affine.scaled)
    def scaled_rrule(self, x, factor):
        def scaled_pullback(dy):
            return Tangent(Affine, slope=7.0), 8.0, 9.0

        return self.scaled(x, factor), scaled_pullback

    dself, dfactor = rrule(functools.partial(Affine(1.0).scaled, 2.0), 3.0)[1](1.0)
    assert dself.func == Tangent(Affine, slope=7.0)
    assert dself.args[0] == 8.0
    assert dfactor == 9.0


def test_partial_of_a_method_called_through_its_class():
    @rrule.define(Affine.scaled)
    def scaled_rrule(self, x, factor):
        def scaled_pullback(dy):
            return Tangent(Affine, slope=7.0), 8.0, 9.0

        return self.scaled(x, factor), scaled_pullback

    held = functools.partial(Affine.scaled, Affine(1.0))
    dself, dx, dfactor = rrule(held, 2.0, 3.0)[1](1.0)
    assert dself.args[0] == Tangent(Affine, slope=7.0)
    assert (dx, dfactor) == (8.0, 9.0)


def test_needs_tells_which_arguments_are_wanted():
    seen = []

    @rrule.define(power)
    def power_rrule(x, p, *, needs):
        seen.append(needs)
        return power(x, p), None

    rrule(power, 2.0)
    rrule.resolve(power, (2.0,)).run(needs=(True, False))
    assert seen == [(True, True), (True, False)]


def test_a_rule_without_needs_is_served_all_the_same():
    define_power()
    y, _ = rrule.resolve(power, (2.0,)).run(needs=(False, False))
    assert y == 4.0


def test_keyword_only_arguments_are_passed_on():
    seen = []

    @rrule.define(power)
    def power_rrule(x, p, *, verbose=False):
        seen.append(verbose)
        return power(x, p), None

    rrule(power, 2.0, verbose=True)
    assert seen == [True]


def test_variadic_rules():
    def total(*xs):
        return sum(xs)

    @rrule.define(total)
    def total_rrule(*xs: float):
        return sum(xs), lambda dy: (NoTangent(), *(dy for _ in xs))

    assert rrule(total, 1.0, 2.0, 3.0)[1](1.0) == (NoTangent(), 1.0, 1.0, 1.0)
    assert rrule(total)[0] == 0
    assert rrule(total, 1.0, "a") is None


def test_resolve_describes_the_call():
    power_rrule, _ = define_power()
    call = rrule.resolve(power, (2.0,), {"verbose": True})
    assert call.rule.function is power_rrule
    assert call.args == (2.0, 2)
    assert call.kwargs == {"verbose": True}
    assert (call.bound, call.method, call.cotangent_count) == (False, False, 3)


def test_the_table_at_a_call_site_is_live():
    methods = rrule.table(power)
    assert methods[float, int] is None
    power_rrule, _ = define_power()
    assert methods[float, int].function is power_rrule


def test_redefinition_from_the_same_place_replaces():
    def define(value):
        @rrule.define(power)
        def again(x, p):
            return value, None

    define(1)
    define(2)
    assert rrule(power, 2.0)[0] == 2
    assert len([r for r in rc.rules() if r.key is power]) == 1


def test_rule_objects_and_entry_points_pickle():
    assert pickle.loads(pickle.dumps(rrule)) is rrule
    assert pickle.loads(pickle.dumps(frule)) is frule

    @rrule.define(zlib.crc32)
    def crc32_rrule(data, value):
        return 0, None

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
            return local(x), None

        rrule(local, 1.0)
        return weakref.ref(local)

    gone = make()
    gc.collect()
    assert gone() is None


def test_normal_form():
    assert rc.normal_form(power, (2.0,), {"verbose": 1}) == ((2.0, 2), {"verbose": 1})
    a = Affine(1.0)
    assert rc.normal_form(a.scaled, (3.0,), {}) == ((a, 3.0, 1.0), {})
    held = functools.partial(power, p=5)
    assert rc.normal_form(held, (2.0,), {}) == ((2.0, 5), {})


def test_warm_look_ups_see_what_is_registered_and_switched():
    """Whatever the path, the answer is the one that a cold look-up gives."""

    def ran(*args):
        found = rrule(power, *args)
        return None if found is None else found[0]

    def define(name, annotation):
        def rule(x: annotation, p):
            return name, None

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
    from rules_core._registry import _fixed

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


def test_both_are_functions_with_their_names_and_signatures():
    assert str(inspect.signature(rrule)).startswith("(f: 'Any', /, *args")
    assert inspect.getdoc(frule).startswith("`frule(tangents, f, *args, **kw)`")
    assert (rrule.__name__, frule.__name__) == ("rrule", "frule")
