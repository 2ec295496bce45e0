"""Functions with rules in written code: the rule is called, the tape is not asked."""

import math

import numpy as np
import pytest
import scipy.special

import rules_core as rc
from rules_autodiff import grad, jacrev, vjp
from rules_core import NoTangent, ZeroTangent, frule, rrule
from rules_core.testing import isolated_rules

X = np.array([0.4, -1.1, 2.3])


@pytest.fixture(autouse=True)
def alone():
    with isolated_rules():
        yield


# Each makes a function of numbers or arrays whose rule says twice or three times the
# derivative: so it shows which rule ran.


def by_partials():
    @rc.primitive
    def cube(x):
        return x * x * x

    rc.scalar_rule(cube, lambda y, x: (6.0 * x * x,))
    return cube, lambda x: 6.0 * x * x


def by_rrule():
    @rc.primitive
    def cube(x):
        return x * x * x

    @rrule.define(cube)
    def cube_rrule(x):
        def cube_pullback(dy):
            return NoTangent(), 9.0 * x * x * dy

        return x * x * x, cube_pullback

    return cube, lambda x: 9.0 * x * x


def by_lazy_rrule():
    @rc.primitive
    def cube(x):
        return x * x * x

    @rrule.define(cube)
    def cube_rrule(x):
        def cube_pullback(dy):
            return NoTangent(), rc.thunk(lambda: 6.0 * x * x * dy)

        return x * x * x, cube_pullback

    return cube, lambda x: 6.0 * x * x


def by_needs():
    @rc.primitive
    def cube(x):
        return x * x * x

    @rrule.define(cube)
    def cube_rrule(x, *, needs):
        assert needs == (True,)

        def cube_pullback(dy):
            return NoTangent(), 6.0 * x * x * dy

        return x * x * x, cube_pullback

    return cube, lambda x: 6.0 * x * x


def by_config():
    @rc.primitive
    def cube(x):
        return x * x * x

    @rrule.define(cube, config=rc.RuleConfig)
    def cube_rrule(config, x):
        _, pullback = rc.rrule_via_ad(config, lambda t: t * t, x)

        def cube_pullback(dy):
            return NoTangent(), 3.0 * x * pullback(dy)[1]

        return x * x * x, cube_pullback

    return cube, lambda x: 6.0 * x * x


def by_linear_rule():
    @rc.primitive
    def triple(x):
        return 3.0 * x

    rc.linear_rule(triple, lambda dy, x: 6.0 * dy)
    return triple, lambda x: 6.0 + 0.0 * x


def plain_function():
    def cube(x):
        return x * x * x

    rc.scalar_rule(cube, lambda y, x: (6.0 * x * x,))
    return cube, lambda x: 6.0 * x * x


MAKERS = [
    by_partials, by_rrule, by_lazy_rrule, by_needs, by_config, by_linear_rule,
    plain_function,
]  # fmt: skip


def fresh(f):
    """The function with code of its own: what is written for a code object is kept."""
    f.__code__ = f.__code__.replace()
    return f


def settled(f, *args, **options):
    """The gradient after some calls, when code is there."""
    for _ in range(3):
        grad(f, **options)(*args)
    return grad(f, **options)(*args)


@pytest.mark.parametrize("make", MAKERS)
def test_numbers(make, tapes):
    function, slope = make()

    def program(x):
        total = 0.0
        for i in range(5):
            total = total + function(x + i)
        return total

    settled(fresh(program), 1.3)
    tapes.clear()
    found = grad(program)(1.3)
    np.testing.assert_allclose(found, sum(slope(1.3 + i) for i in range(5)))
    assert program not in tapes


@pytest.mark.parametrize("make", MAKERS)
def test_arrays(make, tapes):
    function, slope = make()

    def program(x):
        return np.sum(function(2.0 * x) * x)

    settled(fresh(program), X)
    tapes.clear()
    found = grad(program)(X)
    expected = 2.0 * slope(2.0 * X) * X + function(2.0 * X)
    np.testing.assert_allclose(found, expected)
    assert program not in tapes


@pytest.mark.parametrize("make", MAKERS)
def test_rows_and_pullbacks(make):
    function, slope = make()

    def program(x):
        return function(x) + x

    for _ in range(4):
        rows = jacrev(program)(X)
        _, pullback = vjp(program, X)
        found = pullback(np.ones(3))
    np.testing.assert_allclose(rows, np.diag(slope(X) + 1.0))
    np.testing.assert_allclose(found[0], slope(X) + 1.0)


def two_arguments():
    @rc.primitive
    def mixed(x, y):
        return x * np.sin(y)

    def partials(z, x, y):
        return 2.0 * np.sin(y), 2.0 * x * np.cos(y)

    rc.scalar_rule(mixed, partials)
    return mixed, partials


SHAPES = [
    (1.3, 0.7),
    (X, 0.7),
    (1.3, X),
    (X, X + 1.0),
    (X, np.ones((2, 3))),
    (np.ones((2, 1)), X),
]


@pytest.mark.parametrize("args", SHAPES, ids=str)
@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_two_arguments_are_broadcast(args, argnums, tapes):
    function, partials = two_arguments()

    def of_numbers(x, y):
        z = function(x, y)
        return z * z

    def of_arrays(x, y):
        z = function(x, y)
        return np.sum(z * z)

    program = of_arrays if max(map(np.ndim, args)) else of_numbers
    found = settled(fresh(program), *args, argnums=argnums)
    value = args[0] * np.sin(args[1])
    expected = []
    for x, p in zip(args, partials(value, *args), strict=True):
        whole = np.broadcast_to(2.0 * value * p, np.shape(value))
        expected.append(reduced(whole, np.shape(x)))
    expected = tuple(expected) if argnums == (0, 1) else expected[argnums]
    both = found if argnums == (0, 1) else (found,)
    wanted = expected if argnums == (0, 1) else (expected,)
    for one, other in zip(both, wanted, strict=True):
        np.testing.assert_allclose(one, other)
    tapes.clear()
    grad(program, argnums=argnums)(*args)
    assert program not in tapes


def reduced(whole, shape):
    whole = np.asarray(whole)
    lead = tuple(range(whole.ndim - len(shape)))
    whole = whole.sum(lead)
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and whole.shape[i] != 1)
    return whole.sum(axes, keepdims=True)


PACK = {
    "sinc": lambda x: np.sum(np.sinc(x)),
    "interp": lambda x: np.sum(np.interp(x, np.array([-2.0, 0.0, 3.0]), X)),
    "nanmean": lambda x: np.nanmean(x * x) + 0.0,
    "linalg": lambda x: np.sum(np.linalg.eigvalsh(np.outer(x, x) + np.eye(3)) ** 2),
    "fft": lambda x: np.sum(np.convolve(x, np.ones(2)) ** 2),
    "ptp": lambda x: np.ptp(x) * 2.0,
    "special": lambda x: np.sum(scipy.special.jv(1, np.abs(x))),
    "keyword": lambda x: np.sum(np.nanprod(x * np.ones((2, 3)), axis=0) ** 2),
    "number": lambda x: math.gamma(np.sum(x) + 1.0),
}


@pytest.mark.parametrize("name", PACK)
def test_functions_of_packs_that_are_not_written_out(name, tapes):
    program = PACK[name]
    found = settled(program, X)
    step = 1e-6
    differences = [
        (program(X + step * e) - program(X - step * e)) / (2 * step) for e in np.eye(3)
    ]
    np.testing.assert_allclose(found, differences, rtol=1e-7, atol=1e-8)
    tapes.clear()
    np.testing.assert_array_equal(grad(program)(X), found)
    assert program not in tapes


def test_a_changed_rule_is_used():
    function, _ = by_partials()

    def program(x):
        return function(x) + x

    assert settled(program, 2.0) == 25.0
    rrule.undefine(function)
    frule.undefine(function)
    rc.scalar_rule(function, lambda y, x: (x * 0.0 + 100.0,))
    assert grad(program)(2.0) == 101.0
    assert settled(program, 2.0) == 101.0


def test_a_more_specific_rule_is_used():
    function, _ = by_partials()

    def program(x):
        return function(x) + x

    assert settled(program, 2.0) == 25.0

    @rrule.define(function)
    def cube_rrule(x: float):
        return x**3, lambda dy: (NoTangent(), -dy)

    assert grad(program)(2.0) == 0.0
    assert settled(program, 2.0) == 0.0


def test_an_opt_out_is_followed():
    function, _ = by_partials()

    def program(x):
        return function(x) + x

    assert settled(program, 2.0) == 25.0
    rc.opt_out(rrule, function, float)
    rc.opt_out(frule, function, float)
    assert settled(program, 2.0) == 13.0


def made(rule):
    def cube(x):
        return x * x * x

    if rule:
        rc.scalar_rule(cube, lambda y, x: (6.0 * x * x,))

    def program(x):
        return cube(x) + x

    return program


@pytest.mark.parametrize("order", [(True, False), (False, True)])
def test_a_function_with_the_same_code_and_no_rule(order):
    for rule in order:
        assert settled(made(rule), 2.0) == (25.0 if rule else 13.0)


def test_debug_mode_watches():
    @rc.primitive
    def cube(x):
        return x * x * x

    @rrule.define(cube)
    def cube_rrule(x):
        return x**3, lambda dy: (NoTangent(), np.ones(7))

    def program(x):
        return cube(x) + x

    with rc.debug_mode(), pytest.raises(rc.DebugError):
        settled(program, 2.0)


def written_to(x):
    y = keeps(x)
    x[0] = 5.0
    y[1] = 7.0
    return np.sum(y * y) + np.sum(x)


@rc.primitive
def keeps(x):
    return x * x


@pytest.mark.parametrize("at", range(2))
def test_writes_into_what_a_pullback_keeps(at):
    @rrule.define(keeps)
    def keeps_rrule(x):
        y = x * x

        def keeps_pullback(dy):
            return NoTangent(), 2.0 * (x if at else np.sign(x) * np.sqrt(y)) * dy

        return y, keeps_pullback

    def program(x):
        return written_to(1.0 * x)

    found = settled(program, X)
    expected = 4.0 * X**3 + 1.0
    expected[0] -= 1.0
    expected[1] -= 4.0 * X[1] ** 3
    np.testing.assert_allclose(found, expected)


def test_a_result_of_another_kind_at_times():
    @rc.primitive
    def odd(x):
        return x * x if x > 0.0 else np.array([x * x])

    @rrule.define(odd)
    def odd_rrule(x):
        return odd.fun(x), lambda dy: (NoTangent(), 2.0 * x * np.sum(dy))

    def program(x):
        return np.sum(odd(x) * 3.0)

    for x in (1.0, 1.0, 1.0, -2.0, 1.0, -2.0, -2.0):
        assert grad(program)(x) == 6.0 * x


def test_an_infinite_partial_of_what_has_no_part():
    @rc.primitive
    def root(x):
        return math.sqrt(x)

    rc.scalar_rule(root, lambda y, x: (math.inf if y == 0.0 else 0.5 / y,))

    def program(x):
        return root(x) * 0.0 + x

    for _ in range(4):
        assert grad(program)(0.0) == 1.0


def test_zero_tangents():
    @rc.primitive
    def second(x, y):
        return 1.0 * y

    @rrule.define(second)
    def second_rrule(x, y):
        return 1.0 * y, lambda dy: (NoTangent(), ZeroTangent(), dy)

    def program(x):
        return second(x, 3.0 * x) + x

    assert settled(program, 2.0) == 4.0


WRONG = {
    "count": lambda x, dy: (NoTangent(),),
    "no tangent": lambda x, dy: (NoTangent(), NoTangent()),
    "not implemented": lambda x, dy: (NoTangent(), rc.not_implemented("later")),
    "not a tuple": lambda x, dy: [NoTangent(), dy],
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_those_of_the_tape(name):
    @rc.primitive
    def cube(x):
        return x * x * x

    @rrule.define(cube)
    def cube_rrule(x):
        return x * x * x, lambda dy: WRONG[name](x, dy)

    def program(x):
        return cube(x) + x

    with pytest.raises(rc.RulesCoreError) as by_tape:
        grad(program, tier="tape")(1.3)
    for _ in range(4):
        with pytest.raises(type(by_tape.value)) as caught:
            grad(program)(1.3)
        assert str(caught.value) == str(by_tape.value)


def test_an_frule_alone_is_transposed_by_the_tape():
    @rc.primitive
    def cube(x):
        return x * x * x

    @frule.define(cube)
    def cube_frule(tangents, x):
        return x * x * x, 6.0 * x * x * tangents[1]

    def program(x):
        return cube(x) + x

    assert settled(program, 2.0) == 25.0


def test_a_test_of_a_branch_asks_a_function_with_a_rule():
    function, _ = by_partials()

    def program(x):
        if function(x) > 1.0:
            return function(x)
        return 2.0 * x

    assert settled(program, 2.0) == 24.0
    assert settled(program, 0.5) == 2.0


def test_a_primitive_without_rules_is_written_out(tapes):
    @rc.primitive
    def cube(x):
        return x * x * x

    def program(x):
        return cube(x) + x

    assert settled(program, 2.0) == 13.0
    tapes.clear()
    assert grad(program)(2.0) == 13.0
    assert tapes == []


def test_straight_says_that_a_rule_must_run_first():
    function, _ = by_rrule()

    def program(x):
        return function(x) + x

    with pytest.raises(rc.RulesCoreError, match="cube_rrule returns is not known yet"):
        grad(program, tier="straight")(2.0)
    grad(program)(2.0)
    assert grad(program, tier="straight")(2.0) == 37.0


def test_somebody_elses_rule_for_a_numpy_function(tapes):
    @rrule.define(np.tanh)
    def tanh_rrule(x: float):
        return np.tanh(x), lambda dy: (NoTangent(), 100.0 * dy)

    def of_number(x):
        return np.tanh(x) + x

    def of_array(x):
        return np.sum(np.tanh(x))

    assert settled(of_number, 0.5) == 101.0
    np.testing.assert_allclose(settled(of_array, X), 1.0 - np.tanh(X) ** 2)
    tapes.clear()
    assert grad(of_number)(0.5) == 101.0
    grad(of_array)(X)
    assert tapes == []


def test_a_whole_number_where_a_float_stood():
    @rc.primitive
    def scaled(x, by):
        return x * by

    @rrule.define(scaled)
    def by_floats(x: float, by: float):
        return x * by, lambda dy: (NoTangent(), 2.0 * by * dy, NoTangent())

    @rrule.define(scaled)
    def by_whole_numbers(x: float, by: int):
        return x * by, lambda dy: (NoTangent(), 5.0 * by * dy, NoTangent())

    def program(x, n):
        factor = n or 2.0
        return scaled(x, factor)

    calls = ((0, 4.0), (0, 4.0), (0, 4.0), (3, 15.0), (0, 4.0), (3, 15.0))
    for n, expected in calls:
        assert grad(program)(1.0, n) == expected


BUFFER = np.empty(3)


def test_a_function_that_fills_a_buffer_at_each_call(tapes):
    @rc.primitive
    def square(x):
        return np.multiply(x, x, out=BUFFER)

    rc.scalar_rule(square, lambda y, x: (2.0 * x,))

    def program(x):
        return np.sum(square(x)) + 2.0 * np.sum(np.sin(x) * square(2.0 * x))

    found = settled(program, X)
    expected = 2.0 * X + 8.0 * (np.cos(X) * X**2 + 2.0 * np.sin(X) * X)
    np.testing.assert_allclose(found, expected)
    tapes.clear()
    grad(program)(X)
    assert tapes == []


def test_a_result_that_is_a_view_of_its_own_memory(tapes):
    @rc.primitive
    def square(x):
        return np.outer(np.ones(2), x * x)[0]

    @rrule.define(square)
    def square_rrule(x):
        return square.fun(x), lambda dy: (NoTangent(), 2.0 * x * dy)

    def program(x):
        return np.sum(square(x) * x)

    np.testing.assert_allclose(settled(program, X), 3.0 * X * X)
    tapes.clear()
    grad(program)(X)
    assert tapes == []


def test_a_result_that_is_an_argument():
    @rc.primitive
    def same(x):
        return x

    rc.scalar_rule(same, lambda y, x: (3.0,))

    def program(x):
        y = 1.0 * x
        z = same(y)
        return np.sum(z * y)

    np.testing.assert_allclose(settled(program, X), 4.0 * X)
