"""A rule with a constant part is not transposed as if the constant were not there.

`2 * x * dy + 1`, or a pullback that forgets `dy`, is no linear map. The mode that is
made of it is refused; where only the compiled program knows the constant, it gives NaN.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, frule, rrule

X = jnp.asarray([0.3, -0.7])
ZERO, ONE = jnp.zeros(2), jnp.ones(2)


def repeated(body, d, n=2):
    return jax.lax.scan(lambda c, _: (body(c), None), d, None, length=n)[0]


# Maps of x and d that should be 2 x d.
SHIFTED = {
    "plus one": lambda x, d: 2 * x * d + 1,
    "minus x": lambda x, d: 2 * x * d - x,
    "forgets d": lambda x, d: 2 * x,
    "NumPy array": lambda x, d: np.full(2, 2.0),
    "jit": lambda x, d: jax.jit(lambda d: 2 * x * d + 1)(d),
    "scan": lambda x, d: repeated(lambda c: c + 1, 2 * x * d),
    "scan over x": lambda x, d: repeated(lambda c: c + x, 2 * x * d),
    "while": lambda x, d: jax.lax.fori_loop(0, jnp.size(x), lambda _, c: c + x, d),
    "cond": lambda x, d: jax.lax.cond(x[0] > 0, lambda d: d + x, lambda d: d, d),
    "half": lambda x, d: jnp.concatenate([2 * x[:1] * d[:1], x[1:]]),
    "chosen": lambda x, d: jnp.where(x > 0, 2 * x * d, x),
    "packed": lambda x, d: jnp.concatenate([2 * x * d, x])[1:3],
}
# Maps that are linear, with constants in them.
LINEAR = {
    "plain": lambda x, d: 2 * x * d,
    "plus zero": lambda x, d: 2 * x * d + ZERO,
    "plus zero times x": lambda x, d: 2 * x * d + 0 * x,
    "plus x minus x": lambda x, d: 2 * x * d + (x - x),
    "zeros chosen": lambda x, d: jnp.where(x > -9, 2 * x * d, 0.0),
    "packed": lambda x, d: jnp.concatenate([2 * x * d, ONE])[:2],
    "scan": lambda x, d: repeated(lambda c: c * x / x, 2 * x * d),
    "infinite": lambda x, d: 2 * x * d + jnp.where(x > 9, 1.0, 0.0) * d / 0.0,
}


def ruled(kind, linear):
    """A square with one rule whose linear part is the given map."""

    @rc.primitive
    def square(x):
        return x * x

    if kind == "rrule":
        rrule.define(square)(
            lambda x: (square(x), lambda d: (NoTangent(), linear(x, d)))
        )
    else:
        frule.define(square)(lambda tangents, x: (square(x), linear(x, tangents[1])))
    return square


def other_mode(kind, f):
    if kind == "rrule":
        return lambda x: jax.jvp(f, (x,), (ONE,))[1]
    return lambda x: jax.vjp(f, x)[1](ONE)[0]


kinds = pytest.mark.parametrize("kind", ["rrule", "frule"])


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("how", ["eager", "vmap", "within a scan"])
@pytest.mark.parametrize("name", SHIFTED)
@kinds
def test_a_constant_part_is_refused(kind, name, how):
    run = other_mode(kind, ruled(kind, SHIFTED[name]))
    if how == "eager":
        with pytest.raises(
            rc.UnsupportedError, match=r"for ruled\S+square .*not linear"
        ):
            run(X)
    elif kind == "rrule":  # what the trace does not tell, the program does
        try:
            found = wrapped(run, how)
        except rc.UnsupportedError:
            return
        assert np.isnan(found).all()


def wrapped(run, how):
    if how == "vmap":
        return jax.jit(jax.vmap(run))(jnp.stack([X, X]))
    return jax.jit(lambda x: jax.lax.scan(lambda c, _: (c, run(c)), x, None, 2)[1])(X)


@pytest.mark.parametrize("kind", ["rrule", "frule"])
def test_a_literal_constant_is_refused_in_compiled_code(kind):
    run = other_mode(kind, ruled(kind, SHIFTED["plus one"]))
    with pytest.raises(rc.UnsupportedError, match=r"Multiply every term by d[xy]"):
        jax.jit(run)(X)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", LINEAR)
@kinds
def test_constants_that_vanish_are_no_offset(kind, name, jit):
    run = other_mode(kind, ruled(kind, LINEAR[name]))
    x = X + 1 if name == "zeros chosen" else X
    found = (jax.jit(run) if jit else run)(x)
    known = jax.jacfwd(lambda d: LINEAR[name](x, d))(ONE) @ ONE
    np.testing.assert_allclose(found, known, rtol=1e-6)
