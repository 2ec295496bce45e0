"""Structural tangents form a vector space, and move their primals."""

import collections
import functools
import types

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rules_core import (
    MutableTangent,
    NoTangent,
    Tangent,
    UnsupportedError,
    ZeroTangent,
    backing,
    canonicalize,
    not_implemented,
    thunk,
    zero_tangent,
)
from tests.core.primals import Affine, Foo, Point, never

Z, D = ZeroTangent(), NoTangent()


N = not_implemented("why")


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
            MutableTangent(Affine, w=1.0),
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
        a, b = MutableTangent(Affine, w=1.5), MutableTangent(Affine, w=0.5, b=1.0)
        assert a + b == MutableTangent(Affine, w=2.0, b=1.0)
        assert a - b == MutableTangent(Affine, w=1.0, b=-1.0)
        assert (a, b) == (
            MutableTangent(Affine, w=1.5),
            MutableTangent(Affine, w=0.5, b=1.0),
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
        t = MutableTangent(Affine, w=1.0)
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
        assert (1.0, "a") + t == t + (1.0, "a") == (2.0, "a")  # noqa: RUF005  the sum itself
        dl = Tangent(list, 1.0)
        assert dl + [1.0] == [1.0] + dl == [2.0]  # noqa: RUF005  the sum itself
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
        layer = Affine(1.0)
        moved = layer + MutableTangent(Affine, w=2.0)
        assert (moved.w, moved.b, layer.w) == (3.0, 0.0, 1.0)

    def test_cycles_and_shared_instances(self):
        a = Affine(1.0)
        b = Affine(a, a)
        a.owner = b
        da = MutableTangent(Affine, w=10.0)
        db = MutableTangent(Affine, w=da, b=da)
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
                Affine(1.0),
                MutableTangent(Affine, q=1.0),
                "MutableTangent(Affine, …) must have the entries of the primal that it "
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
        st.builds(lambda a: MutableTangent(Affine, w=a), inner),
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
