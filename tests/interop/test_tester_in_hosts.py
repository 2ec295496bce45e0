"""The tester runs one rule in every real host, and finds what is wrong there only."""

import math

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, rrule
from rules_core.testing import CheckFailed, check_rule, isolated_rules
from tests.specimens.honest import HONEST

VECTOR = np.array([0.5, -1.25, 2.0])
SLOW = pytest.mark.slow


@pytest.fixture(params=["jax", "torch"])
def host(request):
    pytest.importorskip(request.param)
    return request.param


@pytest.fixture(autouse=True)
def _own_rules():
    with isolated_rules():
        yield


def define(host_factor=1.0):
    """log Σ exp with its rule, which may be wrong on arrays that are not NumPy's."""

    @rc.primitive
    def lse(x):
        xp = rc.array_namespace(x)
        return xp.log(xp.sum(xp.exp(x)))

    @rrule.define(lse)
    def lse_rrule(x):
        xp, y = rc.array_namespace(x), lse(x)
        is_numpy = type(x).__module__.startswith(("numpy", "rules_core"))
        factor = 1.0 if is_numpy else host_factor

        def lse_pullback(dy):
            return NoTangent(), factor * dy * xp.conj(xp.exp(x - y))

        return y, lse_pullback

    return lse


def of(host, checks):
    return {c.name: c for c in checks if c.name.startswith(host)}


def test_a_right_rule_passes_every_quick_cell(host):
    report = check_rule(define(), VECTOR, hosts=(host,))
    cells = of(host, report)
    assert len(cells) >= 5
    assert {c.status for c in cells.values()} == {"passed"}, report


@pytest.mark.covering(every=2, start=0)
@pytest.mark.slow
def test_a_right_rule_passes_every_full_cell(host):
    report = check_rule(define(), VECTOR, hosts=(host,), level="full")
    cells = of(host, report)
    assert len(cells) >= 10
    assert {c.status for c in cells.values()} == {"passed"}, report


@pytest.mark.covering(every=2, start=1)
def test_complex_cotangents_follow_one_convention_in_every_host(host):
    report = check_rule(define(), VECTOR + 0.5j, hosts=(host,))
    assert {c.status for c in of(host, report).values()} <= {"passed", "refused"}, (
        report
    )


def test_what_is_wrong_only_in_a_host_is_found_there(host):
    with pytest.raises(CheckFailed) as caught:
        check_rule(define(host_factor=2.0), VECTOR, hosts=(host,))
    report = caught.value.report
    failed = {c.name for c in report.failed}
    assert failed == set(of(host, report.failed))
    assert report[f"{host}: eager"].status == "passed"
    assert len(failed) >= 3


def test_structures_integers_and_keywords_reach_the_host(host):
    @rc.primitive
    def mix(pair, n, *, scale):
        return {"y": scale * pair[0] ** n * pair[1]}

    @rrule.define(mix)
    def mix_rrule(pair, n, *, scale):
        a, b = pair

        def mix_pullback(dy):
            da = scale * n * a ** (n - 1) * b * dy["y"]
            return NoTangent(), (da, scale * a**n * dy["y"]), NoTangent()

        return mix(pair, n, scale=scale), mix_pullback

    pair = (VECTOR, VECTOR + 3.0)
    report = check_rule(mix, pair, 3, fkwargs={"scale": 2.0}, hosts=(host,))
    assert {c.status for c in of(host, report).values()} == {"passed"}, report


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("library", ["jax.numpy", "torch"])
def test_arguments_may_be_arrays_of_any_host(host, library):
    xp = pytest.importorskip(library)

    @rc.primitive
    def scaled(x, n):
        return n * x * x

    rc.scalar_rule(scaled, lambda y, x, n: (2 * n * x, NoTangent()))
    x = xp.asarray([0.5, -1.25], dtype=xp.float64)
    report = check_rule(scaled, x, xp.asarray(2), hosts=(host,))
    assert {c.status for c in report if c.name.startswith(host)} == {"passed"}


@pytest.mark.covering(every=6)
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_rule_passes_in_every_host(host, name):
    call = HONEST[name]()
    assert check_rule(call.f, *call.args, hosts=(host,))


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_rule_passes_every_full_cell(host, name):
    call = HONEST[name]()
    level = "quick" if "fixed_point" in name else "full"  # 60 steps, unrolled: minutes
    assert check_rule(call.f, *call.args, hosts=(host,), level=level)


def test_a_rule_that_a_host_skips_fails_there(host):
    """`float` takes what NumPy's call gives, and no array of the host."""

    @rc.primitive
    def double(x):
        return 2.0 * x

    def double_rrule(x):
        return double(x), lambda dy: (NoTangent(), 2.0 * dy)

    double_rrule.__annotations__ = {"x": float}
    rrule.define(double)(double_rrule)
    for _ in range(2):  # the warning is given once, the failure each time
        with pytest.raises(
            CheckFailed, match="is differentiated without its rules"
        ) as e:
            check_rule(double, 0.5, hosts=(host,))
        assert len(str(e.value).splitlines()) <= 10


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("level", ["quick", pytest.param("full", marks=[SLOW])])
@pytest.mark.parametrize("fault", ["raises in a callback", "leaves array code"])
def test_errors_in_hosts_are_short_and_name_the_rule(host, fault, level):
    @rc.primitive(host=True)
    def broken(x):
        message = "out of tune"
        raise ZeroDivisionError(message)

    rc.shape_rule.define(broken)(lambda x: x)

    @rc.primitive
    def double(x):
        return 2.0 * x

    @rrule.define(double)
    def double_rrule(x):
        def double_pullback(dy):
            if type(dy).__module__.startswith(("numpy", "rules_core")):
                return NoTangent(), 2.0 * dy
            first = broken(dy) if "callback" in fault else math.cos(dy[0])
            return NoTangent(), 2.0 * dy + first

        return double(x), double_pullback

    with pytest.raises(CheckFailed) as caught:
        check_rule(double, VECTOR, hosts=(host,), level=level)
    text = str(caught.value)
    assert len(text.splitlines()) <= 10, text
    assert "Traceback" not in text
    assert "site-packages" not in text
    assert "double_rrule at test_tester_in_hosts.py:" in text
    assert "write: " in text


def test_the_report_says_where_no_compiler_is(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    report = check_rule(define(), VECTOR, hosts=("torch",), level="full")
    cell = report["torch: compile by inductor, backward"]
    assert cell.status == "refused"
    assert cell.detail.startswith("inductor needs a C++ compiler")


@pytest.mark.full
@pytest.mark.slow
def test_inductor_is_given_what_host_functions_return():
    """Its code believes what the shape rule says of strides."""
    pytest.importorskip("torch")

    @rc.primitive(host=True)
    def turned(x):
        return np.asfortranarray(2.0 * x)

    rc.shape_rule.define(turned)(lambda x: x)
    rrule.define(turned)(lambda x: (turned(x), lambda dy: (NoTangent(), 2.0 * dy)))
    x = np.arange(6.0).reshape(2, 3)
    report = check_rule(turned, x, hosts=("torch",), level="full")
    assert report["torch: compile by inductor, backward"].status != "failed"
