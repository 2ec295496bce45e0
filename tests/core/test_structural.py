"""Tangents of containers: reading, algebra, and sums with primals."""

import collections
import copy
import functools
import pickle
import types
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rules_core import (
    AbstractTangent,
    MutableTangent,
    NoTangent,
    StructuralTangent,
    Tangent,
    UnsupportedError,
    ZeroTangent,
    backing,
    canonicalize,
    not_implemented,
    thunk,
    zero_tangent,
)

Z, D = ZeroTangent(), NoTangent()
N = not_implemented("why")


class Point(NamedTuple):
    x: float
    y: float


class Reserved(NamedTuple):
    conj: float
    T: float


@dataclass(frozen=True)
class Foo:
    x: object
    y: object = None


class Layer:
    def __init__(self, w, b=0.0):
        self.w, self.b = w, b


def never():
    pytest.fail("was forced")


class TestConstruction:
    def test_kinds(self):
        for t in (Tangent(tuple), Tangent(Foo), MutableTangent(Layer)):
            assert isinstance(t, StructuralTangent)
            assert isinstance(t, AbstractTangent)

    def test_fields_by_position(self):
        assert Tangent(Point, 1.0, 2.0) == Tangent(Point, x=1.0, y=2.0)
        assert Tangent(Foo, 1.0, 2.0) == Tangent(Foo, x=1.0, y=2.0)

    def test_any_field_name(self):
        fields = {"self": 1.0, "primal": 2.0, "items": 3.0, "_rank": 4.0, "a b": 5.0}
        t = Tangent(Layer, **fields)
        assert [getattr(t, name) for name in fields] == list(fields.values())

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (
                lambda: Tangent(tuple, x=1.0),
                "the tangent of tuple must be given entries, but got the fields x",
            ),
            (
                lambda: Tangent(Foo, 1.0, y=1.0),
                "the tangent of Foo must be given entries or fields, but got 1 entries "
                "and the fields y",
            ),
            (
                lambda: Tangent(Point, 1.0),
                "the tangent of Point must be given 2 entries (x, y), but got 1",
            ),
            (
                lambda: Tangent(dict, 1.0),
                "the tangent of dict must be given one mapping, but got something else",
            ),
            (
                lambda: Tangent((1.0, 2.0)),
                "Tangent must be given the class of the primal first, but got "
                "(1.0, 2.0)",
            ),
        ],
        ids=["fields", "both", "count", "mapping", "primal"],
    )
    def test_errors(self, make, message):
        with pytest.raises(TypeError) as caught:
            make()
        assert str(caught.value) == message


class TestReading:
    def test_a_tuple_s_tangent_reads_like_a_tuple(self):
        t = Tangent(tuple, 1.0, thunk(lambda: 2.0), Z)
        assert (t[0], t[1], t[2], t[-1]) == (1.0, 2.0, Z, Z)
        a, b, c = t
        assert (a, b, c) == (1.0, 2.0, Z)
        assert list(t) == [1.0, 2.0, Z]
        assert len(t) == 3
        assert 2.0 in t
        assert 3.0 not in t
        assert t[:2] == Tangent(tuple, 1.0, 2.0)
        assert list(reversed(t)) == [Z, 2.0, 1.0]
        with pytest.raises(IndexError):
            t[3]

    def test_a_field_is_unthunked(self):
        t = Tangent(Foo, x=thunk(lambda: 4.0))
        assert t.x == t["x"] == t[0] == 4.0

    def test_an_absent_field_is_zero(self):
        assert Tangent(Foo, x=1.4).y is Z
        assert Tangent(Point, y=1.4).x is Z
        assert Tangent(Layer, w=1.4).anything is Z
        assert Tangent(Foo, y=1.0)["x"] is Tangent(Foo, y=1.0)[0] is Z

    def test_an_unknown_field_is_an_error_where_fields_are_known(self):
        with pytest.raises(AttributeError) as caught:
            _ = Tangent(Point, y=1.0).z
        assert str(caught.value) == "Tangent(Point, …) has no field 'z': it has x, y"

    def test_a_tuple_has_no_attributes(self):
        with pytest.raises(AttributeError) as caught:
            _ = Tangent(tuple, 1.0).x
        assert str(caught.value) == "Tangent(tuple, …) has no attribute 'x'"

    def test_a_named_tuple_s_tangent_unpacks_in_order(self):
        x, y = Tangent(Point, y=2.0)
        assert (x, y) == (Z, 2.0)
        assert len(Tangent(Point, y=2.0)) == 2

    def test_a_dict_s_tangent_reads_like_a_dict(self):
        t = Tangent(dict, {"a": 1.0, "b": thunk(lambda: 2.0)})
        assert (t["a"], t["b"]) == (1.0, 2.0)
        assert list(t) == ["a", "b"]
        assert "a" in t
        assert "c" not in t
        assert len(t) == 2
        assert dict(t) == {"a": 1.0, "b": 2.0}
        assert list(t.values()) == [1.0, 2.0]
        assert list(t.keys()) == ["a", "b"]
        assert t.get("c", Z) is Z
        with pytest.raises(KeyError):
            t["c"]

    def test_a_field_wins_over_what_tangents_can_do(self):
        t = Tangent(Reserved, conj=2.0)
        assert t.conj == 2.0
        assert t.T is Z

    def test_backing_does_not_force(self):
        lazy = thunk(never)
        t = Tangent(Foo, x=lazy)
        assert backing(t) == {"x": lazy}
        assert "x" in t
        assert "y" not in t

    def test_dir_lists_fields(self):
        assert {"x", "y"} <= set(dir(Tangent(Foo, x=1.0, y=2.0)))

    def test_is_true(self):
        assert Tangent(tuple)
        assert Tangent(Foo)


class TestWriting:
    def test_a_tangent_cannot_be_changed(self):
        t = Tangent(Foo, x=1.0)
        with pytest.raises(AttributeError) as caught:
            t.x = 2.0
        message = "Tangent(Foo, …) cannot be changed: make a new Tangent"
        assert str(caught.value) == message

    def test_fields_of_a_mutable_tangent_are_set(self):
        t = MutableTangent(Layer, w=1.0)
        t.w, t.b = 2.0, 3.0
        assert (t.w, t.b) == (2.0, 3.0)
        assert t == MutableTangent(Layer, w=2.0, b=3.0)


class TestEquality:
    def test_by_entries(self):
        assert Tangent(Foo, x=0.1, y=2.5) == Tangent(Foo, y=2.5, x=0.1)
        assert Tangent(Foo, x=0.1) != Tangent(Foo, x=0.2)
        assert Tangent(tuple, 1.0) == Tangent(tuple, thunk(lambda: 1.0))
        assert Tangent(dict, {4: 3.0}) == Tangent(dict, {4: 3})

    def test_absent_is_zero(self):
        assert Tangent(Foo, y=2.5, x=Z) == Tangent(Foo, y=2.5)
        assert Tangent(Foo, y=2.5, x=0.0) != Tangent(Foo, y=2.5)

    def test_by_class(self):
        assert Tangent(tuple, 1.0) != Tangent(list, 1.0)
        assert Tangent(Layer, w=1.0) != MutableTangent(Layer, w=1.0)
        assert Tangent(tuple, 1.0) != (1.0,)

    def test_arrays(self, backend):
        a, b = backend.array([1.0, 2.0]), backend.array([1.0, 3.0])
        assert Tangent(tuple, a) == Tangent(tuple, a + 0)
        assert Tangent(tuple, a) != Tangent(tuple, b)
        assert Tangent(tuple, a) != Tangent(tuple, backend.array([1.0]))

    def test_hashes_agree_with_equality(self):
        x = np.ones(2)
        assert hash(Tangent(Foo, y=x)) == hash(Tangent(Foo, y=x.copy(), x=Z))
        assert len({Tangent(tuple, 1.0), Tangent(tuple, 1.0)}) == 1


class TestCopies:
    TANGENTS = (
        Tangent(tuple, 1.0, Z),
        Tangent(Point, y=1.0),
        Tangent(dict, {"a": Tangent(list, 2.0)}),
        MutableTangent(Layer, w=1.0),
    )

    @pytest.mark.parametrize("t", TANGENTS, ids=repr)
    def test_round_trips(self, t):
        for again in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
            assert again == t
            assert type(again) is type(t)
            assert again is not t

    def test_a_copy_of_a_mutable_tangent_is_its_own(self):
        t = MutableTangent(Layer, w=1.0)
        copy.copy(t).w = 2.0
        assert t.w == 1.0

    def test_cycles(self):
        t = MutableTangent(Layer, w=1.0)
        t.me = t
        for again in (copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
            assert again.me is again
            assert again.w == 1.0

    @pytest.mark.parametrize(
        ("t", "text"),
        [
            (Tangent(tuple, 1.0, 2.0), "Tangent(tuple, 1.0, 2.0)"),
            (Tangent(tuple), "Tangent(tuple)"),
            (Tangent(Point, y=Z), "Tangent(Point, y=ZeroTangent())"),
            (Tangent(dict, {"a": 1.0}), "Tangent(dict, {'a': 1.0})"),
            (MutableTangent(Layer, w=1.0), "MutableTangent(Layer, w=1.0)"),
        ],
        ids=str,
    )
    def test_repr(self, t, text):
        assert repr(t) == text

    def test_repr_of_a_cycle(self):
        t = MutableTangent(Layer, w=1.0)
        t.me = t
        assert repr(t) == "MutableTangent(Layer, w=1.0, me=...)"


class TestCanonicalize:
    def test_completes_and_orders_fields(self):
        t = canonicalize(Tangent(Foo, y=10))
        assert list(backing(t).items()) == [("x", Z), ("y", 10)]
        assert canonicalize(t) == t

    @pytest.mark.parametrize(
        "t",
        [
            Tangent(tuple, 2.0),
            Tangent(dict, {4: 3}),
            MutableTangent(Layer, w=1.0),
            Tangent(object, a=1, b=2),
        ],
        ids=repr,
    )
    def test_leaves_the_others_alone(self, t):
        assert canonicalize(t) is t

    def test_unknown_fields_are_errors(self):
        with pytest.raises(TypeError) as caught:
            canonicalize(Tangent(Foo, q=99.0, x=2.5))
        assert str(caught.value) == (
            "the fields of Tangent(Foo, …) must be among x, y, but got q"
        )


class TestSums:
    def test_fields(self):
        assert Tangent(Foo, x=1.5) + Tangent(Foo, x=2.5) == Tangent(Foo, x=4.0)
        both = Tangent(Foo, x=2.5, y=1.5)
        assert Tangent(Foo, y=1.5) + Tangent(Foo, x=2.5) == both
        assert both - Tangent(Foo, x=1.0) == Tangent(Foo, x=1.5, y=1.5)

    def test_entries(self):
        a, b = Tangent(tuple, 1.0, 2.0), Tangent(tuple, 1.0, 1.0)
        assert a + b == Tangent(tuple, 2.0, 3.0)
        assert a - b == Tangent(tuple, 0.0, 1.0)
        assert Tangent(tuple) + Tangent(tuple) == Tangent(tuple)

    def test_dicts_are_merged(self):
        a, b = Tangent(dict, {4: 3.0, 3: 2.0}), Tangent(dict, {4: 3.0, 2: 2.0})
        assert a + b == Tangent(dict, {4: 6.0, 3: 2.0, 2: 2.0})

    def test_mutable_tangents_are_not_written_to(self):
        a, b = MutableTangent(Layer, w=1.5), MutableTangent(Layer, w=0.5, b=1.0)
        assert a + b == MutableTangent(Layer, w=2.0, b=1.0)
        assert a - b == MutableTangent(Layer, w=1.0, b=-1.0)
        assert (a, b) == (
            MutableTangent(Layer, w=1.5),
            MutableTangent(Layer, w=0.5, b=1.0),
        )

    def test_not_implemented_fields_win(self):
        a, b = Tangent(tuple, 1.5), Tangent(tuple, N)
        assert (a + b)[0] is (b + a)[0] is (b + b)[0] is N

    def test_untouched_thunks_stay_lazy(self):
        total = Tangent(Foo, x=thunk(never)) + Tangent(Foo, y=1.0)
        assert total.y == 1.0

    def test_nested(self):
        a = Tangent(tuple, Tangent(dict, {"a": 1.0}), 2.0)
        assert (a + a)[0]["a"] == 2.0

    def test_cycles(self):
        t = MutableTangent(Layer, w=1.0)
        t.me = t
        double = t + t
        assert double.w == 2.0
        assert double.me is double
        assert (-t).me.w == -1.0
        assert (3.0 * t).me.me.w == 3.0

    @pytest.mark.parametrize(
        ("a", "b", "message"),
        [
            (
                Tangent(tuple, 1.0),
                Tangent(list, 1.0),
                "only tangents of the same class can be added, but got "
                "Tangent(tuple, …) and Tangent(list, …)",
            ),
            (
                Tangent(tuple, 1.0),
                Tangent(tuple, 1.0, 2.0),
                "two tangents Tangent(tuple, …) must have equally many entries to be "
                "added, but got 1 and 2",
            ),
        ],
        ids=["class", "count"],
    )
    def test_errors(self, a, b, message):
        with pytest.raises(TypeError) as caught:
            a + b
        assert str(caught.value) == message


class TestScaling:
    @pytest.mark.parametrize("two", [2, 2.0, 2 + 0j, np.float32(2), np.array(2.0)])
    def test_by_numbers(self, two):
        t = Tangent(Foo, x=1.5, y=Tangent(tuple, 2.5))
        double = Tangent(Foo, x=3.0, y=Tangent(tuple, 5.0))
        assert two * t == t * two == double
        assert double / two == t

    def test_by_scalar_arrays(self, backend):
        t = Tangent(tuple, backend.array([1.0, 2.0]))
        double = Tangent(tuple, backend.array([2.0, 4.0]))
        assert t * backend.array(2.0) == double
        if backend.name != "array_api_strict":
            assert backend.array(2.0) * t == double

    def test_keeps_zeros_and_not_implemented(self):
        t = 2.0 * Tangent(tuple, Z, D, N)
        assert t[0] is Z
        assert t[1] is D
        assert t[2] is N

    def test_negation(self):
        assert -Tangent(Foo, x=1.0, y=-2.0) == Tangent(Foo, x=-1.0, y=2.0)

    def test_conjugation(self):
        conjugate = Tangent(Foo, x=2 - 3j)
        assert Tangent(Foo, x=2 + 3j).conj() == conjugate
        assert Tangent(Foo, x=thunk(lambda: 2 + 3j)).conjugate() == conjugate
        assert Tangent(tuple, 1j).conj() == Tangent(tuple, -1j)
        assert Tangent(dict, {"a": 1j}).conj() == Tangent(dict, {"a": -1j})
        assert np.conj(Tangent(tuple, 1j)) == Tangent(tuple, -1j)

    @pytest.mark.parametrize("other", [np.ones(2), [1, 2], "a", Tangent(Foo, x=1.0)])
    def test_only_by_numbers(self, other):
        t = Tangent(Foo, x=2.5)
        with pytest.raises(TypeError):
            t * other
        with pytest.raises(TypeError):
            other * t
        with pytest.raises(TypeError):
            t / other
        with pytest.raises(TypeError):
            other / t
        with pytest.raises(TypeError):
            t @ t


class TestSumsWithPrimals:
    def test_tuples_lists_and_dicts(self):
        t = Tangent(tuple, 1.0, D)
        assert (1.0, "a") + t == t + (1.0, "a") == (2.0, "a")  # noqa: RUF005
        dl = Tangent(list, 1.0)
        assert dl + [1.0] == [1.0] + dl == [2.0]  # noqa: RUF005
        d = {4: 3.0, 3: 2.0}
        assert d + Tangent(dict, {4: 5.0}) == {4: 8.0, 3: 2.0}
        assert d == {4: 3.0, 3: 2.0}

    def test_named_tuples_and_dataclasses(self):
        assert Point(1.0, 2.0) + Tangent(Point, y=1.0) == Point(1.0, 3.0)
        assert Foo(3.5, 1.5) + Tangent(Foo, x=2.5) == Foo(6.0, 1.5)
        assert Tangent(Foo, x=2.5) + Foo(3.5, 1.5) == Foo(6.0, 1.5)

    def test_nested(self):
        x = Foo([np.ones(2), "a"], {"b": 1.0})
        dx = Tangent(Foo, x=Tangent(list, np.ones(2), D), y=Tangent(dict, {"b": 2.0}))
        moved = x + dx
        assert moved.x[0].tolist() == [2.0, 2.0]
        assert moved.y == {"b": 3.0}
        assert x.x[0].tolist() == [1.0, 1.0]

    def test_instances_are_copied(self):
        layer = Layer(1.0)
        moved = layer + MutableTangent(Layer, w=2.0)
        assert (moved.w, moved.b, layer.w) == (3.0, 0.0, 1.0)

    def test_cycles_and_shared_instances(self):
        a = Layer(1.0)
        b = Layer(a, a)
        a.owner = b
        da = MutableTangent(Layer, w=10.0)
        db = MutableTangent(Layer, w=da, b=da)
        da.owner = db
        moved = b + db
        assert moved.w is moved.b
        assert moved.w.owner is moved
        assert moved.w.w == 11.0
        assert a.w == 1.0

    def test_functions_partials_and_methods(self):
        w = 2.0

        def scale(x):
            return w * x

        dw = Tangent(types.FunctionType, w=1.0)
        assert (scale + dw)(5.0) == 15.0
        partial = functools.partial(pow, 2.0)
        dp = Tangent(functools.partial, args=Tangent(tuple, 1.0))
        assert (partial + dp)(2) == 9.0

    def test_deques(self):
        x = collections.deque([1.0, 2.0])
        assert x + Tangent(collections.deque, 1.0, 1.0) == collections.deque([2.0, 3.0])

    @pytest.mark.parametrize(
        ("x", "dx", "message"),
        [
            (
                (1.0,),
                Tangent(tuple, 1.0, 2.0),
                "Tangent(tuple, …) must have the entries of the primal that it is "
                "added to, [0], but got [0, 1]",
            ),
            (
                Layer(1.0),
                MutableTangent(Layer, q=1.0),
                "MutableTangent(Layer, …) must have the entries of the primal that it "
                "is added to, ['w', 'b'], but got ['q']",
            ),
        ],
        ids=["count", "name"],
    )
    def test_wrong_entries(self, x, dx, message):
        with pytest.raises(TypeError) as caught:
            x + dx
        assert str(caught.value) == message

    def test_another_primal(self):
        with pytest.raises(TypeError, match="unsupported operand"):
            Foo(1.0) + Tangent(Point, x=1.0)

    def test_a_class_that_cannot_be_built(self):
        class Pair(tuple):
            def __new__(cls, a, b):
                return super().__new__(cls, (a, b))

        with pytest.raises(UnsupportedError) as caught:
            Pair(1.0, 2.0) + Tangent(Pair, 1.0, 1.0)
        assert str(caught.value).startswith(
            f"a {Pair.__qualname__} must be built from its 2 entries after adding a "
            "tangent, but that raised TypeError("
        )


FLOATS = st.floats(-1e3, 1e3)
TANGENTS = st.recursive(
    FLOATS,
    lambda inner: st.one_of(
        st.builds(lambda a, b: Tangent(tuple, a, b), inner, inner),
        st.builds(lambda a, b: Tangent(Point, x=a, y=b), inner, inner),
        st.builds(lambda a: Tangent(dict, {"a": a}), inner),
        st.builds(lambda a: MutableTangent(Layer, w=a), inner),
    ),
    max_leaves=6,
)


def zero_like(t):
    return 0.0 * t


class TestVectorSpace:
    """Structural tangents are vectors whatever their shape."""

    @given(TANGENTS, FLOATS)
    def test_zero_and_scaling(self, t, s):
        assert t + Z is t
        assert t + zero_like(t) == t
        assert 2.0 * t == t + t
        assert t - t == zero_like(t)
        assert (-t).__neg__() == t
        assert s * t == t * s

    @given(TANGENTS)
    def test_zero_tangent_of_a_tangent(self, t):
        assert zero_tangent(t) == zero_like(t)
        assert zero_tangent(zero_tangent(t)) == zero_tangent(t)
