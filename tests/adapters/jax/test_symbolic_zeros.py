"""`symbolic_zeros=True`: a pullback sees ZeroTangent whatever kind of closure it is.

Where JAX stages the forward half, a closure that may hide arrays is traced before its
cotangents are known. It is asked once for each pattern of zeros.
"""

import re
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, ZeroTangent


class Held:
    """An object that JAX does not know."""

    def __init__(self, x):
        self.x = x

    def pull(self, dy):
        return answer(self.x, dy)


class Slotted:
    """One without a `__dict__`."""

    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


FULL = pytest.mark.full
SEEN: list[tuple[bool, ...]] = []  # which cotangents were zero, of every `answer`


@pytest.fixture(autouse=True)
def nothing_seen():
    """Each test begins with an empty record."""
    SEEN.clear()


def answer(x, dy):
    """The cotangent of `(sinh(x), 3 x)`, without work for what is zero."""
    SEEN.append(tuple(isinstance(d, ZeroTangent) for d in dy))
    first = 0.0 if isinstance(dy[0], ZeroTangent) else dy[0] * jnp.cosh(x)
    second = 0.0 if isinstance(dy[1], ZeroTangent) else dy[1] * 3
    return NoTangent(), first + second


def plain(x):
    return lambda dy: answer(x, dy)


def listed(x):
    saved = [x]
    return lambda dy: answer(saved[0], dy)


def nested(x):
    saved = {"deep": [(x, None)], "n": 1}

    def inner(dy):
        return answer(saved["deep"][0][0], dy)

    return lambda dy: inner(dy)


def unregistered(x):
    held = Held(x)
    return lambda dy: answer(held.x, dy)


def slotted(x):
    held = Slotted(x)
    return lambda dy: answer(held.x, dy)


def method(x):
    return Held(x).pull


def part(x):
    return partial(answer, x)


def part_of_object(x):
    return partial(lambda held, dy: held.pull(dy), Held(x))


def builtin_method(x):
    get = {"x": x}.get
    return lambda dy: answer(get("x"), dy)


def attribute(x):
    def pullback(dy):
        return answer(pullback.x, dy)

    pullback.x = x
    return pullback


def array_of_objects(x):
    held = np.empty(1, dtype=object)
    held[0] = x
    return lambda dy: answer(held[0], dy)


def local_class(x):
    class Local:
        def __call__(self, dy):
            return answer(x, dy)

    return lambda dy: Local()(dy)


def jitted(x):
    same = jax.jit(lambda: x * 1)
    return lambda dy: answer(same(), dy)


def set_of_objects(x):
    held = {Held(x)}
    return lambda dy: next(iter(held)).pull(dy)


def jax_partial(x):
    return jax.tree_util.Partial(lambda dy: answer(x, dy))


def explicit(x):
    return rc.Pullback(answer, x)


def explicit_that_captures(x):
    return rc.Pullback(lambda two, dy: answer(two * x / 2, dy), jnp.asarray(2.0))


def explicit_with_object(x):
    return rc.Pullback(lambda held, dy: held.pull(dy), Held(x))


def thunk(x):
    later = rc.thunk(lambda: x * 1)
    return lambda dy: answer(rc.unthunk(later), dy)


def cache(x):
    later = lru_cache(lambda: x * 1)
    return lambda dy: answer(later(), dy)


def writer(x):
    kept = None

    def pullback(dy):
        nonlocal kept
        kept = x * 1 if kept is None else kept
        return answer(kept, dy)

    return pullback


CLEAN = [
    plain,
    listed,
    nested,
    unregistered,
    slotted,
    method,
    part,
    part_of_object,
    builtin_method,
    attribute,
    array_of_objects,
    local_class,
    jitted,
    set_of_objects,
    jax_partial,
    explicit,
    explicit_that_captures,
    explicit_with_object,
]
# These keep a tracer themselves: it is JAX's duty to say so, where it is asked to.
KEEPING = [thunk, cache, writer]


def both(kind):
    """`(sinh(x), 3 x)` with a pullback of this kind."""

    @rc.primitive
    def both(x):
        return jnp.sinh(x), 3 * x

    @rc.rrule.define(both, symbolic_zeros=True)
    def both_rrule(x):
        return both(x), kind(x)

    return both


CONTEXTS = {
    "grad": jax.grad,
    "jit(grad)": lambda f: jax.jit(jax.grad(f)),
    "grad(jit)": lambda f: jax.grad(jax.jit(f)),
    "vmap(grad)": lambda f: lambda x: jax.vmap(jax.grad(f))(x[None])[0],
    "grad(vmap)": lambda f: jax.grad(lambda x: jax.vmap(f)(x[None])[0]),
    "grad(checkpoint)": lambda f: jax.grad(jax.checkpoint(f)),
    "grad(scan)": lambda f: jax.grad(
        lambda x: jax.lax.scan(lambda c, _: (c + f(x), None), 0.0, None, length=1)[0]
    ),
    "grad(cond)": lambda f: jax.grad(lambda x: jax.lax.cond(x > 0, f, jnp.sin, x)),
    "jit(jvp(grad))": lambda f: jax.jit(lambda x: jax.jvp(jax.grad(f), (x,), (x,))[0]),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)
@pytest.mark.parametrize("kind", CLEAN)
def test_the_zero_is_seen_and_no_tracer_kept(kind, context):
    f = both(kind)
    with jax.checking_leaks():
        found = context(lambda x: f(x)[1])(jnp.asarray(1.5))
    assert float(found) == pytest.approx(3.0)
    assert (True, False) in SEEN


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)
@pytest.mark.parametrize("kind", KEEPING)
def test_the_zero_is_seen_by_what_keeps_a_tracer(kind, context):
    f = both(kind)
    found = context(lambda x: f(x)[1])(jnp.asarray(1.5))
    assert float(found) == pytest.approx(3.0)
    assert (True, False) in SEEN


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("kind", [*CLEAN, *KEEPING])
def test_what_is_zero_leaves_no_trace(kind):
    f = both(kind)
    x = jnp.asarray(1.5)
    text = [
        jax.jit(jax.grad(lambda x, i=i: f(x)[i])).lower(x).as_text() for i in (0, 1)
    ]
    assert "cosh" in text[0] or "exponential" in text[0]
    assert "cosh" not in text[1]
    assert "exponential" not in text[1]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("kind", [*CLEAN, *KEEPING])
def test_values_and_second_order(kind):
    f = both(kind)
    x = jnp.asarray(1.5)
    total = lambda x: f(x)[0] + f(x)[1] ** 2
    want = jnp.sinh(1.5) + 18
    assert jax.jit(jax.hessian(total))(x) == pytest.approx(want)
    assert jax.jit(jax.grad(jax.grad(total)))(x) == pytest.approx(want)


def scaled(d):
    if isinstance(d, ZeroTangent):
        message = "not a zero, please"
        raise TypeError(message)
    return d * 1.0


def powers(count, needs_first=False):
    """`(x, x², …)`, integers between them, whose pullback hides `x` in a list."""

    @rc.primitive
    def powers(x):
        return tuple((x**n, jnp.int32(n)) for n in range(1, count + 1))

    @rc.rrule.define(powers, symbolic_zeros=True)
    def powers_rrule(x):
        saved = [x]

        def powers_pullback(dy):
            dy = [d[0] for d in dy]
            SEEN.append(tuple(isinstance(d, ZeroTangent) for d in dy))
            if needs_first:
                return NoTangent(), scaled(dy[0])
            terms = [
                d * (n + 1) * jnp.power(saved[0], n)
                for n, d in enumerate(dy)
                if not isinstance(d, ZeroTangent)
            ]
            return NoTangent(), sum(terms)

        return powers(x), powers_pullback

    return powers


@pytest.mark.parametrize(
    "count", [1, 2, *(pytest.param(count, marks=FULL) for count in (3, 4, 5))]
)
def test_every_pattern_of_zeros(count):
    f = powers(count)
    x = jnp.asarray(1.5)
    for mask in range(1, 2**count):
        used = [n for n in range(count) if mask & 1 << n]
        total = lambda x: sum(f(x)[n][0] for n in used)  # noqa: B023 (used at once)
        want = sum((n + 1) * 1.5**n for n in used)
        for run in (jax.jit(jax.grad(total)), jax.grad(jax.jit(total))):
            assert run(x) == pytest.approx(want)
        assert jax.jit(jax.jacfwd(total))(x) == pytest.approx(want)
    full = (False,) * count
    asked = 2**count - 1 if count <= 3 else count + 1
    assert len(set(SEEN)) == asked
    assert full in SEEN


def test_more_results_are_put_together_from_each_alone():
    """A pullback is linear: every pattern is a sum, each part of it skips its zeros."""
    f = powers(5)
    x = jnp.asarray(1.5)
    two = jax.jit(jax.grad(lambda x: f(x)[1][0] + f(x)[3][0]))
    assert two(x) == pytest.approx(2 * 1.5 + 4 * 1.5**3)
    assert two.lower(x).as_text().count("stablehlo.power") <= 4


def test_a_pattern_that_the_author_cannot_take():
    """It is an error where it comes, and nothing where it does not."""
    f = powers(2, needs_first=True)
    assert jax.jit(jax.grad(lambda x: f(x)[0][0]))(jnp.asarray(1.5)) == 1
    with pytest.raises(rc.RulesCoreError) as error:
        jax.jit(jax.grad(lambda x: f(x)[1][0]))(jnp.asarray(1.5))
    text = re.sub(r"\.py:\d+", ".py:LINE", str(error.value).split("\n---")[0])
    assert text == (
        "rrule powers.<locals>.powers_rrule for powers.<locals>.powers at "
        "test_symbolic_zeros.py:LINE: the pullback must take ZeroTangent for any "
        "cotangent (symbolic_zeros=True), but with it for result 0 it raised "
        "TypeError: not a zero, please. Ask for the type of a cotangent before "
        "computing with it, or drop symbolic_zeros=True."
    )


def test_what_a_list_holds_when_the_rule_returns_counts_under_jit():
    """Where nothing is staged a pullback is the author's own, and so is its list."""
    lists = []

    @rc.primitive
    def twice(x):
        return 2 * x

    @rc.rrule.define(twice, symbolic_zeros=True)
    def twice_rrule(x):
        lists.append([x * 0 + 2])
        return twice(x), lambda dy, saved=lists[-1]: (NoTangent(), dy * saved[0])

    x = jnp.asarray(1.5)
    _, pull = jax.vjp(jax.jit(twice), x)
    lists.pop().clear()
    assert pull(1.0)[0] == 2
    _, pull = jax.vjp(twice, x)
    lists.pop()[:] = [jnp.asarray(2.0)]
    assert pull(1.0)[0] == 2


def test_needs_is_right_whatever_the_closure():
    seen = []

    @rc.primitive
    def product(x, y):
        return x * y

    @rc.rrule.define(product, symbolic_zeros=True)
    def product_rrule(x, y, *, needs):
        seen.append(needs)
        saved = [x, y]
        return product(x, y), lambda dy: (
            NoTangent(),
            dy * saved[1] if needs[0] else ZeroTangent(),
            dy * saved[0] if needs[1] else ZeroTangent(),
        )

    x, y = jnp.asarray(1.5), jnp.asarray(2.0)
    for wrap in (jax.jit, jax.checkpoint, lambda f: f):
        assert jax.jit(jax.grad(wrap(product)))(x, y) == 2
        assert jax.grad(wrap(product), 1)(x, y) == 1.5
        assert seen == [(True, False), (False, True)]
        seen.clear()
