"""The front doors: what they raise, and what each option does."""

import pickle
import time

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, frule, rrule
from rules_core.testing import (
    CheckFailed,
    FiniteDifferenceConfig,
    Seeded,
    check_frule,
    check_rrule,
    check_rule,
)

VECTOR = np.array([0.5, -1.25, 2.0])


def square(x):
    return x * x


def define(factor=2.0, forward=2.0):
    @rrule.define(square)
    def square_rrule(x):
        def square_pullback(dy):
            return NoTangent(), factor * x * dy

        return x * x, square_pullback

    @frule.define(square)
    def square_frule(tangents, x):
        return x * x, forward * x * tangents[1]


def test_what_failed_is_raised_with_its_rule_and_its_cure():
    define(factor=1.0)
    with pytest.raises(CheckFailed) as caught:
        check_rule(square, np.array([1.0, 2.0]), hosts=())
    text = str(caught.value)
    assert "rule: rrule define.<locals>.square_rrule at test_rule.py:" in text
    assert "write: correct the formula" in text
    assert "worst entry ∂y[1]/∂x[1]: the rule gives 2, finite differences 4 ±" in text
    assert "the rule is 0.5 times the derivative throughout" in text
    assert isinstance(caught.value, AssertionError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == text
    assert "passed   rrule.value" in str(again.report)


def test_a_rule_that_does_not_take_the_call_is_named():
    def double(x):
        return 2.0 * x

    def text_frule(tangents, x):
        return x, x

    text_frule.__annotations__ = {"x": str}
    frule.define(double)(text_frule)
    rrule.define(double)(lambda x: (2.0 * x, lambda dy: (NoTangent(), 2.0 * dy)))
    detail = check_rule(double, VECTOR, hosts=())["frule.exists"].detail
    assert detail.startswith("no such rule takes this call: frameworks derive it\n")
    assert "text_frule(str) at test_rule.py:" in detail
    assert detail.endswith("argument 1 (x) is ndarray, not str.")


def test_each_front_door_looks_at_its_own_rule():
    define(forward=1.0)
    assert check_rrule(square, VECTOR)
    with pytest.raises(CheckFailed, match=r"failed +frule.derivative"):
        check_frule(square, VECTOR)


def test_a_front_door_without_its_rule_fails():
    def cube(x):
        return x**3

    with pytest.raises(CheckFailed, match=r"rrule.exists +no rrule applies to .*cube"):
        check_rrule(cube, VECTOR)
    with pytest.raises(CheckFailed, match=r"frule\.exists"):
        check_frule(cube, VECTOR)
    with pytest.raises(CheckFailed, match=r"rrule\.exists"):
        check_rule(cube, VECTOR, hosts=())


def test_one_rule_is_enough_for_check_rule():
    def cube(x):
        return x**3

    @frule.define(cube)
    def cube_frule(tangents, x):
        return x**3, 3 * x**2 * tangents[1]

    report = check_rule(cube, VECTOR, hosts=())
    assert report["rrule.exists"].status == "not run"
    assert report["frule.derivative"].status == "passed"


def test_keyword_arguments_are_passed_on():
    def power(x, *, n):
        return x**n

    @rrule.define(power)
    def power_rrule(x, *, n):
        return x**n, lambda dy: (NoTangent(), n * x ** (n - 1) * dy)

    assert check_rule(power, VECTOR, fkwargs={"n": 3}, hosts=())


def test_defaults_are_arguments_in_normal_form():
    def scaled(x, factor=2.0):
        return factor * x

    @rrule.define(scaled)
    def scaled_rrule(x, factor):
        return factor * x, lambda dy: (NoTangent(), factor * dy, float(np.sum(x * dy)))

    assert check_rule(scaled, VECTOR, hosts=())
    assert check_rule(scaled, VECTOR, fkwargs={"factor": 3.0}, hosts=())


def test_a_seeded_argument_moves_along_its_tangent_only():
    def logdet(A):  # of symmetric matrices: the strict upper triangle is not read
        return np.log(np.linalg.det(np.tril(A) + np.tril(A, -1).T))

    @rrule.define(logdet)
    def logdet_rrule(A):
        return logdet(A), lambda dy: (NoTangent(), dy * np.linalg.inv(A))

    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    with pytest.raises(CheckFailed, match=r"failed +rrule.derivative"):
        check_rrule(logdet, A)
    symmetric = np.array([[1.0, -2.0], [-2.0, 0.5]])
    skip = ("rrule.second-order",)
    assert check_rrule(logdet, Seeded(A, symmetric), skip=skip)
    assert check_rrule(logdet, A, tangents=(symmetric,), skip=skip)


def test_an_argument_seeded_with_no_tangent_is_not_moved():
    def clamp(x, bound):
        return x + 0.0 * bound

    @rrule.define(clamp)
    def clamp_rrule(x, bound):
        return clamp(x, bound), lambda dy: (NoTangent(), dy, NoTangent())

    with pytest.raises(CheckFailed, match=r"failed +rrule.no-tangent"):
        check_rrule(clamp, VECTOR, 3.0)
    assert check_rrule(clamp, VECTOR, Seeded(3.0, NoTangent()))


def test_the_given_cotangent_alone_is_tried():
    seen = []

    @rrule.define(square)
    def square_rrule(x):
        def square_pullback(dy):
            seen.append(np.asarray(dy))
            return NoTangent(), 2 * x * dy

        return x * x, square_pullback

    dy = np.array([1.0, 0.0, 0.0])
    check_rrule(square, VECTOR, cotangent=dy, skip=("rrule.strong-zeros",))
    assert {tuple(w / w[0]) for w in seen if w[0]} == {(1.0, 0.0, 0.0)}


@pytest.mark.parametrize("option", [{"rtol": 1e-3}, {"atol": 1e-2}])
def test_tolerances_can_be_widened(option):
    define(factor=2.0002, forward=2.0002)
    with pytest.raises(CheckFailed):
        check_rule(square, VECTOR, hosts=())
    assert check_rule(square, VECTOR, hosts=(), **option)


def test_checks_can_be_left_out():
    define(factor=1.0)
    report = check_rrule(square, VECTOR, skip=("rrule.derivative",))
    assert report["rrule.derivative"].detail == "left out by skip="
    assert report["rrule.linearity"].status == "passed"


def test_full_tries_more_directions():
    counts = {}
    for level in ("quick", "full"):
        calls = []

        @frule.define(square)
        def square_frule(tangents, x, calls=calls):
            calls.append(1)
            return x * x, 2 * x * tangents[1]

        check_frule(square, VECTOR, level=level)
        counts[level] = len(calls)
    assert counts["full"] > counts["quick"]


def test_hosts_that_nobody_knows_are_not_run():
    define()
    report = check_rule(square, VECTOR, hosts=("nonesuch",))
    assert report["nonesuch: all"].status == "not run"
    assert "no adapter for 'nonesuch'" in report["nonesuch: all"].detail


@pytest.mark.parametrize("factor", [1.0, 1.001])
def test_steps_that_drown_in_the_value_are_no_evidence(factor):
    def successor(x):
        return x + 1.0

    @rrule.define(successor)
    def successor_rrule(x):
        return x + 1.0, lambda dy: (NoTangent(), factor * dy)

    @frule.define(successor)
    def successor_frule(tangents, x):
        return x + 1.0, factor * tangents[1]

    for check in (check_rrule, check_frule):
        if factor == 1.0:
            assert check(successor, np.array([1e-20, 1e-18]))
        else:
            with pytest.raises(CheckFailed, match=r"the rule is 1\.001 times"):
                check(successor, np.array([1e-20, 1e-18]))


def test_a_derivative_that_is_nil_is_accepted_within_round_off():
    def sine(x):
        return 1.0 + np.cos(x)

    @rrule.define(sine)
    def sine_rrule(x):
        return sine(x), lambda dy: (NoTangent(), -np.sin(x) * dy)

    assert check_rrule(sine, np.array([np.pi, 2 * np.pi]))


def test_a_point_without_derivative_is_no_pass():
    def spike(x):
        return np.where(x == 1.0, 0.0, np.nan)

    rrule.define(spike)(lambda x: (spike(x), lambda dy: (NoTangent(), 0.0 * dy)))
    with pytest.raises(CheckFailed, match="no finite value next to this point"):
        check_rrule(spike, np.array([1.0]))


def test_single_precision_is_judged_by_its_own_digits():
    define()
    report = check_rule(square, VECTOR.astype(np.float32), hosts=())
    assert report["rrule.derivative"].status == "passed"
    define(factor=2.0 + 1e-4)
    with pytest.raises(CheckFailed, match=r"failed +rrule.derivative"):
        check_rule(square, VECTOR.astype(np.float32), hosts=())


def test_second_order_of_single_precision_is_looked_at_in_double():
    define()
    report = check_rule(square, VECTOR.astype(np.float32), hosts=())
    assert report["rrule.second-order"].status == "passed"
    assert report["frule.slope-at-zero"].status == "passed"


def test_empty_arrays_have_a_form_but_no_derivative():
    define()
    report = check_rule(square, np.zeros((0, 2)), hosts=())
    assert report["rrule.shape"].status == "passed"
    assert report["rrule.derivative"].status == "not run"


def test_functions_without_tangents_are_checked_for_their_value():
    def largest(x):
        return int(np.argmax(x))

    rc.non_differentiable(largest)
    report = check_rule(largest, VECTOR, hosts=())
    assert report["rrule.value"].status == report["frule.value"].status == "passed"
    assert report["rrule.no-tangent"].detail == ("the value has no tangent: it is 2")


def test_structures_in_and_out():
    def mix(pair, scale):
        return {"sum": pair[0] + scale * pair[1], "n": 3}

    @rrule.define(mix)
    def mix_rrule(pair, scale):
        def mix_pullback(dy):
            ds = dy["sum"]
            return NoTangent(), (ds, scale * ds), np.sum(pair[1] * ds)

        return mix(pair, scale), mix_pullback

    @frule.define(mix)
    def mix_frule(tangents, pair, scale):
        _, (da, db), dscale = tangents
        return mix(pair, scale), {"sum": da + scale * db + dscale * pair[1]}

    report = check_rule(mix, (VECTOR, VECTOR + 1), 2.0, hosts=())
    assert report["rrule.second-order"].status == "passed"
    assert report["adjoint"].status == "passed"


def test_rules_that_call_back_into_ad_are_given_finite_differences():
    def applied(f, x):
        return f(x)

    wanted = rc.RuleConfig[rc.HasReverseMode]

    @rrule.define(applied, config=wanted)
    def applied_rrule(config, f, x):
        y, pullback = rc.rrule_via_ad(config, f, x)

        def applied_pullback(dy):
            df, dx = pullback(dy)
            return NoTangent(), df, dx

        return y, applied_pullback

    report = check_rrule(applied, np.cbrt, VECTOR)
    assert report["rrule.derivative"].status == "passed"
    assert check_rrule(applied, np.cbrt, VECTOR, config=FiniteDifferenceConfig())


def test_a_quick_check_is_quick():
    define()
    check_rule(square, VECTOR, hosts=())
    start = time.process_time()
    check_rule(square, VECTOR, hosts=())
    assert time.process_time() - start < 0.3


@pytest.mark.parametrize("x", [0.0, np.zeros(2), np.array([0.0, 1.0])], ids=str)
def test_a_derivative_that_is_nil_where_the_value_is_too(x):
    offset = 0.0

    @rrule.define(square)
    def square_rrule(x):
        return x * x, lambda dy: (NoTangent(), (2 * x + offset) * dy)

    assert check_rrule(square, x)["rrule.derivative"].status == "passed"
    offset = 1e-9
    with pytest.raises(CheckFailed, match=r"failed +rrule.derivative"):
        check_rrule(square, x)


def test_no_evidence_at_zero_stays_none():
    def needle(x):  # flat at zero, but not as far as finite differences can tell
        return x * np.sin(1 / x) ** 2 if x else x

    rrule.define(needle)(lambda x: (needle(x), lambda dy: (NoTangent(), 0.0 * dy)))
    with pytest.raises(CheckFailed, match=r"failed +rrule.derivative"):
        check_rrule(needle, 0.0)


def test_tangents_that_do_not_move_anything():
    define()
    report = check_rule(square, VECTOR, tangents=(np.zeros(3),), hosts=())
    assert report["rrule.derivative"].detail == (
        "no argument moves: the tangents that were given are zero"
    )


def test_the_claim_of_a_function_without_a_value_is_not_judged():
    rc.scalar_rule(square, lambda y, x: (2 * x,), holomorphic=True)
    with pytest.raises(CheckFailed) as caught:
        check_rule(square, 1e300, hosts=())
    report = caught.value.report
    assert report["rrule.cauchy-riemann"].status == "not run"
    assert {c.name for c in report.failed} == {"rrule.derivative", "frule.derivative"}


def test_what_torch_records_is_nothing_to_the_tester():
    torch = pytest.importorskip("torch")
    define()
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert check_rule(square, x, hosts=())["rrule.derivative"].status == "passed"


def only_symmetric(A):
    if np.any(A != A.T):
        message = "A must be symmetric"
        raise TypeError(message)
    return np.linalg.slogdet(A)[1]


def lower_half_alone(A):
    return np.linalg.slogdet(np.tril(A) + np.tril(A, -1).T)[1]


def none_elsewhere(A):
    return np.linalg.slogdet(A)[1] if np.all(A == A.T) else np.nan


@pytest.mark.parametrize("f", [only_symmetric, lower_half_alone, none_elsewhere])
def test_an_argument_that_may_not_move_freely_needs_its_tangent(f):
    rrule.define(f)(lambda A: (f(A), lambda dy: (NoTangent(), dy * np.linalg.inv(A))))
    A, dA = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, -2.0], [-2.0, 0.5]])
    with pytest.raises(CheckFailed, match=r"tangents=\(dx, …\)") as caught:
        check_rule(f, A, hosts=())
    assert [c.name for c in caught.value.report.failed] == ["rrule.derivative"]
    assert check_rule(f, A, tangents=(dA,), hosts=())
