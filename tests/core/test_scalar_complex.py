"""`scalar_rule` at complex arguments: what is claimed holds, the rest is refused."""

import cmath
import re

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, NotImplementedTangent, frule, rrule, scalar_rule
from rules_core.testing import CheckFailed, check_rule

Z = np.array([3.0 + 4.0j, -1.0j])


def magnitude(z):
    return rc.array_namespace(z).abs(z)


def real_partials(y, z):
    return (rc.array_namespace(z).sign(z),)


def complex_partials(y, z):
    xp = rc.array_namespace(z)
    return (xp.conj(xp.sign(z)),)


def product(z, x):
    return z * x


def product_partials(y, z, x):
    return x, z


def text(f, partials):
    code = partials.__code__
    return (
        f"scalar_rule {partials.__name__} for {f.__name__} at test_scalar_complex.py:"
        f"{code.co_firstlineno} is declared for real arguments; declare it "
        "holomorphic=True if the function satisfies the Cauchy–Riemann equations, "
        "real_valued=True if its value is real and its partials are "
        "∂f/∂Re x - i ∂f/∂Im x, else write an frule and an rrule for complex arguments"
    )


@pytest.mark.parametrize("z", [Z, Z[0], 1j], ids=["array", "numpy scalar", "number"])
def test_without_a_claim_the_derivative_is_not_implemented(z):
    def f(z):
        return abs(z)

    scalar_rule(f, lambda y, z: (z / y,))
    _, pullback = rrule(f, z)
    dself, dz = pullback(1.0)
    assert dself is NoTangent()
    assert isinstance(dz, NotImplementedTangent)
    _, dy = frule((NoTangent(), z), f, z)
    assert isinstance(dy, NotImplementedTangent)


def test_its_text_is_whole():
    scalar_rule(magnitude, real_partials)
    (_, dz) = rrule(magnitude, Z)[1](np.ones(2))
    assert dz.info == text(magnitude, real_partials)
    (row,) = rc.derivatives_given_output(abs(Z), magnitude, Z)
    assert row == (dz,)
    with pytest.raises(rc.DerivativeNotImplemented, match=re.escape(dz.info)):
        dz.throw()


def test_real_arguments_need_no_claim():
    scalar_rule(magnitude, real_partials)
    assert rrule(magnitude, np.array([-2.0, 3.0]))[1](np.ones(2))[1].tolist() == [-1, 1]

    def spin(x):
        return cmath.exp(1j * x)

    scalar_rule(spin, lambda y, x: (1j * y,))
    assert check_rule(spin, 0.5, hosts=())["rrule.complex-derivative"].status == (
        "passed"
    )


def test_a_real_argument_beside_a_complex_one():
    scalar_rule(product, product_partials)
    y, pullback = rrule(product, 2.0j, 3.0)
    _, dz, dx = pullback(1.0j)
    assert isinstance(dz, NotImplementedTangent)
    assert dx == 2.0
    zero = rc.ZeroTangent()
    assert frule((zero, zero, 1.0), product, 2.0j, 3.0) == (y, 2.0j)
    report = check_rule(product, 2.0j, 3.0, hosts=())
    assert report["rrule.implemented"].status == "refused"
    assert report["rrule.complex-derivative"].status == "passed"


def test_partials_that_are_no_numbers_say_it_themselves():
    def chosen(z, x):
        return x

    scalar_rule(chosen, lambda y, z, x: (rc.ZeroTangent(), 1.0))
    assert rrule(chosen, 1j, 2.0)[1](1.0)[1] is rc.ZeroTangent()


def test_a_real_value_takes_its_gradient_from_one_partial():
    scalar_rule(magnitude, complex_partials, real_valued=True)
    report = check_rule(magnitude, Z, hosts=())
    assert report["rrule.complex-derivative"].status == "passed"
    assert report["frule.complex-derivative"].status == "passed"
    assert report["adjoint"].status == "passed"


def test_a_wrong_claim_of_a_real_value_is_found():
    scalar_rule(magnitude, real_partials, real_valued=True)
    with pytest.raises(CheckFailed, match=r"failed +rrule.complex-derivative"):
        check_rule(magnitude, Z, hosts=())


def test_a_claim_of_a_real_value_says_nothing_where_the_value_is_complex():
    scalar_rule(product, product_partials, real_valued=True)
    assert isinstance(rrule(product, 2.0j, 3.0)[1](1.0)[1], NotImplementedTangent)


def test_outputs_are_judged_one_by_one():
    def polar(z):
        return abs(z), 2 * z

    def polar_partials(y, z):
        return (z.conjugate() / y[0],), (2.0,)

    scalar_rule(polar, polar_partials, real_valued=True)
    first, second = rc.derivatives_given_output(polar(2j), polar, 2j)
    assert first == (-1j,)
    assert isinstance(second[0], NotImplementedTangent)


def test_a_function_is_not_both():
    with pytest.raises(rc.RuleDefinitionError) as caught:
        scalar_rule(product, product_partials, holomorphic=True, real_valued=True)
    assert str(caught.value) == (
        "scalar_rule product_partials for product at test_scalar_complex.py:"
        f"{product_partials.__code__.co_firstlineno} must be holomorphic or "
        "real_valued, but got both."
    )


@pytest.mark.parametrize("host", [True, False])
def test_jax_says_so(host):
    jax = pytest.importorskip("jax")
    f = rc.primitive(host=host, elementwise=host)(lambda z: abs(z))
    scalar_rule(f, real_partials)
    z = jax.numpy.asarray(Z)
    with pytest.raises(rc.DerivativeNotImplemented, match="is declared for real arg"):
        jax.grad(lambda z: f(z).real.sum())(z)
    with pytest.raises(rc.DerivativeNotImplemented, match="is declared for real arg"):
        jax.jvp(f, (z,), (z,))
    assert jax.grad(lambda x: f(x).sum())(-z.real).tolist() == [-1.0, 0.0]


@pytest.mark.parametrize("host", [True, False])
def test_torch_says_so(host):
    torch = pytest.importorskip("torch")
    f = rc.primitive(host=host, elementwise=host)(lambda z: abs(z))
    scalar_rule(f, real_partials)
    z = torch.tensor(Z, requires_grad=True)
    with pytest.raises(rc.DerivativeNotImplemented, match="is declared for real arg"):
        f(z).real.sum().backward()
    z = z.detach()
    with pytest.raises(rc.DerivativeNotImplemented, match="is declared for real arg"):
        torch.func.jvp(f, (z,), (z,))
    x = (-z.real).requires_grad_()
    f(x).sum().backward()
    assert x.grad.tolist() == [-1.0, 0.0]


def test_the_engine_says_so():
    from rules_autodiff import grad, jvp

    scalar_rule(magnitude, real_partials)
    with pytest.raises(rc.DerivativeNotImplemented, match="is declared for real arg"):
        grad(lambda z: np.sum(magnitude(z)))(Z)
    with pytest.raises(rc.DerivativeNotImplemented, match="is declared for real arg"):
        jvp(magnitude, (Z,), (Z,))
