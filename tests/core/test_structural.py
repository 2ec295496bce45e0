"""Structural tangents: made, read, written, compared, copied."""

import copy
import functools
import pickle
from typing import NamedTuple

import numpy as np
import pytest

from rules_core import (
    AbstractTangent,
    MutableTangent,
    NoTangent,
    StructuralTangent,
    Tangent,
    ZeroTangent,
    backing,
    thunk,
    zero_tangent,
)
from tests.core.primals import Affine, Foo, Point, never

Z, D = ZeroTangent(), NoTangent()


class Reserved(NamedTuple):
    conj: float
    T: float


class TestConstruction:
    def test_kinds(self):
        for t in (Tangent(tuple), Tangent(Foo), MutableTangent(Affine)):
            assert isinstance(t, StructuralTangent)
            assert isinstance(t, AbstractTangent)

    def test_fields_by_position(self):
        assert Tangent(Point, 1.0, 2.0) == Tangent(Point, x=1.0, y=2.0)
        assert Tangent(Foo, 1.0, 2.0) == Tangent(Foo, x=1.0, y=2.0)

    def test_any_field_name(self):
        fields = {"self": 1.0, "primal": 2.0, "items": 3.0, "_rank": 4.0, "a b": 5.0}
        t = Tangent(Affine, **fields)
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
        assert Tangent(Affine, w=1.4).anything is Z
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
        t = MutableTangent(Affine, w=1.0)
        t.w, t.b = 2.0, 3.0
        assert (t.w, t.b) == (2.0, 3.0)
        assert t == MutableTangent(Affine, w=2.0, b=3.0)


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
        assert Tangent(Affine, w=1.0) != MutableTangent(Affine, w=1.0)
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
        MutableTangent(Affine, w=1.0),
    )

    @pytest.mark.parametrize("t", TANGENTS, ids=repr)
    def test_round_trips(self, t):
        for again in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
            assert again == t
            assert type(again) is type(t)
            assert again is not t

    def test_a_copy_of_a_mutable_tangent_is_its_own(self):
        t = MutableTangent(Affine, w=1.0)
        copy.copy(t).w = 2.0
        assert t.w == 1.0

    def test_cycles(self):
        t = MutableTangent(Affine, w=1.0)
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
            (MutableTangent(Affine, w=1.0), "MutableTangent(Affine, w=1.0)"),
        ],
        ids=str,
    )
    def test_repr(self, t, text):
        assert repr(t) == text

    def test_repr_of_a_cycle(self):
        t = MutableTangent(Affine, w=1.0)
        t.me = t
        assert repr(t) == "MutableTangent(Affine, w=1.0, me=...)"


class Computed:
    __slots__ = ("__dict__", "_loc", "kept")
    constant = 3.0

    @property
    def loc(self):
        return self._loc

    @functools.cached_property
    def cached(self):
        return self._loc

    def method(self):
        return self._loc

    @staticmethod
    def static():
        return 1.0

    @classmethod
    def of_class(cls):
        return 1.0


class Answering:
    def __init__(self):
        self.parameters = {"weight": 1.0}

    def __getattr__(self, name):
        return self.parameters[name]


class TestComputedNames:
    """What a class computes is no field: a zero would be wrong without a word."""

    TANGENTS = (MutableTangent(Computed, _loc=1.0), Tangent(Computed, _loc=1.0))

    @pytest.mark.parametrize("tangent", TANGENTS, ids=["mutable", "frozen"])
    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("loc", "property"),
            ("cached", "cached_property"),
            ("method", "function"),
            ("static", "staticmethod"),
            ("of_class", "classmethod"),
        ],
    )
    def test_descriptors(self, tangent, name, kind):
        message = f"no field '{name}': it is a {kind} of Computed. The tangent has _loc"
        for read in (lambda: getattr(tangent, name), lambda: tangent[name]):
            with pytest.raises(AttributeError, match=message):
                read()

    @pytest.mark.parametrize("tangent", TANGENTS, ids=["mutable", "frozen"])
    def test_fields_that_are_missing(self, tangent):
        assert tangent._loc == 1.0
        assert tangent.kept == tangent.constant == tangent.other == Z

    def test_a_computed_name_that_is_an_entry(self):
        assert MutableTangent(Computed, cached=2.0).cached == 2.0

    def test_a_name_that_a_class_answers_from_a_dict(self):
        tangent = zero_tangent(Answering())
        message = "Answering keeps it in a dict. Read parameters\\['weight'\\]"
        with pytest.raises(AttributeError, match=message):
            _ = tangent.weight
        assert tangent.parameters["weight"] == 0.0
        assert tangent.other == Z
