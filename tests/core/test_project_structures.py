"""Projections of containers, instances, sparse matrices and thunks."""

import collections
import pickle
import types

import numpy as np
import pytest

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
    not_implemented,
    thunk,
    unthunk,
)
from tests.core.primals import Frozen, Layer, Point, never, same

Z, D = ZeroTangent(), NoTangent()


N = not_implemented("why")


EACH = "Return one entry for each"


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
                "x must have the entries [0, 1] of a tuple, but got [0]. " + EACH,
            ),
            (
                [1.0],
                Tangent(list),
                "x must have the entries [0] of a list, but got []. " + EACH,
            ),
            (
                {"w": [1.0, np.ones(3)]},
                {"w": [1.0, np.ones(4)]},
                "x['w'][1] must have shape (3,), or one that (3,) broadcasts to, but "
                "got shape (4,). Sum, broadcast or reshape it in the rule",
            ),
            (
                {"w": 1.0},
                {"v": 1.0},
                "x must have the entries [w] of a dict, but got [v]. " + EACH,
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
                "x must have the entries [x, y] of a Point, but got [0]. " + EACH,
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
                "x[0] must have the entries [scale, name] of a Frozen, but got [q]. "
                + EACH,
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
