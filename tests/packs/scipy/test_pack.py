"""The pack as a whole: look-up, dtypes, shapes, refusals in words, second pass."""

import subprocess
import sys

import mpmath as mp
import numpy as np
import pytest
import scipy.special

import rules_core as rc
from rules_scipy import special

from .special_points import POINTS

# Those that others are made of; every function is in test_special.
UFUNCS = """
beta betainc betaln digamma erf erfc erfinv expit gamma gammainc gammaincc gammaln iv
ive jv kv kve logit psi xlog1py xlogy yv
""".split()
ARGUMENTS = {1: (0.4,), 2: (1.5, 0.4), 3: (2.3, 1.7, 0.4)}


def arguments(name):
    return ARGUMENTS[getattr(scipy.special, name).nin]


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("expression", ["jv, 0, 1.5", "polygamma, 1, 1.5"])
def test_the_pack_is_found_by_the_function_alone(expression):
    """A ufunc has no module, so the look-up imports the packs not yet loaded."""
    program = (
        "import scipy.special, rules_core; from scipy.special import *;"
        f"assert rules_core.rrule({expression}) is not None"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_ufuncs_have_no_module():
    assert not hasattr(scipy.special.jv, "__module__")


def test_every_function_has_both_rules_and_shape_and_batch_rule():
    for name in set(special.__all__) - {"psi"}:
        handle = getattr(special, name)
        assert handle.host
        given = [np.asarray(x) if isinstance(x, tuple) else x for x in POINTS[name][0]]
        assert rc.rrule.resolve(handle.fun, given, {}) is not None, name
        assert rc.frule.resolve(handle.fun, given, {}) is not None, name
        assert handle.shape_rule is not None
        assert handle.batch_rule is not None


@pytest.mark.parametrize("name", UFUNCS)
def test_float32_is_kept(name):
    args = [np.full((2,), x, np.float32) for x in arguments(name)]
    y, pullback = rc.rrule(getattr(scipy.special, name), *args)
    assert y.dtype == np.float32
    cotangents = pullback(np.ones_like(y))[1:]
    known = [c for c in cotangents if not isinstance(c, rc.AbstractTangent)]
    assert known
    assert {c.dtype for c in known} == {np.dtype(np.float32)}


@pytest.mark.parametrize("name", ["betainc", "xlogy", "beta"])
def test_cotangents_are_summed_over_broadcast_axes(name):
    f = getattr(scipy.special, name)
    first, *rest = arguments(name)
    args = [np.full((3, 1), first), *rest]
    y, pullback = rc.rrule(f, *args[:-1], np.full(2, args[-1]))
    assert y.shape == (3, 2)
    _, dx, *_ = pullback(np.ones((3, 2)))
    single = rc.rrule(f, *map(np.float64, arguments(name)))[1](1.0)[1]
    assert np.allclose(dx, 2 * single)
    assert dx.shape == (3, 1)


def test_unwanted_parameters_are_not_computed(monkeypatch):
    from rules_scipy.special import _parameters

    def explode(*args):
        raise AssertionError

    monkeypatch.setattr(_parameters, "beta_parameter", explode)
    args = 2.3, 1.7, np.float64(0.4)
    call = rc.rrule.resolve(scipy.special.betainc, args, {})
    _, pullback = call.run((False, False, True))
    assert np.isclose(pullback(1.0)[3], 1.2027634973428116)


REFUSED = [
    ("polygamma", (1.0, 0.4), 0,
     "derivative of polygamma in n, which must be an integer: pass it as an int"),
    ("bdtr", (1.0, 3, 0.4), 0, "derivative of bdtr in k, which counts events and is "
     "rounded to a whole number: pass it as an int"),
    ("mathieu_a", (1.0, 0.4), 0,
     "derivative of a Mathieu function in its order m: pass it as an int"),
    ("smirnov", (5.0, 0.4), 0,
     "derivative of smirnov in n, the size of a sample: pass it as an int"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "argnum", "info"), REFUSED)
def test_missing_derivatives_say_why(name, args, argnum, info):
    handle = getattr(special, name)
    tangent = rc.rrule(handle, *args)[1](1.0)[argnum + 1]
    assert isinstance(tangent, rc.NotImplementedTangent)
    assert tangent.info == info
    tangents = [rc.ZeroTangent()] * (len(args) + 1)
    tangents[argnum + 1] = 1.0
    _, dy = rc.frule(tuple(tangents), handle, *args)
    assert isinstance(dy, rc.NotImplementedTangent)


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "kv", "ive", "kve"])
def test_integer_orders_have_no_tangent(name):
    _, dv, dz = rc.rrule(getattr(special, name), 1, 0.4)[1](1.0)
    assert dv is rc.NoTangent()
    assert isinstance(dz, float)


def grad(host, f, argnums=0):
    """The host's own gradient, of Python numbers."""
    if host == "jax":
        jax = pytest.importorskip("jax")

        return jax.grad(f, argnums)
    torch = pytest.importorskip("torch")

    inner = torch.func.grad(f, argnums)
    return lambda *args: inner(*(torch.as_tensor(x, dtype=torch.double) for x in args))


@pytest.mark.parametrize("host", ["jax", "torch"])
def test_wanting_a_missing_derivative_is_an_error_in_hosts(host):
    with pytest.raises(rc.DerivativeNotImplemented, match="pbwa in a"):
        grad(host, lambda a, x: special.pbwa(a, x)[0])(1.5, 0.4)


@pytest.mark.parametrize("host", ["jax", "torch"])
@pytest.mark.parametrize(("name", "args"), [("gammainc", (1.5, 0.4)),
                                            ("betainc", (2.3, 1.7, 0.4))])  # fmt: skip
def test_second_derivatives_in_a_parameter(host, name, args):
    f = getattr(special, name)
    first, *rest = args
    got = grad(host, grad(host, f))(*args)
    mp.mp.dps = 30
    known = mp.diff(lambda a: getattr(mp, name)(a, *incomplete(name, rest)), first, 2)
    assert np.isclose(float(got), float(known), rtol=1e-10)


def incomplete(name, rest):
    *parameters, x = rest
    return *parameters, 0, x, True


@pytest.mark.parametrize("host", ["jax", "torch"])
def test_mixed_second_derivatives_of_betainc(host):
    """In a or b and x: the derivative of the density in its parameters."""
    a, b, x = 2.3, 1.7, 0.4
    density = rc.rrule(special.betainc, a, b, x)[1](1.0)[3]
    psi = scipy.special.digamma
    known = [
        density * (np.log(x) - psi(a) + psi(a + b)),
        density * (np.log1p(-x) - psi(b) + psi(a + b)),
    ]
    got = grad(host, grad(host, special.betainc, 2), (0, 1))(a, b, x)
    other = grad(host, grad(host, special.betainc, 0), 2)(a, b, x)
    assert np.allclose([float(v) for v in got], known, rtol=1e-12)
    assert np.isclose(float(other), known[0], rtol=1e-12)


def test_a_missing_derivative_of_several_outputs_is_an_error_in_forward_mode():
    """Each output has it: the tangent is a tuple."""
    from rules_autodiff import jvp

    x = np.array([1.0, 2.0])
    with pytest.raises(rc.DerivativeNotImplemented, match="in its order m"):
        jvp(lambda x: special.mathieu_cem(x, 1.5, 30.0), (x,), (x,))


@pytest.mark.parametrize("z", [1.5 + 0.5j, -1.5 + 0.5j])
def test_scaled_iv_of_complex_arguments_is_not_holomorphic(z):
    """Against differences along both axes, forward and adjoint."""
    step, v = 1e-5, 1
    y, pullback = rc.rrule(scipy.special.ive, v, np.complex128(z))
    for dz in (1.0, 1j, 0.3 - 2j):
        ahead, behind = (scipy.special.ive(v, z + s * step * dz) for s in (1, -1))
        slope = (ahead - behind) / (2 * step)
        tangents = rc.NoTangent(), rc.NoTangent(), np.complex128(dz)
        assert np.isclose(rc.frule(tangents, scipy.special.ive, v, z)[1], slope)
        for dy in (1.0, 1j):
            back = pullback(np.complex128(dy))[2]
            assert np.isclose((np.conj(back) * dz).real, (np.conj(dy) * slope).real)
    assert y == scipy.special.ive(v, z)


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("name", ["kv", "betainc", "gammaincc", "xlogy", "erfinv"])
def test_compiled_and_batched_in_jax(name):
    jax = pytest.importorskip("jax")

    f = getattr(special, name)
    *fixed, x = arguments(name)
    grad = jax.grad(lambda x: f(*fixed, x))
    points = np.linspace(0.1, 0.9, 5)
    got = jax.jit(jax.vmap(grad))(points)
    assert np.allclose(got, [grad(p) for p in points], rtol=1e-13)
    assert jax.jit(lambda x: f(*fixed, x))(np.float32(x)).dtype == np.float32


@pytest.mark.parametrize("name", ["kv", "betainc", "gammaincc", "xlogy", "erfinv"])
def test_eager_and_batched_in_torch(name):
    torch = pytest.importorskip("torch")

    f = getattr(special, name)
    *fixed, x = arguments(name)
    points = torch.linspace(0.1, 0.9, 5, dtype=torch.float64, requires_grad=True)
    f(*fixed, points).sum().backward()
    got = torch.func.vmap(torch.func.grad(lambda x: f(*fixed, x)))(points.detach())
    assert torch.allclose(got, points.grad, rtol=1e-13)
    assert f(*fixed, torch.tensor(x, dtype=torch.float32)).dtype == torch.float32


def test_a_mask_keeps_the_pole_of_kv_out():
    """The double `where` of the documentation: finite in both branches."""
    jax = pytest.importorskip("jax")
    jnp = pytest.importorskip("jax.numpy")

    def masked(z):
        safe = jnp.where(z == 0, 1.0, z)
        return jnp.where(z == 0, 0.0, special.kv(1.3, safe))

    got = jax.vmap(jax.grad(masked))(jnp.array([0.0, 2.0]))
    assert got[0] == 0
    assert np.isclose(got[1], scipy.special.kvp(1.3, 2.0))


def test_second_derivatives_of_numpy_scalars_in_the_engine():
    from rules_autodiff import grad, jvp

    def slope(x):
        return jvp(special.erf, (x,), (1.0,))[1]

    x = np.float64(0.5)
    known = -4 * x * np.exp(-x * x) / np.sqrt(np.pi)
    assert np.isclose(jvp(slope, (x,), (1.0,))[1], known, rtol=1e-14)
    assert np.isclose(grad(grad(special.erf))(x), known, rtol=1e-14)


@pytest.mark.covering(every=13)
@pytest.mark.usefixtures("x32")
@pytest.mark.parametrize("name", UFUNCS)
def test_single_precision_in_jax(name):
    jax = pytest.importorskip("jax")

    f = getattr(special, name)
    *fixed, x = arguments(name)
    value, slope = jax.value_and_grad(lambda x: f(*fixed, x))(x)
    assert value.dtype == slope.dtype == np.float32
    known = rc.rrule(getattr(scipy.special, name), *arguments(name))[1](1.0)[-1]
    assert np.isclose(slope, known, rtol=1e-5)
    second = jax.grad(jax.grad(lambda x: f(*fixed, x)))(x)
    assert second.dtype == np.float32
