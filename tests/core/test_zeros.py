"""Zeros and derivatives that nobody has written: the algebra of ChainRulesCore."""

import copy
import operator
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rules_core import (
    AbstractTangent,
    AbstractZero,
    DerivativeNotImplemented,
    NoTangent,
    NotImplementedTangent,
    Tangent,
    UnsupportedError,
    ZeroTangent,
    not_implemented,
    thunk,
    unthunk,
)

Z, D = ZeroTangent(), NoTangent()
N = not_implemented("derivative in the order", issue="issue 12")
NUMBERS = [2.5, 3, 1 - 2j, np.float64(1.5), np.float32(2.0), True]
VALUES = [*NUMBERS, "text", None, (1.0, 2.0), [1.0], {"a": 1.0}]


def same(a, b):
    """The same object, or the same number."""
    return a is b or (type(a) is type(b) and a == b)


@pytest.mark.parametrize("cls", [ZeroTangent, NoTangent])
class TestSingletons:
    def test_there_is_one(self, cls):
        assert cls() is cls()
        assert isinstance(cls(), AbstractZero)
        assert isinstance(cls(), AbstractTangent)

    def test_copies_are_the_same(self, cls):
        assert copy.copy(cls()) is copy.deepcopy(cls()) is cls()

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_pickles_to_itself(self, cls, protocol):
        assert pickle.loads(pickle.dumps(cls(), protocol)) is cls()

    def test_one_for_all_threads(self, cls):
        found = []
        threads = [threading.Thread(target=lambda: found.append(cls())) for _ in "12"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [cls(), cls()]
        assert found[0] is found[1]

    def test_hash_and_equality_are_by_identity(self, cls):
        assert {cls(): 1}[cls()] == 1
        assert cls() != 0.0
        assert {Z, D} == {D, Z}
        assert len({Z, D, Z}) == 2

    def test_repr(self, cls):
        assert repr(cls()) == f"{cls.__name__}()"


class TestConversions:
    @pytest.mark.parametrize("z", [Z, D])
    def test_is_the_number_zero(self, z):
        assert same(float(z), 0.0)
        assert same(int(z), 0)
        assert same(complex(z), 0j)
        assert same(bool(z), False)

    @pytest.mark.parametrize("z", [Z, D])
    def test_is_the_zero_of_every_shape(self, z):
        assert z[0] is z[1:3] is z[0, 1] is z[()] is z["name"] is z
        assert z.field is z.T is z.mT is z.real is z.imag is z
        assert list(z) == [z]
        (only,) = z
        assert only is z

    @pytest.mark.parametrize("z", [Z, D])
    def test_linear_methods(self, z):
        assert z.sum() is z.sum(axis=0) is z.reshape(2, 3) is z.conj() is z
        assert z.transpose() is z.conjugate() is z.astype("float32") is z.ravel() is z
        assert np.sum(z) is np.sum(z, axis=1) is np.reshape(z, (1, 2)) is z
        assert np.transpose(z) is np.conj(z) is np.real(z) is np.imag(z) is z

    @pytest.mark.parametrize("name", ["shape", "dtype", "ndim", "size", "_hidden"])
    def test_has_no_metadata(self, name):
        with pytest.raises(AttributeError) as caught:
            getattr(Z, name)
        assert str(caught.value) == f"ZeroTangent() has no attribute '{name}'"

    def test_the_base_class_is_abstract(self):
        with pytest.raises(TypeError) as caught:
            AbstractZero()
        message = "AbstractZero is abstract: use ZeroTangent() or NoTangent()"
        assert str(caught.value) == message


class TestAlgebraOfZeros:
    """`zero + x = x`, `zero * x = zero`; NoTangent wins `+`, ZeroTangent `*`."""

    @pytest.mark.parametrize("z", [Z, D])
    @pytest.mark.parametrize("x", VALUES, ids=repr)
    def test_sum_with_a_value(self, z, x):
        assert z + x is x
        assert x + z is x
        assert x - z is x

    @pytest.mark.parametrize("z", [Z, D])
    @pytest.mark.parametrize("x", NUMBERS, ids=repr)
    def test_scaling(self, z, x):
        assert z * x is x * z is z @ x is x @ z is z / x is z

    @pytest.mark.parametrize("z", [Z, D])
    def test_subtraction_from_zero(self, z):
        assert z - 2.5 == -2.5
        assert (z - np.ones(2)).tolist() == [-1.0, -1.0]

    def test_zeros_with_zeros(self):
        assert Z + Z is Z - Z is Z * Z is Z @ Z is -Z is +Z is Z
        assert D + D is D - D is D * D is D @ D is -D is +D is D
        assert D + Z is Z + D is D - Z is Z - D is D
        assert D * Z is Z * D is D @ Z is Z @ D is Z
        assert Z / D is Z / N is Z
        assert D / Z is D / N is D

    @pytest.mark.parametrize("z", [Z, D])
    def test_division_by_zero(self, z):
        with pytest.raises(ZeroDivisionError) as caught:
            1.0 / z
        assert str(caught.value) == f"float must be divided by a number, but got {z!r}"

    @pytest.mark.parametrize("z", [Z, D])
    def test_structural_tangents(self, z):
        t = Tangent(tuple, 1.0, 2.0)
        assert t + z is z + t is t - z is t
        assert z - t == Tangent(tuple, -1.0, -2.0)
        assert t * z is z * t is z

    @pytest.mark.parametrize("z", [Z, D])
    def test_thunks_stay_unforced(self, z):
        lazy = thunk(lambda: pytest.fail("was forced"))
        assert lazy + z is z + lazy is lazy - z is lazy
        assert lazy * z is z * lazy is z @ lazy is z / lazy is z


@pytest.mark.parametrize("z", [Z, D])
class TestArrays:
    def test_from_the_right(self, backend, z):
        x = backend.array([1.0, 2.0])
        assert z + x is x
        assert z * x is z @ x is z / x is z
        assert [float(entry) for entry in z - x] == [-1.0, -2.0]

    def test_from_the_left(self, backend, z):
        x = backend.array([1.0, 2.0])
        if backend.name == "array_api_strict":
            with pytest.raises(TypeError, match="Expected Array or Python scalar"):
                x + z
            return
        assert x + z is x - z is x
        assert x * z is x @ z is z

    def test_left_of_a_scalar_array(self, backend, z):
        x = backend.array(2.0)
        assert z + x is x
        assert z * x is z

    def test_in_place(self, z):
        x = y = np.ones(2)
        y += z
        assert y is x
        assert x.tolist() == [1.0, 1.0]
        y *= z
        assert y is z
        assert x.tolist() == [1.0, 1.0]

    def test_ufuncs(self, z):
        x = np.ones(2)
        assert np.add(x, z) is np.subtract(x, z) is np.add(z, x) is x
        assert np.multiply(x, z) is np.matmul(z, x) is np.divide(z, x) is z
        assert np.negative(z) is np.positive(z) is np.conjugate(z) is z

    @pytest.mark.parametrize("function", [np.exp, np.maximum.reduce])
    def test_other_ufuncs_are_refused(self, z, function):
        with pytest.raises(TypeError):
            function(z)

    @pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "coo_array"])
    def test_sparse_matrices(self, z, kind):
        sparse = pytest.importorskip("scipy.sparse")
        x = getattr(sparse, kind)(np.eye(2))
        assert x + z is z + x is x - z is x
        assert x * z is z * x is x @ z is z @ x is z
        assert (z - x).toarray().tolist() == [[-1.0, 0.0], [0.0, -1.0]]

    def test_traced(self, z):
        jax = pytest.importorskip("jax")

        def f(x):
            assert x + z is z + x is x
            assert x * z is z * x is z
            return x

        jax.jit(f)(1.0)
        jax.vmap(f)(np.ones(3))
        jax.grad(f)(1.0)

    def test_torch_in_place_and_transformed(self, z):
        torch = pytest.importorskip("torch")
        x = y = torch.nn.Parameter(torch.ones(2))
        y += z
        assert y is x

        def f(x):
            assert x + z is z + x is x
            return (x * 1.0).sum()

        torch.func.grad(f)(torch.ones(2))
        torch.func.vmap(f)(torch.ones(2, 3))


class TestNotImplemented:
    def test_wins_sums(self):
        for x in (*VALUES, Z, D, thunk(lambda: pytest.fail("was forced"))):
            assert N + x is x + N is N
        other = not_implemented("another")
        assert N + other is N
        assert other + N is other

    def test_loses_products_to_zeros(self):
        assert N * Z is Z * N is N @ Z is Z @ N is Z
        assert N * D is D * N is N @ D is D @ N is D

    def test_wins_other_products(self):
        for x in (*NUMBERS, thunk(lambda: pytest.fail("was forced"))):
            assert N * x is x * N is N @ x is x @ N is N
        other = not_implemented("another")
        assert N * other is N
        assert other * N is other
        t = Tangent(tuple, 1.0)
        assert N * t is t * N is N + t is t + N is N

    def test_linear_operations(self):
        assert +N is -N is N.conj() is N.conjugate() is N.real is N.imag is N

    def test_arrays(self, backend):
        x = backend.array([1.0, 2.0])
        assert N + x is N * x is N @ x is N
        if backend.name != "array_api_strict":
            assert x + N is x * N is x @ N is N

    @pytest.mark.parametrize("op", [operator.sub, operator.truediv])
    @pytest.mark.parametrize("x", [*NUMBERS, Tangent(tuple, 1.0), N], ids=repr)
    def test_raises_where_a_number_is_needed(self, op, x):
        with pytest.raises(DerivativeNotImplemented):
            op(N, x)
        with pytest.raises(DerivativeNotImplemented):
            op(x, N)

    @pytest.mark.parametrize("z", [Z, D])
    def test_zeros_are_not_subtracted_either(self, z):
        with pytest.raises(DerivativeNotImplemented):
            N - z
        with pytest.raises(DerivativeNotImplemented):
            z - N

    @pytest.mark.parametrize(
        "use",
        [
            *(float, complex, int, bool, iter, operator.itemgetter(0)),
            *map(operator.attrgetter, ("T", "mT")),
            operator.methodcaller("transpose"),
        ],
        ids=repr,
    )
    def test_raises_where_a_value_is_needed(self, use):
        with pytest.raises(DerivativeNotImplemented, match="its value is needed"):
            use(N)

    def test_knows_its_place(self):
        n = not_implemented("why")
        assert (n.info, n.issue, n.module) == ("why", "", __name__)
        assert n.file == __file__
        first = TestNotImplemented.test_knows_its_place.__code__.co_firstlineno
        assert n.line == first + 1

    def test_is_a_value(self):
        assert pickle.loads(pickle.dumps(N)) == N
        assert hash(pickle.loads(pickle.dumps(N))) == hash(N)
        assert copy.copy(N) is copy.deepcopy(N) is N
        assert not_implemented("why") != N
        assert N != Z
        assert repr(N) == (
            "NotImplementedTangent('derivative in the order', issue='issue 12')"
        )
        assert repr(NotImplementedTangent("why")) == "NotImplementedTangent('why')"

    def test_error_text(self):
        n = NotImplementedTangent("no formula", "issue 12", "pack.bessel", "b.py", 7)
        with pytest.raises(DerivativeNotImplemented) as caught:
            n.throw("rrule jv_rrule for jv, argument v")
        assert str(caught.value) == (
            "this derivative is not implemented (rrule jv_rrule for jv, argument v): "
            "no formula. Declared in pack.bessel, b.py:7. See issue 12."
        )
        assert isinstance(caught.value, UnsupportedError)
        assert caught.value.tangent is n
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)

    def test_error_text_without_context(self):
        n = NotImplementedTangent("no formula", "", "pack.bessel", "b.py", 7)
        with pytest.raises(DerivativeNotImplemented) as caught:
            n - 1.0
        assert str(caught.value) == (
            "this derivative is not implemented (in a subtraction): no formula. "
            "Declared in pack.bessel, b.py:7."
        )


TERMS = st.one_of(
    st.integers(-9, 9).map(float),
    st.sampled_from([Z, D, N]),
    st.integers(-9, 9).map(lambda n: thunk(lambda: float(n))),
)


class TestLaws:
    """Tangents of every kind are a module over the numbers."""

    @given(TERMS, TERMS, TERMS)
    def test_sums_are_associative_and_commutative(self, a, b, c):
        assert unthunk((a + b) + c) == unthunk(a + (b + c))
        assert unthunk(a + b) == unthunk(b + a)

    @given(st.integers(-9, 9).map(float), TERMS, TERMS)
    def test_scaling_is_linear(self, s, a, b):
        assert unthunk(s * (a + b)) == unthunk(s * a + s * b)
        assert unthunk(s * a) == unthunk(a * s)
        assert unthunk(1.0 * a) == unthunk(a)

    @given(TERMS)
    def test_zeros_are_neutral(self, a):
        assert unthunk(a + Z) == unthunk(Z + a) == unthunk(a)
        assert a * Z is Z * a is Z


class TestNewTangents:
    def test_what_a_subclass_lacks_is_refused(self):
        class Bare(AbstractTangent):
            pass

        for op in (operator.add, operator.sub, operator.mul, operator.truediv):
            with pytest.raises(TypeError, match="unsupported operand"):
                op(Bare(), 1.0)
        bare = Bare()
        assert +bare is bare
        assert bare + Z is bare
        assert bare * Z is Z
        assert bare + N is N


def test_cases_of_the_design():
    """The algebra line of the cases with known answers."""
    assert N + 2.0 is N
    assert N * ZeroTangent() is Z
    assert NoTangent() + ZeroTangent() is D
    assert NoTangent() * ZeroTangent() is Z
    with pytest.raises(DerivativeNotImplemented):
        N - 2.0
