"""Projection and tangents of containers, on random shapes and structures."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import rules_core as rc
from rules_jax._values.leaves import split
from rules_jax._values.project import RuleOutputError, project
from rules_jax._values.tangents import build, read

EXAMPLES = settings.default.max_examples // 3  # each compiles

DTYPES = st.sampled_from(["float32", "float64", "complex64", "complex128"])
SHAPES = st.lists(st.integers(1, 3), max_size=3).map(tuple)


@st.composite
def broadcasts(draw):
    """A shape, and one that broadcasting makes of it."""
    shape = draw(SHAPES)
    wide = tuple(n if n != 1 else draw(st.integers(1, 3)) for n in shape)
    return shape, (*draw(st.lists(st.integers(1, 2), max_size=2)), *wide)


def numbers(shape, dtype):
    values = np.arange(np.prod(shape, dtype=int), dtype="float64").reshape(shape) + 1
    return (values * (1 + 2j) if "complex" in dtype else values).astype(dtype)


@settings(max_examples=EXAMPLES)
@given(broadcasts(), DTYPES, DTYPES)
def test_projection_is_that_of_the_core(shapes, primal_dtype, dtype):
    shape, wide = shapes
    primal, ct = np.zeros(shape, primal_dtype), numbers(wide, dtype)
    want = rc.ProjectTo(primal)(ct)
    found = project(jnp.asarray(ct), jax.typeof(jnp.asarray(primal)), "it")
    assert found.dtype == primal.dtype
    np.testing.assert_allclose(found, want)
    again = project(found, jax.typeof(jnp.asarray(primal)), "it")
    np.testing.assert_array_equal(again, found)


def test_shapes_that_do_not_fit():
    aval = jax.typeof(jnp.zeros((3,)))
    for wrong in ((2,), (), (3, 2), (4, 1)):
        with pytest.raises(RuleOutputError, match="it has shape"):
            project(jnp.ones(wrong), aval, "it")


LEAVES = st.one_of(
    st.just(jnp.asarray(1.5)),
    st.just(jnp.arange(2)),
    st.none(),
    st.just("s"),
    st.just(3),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(TREES)
def test_tangents_survive_the_way_there_and_back(tree):
    arrays, template = split(tree)
    assert jax.tree.structure(template.fill(arrays)) == jax.tree.structure(tree)
    smooth = [jnp.issubdtype(x.dtype, jnp.inexact) for x in arrays]
    leaves = [
        x * 2 if s else rc.NoTangent() for x, s in zip(arrays, smooth, strict=True)
    ]
    tangent = build(template, leaves)
    if not any(smooth):
        assert template.single() or isinstance(tangent, rc.NoTangent)
    found = read(template, tangent, smooth, "it")
    for x, s, got in zip(arrays, smooth, found, strict=True):
        assert (got is None) == (not s)
        if s:
            np.testing.assert_array_equal(got, 2 * x)
    bare = template.fill(
        [x * 2 if s else x for x, s in zip(arrays, smooth, strict=True)]
    )
    again = read(template, bare, smooth, "it")
    assert [x is None for x in again] == [x is None for x in found]


@given(TREES)
def test_templates_are_keys(tree):
    _, first = split(tree)
    _, second = split(jax.tree.map(lambda x: x, tree))
    assert first == second
    assert hash(first) == hash(second)


def test_templates_tell_numbers_apart():
    keys = [split((value,))[1] for value in (1, 1.0, True, 0.0, -0.0, "1")]
    assert len(set(keys)) == len(keys)
