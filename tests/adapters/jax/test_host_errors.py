"""What a host primal cannot do, or does wrong, is refused in words."""

import ctypes

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, ShapeDtype, UnsupportedError
from rules_jax import to_jax


def test_no_rule():
    @rc.primitive(host=True, elementwise=True)
    def f(x):
        return np.sin(x)

    rc.opt_out(rc.rrule, f, object)
    assert jax.jit(jax.vmap(f))(jnp.ones(2)).shape == (2,)
    text = (
        "the host function f is differentiated here, and no rule covers it: it runs in "
        "NumPy, so JAX cannot differentiate it either. None is derived from its code: "
        "it is opted out at test_host_errors.py:20. Define a rule with "
        "@rrule.define(f) or @frule.define(f); for a second derivative let the rule's "
        "body call primitives that have rules."
    )
    for run in (jax.grad, jax.jacfwd, lambda f: jax.jit(jax.grad(jax.checkpoint(f)))):
        with pytest.raises(UnsupportedError) as error:
            run(f)(jnp.asarray(1.0))
        assert str(error.value).startswith(text)


def test_second_derivative_that_no_rule_covers():
    @rc.primitive(host=True, elementwise=True)
    def f(x):
        return np.sin(x)

    @rc.primitive(host=True, elementwise=True)
    def slope(x):
        return np.cos(x)

    @rc.rrule.define(f)
    def f_rrule(x):
        return f(x), lambda dy: (NoTangent(), dy * slope(x))

    rc.opt_out(rc.frule, slope, object)
    assert jax.grad(f)(jnp.asarray(0.0)) == 1
    for second in (jax.grad(jax.grad(f)), jax.hessian(f), jax.jacrev(jax.jacfwd(f))):
        with pytest.raises(UnsupportedError, match="host function slope is different"):
            second(jnp.asarray(0.0))


def test_no_shape_rule():
    @rc.primitive(host=True)
    def f(x):
        return np.sin(x)

    assert f(jnp.asarray(0.0)) == 0
    text = (
        "the host function f is traced by JAX, which must know the shapes and dtypes "
        "of its results. Add @shape_rule.define(f), declare it with elementwise=True, "
        "or call it through to_jax(…, out=…)."
    )
    with pytest.raises(UnsupportedError) as error:
        jax.jit(f)(jnp.asarray(0.0))
    assert str(error.value) == text


def promise(shape, dtype, count=1):
    def f(x):
        return x if count == 1 else (x,) * count

    return to_jax(f, host=True, out=ShapeDtype(shape, dtype))


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (
            promise((3,), "float64"),
            "host function f: output 0 has shape (2,), but its shape rule promises "
            "(3,). Correct one of the two.",
        ),
        (
            promise((2,), "int32"),
            "host function f: output 0 has dtype float64, which is not cast to the "
            "promised int32. Correct its shape rule, or convert in the function.",
        ),
        (
            promise((2,), "float64", 2),
            "host function f must return 1 arrays as its shape rule promises, but got "
            "2. Correct one of the two.",
        ),
    ],
    ids=["shape", "dtype", "count"],
)
def test_broken_promises(f, text):
    with pytest.raises(rc.RulesCoreError) as error:
        f(jnp.ones(2))
    assert str(error.value) == text
    with pytest.raises(Exception, match="host function f") as error:
        jax.block_until_ready(jax.jit(f)(jnp.ones(2)))
    assert text in str(error.value)


class NotThisOneError(ValueError):
    """What the function below raises."""


def fail(x):
    message = "not this one"
    raise NotThisOneError(message)


def picky_functions():
    """One whose value raises, and one whose derivative does."""

    @rc.primitive(host=True, elementwise=True)
    def picky(x):
        return fail(x)

    @rc.primitive(host=True, elementwise=True)
    def sloping(x):
        return np.sin(x)

    rc.scalar_rule(picky, lambda y, x: (1.0,))
    rc.scalar_rule(sloping, lambda y, x: (picky(x),))
    return picky, sloping


def looped(f):
    return lambda x: jax.lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0]


EAGER = {
    "call": lambda f, g: f,
    "vmap": lambda f, g: lambda x: jax.vmap(f)(x[None]),
    "grad": lambda f, g: jax.grad(f),
    "jvp": lambda f, g: lambda x: jax.jvp(f, (x,), (x,)),
    "slope": lambda f, g: jax.grad(g),
}
COMPILED = {
    "jit": lambda f, g: jax.jit(f),
    "jit(vmap)": lambda f, g: lambda x: jax.jit(jax.vmap(f))(x[None]),
    "vmap(jit)": lambda f, g: lambda x: jax.vmap(jax.jit(f))(x[None]),
    "jit(grad) of the slope": lambda f, g: jax.jit(jax.grad(g)),
    "grad(jit) of the slope": lambda f, g: jax.grad(jax.jit(g)),
    "scan": lambda f, g: looped(f),
    "grad(scan)": lambda f, g: jax.grad(looped(g)),
    "cond": lambda f, g: lambda x: jax.lax.cond(x > 0, f, lambda x: x, x),
    "ahead of time": lambda f, g: lambda x: jax.jit(f).lower(x).compile()(x),
}


@pytest.mark.parametrize("run", EAGER.values(), ids=EAGER)
def test_an_exception_of_a_host_function_is_raised_as_it_is(run):
    with pytest.raises(NotThisOneError, match="not this one") as error:
        run(*picky_functions())(jnp.asarray(1.0))
    names = [entry.name for entry in error.traceback]
    assert names[-2:] == ["picky", "fail"]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("run", COMPILED.values(), ids=COMPILED)
def test_its_whole_traceback_stands_in_the_error_of_compiled_code(run):
    """JAX's runtime raises an error of its own, which has the other's text only."""
    line = fail.__code__.co_firstlineno
    with pytest.raises(jax.errors.JaxRuntimeError) as error:
        jax.block_until_ready(run(*picky_functions())(jnp.asarray(1.0)))
    text = str(error.value)
    calls = [*picky_functions()[0].fun.__code__.co_positions()]
    assert f'File "{__file__}", line {line + 2}, in fail' in text
    assert f'File "{__file__}", line {calls[-1][0]}, in picky' in text
    assert "NotThisOneError: not this one" in text


def test_inputs_are_not_written_by_a_function_with_rules():
    @rc.primitive(host=True, elementwise=True)
    def writes(x):
        x += 1
        return x

    rc.scalar_rule(writes, lambda y, x: (1.0,))
    x = jnp.ones(3)
    assert jnp.array_equal(writes(x), [2, 2, 2])
    assert jnp.array_equal(x, [1, 1, 1])


def test_impure_functions_are_refused_under_transformations():
    @rc.primitive(host=True, elementwise=True, pure=False)
    def noisy(x):
        return x + 1

    text = (
        "noisy is a host function with effects (pure=False), and JAX may repeat or "
        "drop calls under a transformation. Call it outside of jax.jit, jax.grad and "
        "jax.vmap, or make it pure."
    )
    assert noisy(jnp.asarray(1.0)) == 2
    constant = jnp.asarray(1.0)
    for run in (
        jax.jit(noisy),
        jax.vmap(noisy),
        jax.jit(lambda x: x + noisy(constant)),
    ):
        with pytest.raises(UnsupportedError) as error:
            run(jnp.ones(2))
        assert str(error.value) == text


def test_export_of_a_host_primal_is_refused():
    @rc.primitive(host=True, elementwise=True)
    def cosh(x):
        return np.cosh(x)

    with pytest.raises(NotImplementedError, match="callback"):
        jax.export.export(jax.jit(cosh))(jnp.ones(2)).serialize()


def test_random_keys_are_refused():
    @rc.primitive(host=True, elementwise=True)
    def draw(x, key):
        return x

    with pytest.raises(UnsupportedError) as error:
        jax.jit(draw)(jnp.asarray(1.0), jax.random.key(0))
    assert str(error.value) == (
        "the host function draw is called with a random key of JAX, which NumPy does "
        "not have. Pass jax.random.key_data(key), or numbers drawn from it."
    )


def raising(where):
    """A host function with rules, one part of which raises."""

    def check(part):
        if part == where:
            raise KeyError(part)

    @rc.primitive(host=True, elementwise=True)
    def f(x):
        check("body")
        return np.sin(x)

    @rc.rrule.define(f, host=True)
    def f_rrule(x):
        check("rrule")

        def f_pullback(dy):
            check("pullback")
            return NoTangent(), np.cos(x) * dy

        return np.sin(x), f_pullback

    @rc.frule.define(f, host=True)
    def f_frule(tangents, x):
        check("frule")
        return np.sin(x), np.cos(x) * tangents[1]

    return f


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("where", ["body", "rrule", "pullback", "frule"])
def test_exceptions_name_the_rule_and_nothing_else_comes_first(where, jit):
    f, x = raising(where), jnp.ones(2)
    run = (lambda x: jax.jvp(f, (x,), (x,))) if where == "frule" else f
    if where in ("rrule", "pullback"):
        run = jax.grad(lambda x: f(x).sum())
    with pytest.raises(Exception, match=where) as caught:
        jax.block_until_ready((jax.jit(run) if jit else run)(x))
    said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    kind = "frule" if where == "frule" else "rrule"
    if where != "body":
        assert f"This happened in {kind} raising.<locals>.f_{kind} for " in said
    if jit:
        assert f"KeyError: '{where}'" in said
        assert f" raised KeyError: '{where}', at test_host_errors.py:" in said
        frames = said.split(f"\nKeyError: '{where}'")[0].splitlines()
        assert not any("site-packages" in line for line in frames)
        assert [line for line in frames if "rules_core" in line] == []
        assert any('test_host_errors.py"' in line for line in frames)


def doubled_in_place(x):
    x *= 2.0
    return x


def read_as_c_does(x):
    """A stand-in for Cython's `double[:]`, which takes writable memory only."""
    (ctypes.c_float * x.size).from_buffer(np.atleast_1d(x))
    return 2.0 * x


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("rules", [False, True])
@pytest.mark.parametrize("body", [doubled_in_place, read_as_c_does])
def test_functions_that_ask_for_writable_memory_get_copies(body, rules):
    f = rc.Primitive(lambda x: body(x), host=True)
    rc.shape_rule.define(f)(lambda x: x)
    if rules:

        @rc.rrule.define(f, host=True)
        def f_rrule(x):
            return body(x), lambda dy: (NoTangent(), body(dy))

    x = jnp.arange(1.0, 4.0)
    rows = jnp.stack([x, x + 1])
    for run in (f, jax.jit(f)):
        np.testing.assert_array_equal(run(x), [2, 4, 6])
        np.testing.assert_array_equal(run(x), [2, 4, 6])
    np.testing.assert_array_equal(jax.vmap(f)(rows), 2 * rows)
    if rules:
        for grad in (jax.grad, lambda h: jax.jit(jax.grad(h))):
            np.testing.assert_array_equal(grad(lambda x: f(x).sum())(x), [2, 2, 2])
    np.testing.assert_array_equal(x, [1, 2, 3])
