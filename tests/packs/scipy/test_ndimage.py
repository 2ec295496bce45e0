"""scipy.ndimage: derivatives against differences in every mode; frameworks; edges."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.ndimage as sn
import torch

import rules_core as rc
from rules_autodiff import grad, hessian, jvp, vjp
from rules_core.testing import check_rule
from rules_scipy import ndimage

from .ndimage_cases import CASES, LABELS, MODES, ONE_EACH, SECOND, X, call_of

pytestmark = pytest.mark.filterwarnings(
    "ignore:It is recommended to use mode", "ignore:promoting specified output dtype"
)


def noise(x, seed=3):
    rng = np.random.default_rng(seed)
    own = rng.normal(size=np.shape(x))
    return own + 1j * rng.normal(size=np.shape(x)) if np.iscomplexobj(x) else own


def differences(f, xs, dxs, h=1e-6):
    up, down = (f(*[x + t * d for x, d in zip(xs, dxs, strict=True)]) for t in (h, -h))
    return (np.asarray(up) - np.asarray(down)) / (2 * h)


def compare(case):
    """Tangents against differences, and cotangents against tangents."""
    call, xs = call_of(case)
    dxs = [noise(x, i) for i, x in enumerate(xs)]

    def f(*xs):
        return call(sn, *xs)

    _, dy = jvp(f, xs, tuple(dxs))
    np.testing.assert_allclose(dy, differences(f, xs, dxs), rtol=2e-6, atol=2e-6)
    y, pull = vjp(f, *xs)
    weights = noise(y)
    cotangents = pull(weights)
    forward = np.vdot(weights, dy).real
    back = [np.vdot(c, d).real for c, d in zip(cotangents, dxs, strict=True)]
    np.testing.assert_allclose(sum(back), forward, rtol=1e-9, atol=1e-9)


def test_one_call_of_each_function():
    for case in ONE_EACH.values():
        compare(case)


@pytest.mark.full
@pytest.mark.parametrize("start", range(4))
def test_a_sample_of_the_derivatives(start):
    for case in CASES[start * 7 :: 53]:
        compare(case)


@pytest.mark.full
@pytest.mark.parametrize("number", range(len(CASES)))
def test_derivatives(number):
    compare(CASES[number])


# The tester, and the frameworks


# The tester moves every number: also `truncate`, labels, and the sizes of an ellipsoid,
# which have no derivative.
PLAIN = [
    name
    for name, (_, _, options) in ONE_EACH.items()
    if not name.startswith(("gaussian", "fourier_ellipsoid"))
    and "labels" not in options
]


@pytest.mark.covering(every=40, start=0)
@pytest.mark.parametrize("name", PLAIN)
def test_rules_pass_the_tester(name):
    _, arrays, options = ONE_EACH[name]
    first = arrays[: 2 if name in SECOND else 1]
    check_rule(getattr(ndimage, name), *first, fkwargs=options, hosts=(), rtol=1e-5)


def loss_of(name, module):
    """In traced code the radius of a Gaussian must be given."""
    f, arrays, options = ONE_EACH[name]
    if name.startswith("gaussian"):
        options = options | {"radius": 3}
    call, _ = call_of((f, arrays, options))

    def loss(*xs):
        y = call(module, *xs)
        y = y.real if "complex" in str(y.dtype) else y
        return (y * y * y).sum() + y.sum()

    return loss


def arrays_of(name):
    """Arrays of a case."""
    return ONE_EACH[name][1]


@pytest.mark.covering(every=50)
@pytest.mark.parametrize("name", ONE_EACH)
def test_gradients_in_frameworks(name):
    xs = [np.real(x).copy() for x in arrays_of(name)]
    where = tuple(range(len(xs)))
    expected = grad(loss_of(name, sn), where)(*xs)
    own = loss_of(name, ndimage)
    eager = jax.grad(own, where)(*map(jnp.asarray, xs))
    rest = xs[1:]
    compiled = jax.jit(jax.grad(lambda x: own(x, *rest)))(xs[0])
    batch = np.stack([xs[0], 2.0 * xs[0]])
    several = jax.vmap(jax.grad(lambda x: own(x, *rest)))(batch)
    tensors = [torch.tensor(x, requires_grad=True) for x in xs]
    recorded = torch.autograd.grad(  # most modes do not read cval
        own(*tensors), tensors, allow_unused=True, materialize_grads=True
    )
    for found in (eager, (compiled,), (several[0],), recorded):
        for one, other in zip(found, expected, strict=False):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9)


@pytest.mark.full
@pytest.mark.parametrize("name", ONE_EACH)
def test_second_order_in_jax(name):
    xs = [np.real(x).copy() for x in arrays_of(name)]
    first = grad(loss_of(name, sn))
    rest, move = xs[1:], noise(xs[0])
    expected = differences(lambda x: first(x, *rest), xs[:1], [move], 1e-5)
    own = loss_of(name, ndimage)
    found = jax.hessian(lambda x: own(x, *rest))(jnp.asarray(xs[0]))
    found = np.tensordot(found, move, axes=xs[0].ndim)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_second_order_in_places():
    """A cubic spline has two continuous derivatives."""
    u = np.array([[1.3, 2.2], [0.4, 3.1]])

    def f(u):
        return np.sum(sn.map_coordinates(X, u) ** 2)

    found = hessian(f)(u).reshape(4, 4)
    slope = grad(f)
    basis = np.eye(4).reshape(4, 2, 2)
    expected = [differences(slope, [u], [d], 1e-5).ravel() for d in basis]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    own = jax.hessian(lambda u: jnp.sum(ndimage.map_coordinates(X, u) ** 2))(u)
    np.testing.assert_allclose(own.reshape(4, 4), found, rtol=1e-9)


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("mode", ["constant", "nearest", "mirror", "reflect"])
def test_as_jax_has_it(mode):
    """JAX has orders 0 and 1."""
    u = np.array([[1.3, 2.2, -0.4, 3.6], [0.4, 3.1, 2.3, 1.7]])

    def loss(f):
        return lambda x, u: jnp.sum(f(x, u, order=1, mode=mode, cval=0.3)[:2] ** 2)

    own = jax.grad(loss(ndimage.map_coordinates), (0, 1))(X, u)
    theirs = jax.grad(loss(jax.scipy.ndimage.map_coordinates), (0, 1))(X, u)
    for one, other in zip(own, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_compiled_in_torch():
    t = torch.tensor(X, requires_grad=True)
    footprint = np.ones((2, 3), bool)

    def f(x):
        y = ndimage.gaussian_filter(x, 0.8) + ndimage.rotate(x, 20.0, reshape=False)
        return (y * ndimage.median_filter(x, footprint=footprint)).sum()

    torch.compile(f, backend="aot_eager", fullgraph=True)(t).backward()
    (expected,) = torch.autograd.grad(f(t), t)
    torch.testing.assert_close(t.grad, expected)


# Conventions, dtypes, and what is refused


def test_ties_share():
    x = np.array([1.0, 3.0, 3.0, 0.0])

    def largest(x):
        return sn.maximum_filter1d(x, 3)[1]

    np.testing.assert_array_equal(grad(largest)(x), [0, 0.5, 0.5, 0])
    found = grad(lambda x: sn.maximum(x))(x)
    np.testing.assert_array_equal(found, [0, 0.5, 0.5, 0])
    # The border repeats the first entry, which counts twice.
    found = grad(lambda x: sn.minimum_filter1d(x, 3)[0])(np.array([1.0, 1.0, 2.0]))
    np.testing.assert_allclose(found, [2 / 3, 1 / 3, 0])


def test_knots_have_the_slope_of_the_piece_that_begins_there():
    x = np.array([0.0, 1.0, 3.0, 7.0])

    def at(u):
        return sn.map_coordinates(x, np.array([u]).reshape(1, 1), order=1)[0]

    assert [float(grad(at)(u)) for u in (0.0, 1.0, 2.0, 3.0)] == [1.0, 2.0, 4.0, 4.0]


def test_no_slope_where_the_magnitude_is_zero():
    found = grad(lambda x: np.sum(sn.gaussian_gradient_magnitude(x, 1.0)))(np.ones(5))
    np.testing.assert_allclose(found, np.zeros(5), atol=1e-12)
    found = grad(lambda x: sn.standard_deviation(x))(np.ones(5))
    np.testing.assert_array_equal(found, np.zeros(5))


@pytest.mark.parametrize("mode", MODES)
def test_single_precision_stays(mode):
    x, w = X.astype(np.float32), np.ones(3, np.float32)
    for f in (
        lambda x, w: sn.correlate1d(x, w, mode=mode),
        lambda x, w: sn.shift(x, w[:2], mode=mode),
        lambda x, w: sn.grey_erosion(x, structure=w[None], mode=mode),
    ):
        y, pull = vjp(f, x, w)
        assert {y.dtype, *[c.dtype for c in pull(y)]} == {np.dtype(np.float32)}


def test_whole_numbers_are_constants():
    def f(w):
        return np.sum(sn.correlate1d(LABELS, w)) + np.sum(w)

    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0])), [1.0, 1.0])


def test_an_array_to_write_to_is_refused():
    with pytest.raises(rc.UnsupportedError, match="output"):
        grad(lambda x: np.sum(sn.laplace(x, output=np.empty_like(X))))(X)
    found = grad(lambda x: np.sum(sn.laplace(x, output=np.float32)))(X)
    np.testing.assert_allclose(found, 0.0, atol=1e-6)


WRITING = [
    name
    for name in ONE_EACH
    if "output" in inspect.signature(getattr(sn, name)).parameters
]


@pytest.mark.parametrize("name", WRITING)
def test_no_function_writes_unseen(name):
    """In both modes, where only the array that is written to is read."""
    _, xs, options = ONE_EACH[name]
    call, _ = call_of((name, xs, options | {"output": None}))
    shape = np.shape(call(sn, *xs))
    options = options | {"output": np.zeros(shape, complex)}
    call, _ = call_of((name, xs, options))

    def written(x):
        call(sn, x, *xs[1:])
        return np.sum(np.real(options["output"]))

    for derivative in (grad(written), lambda x: jvp(written, (x,), (x,))):
        with pytest.raises(rc.UnsupportedError, match="into the array given as output"):
            derivative(xs[0])


@pytest.mark.parametrize("place", [2, 3])
def test_no_spline_filter_writes_unseen(place):
    """Where the array is given by its position, and where by its name."""
    f, args = [(sn.spline_filter, (3,)), (sn.spline_filter1d, (3, 0))][place - 2]
    y = np.zeros_like(X)
    for call in (lambda x: f(x, *args, y), lambda x: f(x, *args, output=y)):
        with pytest.raises(rc.UnsupportedError, match="into the array given as output"):
            grad(lambda x, call=call: np.sum(call(x)))(X)


def test_a_traced_width_needs_a_radius():
    def f(s, **radius):
        return jnp.sum(ndimage.gaussian_filter(X, s, **radius) ** 2)

    with pytest.raises(rc.UnsupportedError, match="radius"):
        jax.jit(jax.grad(f))(0.8)
    found = jax.jit(jax.grad(lambda s: f(s, radius=3)))(0.8)
    np.testing.assert_allclose(found, jax.grad(f)(0.8), rtol=1e-9)


def test_options_have_no_derivative():
    with pytest.raises(rc.DerivativeNotImplemented, match="zoom"):
        grad(lambda z: np.sum(sn.zoom(X, z)))(1.5)
