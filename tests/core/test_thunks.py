"""Lazy tangents: forced once, only when needed, and by nothing else."""

import copy
import operator
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rules_core import (
    AbstractThunk,
    InplaceableThunk,
    NoTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    accumulate,
    thunk,
    unthunk,
)


def add_one(x):
    x += 1.0
    return x


class Counted:
    """A function that counts its calls."""

    def __init__(self, value):
        self.value, self.calls = value, 0

    def __call__(self):
        self.calls += 1
        return self.value


class TestUnthunk:
    def test_removes_one_layer(self):
        inner = thunk(lambda: 3.0)
        outer = thunk(lambda: inner)
        assert unthunk(outer) is inner
        assert unthunk(unthunk(outer)) == 3.0

    @pytest.mark.parametrize("x", [3.0, None, (1.0,), ZeroTangent()], ids=repr)
    def test_leaves_everything_else_alone(self, x):
        assert unthunk(x) is x

    def test_is_remembered(self):
        counted = Counted(np.ones(2))
        lazy = thunk(counted)
        assert unthunk(lazy) is unthunk(lazy) is counted.value
        assert counted.calls == 1

    def test_drops_the_function_when_it_is_done(self):
        import weakref

        counted = Counted(3.0)
        reference = weakref.ref(counted)
        lazy = thunk(counted)
        del counted
        assert reference() is not None
        unthunk(lazy)
        assert reference() is None

    def test_an_error_is_not_remembered(self):
        results = iter([ValueError("not yet"), 3.0])

        def compute():
            result = next(results)
            if isinstance(result, Exception):
                raise result
            return result

        lazy = thunk(compute)
        with pytest.raises(ValueError, match="not yet"):
            unthunk(lazy)
        assert unthunk(lazy) == 3.0

    def test_threads_share_one_computation(self):
        calls = []
        gate = threading.Event()

        def compute():
            calls.append(1)
            gate.wait(5)
            return object()

        lazy = thunk(compute)
        with ThreadPoolExecutor(4) as pool:
            futures = [pool.submit(unthunk, lazy) for _ in range(4)]
            gate.set()
            values = {id(future.result()) for future in futures}
        assert len(values) == len(calls) == 1

    def test_a_thunk_may_force_another(self):
        first = thunk(lambda: 2.0)
        assert unthunk(thunk(lambda: first * 3.0)) == 6.0

    def test_must_be_given_a_function(self):
        with pytest.raises(TypeError) as caught:
            thunk(3.0)
        assert str(caught.value) == (
            "thunk must be given a function of no arguments, but got 3.0: write "
            "thunk(lambda: value)"
        )

    def test_decorates(self):
        @thunk
        def lazy():
            return 3.0

        assert isinstance(lazy, Thunk)
        assert isinstance(lazy, AbstractThunk)
        assert unthunk(lazy) == 3.0


OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul,
]  # fmt: skip


class TestOperations:
    @pytest.mark.parametrize("op", OPERATORS)
    def test_arithmetic_is_that_of_the_value(self, op):
        a, b = np.array([1.0, 2.0]), np.array([4.0, 8.0])
        expected = op(a, b)
        lazy = thunk(lambda: a)
        assert np.array_equal(op(lazy, b), expected)
        assert np.array_equal(op(a, thunk(lambda: b)), expected)
        assert np.array_equal(op(lazy, thunk(lambda: b)), expected)

    @pytest.mark.covering(every=3)
    @pytest.mark.parametrize("op", OPERATORS)
    def test_arithmetic_with_arrays(self, backend, op):
        a, b = backend.array([1.0, 2.0]), backend.array([4.0, 8.0])
        expected = op(a, b)
        assert bool(backend.xp.all(op(thunk(lambda: a), b) == expected))
        if backend.name != "array_api_strict":
            assert bool(backend.xp.all(op(a, thunk(lambda: b)) == expected))

    def test_numbers_and_tangents(self):
        assert -thunk(lambda: -1) == 1
        assert thunk(lambda: 2) - 1 == 2 - thunk(lambda: 1) == 1
        assert 1.0 / thunk(lambda: 2) == thunk(lambda: 1) / 2 == 0.5
        assert thunk(lambda: 2) * Tangent(tuple, 1.0) == Tangent(tuple, 2.0)
        assert Tangent(tuple, 1.0) * thunk(lambda: 2) == Tangent(tuple, 2.0)

    def test_numpy_in_place(self):
        x = y = np.ones(2)
        y += thunk(lambda: np.ones(2))
        assert y is x
        assert x.tolist() == [2.0, 2.0]

    def test_conversions(self):
        assert float(thunk(lambda: 2)) == 2.0
        assert int(thunk(lambda: 2.5)) == 2
        assert complex(thunk(lambda: 2)) == 2 + 0j
        assert not thunk(lambda: 0.0)

    def test_reading(self):
        lazy = thunk(lambda: np.array([[1.0, 2.0, 3.0]]))
        assert lazy[0, 1] == 2.0
        assert len(lazy) == 1
        assert [row.tolist() for row in lazy] == [[1.0, 2.0, 3.0]]
        assert (lazy.shape, lazy.ndim, lazy.size) == ((1, 3), 2, 3)
        assert lazy.dtype == np.float64
        assert lazy.sum() == 6.0
        assert lazy.mean() == 2.0
        assert lazy.reshape(3).tolist() == [1.0, 2.0, 3.0]
        assert lazy.real.tolist() == [[1.0, 2.0, 3.0]]
        assert lazy.imag.tolist() == [[0.0, 0.0, 0.0]]

    @pytest.mark.parametrize("name", ["conj", "conjugate"])
    def test_conjugates_lazily(self, name):
        counted = Counted(np.array([1j]))
        lazy = getattr(thunk(counted), name)()
        assert isinstance(lazy, Thunk)
        assert counted.calls == 0
        assert unthunk(lazy).tolist() == [-1j]

    def test_conjugates_every_kind_of_value(self, backend):
        assert unthunk(thunk(lambda: 1j).conj()) == -1j
        assert unthunk(thunk(lambda: Tangent(tuple, 1j)).conj()) == Tangent(tuple, -1j)
        x = backend.array(1.0, "complex128") * 1j
        assert complex(unthunk(thunk(lambda: x).conj())) == -1j
        assert unthunk(thunk(ZeroTangent).conj()) is ZeroTangent()

    @pytest.mark.parametrize("name", ["T", "mT"])
    def test_transposes_lazily(self, name):
        counted = Counted(np.ones((2, 3)))
        lazy = getattr(thunk(counted), name)
        assert isinstance(lazy, Thunk)
        assert counted.calls == 0
        assert unthunk(lazy).shape == (3, 2)

    def test_cannot_be_written_to(self):
        with pytest.raises(TypeError) as caught:
            thunk(lambda: np.ones(2))[0] = 1.0
        assert str(caught.value) == (
            "a thunk must not be written to: call unthunk on it and copy first"
        )


class TestIdentity:
    def test_equality_is_that_of_the_values(self):
        lazy = thunk(lambda: 3.2)
        assert lazy == thunk(lambda: 3.2)
        assert lazy == InplaceableThunk(add_one, thunk(lambda: 3.2))
        assert lazy == 3.2
        assert lazy != 3.0
        assert hash(lazy) == hash(3.2)

    def test_copies(self):
        lazy = thunk(lambda: np.ones(2))
        assert copy.copy(lazy) is lazy
        deep = copy.deepcopy(lazy)
        assert unthunk(deep).tolist() == [1.0, 1.0]
        assert unthunk(deep) is not unthunk(lazy)

    def test_pickles_its_value(self):
        again = pickle.loads(pickle.dumps(thunk(lambda: 3.0)))
        assert isinstance(again, Thunk)
        assert unthunk(again) == 3.0
        lazy = InplaceableThunk(add_one, thunk(lambda: 1.0))
        again = pickle.loads(pickle.dumps(lazy))
        assert again.add is add_one
        assert unthunk(again) == 1.0

    def test_repr_does_not_force(self):
        lazy = thunk(Counted.__call__)
        assert repr(lazy) == "Thunk(Counted.__call__)"
        lazy = thunk(lambda: 3.0)
        unthunk(lazy)
        assert repr(lazy) == "Thunk(3.0)"
        assert repr(InplaceableThunk(add_one, lazy)) == (
            "InplaceableThunk(add_one, Thunk(3.0))"
        )

    def test_looking_does_not_force(self):
        lazy = thunk(lambda: pytest.fail("was forced"))
        assert isinstance(lazy, AbstractThunk)
        assert lazy is not None
        repr(lazy)
        copy.copy(lazy)
        assert lazy + NoTangent() is lazy
        with pytest.raises(AttributeError):
            _ = lazy.no_such_field


class TestInplaceable:
    def test_is_a_thunk(self):
        value = thunk(lambda: np.ones(2))
        lazy = InplaceableThunk(add_one, value)
        assert unthunk(lazy) is unthunk(value)
        assert (lazy + 1.0).tolist() == [2.0, 2.0]
        assert unthunk(lazy.conj()).tolist() == [1.0, 1.0]

    def test_adds_in_place_without_the_value(self):
        lazy = InplaceableThunk(add_one, thunk(lambda: pytest.fail("was forced")))
        x = np.ones(2)
        assert accumulate(x, lazy, owned=True) is x
        assert x.tolist() == [2.0, 2.0]


def test_a_subclass_must_say_how_it_is_forced():
    class Lazy(AbstractThunk):
        pass

    with pytest.raises(TypeError, match=r"^Lazy must define __unthunk__$"):
        unthunk(Lazy())
