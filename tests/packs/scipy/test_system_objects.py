"""Linear systems as objects: their form, their sums, and those that are constants."""

import operator

import numpy as np
import pytest
import scipy.signal as ss

from rules_autodiff import grad, hessian, jacrev, jvp
from rules_scipy import signal

from .calls import difference

pytestmark = pytest.mark.filterwarnings("ignore:Badly conditioned")


def some(names, *everyday):
    """Names, of which most stand for one mechanism."""
    return [
        pytest.param(name, marks=() if name in everyday else pytest.mark.full)
        for name in names
    ]


A = np.array([2.0, 1.8, 0.6])
B = np.array([1.0, 2.0])
T = np.linspace(0.0, 1.0, 6)

# in SciPy's form


FORMS = {
    "num": lambda a: ss.TransferFunction([1.0, 2.0], a).num,
    "den": lambda a: ss.TransferFunction([1.0, 2.0], a).den,
    "lti": lambda a: ss.lti([1.0, 2.0], a).den,
    "dlti": lambda a: ss.dlti([1.0, 2.0], a, dt=0.1).num,
    "leading zero": lambda a: ss.lti(a * np.array([0, 1.0, 1.0]), a).num,
    "zero below": lambda a: ss.lti(a, a * np.array([0, 1.0, 1.0])).den,
    "two rows": lambda a: ss.lti(np.array([[1.0, 2.0], [3.0, 4.0]]) * a[0], a).num,
    "to_discrete": lambda a: (
        ss.TransferFunction(a[1:], [1.0, 0.9, 0.3]).to_discrete(0.1).num
    ),
    "to_discrete.den": lambda a: ss.TransferFunction([1.0], a).to_discrete(0.1).den,
}


@pytest.mark.parametrize("name", some(FORMS, "num", "leading zero", "to_discrete"))
def test_transfer_functions_are_divided_by_their_first_coefficient(name):
    read = FORMS[name]
    v = np.array([0.3, -0.5, 0.2])
    y, dy = jvp(read, (A,), (v,))
    assert np.shape(y) == np.shape(read(A))
    np.testing.assert_allclose(y, read(A))
    expected = difference(read, [A], [v], 1e-4)
    np.testing.assert_allclose(dy, expected, atol=1e-9)
    np.testing.assert_allclose(jacrev(read)(A) @ v, expected, atol=1e-9)


def test_jax_divides_them_too():
    jax = pytest.importorskip("jax")
    first = lambda a: signal.TransferFunction(np.array([1.0, 2.0]), a).num[0]
    for f in (jax.grad(first), jax.jit(jax.grad(first))):
        np.testing.assert_allclose(f(A), [-0.25, 0.0, 0.0])


# sums and products

SPACE = ss.StateSpace([[-1.0, 0.2], [0.0, -2.0]], [[1.0], [2.0]], [[1.0, 0.0]], [[0.1]])
X = np.array([-1.0, 0.2, 0.1, -2.0, 1.0, 0.5])


def space(x):
    return ss.StateSpace(x[:4].reshape(2, 2), x[4:, None], x[None, :2], x[:1, None])


OPERATORS = {
    "sum": lambda x: space(x) + space(2 * x),
    "difference": lambda x: space(x) - space(2 * x),
    "product": lambda x: space(x) * space(2 * x),
    "negative": lambda x: -space(x),
    "quotient": lambda x: space(x) / x[0],
    "numbers": lambda x: 2.0 - 3.0 * space(x) * x[0] + 1,
    "matrix": lambda x: np.ones((1, 1)) * x[0] + space(x),
    "sum with a constant": lambda x: SPACE + space(x),
    "sum of a constant": lambda x: space(x) + SPACE,
    "product with a constant": lambda x: SPACE * space(x),
    "constant": lambda x: -SPACE * x[0] / x[1] + x[2],
}


@pytest.mark.parametrize("name", some(OPERATORS, "sum", "product with a constant"))
def test_state_spaces_have_operators(name):
    f = lambda x: np.concatenate(OPERATORS[name](x).bode(w=[1.0, 2.0])[1:])
    v = np.array([0.3, -0.5, 0.2, 0.1, 0.4, -0.2])
    y, dy = jvp(f, (X,), (v,))
    np.testing.assert_allclose(y, f(X))
    np.testing.assert_allclose(dy, difference(f, [X], [v], 1e-4), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("apply", [operator.add, operator.mul, operator.sub])
def test_other_forms_have_none(apply):
    f = lambda a: apply(ss.lti([1.0], a), ss.lti([1.0], a)).num[0]
    with pytest.raises(TypeError, match="unsupported operand"):
        f(A)
    with pytest.raises(TypeError, match="unsupported operand"):
        grad(f)(A)


# constants

CONTINUOUS = {
    "TransferFunction": ss.lti([1.0, 2.0], A),
    "ZerosPolesGain": ss.lti([-1.0], [-2.0, -3.0], 2.0),
    "StateSpace": SPACE,
}
DISCRETE = {
    "TransferFunction": ss.dlti([1.0, 2.0], A, dt=0.1),
    "ZerosPolesGain": ss.dlti([-1.0], [-0.2, -0.3], 2.0, dt=0.1),
    "StateSpace": ss.StateSpace(SPACE.A / 4, SPACE.B, SPACE.C, SPACE.D, dt=0.1),
}


@pytest.mark.parametrize("form", some(CONTINUOUS, "TransferFunction"))
def test_a_constant_system_takes_inputs_with_derivatives(form):
    one, two = CONTINUOUS[form], DISCRETE[form]

    def f(u):
        return np.concatenate([
            one.output(u, T)[1],
            ss.lsim(one, u, T)[1],
            one.step(X0=u[:2], T=T)[1],
            ss.step(one, X0=u[:2], T=T)[1],
            two.output(u, None)[1][:, 0],
            ss.dlsim(two, u, x0=u[:2])[1][:, 0],
            two.step(x0=u[:2], n=4)[1][0][:, 0],
            ss.dstep(two, x0=u[:2], n=4)[1][0][:, 0],
        ])  # fmt: skip

    u, v = np.cos(T), np.sin(3 * T)
    expected = difference(f, [u], [v], 1e-4)
    np.testing.assert_allclose(jvp(f, (u,), (v,))[1], expected, atol=1e-8)
    np.testing.assert_allclose(jacrev(f)(u) @ v, expected, atol=1e-8)


# designs, roots and options


def test_an_ill_conditioned_design_is_differentiated_in_double_precision():
    jax, torch = map(pytest.importorskip, ("jax", "torch"))
    bands = np.array([[0.1, 0.3], [0.6, 0.8]], np.float32)
    desired = np.array([[1.0, 0.8], [0.2, 0.1]], np.float32)
    loss = lambda m: lambda b, d: (m.firls(9, b, d, fs=4)[:4] ** 2).sum()
    # The taps of SciPy, which the loss squares, have some of the error themselves.
    expected = grad(loss(ss))(bands.astype(float), desired.astype(float))
    np.testing.assert_allclose(grad(loss(ss))(bands, desired), expected, rtol=1e-2)
    x = torch.tensor(bands, requires_grad=True)
    loss(signal)(x, torch.tensor(desired)).backward()
    np.testing.assert_allclose(x.grad, expected, rtol=1e-2)
    with jax.enable_x64(False):
        assert np.isnan(jax.grad(loss(signal))(bands, desired)).all()


def test_pairs_of_roots_must_stay_pairs_in_forward_mode():
    z = np.array([-0.3 + 0.5j, -0.3 - 0.5j])
    f = lambda z: ss.zpk2tf(z, [-1.0], 2.0)[0]
    together, apart = np.array([0.1 + 0.2j, 0.1 - 0.2j]), np.array([0.1j, 0.0])
    expected = difference(lambda z: f(z).real, [z], [together])
    np.testing.assert_allclose(jvp(f, (z,), (together,))[1], expected, atol=1e-9)
    assert np.isnan(jvp(f, (z,), (apart,))[1]).any()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("options", [(False,), (False, True), (True, False)])
def test_lombscargle_takes_options_by_position(options):
    t = np.linspace(0.0, 10.0, 20)
    f = lambda x: ss.lombscargle(t, x, np.array([0.5, 2.0]), *options)
    x, v = np.cos(t), np.sin(2 * t)
    expected = difference(f, [x], [v], 1e-4)
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], expected, atol=1e-9)


# splines at their knots


@pytest.mark.parametrize("name", ["cspline1d_eval", "qspline1d_eval"])
def test_splines_at_knots_and_ends(name):
    c = np.arange(8.0) ** 1.5
    f = lambda q: getattr(ss, name)(c, q).sum()
    h = 1e-4
    for x in (0.3, 1.0, 2.5, 3.0, 6.5, -1.0, 9.0):
        q = np.array([x])
        after = (f(q + 2 * h) - 2 * f(q + h) + f(q)) / h**2
        assert grad(f)(q)[0] == pytest.approx((f(q + h) - f(q - h)) / (2 * h), rel=1e-3)
        assert hessian(f)(q)[0, 0] == pytest.approx(after, rel=1e-2)
    for end in (0.0, 7.0, 14.0):  # symmetric kinks
        assert grad(f)(np.array([end]))[0] == 0.0
