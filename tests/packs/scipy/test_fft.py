"""`scipy.fft`: adjoints of every transform over options; every framework; its page."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.fft
import torch

import rules_core as rc
from rules_autodiff import grad, hessian, jvp
from rules_core.testing import check_rule
from rules_scipy import fft

RNG = np.random.default_rng(7)
REAL = RNG.normal(size=(4, 5, 6))
COMPLEX = REAL + 1j * RNG.normal(size=(4, 5, 6))
NORMS = (None, "ortho", "forward", "backward")
TO_COMPLEX = ("rfft", "rfft2", "rfftn", "ihfft", "ihfft2", "ihfftn")


def options(**choices):
    return [
        dict(zip(choices, values, strict=True)) for values in product(*choices.values())
    ]


ONE = options(n=(None, 3, 4, 9), axis=(0, 1, -1), norm=NORMS)
PLACES: list[dict] = [
    {}, {"s": (3, 7)}, {"axes": (0, 2)}, {"s": (5, 4), "axes": (2, 0)}, {"s": (-1, 8)},
]  # fmt: skip
MANY = [place | {"norm": norm} for place, norm in product(PLACES, NORMS)]
TYPED = options(
    type=(1, 2, 3, 4), n=(None, 3, 9), axis=(0, -1), norm=NORMS,
    orthogonalize=(None, True, False),
)  # fmt: skip
TYPED_MANY = [{"type": t} | own for t, own in product((1, 2, 3, 4), MANY)]
HANKEL = options(dln=(0.1,), mu=(0.5,), offset=(0.0, 0.3), bias=(0.0, -0.2))
KINDS = {
    ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"): ONE,
    ("fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2"): MANY,
    ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"): [*MANY, {"axes": 1}],
    ("dct", "idct", "dst", "idst"): TYPED,
    ("dctn", "idctn", "dstn", "idstn"): [*TYPED_MANY, {"s": 4, "axes": 1}],
    ("fht", "ifht"): HANKEL,
    ("fftshift", "ifftshift"): options(axes=(None, 0, (1, 2))),
}
OPTIONS = {name: own for names, own in KINDS.items() for name in names}


def arguments(name):
    if name.startswith(TO_COMPLEX) or name in {"fht", "ifht"}:
        return [REAL]
    return [REAL, COMPLEX]


def like(x):
    noise = RNG.normal(size=x.shape)
    return noise + 1j * RNG.normal(size=x.shape) if np.iscomplexobj(x) else noise


CASES = [
    (name, x, kw) for name, own in OPTIONS.items() for kw in own
    for x in arguments(name)
]  # fmt: skip


def compare(name, x, kw):
    """⟨dy, f(dx)⟩ = ⟨f*(dy), dx⟩, and the rule's value is SciPy's."""
    f, dx = getattr(fft, name), like(x)
    y, pullback = rc.rrule(f, x, **kw)
    np.testing.assert_array_equal(y, getattr(scipy.fft, name)(x, **kw))
    dy = like(y)
    back = rc.unthunk(pullback(dy)[1])
    assert (back.shape, back.dtype) == (x.shape, x.dtype)
    expected = np.vdot(dy, f(dx, **kw)).real
    np.testing.assert_allclose(np.vdot(back, dx).real, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", OPTIONS)
def test_adjoints(name):
    """A sample of the options."""
    for case in [c for c in CASES if c[0] == name][::7]:
        compare(*case)


@pytest.mark.full
@pytest.mark.parametrize("name", OPTIONS)
def test_all_adjoints(name):
    for case in [c for c in CASES if c[0] == name]:
        compare(*case)


@pytest.mark.covering(every=8)
@pytest.mark.parametrize("name", OPTIONS)
def test_rules_pass_the_tester(name):
    args = (0.1, 0.5) if name in {"fht", "ifht"} else ()
    x = arguments(name)[-1][:2, :2, :4]
    check_rule(getattr(fft, name), x, *args)


SAME = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "ifftn", "rfftn",
        "irfftn", "fft2", "irfft2", "fftshift", "ifftshift"]  # fmt: skip


def weighed(xp, f):
    """A real function of the result, in which real and imaginary parts differ."""

    def loss(x):
        y = f(x)
        return xp.sum(xp.real(y) ** 3) + xp.sum(xp.imag(y * 1j) ** 2)

    return loss


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", SAME)
def test_as_the_frameworks_own(name):
    """Gradients, jitted, and of a batch; complex arguments by the same convention."""
    x = arguments(name)[-1][0].astype(
        np.float64 if name.startswith(TO_COMPLEX) else np.complex128
    )
    ours, theirs = getattr(fft, name), getattr(jnp.fft, name)
    found = jax.jit(jax.grad(weighed(jnp, ours)))(x)
    np.testing.assert_allclose(found, jax.grad(weighed(jnp, theirs))(x), rtol=1e-9)
    batch = np.stack([x, 2.0 * x])
    found = jax.vmap(ours)(batch)
    np.testing.assert_allclose(found, jax.vmap(theirs)(batch), rtol=1e-9, atol=1e-12)
    t = torch.tensor(x, requires_grad=True)
    (one,) = torch.autograd.grad(weighed(torch, lambda x: ours(x) + 0j)(t), t)
    own = getattr(torch.fft, name)
    (other,) = torch.autograd.grad(weighed(torch, lambda x: own(x) + 0j)(t), t)
    torch.testing.assert_close(one, other)


def cubed(f, xp):
    return lambda x: xp.sum(f(x, type=3, norm="ortho") ** 3)


@pytest.mark.full
def test_second_order_in_every_framework():
    x = np.array([0.5, -1.0, 2.0, 0.3])
    matrix = scipy.fft.dct(np.eye(4), type=3, norm="ortho", axis=0)
    expected = 6 * matrix.T @ (matrix * (matrix @ x)[:, None])
    np.testing.assert_allclose(hessian(cubed(scipy.fft.dct, np))(x), expected)
    np.testing.assert_allclose(jax.hessian(cubed(fft.dct, jnp))(x), expected)
    found = torch.func.hessian(cubed(fft.dct, torch))(torch.tensor(x))
    np.testing.assert_allclose(found, expected)
    f = torch.compile(cubed(fft.dct, torch), backend="aot_eager", fullgraph=True)
    t = torch.tensor(x, requires_grad=True)
    f(t).backward()
    slope = grad(cubed(scipy.fft.dct, np))(x)
    np.testing.assert_allclose(t.grad, slope)


@pytest.mark.parametrize("name", ["dct", "fftn", "idstn", "irfft2"])
def test_batches_of_axes_from_the_front(name):
    """Axes count from the example, not from the batch."""
    kw = {"axis": 0} if name == "dct" else {"axes": (0, 1)}
    f = getattr(fft, name)
    found = jax.vmap(lambda x: f(x, **kw))(REAL)
    expected = np.stack([getattr(scipy.fft, name)(x, **kw) for x in REAL])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_single_precision_stays():
    x = REAL.astype(np.float32)
    y, pullback = rc.rrule(fft.fft, x)
    assert (y.dtype, rc.unthunk(pullback(y)[1]).dtype) == (np.complex64, np.float32)
    y, pullback = rc.rrule(fft.dct, x)
    assert (y.dtype, rc.unthunk(pullback(y)[1]).dtype) == (np.float32, np.float32)


def test_an_overwritten_argument():
    """SciPy may destroy it; the derivative is that of the transform."""
    x = np.array([0.5, -1.0, 2.0, 0.3])
    expected = grad(lambda x: np.sum(scipy.fft.dct(x) ** 2))(x)
    found = grad(lambda x: np.sum(scipy.fft.dct(x * 1.0, overwrite_x=True) ** 2))(x)
    np.testing.assert_allclose(found, expected)


def test_parameters_of_hankel_transforms_are_refused():
    with pytest.raises(rc.DerivativeNotImplemented, match="fht"):
        grad(lambda mu: np.sum(scipy.fft.fht(REAL[0, 0], 0.1, mu)))(0.5)


@pytest.mark.parametrize("name", ["fft", "ifft", "dct", "dst", "rfft"])
def test_an_argument_that_may_be_overwritten_and_its_tangent(name):
    """It is read as in the program: kept, or with the result in it; in both modes."""
    f = getattr(scipy.fft, name)

    def program(x):
        y = x * 2.0
        z = f(y, overwrite_x=True)
        return np.sum(np.real(z) ** 2) + np.sum(y)

    x, v = np.array([1.0, 2.0, 4.0, -3.0]), np.ones(4)
    expected = [(program(x + d) - program(x - d)) / 2e-3 for d in 1e-3 * np.eye(4)]
    np.testing.assert_allclose(grad(program)(x), expected, rtol=1e-8)
    np.testing.assert_allclose(jvp(program, (x,), (v,))[1], sum(expected), rtol=1e-8)
    np.testing.assert_array_equal(v, np.ones(4))
    t = np.ones(4)
    rc.frule((None, t), f, x.copy(), overwrite_x=True)
    np.testing.assert_array_equal(t, np.ones(4))
