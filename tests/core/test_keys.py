"""Keys of every kind: how a callable is given, and where its rules are found."""

import functools
import operator

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, Tangent, frule, rrule
from rules_core.testing import isolated_rules


class Scale:
    def __init__(self, factor=2.0):
        self.factor = factor

    @rc.primitive
    def __call__(self, x):
        return self.factor * x

    @functools.lru_cache  # noqa: B019  the kind of key under test
    def cached(self, x):
        return self.factor * x

    def plain(self, x):
        return self.factor * x

    later = functools.partialmethod(plain, 3.0)


class Static:
    @staticmethod
    def __call__(x):
        return 2 * x


class OfClass:
    @classmethod
    def __call__(cls, x):
        return 2 * x


def double(x):
    return 2 * x


def free(scale, x):
    return scale.factor * x


def define(key, count):
    """A rule whose cotangents are numbered."""

    @rrule.define(key)
    def numbered_rrule(*args):
        return args, lambda dy: tuple(range(count))


def ran(f, *args):
    found = rrule(f, *args)
    return None if found is None else found[1](1.0)


def test_a_ufunc_method_is_a_key_of_its_own():
    define(np.add.reduce, 2)
    assert ran(np.add.reduce, np.ones(3)) == (0, 1)
    assert rrule.resolve(np.add.reduce, (1,)).rule.target == "add.reduce"
    assert rrule.resolve(np.hypot.at, (np.ones(3), 0, 1.0)) is None


def test_the_methods_of_all_ufuncs_have_the_ufunc_for_instance():
    define(np.ufunc.at, 4)
    assert rrule(np.hypot.at, np.ones(3), 0, 1.0)[0][0] is np.hypot
    assert ran(np.add.at, np.ones(3), 0, 1.0) == (0, 1, 2, 3)


def test_methods_written_in_c():
    define(complex.__add__, 2)
    assert ran((1j).__add__, 2j) == (0, 1)
    assert ran(complex.__add__, 1j, 2j) == (NoTangent(), 0, 1)
    define(str.join, 2)
    assert ran("".join, ["a"]) == (0, 1)


def test_the_call_of_a_class_written_in_c():
    assert rrule(operator.itemgetter(1), [1, 2]) is None
    define(operator.itemgetter.__call__, 2)
    assert ran(operator.itemgetter(1), [1, 2]) == (0, 1)


def test_the_call_of_a_class_may_be_a_primitive():
    define(Scale.__call__, 2)
    assert ran(Scale(), 3.0) == (0, 1)
    assert ran(Scale.__call__, Scale(), 3.0) == (NoTangent(), 0, 1)


@pytest.mark.parametrize("cls", [Static, OfClass])
def test_the_call_of_a_class_may_be_bound_to_something_else(cls):
    define(cls.__call__, 2)
    assert ran(cls(), 3.0) == (0, 1)


def test_a_primitive_method_may_be_given_bound():
    define(Scale().__call__, 2)
    assert ran(Scale(), 3.0) == (0, 1)


def test_decorated_methods():
    define(Scale.cached, 2)
    assert ran(Scale().cached, 3.0) == (0, 1)
    assert ran(Scale.cached, Scale(), 3.0) == (NoTangent(), 0, 1)


def test_a_decorated_function_is_a_key_of_its_own():
    cached = functools.lru_cache(double)
    define(double, 2)
    assert ran(cached, 1.0) is None
    define(cached, 2)
    assert ran(cached, 1.0) == (0, 1)


def test_partialmethod_is_unwrapped():
    define(Scale.plain, 2)
    (dself,) = ran(Scale().later)
    assert dself.func == 0
    assert dself.args[0] == 1


def test_a_function_that_serves_as_a_method(monkeypatch):
    """It is no method for its rule; the instance has the place of the callable."""
    monkeypatch.setattr(Scale, "late", free, raising=False)

    @rrule.define(free)
    def free_rrule(scale, x):
        return free(scale, x), lambda dy: (NoTangent(), "dscale", "dx")

    @frule.define(free)
    def free_frule(tangents, scale, x):
        return free(scale, x), tangents

    assert ran(free, Scale(), 3.0) == (NoTangent(), "dscale", "dx")
    assert ran(Scale().late, 3.0) == ("dscale", "dx")
    dself = Tangent(Scale, factor=5.0)
    for f, tangents in [
        (Scale().late, (dself, 1.0)),
        (
            functools.partial(Scale().late),
            (Tangent(functools.partial, func=dself), 1.0),
        ),
    ]:
        head, dscale, dx = frule(tangents, f, 3.0)[1]
        assert (head, dscale.factor, dx) == (NoTangent(), 5.0, 1.0)


def nested_partials():
    """Python joins partials of partials, but not those that have attributes."""

    def product(a, b, c=1.0, d=1.0):
        return a * b * c * d

    inner = functools.partial(product, 2.0, c=5.0)
    inner.note = "kept apart"
    outer = functools.partial(inner, 3.0, d=7.0)
    assert outer.func is inner
    return product, outer


def test_partials_of_partials():
    product, outer = nested_partials()
    define(product, 5)
    assert rc.normal_form(outer, (), {}) == ((2.0, 3.0, 5.0, 7.0), {})
    (dself,) = ran(outer)
    assert (dself.args[0], dself.keywords["d"]) == (2, 4)
    assert (dself.func.args[0], dself.func.keywords["c"]) == (1, 3)
    assert dself.func.func == 0


def test_tangents_of_partials_of_partials():
    product, outer = nested_partials()

    @frule.define(product)
    def product_frule(tangents, a, b, c, d):
        return product(a, b, c, d), tangents

    partial = functools.partial
    inside = Tangent(partial, args=Tangent(tuple, 10.0))
    tangent = Tangent(partial, func=inside, keywords=Tangent(dict, {"d": 40.0}))
    assert frule((tangent,), outer)[1] == (NoTangent(), 10.0, 0.0, 0.0, 40.0)
    assert frule((NoTangent(),), outer)[1] == (NoTangent(), 0.0, 0.0, 0.0, 0.0)


def test_a_key_without_rules_hides_no_other():
    def whole_rrule(ufunc: np.ufunc, *args):
        return ufunc.reduce(*args), lambda dy: None

    with isolated_rules():
        rrule.define(np.multiply.reduce)(lambda x, *rest: (0.0, abs))
        assert rrule(np.multiply.reduce, np.ones(3))[0] == 0.0
    rrule.define(np.ufunc.reduce)(whole_rrule)
    assert rrule(np.multiply.reduce, np.full(3, 2.0))[0] == 8.0
