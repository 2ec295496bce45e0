"""What makes a projection of `ProjectTo`, for any shapes and containers."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as npst

from rules_core import (
    ProjectTo,
    materialise,
    zero_tangent,
)
from tests.core.primals import Frozen, Point

FLOATS = st.floats(-100, 100, width=32)


@st.composite
def broadcasts(draw):
    """A shape and a shape that it broadcasts to."""
    big = draw(npst.array_shapes(min_dims=0, max_dims=3, max_side=3))
    start = draw(st.integers(0, len(big)))
    small = tuple(draw(st.sampled_from([1, length])) for length in big[start:])
    return small, big


class TestProjectionIsAProjection:
    @given(shapes=broadcasts(), data=st.data())
    def test_adjoint_of_broadcasting(self, backend, shapes, data):
        """⟨P(dx), e⟩ = ⟨dx, broadcast(e)⟩."""
        small, big = shapes
        dx = data.draw(npst.arrays(np.float64, big, elements=FLOATS))
        e = data.draw(npst.arrays(np.float64, small, elements=FLOATS))
        project = ProjectTo(backend.array(e))
        left = backend.xp.sum(project(backend.array(dx)) * backend.array(e))
        assert float(left) == pytest.approx(float(np.sum(dx * e)), rel=1e-12)

    @given(z=st.complex_numbers(max_magnitude=100), x=FLOATS)
    def test_adjoint_of_the_embedding_of_the_reals(self, z, x):
        """⟨P(z), x⟩ = Re⟨z, x⟩ for real x."""
        assert ProjectTo(1.0)(z) * x == (z.conjugate() * x).real

    @given(
        shapes=broadcasts(),
        dtypes=st.tuples(*[st.sampled_from("fdFD")] * 2),
    )
    def test_idempotent(self, shapes, dtypes):
        project = ProjectTo(np.ones(shapes[0], dtypes[0]))
        dx = np.ones(shapes[1], dtypes[1])
        once = project(dx)
        assert project(once) is once
        assert (once.shape, once.dtype) == (shapes[0], np.dtype(dtypes[0]))

    @given(
        st.recursive(
            st.one_of(FLOATS, st.integers(), st.complex_numbers(max_magnitude=9)),
            lambda inner: st.one_of(
                st.lists(inner, max_size=3),
                st.tuples(inner, inner),
                st.builds(Point, inner, inner),
                st.dictionaries(st.sampled_from("ab"), inner),
                st.builds(Frozen, inner),
            ),
            max_leaves=6,
        )
    )
    def test_a_primal_is_a_tangent_of_itself(self, x):
        """Containers of numbers project to their tangents, once and for all."""
        once = ProjectTo(x)(x)
        assert ProjectTo(x)(once) == once
        assert materialise(x, x) == materialise(x, once)
        assert materialise(x, 0.0 * materialise(x, x)) == zero_tangent(x)
