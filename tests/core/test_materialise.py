"""Tangents made whole at an AD system's boundary: `normalise`, `materialise`."""

import numpy as np
import pytest

from rules_core import (
    NoTangent,
    ProjectionError,
    Tangent,
    Thunk,
    ZeroTangent,
    backing,
    materialise,
    normalise,
    not_implemented,
    thunk,
    zero_tangent,
)
from tests.core.primals import Frozen, Layer, Point, never, same

Z, D = ZeroTangent(), NoTangent()


N = not_implemented("why")


class TestNormalise:
    def test_entry_by_entry(self):
        primals = (abs, 1.5, np.ones(2), {"a": 1.0}, "name", [2.0])
        lazy = thunk(lambda: np.ones((3, 2)))
        cotangents = (None, 2, lazy, {"a": 1j}, 3.0, None)
        found = normalise(primals, cotangents)
        assert found[0] is D
        assert same(found[1], 2.0)
        assert isinstance(found[2], Thunk)
        assert found[3] == Tangent(dict, {"a": 0.0})
        assert found[4] is D
        assert found[5] is Z

    def test_zeros_and_not_implemented_stay(self):
        assert normalise((1.0, 2, 3.0), (Z, Z, D)) == (Z, Z, D)
        assert normalise((1.0,), (N,))[0] is N

    @pytest.mark.parametrize(
        ("cotangents", "got"),
        [((1.0,), "a tuple of 1"), (2.0, "a float"), ([1.0, 2.0], "a list")],
        ids=["count", "number", "list"],
    )
    def test_counts(self, cotangents, got):
        with pytest.raises(ProjectionError) as caught:
            normalise((1.0, 2.0), cotangents)
        assert str(caught.value) == (
            f"the cotangents must be a tuple of 2, one per primal, but got {got}. "
            "Return NoTangent() for what has no tangent."
        )

    def test_errors_name_the_argument(self):
        with pytest.raises(ProjectionError, match=r"of primals\[1\]\['a'\] must"):
            normalise((1.0, {"a": 1.0}), (1.0, {"a": "b"}))
        with pytest.raises(ProjectionError, match=r"^the tangent of bias must"):
            normalise((1.0,), ("a",), names=["bias"])

    def test_arrays(self, backend):
        x = backend.array([1.0, 2.0], "float32")
        (dx,) = normalise((x,), (backend.array([[1.0, 2.0]] * 3),))
        assert dx.dtype == x.dtype
        assert [float(entry) for entry in dx] == [3.0, 6.0]


class TestMaterialise:
    @pytest.mark.parametrize("zero", [Z, D, None, thunk(ZeroTangent)], ids=repr)
    def test_zeros(self, zero):
        assert same(materialise(1.5, zero), 0.0)
        assert materialise("a", zero) is D
        assert materialise((1.5, 2, [3j]), zero) == zero_tangent((1.5, 2, [3j]))

    def test_zero_arrays(self, backend):
        x = backend.array([1.0, 2.0], "float32")
        zero = materialise(x, Z)
        assert (zero.dtype, zero.shape) == (x.dtype, x.shape)
        assert not bool(backend.xp.any(zero != 0))

    def test_thunks_are_forced_through_all_layers(self):
        lazy = thunk(lambda: thunk(lambda: [2 + 1j, thunk(lambda: 3)]))
        assert materialise([1.0, 2.0], lazy) == Tangent(list, 2.0, 3.0)
        entry = backing(materialise([1.0, 2.0], lazy))[1]
        assert same(entry, 3.0)

    def test_what_has_no_tangent(self):
        assert materialise(3, 2.0) is D
        assert materialise(3, thunk(never)) is D
        assert materialise((1.0, 2), (1.0, 2.0)) == Tangent(tuple, 1.0, D)

    def test_absent_fields_become_zeros(self):
        filled = materialise(Frozen(1.5), Tangent(Frozen))
        assert backing(filled) == {"scale": 0.0, "name": D}
        assert same(materialise(Point(1.0, 2.0), {"x": 1}).y, 0.0)

    def test_not_implemented_stays(self):
        assert materialise(1.0, N) is N
        assert materialise((1.0, 2.0), (N, 1.0))[0] is N

    def test_projects(self):
        found = materialise(np.ones((1, 2), "f"), np.ones((3, 2)) * 1j)
        assert found.dtype == np.float32
        assert found.shape == (1, 2)
        with pytest.raises(ProjectionError, match=r"^the tangent of dy must"):
            materialise(np.ones(2), np.ones(3), path="dy")

    def test_traced(self):
        jax = pytest.importorskip("jax")

        def f(x):
            dx = materialise({"a": x, "n": 1}, Z)
            assert dx["n"] is D
            return dx["a"] + materialise(x, x)

        assert jax.jit(f)(np.ones(2)).tolist() == [1.0, 1.0]
        assert jax.vmap(f)(np.ones((3, 2))).shape == (3, 2)

    def test_cycles_and_shared_instances(self):
        layer = Layer(1.0)
        layer.me = layer
        filled = materialise(layer, Tangent(Layer, w=2))
        assert filled.me is filled
        assert filled.w == 2.0
        zeros = materialise((layer, layer), Z)
        assert zeros[0] is zeros[1] is zeros[0].me
