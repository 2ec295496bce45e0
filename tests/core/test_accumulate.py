"""Sums of tangents, and sums into memory that is owned."""

import operator
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as npst

from rules_core import (
    InplaceableThunk,
    MutableTangent,
    NoTangent,
    ProjectionError,
    Tangent,
    UnsupportedError,
    ZeroTangent,
    accumulate,
    backing,
    is_inplaceable_destination,
    not_implemented,
    rrule,
    thunk,
    unthunk,
)

Z, D = ZeroTangent(), NoTangent()
N = not_implemented("why")


class Layer:
    pass


def add_two(x):
    x += 2.0
    return x


def lazy_two():
    return InplaceableThunk(add_two, thunk(lambda: np.full(2, 2.0)))


class TestDestinations:
    X = np.arange(24.0).reshape(2, 3, 4)

    @pytest.mark.parametrize(
        "x",
        [
            np.ones(3),
            np.ones((2, 0)),
            np.array(1.0),
            np.ones((2, 3), "F", order="F"),
            np.ones(2, np.float16),
            X[:, 1:],
            X[..., ::2],
            X[::-1, :, ::-1],
            X.T,
            X[:, None, 1],
        ],
        ids=lambda x: f"{x.shape}{x.strides}{x.dtype.char}",
    )
    def test_floating_arrays_and_their_views(self, x):
        assert is_inplaceable_destination(x)

    @pytest.mark.parametrize(
        "x",
        [
            1.0,
            2,
            np.float64(1.0),
            np.ones(3, int),
            np.ones(3, bool),
            np.ones(3, object),
            np.broadcast_to(np.ones(3), (4, 3)),
            np.broadcast_to(1.0, (4,)),
            np.lib.stride_tricks.sliding_window_view(np.ones(5), 3, writeable=True),
            np.ones(3).view(type("Units", (np.ndarray,), {})),
            np.ma.masked_array([1.0]),
            (1.0,),
            Tangent(tuple, np.ones(2)),
            Z,
            N,
            None,
        ],
        ids=lambda x: " ".join(repr(x).split()),
    )
    def test_nothing_else(self, x):
        assert not is_inplaceable_destination(x)

    def test_overlap_by_strides(self):
        base = np.ones(6)
        strided = np.lib.stride_tricks.as_strided
        assert not is_inplaceable_destination(strided(base, (2, 2), (0, 8)))
        assert not is_inplaceable_destination(strided(base, (3, 2), (8, 8)))
        assert is_inplaceable_destination(strided(base, (1, 2), (0, 8)))

    def test_read_only(self):
        x = np.ones(3)
        x.flags.writeable = False
        assert not is_inplaceable_destination(x)

    def test_memory_maps_are_files(self, tmp_path):
        x = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=(3,))
        assert not is_inplaceable_destination(x)
        x._mmap.close()

    def test_mutable_tangents(self):
        assert is_inplaceable_destination(MutableTangent(Layer))

    def test_jax(self):
        jax = pytest.importorskip("jax")
        assert not is_inplaceable_destination(jax.numpy.ones(3))
        found = []
        jax.make_jaxpr(lambda x: found.append(is_inplaceable_destination(x)))(1.0)
        assert found == [False]

    def test_torch(self):
        torch = pytest.importorskip("torch")
        x = torch.ones(2, 3)
        assert is_inplaceable_destination(x)
        assert is_inplaceable_destination(x.T)
        assert is_inplaceable_destination(x[:, 1:])
        assert not is_inplaceable_destination(x.int())
        assert not is_inplaceable_destination(x[:1].expand(4, 3))
        assert not is_inplaceable_destination(x.to_sparse())
        assert not is_inplaceable_destination(torch.nn.Parameter(x))
        assert not is_inplaceable_destination(torch.ones(2, requires_grad=True) * 2)
        with torch.inference_mode():
            y = torch.ones(2)
        assert not is_inplaceable_destination(y)
        found = []

        def f(x):
            found.append(is_inplaceable_destination(x))
            return x.sum()

        torch.func.vmap(f)(x)
        torch.func.grad(f)(x)
        assert found == [False, False]

    def test_array_api_strict(self):
        strict = pytest.importorskip("array_api_strict")
        assert not is_inplaceable_destination(strict.ones(3))


class TestValues:
    @pytest.mark.parametrize(
        ("x", "y", "total"),
        [
            (12.0, 4.0, 16.0),
            (1.0, 2j, 1 + 2j),
            (12.0, thunk(lambda: 4.0), 16.0),
            (12.0, Z, 12.0),
            (12.0, D, 12.0),
            (Z, 12.0, 12.0),
            (D, Z, D),
            (N, 12.0, N),
            (12.0, N, N),
            (N, Z, N),
            (np.float64(1.0), np.array(2.0), 3.0),
        ],
        ids=repr,
    )
    def test_sums(self, x, y, total):
        assert accumulate(x, y) == total

    def test_a_zero_gives_the_other_itself(self):
        y, lazy = np.ones(2), thunk(lambda: pytest.fail("was forced"))
        assert accumulate(Z, y) is accumulate(D, y) is accumulate(y, Z) is y
        assert accumulate(Z, lazy) is lazy
        assert accumulate(N, lazy) is N

    def test_arrays(self, backend):
        x, y = backend.array([1.0, 2.0]), backend.array([3.0, 4.0])
        total = accumulate(x, y, owned=True)
        assert [float(entry) for entry in total] == [4.0, 6.0]
        assert (total is x) == (backend.name in ("numpy", "torch"))
        assert [float(entry) for entry in y] == [3.0, 4.0]

    def test_thunks(self, backend):
        x = backend.array([1.0, 2.0])
        total = accumulate(x, thunk(lambda: backend.array([3.0, 4.0])), owned=True)
        assert [float(entry) for entry in total] == [4.0, 6.0]
        assert float(accumulate(x, thunk(lambda: Z))[0]) == float(x[0])

    def test_writes_only_where_it_may(self):
        x = np.broadcast_to(np.ones(2), (3, 2))
        total = accumulate(x, np.ones((3, 2)), owned=True)
        assert total is not x
        assert total.tolist() == [[2.0, 2.0]] * 3
        assert x.tolist() == [[1.0, 1.0]] * 3

    @pytest.mark.parametrize(
        ("x", "y"),
        [
            (np.ones(2), np.ones(2) * 1j),
            (np.ones(2, "f"), np.ones(2)),
            (np.ones(2, int), np.ones(2)),
        ],
        ids=["complex", "double", "integer"],
    )
    def test_widens_rather_than_loses(self, x, y):
        total = accumulate(x, y, owned=True)
        assert total is not x
        assert total.dtype == (x + y).dtype
        assert total.tolist() == (x + y).tolist()

    def test_with_itself(self):
        x = np.ones(3)
        assert accumulate(x, x, owned=True).tolist() == [2.0, 2.0, 2.0]
        x = np.arange(3.0)
        assert accumulate(x, x[::-1], owned=True).tolist() == [2.0, 2.0, 2.0]

    def test_with_itself_in_torch(self):
        torch = pytest.importorskip("torch")
        x = torch.ones(3)
        assert accumulate(x, x, owned=True).tolist() == [2.0, 2.0, 2.0]
        x = torch.arange(4.0)
        assert accumulate(x[:2], x[1:3], owned=True).tolist() == [1.0, 3.0]
        assert accumulate(x[1:], x[:3], owned=True).tolist() == [1.0, 3.0, 5.0]

    def test_recorded_tensors_are_not_written_to(self):
        torch = pytest.importorskip("torch")
        x, y = torch.ones(2), torch.ones(2, requires_grad=True)
        assert accumulate(x, y, owned=True) is not x
        assert accumulate(y, x, owned=True) is not y
        assert not x.requires_grad

    @pytest.mark.parametrize("shape", [(2, 2), (16,), (1, 4), ()])
    def test_shapes_must_agree(self, backend, shape):
        x, y = backend.xp.ones((4, 4)), backend.xp.ones(shape)
        with pytest.raises(ProjectionError) as caught:
            accumulate(x, y)
        assert str(caught.value) == (
            "the tangent of what is accumulated must have shape (4, 4), but got shape "
            f"{shape}."
        )

    def test_a_number_does_not_spread_over_an_array(self, backend):
        x = backend.xp.ones((4,))
        with pytest.raises(ProjectionError) as caught:
            accumulate(x, 21.0)
        assert str(caught.value) == (
            "the tangent of what is accumulated must have shape (4,), but got a float."
        )
        assert float(accumulate(backend.xp.ones(()), 21.0)) == 22.0


class TestInplaceableThunks:
    def test_in_place(self):
        x = np.ones(2)
        assert accumulate(x, lazy_two(), owned=True) is x
        assert x.tolist() == [3.0, 3.0]

    def test_out_of_place(self):
        x = np.broadcast_to(np.ones(1), (2,))
        total = accumulate(x, lazy_two(), owned=True)
        assert total.tolist() == [3.0, 3.0]
        assert x.tolist() == [1.0, 1.0]

    def test_onto_zero(self):
        total = accumulate(Z, lazy_two())
        assert unthunk(total).tolist() == [2.0, 2.0]

    def test_only_the_result_counts(self):
        lazy = InplaceableThunk(lambda x: 77 * x, thunk(lambda: pytest.fail("forced")))
        assert accumulate(np.ones(2), lazy, owned=True).tolist() == [77.0, 77.0]

    def test_a_forgotten_return_is_an_error(self):
        def add(x):
            x += 1.0

        lazy = InplaceableThunk(add, thunk(abs))
        with pytest.raises(UnsupportedError) as caught:
            accumulate(np.ones(2), lazy, owned=True)
        assert str(caught.value) == (
            f"add of {lazy!r} must return the array that it was given, but got None. "
            "End it with `return x`."
        )


class TestStructures:
    def test_entries_are_accumulated(self):
        x = Tangent(tuple, np.ones(2), 1.0, Z)
        kept = x[0]
        total = accumulate(x, Tangent(tuple, np.ones(2), 2.0, lazy_two()), owned=True)
        assert total[0] is kept
        assert kept.tolist() == [2.0, 2.0]
        assert total[1] == 3.0
        assert total[2].tolist() == [2.0, 2.0]
        assert x[1] == 1.0

    def test_mutable_tangents_stay_themselves(self):
        x, y = MutableTangent(Layer, w=1.0), MutableTangent(Layer, w=2.0, b=3.0)
        assert accumulate(x, y, owned=True) is x
        assert backing(x) == {"w": 3.0, "b": 3.0}
        assert backing(y) == {"w": 2.0, "b": 3.0}

    def test_shared_and_cyclic_tangents_are_accumulated_once(self):
        def linked(w):
            t = MutableTangent(Layer, w=w)
            t.me = t
            return t

        x, y = linked(1.0), linked(2.0)
        pairs = Tangent(tuple, x, x), Tangent(tuple, y, y)
        total = accumulate(*pairs, owned=True)
        assert total[0] is total[1] is x
        assert x.w == 3.0
        assert x.me is x

    def test_zeros(self):
        t = MutableTangent(Layer, w=1.0)
        assert accumulate(t, Z) is accumulate(Z, t) is t
        assert accumulate(t, N) is N

    def test_other_structures_are_errors(self):
        with pytest.raises(TypeError, match="unsupported operand"):
            accumulate(1.0, Tangent(tuple, 1.0))
        with pytest.raises(TypeError):
            accumulate(np.ones(1), Tangent(tuple, 1.0))
        with pytest.raises(TypeError, match="only tangents of the same class"):
            accumulate(Tangent(tuple, 1.0), Tangent(list, 1.0))
        with pytest.raises(TypeError, match="must have equally many entries"):
            accumulate(Tangent(tuple, 1.0), Tangent(tuple, 1.0, 2.0))


SHAPE = npst.array_shapes(min_dims=0, max_dims=2, max_side=3)


class TestSumsAreSums:
    @given(SHAPE, st.tuples(*[st.sampled_from("fdFD")] * 2), st.data())
    def test_value_and_dtype_are_those_of_the_sum(self, shape, chars, data):
        x, y = (data.draw(npst.arrays(char, shape)) for char in chars)
        with np.errstate(all="ignore"):
            expected, kept = x + y, y.copy()
            total = accumulate(x, y)
            into = accumulate(x.copy(), y, owned=True)
        np.testing.assert_array_equal(total, expected)
        np.testing.assert_array_equal(into, expected)
        assert total.dtype == into.dtype == expected.dtype
        np.testing.assert_array_equal(y, kept)


def tangents(array):
    """One tangent of each kind that holds an array, with that array."""
    lazy = InplaceableThunk(add_two, thunk(lambda: array([2.0, 2.0])))
    return {
        "array": array([1.0, 2.0]),
        "thunk": thunk(partial(array, [1.0, 2.0])),
        "adding": lazy,
        "tuple": Tangent(tuple, array([1.0, 2.0]), 3.0),
        "nested": Tangent(dict, {"w": Tangent(list, array([1.0, 2.0]))}),
        "mutable": MutableTangent(Layer, w=array([1.0, 2.0])),
        "bare tuple": (array([1.0, 2.0]), 3.0),
        "bare dict": {"w": [array([1.0, 2.0])]},
    }


KINDS = list(tangents(np.array))
ARRAYS = ["array", "thunk", "adding"]
PAIRS = [(a, b) for a in ARRAYS for b in ARRAYS] + [(k, k) for k in KINDS[3:]]


def numbers(tangent):
    """All numbers in a tangent, and what arrays hold them."""
    tangent = unthunk(tangent)
    if isinstance(tangent, (Tangent, MutableTangent)):
        tangent = list(backing(tangent).values())
    if isinstance(tangent, dict):
        tangent = list(tangent.values())
    if isinstance(tangent, (list, tuple)):
        return [number for entry in tangent for number in numbers(entry)]
    return np.ravel(np.asarray(tangent)).tolist()


class TestOthersMayHoldBoth:
    """A pullback's caller holds the cotangent that came in, and each that goes out."""

    @pytest.mark.covering(every=3)
    @pytest.mark.parametrize(("first", "second"), PAIRS, ids=str)
    def test_a_sum_writes_to_neither(self, backend, first, second):
        x, y = tangents(backend.array)[first], tangents(backend.array)[second]
        before = numbers(x), numbers(y)
        total = accumulate(x, y)
        assert numbers(total) == np.add(*before).tolist()
        assert (numbers(x), numbers(y)) == before

    @pytest.mark.covering(strength=1)
    @pytest.mark.parametrize("owned", [False, True])
    @pytest.mark.parametrize("start", [Z, D, None], ids=str)
    @pytest.mark.parametrize("kind", KINDS)
    def test_a_sum_that_starts_from_zero(self, backend, kind, start, owned):
        terms = [tangents(backend.array)[kind] for _ in range(3)]
        before = [numbers(term) for term in terms]
        total = start
        for term in terms:
            total = accumulate(total, term, owned=owned)
        assert numbers(total) == np.sum(before, axis=0).tolist()
        assert [numbers(term) for term in terms] == before

    def test_fields_that_only_the_second_has(self):
        y = MutableTangent(Layer, w=np.ones(2))
        total = accumulate(MutableTangent(Layer), y, owned=True)
        total = accumulate(total, y, owned=True)
        assert total.w.tolist() == [2.0, 2.0]
        assert y.w.tolist() == [1.0, 1.0]

    def test_in_a_pullback_that_returns_its_cotangent_twice(self):
        def affine(x):
            return x + 3.0 * x

        @rrule.define(affine)
        def affine_rrule(x):
            def affine_pullback(dy):
                return NoTangent(), accumulate(dy, 3.0 * dy)

            return affine(x), affine_pullback

        dy = np.ones(2)
        pullback = rrule(affine, np.ones(2))[1]
        assert [pullback(dy)[1].tolist() for _ in range(2)] == [[4.0, 4.0]] * 2
        assert dy.tolist() == [1.0, 1.0]


class TestBareContainers:
    """Python joins and repeats what an author means to be added and scaled."""

    @pytest.mark.parametrize(
        ("x", "y", "total"),
        [
            ([1.0], [2.0], [3.0]),
            ((1.0, [2.0]), (3.0, [4.0]), (4.0, [6.0])),
            ({"a": 1.0}, {"a": 2.0, "b": 3.0}, {"a": 3.0, "b": 3.0}),
            ((None, 1.0), (2.0, None), (2.0, 1.0)),
            (Tangent(list, 1.0), [2.0], Tangent(list, 3.0)),
            ([1.0], Tangent(list, 2.0), Tangent(list, 3.0)),
            (thunk(lambda: [1.0]), [2.0], [3.0]),
            ([1.0], thunk(lambda: [2.0]), [3.0]),
            (thunk(lambda: [1.0]), thunk(lambda: [2.0]), [3.0]),
        ],
        ids=repr,
    )
    def test_are_added_entry_by_entry(self, x, y, total):
        assert accumulate(x, y) == accumulate(x, y, owned=True) == total

    def test_inside_tangents(self):
        dx = Tangent(tuple, [1.0])
        assert dx + dx == 2 * dx == Tangent(tuple, [2.0])
        assert dx - dx == Tangent(tuple, [0.0])
        assert operator.add(([10.0],), dx) == ([11.0],)

    @pytest.mark.parametrize(
        ("combine", "x", "y"),
        [
            (accumulate, [1.0], (2.0,)),
            (accumulate, [1.0], [2.0, 3.0]),
            (accumulate, np.ones(1), [1.0]),
            (accumulate, [1.0], np.ones(1)),
            (accumulate, 1.0, [1.0]),
            (accumulate, Tangent(list, 1.0), (1.0,)),
            (operator.mul, 2, thunk(lambda: [1.0])),
            (operator.add, thunk(lambda: [1.0]), [2.0]),
            (operator.add, (2.0,), thunk(lambda: (1.0,))),
        ],
    )
    def test_others_are_errors(self, combine, x, y):
        with pytest.raises(TypeError, match=r"to be added|cannot be added|bare"):
            combine(x, y)
