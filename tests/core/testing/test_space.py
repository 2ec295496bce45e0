"""Every tangent space is a real vector space, whatever the primal is made of."""

from functools import partial

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import rules_core as rc
from rules_core import NoTangent, ZeroTangent, not_implemented, thunk
from rules_core.testing import Space
from rules_core.testing._leaf import StructureMismatch
from rules_core.testing._nodes import DerivativeMissing
from tests.core.testing.primals import Frozen, Mutable, Pair

DTYPES = st.sampled_from(["float64", "float32", "complex128", "complex64"])
FLOATS = st.floats(-1e3, 1e3)
LEAVES = (
    FLOATS
    | st.complex_numbers(max_magnitude=1e3)
    | st.integers(-5, 5)
    | st.sampled_from([None, "text", True, len])
    | DTYPES.flatmap(
        lambda dtype: arrays(
            dtype,
            array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
            elements={"min_value": -100, "max_value": 100}
            if dtype.startswith("float")
            else {"max_magnitude": 100},
        )
    )
)
PRIMALS = st.recursive(
    LEAVES,
    lambda child: (
        st.lists(child, max_size=3)
        | st.lists(child, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from("abc"), child, max_size=3)
        | st.builds(Pair, child, child)
        | st.builds(Frozen, child, st.just("name"))
        | st.builds(Mutable, child, st.just(3))
    ),
    max_leaves=6,
)


@given(PRIMALS, st.integers(0, 2**32 - 1))
def test_coordinates_and_tangents_are_inverse(primal, seed):
    space = Space(primal)
    vector = space.coordinates(space.tangent(space.random(np.random.default_rng(seed))))
    again = space.coordinates(space.tangent(vector))
    np.testing.assert_array_equal(again, vector)
    assert len(space.labels) == space.dim == vector.size


@given(PRIMALS)
def test_the_origin_is_the_primal(primal):
    space = Space(primal)
    np.testing.assert_array_equal(space.values(space.point(space.origin)), space.origin)
    np.testing.assert_array_equal(space.values(space.copy()), space.origin)


@given(PRIMALS, st.integers(0, 2**32 - 1))
def test_tangents_are_canonical(primal, seed):
    space = Space(primal)
    tangent = space.tangent(space.random(np.random.default_rng(seed)))
    assert isinstance(tangent, rc.tangent_type(primal))
    assert isinstance(rc.zero_tangent(primal), type(tangent))
    np.testing.assert_array_equal(space.coordinates(rc.zero_tangent(primal)), 0.0)


@given(PRIMALS, st.integers(0, 2**32 - 1))
def test_addition_of_tangents_is_addition_of_coordinates(primal, seed):
    space = Space(primal)
    rng = np.random.default_rng(seed)
    du, dv = (space.tangent(space.random(rng)) for _ in range(2))
    total = space.coordinates(du) + space.coordinates(dv)
    np.testing.assert_allclose(space.coordinates(du + dv), total, rtol=1e-5, atol=1e-3)


@given(arrays("complex128", (3,), elements={"max_magnitude": 1e3}))
def test_the_dot_product_is_the_real_inner_product(z):
    space = Space(z)
    w = np.array([1.0 - 2.0j, 0.5j, 3.0])
    product = space.coordinates(z) @ space.coordinates(w)
    assert product == pytest.approx(np.vdot(z, w).real)


def test_labels_name_every_number():
    space = Space({"a": (1.0, 2), "b": Frozen(np.zeros((1, 2)), "n")}, "x")
    assert space.labels == ["x['a'][0]", "x['b'].weight[0, 0]", "x['b'].weight[0, 1]"]
    assert space.static == ["x['a'][1]", "x['b'].name"]


@pytest.mark.parametrize(
    "raw",
    [
        (3.0, np.array([1.0, 2.0])),
        [3.0, np.array([1.0, 2.0])],
        rc.Tangent(tuple, 3.0, np.array([1.0, 2.0])),
        thunk(lambda: (thunk(lambda: 3.0), np.array([1.0, 2.0]))),
        (3, np.array([1, 2])),
    ],
)
def test_everything_that_authors_may_return_is_read(raw):
    space = Space((0.0, np.zeros(2)))
    np.testing.assert_array_equal(space.coordinates(raw), [3.0, 1.0, 2.0])


@pytest.mark.parametrize("zero", [None, ZeroTangent(), NoTangent(), (None, None)])
def test_zeros_are_read_as_zero(zero):
    np.testing.assert_array_equal(Space((0.0, np.zeros(2))).coordinates(zero), 0.0)


def test_fields_of_classes_are_read_from_dicts_and_instances():
    space = Space(Frozen(1.0, "n"))
    for raw in ({"weight": 2.0}, Frozen(2.0, "n"), rc.Tangent(Frozen, weight=2.0)):
        np.testing.assert_array_equal(space.coordinates(raw), [2.0])


def test_a_missing_derivative_is_found_with_its_path():
    with pytest.raises(DerivativeMissing, match=r"x\[1\]: .*in the order"):
        Space((1.0, 2.0)).coordinates((1.0, not_implemented("in the order")))


@pytest.mark.parametrize(
    "raw",
    [
        np.zeros(3),
        (1.0, 2.0, 3.0),
        {"a": 1.0},
        (1.0, np.zeros(3)),
        "text",
        (1.0, np.zeros(2), 3.0),
        rc.Tangent(dict, {"a": 1.0}),
    ],
)
def test_another_structure_is_refused(raw):
    with pytest.raises(StructureMismatch):
        Space((1.0, np.zeros(2))).coordinates(raw)


def test_closures_partials_and_methods_have_the_coordinates_of_what_they_hold():
    weight = np.array([1.0, 2.0])

    def scaled(x):
        return weight * x

    assert Space(scaled).dim == 2
    moved = Space(scaled).point(np.array([3.0, 4.0]))
    np.testing.assert_array_equal(moved(1.0), [3.0, 4.0])
    bound = Space(partial(scaled, 2.0)).point(np.array([3.0, 4.0, 5.0]))
    assert bound().shape == (2,)
    assert Space(Mutable(1.5, 2).__repr__).dim == 1


def test_arrays_of_other_libraries_stay_theirs():
    space = Space(array_api_strict.asarray([1.0, 2.0]))
    assert type(space.point(space.origin)) is type(space.primal)
    assert space.coordinates(array_api_strict.asarray([3.0, 4.0])).tolist() == [
        3.0,
        4.0,
    ]


def test_copies_share_nothing():
    primal = [np.ones(2), {"n": np.array([1, 2])}]
    other = Space(primal).copy()
    other[0][0] = other[1]["n"][0] = 7
    assert primal[0][0] == 1.0
    assert primal[1]["n"][0] == 1


def test_spans_follow_the_size_of_each_entry():
    space = Space(np.array([1e6, 2.0, 0.0]))
    assert space.spans.tolist() == [1e6, 1e3, 1e6]
    assert Space(np.zeros(2)).spans.tolist() == [1.0, 1.0]
