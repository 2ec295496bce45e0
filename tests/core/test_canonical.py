"""Every primal has one canonical tangent."""

import collections
import enum
import functools
import types
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rules_core import (
    DerivativeNotImplemented,
    MutableTangent,
    NoTangent,
    Tangent,
    UnsupportedError,
    ZeroTangent,
    backing,
    has_tangent,
    not_implemented,
    tangent_type,
    thunk,
    zero_tangent,
)

Z, D = ZeroTangent(), NoTangent()


class Point(NamedTuple):
    x: float
    n: int


@dataclass(frozen=True)
class Frozen:
    scale: float
    name: str = "a"


@dataclass
class Plain:
    scale: float


class Layer:
    def __init__(self, w, **fields):
        self.w = w
        self.__dict__.update(fields)


class Counter:
    def __init__(self):
        self.n = 0


class Colour(enum.Enum):
    RED = 1.5


class Link:
    def __init__(self, data):
        self.data, self.next = data, self


def plain(x):
    return x


class TestNumbers:
    @pytest.mark.parametrize("x", [1.5, -0.0, float("nan"), 2j])
    def test_python_numbers(self, x):
        zero = zero_tangent(x)
        assert type(zero) is type(x) is tangent_type(x)
        assert zero == 0

    @pytest.mark.parametrize(
        "dtype", ["float16", "float32", "float64", "complex64", "complex128"]
    )
    def test_numpy_scalars(self, dtype):
        x = np.dtype(dtype).type(2)
        zero = zero_tangent(x)
        assert type(zero) is type(x)
        assert zero == 0
        assert tangent_type(np.ones(2, dtype)) is np.ndarray

    @pytest.mark.covering(strength=1)
    @pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
    @pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
    def test_arrays(self, backend, dtype, shape):
        x = backend.xp.ones(shape, dtype=backend.dtype(dtype))
        zero = zero_tangent(x)
        assert tuple(zero.shape) == shape
        assert zero.dtype == x.dtype
        assert isinstance(zero, tangent_type(x))
        assert not bool(backend.xp.any(zero != 0))

    @pytest.mark.covering(every=3)
    @pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "bool"])
    def test_integer_arrays_have_none(self, backend, dtype):
        x = backend.xp.ones((3,), dtype=backend.dtype(dtype))
        assert zero_tangent(x) is D
        assert tangent_type(x) is NoTangent

    def test_zeros_are_fresh_and_writeable(self):
        x = np.broadcast_to(np.ones(3), (4, 3))
        zero = zero_tangent(x)
        zero += 1.0
        assert zero.sum() == 12.0

    def test_subclasses_have_plain_tangents(self):
        x = np.asarray(np.ones(2)).view(type("Units", (np.ndarray,), {}))
        assert type(zero_tangent(x)) is tangent_type(x) is np.ndarray

    def test_bfloat16(self):
        jnp = pytest.importorskip("jax.numpy")
        x = jnp.ones(2, jnp.bfloat16)
        assert zero_tangent(x).dtype == jnp.bfloat16
        assert zero_tangent(np.asarray(x)).dtype == jnp.bfloat16
        torch = pytest.importorskip("torch")
        assert zero_tangent(torch.ones(2).bfloat16()).dtype == torch.bfloat16

    def test_jax(self):
        jax = pytest.importorskip("jax")
        assert tangent_type(jax.numpy.ones(2)) is jax.Array
        assert zero_tangent(jax.random.key(0)) is D
        assert zero_tangent(np.zeros(2, jax.dtypes.float0)) is D
        seen = []

        def f(x):
            seen.append(tangent_type(x))
            assert zero_tangent((x, 1))[1] is D
            return zero_tangent(x)

        assert jax.jit(f)(3.0) == 0.0
        assert jax.vmap(f)(np.ones(3)).tolist() == [0.0, 0.0, 0.0]
        assert jax.grad(lambda x: x + f(x))(1.0) == 1.0
        assert seen == [jax.Array] * 3

    def test_torch(self):
        torch = pytest.importorskip("torch")
        parameter = torch.nn.Parameter(torch.ones(2))
        zero = zero_tangent(parameter)
        assert type(zero) is tangent_type(parameter) is torch.Tensor
        assert not zero.requires_grad
        result = torch.func.vmap(zero_tangent)(torch.ones(3, 2))
        assert result.tolist() == [[0.0, 0.0]] * 3

    def test_sparse_matrices_keep_their_pattern(self):
        sparse = pytest.importorskip("scipy.sparse")
        for kind in ("csr_array", "csc_matrix", "coo_array", "lil_array"):
            x = getattr(sparse, kind)(np.array([[0.0, 2.0], [3.0, 0.0]]))
            zero = zero_tangent(x)
            assert type(zero) is tangent_type(x) is type(x)
            assert abs(zero).sum() == 0.0
        zero = zero_tangent(sparse.csr_array(np.eye(2, dtype=np.float32)))
        assert (zero.nnz, zero.dtype) == (2, np.float32)
        assert zero_tangent(sparse.csr_array(np.eye(2, dtype=int))) is D

    @pytest.mark.parametrize("dtype", [object, [("a", float), ("b", object)]])
    def test_arrays_of_objects_are_errors(self, dtype):
        x = np.ones(2).astype(dtype)
        with pytest.raises(UnsupportedError) as caught:
            zero_tangent([x])
        assert str(caught.value) == (
            "a NumPy array must hold numbers to have a tangent, but got dtype "
            f"{x.dtype}. Use a list or tuple of arrays instead."
        )

    def test_arrays_of_names_have_no_tangent(self):
        assert zero_tangent(np.array(["a", None, 3], object)) is D
        assert zero_tangent(np.array(["a", "b"])) is D

    def test_arrays_of_records_of_numbers_are_errors_too(self):
        with pytest.raises(UnsupportedError):
            zero_tangent(np.empty(2, [("a", float)]))


WITHOUT = [
    1, True, "a", b"a", None, int, slice(1.0), np.dtype("f8"), range(3), ..., {1.0},
    np, plain, len, np.sin, Colour.RED, Fraction(1, 2), Counter(), (), [], {}, (1, "a"),
    {"a": 1.5}.keys(), (x for x in [1.0]), np.ones(2, int), np.datetime64(1, "s"),
    functools.partial(plain, 1), {"a": [None, ("b", {})]}, np.random.default_rng(0),
    ValueError(1.0), [1, [2, [3]]], Counter().__init__,
]  # fmt: skip


@pytest.mark.parametrize("x", WITHOUT, ids=range(len(WITHOUT)))
def test_what_has_no_tangent(x):
    assert zero_tangent(x) is D
    assert tangent_type(x) is NoTangent
    assert not has_tangent(x)


class TestContainers:
    @pytest.mark.parametrize(
        ("x", "zero"),
        [
            ((1.5, 2), Tangent(tuple, 0.0, D)),
            ([1.5, (2j,)], Tangent(list, 0.0, Tangent(tuple, 0j))),
            ({"a": 1.5, 3: "b"}, Tangent(dict, {"a": 0.0, 3: D})),
            (Point(1.5, 2), Tangent(Point, x=0.0, n=D)),
            (Frozen(1.5), Tangent(Frozen, scale=0.0, name=D)),
            (Plain(1.5), MutableTangent(Plain, scale=0.0)),
            (Layer(1.5, n=3), MutableTangent(Layer, w=0.0, n=D)),
            (
                types.SimpleNamespace(a=1.5),
                MutableTangent(types.SimpleNamespace, a=0.0),
            ),
            (collections.deque([1.5]), Tangent(collections.deque, 0.0)),
            ((1.5, Counter()), Tangent(tuple, 0.0, D)),
            (
                functools.partial(pow, 1.5),
                Tangent(functools.partial, D, Tangent(tuple, 0.0), D),
            ),
        ],
        ids=lambda x: repr(x)[:20],
    )
    def test_zero(self, x, zero):
        assert zero_tangent(x) == zero
        assert tangent_type(x) is type(zero)
        assert has_tangent(x)

    def test_functions_that_capture_numbers(self):
        w = np.ones(2)

        def affine(x):
            return w * x

        assert zero_tangent(affine).w.tolist() == [0.0, 0.0]
        assert tangent_type(affine) is Tangent
        assert tangent_type(lambda x: affine(x) + 1) is Tangent
        assert tangent_type(Layer(1.5).__init__) is Tangent

    def test_a_recursive_function(self):
        base = 2.0

        def power(n):
            return 1.0 if n == 0 else base * power(n - 1)

        assert zero_tangent(power) == Tangent(types.FunctionType, base=0.0, power=D)

        def factorial(n):
            return 1 if n == 0 else n * factorial(n - 1)

        assert zero_tangent(factorial) is D

    def test_nothing_is_shared_with_the_primal(self):
        x = [np.ones(2)]
        zero = zero_tangent(x)
        zero[0][:] = 5.0
        assert x[0].tolist() == [1.0, 1.0]


class TestIdentity:
    def test_a_shared_instance_has_one_tangent(self):
        a = Layer(1.5)
        zero = zero_tangent((a, 1.0, a, Layer(1.5)))
        assert zero[0] is zero[2]
        assert zero[0] is not zero[3]

    def test_cycles(self):
        link = Link(1.5)
        zero = zero_tangent(link)
        assert zero.next is zero
        assert zero.data == 0.0

    def test_cycles_through_containers(self):
        parent = Layer(1.5)
        parent.children = [Layer(2.5, parent=parent), {"up": parent}]
        zero = zero_tangent(parent)
        assert zero.children[0].parent is zero
        assert zero.children[1]["up"] is zero

    def test_cycles_without_numbers(self):
        link = Link("a")
        assert zero_tangent(link) is zero_tangent([link]) is D
        other = Link("b")
        link.next, other.next = other, link
        assert zero_tangent(link) is D
        other.data = 1.5
        assert zero_tangent(link).next.next.next.data == 0.0

    @pytest.mark.parametrize("cls", [list, dict])
    def test_a_value_that_holds_itself(self, cls):
        x = cls()
        x.extend([1.5, x]) if cls is list else x.update(a=1.5, b=x)
        with pytest.raises(UnsupportedError) as caught:
            zero_tangent(x)
        assert str(caught.value) == (
            f"a {cls.__name__} must not hold itself to have a tangent: such a tangent "
            "is a value, which cannot. Hold it through an instance of a class."
        )

    def test_a_long_chain_is_visited_once(self):
        # Each link refers twice to the next: 2^40 paths, 41 instances.
        link = Layer(1.5)
        for _ in range(40):
            link = Layer(1.5, left=link, right=link)
        zero = zero_tangent(link)
        assert zero.left is zero.right


class TestTangentsOfTangents:
    def test_are_tangents_of_the_same_primal(self):
        t = Tangent(Point, x=1.0, n=D)
        assert zero_tangent(t) == Tangent(Point, x=0.0, n=D)
        m = zero_tangent(MutableTangent(Layer, w=2.0))
        assert type(m) is MutableTangent
        assert backing(m) == {"w": 0.0}

    def test_zeros(self):
        assert zero_tangent(Z) is Z
        assert zero_tangent(D) is D
        assert zero_tangent(thunk(lambda: pytest.fail("was forced"))) is Z

    def test_not_implemented_has_none(self):
        with pytest.raises(DerivativeNotImplemented, match="its zero is needed"):
            zero_tangent(not_implemented("why"))


LEAVES = st.one_of(st.floats(), st.integers(), st.text(max_size=2), st.none())
PRIMALS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.builds(Point, inner, inner),
        st.builds(Frozen, inner),
        st.builds(Layer, inner),
    ),
    max_leaves=8,
)


@given(PRIMALS)
def test_zero_belongs_to_the_tangent_type(x):
    zero = zero_tangent(x)
    assert isinstance(zero, tangent_type(x))
    assert has_tangent(x) == (zero is not D)
    assert zero + zero == zero


class TestClassesThatSayWhatTheyAreMadeOf:
    def test_nothing(self):
        class Sealed:
            x = 1.0

            def __tangent_structure__(self):
                return None

        assert zero_tangent(Sealed()) is NoTangent()

    def test_something_else(self):
        class Wrong:
            def __tangent_structure__(self):
                return ["x"]

        with pytest.raises(UnsupportedError) as caught:
            zero_tangent(Wrong())
        assert str(caught.value) == (
            "__tangent_structure__ of TestClassesThatSayWhatTheyAreMadeOf."
            "test_something_else.<locals>.Wrong must return a Structure or None, but "
            "got ['x']."
        )
