"""A batch of a host function in a compiled graph: one operator, one call."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.func import grad, vmap

import rules_core as rc

# torch's own compiler stack warns about itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("fresh"),
]


def gram_of_a_batch(batch=None):
    """`AᵀA` with a batch rule, and three times its derivative."""
    shapes = []

    @rc.primitive(host=True)
    def gram(A, scale):
        return np.asarray(A).T @ A * scale

    @rc.shape_rule.define(gram)
    def gram_shape(A, scale):
        shapes.append((A.shape, scale.shape))
        return rc.ShapeDtype((A.shape[1], A.shape[1]), A.dtype)

    def gram_batch(size, batched, A, scale):
        assert (size, batched) == (4, (True, False))
        return np.swapaxes(A, -1, -2) @ A * scale, True

    rc.batch_rule.define(gram)(batch or gram_batch)

    @rc.rrule.define(gram)
    def gram_rrule(A, scale):
        def gram_pullback(dy):
            return rc.NoTangent(), 3 * scale * A @ (dy + dy.mT), rc.ZeroTangent()

        return gram(A, scale), gram_pullback

    return gram, shapes


@pytest.mark.covering(every=2)
@pytest.mark.parametrize(
    "transform",
    [
        vmap,
        lambda f: vmap(f, 1, 2),
        lambda f: vmap(grad(lambda A: f(A).sum())),
        lambda f: grad(lambda A: vmap(f)(A).sum()),
        lambda f: lambda A: vmap(vmap(f))(torch.stack([A, 2 * A])),
    ],
    ids=["vmap", "in_dims", "vmap(grad)", "grad(vmap)", "vmap(vmap)"],
)
def test_a_batch_rule_inside(compiled, transform):
    """The shape rule is asked about one example, though a batch is one call."""
    gram, shapes = gram_of_a_batch()
    scale = torch.tensor(2.0, dtype=torch.float64)
    A = torch.rand(4, 4, 4, dtype=torch.float64)
    ours = compiled(transform(lambda A: gram(A, scale)))(A)
    torch.testing.assert_close(ours, transform(lambda A: gram(A, scale))(A))
    assert set(shapes) == {((4, 4), ())}


def test_a_batch_whose_size_is_not_fixed(compiled):
    @rc.primitive(host=True)
    def total(x):
        return np.sum(x)

    @rc.shape_rule.define(total)
    def total_shape(x):
        return rc.ShapeDtype((), x.dtype)

    @rc.batch_rule.define(total)
    def total_batch(size, batched, x):
        return np.sum(x, axis=1), True

    fast = compiled(vmap(total), dynamic=True)
    for size in (2, 3, 5):
        x = torch.rand(size, 3, dtype=torch.float64)
        torch.testing.assert_close(fast(x), x.sum(1))


def test_a_batch_rule_that_breaks_the_promise_is_named():
    gram, _ = gram_of_a_batch(lambda size, batched, A, scale: (A * 1.0, True))
    scale, A = torch.tensor(2.0), torch.rand(4, 3, 2)
    fast = torch.compile(vmap(lambda A: gram(A, scale)), backend="aot_eager")
    with pytest.raises(Exception, match=r"gram: its batch rule must .*4, 2, 2"):
        fast(A)
