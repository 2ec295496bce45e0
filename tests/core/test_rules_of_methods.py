"""Rules of builtins, methods, instances, classes and partials."""

import functools
import zlib

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, Tangent, frule, rrule
from tests.core.calls import Affine, define_power, power


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
    assert rrule(double, 0.0)[1](1.0)[1] == 2.0  # no rule for numbers exists
    assert rrule(double, "text") is None


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


def local_class(first):
    """A class that cannot be reached by name; its method calls the instance `first`."""
    scope = {}
    text = f"""
def make():
    class Local:
        w = 3.0
        def scaled({first}, x): return {first}.w * x
        @staticmethod
        def doubled(x): return 2.0 * x
    return Local
"""
    exec(text, {"__name__": __name__}, scope)
    return scope["make"]()


@pytest.mark.parametrize("first", ["self", "this", "me", "x_", "_"])
def test_methods_are_known_by_their_place_not_by_a_name(first):
    cls = local_class(first)

    @rrule.define(cls.scaled)
    def scaled_rrule(own, x):
        return own.w * x, lambda dy: ("dself", own.w * dy)

    @rrule.define(cls.doubled)
    def doubled_rrule(x):
        return 2.0 * x, lambda dy: (NoTangent(), 2.0 * dy)

    instance = cls()
    assert rrule(instance.scaled, 2.0)[1](1.0) == ("dself", 3.0)
    assert rrule(cls.scaled, instance, 2.0)[1](1.0) == (NoTangent(), "dself", 3.0)
    for f in (cls.doubled, instance.doubled):
        assert rrule(f, 2.0)[1](1.0) == (NoTangent(), 2.0)


def test_a_function_in_a_dict_or_an_instance_is_no_method():
    def free(x):
        return x

    held = {"free": free, "other": free}
    instance = Affine(2.0)
    instance.free = free
    rrule.define(free)(lambda x: (x, lambda dy: (NoTangent(), dy)))
    assert rrule(held["free"], 1.0)[1](1.0) == (NoTangent(), 1.0)
    assert rrule(instance.free, 1.0)[1](1.0) == (NoTangent(), 1.0)
