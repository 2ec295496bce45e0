"""Rules first: registry, config, opt-outs, transposition, via AD, mutating rules."""

import math
import re

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import (
    EngineConfig,
    UnsupportedProgram,
    derive_frule,
    derive_rrule,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    overlay,
    show,
)
from rules_autodiff.testing import check_program
from rules_core import NoTangent, frule, rrule
from rules_core.testing import isolated_rules

X = np.array([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_rules():
        yield


def make_sine():
    """A function with both rules, whose rules can be told from its body."""

    def sine(x):
        return np.sin(x) if isinstance(x, np.ndarray) else math.sin(x)

    def cosine(x):
        return np.cos(x) if isinstance(x, np.ndarray) else math.cos(x)

    @rrule.define(sine)
    def sine_rrule(x):
        def sine_pullback(dy):
            return NoTangent(), dy * cosine(x)

        return sine(x), sine_pullback

    @rrule.define(cosine)
    def cosine_rrule(x):
        def cosine_pullback(dy):
            return NoTangent(), -dy * sine(x)

        return cosine(x), cosine_pullback

    @frule.define(sine)
    def sine_frule(tangents, x):
        return sine(x), tangents[1] * cosine(x)

    @frule.define(cosine)
    def cosine_frule(tangents, x):
        return cosine(x), -tangents[1] * sine(x)

    return sine, cosine


def test_rules_are_used_at_every_order():
    sine, _ = make_sine()

    def f(x):
        return sine(x) * x

    check_program(f, 0.7)

    def product(x):
        return sine(x) @ x

    check_program(product, X)
    assert grad(f)(0.7) == pytest.approx(math.cos(0.7) * 0.7 + math.sin(0.7))
    second = 2 * math.cos(0.7) - 0.7 * math.sin(0.7)
    assert grad(grad(f))(0.7) == pytest.approx(second)
    assert jvp(grad(f), (0.7,), (1.0,))[1] == pytest.approx(second)
    expected = np.diag(2 * np.cos(X) - X * np.sin(X))
    np.testing.assert_allclose(hessian(lambda x: sine(x) @ x)(X), expected, atol=1e-12)


def test_a_rule_added_later_is_used():
    def inner(x):
        return x * x

    def outer(x):
        return inner(x) + 1

    assert grad(outer)(3.0) == 6.0

    @rrule.define(inner)
    def inner_rrule(x):
        return x * x, lambda dy: (NoTangent(), 100.0 * dy)

    assert grad(outer)(3.0) == 100.0
    rc.opt_out(rrule, inner, float)
    assert grad(outer)(3.0) == 6.0


def test_config_rules_receive_the_config():
    def f(x):
        return x * x

    @rrule.define(f, config=EngineConfig)
    def f_rrule(config, x):
        assert isinstance(config, EngineConfig)
        return x * x, lambda dy: (NoTangent(), 5.0 * dy)

    assert grad(f)(3.0) == 5.0
    assert rrule(f, 3.0) is None


def test_non_differentiable():
    def bucket(x):
        return x * 10 // 1

    rc.non_differentiable(bucket)
    assert grad(lambda x: x * bucket(x))(0.37) == 3.0
    assert jvp(lambda x: x * bucket(x), (0.37,), (1.0,)) == pytest.approx((1.11, 3.0))


class Called:
    """An instance that holds its argument, and may be called."""

    def __init__(self, held):
        self.held = held

    def __call__(self):
        return self.held


@pytest.mark.parametrize("transform", [grad, jacfwd])
def test_a_constant_that_holds_its_argument_leaves_that_its_derivative(transform):
    rc.non_differentiable(Called)
    x = np.ones(2)
    found = transform(lambda x: (Called(x), np.sum(x * x))[1])(x)
    np.testing.assert_array_equal(found, 2.0 * x)


def test_methods_classes_and_instances():
    class Scale:
        def __init__(self, c):
            self.c = c

        def apply(self, x):
            return self.c * x

        def __call__(self, x):
            return self.c + x

    @rrule.define(Scale.apply)
    def apply_rrule(scale, x):
        def apply_pullback(dy):
            return rc.MutableTangent(Scale, c=10.0 * x * dy), 10.0 * scale.c * dy

        return scale.c * x, apply_pullback

    @rrule.define(Scale.__call__)
    def call_rrule(scale, x):
        return scale.c + x, lambda dy: (NoTangent(), 7.0 * dy)

    assert grad(lambda c, x: Scale(c).apply(x), (0, 1))(2.0, 3.0) == (30.0, 20.0)
    assert grad(lambda c, x: Scale.apply(Scale(c), x))(2.0, 3.0) == 30.0
    assert grad(Scale(2.0))(3.0) == 7.0


def test_keywords_reach_the_normal_form():
    def f(x, p=2.0, *, scale=1.0):
        return scale * x**p

    @rrule.define(f)
    def f_rrule(x, p, *, scale=1.0):
        def f_pullback(dy):
            return NoTangent(), scale * p * dy, scale * 100.0 * dy

        return f(x, p, scale=scale), f_pullback

    assert grad(lambda x, p: f(p=p, x=x, scale=3.0), (0, 1))(2.0, 4.0) == (12.0, 300.0)
    with pytest.raises(UnsupportedProgram, match="keyword-only argument 'scale'"):
        grad(lambda s: f(1.0, scale=s))(2.0)


def test_one_rule_serves_both_modes():
    def only_rrule(x, y):
        return x @ x * y

    @rrule.define(only_rrule)
    def reverse(x, y):
        def pullback(dz):
            return NoTangent(), 2.0 * dz * y * x, rc.thunk(lambda: dz * (x @ x))

        return x @ x * y, pullback

    def only_frule(x, y):
        return x @ x * y

    @frule.define(only_frule)
    def forward(tangents, x, y):
        _, dx, dy = tangents
        return x @ x * y, 2.0 * (x @ dx) * y + (x @ x) * dy

    check_program(only_rrule, X, 3.0)
    check_program(only_frule, X, 3.0)
    np.testing.assert_allclose(jacfwd(only_rrule)(X, 3.0), 6 * X)
    np.testing.assert_allclose(jacrev(only_frule)(X, 3.0), 6 * X)


def test_captured_values_have_cotangents():
    """A rule for a function with a function argument, which calls back into AD."""

    def map_(f, xs):
        return [f(x) for x in xs]

    @rrule.define(map_, config=rc.RuleConfig[rc.HasReverseMode])
    def map_rrule(config, f, xs):
        pairs = [rc.rrule_via_ad(config, f, x) for x in xs]

        def map_pullback(dys):
            found = [pullback(dy) for (_, pullback), dy in zip(pairs, dys, strict=True)]
            df = NoTangent()
            for own, _ in found:
                df = df + own
            return NoTangent(), df, rc.Tangent(list, *[dx for _, dx in found])

        return [y for y, _ in pairs], map_pullback

    def program(c, x):
        return sum(map_(lambda v: c * v * v, [x, 2 * x]))

    assert grad(program, (0, 1))(2.0, 3.0) == pytest.approx((45.0, 60.0))
    assert jvp(program, (2.0, 3.0), (1.0, 0.0))[1] == pytest.approx(45.0)
    assert grad(grad(program, 1), 1)(2.0, 3.0) == pytest.approx(20.0)


def test_fixed_point():
    """The implicit function theorem as a rule: dx = (1 - ∂f/∂x)⁻¹ ∂f/∂p dp."""

    def fixed_point(f, x, p):
        for _ in range(200):
            x = f(x, p)
        return x

    @rrule.define(fixed_point, config=rc.RuleConfig[rc.HasReverseMode])
    def fixed_point_rrule(config, f, x, p):
        solution = fixed_point(f, x, p)
        _, step_pullback = rc.rrule_via_ad(config, f, solution, p)

        def fixed_point_pullback(dy):
            w = dy
            for _ in range(200):
                w = dy + step_pullback(w)[1]
            df, _, dp = step_pullback(w)
            return NoTangent(), df, 0.0, dp

        return solution, fixed_point_pullback

    def newton(x, a):
        return 0.5 * (x + a / x)

    def root(a):
        return fixed_point(newton, 1.0, a)

    assert grad(root)(2.0) == pytest.approx(0.5 / math.sqrt(2.0))
    assert grad(grad(root))(2.0) == pytest.approx(-0.25 * 2.0**-1.5)


def test_quad_and_brentq():
    quad = pytest.importorskip("scipy.integrate").quad
    brentq = pytest.importorskip("scipy.optimize").brentq

    def integral(f, a, b):
        return quad(f, a, b)[0]

    @rrule.define(integral, config=rc.RuleConfig[rc.HasReverseMode])
    def integral_rrule(config, f, a, b):
        def captured(t):
            return rc.rrule_via_ad(config, f, t)[1](1.0)[0].c

        def pullback(dy):
            dc = integral(captured, a, b) * dy
            own = rc.Tangent(type(f), c=dc)
            return NoTangent(), own, -f(a) * dy, f(b) * dy

        return integral(f, a, b), pullback

    def root(f, a, b):
        return brentq(f, a, b, xtol=1e-14)

    @rrule.define(root, config=rc.RuleConfig[rc.HasReverseMode])
    def root_rrule(config, f, a, b):
        x = root(f, a, b)

        def pullback(dy):
            _, inner = rc.rrule_via_ad(config, f, x)
            df, dx = inner(1.0)
            return NoTangent(), df * (-dy / dx), 0.0, 0.0

        return x, pullback

    def area(c, b):
        return integral(lambda t: c * t * t, 0.0, b)

    assert grad(area, (0, 1))(3.0, 2.0) == pytest.approx((8 / 3, 12.0))
    assert grad(lambda c: root(lambda t: t * t - c, 0.0, 9.0))(4.0) == pytest.approx(
        0.25
    )


def test_config_derives_functions():
    y, pullback = rc.rrule_via_ad(EngineConfig(), lambda x, y: x * y, 2.0, 3.0)
    assert (y, pullback(1.0)) == (6.0, (NoTangent(), 3.0, 2.0))
    y, dy = rc.frule_via_ad(EngineConfig(), (NoTangent(), 1.0), lambda x: x * x, 3.0)
    assert (y, dy) == (9.0, 6.0)
    assert issubclass(
        EngineConfig, rc.RuleConfig[rc.HasReverseMode, rc.HasForwardsMode]
    )
    assert issubclass(EngineConfig, rc.RuleConfig[rc.SupportsMutation])


def test_derived_rules():
    c = np.array([1.0, 2.0, 3.0])

    def f(x):
        return x @ c

    y, pullback = derive_rrule(f)(X)
    df, dx = pullback(2.0)
    assert y == X @ c
    np.testing.assert_array_equal(df.c, 2 * X)
    np.testing.assert_array_equal(dx, 2 * c)
    y, dy = derive_frule(f)((rc.Tangent(type(f), c=X), X), X)
    assert dy == X @ c + X @ X


def test_custom_identity_is_not_taken_for_a_view():
    def clip_gradient(x):
        return x

    @rrule.define(clip_gradient)
    def clip_rrule(x):
        return x, lambda dy: (NoTangent(), dy * 0.1)

    np.testing.assert_allclose(grad(lambda x: clip_gradient(x) @ x)(X), 1.1 * X)
    assert grad(lambda x: clip_gradient(x) * x)(2.0) == pytest.approx(2.2)


def test_not_implemented_is_an_error_only_where_it_is_needed():
    def f(x, n):
        return x * n

    @rrule.define(f)
    def f_rrule(x, n):
        missing = rc.not_implemented("nobody wrote it")
        return x * n, lambda dy: (NoTangent(), n * dy, missing)

    assert grad(f)(2.0, 3.0) == 3.0
    with pytest.raises(rc.DerivativeNotImplemented, match="nobody wrote it"):
        grad(f, 1)(2.0, 3.0)


# mutating rules


# overlays and the derived code


def test_overlay_replaces_the_body():
    def opaque(x):
        return float(str(x))

    @overlay(opaque)
    def opaque_overlay(x):
        return x * 3.0

    assert grad(lambda x: opaque(x) * x)(2.0) == 12.0
    assert opaque(2.0) == 2.0


def test_show():
    def f(x, *, n=2):
        for i in range(n):
            x[i] += n
        return x.sum()

    shown = re.sub(r"frozenset\(\{.*\}\)", "NAMES", str(show(f)))
    assert shown == (
        "def f(x, *, n=None):\n"
        "    for i in _ad.iter(_ad.call(range, n)):\n"
        "        _ad1 = x\n"
        "        _ad2 = i\n"
        "        _ad.store_item(_ad.iadd(_ad.getitem(_ad1, _ad2), n), _ad1, _ad2)\n"
        "    else:\n"
        "        _ad.passed((('items', ('x',)),), (('n',),), NAMES)\n"
        "    return _ad.method(x, 'sum')"
    )
    with pytest.raises(TypeError, match="must be written in Python"):
        show(len)


def test_scipy_being_loaded_changes_nothing():
    """The core's own code runs below every level, whatever is in `sys.modules`."""
    pytest.importorskip("scipy.sparse")
    cube = grad(lambda x: {"a": [x * x]}["a"][0] * x)
    assert grad(cube)(2.0) == pytest.approx(12.0)
