"""Minkowski's distances in their order, and options that only decide what is near."""

import numpy as np
import pytest
import scipy.spatial as sp
from scipy.spatial import distance as sd

import rules_core as rc
from rules_autodiff import grad, hessian, jvp
from rules_scipy import spatial as own
from rules_scipy.spatial import distance as own_distance

from .calls import difference

X = np.array([[1.0, 2.0, 4.0], [0.0, 1.5, 1.0], [2.0, 2.0, 0.0]])
U, V, W = X[0], X[1], np.array([0.5, 2.0, 1.3])

FORMS = {
    "minkowski": lambda m, d, p: d.minkowski(U, V, p),
    "weights": lambda m, d, p: d.minkowski(U, V, p, W),
    "cdist": lambda m, d, p: d.cdist(X, X, "minkowski", p=p, w=W).sum(),
    "pdist": lambda m, d, p: d.pdist(X, "minkowski", p=p).sum(),
    "distance_matrix": lambda m, d, p: m.distance_matrix(X, X + 0.3, p).sum(),
    "minkowski_distance_p": lambda m, d, p: m.minkowski_distance_p(U, V, p),
    "Rectangle": lambda m, d, p: m.Rectangle(U, V).max_distance_point(W, p),
    "KDTree": lambda m, d, p: m.KDTree(X).query(W, k=2, p=p)[0].sum(),
}
SOME = [
    pytest.param(form, p, marks=() if form == "weights" else pytest.mark.full)
    for form in FORMS
    for p in (1.0, 1.5, 2.0, 3.0)
]


def after(f, p):
    """The difference quotient above an order; below one there is no distance."""
    h = 1e-4
    return (-3 * f(p) + 4 * f(p + h) - f(p + 2 * h)) / (2 * h)


@pytest.mark.parametrize(("form", "p"), SOME)
def test_distances_have_derivatives_in_the_order(form, p):
    f = lambda p: FORMS[form](sp, sd, p)
    expected = after(f, p)
    assert grad(f)(p) == pytest.approx(expected, rel=1e-5)
    assert jvp(f, (p,), (1.0,))[1] == pytest.approx(expected, rel=1e-5)
    assert hessian(f)(p) == pytest.approx(after(grad(f), p), rel=1e-5)


@pytest.mark.parametrize(("form", "p"), SOME)
def test_frameworks_differentiate_the_order_beside_constants(form, p):
    jax, torch = map(pytest.importorskip, ("jax", "torch"))
    f = lambda p: FORMS[form](own, own_distance, p)
    expected = after(lambda p: FORMS[form](sp, sd, p), p)
    x = torch.tensor(p, dtype=torch.float64, requires_grad=True)
    f(x).backward()
    assert float(x.grad) == pytest.approx(expected, rel=1e-5)
    if form != "KDTree":
        assert float(jax.jit(jax.grad(f))(p)) == pytest.approx(expected, rel=1e-5)


def test_a_traced_order_cannot_choose_neighbours():
    jax = pytest.importorskip("jax")
    f = lambda p: FORMS["KDTree"](own, own_distance, p)
    with pytest.raises(rc.UnsupportedError, match=r"query with a traced p.*constant"):
        jax.jit(f)(1.5)


@pytest.mark.parametrize("p", [2, 4, 2.0, 4.0])
def test_even_powers_are_smooth_at_zero(p):
    f = lambda x: sp.minkowski_distance_p(x, np.zeros(1), p)
    second = lambda x: hessian(f)(x).sum()
    assert second(np.zeros(1)) == (2.0 if p == 2 else 0.0)
    assert hessian(second)(np.zeros(1)).sum() == (0.0 if p == 2 else 24.0)


def test_second_derivatives_mix_points_and_order():
    f = lambda a: sd.minkowski(a[:2], np.zeros(2), a[2])
    a = np.array([1.0, 3.0, 2.0])
    for v in np.eye(3):
        expected = difference(grad(f), [a], [v], 1e-5)
        np.testing.assert_allclose(hessian(f)(a) @ v, expected, rtol=1e-6, atol=1e-8)


# what is near is a constant


@pytest.mark.parametrize("pair", [(W, None), (None, W)])
def test_one_set_of_points_may_have_weights(pair):
    place = 0 if pair[1] is None else 1

    def f(w):
        both = [w if i == place else None for i in (0, 1)]
        tree = sp.KDTree(X)
        return tree.count_neighbors(sp.KDTree(X + 0.1), 2.0, weights=tuple(both))

    v = np.ones(3)
    assert jvp(f, (W,), (v,))[1] == pytest.approx(difference(f, [W], [v], 1e-4))


@pytest.mark.parametrize("made_inside", [False, True])
def test_a_radius_decides_what_is_near(made_inside):
    tree = sp.KDTree(X)

    def f(r):
        own = sp.KDTree(X) if made_inside else tree
        counts = [
            own.count_neighbors(tree, r),
            own.count_neighbors(tree, r, weights=(W, None)),
            len(own.query_ball_point(X[0], r)),
            len(own.query_pairs(r)),
        ]
        return r * sum(counts)

    assert grad(f)(2.7) == pytest.approx(f(2.7) / 2.7)


@pytest.mark.parametrize("name", ["min_distance_point", "max_distance_point"])
def test_a_constant_rectangle_has_distances(name):
    box = sp.Rectangle([1.0, 2.0], [0.0, 0.0])
    f = lambda x: getattr(box, name)(x)
    x, v = np.array([3.0, 4.0]), np.array([1.0, -0.5])
    assert jvp(f, (x,), (v,))[1] == pytest.approx(difference(f, [x], [v], 1e-4))
    g = lambda x: getattr(box, name.replace("point", "rectangle"))(
        sp.Rectangle(x + 1, x)
    )
    assert jvp(g, (x,), (v,))[1] == pytest.approx(difference(g, [x], [v], 1e-4))
