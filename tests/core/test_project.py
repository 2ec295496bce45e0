"""Projections onto tangent spaces."""

import collections
import copy
import gc
import pickle
import types
import weakref
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as npst

from rules_core import (
    InplaceableThunk,
    MutableTangent,
    NoTangent,
    ProjectionError,
    ProjectTo,
    Pullback,
    RulesCoreError,
    Tangent,
    Thunk,
    ZeroTangent,
    backing,
    materialise,
    normalise,
    not_implemented,
    thunk,
    unthunk,
    zero_tangent,
)

Z, D = ZeroTangent(), NoTangent()
N = not_implemented("why")


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass(frozen=True)
class Frozen:
    scale: float
    name: str = "a"


class Layer:
    def __init__(self, w, **fields):
        self.w = w
        self.__dict__.update(fields)


def same(a, b):
    """Equal numbers of one type."""
    return type(a) is type(b) and a == b


def never():
    pytest.fail("was forced")


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

    @pytest.mark.parametrize(("shape", "given_", "expected"), SHAPES)
    def test_shapes(self, backend, shape, given_, expected):
        x, dx = backend.xp.ones(shape), backend.xp.ones(given_)
        projected = ProjectTo(x)(dx)
        assert tuple(projected.shape) == expected
        assert float(backend.xp.sum(projected)) == float(backend.xp.sum(dx))

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


class TestSparse:
    sparse = pytest.importorskip("scipy.sparse")
    DENSE = np.array([[0.0, 2.0, 0.0], [3.0, 0.0, 4.0]])
    KINDS = ("csr_array", "csc_array", "coo_array", "lil_array", "dok_array",
             "bsr_array", "csr_matrix", "csc_matrix")  # fmt: skip

    @pytest.mark.parametrize("kind", KINDS)
    def test_keeps_the_pattern(self, kind):
        x = getattr(self.sparse, kind)(self.DENSE)
        dx = np.arange(6.0).reshape(2, 3) + 1
        projected = ProjectTo(x)(dx)
        assert type(projected) is type(x)
        assert np.array_equal(projected.toarray(), np.where(self.DENSE != 0, dx, 0))
        again = ProjectTo(x)(projected)
        assert np.array_equal(again.toarray(), projected.toarray())

    def test_keeps_stored_zeros(self):
        x = self.sparse.csr_array(([0.0, 1.0], ([0, 1], [0, 1])), shape=(2, 2))
        projected = ProjectTo(x)(np.ones((2, 2)))
        assert projected.toarray().tolist() == [[1.0, 0.0], [0.0, 1.0]]
        assert ProjectTo(x)(np.zeros((2, 2))).nnz == 2

    def test_sparse_tangents_of_other_patterns(self):
        x = self.sparse.csr_array(self.DENSE.astype("f"))
        dx = self.sparse.csc_array(np.array([[1.0, 5j, 0], [0, 0, 7.0]]))
        projected = ProjectTo(x)(dx)
        assert projected.dtype == np.float32
        assert projected.toarray().tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 7.0]]

    def test_sparse_tangents_of_dense_primals(self):
        dx = self.sparse.csr_array(self.DENSE)
        assert np.array_equal(ProjectTo(np.ones((2, 3)))(dx), self.DENSE)

    @pytest.mark.parametrize(
        ("dx", "message"),
        [
            (
                sparse.csr_array(np.ones((3, 3))),
                "have shape (2, 3), but got shape (3, 3)",
            ),
            (
                np.ones((3, 2)),
                "have shape (2, 3), or one that (2, 3) broadcasts to, but got shape "
                "(3, 2). Sum, broadcast or reshape it in the rule",
            ),
            (1.0, "be a sparse or dense matrix of shape (2, 3), but got a float"),
        ],
        ids=["sparse", "dense", "number"],
    )
    def test_errors(self, dx, message):
        with pytest.raises(ProjectionError) as caught:
            ProjectTo(self.sparse.csr_array(self.DENSE))(dx)
        assert str(caught.value) == f"the tangent of x must {message}."


class TestContainers:
    @pytest.mark.parametrize(
        ("x", "dx", "expected"),
        [
            ((1.0, 2), (3, 4), Tangent(tuple, 3.0, D)),
            ((1.0, 2), [3j, None], Tangent(tuple, 0.0, D)),
            ((1.0, 2.0), Tangent(tuple, 1, Z), Tangent(tuple, 1.0, Z)),
            ([1.0, 2.0], (1, 2), Tangent(list, 1.0, 2.0)),
            ({"a": 1.0, "b": 2}, {"a": 3}, Tangent(dict, {"a": 3.0, "b": D})),
            ({"a": 1.0}, Tangent(dict, {"a": 1j}), Tangent(dict, {"a": 0.0})),
            (
                collections.OrderedDict(a=1.0),
                {"a": 2},
                Tangent(collections.OrderedDict, {"a": 2.0}),
            ),
            (Point(1.0, 2.0), (3, 4), Tangent(Point, x=3.0, y=4.0)),
            (Point(1.0, 2.0), {"y": 4}, Tangent(Point, y=4.0)),
            (Point(1.0, 2.0), Point(3, 4j), Tangent(Point, x=3.0, y=0.0)),
            (Point(1.0, 2.0), Tangent(Point, y=4), Tangent(Point, y=4.0)),
            (Frozen(1.0), Frozen(2, "b"), Tangent(Frozen, scale=2.0, name=D)),
            (Frozen(1.0), {"scale": 2}, Tangent(Frozen, scale=2.0, name=D)),
            (Frozen(1.0), Tangent(Frozen, 2, D), Tangent(Frozen, scale=2.0, name=D)),
            (Layer(1.0), {"w": 2}, MutableTangent(Layer, w=2.0)),
            (Layer(1.0), Layer(2), MutableTangent(Layer, w=2.0)),
            (Layer(1.0), Tangent(Layer, w=2), MutableTangent(Layer, w=2.0)),
            (
                Layer(1.0, n=1),
                MutableTangent(Layer, w=2),
                MutableTangent(Layer, w=2.0, n=D),
            ),
            (Pullback(abs, 1.0), (2,), Tangent(Pullback, 2.0)),
            (
                (1.0, (2.0, [3.0])),
                (1, (2, [3])),
                Tangent(tuple, 1.0, Tangent(tuple, 2.0, Tangent(list, 3.0))),
            ),
        ],
        ids=lambda x: repr(x)[:24],
    )
    def test_bare_containers(self, x, dx, expected):
        projected = ProjectTo(x)(dx)
        assert type(projected) is type(expected)
        assert projected == expected

    def test_functions(self):
        w = np.ones((1, 2))

        def f(x):
            return w * x

        projected = ProjectTo(f)({"w": np.ones((3, 2))})
        assert projected.w.tolist() == [[3.0, 3.0]]
        assert ProjectTo(f)(D) is D
        dw = Tangent(types.FunctionType, w=w)
        assert ProjectTo(f)(dw) == dw

    def test_containers_without_numbers(self):
        for x in ((1, "a"), [], {"a": None}, Layer("a")):
            assert ProjectTo(x)((1.0, 2.0)) is D

    def test_only_zeros_is_zero(self):
        assert ProjectTo((1.0, 2))((None, None)) is Z
        assert ProjectTo((1.0, [2.0]))((D, [Z])) is Z
        assert ProjectTo(Point(1.0, 2.0))({}) is Z

    @pytest.mark.parametrize("x", [1.0, np.ones(2), (1.0,), {"a": 1.0}, Layer(1.0)])
    def test_zeros_and_not_implemented_pass(self, x):
        assert ProjectTo(x)(Z) is Z
        assert ProjectTo(x)(D) is D
        assert ProjectTo(x)(N) is N
        assert ProjectTo(x)(None) is Z

    def test_not_implemented_inside(self):
        projected = ProjectTo((1.0, 2.0))((N, 1))
        assert projected[0] is N
        assert projected[1] == 1.0

    @pytest.mark.parametrize(
        ("x", "dx", "message"),
        [
            (
                (1.0, 2.0),
                (1.0,),
                "x must have the entries [0, 1] of a tuple, but got [0]",
            ),
            ([1.0], Tangent(list), "x must have the entries [0] of a list, but got []"),
            (
                {"w": [1.0, np.ones(3)]},
                {"w": [1.0, np.ones(4)]},
                "x['w'][1] must have shape (3,), or one that (3,) broadcasts to, but "
                "got shape (4,). Sum, broadcast or reshape it in the rule",
            ),
            (
                {"w": 1.0},
                {"v": 1.0},
                "x must have the entries [w] of a dict, but got [v]",
            ),
            (
                Point(1.0, (2.0,)),
                {"y": 1.0},
                "x.y must have the structure of a tuple with [0], but got a float. "
                "Return Tangent(tuple, …), or ZeroTangent()",
            ),
            (
                Point(1.0, 2.0),
                (1.0,),
                "x must have the entries [x, y] of a Point, but got [0]",
            ),
            (
                (1.0,),
                {"a": 1.0},
                "x must have the structure of a tuple with [0], but got a dict. "
                "Return Tangent(tuple, …), or ZeroTangent()",
            ),
            (
                {"a": 1.0},
                (1.0,),
                "x must have the structure of a dict with [a], but got a tuple. "
                "Return Tangent(dict, …), or ZeroTangent()",
            ),
            (
                [Frozen(1.0)],
                [Tangent(Frozen, q=1.0)],
                "x[0] must have the entries [scale, name] of a Frozen, but got [q]",
            ),
            (
                (1.0,),
                np.ones(1),
                "x must have the structure of a tuple with [0], but got a ndarray. "
                "Return Tangent(tuple, …), or ZeroTangent()",
            ),
        ],
        ids=lambda x: repr(x)[:24],
    )
    def test_errors_name_the_path(self, x, dx, message):
        with pytest.raises(ProjectionError) as caught:
            ProjectTo(x)(dx)
        assert str(caught.value) == f"the tangent of {message}."

    def test_the_path_has_a_given_beginning(self):
        with pytest.raises(ProjectionError, match=r"^the tangent of weights\[0\] must"):
            ProjectTo([1.0], path="weights")(["a"])

    def test_errors_are_ours_and_pickle(self):
        with pytest.raises(RulesCoreError) as caught:
            ProjectTo(1.0)("a")
        assert isinstance(caught.value, ValueError)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)

    def test_cycles(self):
        layer = Layer(np.ones(2))
        layer.me = layer
        dl = MutableTangent(Layer, w=np.ones((3, 2)))
        dl.me = dl
        projected = ProjectTo(layer)(dl)
        assert projected.me is projected
        assert projected.w.tolist() == [3.0, 3.0]
        assert dl.w.shape == (3, 2)

    def test_shared_instances_stay_shared(self):
        layer = Layer(1.0)
        dl = MutableTangent(Layer, w=2)
        projected = ProjectTo((layer, layer))((dl, dl))
        assert projected[0] is projected[1]

    def test_repr(self):
        x = (1.0, np.ones((2, 3)), "a")
        text = "ProjectTo(Tangent(tuple, float, float64[2, 3], NoTangent()))"
        assert repr(ProjectTo(x)) == text


class TestThunks:
    def test_stay_thunks(self):
        project = ProjectTo(np.ones((1, 2)))
        lazy = project(thunk(lambda: np.ones((3, 2))))
        assert isinstance(lazy, Thunk)
        assert unthunk(lazy).tolist() == [[3.0, 3.0]]

    def test_are_not_forced(self):
        assert isinstance(ProjectTo(1.0)(thunk(never)), Thunk)
        projected = ProjectTo((1.0, 2.0))((thunk(never), 3))
        assert projected[1] == 3.0
        lazy = InplaceableThunk(never, thunk(never))
        assert isinstance(ProjectTo(1.0)(lazy), Thunk)

    def test_all_layers_are_projected(self):
        lazy = ProjectTo(1.0)(thunk(lambda: thunk(lambda: 2 + 3j)))
        assert same(unthunk(unthunk(lazy)), 2.0)

    def test_errors_name_the_path(self):
        lazy = ProjectTo([1.0], path="w")([thunk(lambda: "a")])
        with pytest.raises(ProjectionError, match=r"^the tangent of w\[0\] must be"):
            lazy[0]


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
