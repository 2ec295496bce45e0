"""`primitive`: handles, flags, host look-up, pickling; side rules."""

import copy
import dataclasses
import gc
import math
import pickle
import weakref

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, ShapeDtype, batch_rule, primitive, rrule, shape_rule
from rules_core._primitives.find_host import _hosts, find_adapter
from rules_core.testing import isolated_rules


@primitive(static_argnames="mode")
def module_level(x, mode="a"):
    """Doc of the function."""
    return x


def plain(x, k=2):
    return k * x


class Toy:
    """An array of a host that exists only here."""

    def __init__(self, value):
        self.value = value


class Other(Toy):
    pass


class ToyAdapter:
    name = "toy"

    def call(self, handle, args, kwargs):
        return ("toy", handle, args, kwargs)

    def stop_gradient(self, x):
        return Toy(x.value)


class OtherAdapter(ToyAdapter):
    name = "other"


@pytest.fixture
def hosts(monkeypatch):
    toy, other = ToyAdapter(), OtherAdapter()
    monkeypatch.setitem(_hosts, Toy, toy)
    monkeypatch.setitem(_hosts, Other, other)
    return toy, other


def test_it_is_the_function_where_no_host_is_met():
    double = primitive(plain)
    assert double(3.0) == 6.0
    np.testing.assert_array_equal(double(np.ones(2), k=3), [3.0, 3.0])


def test_it_looks_like_the_function():
    assert module_level.__name__ == "module_level"
    assert module_level.__doc__ == "Doc of the function."
    assert module_level.__module__ == __name__
    assert repr(module_level) == (
        "<primitive module_level, static_argnames=frozenset({'mode'})>"
    )


def test_one_handle_per_function():
    assert primitive(plain) is primitive(plain)
    assert primitive(primitive(plain)) is primitive(plain)


def test_conflicting_flags_raise():
    primitive(plain, host=True)
    assert primitive(plain).host
    with pytest.raises(rc.PrimitiveError) as caught:
        primitive(plain, host=False)
    assert str(caught.value) == (
        "primitive plain was made with host=True, but is now asked for with "
        "host=False. Declare it once, with all its flags."
    )
    with pytest.raises(rc.PrimitiveError, match="elementwise=True"):
        primitive(primitive(plain), elementwise=True)


def test_what_is_not_callable_is_refused():
    with pytest.raises(rc.RuleDefinitionError) as caught:
        primitive(3)
    assert str(caught.value) == "primitive must wrap a callable, but got 3."


@pytest.mark.parametrize("kind", [staticmethod, classmethod])
def test_decorators_of_classes_stand_above(kind):
    with pytest.raises(rc.RuleDefinitionError) as caught:
        primitive(kind(plain))
    assert str(caught.value) == (
        f"primitive must wrap the function of plain, but got the {kind.__name__}. "
        f"Write @{kind.__name__} above @primitive."
    )


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("mode", "must be among its arguments (k, x), but got mode."),
        (("k", "b", "a"), "must be among its arguments (k, x), but got a, b."),
        (1, "must be names of arguments, but got 1."),
        ((0,), "must be names of arguments, but got 0."),
    ],
    ids=["unknown", "two unknown", "number", "position"],
)
def test_static_arguments_that_there_are_not(names, text):
    for make in (primitive, rc.Primitive, rc.as_primitive):
        with pytest.raises(rc.RuleDefinitionError) as caught:
            make(plain, static_argnames=names)
        assert str(caught.value).endswith(f"static_argnames {text}")


def test_static_arguments_of_functions_that_take_any():
    def anything(x, **kw):
        return x

    assert primitive(anything, static_argnames="mode").static_argnames == {"mode"}
    assert primitive(math.hypot, static_argnames="z").static_argnames == {"z"}


def test_the_rule_key_is_the_function():
    double = primitive(plain)

    @rrule.define(double)
    def double_rrule(x, k):
        return double(x, k), lambda dy: (NoTangent(), k * dy, x * dy)

    assert rrule(double, 3.0)[1](1.0) == (NoTangent(), 2, 3.0)
    assert rrule(plain, 3.0)[1](1.0) == (NoTangent(), 2, 3.0)


def test_a_host_array_reaches_its_adapter(hosts):
    double = primitive(plain)
    x = Toy(1.0)
    assert double(x, k=3) == ("toy", double, (x,), {"k": 3})


@dataclasses.dataclass
class Pair:
    a: object
    b: object


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x: [1, x],
        lambda x: {"a": (x,)},
        lambda x: Pair(1, x),
        lambda x: lambda: x,
        lambda x: [x, x],
    ],
    ids=["list", "nested", "dataclass", "closure", "twice"],
)
def test_hosts_are_found_inside_containers_and_closures(hosts, wrap):
    toy = hosts[0]
    assert find_adapter((1, wrap(Toy(1.0))), {}) is toy
    assert find_adapter((), {"y": wrap(Toy(1.0))}) is toy
    assert find_adapter((1, wrap(2.0)), {}) is None


def test_cycles_end():
    pair = Pair(1, 2)
    pair.b = pair
    assert find_adapter((pair,), {}) is None


def test_two_hosts_in_one_call_raise(hosts):
    with pytest.raises(rc.MixedHostsError) as caught:
        primitive(plain)(Toy(1.0), [Other(1.0)])
    assert str(caught.value) == (
        "arrays of two frameworks, other and toy, are arguments of one "
        "primitive. Convert one of them before the call."
    )


def test_methods():
    class Layer:
        def __init__(self, scale):
            self.scale = scale

        @primitive
        def apply(self, x):
            return self.scale * x

    @rrule.define(Layer.apply)
    def apply_rrule(self, x):
        def apply_pullback(dy):
            return rc.Tangent(Layer, scale=x * dy), self.scale * dy

        return self.apply(x), apply_pullback

    layer = Layer(2.0)
    assert layer.apply(3.0) == 6.0
    dself = rc.Tangent(Layer, scale=3.0)
    assert rrule(layer.apply, 3.0)[1](1.0) == (dself, 2.0)
    assert rrule(Layer.apply, layer, 3.0)[1](1.0) == (NoTangent(), dself, 2.0)


def test_pickling_and_copying():
    assert pickle.loads(pickle.dumps(module_level)) is module_level
    handle = primitive(math.erf, host=True, elementwise=True)
    assert pickle.loads(pickle.dumps(handle)) is handle
    loose = rc.Primitive(math.gamma, host=True)
    again = pickle.loads(pickle.dumps(loose))
    assert again.fun is math.gamma
    assert again.flags == loose.flags
    assert copy.deepcopy(module_level) is module_level
    assert copy.copy(module_level) is module_level


def test_rules_of_a_decorated_function_pickle():
    with isolated_rules():
        rc.rrule.define(module_level)(lambda x, mode: (x, None))
        (rule,) = (rule for rule in rc.rules() if rule.key is module_level.fun)
        assert pickle.loads(pickle.dumps(rule)) is rule


def test_fresh_primitives_are_collected():
    def make():
        @primitive
        def local(x):
            return local(x)

        @rrule.define(local)
        def local_rrule(x):
            return local(x), None

        return weakref.ref(local)

    references = [make() for _ in range(20)]
    gc.collect()
    assert [r() for r in references] == [None] * 20


def test_as_primitive_registers_nothing():
    loose = rc.as_primitive(plain, host=True)
    assert loose.host
    assert primitive(plain) is not loose
    handle = primitive(plain)
    assert rc.as_primitive(plain) is handle
    assert rc.as_primitive(handle) is handle
    with pytest.raises(rc.PrimitiveError):
        rc.as_primitive(plain, host=True)


class TestElementwise:
    handle = rc.Primitive(math.hypot, host=True, elementwise=True)

    @pytest.mark.parametrize(
        ("dtypes", "expected"),
        [
            (("float32", "int64"), "float32"),
            (("float32", "float64"), "float64"),
            (("int32", "int64"), "float64"),
            (("float32", "complex64"), "complex64"),
        ],
        ids=["integers do not widen", "widest float", "integers", "complex"],
    )
    def test_dtype(self, dtypes, expected):
        specs = [ShapeDtype((2,), np.dtype(d)) for d in dtypes]
        assert self.handle.shape_rule(*specs) == ShapeDtype((2,), np.dtype(expected))

    def test_shapes_broadcast(self):
        a = ShapeDtype((2, 1), np.dtype("float32"))
        b = ShapeDtype((3,), np.dtype("float32"))
        assert self.handle.shape_rule(a, b).shape == (2, 3)
        assert self.handle.shape_rule(a, 1.0).dtype == np.float32
        assert self.handle.shape_rule(a, 1j).dtype == np.complex64

    def test_a_whole_batch_is_one_call(self):
        calls = []

        def add(x, y):
            calls.append(1)
            return x + y

        handle = rc.Primitive(add, host=True, elementwise=True)
        x, y = np.arange(8.0).reshape(4, 2), np.arange(4.0)
        out, batched = handle.batch_rule(4, (True, True), x, y)
        np.testing.assert_array_equal(out, x + y[:, None])
        out, _ = handle.batch_rule(4, (True, False), y, np.ones(3))
        assert out.shape == (4, 3)
        assert (batched, len(calls)) == (True, 2)

    def test_ufuncs_with_several_outputs(self):
        handle = rc.Primitive(np.frexp, host=True, elementwise=True)
        assert len(handle.shape_rule(ShapeDtype((2,), np.dtype("float64")))) == 2
        assert handle.batch_rule(2, (True,), np.ones((2, 3)))[1] == (True, True)

    def test_the_rule_objects_are_stable(self):
        assert self.handle.shape_rule is self.handle.shape_rule
        assert self.handle.batch_rule is self.handle.batch_rule


def test_side_rules():
    handle = primitive(plain, host=True)
    assert handle.shape_rule is None
    assert handle.batch_rule is None

    @shape_rule.define(handle)
    def plain_shape(x, k):
        return x

    @batch_rule.define(plain)
    def plain_batch(size, batched, x, k):
        return k * x, True

    assert handle.shape_rule is plain_shape
    assert handle.batch_rule is plain_batch
    kinds = {rule.kind for rule in rc.rules() if rule.key is plain}
    assert kinds == {"shape_rule", "batch_rule"}
    with pytest.raises(rc.RuleClashError, match="shape_rule for plain"):

        @shape_rule.define(plain)
        def another(x, k):
            return x
