"""Each misuse has an error of its own, and its whole text is written here.

What `test_errors`, `test_host_errors`, `test_hidden`, `test_symbolic_zeros` and
`test_via` do not show.
"""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, UnsupportedError
from rules_jax import JaxConfig, RuleOutputError, to_jax

X = jnp.arange(3.0)
WHERE = "rule_of.<locals>.f_{0} for rule_of.<locals>.f at test_misuse.py:LINE"
HOST = pytest.mark.parametrize("host", [False, True], ids=["generic", "host"])


def text_of(run, *args, error=RuleOutputError):
    """The message, without JAX's addition and with the line taken out."""
    with pytest.raises(error) as caught:
        jax.block_until_ready(run(*args))
    return re.sub(r"\.py:\d+", ".py:LINE", str(caught.value).split("\n---")[0])


def rule_of(kind, rule, *, host=False):
    """A primitive whose body or, for `host`, whose rule too runs in NumPy."""

    @rc.primitive(host=host, elementwise=host)
    def f(x):
        return np.multiply(x, 2.0) if host else x * 2.0

    if kind == "rrule":

        @rc.rrule.define(f, host=host)
        def f_rrule(x):
            return f(x), rule
    else:

        @rc.frule.define(f, host=host)
        def f_frule(tangents, x):
            return f(x), rule(tangents[1])

    return f


def grad(f):
    return jax.grad(lambda x: f(x).sum())(X)


def jvp(f):
    return jax.jvp(f, (X,), (X,))


KINDS = {"rrule": (grad, "the cotangent of argument 0"), "frule": (jvp, "the tangent")}
WIDER = {"rrule": " or one that broadcasting gives it", "frule": ""}


def wrong(kind, host, make):
    """The text of a rule that returns what `make` makes of a tangent."""
    run, what = KINDS[kind]
    rule = (lambda dy: (NoTangent(), make(dy))) if kind == "rrule" else make
    prefix = f"{kind} {WHERE.format(kind)}: {what} "
    text = text_of(run, rule_of(kind, rule, host=host))
    assert text.startswith(prefix)
    return text.removeprefix(prefix)


@HOST
@pytest.mark.parametrize("kind", KINDS)
def test_a_shape_that_does_not_fit(kind, host):
    assert wrong(kind, host, lambda d: np.ones((2, 2))) == (
        f"has shape (2, 2), but must have the primal's shape (3,){WIDER[kind]}. Return "
        "an array like the primal."
    )


@HOST
def test_a_tangent_is_not_summed_as_a_cotangent_is(host):
    assert wrong("frule", host, lambda d: np.ones((2, 3))) == (
        "has shape (2, 3), but must have the primal's shape (3,). Return an array like "
        "the primal."
    )
    f = rule_of("rrule", lambda dy: (NoTangent(), np.ones((2, 3))), host=host)
    assert grad(f).tolist() == [2, 2, 2]


@HOST
@pytest.mark.parametrize("kind", KINDS)
def test_booleans(kind, host):
    assert wrong(kind, host, lambda d: d > 0) == (
        "has dtype bool, but must be floating or complex, as its primal of dtype "
        "float64: integers carry no derivative. Convert it in the rule, or return "
        "ZeroTangent() for zeros."
    )


@pytest.mark.covering(strength=1)
@HOST
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "make",
    [lambda d: (d, d), lambda d: [d], lambda d: "three"],
    ids=["tuple", "list", "str"],
)
def test_no_array(kind, host, make):
    name = type(make(X)).__name__
    assert wrong(kind, host, make) == (
        f"must be an array, a number or a zero, but got a value of type {name}. Return "
        "an array like the primal."
    )


@HOST
def test_the_number_of_cotangents(host):
    f = rule_of("rrule", lambda dy: (NoTangent(), dy, dy), host=host)
    assert text_of(grad, f, error=rc.CotangentCountError) == (
        f"rrule {WHERE.format('rrule')}: the pullback must return a tuple of 2 "
        "cotangents (one for the function itself, then one per positional argument), "
        "but got 3 of them. Return NoTangent() for what has no tangent."
    )


def test_a_rule_that_does_not_fit_what_jax_hands_on():
    """JAX calls a function on tracers, and its rule on the arrays behind them."""

    @rc.primitive
    def f(x):
        return x * 2

    @rc.rrule.define(f)
    def f_rrule(x: jax.core.Tracer):
        return f(x), lambda dy: (NoTangent(), 2 * dy)

    name = "test_a_rule_that_does_not_fit_what_jax_hands_on.<locals>.f"
    with pytest.warns(rc.RuleSkippedWarning, match=r"is jax\.Array, not Tracer"):
        text = text_of(grad, f, error=UnsupportedError)
    assert text == (
        f"rrule {name}_rrule for {name} was chosen by the types of the call, but no "
        "rule fits the arrays that JAX hands on. Annotate array arguments with "
        "rules_core.Array."
    )


def test_a_host_rule_that_does_not_fit_numpy():
    @rc.primitive(host=True, elementwise=True)
    def f(x):
        return np.sin(x)

    jax_arrays = type(X) | jax.core.Tracer

    @rc.rrule.define(f, host=True)
    def f_rrule(x: jax_arrays):
        return f(x), lambda dy: (NoTangent(), dy)

    name = "test_a_host_rule_that_does_not_fit_numpy.<locals>.f"
    assert text_of(grad, f) == (
        f"rrule {name}_rrule for {name} was chosen by the types of the call, but does "
        "not fit the NumPy arrays of a host rule. Annotate array arguments with "
        "rules_core.Array."
    )


@pytest.mark.parametrize(("kind", "mode"), [("rrule", "forward"), ("frule", "reverse")])
def test_a_numpy_rule_has_one_mode(kind, mode):
    rule = {"rrule": lambda dy: (NoTangent(), 2 * dy), "frule": lambda dx: 2 * dx}[kind]
    f = rule_of(kind, rule, host=True)
    other = {"rrule": "an frule", "frule": "an rrule"}[kind]
    run = {"rrule": jvp, "frule": grad}[kind]
    assert text_of(run, f, error=UnsupportedError) == (
        f"{kind} {WHERE.format(kind)} is NumPy-only (host=True), so {mode} mode cannot "
        f"be derived from it. Define {other} as well, or write this rule with "
        "array_namespace and drop host=True."
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_numpy_rule_has_first_order(kind):
    rule = {"rrule": lambda dy: (NoTangent(), 2 * dy), "frule": lambda dx: 2 * dx}[kind]
    f = rule_of(kind, rule, host=True)
    one = jax.jacrev if kind == "rrule" else jax.jacfwd
    assert text_of(lambda f: one(one(f))(X), f, error=UnsupportedError) == (
        f"{kind} {WHERE.format(kind)} is NumPy-only (host=True), so its result cannot "
        "be differentiated again. Write the rule's body with array_namespace and "
        "primitives that have rules, and drop host=True."
    )


@pytest.mark.parametrize("promise", [(3,), None], ids=["a number", "nothing"])
def test_a_shape_rule_that_promises_no_types(promise):
    def f(x):
        return x

    run = jax.jit(to_jax(f, host=True, out=lambda x: promise))
    found = 3 if promise else None
    assert text_of(run, X, error=UnsupportedError) == (
        "the shape rule of f must return rules_core.ShapeDtype objects, but got "
        f"{found!r} among them. Return one for each array of the result."
    )


def test_a_batch_rule_without_flags():
    @rc.primitive(host=True)
    def f(x):
        return x * 2

    rc.shape_rule.define(f)(lambda x: x)

    @rc.batch_rule.define(f)
    def f_batch(size, in_batched, x):
        return x * 2

    assert text_of(jax.vmap(f), X) == (
        "the batch rule of f must return (out, out_batched) or NotImplemented, but got "
        "a value of type ndarray. Return the results, and True for those that have the "
        "batch axis in front."
    )


def test_what_rules_give_to_jax_as_an_ad_system():
    config = JaxConfig()
    frule = lambda *tangents: rc.frule_via_ad(config, tangents, jnp.sin, X)
    _, pullback = rc.rrule_via_ad(config, lambda x: (x, x), X)
    assert text_of(frule, NoTangent(), X[:2]) == (
        "the tangent given to frule_via_ad has shape (2,), but must have the primal's "
        "shape (3,). Return an array like the primal."
    )
    assert text_of(frule, NoTangent(), error=TypeError) == (
        "frule_via_ad of sin must have 2 tangents (one for the function itself, then "
        "one per positional argument), but got 1. Give NoTangent() for what has no "
        "tangent."
    )
    assert text_of(pullback, (X, X[:2])) == (
        "the cotangent given to rrule_via_ad has shape (2,), but must have the "
        "primal's shape (3,) or one that broadcasting gives it. Return an array like "
        "the primal."
    )
    assert text_of(pullback, (X,)) == (
        "the cotangent given to rrule_via_ad must have the entries [0, 1] of a tuple, "
        "but got [0]. Return one entry for each."
    )


@pytest.mark.parametrize("jit", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_a_derivative_that_nobody_wrote(jit):
    @rc.primitive
    def power(x, n):
        return x**n

    @rc.rrule.define(power)
    def power_rrule(x, n):
        missing = rc.not_implemented("needs a logarithm", issue="#7")
        return power(x, n), lambda dy: (NoTangent(), dy * n * x ** (n - 1), missing)

    name = "test_a_derivative_that_nobody_wrote.<locals>.power"
    run = jit(jax.grad(power, 1))
    text = text_of(run, X[1], X[2], error=rc.DerivativeNotImplemented)
    assert text == (
        f"this derivative is not implemented (rrule {name}_rrule for {name} at "
        "test_misuse.py:LINE: the cotangent of argument 1): needs a logarithm. "
        f"Declared in {__name__}, {Path(__file__).with_suffix('')}.py:LINE. See #7."
    )


def test_flags_that_conflict():
    @rc.primitive(host=True)
    def f(x):
        return x

    text = text_of(lambda: to_jax(f, host=False), error=rc.PrimitiveError)
    assert text == (
        "primitive test_flags_that_conflict.<locals>.f was made with host=True, but is "
        "now asked for with host=False. Declare it once, with all its flags."
    )


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("linear", "reason"),
    [
        (lambda d: d * d, "it is not linear, as far as can be told"),
        (jnp.sin, r"[^.]*\bsin\b[^.]*"),
        (lambda d: X.at[jnp.asarray([0])].set(d[0] ** 2), "[^.]*scatter[^.]*"),
    ],
    ids=["product", "sine", "scatter"],
)
def test_what_jax_cannot_transpose(kind, linear, reason):
    """The mode that nobody wrote is the other's transposition."""
    rule = (lambda dy: (NoTangent(), linear(dy))) if kind == "rrule" else linear
    mode, what, other, run = {
        "rrule": ("forward", "its pullback", "frule", jvp),
        "frule": ("reverse", "it", "rrule", grad),
    }[kind]
    assert re.fullmatch(
        re.escape(f"{kind} {WHERE.format(kind)}: {mode} mode transposes {what}, which ")
        + f"JAX cannot do: {reason}"
        + re.escape(
            f". Define an {other} as well, or use operations that JAX transposes."
        ),
        text_of(run, rule_of(kind, rule), error=UnsupportedError),
    )
