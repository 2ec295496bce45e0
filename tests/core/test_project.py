"""Projections of numbers and arrays onto their tangent spaces."""

import copy
import gc
import pickle
import weakref
from fractions import Fraction

import numpy as np
import pytest

from rules_core import (
    NoTangent,
    ProjectionError,
    ProjectTo,
    Tangent,
    ZeroTangent,
    not_implemented,
    thunk,
)
from tests.core.primals import never, same

Z, D = ZeroTangent(), NoTangent()


N = not_implemented("why")


class TestNumbers:
    @pytest.mark.parametrize(
        ("x", "dx", "expected"),
        [
            (1.0, 2.0 + 3j, 2.0),
            (1.0 + 2j, 3.0, 3.0 + 0j),
            (1.0, 2, 2.0),
            (1.0, True, 1.0),
            (1j, 1, 1 + 0j),
            (1.0, np.float32(0.5), 0.5),
            (1.0, np.array(0.5), 0.5),
            (1.0, np.complex64(2 + 3j), 2.0),
            (1j, np.array([[1.5]]), 1.5 + 0j),
            (1.0, np.ones((2, 3)), 6.0),
            (1.0, Fraction(1, 2), 0.5),
            (np.float64(1.0), 2, np.float64(2.0)),
            (np.float32(1.0), 0.5, np.float32(0.5)),
            (np.float32(1.0), np.float64(0.5), np.float32(0.5)),
            (np.float32(1.0), np.array(0.5), np.float32(0.5)),
            (np.float64(1.0), 1 + 2j, np.float64(1.0)),
            (np.complex64(1), 2.0, np.complex64(2)),
        ],
        ids=repr,
    )
    def test_python_and_numpy_scalars(self, x, dx, expected):
        assert same(ProjectTo(x)(dx), expected)

    def test_scalar_arrays_become_numbers(self, backend):
        dx = backend.array(2.0)
        assert same(ProjectTo(1.0)(dx), 2.0)
        assert same(ProjectTo(1j)(dx), 2 + 0j)
        assert same(ProjectTo(1.0)(backend.array([[1.0, 2.0]])), 3.0)

    def test_traced_arrays_stay_arrays(self):
        jax = pytest.importorskip("jax")
        project = jax.jit(ProjectTo(1.0).__call__)
        assert project(2.0) == 2.0
        assert project(np.ones((1, 1))).shape == ()
        assert project(2.0 + 3j) == 2.0
        assert project(2.0 + 3j).dtype == np.float64
        assert project(np.ones(3)) == 3.0

    def test_recorded_tensors_stay_tensors(self):
        torch = pytest.importorskip("torch")
        dx = torch.tensor(2.0, requires_grad=True)
        assert ProjectTo(1.0)(dx) is dx
        projected = torch.func.vmap(ProjectTo(1.0))(torch.tensor([1.0, 2.0]))
        assert projected.tolist() == [1.0, 2.0]

    @pytest.mark.parametrize("x", [1, True, "a", None, abs, type], ids=repr)
    def test_what_has_no_tangent(self, x):
        for dx in (2.0, np.ones(2), (1.0,), None, thunk(never)):
            assert ProjectTo(x)(dx) is D
        assert ProjectTo(x)(Z) is Z
        assert ProjectTo(x)(N) is N

    @pytest.mark.parametrize("dx", ["2.0", (1.0,), {"a": 1.0}, object], ids=repr)
    def test_only_numbers(self, dx):
        with pytest.raises(ProjectionError) as caught:
            ProjectTo(1.0)(dx)
        assert str(caught.value) == (
            f"the tangent of x must be a float, but got a {type(dx).__name__}."
        )


SHAPES = [
    ((4,), (4,), (4,)),
    ((1, 4), (3, 4), (1, 4)),
    ((4,), (3, 4), (4,)),
    ((), (3, 4), ()),
    ((3, 1), (2, 3, 4), (3, 1)),
    ((3,), (3, 1), (3,)),
    ((3,), (1, 3), (3,)),
    ((3, 1), (3,), (3, 1)),
    ((2, 1, 3), (2, 3), (2, 1, 3)),
    ((2, 3), (1, 2, 1, 3, 1), (2, 3)),
    ((1, 1), (), (1, 1)),
    ((1,), (5,), (1,)),
    ((0,), (3, 0), (0,)),
    ((1, 0), (3, 0), (1, 0)),
]


class TestArrays:
    sparse = pytest.importorskip("scipy.sparse")

    @pytest.mark.covering(every=3)
    @pytest.mark.parametrize(("shape", "given_", "expected"), SHAPES)
    def test_shapes(self, backend, shape, given_, expected):
        x, dx = backend.xp.ones(shape), backend.xp.ones(given_)
        projected = ProjectTo(x)(dx)
        assert tuple(projected.shape) == expected
        assert float(backend.xp.sum(projected)) == float(backend.xp.sum(dx))

    @pytest.mark.covering(every=3)
    @pytest.mark.parametrize(
        ("shape", "given_"),
        [
            ((4,), (3,)),
            ((4,), (4, 3)),
            ((1, 4), (4, 1)),
            ((3, 4), (4,)),
            ((3, 4), ()),
            ((2, 3), (3, 2)),
            ((0,), (1,)),
        ],
    )
    def test_wrong_shapes(self, backend, shape, given_):
        with pytest.raises(ProjectionError) as caught:
            ProjectTo(backend.xp.ones(shape))(backend.xp.ones(given_))
        assert str(caught.value) == (
            f"the tangent of x must have shape {shape}, or one that {shape} broadcasts "
            f"to, but got shape {given_}. Sum, broadcast or reshape it in the rule."
        )

    @pytest.mark.covering(strength=1)
    @pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
    @pytest.mark.parametrize(
        "given_", ["float32", "float64", "complex64", "complex128", "int32", "int64"]
    )
    def test_dtypes(self, backend, dtype, given_):
        x = backend.array([1.0, 2.0], dtype)
        dx = backend.array([3, 4], given_)
        projected = ProjectTo(x)(dx)
        assert projected.dtype == x.dtype
        assert [complex(entry) for entry in projected] == [3, 4]

    def test_complex_to_real_keeps_the_real_part(self, backend):
        x = backend.array([1.0, 2.0], "float32")
        dx = backend.array([1.0, 2.0], "complex128") * (1 + 1j)
        projected = ProjectTo(x)(dx)
        assert projected.dtype == x.dtype
        assert [float(entry) for entry in projected] == [1.0, 2.0]

    def test_nothing_to_do_is_nothing_done(self, backend):
        dx = backend.array([1.0, 2.0])
        assert ProjectTo(backend.array([3.0, 4.0]))(dx) is dx

    def test_python_numbers_fit_arrays_of_one(self, backend):
        for shape in ((), (1,), (1, 1)):
            projected = ProjectTo(backend.xp.ones(shape))(3 + 2j)
            assert tuple(projected.shape) == shape
            assert float(backend.xp.sum(projected)) == 3.0
        x = backend.xp.ones((), dtype=backend.dtype("complex64"))
        projected = ProjectTo(x)(2)
        assert projected.dtype == x.dtype
        assert complex(projected) == 2.0

    def test_python_numbers_do_not_fit_larger_arrays(self, backend):
        with pytest.raises(ProjectionError) as caught:
            ProjectTo(backend.xp.ones((3,)))(2.0)
        assert str(caught.value) == (
            "the tangent of x must have shape (3,), but got the number 2.0. Sum, "
            "broadcast or reshape it in the rule."
        )

    @pytest.mark.parametrize("dx", [[1.0, 2.0], "a", Tangent(tuple, 1.0)], ids=repr)
    def test_only_arrays(self, backend, dx):
        with pytest.raises(ProjectionError) as caught:
            ProjectTo(backend.xp.ones((2,)))(dx)
        assert str(caught.value) == (
            "the tangent of x must be an array of shape (2,), but got a "
            f"{type(dx).__name__}."
        )

    def test_integer_arrays_have_no_tangent(self, backend):
        x = backend.array([1, 2], "int64")
        assert ProjectTo(x)(backend.array([1.0, 2.0])) is D

    def test_numpy_tangents_move_to_the_host(self, backend):
        x = backend.array([1.0, 2.0], "float32")
        if backend.name == "array_api_strict":
            return
        projected = ProjectTo(x)(np.ones((3, 2)))
        assert type(projected) is type(x)
        assert projected.dtype == x.dtype
        assert [float(entry) for entry in projected] == [3.0, 3.0]

    def test_zero_dimensional_numpy_arrays_stay_arrays(self):
        for dx in (2.0, np.float64(2.0), np.array(2.0), np.ones((1, 1))):
            projected = ProjectTo(np.array(1.0))(dx)
            assert type(projected) is np.ndarray
            assert projected.shape == ()

    def test_arrays_of_objects_are_refused(self):
        with pytest.raises(ProjectionError) as caught:
            ProjectTo(np.ones(2))(np.array([1.0, None]))
        message = "the tangent of x must hold numbers, but got dtype object."
        assert str(caught.value) == message

    def test_bfloat16(self):
        jnp = pytest.importorskip("jax.numpy")
        for x in (jnp.ones(2, jnp.bfloat16), np.asarray(jnp.ones(2, jnp.bfloat16))):
            project = ProjectTo(x)
            assert project(np.ones((3, 2))).dtype == jnp.bfloat16
            assert project(np.ones(2) * 1j).dtype == jnp.bfloat16
            assert project(x) is x
        torch = pytest.importorskip("torch")
        x = torch.ones(2, dtype=torch.bfloat16)
        assert ProjectTo(x)(torch.ones(2)).dtype == torch.bfloat16

    def test_jax(self):
        jax = pytest.importorskip("jax")
        jnp = jax.numpy
        x = jnp.ones((1, 2), jnp.float32)
        project = jax.jit(lambda x, dx: ProjectTo(x)(dx))
        projected = project(x, jnp.ones((3, 2)) * (1 + 1j))
        assert projected.tolist() == [[3.0, 3.0]]
        assert projected.dtype == jnp.float32
        assert ProjectTo(jax.random.key(0))(jnp.ones(2)) is D
        assert ProjectTo(jnp.arange(2))(np.zeros(2, jax.dtypes.float0)) is D
        assert ProjectTo(x)(np.zeros(2, jax.dtypes.float0)) is Z
        assert ProjectTo(1.0)(np.zeros((), jax.dtypes.float0)) is Z

    def test_jax_tangents_of_numpy_arrays_are_left_to_jax(self):
        jax = pytest.importorskip("jax")
        x = np.ones(2, np.float32)
        projected = jax.jit(ProjectTo(x).__call__)(np.ones((3, 2)))
        assert projected.dtype == np.float32
        assert projected.tolist() == [3.0, 3.0]

    def test_torch_transforms(self):
        torch = pytest.importorskip("torch")
        x = torch.ones(1, 2)
        projected = torch.func.vmap(ProjectTo(x))(torch.ones(5, 3, 2).double())
        assert projected.shape == (5, 1, 2)
        assert projected.dtype == torch.float32
        dx = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
        ProjectTo(x)(dx).sum().backward()
        assert dx.grad.tolist() == [[1.0, 1.0]] * 3

    def test_devices_are_kept(self):
        torch = pytest.importorskip("torch")
        for shape in ((), (1,)):
            x = torch.ones(shape, device="meta", dtype=torch.float32)
            for dx in (2.0, np.ones(shape), x.double()):
                projected = ProjectTo(x)(dx)
                assert projected.device == x.device
                assert projected.dtype == x.dtype
        dx = torch.ones((), device="meta")
        assert ProjectTo(1.0)(dx) is dx

    def test_hosts_are_not_mixed(self):
        jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
        with pytest.raises(ProjectionError) as caught:
            ProjectTo(torch.ones(2))(jax.numpy.ones(2))
        assert str(caught.value) == (
            "the tangent of x must be an array of array_api_compat.torch, but got a "
            "ArrayImpl. Compute it with array_namespace of the argument."
        )

    def test_pickles(self, backend):
        x = backend.xp.ones((1, 2), dtype=backend.dtype("float32"))
        dx = backend.array([[1.0, 2.0]] * 3)
        for again in (
            pickle.loads(pickle.dumps(ProjectTo([x]))),
            copy.deepcopy(ProjectTo([x])),
        ):
            projected = again([dx])[0]
            assert projected.dtype == x.dtype
            assert float(backend.xp.sum(projected)) == 9.0
        x = self.sparse.csr_array(np.eye(2))
        again = pickle.loads(pickle.dumps(ProjectTo(x)))
        assert again(np.ones((2, 2))).toarray().tolist() == [[1.0, 0.0], [0.0, 1.0]]

    def test_does_not_keep_the_primal_alive(self):
        class Big(np.ndarray):
            pass

        x = np.ones(3).view(Big)
        reference = weakref.ref(x)
        project = ProjectTo([x, {"a": x}])
        del x
        gc.collect()
        assert reference() is None
        assert project([np.ones(3), None])[0].tolist() == [1.0, 1.0, 1.0]

    def test_cases_of_the_design(self):
        """The ProjectTo line of the cases with known answers."""
        assert ProjectTo(1.0)(2 + 3j) == 2.0
        columns = ProjectTo(np.ones((1, 4)))(np.arange(12.0).reshape(3, 4))
        assert columns.tolist() == [[12.0, 15.0, 18.0, 21.0]]
        assert ProjectTo(np.ones(2, "f"))(np.ones(2)).dtype == np.float32
