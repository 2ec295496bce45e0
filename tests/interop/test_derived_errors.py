"""What derived rules refuse, and that a wrong one would be noticed."""

import zlib

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import (
    CoDual,
    Dual,
    NoRData,
    SourceNotFound,
    UnsupportedProgram,
    derive_rrule,
    frule_mutating,
    rrule_mutating,
)
from rules_core.testing import CheckFailed, check_rule, isolated_rules
from tests.interop.simulations import HOSTS, differences, first_of, host_of

X = np.array([0.3, -0.4, 0.9])


@pytest.fixture(autouse=True)
def own_rules():
    with isolated_rules():
        yield


@pytest.fixture(params=HOSTS)
def host(request):
    return host_of(request.param)


def both_modes(host, f, x):
    """A gradient and a pushforward, each as a call."""
    wrapped = host.wrap(f, out=first_of)

    def backward():
        return host.grad(lambda x: wrapped(x).sum())(x)

    def forward():
        return host.jvp(wrapped, (x,), (x,))

    return backward, forward


def with_a_class(x):
    class Local:
        factor = 2.0

    return x * Local.factor


def into_a_set(x):
    return x * max({float(v) for v in x})


def test_a_statement_that_the_engine_does_not_lift(host):
    for run in both_modes(host, with_a_class, host.array(X)):
        with pytest.raises(UnsupportedProgram, match=r"py, line \d+, in with_a_class"):
            run()


def test_a_value_where_the_engine_cannot_follow_it(host):
    for run in both_modes(host, into_a_set, host.array(X)):
        with pytest.raises(UnsupportedProgram, match="A set must hold constants"):
            run()


def test_the_same_error_out_of_compiled_code():
    import jax

    host = host_of("jax")
    run, _ = both_modes(host, into_a_set, host.array(X))
    with pytest.raises(Exception, match="A set must hold constants") as error:
        jax.block_until_ready(jax.jit(run)())
    assert "test_derived_errors.py, line" in str(error.value)


def test_a_function_without_source(host):
    space = {}
    exec("def f(x):\n    return x * 2.0", space)
    for run in both_modes(host, space["f"], host.array(X)):
        with pytest.raises(SourceNotFound):
            run()


def test_a_value_needs_no_derivable_function(host):
    wrapped = host.wrap(with_a_class, out=first_of)
    np.testing.assert_allclose(np.asarray(wrapped(host.array(X))), 2 * X)


@pytest.mark.parametrize("kind", [rc.rrule, rc.frule])
def test_an_opt_out_of_either_kind_declines_both_modes(host, kind):
    def opted(x):
        return 2.0 * x

    rc.opt_out(kind, opted, rc.Array)
    for run in both_modes(host, opted, host.array(X)):
        with pytest.raises(rc.RulesCoreError, match="opted out at test_derived_err"):
            run()


def test_impure_functions(host):
    def noisy(x):
        return x * 2.0

    f, x = host.wrap(noisy, pure=False, out=first_of), host.array(X)
    with pytest.raises(rc.RulesCoreError, match="pure=False"):
        host.grad(lambda x: f(x).sum())(x)


def test_an_authors_rule_comes_first(host):
    def odd(x):
        return 2.0 * x

    rc.scalar_rule(odd, lambda y, x: (5.0,))
    backward, forward = both_modes(host, odd, host.array(X))
    assert np.asarray(backward()).tolist() == [5.0] * 3
    np.testing.assert_allclose(np.asarray(forward()[1]), 5 * X)


def test_a_rule_for_one_mode_serves_both(host):
    def odd(x):
        return 2.0 * x

    handle = rc.primitive(odd, host=True)
    rc.shape_rule.define(odd)(first_of)

    @rc.frule.define(odd)
    def odd_frule(tangents, x):
        return handle(x), 5.0 * tangents[1]

    slope = host.grad(lambda x: handle(x).sum())(host.array(X))
    assert np.asarray(slope).tolist() == [5.0] * 3


def halve(x):
    x *= 0.5
    return x


def wrong_rule(_, x):
    """Halves in place, and forgets to halve the cotangent."""
    x.primal[...] *= 0.5

    def wrong_pullback(_dy):
        x.primal[...] *= 2.0
        return NoRData(), NoRData()

    return CoDual(x.primal, x.fdata), wrong_pullback


def right_rule(_, x):
    x.primal[...] *= 0.5

    def right_pullback(_dy):
        x.primal[...] *= 2.0
        x.fdata[...] *= 0.5
        return NoRData(), NoRData()

    return CoDual(x.primal, x.fdata), right_pullback


def failed_checks(*call):
    try:
        report = check_rule(*call, hosts=())
    except CheckFailed as error:
        report = error.report
    return {check.name for check in report.failed}


@pytest.mark.parametrize("rule", [wrong_rule, right_rule])
def test_a_wrong_mutating_rule_inside_is_caught(rule):
    def simulate(x):
        x = x * x
        halve(x)
        return x

    def ruled(x):
        return simulate(x)

    rc.rrule.define(ruled)(derive_rrule(simulate))
    rrule_mutating.define(halve)(rule)
    try:
        failed = failed_checks(ruled, X)
    finally:
        rrule_mutating.rules.pop(halve)
    assert failed == ({"rrule.derivative"} if rule is wrong_rule else set())


def test_explain_says_that_the_rule_is_derived():
    handle = rc.primitive(halve, host=True)
    assert rc.explain(handle, X) == (
        "rrule for halve(ndarray): no rule applies; none is defined.\n"
        "frule for halve(ndarray): no rule applies; none is defined.\n"
        "halve is a host primal without a rule: in JAX and PyTorch both modes use the "
        f"rule derived by rules_autodiff from its code at test_derived_errors.py:"
        f"{halve.__code__.co_firstlineno}."
    )
    rc.opt_out(rc.rrule, halve, rc.Array)
    assert "without a derived rule: it is opted out at" in rc.explain(handle, X)


def test_a_function_of_c_code_has_no_derived_rule():
    handle = rc.Primitive(zlib.compress, host=True)
    assert rc.why_not_derived(handle, (1.0,), {}, None) == (
        "it is no Python code that rules_autodiff looks into"
    )


def total(items):
    """Imagine compiled code here."""
    return sum(items)


def totalled(x):
    y = x * x
    y[0] = total([x[0], x[1] * x[2]]) * y[1]
    return y


def test_a_batch_of_tangents_that_a_rule_takes_one_by_one(host):
    """A mutating frule gets no list with several tangents: each has its own pass."""
    calls = []

    def total_rule(f, items):
        calls.append(items)
        return Dual(sum(items.primal), sum(items.tangent))

    f, x = host.wrap(totalled, out=first_of), host.array(X)
    frule_mutating.define(total)(total_rule)
    try:
        columns = host.vmap(lambda dx: host.jvp(f, (x,), (dx,))[1])(
            host.array(np.eye(3))
        )
    finally:
        frule_mutating.rules.pop(total)
    assert len(calls) == 3
    want = [differences(lambda x, i=i: totalled(x.copy())[i], X)[0] for i in range(3)]
    np.testing.assert_allclose(np.asarray(columns).T, want, rtol=1e-8, atol=1e-9)
