"""Nearest neighbours: distances in the data and the points.

Which points are the neighbours is a constant; of equally near ones SciPy's choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
import scipy.spatial as _sp

import rules_core as rc
from rules_scipy._arrays import arrays, concrete, is_numpy, kept, refuse
from rules_scipy._lists import constant_like
from rules_scipy._methods import covers_methods

from ._declare import OWN, covers
from ._facts import Facts, fact, found
from ._lengths import length, with_order

__all__ = ["KDTree", "cKDTree"]


def _neighbours_shape(data: Any, q: Any, tree: Any, box: Any, options: Any) -> Any:
    k = dict(options)["k"]
    count = len(k) if isinstance(k, tuple) else k
    tail = () if isinstance(k, int) and k == 1 else (count,)
    return rc.ShapeDtype((*q.shape[:-1], *tail), np.int64)


def _neighbours(data: Any, q: Any, tree: Any, box: Any, options: Any) -> Any:
    if tree is None:
        tree = _sp.cKDTree(np.asarray(data, float), boxsize=box)
    given = {key: list(x) if isinstance(x, tuple) else x for key, x in options}
    return np.asarray(tree.query(np.asarray(q, float), **given)[1], np.int64)


# The numbers of the nearest points; that of all points where there is none.
neighbours: rc.Primitive = rc.primitive(
    _neighbours,
    host=True,
    out=_neighbours_shape,
    static_argnames=("tree", "box", "options"),
)
rc.non_differentiable(neighbours)


def _indices(data: Any, q: Any, tree: Any, box: Any, options: Any) -> Any:
    data, q = rc.ignore_derivatives(data), rc.ignore_derivatives(q)
    known = None if tree is None else concrete(q)
    if known is None:
        return neighbours(data, q, tree, box, options)
    return constant_like(_neighbours(None, known, tree, box, options), q)


def _initialised(tree: Any, cls: Any, data: Any, args: Any) -> None:
    """SciPy's part of an instance, whose methods in C read it."""
    cls.__init__(tree, data, *args)


rc.non_differentiable(_initialised)


class _Tree:
    """What both classes have.

    Attributes:
        data: The points, `(n, m)`. SciPy's tree reads them where it finds them, so that
            distances follow later writes; it copies those that are no floats in order.
        first: As they were when the tree was made.
        facts: SciPy's tree of the numbers.
    """

    data: Any = None
    first: Any = None
    scipys: Any = None

    def assign(self, data: Any, *args: Any) -> None:
        [x] = arrays(data)
        if "complex" in str(x.dtype):
            message = f"{type(self).__name__} does not work with complex data"
            raise TypeError(message)
        known = concrete(rc.ignore_derivatives(x))
        self.first = kept(x)
        self.data = x if _is_shared(x, args[2]) else self.first
        self.args = args
        self.box = None if args[-1] is None else _box(args[-1], x.shape[1])
        if known is None:
            # SciPy's methods in C raise an error for another number of axes.
            known, args = np.zeros((1, x.shape[1] + 1)), ()
        _initialised(self, self.scipys, np.array(known, float), args)
        self.facts = found(self.scipys, x, *self.args)

    def now(self) -> Facts:
        """SciPy's tree, of the points as they are."""
        _follow(self.facts, self.data)
        return self.facts

    indices = fact("indices")
    tree = fact("tree")
    size = fact("size")

    @property
    def n(self) -> int:
        """The number of points."""
        return int(self.data.shape[0])

    @property
    def m(self) -> int:
        """The number of coordinates."""
        return int(self.data.shape[1])

    @property
    def boxsize(self) -> Any:
        """The lengths of a periodic domain."""
        return None if self.box is None else np.asarray(self.box)

    @property
    def maxes(self) -> Any:
        """The greatest coordinates."""
        return rc.array_namespace(self.first).max(self.first, axis=0)

    @property
    def mins(self) -> Any:
        """The least coordinates."""
        return rc.array_namespace(self.first).min(self.first, axis=0)

    def query_ball_point(self, *args: Any, **kwargs: Any) -> Any:
        """The numbers of the points in balls: constants."""
        return _called(self.now(), "query_ball_point", args, kwargs)

    def query_ball_tree(self, *args: Any, **kwargs: Any) -> Any:
        """The numbers of the points in balls: constants."""
        return _called(self.now(), "query_ball_tree", args, kwargs)

    def query_pairs(self, *args: Any, **kwargs: Any) -> Any:
        """The pairs that are near: constants."""
        return _called(self.now(), "query_pairs", args, kwargs)

    def count_neighbors(
        self, other: Any, r: Any, p: Any = 2, weights: Any = None,
        cumulative: bool = True,
    ) -> Any:  # fmt: skip
        """How many pairs are near, which is constant, or the sum of their weights."""
        if weights is None:
            return _called(self.now(), "count_neighbors", (other, r, p), {
                "cumulative": cumulative
            })  # fmt: skip
        return _weighed(self, other, r, p, weights, cumulative=cumulative)

    def query(
        self, x: Any, k: Any = 1, eps: Any = 0.0, p: Any = 2,
        distance_upper_bound: Any = np.inf, workers: Any = 1,
    ) -> Any:  # fmt: skip
        """Distances of the nearest points, and their numbers, which are constants."""
        p, data, q = with_order(p, self.data, x)
        k = k if isinstance(k, int | np.integer) else tuple(int(i) for i in k)
        options = {
            "k": k, "eps": _number(eps, "eps"), "p": _number(p, "p"),
            "workers": workers,
            "distance_upper_bound": _number(
                distance_upper_bound, "distance_upper_bound"
            ),
        }  # fmt: skip
        i = _indices(data, q, self.now().value, self.box, tuple(options.items()))
        return _distances(data, q, i, self.box, p), i

    def sparse_distance_matrix(
        self, other: Any, max_distance: Any, p: Any = 2,
        output_type: Any = "dok_matrix",
    ) -> Any:  # fmt: skip
        """The distances up to one, in a matrix of SciPy."""
        if not is_numpy(self.data, other.data, p) or output_type == "ndarray":
            refuse(
                "sparse_distance_matrix",
                "has derivatives in NumPy programs, as a matrix or a dict",
            )
        i, j = _pairs(self.now(), _facts_of(other), max_distance, p)
        y = _norms(self.data[i] - other.data[j], self.box, p)
        if output_type == "dok_matrix":
            reason = (
                "makes a dok_matrix, which keeps numbers in a dict, where they have no "
                "derivative: give output_type='coo_matrix' or 'dict'"
            )
            refuse("sparse_distance_matrix", reason)
        if output_type == "dict":
            return {
                (int(a), int(b)): y[n]
                for n, (a, b) in enumerate(zip(i, j, strict=True))
            }
        shape = self.data.shape[0], other.data.shape[0]
        return scipy.sparse.coo_matrix((y, (i, j)), shape=shape)

    def __reduce__(self) -> Any:
        return OWN.get(type(self), type(self)), (self.data, *self.args)

    def __getstate__(self) -> Any:
        refuse("A tree's state", "is that of SciPy: pickle or copy the tree itself")

    def __setstate__(self, state: Any) -> None:
        refuse("A tree's state", "is that of SciPy: make the tree by its class")


def _is_shared(x: Any, copy_data: bool) -> bool:
    return not copy_data and isinstance(x, np.ndarray) and x.flags.c_contiguous


def _follow(facts: Facts, data: Any) -> None:
    """Write points that changed to the copy that SciPy's tree was made of."""
    if facts.value is None or not isinstance(data, np.ndarray):
        return
    if not np.array_equal(facts.value.data, data):
        facts.value.data[...] = data


for _f in (_is_shared, _follow):
    rc.non_differentiable(_f)


def _called(facts: Facts, name: str, args: Any, kwargs: Any) -> Any:
    args = tuple([_as_constant(a) for a in args])
    kwargs = {k: _as_constant(x) for k, x in kwargs.items()}
    return _asked(facts.look_up(name), args, kwargs)


def _asked(method: Any, args: Any, kwargs: Any) -> Any:
    return method(*args, **kwargs)


rc.non_differentiable(_asked)


def _as_constant(x: Any) -> Any:
    return x.now().value if isinstance(x, _Tree) else rc.ignore_derivatives(x)


def _weighed(
    tree: Any, other: Any, r: Any, p: Any, weights: Any, *, cumulative: bool
) -> Any:
    """The sums of the products of the weights of pairs up to each distance."""
    pair = weights if isinstance(weights, tuple) else (weights, weights)
    counts = [t.data.shape[0] for t in (tree, other)]
    a, b = arrays(*[
        np.ones(n) if x is None else x for x, n in zip(pair, counts, strict=True)
    ])  # fmt: skip
    xp = rc.array_namespace(a, b)
    d = _all_distances(tree.data, other.data, tree.box, p)
    r = np.asarray(rc.ignore_derivatives(r), float)
    near = d[..., None] <= np.reshape(r, (-1,))
    if not cumulative:
        near[..., 1:] &= ~near[..., :-1]
    table = constant_like(near.astype(float), a)
    sums = xp.sum(a[:, None, None] * b[None, :, None] * table, axis=(0, 1))
    return xp.reshape(sums, r.shape)


def _all_distances(a: Any, b: Any, box: Any, p: Any) -> Any:
    return _norms(np.asarray(a)[:, None, :] - np.asarray(b)[None, :, :], box, p)


rc.non_differentiable(_all_distances)


def _number(x: Any, name: str) -> float:
    """An option that decides which points are near."""
    known = concrete(rc.ignore_derivatives(x))
    if known is None:
        refuse(
            f"KDTree.query with a traced {name}",
            "depends on a number that is not known in traced code: pass a constant, or "
            "take the derivative outside of jit, vmap and torch.func",
        )
    return float(known)


def _box(boxsize: Any, m: int) -> Any:
    """Lengths of a periodic domain; zero where it is not."""
    return tuple(np.broadcast_to(np.asarray(boxsize, float), (m,)).tolist())


def _distances(data: Any, q: Any, i: Any, box: Any, p: Any) -> Any:
    """Of points and neighbours; infinite where there is none."""
    xp = rc.array_namespace(data, q)
    n = data.shape[0]
    there = i < n
    index = xp.where(there, i, xp.zeros_like(i))
    if len(i.shape) == len(q.shape):
        q = q[..., None, :]
    flat = data[xp.reshape(index, (-1,))]
    d = xp.reshape(flat, (*i.shape, data.shape[1])) - q
    y = _norms(d, box, p)
    return xp.where(there, y, xp.full_like(y, float("inf")))


def _norms(d: Any, box: Any, p: Any) -> Any:
    if box is not None:
        size = np.asarray(box)
        size = np.where(size > 0, size, np.inf)
        xp = rc.array_namespace(d)
        whole, inverse = (constant_like(x, d) for x in (
            np.where(np.isinf(size), 0.0, size), 1.0 / size
        ))  # fmt: skip
        d = d - whole * rc.ignore_derivatives(xp.round(d * inverse))
    return length(d, p)


def _facts_of(tree: Any) -> Facts:
    return tree.now() if isinstance(tree, _Tree) else Facts(tree, "KDTree")


def _pairs(a: Facts, b: Facts, most: Any, p: Any) -> tuple[Any, Any]:
    found = a.look_up("sparse_distance_matrix")(b.value, most, p, "coo_matrix")
    return np.asarray(found.row, np.int64), np.asarray(found.col, np.int64)


rc.non_differentiable(_pairs)


@covers(_sp.KDTree)
class KDTree(_Tree, _sp.KDTree):
    """`scipy.spatial.KDTree`: distances in the data and the points.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial import KDTree
    >>> x = np.asarray([[0.0, 0.0], [3.0, 4.0], [9.0, 9.0]])
    >>> near = jax.jit(jax.grad(lambda x: KDTree(x).query(x[:1], k=2)[0].sum()))
    >>> near(x).round(3).tolist()
    [[-0.6, -0.8], [0.6, 0.8], [0.0, 0.0]]
    """

    scipys = _sp.KDTree

    def __init__(
        self, data: Any, leafsize: int = 10, compact_nodes: bool = True,
        copy_data: bool = False, balanced_tree: bool = True, boxsize: Any = None,
    ) -> None:  # fmt: skip
        self.assign(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize)


@covers(_sp.cKDTree)
class cKDTree(_Tree, _sp.cKDTree):  # noqa: N801  SciPy's name
    """`scipy.spatial.cKDTree`, as `KDTree`."""

    scipys = _sp.cKDTree

    def __init__(
        self, data: Any, leafsize: int = 16, compact_nodes: bool = True,
        copy_data: bool = False, balanced_tree: bool = True, boxsize: Any = None,
    ) -> None:  # fmt: skip
        self.assign(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize)


# SciPy's trees of constants


def _own(tree: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(tree, _Tree):
        return tree
    own = KDTree if isinstance(tree, _sp.KDTree) else cKDTree
    made: Any = own.__new__(own)
    made.data, made.facts = np.asarray(tree.data), Facts(tree, own.__name__)
    made.first = np.stack([tree.mins, tree.maxes])
    made.box = None if tree.boxsize is None else _box(tree.boxsize, tree.m)
    return made


for _cls in (_sp.KDTree, _sp.cKDTree):
    covers_methods(
        _cls,
        _own,
        "query query_ball_point query_ball_tree query_pairs sparse_distance_matrix "
        "count_neighbors",
    )
