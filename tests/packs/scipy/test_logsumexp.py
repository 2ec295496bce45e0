"""`logsumexp`: axes, weights, signs, infinities, batches, in each host."""

import numpy as np
import pytest
import scipy.special

import rules_core as rc
from rules_scipy.special import logsumexp

X = np.array([[0.3, -1.0, 2.0], [4.0, 0.5, -0.25]])
B = np.array([[1.0, -0.5, 2.0], [0.25, 3.0, -1.0]])
OPTIONS = [
    {},
    {"axis": 0},
    {"axis": -1, "keepdims": True},
    {"axis": (0, 1), "keepdims": True},
]


def softmax(x, y, options):
    axis = options.get("axis")
    return np.exp(x - (y if options.get("keepdims") else np.expand_dims(
        y, axis if axis is not None else (0, 1))))  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_pullback_is_softmax(options):
    y, pullback = rc.rrule(scipy.special.logsumexp, X, **options)
    assert np.array_equal(y, scipy.special.logsumexp(X, **options))
    none, dx, *others = pullback(np.ones_like(y))
    assert np.allclose(dx, softmax(X, y, options), rtol=1e-14)
    assert none is rc.NoTangent()
    assert others == [rc.NoTangent()] * 4


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_weights_and_signs(options):
    y, sign = scipy.special.logsumexp(X, b=B, return_sign=True, **options)
    out, pullback = rc.rrule(
        scipy.special.logsumexp, X, b=B, return_sign=True, **options
    )
    assert np.array_equal(out[0], y)
    assert np.array_equal(out[1], sign)
    _, dx, _, db, *_ = pullback((np.ones_like(y), np.zeros_like(y)))
    dX, dB = np.random.default_rng(0).normal(size=(2, *X.shape))

    def along(step):
        moved = X + step * dX, B + step * dB
        return scipy.special.logsumexp(
            moved[0], b=moved[1], return_sign=True, **options
        )[0]

    slope = (along(1e-5) - along(-1e-5)) / 2e-5
    tangents = (rc.NoTangent(), dX, rc.NoTangent(), dB, rc.NoTangent(), rc.NoTangent())
    again, (dy, dsign) = rc.frule(
        tangents,
        scipy.special.logsumexp,
        X,
        options.get("axis"),
        B,
        options.get("keepdims", False),
        True,
    )
    assert np.array_equal(again[0], y)
    assert np.allclose(dy, slope, rtol=1e-7, atol=1e-8)
    assert dsign == rc.ZeroTangent()
    assert np.allclose(np.sum(dx * dX + db * dB), np.sum(dy))


def test_a_negative_sum_without_its_sign_is_nan():
    with np.errstate(invalid="ignore"):  # SciPy 1.14 says so
        y, pullback = rc.rrule(
            scipy.special.logsumexp, np.zeros(2), b=np.array([1.0, -2.0])
        )
    assert np.isnan(y)
    assert np.isnan(pullback(1.0)[1]).all()


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([0.0, -np.inf], [1, 0]),
        ([np.inf, 0.0], [1, 0]),
        ([np.inf, np.inf], [0.5, 0.5]),
        ([-np.inf, -np.inf], [0.5, 0.5]),
        ([np.nan, 0.0], [np.nan, np.nan]),
        ([1000.0, 1000.0], [0.5, 0.5]),
    ],
)
def test_infinities(x, expected):
    _, pullback = rc.rrule(scipy.special.logsumexp, np.array(x))
    assert np.allclose(pullback(1.0)[1], expected, rtol=1e-12, equal_nan=True)


def test_complex_arguments_are_holomorphic():
    z = np.array([0.3 + 1j, -1.0 - 0.5j])
    y, pullback = rc.rrule(scipy.special.logsumexp, z)
    dy = 0.5 - 2j
    assert np.allclose(pullback(dy)[1], np.conj(np.exp(z - y)) * dy)


def test_complex_phases_are_refused():
    with pytest.raises(rc.UnsupportedError) as info:
        rc.rrule(scipy.special.logsumexp, np.array([1j, 2.0]), return_sign=True)
    assert str(info.value) == (
        "the rule of logsumexp must be called with real arguments for "
        "return_sign=True, but got complex ones, whose phase is not holomorphic. "
        "Call it with return_sign=False."
    )


def test_integers_and_numbers():
    assert rc.rrule(scipy.special.logsumexp, 2.0)[1](3.0)[1] == 3.0
    _, pullback = rc.rrule(scipy.special.logsumexp, np.array([1, 2]))
    assert pullback(1.0)[1] is rc.NoTangent()


@pytest.mark.covering
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("weights", [None, "batched", "shared", "row"])
def test_batch_rule_equals_a_loop(axis, keepdims, weights):
    xs = np.stack([X, 2 * X, -X])
    bs = {"batched": np.stack([B, B, 1 - B]), "shared": B, "row": B[0]}.get(weights)
    batched = weights == "batched"
    got, flags = logsumexp.batch_rule(
        3, (True, False, batched, False, False), xs, axis, bs, keepdims, True
    )
    assert flags == (True, True)
    for i, x in enumerate(xs):
        b = bs[i] if batched else bs
        known = scipy.special.logsumexp(x, axis, b, keepdims, True)
        assert np.allclose(got[0][i], known[0])
        assert np.array_equal(got[1][i], known[1])


@pytest.mark.parametrize("keepdims", [False, True])
def test_batch_of_numbers(keepdims):
    numbers = np.array([1.0, 2.0])
    flags = (True, False, False, False, False)
    got, _ = logsumexp.batch_rule(2, flags, numbers, None, None, keepdims, False)
    known = [scipy.special.logsumexp(x, keepdims=keepdims) for x in numbers]
    assert np.array_equal(got, known)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_shape_rule_equals_the_function(options):
    shapes = logsumexp.shape_rule(
        rc.ShapeDtype(X.shape, np.dtype(np.float32)),
        options.get("axis"),
        None,
        options.get("keepdims", False),
        False,
    )
    known = scipy.special.logsumexp(X.astype(np.float32), **options)
    assert (shapes.shape, shapes.dtype) == (np.shape(known), known.dtype)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_jax(options):
    jax = pytest.importorskip("jax")
    jnp = pytest.importorskip("jax.numpy")

    def total(x, b):
        return jnp.sum(logsumexp(x, b=b, **options) ** 2)

    def native(x, b):
        return jnp.sum(jax.scipy.special.logsumexp(x, b=b, **options) ** 2)

    b = np.abs(B)
    ours = jax.value_and_grad(total, argnums=(0, 1))(X, b)
    known = jax.value_and_grad(native, argnums=(0, 1))(X, b)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), ours, known)
    batch = np.stack([X, -X])
    rows = jax.vmap(lambda x: logsumexp(x, **options))(batch)
    assert np.allclose(rows, [scipy.special.logsumexp(x, **options) for x in batch])


@pytest.mark.full
def test_second_order_compiled_in_jax():
    jax = pytest.importorskip("jax")

    def total(f):
        return lambda x: f(x, axis=0).sum()

    ours = jax.jit(jax.hessian(total(logsumexp)))(X)
    known = jax.hessian(total(jax.scipy.special.logsumexp))(X)
    assert np.allclose(ours, known)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_torch(options):
    torch = pytest.importorskip("torch")

    def total(x):
        return torch.sum(logsumexp(x, **options) ** 2)

    def native(x):
        axis = options.get("axis")
        axes = (0, 1) if axis is None else axis
        return torch.sum(torch.logsumexp(x, axes, options.get("keepdims", False)) ** 2)

    x = torch.tensor(X, requires_grad=True)
    (ours,) = torch.autograd.grad(total(x), x)
    (known,) = torch.autograd.grad(native(x), x)
    assert torch.allclose(ours, known, rtol=1e-12)
    ours, known = (torch.func.hessian(f)(x.detach()) for f in (total, native))
    assert torch.allclose(ours, known)
